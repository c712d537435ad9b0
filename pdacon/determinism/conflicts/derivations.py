"""Derivation trees while they grow: the spine from a conflict's item outwards, and what is to the right of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from pdacon.determinism.conflicts.items import AUGMENTED, Item, Items

_MOST_EMPTY = 100  # nodes of a tree of the empty text, which can be exponentially large


@dataclass(slots=True, eq=False)
class DerivationNode:
    """A node of a derivation tree; a leaf while ``production`` is -1."""

    symbol: int
    production: int = -1
    children: tuple[DerivationNode, ...] = ()

    def leaves(self) -> Iterator[DerivationNode]:
        """From left to right."""
        return (node for node in self.preorder() if node.production < 0)

    def preorder(self) -> Iterator[DerivationNode]:
        """This node and those below, each before what is below it."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def count_leaves(self) -> int:
        return sum(1 for _ in self.leaves())

    def equals(self, other: DerivationNode) -> bool:
        pairs = zip_longest(self.preorder(), other.preorder())
        return all(a and b and (a.symbol, a.production) == (b.symbol, b.production) for a, b in pairs)


@dataclass(frozen=True, slots=True)
class Example:
    """Two readings of a conflict."""

    unifying: bool  # Whether both are derivations of one sentence
    # The trees: of a shift before that of the reduce.
    first: DerivationNode
    second: DerivationNode
    position: int  # How many leaves are left of the decision
    # The same in the second tree: another number only where the readings have no left context in common.
    second_position: int
    spine: tuple[Item, ...]  # The items on the way from the conflict to the root of the first tree
    # In the second tree the lowest node that holds both what is reduced and what comes next, and the child with which
    # that begins; None where it is outside of the tree.
    around: tuple[DerivationNode | None, int]

    @classmethod
    def of(cls, first: Reading, second: Reading, *, unifying: bool) -> Example:
        """The smallest trees that show it: what is around them in both is left out."""
        one, other, position = first.top, second.top, first.position
        while one.symbol == other.symbol == AUGMENTED:
            (one,), (other,) = one.children, other.children
        while (at := _only_difference(one, other)) is not None:
            inner, others = one.children[at], other.children[at]
            if inner.production < 0 or others.production < 0:
                break
            if not unifying and min(inner.count_leaves(), others.count_leaves()) <= position - at:
                break
            one, other, position = inner, others, position - at
        moved = first.position - position
        return cls(unifying, one, other, position, second.position - moved, tuple(first.spine), second.around())


def _only_difference(one: DerivationNode, other: DerivationNode) -> int | None:
    """The child in which two trees of one production differ, if there is only one."""
    if one.production != other.production:
        return None
    differing = [
        k for k, pair in enumerate(zip(one.children, other.children, strict=True)) if not DerivationNode.equals(*pair)
    ]
    return differing[0] if len(differing) == 1 else None


class Reading:
    """One side of a conflict: the spine from the conflict's item outwards, as a tree whose leaves are known so far."""

    def __init__(self, items: Items, item: Item) -> None:
        self._items = items
        production, dot = items.production[item], items.dot[item]
        children = _leaves(items.sides[production][1])
        self.top = DerivationNode(items.sides[production][0], production, children)  # The outermost production
        # The conflict's own item first; then, for each production around it, the item with the dot before that child.
        self.spine = [item]
        self._nodes = [self.top]
        self.position = dot  # How many leaves are left of the decision
        # The leaves right of the decision that were not matched with the other reading yet, in order.
        self.pending = list(children[dot:])

    def step_out(self, parent: Item) -> None:
        """The tree becomes a child in the production of ``parent``."""
        items = self._items
        production, dot = items.production[parent], items.dot[parent]
        lhs, rhs = items.sides[production]
        behind = _leaves(rhs[dot + 1 :])
        self.top = DerivationNode(lhs, production, (*_leaves(rhs[:dot]), self.top, *behind))
        self.spine.append(parent)
        self._nodes.append(self.top)
        self.position += dot
        self.pending += behind

    def around(self) -> tuple[DerivationNode | None, int]:
        """The lowest node of the spine with leaves after the decision, and the child with which they begin."""
        for node, item in zip(self._nodes[1:], self.spine[1:], strict=True):
            for at in range(self._items.dot[item] + 1, len(node.children)):
                if node.children[at].count_leaves():
                    return node, at
        return None, 0

    def expand(self, production: int) -> None:
        leaf = self.pending.pop(0)
        leaf.production = production
        leaf.children = _leaves(self._items.sides[production][1])
        self.pending[:0] = leaf.children

    def match(self, terminal: int | None = None, *, leftmost: bool = False) -> None:
        """The next pending leaf stays as it is, or is expanded as far as it takes to begin with a terminal."""
        left = len(self.pending) - 1
        if terminal is not None:
            self.begin_with(terminal, leftmost=leftmost)
        del self.pending[: len(self.pending) - left]

    def begin_with(self, terminal: int, *, leftmost: bool = False) -> None:
        """Expand pending leaves until the next one is the terminal; what is in its way becomes empty."""
        items = self._items
        while (symbol := self.pending[0].symbol) != terminal:
            if items.distance(symbol, terminal, leftmost=leftmost) is None:
                self._drop()
            else:
                production, skipped = items.towards(symbol, terminal, leftmost=leftmost)
                self.expand(production)
                # Those before the way's next symbol may be able to begin with the terminal too, but farther on, and
                # round in a circle.
                for _ in range(skipped):
                    self._drop()

    def vanish(self) -> None:
        while self.pending:
            self._drop()

    def _drop(self) -> None:
        """The next pending leaf becomes empty. Where its tree is too large the root stands for all of it."""
        items = self._items
        root = self.pending.pop(0)
        begun, left = [root], _MOST_EMPTY
        while begun:
            leaf = begun.pop()
            leaf.production = items.yields.production[leaf.symbol - items.nonterminal]
            leaf.children = _leaves(items.sides[leaf.production][1])
            begun += leaf.children
            left -= 1
            if not left:
                root.children = ()
                return


def _leaves(symbols: tuple[int, ...]) -> tuple[DerivationNode, ...]:
    return tuple(map(DerivationNode, symbols))
