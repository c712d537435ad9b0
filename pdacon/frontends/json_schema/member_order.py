"""In which order the members of an object come that schemas list.

In: formulas about objects, and the lists of `Members`. Out: the names, and what the core has to know of their order.

A text has to keep the order of a list only if its value would not satisfy the schema were that list's fact false: so
each alternative asks for its own order, and none for that of another one. Names that no list has may come anywhere,
and names that lists have in different orders come in any order among themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TypeAlias

from pdacon._native import _core
from pdacon.base.cancelling import every, look
from pdacon.base.graphs import components
from pdacon.frontends.json_schema.facts import Facts, Has, Members
from pdacon.frontends.json_schema.ranks import Ranks
from pdacon.frontends.json_schema.steps import Vector, order_of_lists
from pdacon.regular import FALSE, TRUE, Formulas

Names: TypeAlias = tuple[str, ...]
_MOST_ASKED_OF = 16  # lists of which it is found out whether any value needs them
Groups: TypeAlias = tuple[Names, ...]
"""Names in the order of a list; those of one group come in any order among themselves."""


@dataclass(frozen=True, slots=True)
class NamesInOrder:
    """The names that schemas list or ask for, and in which order they come.

    Attributes
    ----------
    names : tuple of str
    once : frozenset of str
        Those that come once at most, even where nothing is said of them any more.
    certain : tuple of Groups
        The lists whose order is kept, whatever else holds.
    uncertain : dict
        By variable of a fact, the list whose order is kept if nothing but that fact lets the value satisfy the schema.
    """

    names: Names
    once: frozenset[str]
    certain: tuple[Groups, ...] = ()
    uncertain: dict[int, Groups] = field(default_factory=dict)

    @property
    def is_total(self) -> bool:
        """Whether one list has all names, in a row; or there are none."""
        return not self.names or (not self.uncertain and any(len(groups) == len(self.names) for groups in self.certain))

    def with_others(self, names: Sequence[str]) -> NamesInOrder:
        """The same with some more names, which may come anywhere."""
        more = tuple(name for name in dict.fromkeys(names) if name not in self.names)
        return NamesInOrder(self.names + more, self.once | {*more}, self.certain, self.uncertain)

    def anywhere(self) -> NamesInOrder:
        """The same names in any order, each once."""
        return NamesInOrder(self.names, frozenset(self.names))

    def in_a_row(self) -> NamesInOrder:
        """The same names in one order: of the same values not all texts, but some of each."""
        return NamesInOrder(self.names, frozenset(self.names), (tuple((name,) for name in self.names),))

    def native(self, classes: int) -> _core.MemberOrder:
        """The same for the core."""
        names, is_total = self.names, self.is_total
        place = {name: k for k, name in enumerate(names)}
        closed: list[set[int]] = [set() for _ in names]
        for groups in () if is_total else self.certain:
            before: set[int] = set()
            for group in every(groups):
                for name in group:
                    closed[place[name]] |= before
                before.update(place[name] for name in group)
        return _core.MemberOrder(
            names=len(names), classes=classes, is_total=is_total,
            closed_by=[] if is_total else list(map(sorted, closed)),
            come_once=[place[name] for name in self.once],
            lists=[
                (variable, sorted((place[name], rank) for rank, group in enumerate(groups) for name in group))
                for variable, groups in self.uncertain.items()
            ],
        )  # fmt: skip


def order_of_names(facts: Facts, machine: Vector, ranks: Callable[[], Ranks], are_listed: set[Members]) -> NamesInOrder:
    """The names that formulas ask for, in their order; ``are_listed`` are the facts whose names are in an order."""
    certain: dict[Names, None] = {}
    uncertain: dict[int, Names] = {}
    others: dict[str, None] = {}
    about = facts.among(*machine)
    listing = {v: fact for v, fact in about if isinstance(fact, Members) and fact.named and fact in are_listed}
    implied = _implied(facts.formulas, machine, [*listing])
    for variable, fact in about:
        if isinstance(fact, Has):
            others |= dict.fromkeys(sorted(fact.names))
        elif isinstance(fact, Members) and fact.named:
            names = tuple(name for name, _ in fact.named)
            if variable in implied:
                certain[names] = None
            elif variable not in listing or (
                len(listing) <= _MOST_ASKED_OF and all(map(partial(_asks_not_for, facts.formulas, variable), machine))
            ):
                others |= dict.fromkeys(names)  # as those of `not` and `if`
            else:
                uncertain[variable] = names
    alike = dict.fromkeys((*certain, *uncertain.values()))
    lists: list[Names] = [*every(alike)]
    first = lists[0] if len(lists) == 1 else order_of_lists(lists, ranks().of_name) if lists else ()
    rest = others.keys() - {*first}
    names = first + tuple(sorted(rest, key=ranks().of_name) if len(rest) > 1 else rest)
    groups = _groups(lists)
    once = {*rest, *(name for some in certain for name in some)}
    return NamesInOrder(
        names, frozenset(once), tuple(groups[some] for some in certain),
        {variable: groups[some] for variable, some in uncertain.items() if len(groups[some]) > 1},
    )  # fmt: skip


def _implied(formulas: Formulas, machine: Vector, variables: Sequence[int]) -> set[int]:
    """The variables that hold wherever one of some formulas does. Linear in their nodes."""
    if len(variables) == 1:
        (only,) = variables
        implies, holds = formulas.implies, formulas.variable(only)
        return {only} if all(one == FALSE or implies(one, holds) for one in machine) else set()
    bits = {variable: 1 << k for k, variable in enumerate(variables)}
    known = {FALSE: (1 << len(variables)) - 1, TRUE: 0}
    pending = list(machine)
    while pending:
        look()
        formula = pending[-1]
        if formula not in known:
            variable, then, otherwise = formulas.node(formula)
            missing = [one for one in (then, otherwise) if one not in known]
            pending += missing
            if missing:
                continue
            known[formula] = (known[then] | (bits.get(variable, 0) if then != FALSE else 0)) & known[otherwise]
        pending.pop()
    whole = known[FALSE]
    for formula in machine:
        whole &= known[formula]
    return {variable for variable, bit in bits.items() if whole & bit}


def _asks_not_for(formulas: Formulas, variable: int, formula: int) -> bool:
    """Whether whatever satisfies a formula does so if a variable is false, too."""
    with_it, without = (formulas.restricted(formula, variable, value) for value in (True, False))
    return formulas.implies(with_it, without)


def _groups(lists: Sequence[Names]) -> dict[Names, Groups]:
    """Of each list its groups: names that lists have in different orders are in none."""
    if len(lists) == 1:
        return {lists[0]: tuple((name,) for name in lists[0])}
    follows: dict[str, dict[str, None]] = {}
    for names in every(lists):
        for name, after in zip(names, (*names[1:], None), strict=True):
            some = follows.setdefault(name, {})
            if after is not None:
                some[after] = None
    circle = {name: k for k, some in enumerate(components(follows)) for name in some}
    return {names: tuple(tuple(some) for _, some in groupby(names, key=circle.__getitem__)) for names in every(lists)}
