"""What is left of formulas about an object or an array when a member or an item has been read.

In: facts about an object or an array, and what is read. Out: what each becomes. The core puts that in the place of the
facts (``frontends/derivatives.hpp``).

Source: J. Brzozowski, "Derivatives of Regular Expressions", Journal of the ACM 11(4), 1964, for the idea: a formula
about the whole becomes one about the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Protocol, TypeAlias

from pdacon.base.cancelling import every, look
from pdacon.frontends.json_schema.facts import (
    Facts,
    Has,
    Items,
    Members,
    MoreItemsThan,
    MoreMembersThan,
    Names,
)
from pdacon.frontends.json_schema.pattern_words import names_spelled_out
from pdacon.regular import FALSE, TRUE

Vector: TypeAlias = tuple[int, ...]
"""Formulas about the same value; at most one of them holds."""


Step: TypeAlias = tuple[int, int, int, int]
"""What one fact becomes: the question, what is left if what was read satisfies it, and if not; and what is left where
nothing of the kind is read any more."""


PlainSteps: TypeAlias = tuple[int, int, int, list[tuple[int, int]]]
"""Of a fact: its variable, the question of members that it does not list, the place from which on no listed name makes
it false, or -1, and the places of the names that it lists, ascending, each with its question."""


class Name(Protocol):
    """The name of a member, or some names that no `Members` and no `Has` lists and no fact tells apart."""

    @property
    def listed(self) -> str | None:
        """The name, if it is one."""

    def holds(self, formula: int) -> bool:
        """Whether a formula about strings holds for it."""

    def fits(self, pattern: str) -> bool:
        """Whether a pattern matches it."""


class MemberSteps:
    """What facts about an object become when a member has been read; members are known by their place in ``names``.

    Where listed names come in that order (``in_order``), a fact about members that have all come, or been left out, is
    settled: it is true from then on.
    """

    def __init__(self, facts: Facts, names: Sequence[Name], *, in_order: bool) -> None:
        self._facts, self._names = facts, names
        self._asked: dict[int, tuple[dict[str, int], list[tuple[str, int]]]] = {}  # of each `Members`
        self._listed = {name.listed: k for k, name in enumerate(names) if name.listed is not None}
        self._places = self._listed if in_order else {}
        self._last: dict[int, int] = {}  # by variable: the place of the last name that a `Members` is about

    def step(self, variable: int, read: int) -> Step:
        """What the fact of a variable becomes after a member."""
        facts, name = self._facts, self._names[read]
        fact = facts[variable]
        if isinstance(fact, Members):
            named, matching = self._asked_by(variable, fact)
            asked = [question for pattern, question in matching if name.fits(pattern)] if matching else []
            if name.listed is not None and (own := named.get(name.listed)) is not None:
                asked.insert(0, own)
            question = facts.formulas.conjunction(*asked) if asked else fact.others
            same = TRUE if self._is_settled(variable, fact, read) else facts.formulas.variable(variable)
            return question, same, FALSE, same
        same = facts.formulas.variable(variable)
        if isinstance(fact, Has):
            rest = fact.names - {name.listed}
            after = facts.holds(Has(rest)) if rest else TRUE
            return TRUE, after, after, FALSE if len(rest) < len(fact.names) else same
        if isinstance(fact, Names):
            after = same if name.holds(fact.formula) else FALSE
            return TRUE, after, after, same
        assert isinstance(fact, MoreMembersThan)
        after = facts.holds(MoreMembersThan(fact.count - 1)) if fact.count else TRUE
        return TRUE, after, after, same

    def concerns(self, variable: int) -> list[int] | None:
        """The members that the fact of a variable speaks of, by their places; None: it may speak of all."""
        fact, places = self._facts[variable], self._listed
        if isinstance(fact, Has):
            return sorted(places[name] for name in fact.names if name in places)
        if isinstance(fact, Members) and fact.others == TRUE:
            named, matching = self._asked_by(variable, fact)
            if named and not matching:
                return sorted(places[name] for name in named)
        return None

    def plain_steps(self, formulas: Sequence[int]) -> list[PlainSteps]:
        """The steps of those facts of some formulas that only list members, so that they need not be asked for."""
        plain: list[PlainSteps] = []
        for variable, fact in self._facts.among(*formulas):
            named, matching = self._asked_by(variable, fact) if isinstance(fact, Members) else ({}, [])
            if isinstance(fact, Members) and not matching:
                questions = [(self._listed[name], question) for name, question in named.items()]
                settles = bool(self._places) and fact.others == TRUE
                last = max((place for place, _ in questions), default=0) if settles else -1
                plain.append((variable, fact.others, last, sorted(questions)))
        return plain

    def _asked_by(self, variable: int, fact: Members) -> tuple[dict[str, int], list[tuple[str, int]]]:
        """The questions of a fact by name, those of names that patterns spell out too, and its other patterns."""
        asked = self._asked.get(variable)
        if asked is None:
            named, matching = dict(fact.named), []
            for pattern, question in fact.matching:
                names = names_spelled_out(pattern)
                if names is None:
                    matching.append((pattern, question))
                for name in names or ():
                    own = named.get(name)
                    named[name] = question if own is None else self._facts.formulas.conjunction(own, question)
            asked = self._asked[variable] = named, matching
        return asked

    def _is_settled(self, variable: int, fact: Members, read: int) -> bool:
        """Whether no member that comes after a listed one can make a fact false."""
        places = self._places
        if fact.others != TRUE or read >= len(places):
            return False
        last = self._last.get(variable)
        if last is None:
            named, matching = self._asked_by(variable, fact)
            last = len(places) if matching else max((places[name] for name in named), default=0)
            self._last[variable] = last
        return read >= last


class ItemSteps:
    """What facts about an array become when an item has been read."""

    def concerns(self, variable: int) -> None:
        """Whatever fact it is, it may speak of each item."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def step(self, variable: int, read: int) -> Step:
        """What the fact of a variable becomes after an item."""
        facts = self._facts
        fact, same = facts[variable], facts.formulas.variable(variable)
        if isinstance(fact, Items):
            if not fact.first:
                return fact.rest, same, FALSE, same
            rest = fact.first[1:]
            after = TRUE if not rest and fact.rest == TRUE else facts.holds(Items(rest, fact.rest))
            return fact.first[0], after, FALSE, same
        assert isinstance(fact, MoreItemsThan)
        less = facts.holds(MoreItemsThan(fact.count - 1, fact.question)) if fact.count else TRUE
        return fact.question, less, same, same


