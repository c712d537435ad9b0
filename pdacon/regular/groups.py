r"""Groups of a pattern that stand for a regular set of texts: ``(?P<QUOTED_TEXT>)``, ``(?P<SUBSTRING_OF>text)``, ...

In: patterns as an author writes them, with ``extensions=True``. Out: the same without such groups. What ``re`` can say
is written out; a set, such as the substrings of a text, becomes ``(?:\udc00+)``: a character that no text has, which
the lexer puts the set's automaton in the place of. So a set is as wide as a repetition to whoever measures patterns.

Source: T. Koo, F. Liu and L. He, "Automata-based constraints for language model decoding" (2024), Table 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from pdacon.errors import GrammarSyntaxError, LimitExceededError, Span, UnsupportedGrammarError

QUOTED_TEXT = r'"(?:[^"\\\n\r]|\\[^\n\r])*"'
"""Text in double quotes on one line; a backslash takes the character after it with it."""

_UNPRINTED = r"\x00-\x20\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff"
_PLAIN = rf"[^{_UNPRINTED}:#,\[\]{{}}]"
UNQUOTED_TEXT = (
    rf"[^{_UNPRINTED}:#,\[\]{{}}\-?&*!|>'\"%@`]"  # no indicator comes first
    rf"(?:[\ \t]*:*{_PLAIN}|(?:[\ \t]*:+)?\#)*"
)
"""A plain scalar of YAML 1.2 (section 7.3.3) on one line, as it may stand anywhere: within brackets too."""

TEXT_GROUPS = ("QUOTED_TEXT", "UNQUOTED_TEXT")
LITERAL_GROUPS = ("TEXT_UNTIL", "SUBSTRING_OF")
PATTERN_GROUPS = ("DELIMITED_LIST", "DELIMITED_SUBSEQUENCE_OF")
REGULAR_GROUPS = (*TEXT_GROUPS, *LITERAL_GROUPS, *PATTERN_GROUPS)

FIRST_SET = 0xDC00
"""The character of set 0; a surrogate, none of those of labels."""
_MOST_SETS = 0x400
_MOST_CHARACTERS = 1_000_000
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Substrings:
    """The texts that occur in a text, but for the empty one."""

    text: str


class RegularGroupError(GrammarSyntaxError):
    """What is wrong with a group that stands for a set."""


def until(stop: str) -> str:
    """A pattern for text up to the first occurrence of another one, and with it."""
    last = "".join(map(_escaped, stop))
    return rf"(?:(?!{last})[\s\S])*{last}"


def _escaped(character: str) -> str:
    """A character as a pattern has it, verbose ones and those that Lark reads first included."""
    if character.isspace() or not character.isprintable():
        return f"[{_CONTROLS.get(character, character)}]"
    return character if character.isalnum() or character in "_'\"" or not character.isascii() else "\\" + character


class SetTable:
    """The sets of a grammar, numbered as they are met.

    ``given``: what groups with these names stand for; the room `frontends` knows what is in them.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self._numbers: dict[Any, int] = {}
        self._written: list[str] = []

    @property
    def sets(self) -> tuple[Any, ...]:
        """`Substrings`, or sets that were given, in the order of their numbers."""
        return tuple(key if isinstance(key, Substrings) else self.given[key] for key in self._numbers)

    def written_out(self, pattern: str, span: Span | None) -> str:
        """A pattern without groups that stand for sets.

        Raises RegularGroupError: a group's text is missing, or is not what it should be. LimitExceededError:
        "characters": a subsequence has too many elements; "sets": there are too many.
        """
        for group in reversed(self._groups(pattern, span)):  # what is within a group comes after its beginning
            meaning, end = self._meaning(group, pattern, span)
            pattern = pattern[: group.begin] + meaning + pattern[end:]
        return pattern

    def written(self, pattern: str) -> str:
        """A pattern with the sets as their author wrote them, cut short."""
        return _SYMBOL.sub(lambda found: self._written[code_point(found[1]) - FIRST_SET], pattern)

    def _groups(self, pattern: str, span: Span | None) -> list[_Group]:
        found: list[_Group] = []
        begin = 0
        while part := _PART.search(pattern, begin):
            begin, name = part.end(), part["name"]
            if name is None:
                continue
            if name in REGULAR_GROUPS or name in self.given:
                found.append(_Group(name, part.start(), part.end(), _cut(pattern[part.start() :])))
            elif pattern[begin : begin + 1] != ")":
                self._check_own(name, pattern, part, span)
            if name == "TOKEN" or name in LITERAL_GROUPS:
                begin = _literal_end(pattern, begin)
        return found

    def _check_own(self, name: str, pattern: str, part: re.Match[str], span: Span | None) -> None:
        """A group that keeps its meaning in ``re`` has no name that looks like one of these."""
        near = get_close_matches(name, [*REGULAR_GROUPS, *self.given], n=1, cutoff=0.75) if name.isupper() else []
        if near:
            raise RegularGroupError(
                f"{_cut(pattern[part.start() :])} at column {part.start() + 1} of the pattern: did you mean {near[0]}? "
                "A group of your own needs a name that is less like it",
                span,
            )

    def _meaning(self, group: _Group, pattern: str, span: Span | None) -> tuple[str, int]:
        """What stands for a group, and where it ends."""
        name, begin = group.name, group.inside
        if name in PATTERN_GROUPS:
            parts, end = _parts(pattern, begin)
            if end is None:
                _fail(group, "it is not closed", span)
            return _delimited(group, parts, span), end
        if name in LITERAL_GROUPS:
            end = _literal_end(pattern, begin)
            if end == len(pattern):
                _fail(group, r"it is not closed; write a ) in its text as \)", span)
            text = self._text(group, pattern[begin:end], span)
            return (f"(?:{until(text)})" if name == "TEXT_UNTIL" else self._symbol(Substrings(text), "+")), end + 1
        if pattern[begin : begin + 1] != ")":
            _fail(group, f"nothing stands in it: (?P<{name}>)", span)
        if name in self.given:
            return self._symbol(name, "*" if "" in self.given[name] else "+"), begin + 1
        return f"(?:{QUOTED_TEXT if name == 'QUOTED_TEXT' else UNQUOTED_TEXT})", begin + 1

    def _text(self, group: _Group, written: str, span: Span | None) -> str:
        def read(found: re.Match[str]) -> str:
            escape = found[1]
            if len(escape) > 1:
                return chr(int(escape[1:], 16))
            if escape in _ESCAPES:
                return _ESCAPES[escape]
            if escape.isascii() and escape.isalnum():
                _fail(group, rf"its text has \{escape}, which is no one character", span)
            return escape

        text = _ESCAPE.sub(read, written)
        if not text:
            _fail(group, f"it needs a text, as in (?P<{group.name}>text)", span)
        return text

    def _symbol(self, key: Any, repetition: str) -> str:
        number = self._numbers.setdefault(key, len(self._numbers))
        if number >= _MOST_SETS:
            raise LimitExceededError("sets", number + 1, _MOST_SETS)
        if number == len(self._written):
            own = f"(?P<SUBSTRING_OF>{key.text:.{_SHOWN}}" if isinstance(key, Substrings) else f"(?P<{key}>"
            self._written.append(f"{own}{'...' if len(own) > _SHOWN else ''})")
        return f"(?:\\u{FIRST_SET + number:04x}{repetition})"


