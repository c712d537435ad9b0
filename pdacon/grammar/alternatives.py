"""How many alternatives Lark writes a rule out to: counted before Lark does it, because they can be very many.

Lark's loader turns optional parts, alternatives in parentheses and repetitions within a rule into plain alternatives of
the rule, one for each combination: a rule of 30 optional parts has a billion of them, and Lark would not come back.
"""

from __future__ import annotations

from math import prod
from typing import Any

from lark.lexer import Token
from lark.tree import Tree

from pdacon.errors import LimitExceededError, Span

MOST_ALTERNATIVES = 100_000
"""Lark takes about five seconds to write so many out."""

_WRITTEN_OUT_AT_ONCE = 50
"""So many repetitions Lark breaks up into rules of their own, of at most ten parts each."""


def check_alternatives(name: str, tree: Any, span: Span | None) -> int:
    """To how many alternatives Lark writes a rule out. Cost: one visit of each node.

    The count takes alternatives that are the same for different ones, as Lark does while it multiplies them.

    Raises LimitExceededError: they are too many.
    """
    counts: dict[int, int] = {}
    pending = [tree]
    while pending:
        node = pending[-1]
        open_parts = [part for part in _parts(node) if id(part) not in counts]
        if open_parts:
            pending += open_parts
            continue
        pending.pop()
        count = _count(node, [counts[id(part)] for part in _parts(node)])
        if count > MOST_ALTERNATIVES:
            place = "" if span is None else f" at {span}"
            detail = (
                f"rule {name}{place}: each optional part or group of alternatives multiplies them; give groups names"
            )
            raise LimitExceededError("alternatives", count, MOST_ALTERNATIVES, detail, fixed=True)
        counts[id(node)] = count
    return counts[id(tree)]


def _parts(node: Any) -> list[Tree[Any]]:
    return [part for part in node.children if isinstance(part, Tree)]


def _count(node: Tree[Any], parts: list[int]) -> int:
    """The alternatives of a node, given those of its parts."""
    if node.data == "expansions":
        return sum(parts)
    if node.data == "expansion":
        return prod(parts)
    if node.data == "maybe":
        return parts[0] + 1
    if node.data == "expr":
        operator, *bounds = (token for token in node.children[1:] if isinstance(token, Token))
        return _repeated(parts[0] if parts else 1, str(operator), [int(bound) for bound in bounds])
    return max(parts, default=1)


def _repeated(inner: int, operator: str, bounds: list[int]) -> int:
    if operator == "?":
        return inner + 1
    if operator in "+*":  # a rule of its own: once, or the rule and once more
        return max(2, 2 * inner)
    low, high = bounds[0], bounds[-1]
    if inner == 1:
        return max(min(high - low, _WRITTEN_OUT_AT_ONCE) + 1, 1)
    if high < _WRITTEN_OUT_AT_ONCE:
        return sum(inner**times for times in range(low, high + 1))
    return int(inner**10)