def order_of_lists(
    lists: Sequence[Sequence[str]], rank: Callable[[str], tuple[int, str]], last: Sequence[Sequence[str]] = ()
) -> tuple[str, ...]:
    """The names of some lists: each in its order, as far as all can be kept at once, and those of ``last`` behind."""
    lists = [*sorted(lists, key=lambda names: [rank(name) for name in names]), *last]
    before: dict[str, set[str]] = {}
    for names in lists:
        for previous, name in every(zip((None, *names), names, strict=False)):
            earlier = before.setdefault(name, set())
            if previous is not None:
                earlier.add(previous)
    return _merged(before)


def _merged(before: dict[str, set[str]]) -> tuple[str, ...]:
    """The names, each after those that are to come before it, where there is no circle; else in the order given."""
    place = {name: k for k, name in enumerate(before)}
    behind: dict[str, list[str]] = {name: [] for name in before}
    for name, some in before.items():
        for other in some:
            behind[other].append(name)
    missing = {name: len(some) for name, some in before.items()}
    ready = [place[name] for name, count in missing.items() if not count]  # ascending, which makes it a heap
    names, in_order = list(before), iter(before)
    done: dict[str, None] = {}
    while len(done) < len(names):
        look()
        name = names[heappop(ready)] if ready else next(name for name in in_order if name not in done)
        done[name] = None
        for other in behind[name]:
            missing[other] -= 1
            if not missing[other] and other not in done:
                heappush(ready, place[other])
    return tuple(done)
