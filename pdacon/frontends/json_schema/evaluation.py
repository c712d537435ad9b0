"""Which members and items schemas evaluate, and what is asked of those that none of them does.

In: what each schema evaluates, and under which condition. Out: formulas for ``unevaluatedProperties`` and
``unevaluatedItems``.

Source: JSON Schema Core, draft 2020-12, section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pdacon.base.cancelling import every
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Place
from pdacon.frontends.json_schema.facts import Facts, Items, Members
from pdacon.regular import FALSE, TRUE

_MOST_UNCERTAIN = 10


@dataclass(frozen=True, slots=True)
class Cover:
    """Which members or items a schema evaluates where a condition holds.

    Attributes
    ----------
    condition : int
    names : tuple of str
        In the order of the schema.
    patterns : tuple of str
    count : int
        So many items from the first on.
    all : bool
        Every member, or every item.
    items : int
        Those items that satisfy this question.
    closed : bool
        Whether there are no members but those that some schema evaluates.
    """

    condition: int
    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    count: int = 0
    all: bool = False
    items: int = FALSE
    closed: bool = False


def items_fact(facts: Facts, first: tuple[int, ...], rest: int) -> int:
    """The formula that the first items satisfy these questions, and the others the last one."""
    while first and first[-1] == rest:
        first = first[:-1]
    return TRUE if not first and rest == TRUE else facts.holds(Items(first, rest))


def members_beside(facts: Facts, place: Place, question: int, covers: Sequence[Cover]) -> int:
    """Every member that no cover evaluates satisfies the question."""

    def others(counted_on: Sequence[Cover]) -> int:
        names = {name for cover in counted_on for name in cover.names}
        patterns = dict.fromkeys(pattern for cover in counted_on for pattern in cover.patterns)
        named = tuple((name, TRUE) for name in sorted(names))
        return facts.holds(Members(named, tuple((pattern, TRUE) for pattern in patterns), question))

    uncertain = [cover for cover in covers if cover.condition not in (TRUE, FALSE)]
    if len(uncertain) <= _MOST_UNCERTAIN or any(cover.patterns for cover in covers):
        return _beside(facts, place, question, covers, others)
    return _by_name(facts, question, covers)


def _by_name(facts: Facts, question: int, covers: Sequence[Cover]) -> int:
    """The same where only names are evaluated: a cover that has one holds, or its member satisfies the question.

    A conjunction over names, where `_ways_to_evaluate` has one over sets of covers.
    """
    formulas = facts.formulas
    conditions: dict[str, list[int]] = {}
    for cover in covers:
        for name in cover.names:
            conditions.setdefault(name, []).append(cover.condition)
    parts = [facts.holds(Members(tuple((name, TRUE) for name in conditions), (), question))]
    for name, some in every(conditions.items()):
        alone = facts.holds(member_fact(name, question))
        parts.append(formulas.disjunction(*sorted(some), alone))
    everything = [cover.condition for cover in covers if cover.all]
    return formulas.disjunction(*everything, formulas.conjunction(*parts))


def member_fact(name: str, question: int) -> Members:
    """The fact that the member of a name, if there is one, satisfies a question."""
    return Members(((name, question),), (), TRUE)


def items_beside(facts: Facts, place: Place, question: int, covers: Sequence[Cover]) -> int:
    """Every item that no cover evaluates satisfies the question."""

    def others(counted_on: Sequence[Cover]) -> int:
        count = max((cover.count for cover in counted_on), default=0)
        rest = facts.formulas.disjunction(question, *[cover.items for cover in counted_on])
        return items_fact(facts, (TRUE,) * count, rest)

    return _beside(facts, place, question, covers, others)


def _beside(
    facts: Facts, place: Place, question: int, covers: Sequence[Cover], others: Callable[[Sequence[Cover]], int]
) -> int:
    """All that no cover evaluates satisfies the question; ``others`` says that of what is beside covers that hold."""
    if question == TRUE:
        return TRUE
    return facts.formulas.conjunction(
        *[
            facts.formulas.disjunction(*[cover.condition for cover in some], others(counted_on))
            for some, counted_on in _ways_to_evaluate(place, covers)
            if not any(cover.all for cover in counted_on)
        ]
    )


def _ways_to_evaluate(place: Place, covers: Sequence[Cover]) -> list[tuple[tuple[Cover, ...], tuple[Cover, ...]]]:
    """Ways to part covers into those of which one has to hold and those that may be counted on.

    "Each member is evaluated by a cover whose condition holds, or satisfies the question" is a conjunction over all
    sets of covers: one of the set holds, or those outside it evaluate what does not satisfy the question.
    """
    sure = [cover for cover in covers if cover.condition == TRUE]
    uncertain = list(dict.fromkeys(cover for cover in covers if cover.condition not in (TRUE, FALSE)))
    if len(uncertain) > _MOST_UNCERTAIN:
        why = f"{len(uncertain)} schemas beside it may evaluate something, and more than {_MOST_UNCERTAIN} are too many"
        raise UnsupportedSchemaError(place.pointer, "unevaluatedProperties or unevaluatedItems", why)
    ways = []
    for chosen in range(1 << len(uncertain)):
        some = tuple(cover for k, cover in enumerate(uncertain) if not chosen >> k & 1)
        ways.append((some, (*sure, *[cover for k, cover in enumerate(uncertain) if chosen >> k & 1])))
    return ways
