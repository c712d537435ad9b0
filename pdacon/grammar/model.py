"""The records that a grammar is made of. Frozen, picklable, free of Lark's own objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pdacon.errors import Span
from pdacon.regular.records import Automaton

LexerKind = Literal["contextual", "basic"]
ConflictPolicy = Literal["error", "shift"]
LookaheadPolicy = Literal["reject", "commit"]
PriorityPolicy = Literal["auto", "normal", "invert"]
UNBOUNDED = 4_294_967_295
"""The width of what repeats without a bound: sre's MAXREPEAT."""
ImportPath = str | Callable[..., tuple[Any, str]]


@dataclass(frozen=True, slots=True)
class Island:
    """A grammar within another one: productions between which other text is ignored than elsewhere."""

    name: str  # How messages call it: the name that it stands for in the grammar around it
    # Its productions: from ``first`` to before ``last``. Those of an island in it are among them, and come later in the
    # grammar's list of islands.
    first: int
    last: int
    ignore: frozenset[int]  # Ids of the terminals that are ignored in it
    # The terminal that ends its lines, if they are indented: the layout's. It is looked for everywhere in the island.
    newline: int | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a terminal matches."""

    # A literal string, a regular expression or an automaton; only strings are keywords to Lark's lexers.
    kind: Literal["str", "re", "automaton"]
    value: str  # The string itself, or the regular expression without its flags
    flags: frozenset[str]  # The letters written after the literal, such as ``i`` in ``"select"i``
    regexp: str  # What Python's ``re`` is given (Lark's ``to_regexp``): escaped, with the flags as inline groups
    # Width in characters as sre computes it; Lark orders terminals by ``max_width``.
    min_width: int
    max_width: int
    # What an "automaton" matches. ``value`` is a pattern for the same texts, if one is known, else empty; ``regexp`` is
    # empty.
    automaton: Automaton | None = None
    # Of an automaton that reads escaped texts, what matches the texts that are meant.
    meant: Pattern | None = field(default=None, metadata={"optional": True})

    @classmethod
    def of_text(cls, text: str) -> Pattern:
        """The pattern of one text."""
        return cls("str", text, frozenset(), re.escape(text), len(text), len(text))

    @classmethod
    def of_automaton(cls, automaton: Automaton, value: str = "") -> Pattern:
        """The pattern of an automaton; of its width nothing is known."""
        return cls("automaton", value, frozenset(), "", 1, UNBOUNDED, automaton)

    @property
    def unescaped(self) -> Pattern:
        """What matches the texts that are meant; by that Lark orders terminals, and tells keywords."""
        pattern = self
        while pattern.meant is not None:
            pattern = pattern.meant
        return pattern

    def is_escaped_like(self, other: Pattern) -> bool:
        """Whether both are escaped, or neither of them is."""
        return (self.meant is None) == (other.meant is None)


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal. ``pattern`` is None for a ``%declare``'d one, which only a postlexer can produce.

    ``literal`` is the text in the rules for which Lark made up the name (``"{"`` for LBRACE), or None if the author
    named the terminal. ``priority`` is Lark's after ``priority=`` was applied. ``within`` is what messages call the
    texts that a filter leaves of the terminal; None: it leaves all. ``in_place_of`` is the ignored terminal for a piece
    of which this one stands where an embedded grammar begins or ends; None: it stands for itself.
    """

    name: str
    pattern: Pattern | None
    priority: int
    span: Span | None
    literal: str | None = None
    within: str | None = field(default=None, metadata={"optional": True})
    in_place_of: Terminal | None = field(default=None, metadata={"optional": True})

    @property
    def ranked(self) -> Terminal:
        """The terminal whose place in Lark's order this one has, and whose keywords."""
        return self.in_place_of or self


