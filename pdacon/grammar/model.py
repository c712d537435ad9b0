"""The records that a grammar is made of. Frozen, picklable, free of Lark's own objects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import os

    import lark

    from pdacon.grammar.indentation import Indentation

LexerKind = Literal["contextual", "basic"]
ConflictPolicy = Literal["error", "shift"]
LookaheadPolicy = Literal["reject", "commit"]
PriorityPolicy = Literal["auto", "normal", "invert"]
ImportPath = str | Callable[..., tuple[Any, str]]


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a grammar's source. Lines and columns count from 1, columns in characters; the end is exclusive."""

    path: str | None
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path or '<grammar>'}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a terminal matches.

    Attributes
    ----------
    kind : {"str", "re"}
        A literal string or a regular expression; only strings are keywords to Lark's lexers.
    value : str
        The string itself, or the regular expression without its flags.
    flags : frozenset of str
        The letters written after the literal, such as ``i`` in ``"select"i``.
    regexp : str
        What Python's ``re`` is given (Lark's ``to_regexp``): escaped, with the flags as inline groups.
    min_width, max_width : int
        Width in characters as sre computes it; Lark orders terminals by ``max_width``.
    """

    kind: Literal["str", "re"]
    value: str
    flags: frozenset[str]
    regexp: str
    min_width: int
    max_width: int


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal. ``pattern`` is None for a ``%declare``'d one, which only a postlexer can produce.

    ``literal`` is the text in the rules for which Lark made up the name (``"{"`` for LBRACE), or None if the author
    named the terminal. ``priority`` is Lark's after ``priority=`` was applied.
    """

    name: str
    pattern: Pattern | None
    priority: int
    span: Span | None
    literal: str | None = None


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
    """One production of the plain (BNF) grammar.

    Attributes
    ----------
    lhs : int
        Symbol id of the nonterminal.
    rhs : tuple of int
        Symbol ids; empty for an empty production.
    priority : int
        The rule's priority after ``priority=`` was applied, 0 where none was given.
    rule : str
        The author's rule or template that it comes from.
    alias : str or None
        The name after ``->``.
    order : int
        Index among the productions of ``lhs``, before duplicates were dropped.
    span : Span or None
        The alternative it was written as, or else the rule's name.
    """

    lhs: int
    rhs: tuple[int, ...]
    priority: int
    rule: str
    alias: str | None
    order: int
    span: Span | None


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
    """How newlines become indentation, in symbol ids of terminals. Made from Lark's ``Indenter``.

    Attributes
    ----------
    newline : int
        What ends a line; the columns behind its last newline indent the next one. It is in every lexical context.
    indent, dedent : int
        What the parser gets, after a newline, for a line that is further in, and for each block that it closes. They
        have no pattern.
    opens, closes : frozenset of int
        Parentheses, disjoint; between them a newline is nothing.
    tab_len : int
        Columns of a tab, at least 1.
    indent_len : int or None
        How many columns a line that opens a block has to be further in than the block around it; None: any number.
    """

    newline: int
    indent: int
    dedent: int
    opens: frozenset[int]
    closes: frozenset[int]
    tab_len: int
    indent_len: int | None = None


