"""Trees of what a rule consists of: one after the other, one of several, repeated; what is at the leaves varies."""

from __future__ import annotations

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
    """The trees right below one."""
    if isinstance(tree, InOrder | OneOf):
        return tree.items
    return (tree.item,) if isinstance(tree, Repeated) else ()