def has_sets(pattern: str) -> bool:
    """Whether a pattern that was written out has the character of a set."""
    return _SYMBOL.search(pattern) is not None


def has_groups(text: str) -> bool:
    """Whether a text has one of the groups that are known by name."""
    return _MEANT.search(text) is not None


def refuse_without_extensions(pattern: str, shown: str, span: Span | None) -> None:
    """Refuse a group that means nothing to ``re`` what its author means by it.

    Raises UnsupportedGrammarError.
    """
    found = _MEANT.search(pattern) if "(?P<" in pattern else None
    if found:
        raise UnsupportedGrammarError(
            f"terminal {shown}: {_cut(pattern[found.start() :])} is a group of re, which means something else; give "
            "extensions=True for what docs/extensions.md has under this name, or the group another name",
            span,
            feature="extensions",
        )


@dataclass(frozen=True, slots=True)
class _Group:
    """Where in a pattern it begins, and where what is in it."""

    name: str
    begin: int
    inside: int
    shown: str


def _delimited(group: _Group, parts: Sequence[str], span: Span | None) -> str:
    name = group.name
    if len(parts) < 2 or not all(parts[1:]):
        _fail(group, f"it needs a delimiter and then what it delimits: (?P<{name}>, |[a-z]+)", span)
    if any(map(_has_own_group, parts)):
        _fail(group, "a group with a name is in it, which would be there several times; write (?:...)", span)
    delimiter = f"(?:{parts[0]})"
    if name == "DELIMITED_LIST":
        element = f"(?:{'|'.join(parts[1:])})"
        return f"(?:{element}(?:{delimiter}{element})*)"
    size = sum(map(len, parts)) + (len(delimiter) + 7) * len(parts)
    if size * len(parts) // 2 > _MOST_CHARACTERS:
        raise LimitExceededError("characters", size * len(parts) // 2, _MOST_CHARACTERS)
    tails = [""]
    for part in reversed(parts[2:]):
        tails.append(f"(?:{delimiter}(?:{part}))?{tails[-1]}")
    firsts = (f"(?:{part}){tail}" for part, tail in zip(parts[1:], reversed(tails), strict=True))
    return f"(?:{'|'.join(firsts)})"


def _has_own_group(pattern: str) -> bool:
    """Whether there is a group with a name that is none of a label."""
    names = ((found["name"], found.end()) for found in _PART.finditer(pattern))
    return any(name and name != "TOKEN" and pattern[end : end + 1] != ")" for name, end in names)


def _parts(pattern: str, begin: int) -> tuple[list[str], int | None]:
    """The alternatives of a group whose inside begins there, and where the group ends; None: nowhere."""
    parts: list[str] = []
    depth, last = 0, begin
    for found in _BRACKET.finditer(pattern, begin):
        sign = found[0]
        if sign == "(":
            depth += 1
        elif sign == ")" and depth:
            depth -= 1
        elif sign in ("|", ")") and not depth:
            parts.append(pattern[last : found.start()])
            last = found.end()
            if sign == ")":
                return parts, last
    return parts, None


def _literal_end(pattern: str, begin: int) -> int:
    found = _LITERAL.match(pattern, begin)
    return begin if found is None else found.end()


def _fail(group: _Group, reason: str, span: Span | None) -> NoReturn:
    raise RegularGroupError(f"{group.shown} at column {group.begin + 1} of the pattern: {reason}", span)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_CLASS = r"\[ \^? \]? (?: \\. | [^\\\]] )* \]"
_PART = re.compile(rf"\\. | {_CLASS} | \(\?\# [^)]* \) | \(\?P<(?P<name>\w+)>", re.VERBOSE | re.DOTALL)
_BRACKET = re.compile(rf"\\. | {_CLASS} | \(\?\# [^)]* \) | [()|]", re.VERBOSE | re.DOTALL)
_LITERAL = re.compile(r"[^\\)]*(?:\\.[^\\)]*)*", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_CONTROLS = {character: f"\\x{ord(character):02x}" for character in map(chr, range(32))}
_SYMBOL = re.compile(r"\(\?:(\\u[dD][c-fC-F][0-9a-fA-F]{2}|[\udc00-\udfff])[+*]\)")
_MEANT = re.compile(
    r"\(\?P<(?:QUOTED_TEXT|UNQUOTED_TEXT|TEXT_TOKEN|PARAGRAPH_TOKEN)>\)"
    r"|\(\?P<(?:TEXT_UNTIL|SUBSTRING_OF|DELIMITED_LIST|DELIMITED_SUBSEQUENCE_OF)>"
)


def code_point(symbol: str) -> int:
    """Of a character that a pattern has as itself or as ``\\ud800``."""
    return int(symbol[2:], 16) if len(symbol) > 1 else ord(symbol)
