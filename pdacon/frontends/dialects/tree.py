"""Rules over characters: what every dialect that is written without a lexer is read into.

A rule is a regular expression over sets of characters and names of rules. Order and greed mean nothing: the language
is that of a context-free grammar.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pdacon.errors import Span
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, leaves_of
from pdacon.grammar.expressions import Tree as Expression
from pdacon.grammar.model import SourceLanguage
from pdacon.regular import Ranges


@dataclass(frozen=True, slots=True)
class Characters:
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


Leaf: TypeAlias = Characters | Text | Reference
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


def merged(tree: Repeated[Leaf]) -> Repeated[Leaf]:
    """Repetitions of repetitions as one, where that is the same: ``(x{0,400}){0,400}`` as ``x{0,160000}``."""
    while isinstance(inner := _only(tree.item), Repeated):
        least, most = tree.least, tree.most
        reach = math.inf if inner.most is None and least else least * (inner.most or 0)
        if least != most and (least + 1) * inner.least > reach + 1:
            break  # so many times the body, and one time more, leave a gap
        if 0 in (most, inner.most):
            total: int | None = 0
        else:
            total = None if most is None or inner.most is None else most * inner.most
        tree = Repeated(inner.item, least * inner.least, total)
    return tree


def _only(tree: Tree) -> Tree:
    """A tree without what has one part only around it."""
    while isinstance(tree, InOrder | OneOf) and len(tree.items) == 1:
        (tree,) = tree.items
    return tree
