"""Options that a grammar's file has at its head: ``// pdacon: --start program --conflicts shift``.

In: a text in Lark's language. Out: what the comments before its first statement ask for, by the names of
`Grammar.from_lark`'s arguments, each with its place. What a file says is data: nothing is imported because of it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from types import MappingProxyType
from typing import Any, get_args

from pdacon.base.quoting import did_you_mean
from pdacon.errors import GrammarSyntaxError, Span
from pdacon.grammar.model import ConflictPolicy, LexerKind, LookaheadPolicy

_LINE = re.compile(r"\s*//\s*pdacon:")
_NEARLY = re.compile(r"\s*//\s*pdacon:?\s*(?=--\w)", re.IGNORECASE)
"""A comment in which options were meant to stand."""
_WORD = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+|\S+""")
_INDENTERS = ("python", "python4")
_OF_COMMANDS = re.compile(
    r"--(schema|tables|exclude|(no-)?views|targets|functions|aliases|labels|bound-labels|double-quoted"
    r"|(no-)?comments|(no-)?with|whitespace|language|max-blanks|whitespace-pattern|separators|indent|max-depth|escapes"
    r"|numbers|integers|exponents|max-digits|excludes|any-order|lax|strict|asserted|profile|(no-)?formats|closed)"
)


@dataclass(frozen=True, slots=True)
class HeadOption:
    """An option: what it is called in a file and as an argument, and what it takes; no ``value``: nothing."""

    switch: str
    name: str
    value: str
    help: str
    choices: tuple[str, ...] = ()
    repeats: bool = False
    filters: bool = False


HEAD_OPTIONS: Mapping[str, HeadOption] = MappingProxyType(
    {
        option.switch: option
        for option in (
            HeadOption("--start", "start", "RULE", "The start rule; may be repeated. Default: start.", repeats=True),
            HeadOption(
                "--conflicts",
                "conflicts",
                "error|shift",
                "'shift' takes what Lark settles in silence.",
                get_args(ConflictPolicy),
            ),
            HeadOption(
                "--lookahead",
                "lookahead",
                "reject|commit",
                "'commit' gives up some texts where lookahead is unbounded.",
                get_args(LookaheadPolicy),
            ),
            HeadOption(
                "--lexer",
                "lexer",
                "contextual|basic",
                "Which of Lark's lexers gives the grammar its meaning.",
                get_args(LexerKind),
            ),
            HeadOption(
                "--postlex",
                "postlex",
                "python|python4",
                "Where indentation comes from: 'python' is Lark's PythonIndenter, 'python4' the same with blocks of "
                "four columns.",
                _INDENTERS,
            ),
            HeadOption(
                "--use-bytes", "use_bytes", "", "Texts are bytes, and each character of a pattern stands for one."
            ),
            HeadOption(
                "--import-path",
                "import_paths",
                "DIR",
                "Where %import looks, seen from the file's folder; may be repeated.",
                repeats=True,
            ),
            HeadOption(
                "--characters",
                "characters",
                "ascii|CHARACTERS",
                "Texts have only ASCII, or only these characters.",
                filters=True,
            ),
            HeadOption(
                "--script",
                "scripts",
                "NAME",
                "Texts have only this script, such as Latin, with digits and punctuation; may be repeated.",
                repeats=True,
                filters=True,
            ),
            HeadOption(
                "--normal-form",
                "normal_form",
                "NFC|NFD|NFKC|NFKD",
                "Texts are in this normal form of Unicode.",
                ("NFC", "NFD", "NFKC", "NFKD"),
                filters=True,
            ),
        )
    }
)
"""The options that a file can have, by their switches."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a text asks for.

    ``options`` are arguments of `Grammar.from_lark`, ``filters`` what else texts must be: ``characters``, ``scripts``,
    ``normal_form``. ``places`` are those of values, each with the name of its option.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)
    places: tuple[tuple[str, Any, Span], ...] = ()

    def place(self, name: str, value: Any = None) -> Span | None:
        """Where an option is given, or one of its values; None: nowhere."""
        return next((span for own, given, span in self.places if own == name and value in (None, given)), None)


@dataclass(frozen=True, slots=True)
class HeadWord:
    """A word of a line of options, quotes and all, with its line and column, both from 0."""

    text: str
    line: int
    column: int

    def span(self, path: str | None) -> Span:
        """Its place in a file."""
        return Span(path, self.line + 1, self.column + 1, self.line + 1, self.column + len(self.text) + 1)


@dataclass(frozen=True, slots=True)
class HeadLine:
    """A line of options: its words, its number from 0, and the column behind ``pdacon:``."""

    words: tuple[HeadWord, ...]
    line: int
    column: int


def head_lines(text: str) -> Iterator[HeadLine]:
    """The lines of options among the comments and blank lines that a text begins with."""
    for number, line in enumerate(_first_lines(text)):
        if begin := _LINE.match(line):
            words = (HeadWord(word[0], number, word.start()) for word in _WORD.finditer(line, begin.end()))
            yield HeadLine(tuple(words), number, begin.end())


def _first_lines(text: str) -> Iterator[str]:
    """The comments and blank lines that a text begins with."""
    return takewhile(lambda line: not line.strip() or line.lstrip().startswith("//"), _lines(text))


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, which may be long, one after the other."""
    begin = 0
    while begin <= len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        yield text[begin:end]
        begin = end + 1


