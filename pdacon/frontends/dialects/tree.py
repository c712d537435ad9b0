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


@dataclass(frozen=True, slots=True)
class Sequence:
    """The parts, one after the other; ``span`` is the place of an alternative."""

    parts: tuple[Tree, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of the options."""

    options: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body at least so many times and at most so many, None: any number."""

    body: Tree
    least: int
    most: int | None


Tree: TypeAlias = Characters | Text | Reference | Sequence | Choice | Repeat


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
    pending = [tree]
    while pending:
        one = pending.pop()
        if isinstance(one, Reference):
            yield one
        elif isinstance(one, Sequence):
            pending += reversed(one.parts)
        elif isinstance(one, Choice):
            pending += reversed(one.options)
        elif isinstance(one, Repeat):
            pending.append(one.body)


def merged(tree: Repeat) -> Repeat:
    """Repetitions of repetitions as one, where that is the same: ``(x{0,400}){0,400}`` as ``x{0,160000}``."""
    while isinstance(inner := _only(tree.body), Repeat):
        least, most = tree.least, tree.most
        reach = math.inf if inner.most is None and least else least * (inner.most or 0)
        if least != most and (least + 1) * inner.least > reach + 1:
            break  # so many times the body, and one time more, leave a gap
        if 0 in (most, inner.most):
            total: int | None = 0
        else:
            total = None if most is None or inner.most is None else most * inner.most
        tree = Repeat(inner.body, least * inner.least, total)
    return tree


def _only(tree: Tree) -> Tree:
    """A tree without what has one part only around it."""
    while True:
        if isinstance(tree, Sequence) and len(tree.parts) == 1:
            (tree,) = tree.parts
        elif isinstance(tree, Choice) and len(tree.options) == 1:
            (tree,) = tree.options
        else:
            return tree
