"""Formulas over facts about strings -> languages over code points.

Where a formula asks for strings by name, those are decided one by one; what is left is an automaton. Automata are kept
for the process, by what they mean.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from pdacon.base.cancelling import every, look, raise_if_out_of_time
from pdacon.errors import LimitExceededError
from pdacon.frontends.json_schema import string_formats
from pdacon.frontends.json_schema.card_numbers import card_number_automaton
from pdacon.frontends.json_schema.facts import Among, Fact, Facts, Listed, LongerThan, Matches
from pdacon.frontends.json_schema.made_formats import made_format
from pdacon.regular import (
    FALSE,
    TRUE,
    Dfa,
    Languages,
    PatternError,
    combined,
    longer_than,
    parse_pattern,
)
from pdacon.regular.automata import plain_pattern
from pdacon.regular.automata import signatures as classes_of_strings


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Decision:
    """A fact, and what holds if it does and if it does not. Equal ones are one object: see `choice`."""

    fact: Fact
    then: Shape
    otherwise: Shape


Shape: TypeAlias = "bool | Decision"
"""A formula without its numbering, which is the same for every schema: a diagram, whose parts are shared."""

_CHOICES: WeakValueDictionary[tuple[Fact, Shape, Shape], Decision] = WeakValueDictionary()
_CHOICES_LOCK = Lock()

STATES = 20_000
"""Most states of an automaton over code points."""
_MOST_TOGETHER = 200_000
"""The same for a combination of several, which the core makes."""
_MOST_WORK = 4_000_000
"""Most states of a combination times automata in it: each of its states is one of every automaton."""


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


def strings_among(facts: Facts, formula: int, named: set[str]) -> list[str]:
    """Those of some strings for which a formula over facts about strings holds.

    Where the formula is a conjunction, only what it asks for by name is tried: in a union of many alternatives each is
    one that asks for its own name, and for none of the others.
    """
    left, certain = narrowed(facts, formula, named)
    return [text for text in every(left) if certain or string_holds(facts, formula, text)]


def narrowed(facts: Facts, formula: int, listed: Collection[Any]) -> tuple[Set[Any], bool]:
    """Those of some listed values that a formula may hold for, and whether it certainly holds for all of them."""
    left: Set[Any] = listed if isinstance(listed, Set) else {*listed}
    below, certain = formula, True
    while below > TRUE and left:
        look()
        variable, then, otherwise = facts.formulas.node(below)
        if then != FALSE and otherwise != FALSE:
            certain = False
            break
        fact = facts[variable]
        if isinstance(fact, (Among, Listed)):
            left = left - fact.values if then == FALSE else left & fact.values
        else:
            certain = False
        below = otherwise if then == FALSE else then
    return (frozenset() if below == FALSE else left), certain


def unnamed(facts: Facts, formula: int) -> int:
    """What a formula says of those strings, or numbers, that are not asked for by name."""
    while formula > TRUE:
        variable, _, otherwise = facts.formulas.node(formula)
        if not isinstance(facts[variable], Among):
            break
        formula = otherwise
    names = [variable for variable, fact in facts.among(formula) if isinstance(fact, Among)]
    return facts.formulas.replaced([formula], names, FALSE)[0] if names else formula


def choice(fact: Fact, then: Shape, otherwise: Shape) -> Decision:
    """The shape of these parts. A comparison would follow each path of a diagram, and there are exponentially many."""
    key = fact, then, otherwise
    with _CHOICES_LOCK:
        decision = _CHOICES.get(key)
        if decision is None:
            decision = _CHOICES[key] = Decision(*key)
        return decision


def choices_of(shape: Shape) -> list[Decision]:
    """The parts of a shape, each once and after those that it consists of."""
    order: dict[Decision, None] = {}
    pending = [shape]
    while pending:
        top = pending[-1]
        if isinstance(top, bool) or top in order:
            pending.pop()
            continue
        missing = [part for part in (top.otherwise, top.then) if not isinstance(part, bool) and part not in order]
        if not missing:
            order[top] = None
        pending += missing
    return list(order)


def shape_of(facts: Facts, formula: int) -> Shape:
    """A formula without its numbering."""
    shapes: dict[int, Shape] = {FALSE: False, TRUE: True}
    pending = [formula]
    while pending:
        look()
        top = pending[-1]
        if top in shapes:
            pending.pop()
            continue
        variable, then, otherwise = facts.formulas.node(top)
        missing = [below for below in (then, otherwise) if below not in shapes]
        if not missing:
            shapes[top] = choice(facts[variable], shapes[then], shapes[otherwise])
        pending += missing
    return shapes[formula]


def only_counts(shape: Shape) -> tuple[int, int | None] | None:
    """The least and the most code points, if a formula asks for nothing else and some count is right."""
    least, most = 0, None
    while not isinstance(shape, bool):
        fact = shape.fact
        if not isinstance(fact, LongerThan):
            return None
        if shape.otherwise is False:
            least, shape = max(least, fact.length + 1), shape.then
        elif shape.then is False:
            most, shape = fact.length if most is None else min(most, fact.length), shape.otherwise
        else:
            return None
    return (least, most) if shape and (most is None or least <= most) else None


def counts_of(shape: Shape) -> list[tuple[int, int | None]] | None:
    """The least and the most code points of strings for which a formula holds that is about nothing else; else None."""
    counted = [choice.fact for choice in choices_of(shape)]
    if not all(isinstance(fact, LongerThan) for fact in counted):
        return None
    starts = [0, *sorted({fact.length + 1 for fact in counted if isinstance(fact, LongerThan)})]
    spans: list[tuple[int, int | None]] = []
    for least, after in zip(starts, [*starts[1:], None], strict=True):
        part = shape
        while not isinstance(part, bool):
            assert isinstance(part.fact, LongerThan)
            part = part.then if least > part.fact.length else part.otherwise
        most = None if after is None else after - 1
        if part and spans and spans[-1][1] == least - 1:
            spans[-1] = spans[-1][0], most
        elif part:
            spans.append((least, most))
    return spans


def counts_and_rest(facts: Facts, formula: int) -> tuple[int, int | None, Shape] | None:
    """The least and the most code points, and what else is asked; None if the formula is no conjunction of these."""
    least, most = 0, None
    formulas = facts.formulas
    for variable, fact in facts.among(formula):
        if not isinstance(fact, LongerThan):
            continue
        yes, no = (formulas.restricted(formula, variable, value) for value in (True, False))
        if no == FALSE:
            least, formula = max(least, fact.length + 1), yes
        elif yes == FALSE:
            most, formula = fact.length if most is None else min(most, fact.length), no
        else:
            return None
    return (least, most, shape_of(facts, formula)) if formula != FALSE and (most is None or least <= most) else None


@lru_cache(maxsize=256)
def lengths_of(shape: Shape, least: int, most: int | None) -> tuple[bool, bool] | None:
    """Whether some of the strings for which a formula holds, and whether all of them, have so many characters.

    None if it would take too long to say, or there is no automaton of them.
    """
    try:
        return string_automaton(shape).lengths(least, most)
    except LimitExceededError as error:
        raise_if_out_of_time(error)
        return None


@lru_cache(maxsize=256)
def pattern_automaton(fact: Matches) -> Dfa:
    """The strings that a pattern matches. Raises PatternError, LimitExceededError."""
    name = string_formats.NAMES.get(fact.pattern) if fact.whole else None
    if name == string_formats.CARD_NUMBER:
        return card_number_automaton()
    return determinized_pattern(fact) if name is None else made_format(name)


def determinized_pattern(fact: Matches) -> Dfa:
    """The same, made of the pattern. Raises PatternError, LimitExceededError."""
    plain = None if fact.whole else plain_pattern(fact.pattern, STATES)
    if plain is not None:
        return plain
    languages = Languages()
    tree = parse_pattern(fact.pattern)
    return languages.deterministic(languages.whole(tree) if fact.whole else languages.pattern(tree), STATES)


@lru_cache(maxsize=256)
def string_automaton(shape: Shape) -> Dfa:
    """The strings for which a formula holds.

    Raises
    ------
    PatternError
    LimitExceededError
    """
    if shape is False:  # no diagram has no last node, and is taken for the one of all strings
        return _automaton(Among(frozenset()))
    order = choices_of(shape)
    automata: dict[Fact, int] = {}
    for node in reversed(order):
        automata.setdefault(node.fact, len(automata))
    nodes: dict[Shape, int] = {False: 0, True: 1}
    diagram: list[tuple[int, int, int]] = []
    for node in order:
        diagram.append((automata[node.fact], nodes[node.then], nodes[node.otherwise]))
        nodes[node] = len(diagram) + 1
    automata_of_facts = [_automaton(fact) for fact in every(automata, looks=1)]
    if len(automata_of_facts) == 1 and diagram == [(0, 1, 0)]:
        return automata_of_facts[0]
    return combined(automata_of_facts, diagram, min(_MOST_TOGETHER, _MOST_WORK // max(1, len(automata_of_facts))))


def signatures(shapes: Sequence[Shape]) -> list[frozenset[int]]:
    """The classes into which formulas part all strings: which of them hold for those of each. Raises as above."""
    automata = [string_automaton(shape) for shape in every(shapes, looks=1)]
    return [frozenset(some) for some in classes_of_strings(automata, STATES)]


@lru_cache(maxsize=256)
def few_strings(shape: Shape, most: int) -> tuple[str, ...] | None:
    """The strings for which a formula holds, if they are no more than so many; else None. Raises as above."""
    words = string_automaton(shape).words(most)
    return None if words is None else tuple(words)


def _automaton(fact: Fact) -> Dfa:
    if isinstance(fact, Matches):
        return pattern_automaton(fact)
    if isinstance(fact, LongerThan):
        return longer_than(fact.length, _MOST_TOGETHER)
    assert isinstance(fact, Among)
    languages = Languages()
    return languages.deterministic(languages.words(map(str, fact.values)), STATES)


__all__ = [
    "Decision",
    "PatternError",
    "Shape",
    "choice",
    "choices_of",
    "counts_of",
    "determinized_pattern",
    "few_strings",
    "lengths_of",
    "named_strings",
    "only_counts",
    "pattern_automaton",
    "shape_of",
    "signatures",
    "string_automaton",
    "string_holds",
    "strings_among",
    "unnamed",
]
