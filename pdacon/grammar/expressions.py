"""Trees of what a rule consists of: one after the other, one of several, repeated; what is at the leaves varies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

Leaf = TypeVar("Leaf", covariant=True)


@dataclass(frozen=True, slots=True)
class InOrder(Generic[Leaf]):
    """One after the other; empty for nothing at all."""

    items: tuple[Tree[Leaf], ...]


@dataclass(frozen=True, slots=True)
class OneOf(Generic[Leaf]):
    """Alternatives."""

    items: tuple[Tree[Leaf], ...]


@dataclass(frozen=True, slots=True)
class Repeated(Generic[Leaf]):
    """``x?``, ``[x]``, ``x*``, ``x+``, ``x~n..m``: from ``least`` to ``most`` times, None for any number."""

    item: Tree[Leaf]
    least: int
    most: int | None


Tree: TypeAlias = Leaf | InOrder[Leaf] | OneOf[Leaf] | Repeated[Leaf]


def parts_of(tree: Tree[Leaf]) -> tuple[Tree[Leaf], ...]:
    if isinstance(tree, InOrder | OneOf):
        return tree.items
    return (tree.item,) if isinstance(tree, Repeated) else ()


def leaves_of(tree: Tree[Leaf]) -> Iterator[Leaf]:
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, InOrder | OneOf | Repeated):
            pending += reversed(parts_of(node))
        else:
            yield node


def simplified(tree: Tree[Leaf]) -> Tree[Leaf]:
    """The tree without groups of one part, and with alternatives of alternatives among these."""
    if isinstance(tree, Repeated):
        return Repeated(simplified(tree.item), tree.least, tree.most)
    if not isinstance(tree, InOrder | OneOf):
        return tree
    items = tuple(map(simplified, tree.items))
    if isinstance(tree, OneOf):
        items = tuple(inner for item in items for inner in (item.items if isinstance(item, OneOf) else (item,)))
    if len(items) == 1:
        return items[0]
    return OneOf(items) if isinstance(tree, OneOf) else InOrder(items)
