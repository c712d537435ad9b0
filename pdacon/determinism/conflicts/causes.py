"""Why there is a conflict: the shape of its two readings, as a stable word.

A unifying example is an ambiguity, and its trees tell which of the usual ones. Without one, either canonical LR(1) is
enough to tell the readings apart, or it takes more than one terminal, or nothing does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pdacon.base.graphs import reachable
from pdacon.determinism.conflicts.derivations import Example
from pdacon.determinism.conflicts.explanations import Explanation
from pdacon.determinism.conflicts.items import Items
from pdacon.lalr import Conflict

DANGLING = "dangling-else"
OPERATORS = "operator-precedence"
JUXTAPOSED = "juxtaposition"
OPTIONAL = "optional-list"
NESTED = "nested-repetition"
DUPLICATE = "duplicate-alternative"
CYCLE = "cyclic-rule"
AMBIGUOUS = "ambiguous"
MERGE = "lalr-merge"
LOOKAHEAD = "needs-lookahead"
LARK_ONLY = "lark-only"
UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why there is a conflict."""

    slug: str  # A stable word
    # What it is about, where there is such a symbol: the operand of operators, the rule that stands beside itself or
    # that is nested; else -1.
    symbol: int = -1


def find_cause(items: Items, conflict: Conflict, explanation: Explanation | None) -> Cause | None:
    """The cause of one conflict; None if it was not looked for, and there is no explanation."""
    if conflict.lark_only:
        return Cause(LARK_ONLY)
    if explanation is None:
        return None
    example = explanation.example
    if not items.copies(conflict.state):
        return Cause(UNREACHABLE)
    if explanation.merged:
        return Cause(MERGE)
    if example is None or not example.unifying:
        return Cause(LOOKAHEAD)
    if conflict.kind == "shift/reduce":
        return _of_shift(items, conflict, example)
    return _of_reduces(items, conflict)


def _of_shift(items: Items, conflict: Conflict, example: Example) -> Cause:
    lhs, rhs = items.sides[conflict.productions[0]]
    shift = example.spine[0]
    going_on, dot = items.sides[items.production[shift]][1], items.dot[shift]
    around, at = example.around
    if around is None:
        return Cause(AMBIGUOUS)
    if items.left(shift) == lhs == around.symbol and rhs and going_on[:dot] == rhs and at == dot:
        return Cause(DANGLING, lhs)
    last = rhs[-1] if rhs else -1
    alone = around.children[at - 1].count_leaves() == len(rhs) == 1
    if alone and items.left(shift) == around.symbol and items.sides[around.production][1][at:] == going_on[dot:]:
        return Cause(DUPLICATE, around.symbol)
    operand = last >= items.nonterminal and not repeats(items, last)
    operators = all(_stands_for(items, last, side) for side in (lhs, items.left(shift)))
    if dot == 1 and not alone and operand and last == going_on[0] and operators:
        return Cause(JUXTAPOSED if len(rhs) == 2 and rhs[0] == last and len(going_on) == 2 else OPERATORS, last)
    if repeats(items, around.symbol) and repeats(items, last) and last != around.symbol:
        return Cause(NESTED, around.symbol)
    helpers = any(repeats(items, symbol) for symbol in (lhs, last, around.symbol))
    if not rhs or helpers or _ends(items, conflict.productions[0]):
        return Cause(OPTIONAL, around.symbol)
    return Cause(AMBIGUOUS)


def _of_reduces(items: Items, conflict: Conflict) -> Cause:
    (lhs, rhs), (other, others) = (items.sides[k] for k in conflict.productions[:2])
    if not set(conflict.productions[:2]).isdisjoint(cyclic_productions(items)):
        return Cause(CYCLE, lhs)
    if rhs == others:
        return Cause(DUPLICATE) if rhs else Cause(OPTIONAL)
    if not rhs or not others or repeats(items, lhs) or repeats(items, other):
        return Cause(OPTIONAL)
    return Cause(AMBIGUOUS)


def cyclic_productions(items: Items) -> list[int]:
    """The productions of one symbol by which a rule leads back to itself."""
    units = {
        k: (lhs, rhs[0])
        for k, (lhs, rhs) in enumerate(items.sides[: len(items.grammar.productions)])
        if len(rhs) == 1 and rhs[0] >= items.nonterminal
    }
    leads: dict[int, set[int]] = {}
    for lhs, symbol in units.values():
        leads.setdefault(lhs, set()).add(symbol)
    return [k for k, (lhs, symbol) in units.items() if lhs in reachable([symbol], lambda led: leads.get(led, ()))]


def repeats(items: Items, symbol: int) -> bool:
    """Whether a symbol is one of Lark's helpers for repetition."""
    return symbol >= items.nonterminal and items.grammar.nonterminals[symbol - items.nonterminal].repeats


def _stands_for(items: Items, operand: int, symbol: int) -> bool:
    """Whether a symbol is an operand by itself: the same, or led to by alternatives of one symbol."""

    def alone(lhs: int) -> Iterator[int]:
        return (rhs[0] for k in items.expansions.get(lhs, ()) if len(rhs := items.sides[k][1]) == 1)

    return symbol in reachable([operand], alone)


def optional_end(items: Items, conflict: Conflict) -> int | None:
    """The author's symbol that may stand at the end of a rule, where what follows can begin one; None if none does."""
    production = conflict.productions[0]
    lhs, rhs = items.sides[production]
    ends = _ends(items, production) if rhs and not repeats(items, lhs) else []
    if len(ends) != 1 or len(ends[0]) != 1 or repeats(items, ends[0][0]):
        return None
    return ends[0][0] if items.can_begin(ends[0])[0] >> conflict.terminal & 1 else None


def _ends(items: Items, production: int) -> list[tuple[int, ...]]:
    """With what other productions of the same rule go on where this one has ended."""
    lhs, rhs = items.sides[production]
    longer = [items.sides[k][1] for k in items.expansions.get(lhs, ()) if k != production]
    return [other[len(rhs) :] for other in longer if other[: len(rhs)] == rhs]
