"""What a grammar of llguidance is made of, beside what every expression has (`pdacon.grammar.expressions`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from pdacon.errors import Span
from pdacon.grammar.expressions import InOrder
from pdacon.grammar.expressions import Tree as Expression


@dataclass(frozen=True, slots=True)
class Written:
    """A part of the text, and its place."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Name(Written):
    """A rule or a terminal, or another name."""


@dataclass(frozen=True, slots=True)
class Literal(Written):
    """A string literal."""

    value: str
    any_case: bool


@dataclass(frozen=True, slots=True)
class Regex(Written):
    """A pattern between slashes."""

    pattern: str
    flags: str


@dataclass(frozen=True, slots=True)
class Range(Written):
    """Any character between two."""

    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Chunks(Written):
    """Some of the pieces that follow one another, put together; perhaps none."""

    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Special(Written):
    """The special token with this name, brackets and all."""


@dataclass(frozen=True, slots=True)
class Schema(Written):
    """``%json {...}``."""

    value: Any


@dataclass(frozen=True, slots=True)
class Not(Written):
    """All texts but those of the body."""

    body: Tree


@dataclass(frozen=True, slots=True)
class Both(Written):
    """The texts that all parts have."""

    parts: tuple[Tree, ...]


Value: TypeAlias = Name | Literal | Regex | Range | Chunks
Leaf: TypeAlias = Value | Special | Schema | Not | Both
Tree: TypeAlias = Expression[Leaf]


@dataclass(frozen=True, slots=True)
class Placed(InOrder[Leaf]):
    """An alternative and its place; its alias means nothing here."""

    span: Span
    alias: Name | None


@dataclass(frozen=True, slots=True)
class Body(Written):
    """What stands after a colon, or after ``%ignore``: alternatives."""

    alternatives: tuple[Placed, ...]

    @property
    def only(self) -> Tree | None:
        """What it is, if it is no more than that."""
        first, *others = self.alternatives
        return first.items[0] if not others and len(first.items) == 1 and first.alias is None else None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule or a terminal.

    Attributes
    ----------
    name : Name
        Without the signs before it, ``!`` and ``?``.
    lazy : bool
        It ends as soon as it can.
    suffix : Value or None
        What it ends with, beside its body.
    """

    signs: str
    name: Name
    body: Body
    lazy: bool
    suffix: Value | None

    @property
    def is_lexeme(self) -> bool:
        """Whether a rule is one lexeme, because of its options."""
        return self.lazy or self.suffix is not None

    @property
    def word(self) -> str | None:
        """The text that a terminal is, if it is a string literal."""
        body = self.body.only
        return body.value or None if isinstance(body, Literal) and not body.any_case else None


@dataclass(frozen=True, slots=True)
class Source:
    """A text that has been read.

    Attributes
    ----------
    rules, terminals : dict of str to Rule
        By their names, in the order of the text.
    ignored : list of Body
        What stands after ``%ignore``.
    imports : dict of str to (Name, str)
        The terminals that come from ``common``, by their names here: where they are named, and the name there.
    """

    text: str
    path: str | None
    rules: dict[str, Rule]
    terminals: dict[str, Rule]
    ignored: list[Body]
    imports: dict[str, tuple[Name, str]]
