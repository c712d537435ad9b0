"""Terminal definitions -> Pattern: widths as Lark computes them, and whether ``re`` takes the pattern at all."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from lark.lexer import TerminalDef
from lark.utils import get_regexp_width

from pdacon.base.cautions import caution
from pdacon.errors import GrammarSyntaxError, Span, UnsupportedGrammarError
from pdacon.grammar.labels import Label, LabelTable, escaped, pieces_of
from pdacon.grammar.model import GrammarOptions, Pattern
from pdacon.grammar.places import shorten
from pdacon.regular.brackets import NO_POSIX, posix_class, unambiguous
from pdacon.regular.groups import SetTable, has_sets, refuse_without_extensions
from pdacon.regular.records import Automaton

# (?i) and its like: flags for the whole expression, where Lark puts every terminal inside one alternation.
_GLOBAL_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")


@dataclass(frozen=True)
class PatternSets:
    """Sets of texts that patterns may name, and what makes automata of such patterns: rooms above know both."""

    by_name: Mapping[str, Any]  # What groups with these names stand for
    # ``automaton(pattern, flags, sets)``: the automaton of a pattern that has these sets, in the order of their
    # numbers, in it.
    automaton: Callable[[str, int, Sequence[Any]], Automaton]


def lower_pattern(
    definition: TerminalDef,
    options: GrammarOptions,
    span: Span | None,
    labels: LabelTable | None = None,
    sets: PatternSets | None = None,
    *,
    validate: bool,
) -> Pattern:
    """Lower one pattern, in which symbols stand for labels.

    ``validate`` is False for a terminal that no lexer of Lark's validates, because no LR state expects it: it may be
    zero-width.

    Raises GrammarSyntaxError: if ``re`` does not compile it, or it can match the empty string. UnsupportedGrammarError:
    if it compiles alone but not inside Lark's alternation, so that Lark loads it and can never use it.
    """
    pattern, flags = definition.pattern, options.g_regex_flags
    regexp = unambiguous(pattern.to_regexp(), flags) if pattern.type == "re" else pattern.to_regexp()
    if (posix := posix_class(pattern.value) if pattern.type == "re" else None) is not None:
        caution(f"terminal {definition.user_repr()}: {NO_POSIX.format(posix)}")
    if labels is not None and pattern.type == "re":
        regexp = escaped(regexp)
        pattern.value = labels.written(pattern.value)  # what messages show
        pattern.raw = None if pattern.raw is None else labels.written(pattern.raw)
        _check_imported(definition, regexp, span)
    elif labels is None and pattern.type == "re":
        refuse_without_extensions(regexp, definition.user_repr(), span)
    if pattern.type == "str":
        width = len(pattern.value), len(pattern.value)
    else:
        width = _check_compiles(definition, regexp, flags, span, validate=validate)
    if validate:
        if width[0] == 0:
            raise GrammarSyntaxError(
                f"terminal {definition.user_repr()} can match the empty string, which Lark's lexer does not allow; "
                "make it match at least one character and put the ? or * into the rule that uses it",
                span,
            )
        if flags & re.VERBOSE and width_of(f"(?x:{regexp}\n)")[0] == 0:
            raise UnsupportedGrammarError(
                f"terminal {definition.user_repr()}: with g_regex_flags=re.VERBOSE its spaces are none, and it can "
                r"match the empty string, on which Lark's lexer never goes on; write [ ] for a space that is meant",
                span,
                feature="g_regex_flags",
            )
        _check_alternation(definition, regexp, flags, span)
        if options.use_bytes:
            _check_bytes(definition, regexp, flags, span)
    if labels is not None and sets is not None and has_sets(regexp):
        return _with_sets(definition, regexp, width, options, labels.sets, sets, span)
    kind: Literal["str", "re"] = "str" if pattern.type == "str" else "re"
    return Pattern(kind, pattern.value, frozenset(pattern.flags), regexp, *width)


def _with_sets(
    definition: TerminalDef,
    regexp: str,
    width: tuple[int, int],
    options: GrammarOptions,
    table: SetTable,
    sets: PatternSets,
    span: Span | None,
) -> Pattern:
    """The automaton of a pattern that has sets in it, which ``re`` does not know."""
    try:
        automaton = sets.automaton(regexp, options.g_regex_flags, table.sets)
    except UnsupportedGrammarError as error:
        raise UnsupportedGrammarError(
            f"terminal {definition.user_repr()}: {table.written(error.reason)}",
            span,
            error.feature,
            table.written(error.advice),
        ) from None
    return Pattern("automaton", "", frozenset(definition.pattern.flags), "", *width, automaton)


def _check_imported(definition: TerminalDef, regexp: str, span: Span | None) -> None:
    left = next((piece for piece in pieces_of(regexp) if isinstance(piece, Label)), None)
    if left is not None:
        raise UnsupportedGrammarError(
            f"terminal {definition.user_repr()}: {left} is in an imported file, where it is a group of re that matches "
            "nothing; define the terminal in the grammar itself",
            span,
            feature="extensions",
        )


@lru_cache(maxsize=4096)
def width_of(regexp: str) -> tuple[int, int]:
    """The least and the largest width of a pattern in characters, as sre computes it for Lark."""
    low, high = get_regexp_width(regexp)
    return low, high


def _check_compiles(
    definition: TerminalDef, regexp: str, flags: int, span: Span | None, *, validate: bool
) -> tuple[int, int]:
    try:
        if validate:
            re.compile(regexp, flags)
        return width_of(regexp)
    except Exception as error:
        # re.error, OverflowError, RecursionError; where the regex module is installed Lark asks that one next, and its
        # error class is its own.
        raise GrammarSyntaxError(
            f"terminal {definition.user_repr()}: /{shorten(definition.pattern.value)}/ is not a regular expression "
            f"that Python's re compiles: {error}",
            span,
        ) from error


def _check_alternation(definition: TerminalDef, regexp: str, flags: int, span: Span | None) -> None:
    name = definition.name
    if not name.isidentifier():
        raise UnsupportedGrammarError(
            f"terminal {definition.user_repr()}: Lark names it {name!r}, which cannot be a group name in its lexer; "
            "define a terminal with a plain name for the literal",
            span,
            feature="terminal name",
        )
    # Only two things compile alone and fail inside (?P<NAME>...): global flags, and an open comment under VERBOSE.
    if (flags & re.VERBOSE or _GLOBAL_FLAGS.search(regexp)) and not _compiles_inside(f"(?P<{name}>{regexp})", flags):
        raise UnsupportedGrammarError(
            f"terminal {definition.user_repr()}: /{shorten(definition.pattern.value)}/ compiles alone but not inside "
            "Lark's lexer, which can then match nothing; write flags after the literal (/.../i) or as (?i:...), and "
            "end a comment with a newline",
            span,
            feature="inline flags",
        )


def _check_bytes(definition: TerminalDef, regexp: str, flags: int, span: Span | None) -> None:
    """Lark reads patterns as text when it loads them, and as the bytes of their latin-1 when it uses them."""
    shown = f"terminal {definition.user_repr()}"
    if not _are_bytes(definition.name):
        raise UnsupportedGrammarError(
            f"{shown}: Lark names it {definition.name!r} after its text, which is no name for bytes, so that with "
            "use_bytes=True Lark can match nothing where it is looked for; name it, that is, define a terminal for it "
            f"(MAGIC: {_as_bytes(definition.pattern.value)}) and use that",
            span,
            feature="terminal name",
        )
    stranger = next((character for character in regexp if not _are_bytes(character)), None)
    if stranger is not None:
        raise UnsupportedGrammarError(
            f"{shown}: U+{ord(stranger):04X} is no byte, so that with use_bytes=True Lark can match nothing where it "
            f"is looked for; use characters up to \\xff, each of which is a byte{_in_utf8(stranger)}",
            span,
            feature="use_bytes",
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.11 takes names beyond ASCII, and warns
            re.compile(f"(?P<{definition.name}>{regexp})".encode("latin-1"), flags)
    except re.error as error:
        raise UnsupportedGrammarError(
            f"{shown}: /{shorten(definition.pattern.value)}/ is no pattern for bytes, so that with use_bytes=True Lark "
            f"can match nothing where it is looked for ({error}); leave the flag u out, and write a character that is "
            r"named by \N or \u as its bytes, such as \xff",
            span,
            feature="use_bytes",
        ) from error


def _are_bytes(text: str) -> bool:
    return all(character <= "\xff" for character in text)


def _as_bytes(text: str) -> str:
    """A text of bytes as a literal of Lark in ASCII."""
    inside = "".join(f"\\x{ord(c):02x}" if not 32 <= ord(c) < 127 or c in '"\\' else c for c in text)
    return f'"{inside}"'


def _in_utf8(character: str) -> str:
    written = "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
    return f" (in UTF-8 this one is {written})"


def _compiles_inside(regexp: str, flags: int) -> bool:
    with warnings.catch_warnings():
        # Python 3.10 only warns of flags in the middle, and applies them to all terminals.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            re.compile(regexp, flags)
        except (re.error, DeprecationWarning):
            return False
        return True