def read_head(text: str, path: str | os.PathLike[str] | None) -> Head:
    """Read the options at the head of a text. ``path`` is its file, from whose folder ``--import-path`` starts.

    Linear in the head.

    Raises
    ------
    GrammarSyntaxError
        There is no such option or value, or something else stands there; ``span`` is the place.
    """
    own_path = None if path is None else os.fspath(path)
    for number, comment in enumerate(_first_lines(text)):
        if _LINE.match(comment) is None and (nearly := _NEARLY.match(comment)):
            place = HeadWord(nearly[0].strip(), number, len(comment) - len(comment.lstrip())).span(own_path)
            raise GrammarSyntaxError("options of a file begin with '// pdacon:', in just these letters", place)
    options: dict[str, Any] = {}
    filters: dict[str, Any] = {}
    places: list[tuple[str, Any, Span]] = []
    for line in head_lines(text):
        rest = iter(line.words)
        for word in rest:
            option, value, place = _read(word, rest, own_path)
            places.append((option.name, value, place))
            into = filters if option.filters else options
            if option.name == "import_paths" and own_path is not None:
                value = os.path.join(os.path.dirname(own_path), value)  # noqa: PTH118, PTH120 (paths are strings here)
            if option.repeats:
                value = list(dict.fromkeys([*into.get(option.name, []), value]))
            elif option.name in into:
                raise GrammarSyntaxError(f"{option.switch} is given twice; leave one out", word.span(own_path))
            into[option.name] = value
    return Head(options, filters, tuple(places))


def _read(word: HeadWord, rest: Iterator[HeadWord], path: str | None) -> tuple[HeadOption, Any, Span]:
    """The option that begins with a word, its value, which may be the next word, and the value's place."""
    written = _unquoted(word, path)
    switch, equals, value = written.partition("=")
    option = HEAD_OPTIONS.get(switch)
    if option is None:
        raise GrammarSyntaxError(_unknown(switch, written), word.span(path))
    if not option.value:
        if equals:
            raise GrammarSyntaxError(f"{switch} takes no value; leave ={value} out", word.span(path))
        return option, True, word.span(path)
    if not equals:
        following = next(rest, None)
        if following is None or following.text.startswith("--"):
            raise GrammarSyntaxError(f"{switch} needs a value: {switch} {option.value}", word.span(path))
        word, value = following, _unquoted(following, path)
    if not value:
        raise GrammarSyntaxError(f"{switch} needs a value that is not empty", word.span(path))
    if option.name == "postlex" and ":" in value:
        raise GrammarSyntaxError(
            "a grammar cannot have a module imported; give --postlex on the command line", word.span(path)
        )
    if option.choices and value not in option.choices:
        known = ", ".join(map(repr, option.choices))
        raise GrammarSyntaxError(f"{switch}: {value!r} is not one of {known}", word.span(path))
    return option, value, word.span(path)


def _unquoted(word: HeadWord, path: str | None) -> str:
    """The word without its quotes. Outside of them a backslash is one, as in the paths of Windows."""
    parts = shlex.shlex(word.text, posix=True, punctuation_chars=False)
    parts.whitespace_split, parts.commenters = True, ""
    if '"' not in word.text:
        parts.escape = ""
    try:
        return "".join(parts)
    except ValueError:
        raise GrammarSyntaxError("a quotation mark without another one on its line", word.span(path)) from None


def _unknown(switch: str, written: str) -> str:
    if _OF_COMMANDS.fullmatch(switch):
        return f"{switch} is for the command line; a grammar cannot ask for it"
    if switch.startswith("-"):
        meant = did_you_mean(switch, list(HEAD_OPTIONS))
        return f"No such option: {switch}; {meant}a grammar can have {', '.join(HEAD_OPTIONS)}"
    if written.startswith(("//", "#")):
        return "a line of options has no comment behind them; write it on a line of its own"
    meant = f"did you mean --{written}? " if f"--{switch}" in HEAD_OPTIONS else ""
    return f"unexpected extra argument {written!r}; {meant}options begin with --"
