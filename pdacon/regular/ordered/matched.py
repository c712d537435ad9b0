"""The texts that part of a pattern can match, one after the other, in the order in which a backtracking matcher tries.

How one node is read is the caller's; here is the way through them. It keeps a stack of its own: a sequence can be as
long as the pattern, and its groups as deep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

Node: TypeAlias = tuple[Any, Any]

LONGEST = 2_000
"""Longer texts are given only as far as they go beyond this."""


class _Text(Protocol):
    def __add__(self: T, other: T, /) -> T: ...
    def __len__(self) -> int: ...


T = TypeVar("T", bound=_Text)

Way: TypeAlias = tuple[T, Sequence[Node], int]
"""What is read first of a node, and the nodes that come in its place then, with the flags in force there."""

# What is still to be read: nodes, which of them is next, their flags, and what comes after them.
_Rest: TypeAlias = "tuple[Sequence[Node], int, int, _Rest] | None"


def texts(nodes: Sequence[Node], flags: int, ways: Callable[[Node, int], Iterable[Way[T]]], empty: T) -> Iterator[T]:
    """What a sequence of nodes can match.

    ``ways``: the ways past a node under some flags, in order. ``empty``: the empty text.
    """
    pending = [iter([(empty, _rest(nodes, 0, flags, None))])]
    while pending:
        found = next(pending[-1], None)
        if found is None:
            pending.pop()
            continue
        text, rest = found
        if rest is None or len(text) > LONGEST:
            yield text
            continue
        nodes, at, flags, look_behind = rest
        pending.append(_on(text, ways(nodes[at], flags), _rest(nodes, at + 1, flags, look_behind)))


def _on(text: T, ways: Iterable[Way[T]], look_behind: _Rest) -> Iterator[tuple[T, _Rest]]:
    for read, nodes, flags in ways:
        yield text + read, _rest(nodes, 0, flags, look_behind)


def _rest(nodes: Sequence[Node], at: int, flags: int, look_behind: _Rest) -> _Rest:
    return (nodes, at, flags, look_behind) if at < len(nodes) else look_behind
