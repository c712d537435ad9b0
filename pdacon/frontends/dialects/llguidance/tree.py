"""What a grammar of llguidance is made of; ``at`` and ``end`` are offsets in its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Name:
    """A rule or a terminal."""

    name: str
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A string literal."""

    value: str
    any_case: bool
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Regex:
    """A pattern between slashes."""

    pattern: str
    flags: str
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Range:
    """Any character between two."""

    first: str
    last: str
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunks:
    """Some of the pieces that follow one another, put together; perhaps none."""

    pieces: tuple[str, ...]
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Special:
    """The special token with this name, brackets and all."""

    name: str
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Schema:
    """``%json {...}``."""

    value: Any
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Not:
    """All texts but those of the body."""

    body: Tree
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Group:
    """The options in parentheses, or in brackets if they may be left out."""

    body: Tree
    optional: bool
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body at least so many times and at most so many, None: any number."""

    body: Tree
    least: int
    most: int | None
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; an alias, which means nothing here, is the name that stands at ``alias``."""

    parts: tuple[Tree, ...]
    alias: Name | None
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Both:
    """The texts that all parts have."""

    parts: tuple[Tree, ...]
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of the options."""

    options: tuple[Tree, ...]
    at: int
    end: int


Tree: TypeAlias = (
    Name | Literal | Regex | Range | Chunks | Special | Schema | Not | Group | Repeat | Sequence | Both | Choice
)
Value: TypeAlias = Name | Literal | Regex | Range | Chunks


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule or a terminal.

    Attributes
    ----------
    name : Name
        Without ``!`` and ``?``.
    lazy : bool
        It ends as soon as it can.
    suffix : Value or None
        What it ends with, beside its body.
    at : int
        Where it begins, with what stands before its name.
    """

    name: Name
    body: Tree
    lazy: bool
    suffix: Value | None
    at: int


@dataclass(frozen=True, slots=True)
class Source:
    """A text that has been read.

    Attributes
    ----------
    rules, terminals : dict of str to Rule
        By their names, in the order of the text.
    ignored : list of Tree
        What stands after ``%ignore``.
    imports : dict of str to (Name, str)
        The terminals that come from ``common``, by their names here: where they are named, and the name there.
    """

    text: str
    path: str | None
    rules: dict[str, Rule]
    terminals: dict[str, Rule]
    ignored: list[Tree]
    imports: dict[str, tuple[Name, str]]
