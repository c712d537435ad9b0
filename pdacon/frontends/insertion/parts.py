"""What a grammar was made of, where it was made of others: what a reader of its texts has to know.

Data only. Texts become lexemes, and lexemes trees, in rooms above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pdacon.frontends.insertion.borders import set_of
from pdacon.grammar import GrammarData, Pattern
from pdacon.regular import RegularSet


@dataclass(frozen=True)
class Hole:
    """An inner grammar where it was put in.

    Attributes
    ----------
    symbol : int
        What stands for it, and for nothing else, in the composed grammar.
    terminal : str
        The terminal of the outer grammar that was declared in its place.
    grammar : GrammarData
    terminals : mapping of int to int
        The terminals of the composed grammar that are its own or ones that it shares, with their numbers in it.
    """

    symbol: int
    terminal: str
    grammar: GrammarData
    terminals: Mapping[int, int] = field(hash=False)


@dataclass(frozen=True)
class Joined:
    """A terminal that reads what follows a hole, and before that ignored text or what is in the hole.

    Attributes
    ----------
    closer : str
        The outer grammar's terminal after the hole.
    pattern : Pattern
        Its pattern.
    hole : Hole or None
        What it has the text of; None: ignored text.
    texts : RegularSet or None
        The texts of the hole.
    """

    closer: str
    pattern: Pattern
    hole: Hole | None
    texts: RegularSet | None

    def cut(self, text: str) -> int:
        """Where the terminal after the hole begins: as late as it can, or where it can for the first time."""
        closing = set_of(self.pattern)
        if self.texts is not None:
            return next(at for at in range(len(text), -1, -1) if text[at:] in closing and text[:at] in self.texts)
        return next(at for at in range(len(text)) if text[at:] in closing)


@dataclass(frozen=True)
class Composition:
    """Grammars in the holes of another one.

    Attributes
    ----------
    outer : Grammar
    text : str
        What stock Lark can load of it: with a declared terminal for each hole.
    holes : tuple of Hole
    outside : mapping of int to str
        Terminals of the composed grammar that the outer one has, with their names there.
    joined : mapping of int to Joined
    """

    outer: GrammarData
    text: str
    holes: tuple[Hole, ...]
    outside: Mapping[int, str] = field(hash=False)
    joined: Mapping[int, Joined] = field(hash=False)


@dataclass(frozen=True)
class Escaped:
    """A grammar within a string of JSON, with its quotes or without."""

    grammar: GrammarData
    quotes: bool
