"""Repairs that can be written out as rules: made in memory first, to see that the conflict is gone.

The first two keep the sentences as they are. A ladder of operators derives what one rule with all of them does, because
each of the two is a chain of operands with infix operators between them, and an operand is an atom with any prefix
operators in front of it and any postfix ones after. For this the prefix and the postfix operators are the tightest
levels: were a prefix operator looser than an infix one, it could not stand on the right of that. A rule that is written
out in place is replaced by all of its alternatives. The third, a rule that is closed by a word of its own, makes
another language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pdacon.base.limits import Limits
from pdacon.determinism.conflicts import causes
from pdacon.determinism.conflicts.items import Items
from pdacon.errors import LimitExceededError
from pdacon.lalr import Conflict, build_tables

_MOST_LEVELS = 6  # of a ladder that is written out
_MOST_ALTERNATIVES = 4  # of a rule that is written out in place
_GROWTH = 4  # states of the tables of the rewritten grammar, for each of the old

SAME_TEXTS = "The rules derive the same texts as before"
"""What the first two do."""

_POWER = 2
_RANKS = {
    **dict.fromkeys(('"or"', '"||"'), -3),
    **dict.fromkeys(('"and"', '"&&"'), -2),
    **dict.fromkeys(('"=="', '"!="', '"<>"', '"<"', '"<="', '">"', '">="'), -1),
    **dict.fromkeys(('"+"', '"-"'), 0),
    **dict.fromkeys(('"*"', '"/"', '"//"', '"%"'), 1),
    **dict.fromkeys(('"**"', '"^"'), _POWER),
}
"""How tightly operators of logic, comparisons and operators of arithmetic bind; those of the last level group to the
right."""

Side = tuple[int, tuple[int, ...]]
"""A production: left and right side."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """A rule with operators as one rule for each level of binding, the loosest first."""

    names: tuple[str, ...]  # Of the levels; the first is the old rule
    symbols: tuple[int, ...]  # The levels as symbols, numbered on from those of the grammar
    # For each level the right sides, without the one that leads to the next level.
    alternatives: tuple[tuple[tuple[int, ...], ...], ...]
    origins: tuple[tuple[int, ...], ...]  # For each of these the production that it is made of
    usual: bool  # Whether all infix operators are those of arithmetic and logic, in their usual order

    def sides(self) -> list[Side]:
        own = [(s, rhs) for s, level in zip(self.symbols, self.alternatives, strict=True) for rhs in level]
        return own + list(zip(self.symbols, ((symbol,) for symbol in self.symbols[1:]), strict=False))


@dataclass(frozen=True, slots=True)
class _Production:
    lhs: int
    rhs: tuple[int, ...]
    priority: int = 0


@dataclass(frozen=True, slots=True)
class _Rules:
    """What tables are built from."""

    terminals: Sequence[object]
    nonterminals: Sequence[object]
    productions: Sequence[_Production]
    starts: Sequence[int]


def make_ladder(items: Items, operand: int, conflict: Conflict, name: str) -> Ladder | None:
    """The rule of an operand as a ladder, if the conflict is gone then, and none is in the ladder; else None.

    ``name`` is what its author calls the rule.
    """
    infix: list[int] = []
    prefix: list[int] = []
    postfix: list[int] = []
    atoms: list[int] = []
    for k in items.expansions[operand]:
        rhs = items.sides[k][1]
        if not rhs or rhs == (operand,):
            return None
        first, last = rhs[0] == operand, rhs[-1] == operand
        (infix if first and last else prefix if last else postfix if first else atoms).append(k)
    grouped, usual = _infix_levels(items, operand, infix)
    levels = [*grouped, *(level for level in (prefix, postfix) if level)]
    if causes.repeats(items, operand) or not atoms or not 0 < len(levels) <= _MOST_LEVELS:
        return None
    symbols = (operand, *range(items.anything, items.anything + len(levels)))
    alternatives = [
        tuple(_with_levels(items, k, symbols[level], symbols[level + 1], usual) for k in levels[level])
        for level in range(len(levels))
    ]
    ladder = Ladder(
        _names(items, name, len(symbols)),
        symbols,
        (*alternatives, tuple(items.sides[k][1] for k in atoms)),
        tuple(map(tuple, (*levels, atoms))),
        usual,
    )
    others = [side for side in _sides(items) if side[0] != operand]
    sides = [*others, *ladder.sides()]
    left = _conflicts(items, sides, len(levels))
    concerned = {items.sides[k] for k in conflict.productions} | set(ladder.sides())
    if left is None or any(sides[k] in concerned for other in left for k in other.productions):
        return None
    return ladder


def _infix_levels(items: Items, operand: int, infix: Sequence[int]) -> tuple[list[list[int]], bool]:
    """Operators of one alternative are one level, ``e ("+" | "-") e``, and so are those that arithmetic has on one.

    The second is whether all are of arithmetic or logic; then the levels are in their usual order.
    """
    heading = items.grammar.nonterminals[operand - items.nonterminal].span
    together: dict[object, list[int]] = {}
    for k in infix:
        span = items.grammar.productions[k].span
        together.setdefault(k if span is None or span == heading else span, []).append(k)
    ranks = [{_rank(items, k) for k in group} for group in together.values()]
    usual = len(set[int | None]().union(*ranks)) > 1 and all(len(rank) == 1 and None not in rank for rank in ranks)
    levels: dict[object, list[int]] = {}
    for (key, group), rank in zip(together.items(), ranks, strict=True):
        known = next(iter(rank)) if len(rank) == 1 else None
        # Without the others `^` may mean something else.
        joined = known is not None and (usual or known != _POWER)
        levels.setdefault(("rank", known) if joined else key, []).extend(group)
    if usual:
        by_rank = {
            rank: level for key, level in levels.items() if isinstance(key, tuple) and isinstance(rank := key[1], int)
        }
        return [by_rank[rank] for rank in sorted(by_rank)], True
    return list(levels.values()), False


def _rank(items: Items, production: int) -> int | None:
    rhs = items.sides[production][1]
    if len(rhs) != 3 or rhs[1] >= items.nonterminal - 1:
        return None
    literal = items.grammar.terminals[rhs[1]].literal or ""
    return _RANKS.get(literal.removesuffix("i").lower())


def _with_levels(items: Items, production: int, own: int, tighter: int, usual: bool) -> tuple[int, ...]:
    operand, rhs = items.sides[production]
    if usual and _rank(items, production) == _POWER:
        return (tighter, *rhs[1:-1], own)
    if rhs[0] == operand:
        return (own, *rhs[1:-1], tighter if rhs[-1] == operand else rhs[-1])
    return (*rhs[:-1], own)


def _names(items: Items, name: str, count: int) -> tuple[str, ...]:
    grammar = items.grammar
    taken = {nonterminal.name for nonterminal in grammar.nonterminals}
    taken |= {grammar.describe_name(nonterminal) for nonterminal in taken}
    names, number = [name], 1
    while len(names) < count:
        number += 1
        if f"{name}_{number}" not in taken:
            names.append(f"{name}_{number}")
    return tuple(names)


def write_out(items: Items, around: int, at: int, conflict: Conflict) -> list[Side] | None:
    """A production with all alternatives of its symbol ``at`` in the place of that, if the conflict is gone then."""
    lhs, rhs = items.sides[around]
    bodies = [items.sides[k][1] for k in items.expansions[rhs[at]]]
    if any(causes.repeats(items, symbol) for symbol in (lhs, rhs[at])) or len(bodies) > _MOST_ALTERNATIVES:
        return None
    old = _sides(items)
    others = [*old[:around], *old[around + 1 :]]
    written: list[Side] = [(lhs, (*rhs[:at], *body, *rhs[at + 1 :])) for body in bodies]
    written = [side for side in dict.fromkeys(written) if side not in others]
    sides = [*others, *written]
    left = _conflicts(items, sides, 0)
    torn = {items.sides[k] for k in conflict.productions} | set(written)
    if not written or left is None or any(sides[k] in torn for other in left for k in other.productions):
        return None
    return written


def close(items: Items, reduced: int, conflict: Conflict) -> list[int] | None:
    """The productions that begin like one of them, if the conflict is gone with a new terminal at the end of each."""
    lhs, begun = items.sides[reduced]
    longer = [k for k in items.expansions[lhs] if items.sides[k][1][: len(begun)] == begun]
    grammar = items.grammar
    word = grammar.end  # the new terminal; $END and the nonterminals come after it

    def moved(symbol: int) -> int:
        return symbol + (symbol >= word)

    sides = [(moved(left), tuple(map(moved, rhs))) for left, rhs in _sides(items)]
    productions = [_Production(left, (*rhs, word) if k in longer else rhs) for k, (left, rhs) in enumerate(sides)]
    starts = [moved(start) for start in grammar.starts]
    left = _fewer_conflicts(items, _Rules([*grammar.terminals, None], grammar.nonterminals, productions, starts))
    torn = {*conflict.productions, *longer}
    return None if left is None or any(torn.intersection(other.productions) for other in left) else longer


def _sides(items: Items) -> list[Side]:
    return items.sides[: len(items.grammar.productions)]


def _conflicts(items: Items, sides: Sequence[Side], more: int) -> tuple[Conflict, ...] | None:
    """The conflicts of other productions with some more nonterminals; None if there are no fewer than before."""
    grammar = items.grammar
    nonterminals = [*grammar.nonterminals, *([None] * more)]
    productions = [_Production(*side) for side in sides]
    return _fewer_conflicts(items, _Rules(grammar.terminals, nonterminals, productions, grammar.starts))


def _fewer_conflicts(items: Items, rules: _Rules) -> tuple[Conflict, ...] | None:
    """The conflicts of other rules; None if they are no fewer, or more of them are such that Lark refuses the rules."""
    before = items.tables.conflicts
    try:
        found = build_tables(rules, Limits(states=_GROWTH * items.tables.num_states)).conflicts
    except LimitExceededError:
        return None
    refused, known = (sum(one.settled is None for one in conflicts) for conflicts in (found, before))
    return found if len(found) < len(before) and refused <= known else None
