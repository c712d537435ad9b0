"""Patterns as ECMA-262 writes them, with the ``u`` flag -> syntax trees.

What JavaScript takes without that flag and cannot mean anything else is read too (``\\-`` for a hyphen, a brace that
begins no quantifier). What is not regular, or is not supported, is refused by name.

Source: ECMA-262, 15th edition (2024), section 22.2.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, TypeAlias

from pdacon.regular.characters import BLANKS, DIGITS, LINE_ENDS, WORD, Ranges, category, complement, union


class PatternError(ValueError):
    """The pattern cannot be read; ``column`` counts from 1."""

    def __init__(self, message: str, pattern: str, at: int) -> None:
        super().__init__(f"{message}, at column {at + 1} of the pattern {pattern!r}")
        self.column = at + 1


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; nothing if there are none."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Any of them."""

    options: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """At least ``least`` and at most ``most`` times; None: any number."""

    body: Tree
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Ahead:
    """What follows begins with the body, or does not, if ``negative``; nothing is consumed."""

    body: Tree
    negative: bool


@dataclass(frozen=True, slots=True)
class Anchor:
    """A point of the text: "start", "end", "word" (a word's border) or "inside" (no such border)."""

    kind: str


Tree: TypeAlias = CharacterSet | Sequence | Alternatives | Repeat | Ahead | Anchor

_CLASSES = {"d": DIGITS, "w": WORD, "s": BLANKS}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_LONG_NAMES = {
    "Letter": "L", "Lowercase_Letter": "Ll", "Uppercase_Letter": "Lu", "Titlecase_Letter": "Lt", "Mark": "M",
    "Modifier_Letter": "Lm", "Other_Letter": "Lo", "Number": "N", "Decimal_Number": "Nd", "digit": "Nd",
    "Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P", "punct": "P", "Symbol": "S", "Separator": "Z",
    "Space_Separator": "Zs", "Other": "C", "Control": "Cc", "Format": "Cf", "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Other_Symbol": "So", "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Initial_Punctuation": "Pi", "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po", "Line_Separator": "Zl", "Paragraph_Separator": "Zp", "Private_Use": "Co",
}  # fmt: skip
_DEEPEST = 200
_LONG = 4096
"""Trees of patterns of up to so many characters are kept."""
_MOST_DIGITS = 18
"""Of a number in a quantifier; Python reads no more than some thousands."""
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def parse_pattern(pattern: str) -> Tree:
    """Read a pattern.

    Raises
    ------
    PatternError
        It is no pattern, or has what is not regular (a back-reference) or not supported (a look-behind).
    """
    return _read(pattern) if len(pattern) <= _LONG else _PatternReader(pattern).whole()


@lru_cache(maxsize=128)
def _read(pattern: str) -> Tree:
    return _PatternReader(pattern).whole()


