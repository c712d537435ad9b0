"""What is left of formulas about an object or an array when a member or an item has been read.

Source: J. Brzozowski, "Derivatives of Regular Expressions", Journal of the ACM 11(4), 1964, for the idea: a formula
about the whole becomes one about the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pdacon.frontends.json_schema.facts import (
    Fact,
    Facts,
    Has,
    Items,
    Members,
    MoreItemsThan,
    MoreMembersThan,
    Names,
)
from pdacon.regular import FALSE, TRUE, Substitution

Vector: TypeAlias = tuple[int, ...]
"""Formulas about the same value; at most one of them holds."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one fact becomes: ``yes`` if what was read satisfies the question, else ``no``."""

    question: int
    yes: int
    no: int


def always(formula: int) -> Step:
    """What a fact becomes whatever was read."""
    return Step(TRUE, formula, formula)


def outcomes(
    facts: Facts, vector: Vector, step: Callable[[Fact, int], Step], possible: Callable[[int], bool]
) -> list[tuple[Vector, int]]:
    """The vectors that reading one value can lead to, each with the question that the value then satisfies.

    The questions exclude one another, and a value that satisfies none of them makes every formula false.

    Parameters
    ----------
    step : callable
        What a fact becomes; its variable is given too.
    possible : callable
        Whether any value might satisfy a question.
    """
    formulas = facts.formulas
    steps = {variable: step(fact, variable) for variable, fact in facts.among(*vector)}
    askers: dict[int, list[int]] = {}
    for variable, one in steps.items():
        if one.question > TRUE:
            askers.setdefault(one.question, []).append(variable)
    questions = list(askers)
    found: dict[Vector, int] = {}
    pending: list[tuple[int, int, Vector, frozenset[int]]] = [(0, TRUE, vector, frozenset())]
    while pending:
        at, condition, left, denied = pending.pop()
        if at < len(questions):
            question = questions[at]
            if not set(askers[question]).intersection(formulas.support(left)):
                pending.append((at + 1, condition, left, denied))
                continue
            lost = {variable for variable in askers[question] if steps[variable].no == FALSE}
            without = tuple(formulas.replaced(left, list(lost), FALSE)) if lost else left
            refused = formulas.conjunction(condition, formulas.negation(question))
            if any(one != FALSE for one in without) and refused != FALSE and possible(refused):
                pending.append((at + 1, refused, without, denied | {question}))
            granted = formulas.conjunction(condition, question)
            if granted != FALSE and possible(granted):
                pending.append((at + 1, granted, left, denied))
            continue

        def after(variable: int, denied: frozenset[int] = denied) -> int:
            one = steps[variable]
            return one.no if one.question == FALSE or one.question in denied else one.yes

        result = tuple(Substitution(formulas, after).all(left))
        if any(one != FALSE for one in result):
            found[result] = formulas.disjunction(found.get(result, FALSE), condition)
    return list(found.items())


class Name(Protocol):
    """The name of a member, or some names that no `Members` and no `Has` lists and no fact tells apart."""

    @property
    def listed(self) -> str | None:
        """The name, if it is one."""

    def holds(self, formula: int) -> bool:
        """Whether a formula about strings holds for it."""

    def fits(self, pattern: str) -> bool:
        """Whether a pattern matches it."""


def members_step(facts: Facts, name: Name) -> Callable[[Fact, int], Step]:
    """What facts about an object become when a member of a name has been read."""
    formulas = facts.formulas

    def step(fact: Fact, variable: int) -> Step:
        same = formulas.variable(variable)
        if isinstance(fact, Members):
            asked = [question for own, question in fact.named if own == name.listed]
            asked += [question for pattern, question in fact.matching if name.fits(pattern)]
            question = formulas.conjunction(*asked) if asked else fact.others
            return Step(question, same, FALSE)
        if isinstance(fact, Names):
            return always(same if name.holds(fact.formula) else FALSE)
        if isinstance(fact, Has):
            rest = fact.names - {name.listed}
            return always(facts.holds(Has(rest)) if rest else TRUE)
        assert isinstance(fact, MoreMembersThan)
        return always(facts.holds(MoreMembersThan(fact.count - 1)) if fact.count else TRUE)

    return step


def without_member(facts: Facts, vector: Vector, name: str) -> Vector:
    """What is left of formulas if no member of this name is still to come."""
    lost = [variable for variable, fact in facts.among(*vector) if isinstance(fact, Has) and name in fact.names]
    return tuple(facts.formulas.replaced(vector, lost, FALSE)) if lost else vector


def items_step(facts: Facts) -> Callable[[Fact, int], Step]:
    """What facts about an array become when an item has been read."""

    def step(fact: Fact, variable: int) -> Step:
        same = facts.formulas.variable(variable)
        if isinstance(fact, Items):
            if not fact.first:
                return Step(fact.rest, same, FALSE)
            rest = fact.first[1:]
            after = TRUE if not rest and fact.rest == TRUE else facts.holds(Items(rest, fact.rest))
            return Step(fact.first[0], after, FALSE)
        assert isinstance(fact, MoreItemsThan)
        less = facts.holds(MoreItemsThan(fact.count - 1, fact.question)) if fact.count else TRUE
        return Step(fact.question, less, same)

    return step


def at_end(facts: Facts, formula: int) -> bool:
    """Whether a formula about an object or an array holds if nothing more comes."""
    return facts.formulas.evaluated(formula, lambda one: isinstance(facts[one], (Members, Names, Items)))


def order_of_names(facts: Facts, vector: Vector, ranks: Mapping[str, int]) -> tuple[str, ...]:
    """The names that formulas ask for: each schema's in its order, as far as all of them can be kept at once.

    Those that are only required come last, by their ranks.
    """
    lists: list[Sequence[str]] = []
    about = [fact for _, fact in facts.among(*vector)]
    lists += [[name for name, _ in fact.named] for fact in about if isinstance(fact, Members)]
    listed = {name for names in lists for name in names}
    required = {name for fact in about if isinstance(fact, Has) for name in fact.names} - listed
    lists += [[name] for name in sorted(required, key=ranks.__getitem__)]
    if len(lists) == 1:
        return tuple(lists[0])
    before: dict[str, set[str]] = {}
    for names in lists:
        for previous, name in zip((None, *names), names, strict=False):
            known = before.setdefault(name, set())
            if previous is not None:
                known.add(previous)
    return _merged(before)


def _merged(before: dict[str, set[str]]) -> tuple[str, ...]:
    """The names, each behind those that are to come before it, where there is no circle; else in the order given."""
    waiting = {name: set(some) for name, some in before.items()}
    done: list[str] = []
    while waiting:
        ready = next((name for name, some in waiting.items() if not some), None)
        name = next(iter(waiting)) if ready is None else ready
        del waiting[name]
        done.append(name)
        for some in waiting.values():
            some.discard(name)
    return tuple(done)
