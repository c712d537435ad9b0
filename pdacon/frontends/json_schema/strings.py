"""Formulas over facts about strings -> languages over code points.

Where a formula asks for strings by name, those are decided one by one; what is left is an automaton. Automata are kept
for the process, by what they mean.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from pdacon.frontends.json_schema.facts import Among, Fact, Facts, LongerThan, Matches
from pdacon.regular import ANY, FALSE, TRUE, Dfa, Languages, PatternError, TooManyStates, parse_pattern
from pdacon.regular.ecma import Characters, Repeat

Shape: TypeAlias = "bool | tuple[Fact, Shape, Shape]"
"""A formula without its numbering: a fact, and what holds if it does and if it does not."""

STATES = 20_000
"""Most states of an automaton over code points."""


def string_holds(facts: Facts, formula: int, text: str) -> bool:
    """Whether a formula over facts about strings holds for one string."""

    def holds(variable: int) -> bool:
        fact = facts[variable]
        if isinstance(fact, Among):
            return text in fact.values
        if isinstance(fact, LongerThan):
            return len(text) > fact.length
        assert isinstance(fact, Matches)
        return pattern_automaton(fact).accepts(text)

    return facts.formulas.evaluated(formula, holds)


def named_strings(facts: Facts, formulas: list[int]) -> set[str]:
    """The strings that formulas ask for by name."""
    return {str(value) for _, fact in facts.among(*formulas) if isinstance(fact, Among) for value in fact.values}


def unnamed(facts: Facts, formula: int) -> int:
    """What a formula says of those strings, or numbers, that are not asked for by name."""
    return facts.formulas.substituted(
        formula, lambda one: FALSE if isinstance(facts[one], Among) else facts.formulas.variable(one)
    )


def shape_of(facts: Facts, formula: int) -> Shape:
    """A formula without its numbering, which is the same in every process."""
    if formula <= TRUE:
        return formula == TRUE
    variable = facts.formulas.support(formula)[0]
    return (
        facts[variable],
        shape_of(facts, facts.formulas.restricted(formula, variable, True)),
        shape_of(facts, facts.formulas.restricted(formula, variable, False)),
    )


def only_counts(shape: Shape) -> tuple[int, int | None] | None:
    """The least and the most code points, if a formula asks for nothing else and some count is right."""
    least, most = 0, None
    while not isinstance(shape, bool):
        fact, then, otherwise = shape
        if not isinstance(fact, LongerThan):
            return None
        if otherwise is False:
            least, shape = max(least, fact.length + 1), then
        elif then is False:
            most, shape = fact.length if most is None else min(most, fact.length), otherwise
        else:
            return None
    return (least, most) if shape and (most is None or least <= most) else None


@lru_cache(maxsize=256)
def pattern_automaton(fact: Matches) -> Dfa:
    """The strings that a pattern matches. Raises PatternError, TooManyStates."""
    return string_automaton((fact, True, False))


@lru_cache(maxsize=256)
def string_automaton(shape: Shape) -> Dfa:
    """The strings for which a formula holds.

    Raises
    ------
    PatternError
    TooManyStates
    """
    languages = Languages()
    formulas = languages.formulas

    def language(fact: Fact) -> int:
        if isinstance(fact, LongerThan):
            return languages.matched(Repeat(Characters(ANY), fact.length + 1, fact.length + 1), TRUE)
        if isinstance(fact, Among):
            return languages.words(map(str, fact.values))
        assert isinstance(fact, Matches)
        tree = parse_pattern(fact.pattern)
        return languages.whole(tree) if fact.whole else languages.pattern(tree)

    def formula(one: Shape) -> int:
        if isinstance(one, bool):
            return TRUE if one else FALSE
        fact, then, otherwise = one
        return formulas.choice(language(fact), formula(then), formula(otherwise))

    return languages.deterministic(formula(shape), STATES)


__all__ = [
    "PatternError",
    "Shape",
    "TooManyStates",
    "named_strings",
    "only_counts",
    "pattern_automaton",
    "shape_of",
    "string_automaton",
    "string_holds",
    "unnamed",
]
