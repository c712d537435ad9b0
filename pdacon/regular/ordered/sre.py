"""Python's own pattern parser, and the few private names of it that pdacon uses; nothing else touches them.

The parser became ``re._parser`` in Python 3.11 and was ``sre_parse`` before. Its tree is a sequence of pairs
(operator, argument). Using it means that what a pattern is can never differ from what ``re`` thinks it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterator
from importlib import import_module
from typing import Any

from pdacon.base.cancelling import within_other_code
from pdacon.errors import UnsupportedGrammarError

_PACKAGED = sys.version_info >= (3, 11)
_constants: Any = import_module("re._constants" if _PACKAGED else "sre_constants")
_parser: Any = import_module("re._parser" if _PACKAGED else "sre_parse")
_compiler: Any = import_module("re._compiler" if _PACKAGED else "sre_compile")

_ONE_CHARACTER = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
UNLIMITED = int(_parser.MAXREPEAT)
"""The upper bound of ``*`` in the tree."""

# Plain integers: arithmetic on re.RegexFlag is slow enough to show.
ASCII, DOTALL, IGNORECASE, MULTILINE, UNICODE = (int(flag) for flag in (re.A, re.S, re.I, re.M, re.U))
_DEBUG, _VERBOSE, _TYPE_FLAGS = int(re.DEBUG), int(re.VERBOSE), int(re.A | re.L | re.U)

BYTES, LABELS = 1 << 16, 1 << 17
"""No flags of ``re``. The text is bytes, each of them a character, and a pattern is read as its latin-1; surrogates
that a pattern names stand for labels."""


BRANCH, FAILURE, LITERAL = _constants.BRANCH, _constants.FAILURE, _constants.LITERAL

WORD: tuple[Any, Any] = tuple(_parser.parse(r"\w").data[0])
"""The node of ``\\w``."""

END_OF_TEXT: tuple[Any, Any] = tuple(_parser.parse(r"\Z").data[0])
"""The node of ``\\Z``."""


def parse(regexp: str, flags: int) -> tuple[Any, int]:
    """Parse a pattern; gives the tree and the flags in force at its start.

    Raises UnsupportedGrammarError: Python's ``re`` does not take the pattern; the message is its own, with the column.
    """
    text, own = flags & BYTES, flags & (BYTES | LABELS)
    try:
        with within_other_code(len(regexp)):
            tree = _parser.parse(regexp.encode("latin-1") if text else regexp, int(flags) & ~(_DEBUG | BYTES | LABELS))
    except re.error as error:
        raise refusal(regexp, error) from error
    except UnicodeEncodeError as error:
        raise UnsupportedGrammarError(
            f"{regexp[error.start]!r} at column {error.start + 1} of the pattern {quoted(regexp)} is no byte",
            feature="invalid-pattern",
            advice=r"write its bytes in its place, such as \xe2\x82\xac for the UTF-8 of the euro sign",
        ) from error
    except (ValueError, OverflowError) as error:  # incompatible flags; a repetition count beyond 32 bits
        raise UnsupportedGrammarError(
            f"Python's re does not take the pattern {quoted(regexp)}: {error}", feature="invalid-pattern"
        ) from error
    return tree, int(tree.state.flags) | own


def refusal(regexp: str, error: re.error) -> UnsupportedGrammarError:
    """What is raised of a pattern that ``re`` does not take: its own message, with the column."""
    place = "" if error.pos is None else f" at column {error.pos + 1}"
    return UnsupportedGrammarError(
        f"Python's re does not take the pattern {quoted(regexp)}: {error.msg}{place}", feature="invalid-pattern"
    )


def is_sequence(part: Any) -> bool:
    """Whether a part of the tree is a sequence of nodes: the tree itself, or what a node consists of."""
    return isinstance(part, _parser.SubPattern)


def sequence(tree: Any, nodes: list[tuple[Any, Any]]) -> Any:
    """A sequence of other nodes for the same pattern."""
    return _parser.SubPattern(tree.state, nodes)


def atomic(body: Any) -> Any:
    """A sequence that matches as another one does first, and never otherwise; itself if it matches one character."""
    if len(body.data) == 1 and body.getwidth() == (1, 1) and body.data[0][0].name in _ONE_CHARACTER:
        return body
    return _parser.SubPattern(body.state, [(_parser.ATOMIC_GROUP, body)])


def scoped_flags(flags: int, added: int, removed: int) -> int:
    """The flags inside a group such as ``(?i-s:...)``."""
    if added & _TYPE_FLAGS:
        flags &= ~_TYPE_FLAGS
    return (flags | added) & ~removed


def compile_character(operator: Any, argument: Any, flags: int) -> re.Pattern[str]:
    """What ``re`` itself makes of one or more characters of one node of the tree, under the given flags."""
    state = _parser.State()
    state.flags = flags
    node = _parser.SubPattern(state, [(operator, argument)])
    run = _parser.SubPattern(state, [(_parser.MAX_REPEAT, (1, _parser.MAXREPEAT, node))])
    pattern: re.Pattern[str] = _compiler.compile(run, flags)
    return pattern


def quoted(regexp: str) -> str:
    """The pattern as a message shows it."""
    return f"/{regexp}/" if len(regexp) <= 60 else f"/{regexp[:57]}.../"


_TOKEN = re.compile(
    r"""
      (?P<class> \[ \^? \]? (?: \\. | [^\\\]] )* \] )
    | (?P<comment> \(\?\# [^)]* \) )
    | (?P<octal> \\ (?: 0[0-7]{0,2} | [0-3][0-7]{2} ) )
    | (?P<numbered_backreference> \\ [1-9][0-9]? )
    | (?P<backreference> \(\?P= [^)]* \) )
    | (?P<anchor> \\[AZz] | \^ | \$ )
    | (?P<word_boundary> \\[bB] )
    | (?P<escape> \\ (?: N\{ [^}]* \} | . ) )
    | (?P<look_ahead> \(\?[=!] )
    | (?P<look_behind> \(\?<[=!] )
    | (?P<atomic_group> \(\?> )
    | (?P<numbered_conditional_group> \(\?\( [0-9]+ \) )
    | (?P<conditional_group> \(\?\( [^)]* \) )
    | (?P<group> \( (?: \?P<[^>]*> | \?(?P<flags>[aiLmsux]*(?:-[imsx]+)?)[:)] )? )
    | (?P<close> \) )
    | (?P<possessive_quantifier> (?: [*+?] | \{ (?: \d+ (?: ,\d* )? | ,\d* ) \} ) \+ )
    | (?P<quantifier> (?: [*+?] | \{ (?: \d+ (?: ,\d* )? | ,\d* ) \} ) \?? )
    """,
    re.VERBOSE | re.DOTALL,
)


def first_of(constructs: Container[str], regexp: str, flags: int) -> tuple[str, str, int] | None:
    """Name, text and column (1-based) of the first of some constructs (group names of ``_TOKEN``) in a pattern.

    The tree has no positions, so this reads the tokens of the pattern again; it has to be one that parses.
    """
    for kind, column, text in _tokens(regexp, bool(flags & _VERBOSE)):
        if kind in constructs:
            opens = text.startswith("(") and kind != "backreference"
            return kind, f"{text}...)" if opens else text, column
    return None


def is_lazy(regexp: str, flags: int) -> bool:
    """Whether a pattern has a lazy quantifier, such as ``*?``; it has to be one that parses."""
    tokens = _tokens(regexp, bool(flags & _VERBOSE))
    return any(kind == "quantifier" and len(text) > 1 and text.endswith("?") for kind, _, text in tokens)


def _tokens(regexp: str, verbose: bool) -> Iterator[tuple[str, int, str]]:
    enclosing: list[bool] = []
    position = 0
    while position < len(regexp):
        if verbose and regexp[position] == "#":
            end = regexp.find("\n", position)
            position = len(regexp) if end < 0 else end
            continue
        token = _TOKEN.match(regexp, position)
        if token is None:
            position += 1
            continue
        kind = token.lastgroup or ""
        text = token.group()
        yield kind, position + 1, text
        position = token.end()
        if kind == "close" and enclosing:
            verbose = enclosing.pop()
        elif kind.endswith("conditional_group") or (text.startswith("(") and not text.endswith(")")):
            enclosing.append(verbose)
            added, _, removed = (token["flags"] or "").partition("-")
            verbose = (verbose or "x" in added) and "x" not in removed