@dataclass(frozen=True, slots=True)
class Nonterminal:
    """A rule's name, or that of a helper which Lark made for ``*``, ``+``, ``~`` or a template's use.

    ``repeats`` is True for a helper: one that stands for a repetition and has no name in the source.
    """

    name: str
    span: Span | None
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Production:
    """One production of the plain (BNF) grammar."""

    lhs: int  # Symbol id of the nonterminal
    rhs: tuple[int, ...]  # Symbol ids; empty for an empty production
    priority: int  # The rule's priority after ``priority=`` was applied, 0 where none was given
    rule: str  # The author's rule or template that it comes from
    alias: str | None  # The name after ``->``
    order: int  # Index among the productions of ``lhs``, before duplicates were dropped
    span: Span | None  # The alternative it was written as, or else the rule's name


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that the main text defines, or imports by name."""

    name: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Import:
    """A name that another file defines.

    ``definition`` is its place there, ``site`` that of the ``%import`` that brings it. Files of packages, such as
    Lark's own grammars, are ``packaged``. ``original`` is its name there, where this grammar has none of its own for
    it: what an imported rule needs has a name that Lark makes up.
    """

    name: str
    definition: Span
    packaged: bool
    site: Span
    original: str | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """How newlines become indentation, in symbol ids of terminals. Made from Lark's ``Indenter``."""

    # What ends a line; the columns after its last newline indent the next one. It is in every lexical context.
    newline: int
    # What the parser gets, after a newline, for a line that is further in, and for each block that it closes. They have
    # no pattern.
    indent: int
    dedent: int
    # Parentheses, disjoint; between them a newline is nothing.
    opens: frozenset[int]
    closes: frozenset[int]
    tab_len: int  # Columns of a tab, at least 1
    # How many columns a line that opens a block has to be further in than the block around it; None: any number.
    indent_len: int | None = None
    # What may stand after an indented part of a text. As at the end of the text, all open blocks are closed before it.
    # Empty: the whole text is indented.
    closers: frozenset[int] = frozenset()
    escaped: bool = False  # Whether the lines are those of what a text stands for that is in a string of JSON


@dataclass(frozen=True, slots=True)
class Indentation:
    """What an Indenter is told, in the names of its attributes; all that it does follows from that."""

    # Names of terminals.
    NL_type: str
    # Names of terminals, ascending. A name that no terminal has is never seen.
    OPEN_PAREN_types: tuple[str, ...]
    CLOSE_PAREN_types: tuple[str, ...]
    INDENT_type: str
    DEDENT_type: str
    tab_len: int  # How many columns a tab counts for
    indent_len: int | None = None  # How many columns each block is further in than the one around it; None: any number


@dataclass(frozen=True, slots=True)
class GrammarOptions:
    """How a grammar is to be read: Lark's options, and pdacon's policies ``conflicts`` and ``lookahead``.

    ``import_paths`` and ``import_base`` are where ``%import`` looks (Lark's ``import_paths`` and ``source_path``).
    With ``extensions`` patterns may ask for labels.
    With ``use_bytes`` texts are bytes, and each character of a pattern stands for one: patterns are latin-1.
    """

    start: tuple[str, ...] = ("start",)
    lexer: LexerKind = "contextual"
    conflicts: ConflictPolicy = "error"
    lookahead: LookaheadPolicy = "reject"
    postlex: Indentation | None = None
    g_regex_flags: int = 0
    use_bytes: bool = False
    priority: PriorityPolicy | None = "auto"
    maybe_placeholders: bool = True
    import_paths: tuple[ImportPath, ...] = ()
    import_base: Any = None
    extensions: bool = False

    @property
    def encoding(self) -> str:
        """How the characters of patterns, and so of texts, become bytes."""
        return "latin-1" if self.use_bytes else "utf-8"


class Values(Protocol):
    """What a grammar's texts stand for, where a front end knows more of that than JSON does."""

    @property
    def name(self) -> str:
        """What messages call the grammar: its type, such as ``Invoice | None``."""

    def read(self, text: str) -> Any:
        """The value of a sentence; ValueError if a class refuses it."""

    def write(self, value: Any) -> str:
        """The sentence of a value; ValueError if there is none."""

    def describe(self) -> str:
        """What values are, in words."""