class _PatternReader:
    def __init__(self, pattern: str) -> None:
        self._text, self._at, self._depth = pattern, 0, 0
        self._names: set[str] = set()

    def whole(self) -> Tree:
        tree = self._choice()
        if self._at < len(self._text):
            self._fail("there is no group to close")
        return tree

    def _fail(self, message: str, at: int | None = None) -> NoReturn:
        raise PatternError(message, self._text, self._at if at is None else at)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _choice(self) -> Tree:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Alternatives(tuple(options))

    def _sequence(self) -> Tree:
        parts: list[Tree] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._quantified())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _quantified(self) -> Tree:
        start = self._at
        atom = self._atom()
        counts = self._counts()
        if counts is None:
            return atom
        if isinstance(atom, Anchor) and self._text[start] != "(":  # a group of one may come again
            self._fail("there is nothing to repeat", start)
        self._take("?")  # which match is taken first does not matter for the language
        again = self._at
        if self._counts() is not None:
            self._fail("a quantifier cannot follow another one", again)
        return Repeat(atom, *counts)

    def _counts(self) -> tuple[int, int | None] | None:
        sign = self._text[self._at : self._at + 1]
        if sign in _COUNTS:
            self._at += 1
            return _COUNTS[sign]
        if sign != "{":
            return None
        end = self._text.find("}", self._at)
        body = self._text[self._at + 1 : end] if end > 0 else ""
        least, comma, most = body.partition(",")
        if not (least.isascii() and least.isdigit() and (not most or (most.isascii() and most.isdigit()))):
            return None  # a brace of its own
        begin, self._at = self._at, end + 1
        if max(len(least), len(most)) > _MOST_DIGITS:
            self._fail("a number of the quantifier has too many digits", begin)
        low = int(least)
        high = low if not comma else int(most) if most else None
        if high is not None and high < low:
            self._fail("the numbers of the quantifier are out of order", begin)
        return low, high

    def _atom(self) -> Tree:
        start = self._at
        sign = self._text[self._at]
        self._at += 1
        if sign == "^":
            return Anchor("start")
        if sign == "$":
            return Anchor("end")
        if sign == ".":
            return CharacterSet(complement(LINE_ENDS))
        if sign == "(":
            return self._group(start)
        if sign == "[":
            return CharacterSet(self._class(start))
        if sign == "\\":
            return self._escape(start)
        if sign in "*+?" or (sign == "{" and self._is_count(start)):
            self._fail("there is nothing to repeat", start)
        return CharacterSet(self._one(ord(sign), start))

    def _is_count(self, at: int) -> bool:
        """Whether a quantifier begins at a brace, even if no atom is before it."""
        behind, self._at = self._at, at
        is_count = self._counts() is not None
        self._at = behind
        return is_count

    def _one(self, point: int, at: int) -> Ranges:
        if 0xD800 <= point <= 0xDFFF:
            self._fail("a surrogate alone is no character", at)
        return ((point, point),)

    def _group(self, start: int) -> Tree:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail("the groups are nested too deeply", start)
        ahead: bool | None = None
        if self._take("?"):
            if self._take("="):
                ahead = False
            elif self._take("!"):
                ahead = True
            elif self._text.startswith(("<=", "<!"), self._at):
                self._fail("a look-behind is not supported", start)
            elif self._take("<") or self._take("P<"):
                end = self._text.find(">", self._at)
                if end <= self._at:
                    self._fail("the group's name is not closed", start)
                name, self._at = self._text[self._at : end], end + 1
                if not name.replace("$", "_").isidentifier():
                    self._fail(f"{name} is no name of a group", start)
                if name in self._names:
                    self._fail(f"two groups are called {name}", start)
                self._names.add(name)
            elif not self._take(":"):
                self._fail("flags of a group are not supported", start)
        body = self._choice()
        if not self._take(")"):
            self._fail("the group is not closed", start)
        self._depth -= 1
        return body if ahead is None else Ahead(body, ahead)

    def _escape(self, start: int) -> Tree:
        sign = self._peek()
        if not sign:
            self._fail("a backslash ends the pattern", start)
        if sign in "bB":
            self._at += 1
            return Anchor("word" if sign == "b" else "inside")
        if sign in "123456789" or (sign == "k" and self._text.startswith("k<", self._at)):
            self._fail("a back-reference is not regular", start)
        return CharacterSet(self._escaped_set(start))

    def _escaped_set(self, start: int) -> Ranges:
        """What an escape stands for that is one character of a set; the backslash has been read."""
        sign = self._text[self._at : self._at + 1]
        self._at += 1
        if sign.lower() in _CLASSES and sign:
            ranges = _CLASSES[sign.lower()]
            return ranges if sign.islower() else complement(ranges)
        if sign in ("p", "P"):
            return self._property(start, negative=sign == "P")
        return self._one(self._escaped_point(sign, start), start)

    def _escaped_point(self, sign: str, start: int) -> int:
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign == "0" and not self._peek().isdigit():
            return 0
        if sign == "c" and self._peek().isascii() and self._peek().isalpha():
            self._at += 1
            return ord(self._text[self._at - 1]) % 32
        if sign == "x":
            return self._hexadecimal(2, start)
        if sign == "u":
            return self._unicode(start)
        if not sign:
            self._fail("a backslash ends the pattern", start)
        if sign.isascii() and sign.isalnum():
            self._fail(f"\\{sign} means nothing", start)
        return ord(sign)

    def _unicode(self, start: int) -> int:
        if self._take("{"):
            end = self._text.find("}", self._at)
            digits = self._text[self._at : end].lstrip("0") or "0" if end > self._at else ""
            if not 0 < len(digits) <= 6 or not _HEXADECIMAL.issuperset(digits) or int(digits, 16) > sys.maxunicode:
                self._fail("no code point in the braces", start)
            self._at = end + 1
            return int(digits, 16)
        point = self._hexadecimal(4, start)
        if 0xD800 <= point < 0xDC00 and self._text.startswith("\\u", self._at):
            self._at += 2
            low = self._hexadecimal(4, start)
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
            self._fail("half a surrogate pair", start)
        return point

    def _hexadecimal(self, count: int, start: int) -> int:
        digits = self._text[self._at : self._at + count]
        if len(digits) < count or not _HEXADECIMAL.issuperset(digits):
            self._fail(f"{count} hexadecimal digits are expected", start)
        self._at += count
        return int(digits, 16)

    def _property(self, start: int, negative: bool) -> Ranges:
        end = self._text.find("}", self._at)
        if not self._take("{") or end < 0:
            self._fail("a property is written \\p{...}", start)
        name = self._text[self._at : end]
        self._at = end + 1
        key, equals, value = name.partition("=")
        wanted = value if equals and key in ("General_Category", "gc") else name
        ranges = category(_LONG_NAMES.get(wanted, wanted))
        if ranges is None:
            self._fail(f"the property {name!r} is not supported; general categories such as L or Nd are", start)
        return complement(ranges) if negative else ranges

    def _class(self, start: int) -> Ranges:
        negative = self._take("^")
        pieces: list[Ranges] = []
        while not self._take("]"):
            if not self._peek():
                self._fail("the set is not closed", start)
            at = self._at
            first = self._member()
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                last = self._member()
                if len(first) == len(last) == 1 and first[0][0] == first[0][1] and last[0][0] == last[0][1]:
                    if last[0][0] < first[0][0]:
                        self._fail("the range is out of order", at)
                    pieces.append(((first[0][0], last[0][0]),))
                else:  # as JavaScript reads it without the u flag: the hyphen is one of the characters
                    pieces += (first, ((0x2D, 0x2D),), last)
            else:
                pieces.append(first)
        ranges = union(*pieces)
        return complement(ranges) if negative else ranges

    def _member(self) -> Ranges:
        start = self._at
        sign = self._text[self._at]
        self._at += 1
        if sign != "\\":
            return self._one(ord(sign), start)
        if self._take("b"):
            return ((8, 8),)
        return self._escaped_set(start)