@dataclass(frozen=True, slots=True)
class GrammarOptions:
    """How a grammar is to be read: Lark's options, and pdacon's policies ``conflicts`` and ``lookahead``.

    ``import_paths`` and ``import_base`` are where ``%import`` looks (Lark's ``import_paths`` and ``source_path``).
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

    @property
    def encoding(self) -> str:
        """How the characters of patterns, and so of texts, become bytes."""
        return "latin-1" if self.use_bytes else "utf-8"


@dataclass(frozen=True)
class Grammar:
    """A grammar as data. Equal are those with the same text, place and options; :attr:`fingerprint` compares meaning.

    Symbol ids: with T terminals, 0..T-1 are :attr:`terminals`, T is ``$END`` and T+1+k is ``nonterminals[k]``.

    Attributes
    ----------
    terminals, nonterminals, productions : tuple
        In Lark's order; ``%declare``'d terminals come last.
    ignore : frozenset of int
        Ids of the ``%ignore``'d terminals.
    starts : tuple of int
        Symbol ids of the start rules, in the order of ``options.start``.
    source : str
        The text in Lark's language.
    source_path : str or None
        Where the text comes from.
    layout : Layout or None
        Indentation, if ``options.postlex`` says that newlines make any.
    unused : tuple of Definition
        Rules, templates and terminals that nothing leads to: no start, nothing ignored, no other of these. Lark drops
        them, and what only they need.
    imports : tuple of Import
        What other files define, as far as it was found there. Spans of it are in those files, unless they are packaged:
        then it is the place of the ``%import``.
    imported_files : tuple of (str, str)
        Path and text of each file with a definition in ``imports``.

    Raises
    ------
    ValueError
        If a symbol id is out of range or names the wrong kind of symbol.
    """

    terminals: tuple[Terminal, ...]
    nonterminals: tuple[Nonterminal, ...]
    productions: tuple[Production, ...]
    ignore: frozenset[int]
    starts: tuple[int, ...]
    options: GrammarOptions
    source: str
    source_path: str | None = None
    layout: Layout | None = None
    unused: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    imported_files: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        end, count = self.end, self.end + 1 + len(self.nonterminals)
        for k, production in enumerate(self.productions):
            if not end < production.lhs < count:
                raise ValueError(f"production {k}: lhs {production.lhs} is not a nonterminal ({end + 1}..{count - 1})")
            for symbol in production.rhs:
                if not 0 <= symbol < count or symbol == end:
                    raise ValueError(f"production {k}: {symbol} is not a terminal or nonterminal (0..{count - 1})")
        if not self.starts or any(not end < start < count for start in self.starts):
            raise ValueError(f"starts {self.starts}: at least one, each a nonterminal ({end + 1}..{count - 1})")
        if any(not 0 <= terminal < end for terminal in self.ignore):
            raise ValueError(f"ignore {sorted(self.ignore)}: not terminals (0..{end - 1})")
        if self.layout is not None:
            ids = {self.layout.newline, self.layout.indent, self.layout.dedent, *self.layout.opens, *self.layout.closes}
            if min(ids) < 0 or max(ids) >= end:
                raise ValueError(f"layout: not terminals (0..{end - 1}): {sorted(ids - set(range(end)))}")

    def __hash__(self) -> int:
        return hash(self.source)  # Options may hold what has no hash, and the text tells grammars apart.

    def __repr__(self) -> str:
        return (
            f"<Grammar {self.source_path or 'from text'}: {len(self.terminals)} terminals, "
            f"{len(self.nonterminals)} nonterminals, {len(self.productions)} productions>"
        )

    @classmethod
    def from_lark(
        cls,
        text_or_lark: str | lark.Lark,
        start: str | Sequence[str] = "start",
        lexer: LexerKind = "contextual",
        conflicts: ConflictPolicy = "error",
        lookahead: LookaheadPolicy = "reject",
        postlex: Any = None,
        g_regex_flags: int = 0,
        use_bytes: bool = False,
        priority: PriorityPolicy | None = "auto",
        maybe_placeholders: bool = True,
        source_path: str | os.PathLike[str] | None = None,
        import_paths: Sequence[ImportPath | os.PathLike[str]] = (),
    ) -> Grammar:
        """Load a grammar that is written in Lark's language.

        Parameters
        ----------
        text_or_lark : str or lark.Lark
            The grammar's text, or a ready parser made with ``parser="lalr"``: its text and options are taken, so that
            of the options below only ``conflicts`` and ``lookahead`` may be given with it. What its ``transformer``
            makes of a tree, or raises, is no part of the language.
        start : str or sequence of str
            The start rule or rules.
        lexer : {"contextual", "basic"}
            Which of Lark's lexers gives the grammar its meaning.
        conflicts : {"error", "shift"}
            "error" rejects at compile time what Lark settles silently; "shift" accepts and records it.
        lookahead : {"reject", "commit"}
            What to do with a terminal whose end cannot be known within bounded lookahead.
        g_regex_flags, use_bytes, postlex, priority, maybe_placeholders, source_path, import_paths
            As in Lark. With ``use_bytes`` the texts are bytes, of which each is a character. ``postlex`` is an
            instance or a subclass of ``lark.indenter.Indenter``, or of ``pdacon.FixedWidthIndenter``, that sets its
            attributes only, or ``"python"`` for Lark's ``PythonIndenter``, or ``"python4"`` for the same with blocks of
            four columns.

        Raises
        ------
        GrammarSyntaxError
            If Lark would not load the text; ``span`` is the place.
        UnsupportedGrammarError
            If it loads but uses something that pdacon does not do; ``feature`` names it.
        ValueError, TypeError
            If an option is not one of those listed.

        Notes
        -----
        Cost: Lark's loader, a few ms for a grammar like JSON, and about a tenth more. The first load in a process
        also builds the parser for Lark's own language.
        """
        from pdacon.grammar.reading import read_lark, read_text
        from pdacon.grammar.settings import make_options

        options = make_options(
            start=start,
            lexer=lexer,
            conflicts=conflicts,
            lookahead=lookahead,
            postlex=postlex,
            g_regex_flags=g_regex_flags,
            use_bytes=use_bytes,
            priority=priority,
            maybe_placeholders=maybe_placeholders,
            import_paths=import_paths,
            source_path=source_path,
        )
        if isinstance(text_or_lark, str):
            return read_text(text_or_lark, options)
        return read_lark(text_or_lark, options)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> Grammar:
        """Load a grammar from a UTF-8 file; relative imports start from it. Options as in :meth:`from_lark`."""
        from pdacon.grammar.reading import read_source

        options.setdefault("source_path", path)
        return cls.from_lark(read_source(path), **options)

    @classmethod
    def builtin(cls, name: str, **options: Any) -> Grammar:
        """Load a grammar that comes with pdacon, such as ``"json"``. Options as in :meth:`from_lark`.

        One that needs a postlexer has it by itself.

        Raises
        ------
        ValueError
            If there is no such grammar; the message lists those there are.
        TypeError
            If the name is no str.
        """
        from pdacon.grammar.builtin import builtin_options, builtin_source

        text, path = builtin_source(name)
        return cls.from_lark(text, **{"source_path": path, **builtin_options(name), **options})

    @property
    def end(self) -> int:
        """Symbol id of ``$END``, which is the number of terminals."""
        return len(self.terminals)

    def symbol_name(self, symbol: int) -> str:
        """Lark's name of a symbol: a terminal's, ``$END`` or a nonterminal's."""
        if symbol < 0:
            raise IndexError(f"symbol {symbol} is negative")
        if symbol < self.end:
            return self.terminals[symbol].name
        return "$END" if symbol == self.end else self.nonterminals[symbol - self.end - 1].name

    def describe_symbol(self, symbol: int) -> str:
        """A symbol as its author writes it: a name, a literal such as ``"{"``, or a repetition such as ``(pair)+``."""
        from pdacon.grammar.describing import describe_symbol

        return describe_symbol(self, symbol)

    def describe_name(self, name: str) -> str:
        """A rule's or terminal's name as its author writes it: that of an imported file without Lark's prefix."""
        from pdacon.grammar.describing import describe_name

        return describe_name(self, name)

    def describe_production(self, production: int) -> str:
        """A production in the author's words: ``object: "{" pair "}"``."""
        from pdacon.grammar.describing import describe_production

        return describe_production(self, production)

    def to_lark(self) -> str:
        """The text in Lark's language. With :attr:`lark_options`, stock Lark gives it the meaning that pdacon does."""
        return self.source

    @property
    def lark_options(self) -> dict[str, Any]:
        """The keyword arguments for ``lark.Lark(grammar.to_lark(), **grammar.lark_options)``."""
        options = self.options
        return {
            "parser": "lalr",
            "start": list(options.start),
            "lexer": options.lexer,
            "postlex": options.postlex and options.postlex.to_indenter(),
            "g_regex_flags": options.g_regex_flags,
            "use_bytes": options.use_bytes,
            "priority": options.priority,
            "maybe_placeholders": options.maybe_placeholders,
            "source_path": options.import_base,
            "import_paths": list(options.import_paths),
        }

    @cached_property
    def names_in_imported_files(self) -> Mapping[str, str]:
        """What is said instead of each name that Lark has made up for what an import brings along."""
        from pdacon.grammar.describing import names_in_imported_files

        return names_in_imported_files(self)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the meaning: all but places, texts and what only shapes Lark's trees."""
        options = self.options
        meaning: Mapping[str, Any] = {
            "terminals": [
                [t.name, t.priority, t.pattern and [t.pattern.kind, t.pattern.value, sorted(t.pattern.flags)]]
                for t in self.terminals
            ],
            "nonterminals": [n.name for n in self.nonterminals],
            "productions": [[p.lhs, p.rhs, p.priority] for p in self.productions],
            "ignore": sorted(self.ignore),
            "starts": self.starts,
            "options": [
                options.lexer,
                options.conflicts,
                options.lookahead,
                repr(options.postlex),
                int(options.g_regex_flags),
                options.use_bytes,
            ],
        }
        return hashlib.sha256(json.dumps(meaning, separators=(",", ":")).encode()).hexdigest()
