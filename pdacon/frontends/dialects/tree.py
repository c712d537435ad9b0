"""Rules over characters: what every dialect that is written without a lexer is read into.

A rule is a regular expression over sets of characters and names of rules. Order and greed mean nothing: the language
is that of a context-free grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pdacon.base.languages import SourceLanguage
from pdacon.errors import Span
from pdacon.frontends.machines import Nfa
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, leaves_of
from pdacon.grammar.expressions import Tree as Expression
from pdacon.regular import Ranges


@dataclass(frozen=True, slots=True)
class WrittenCharacters:
    """One character of a set, which may be empty; ``written`` is how the author wrote it."""

    ranges: Ranges
    written: str


@dataclass(frozen=True, slots=True)
class Text:
    """These characters, one after the other; perhaps none."""

    value: str


@dataclass(frozen=True, slots=True)
class Reference:
    """What the rule of that name derives."""

    name: str
    span: Span


Leaf: TypeAlias = WrittenCharacters | Text | Reference
Tree: TypeAlias = Expression[Leaf]


@dataclass(frozen=True, slots=True)
class Placed(InOrder[Leaf]):
    """An alternative, and its place."""

    span: Span


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; ``span`` is the place of its name where it is defined."""

    name: str
    body: Tree
    span: Span


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules by their names, each of which is defined, and the one that a text is derived from.

    Attributes
    ----------
    language : SourceLanguage
        The dialect.
    source : str
        The author's text.
    path : str or None
        Where it comes from.
    """

    rules: Mapping[str, Rule]
    start: str
    language: SourceLanguage
    source: str
    path: str | None


def references(tree: Tree) -> Iterator[Reference]:
    """The references in a tree, from left to right."""
    return (leaf for leaf in leaves_of(tree) if isinstance(leaf, Reference))


def put(nfa: Nfa, tree: Tree, begin: int, end: int, resolve: Callable[[Reference, int, int], None]) -> None:
    """Put what a tree stands for between two states; ``resolve`` does it for a reference."""

    def leaf(node: Leaf, begin: int, end: int) -> None:
        if isinstance(node, WrittenCharacters):
            nfa.read(begin, node.ranges, end)
        elif isinstance(node, Reference):
            resolve(node, begin, end)
        else:
            for character in map(ord, node.value[:-1]):
                after = nfa.state()
                nfa.read(begin, ((character, character),), after)
                begin = after
            if node.value:
                nfa.read(begin, ((ord(node.value[-1]), ord(node.value[-1])),), end)
            else:
                nfa.silent(begin, end)

    nfa.tree(tree, begin, end, leaf)


def is_tail(tree: Tree, names: set[str], *, head: bool = False) -> bool:
    """Whether references to some rules stand at the end only, or with ``head`` at the beginning only."""
    if isinstance(tree, InOrder):
        parts = tree.items if head else tree.items[::-1]
        return all(not _mentions(part, names) for part in parts[1:]) and (
            not parts or is_tail(parts[0], names, head=head)
        )
    if isinstance(tree, OneOf):
        return all(is_tail(option, names, head=head) for option in tree.items)
    if isinstance(tree, Repeated):
        return is_tail(tree.item, names, head=head) if tree.most == 1 else not _mentions(tree.item, names)
    return True


def _mentions(tree: Tree, names: set[str]) -> bool:
    return any(reference.name in names for reference in references(tree))
