"""Patterns as Rust's ``regex`` writes them -> patterns of the same texts as Python's ``re`` writes them.

Source: https://docs.rs/regex/latest/regex/#syntax.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import lru_cache
from typing import NoReturn

from pdacon.regular.characters import (
    ANY,
    BLANKS,
    DIGITS,
    WORD,
    Ranges,
    category,
    character_class,
    complement,
    intersection,
    union,
)

_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_QUANTIFIER = re.compile(r"[*+?]|\{\s*([0-9]*)\s*(,?)\s*([0-9]*)\s*\}")
_FLAGS = "imsu"
_SET_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?\)")
_GROUP = re.compile(r"\?(?:P?<\w+>|([a-zA-Z]*)(?:-([a-zA-Z]*))?:)")
_HEX = {"x": 2, "u": 4, "U": 8}
_LETTERS: Ranges = ((0x41, 0x5A), (0x61, 0x7A))
_GRAPHIC: Ranges = ((0x21, 0x7E),)
_POSIX: dict[str, Ranges] = {
    "alnum": union(DIGITS, _LETTERS),
    "alpha": _LETTERS,
    "ascii": ((0, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": DIGITS,
    "graph": _GRAPHIC,
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_CIRCLED: Ranges = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
"""Symbols that Unicode counts as letters (Other_Alphabetic), beside marks."""


class RustPatternError(ValueError):
    """The pattern cannot be read, or had; ``at`` counts from 0."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def python_pattern(pattern: str, flags: str) -> str:
    """A pattern of the same texts, without flags.

    Parameters
    ----------
    flags : str
        Letters of ``imsu``.

    Raises
    ------
    RustPatternError
        It is none, or has what no set of texts can be: anchors, look-around, lazy repetitions.
    """
    for flag in flags:
        if flag not in _FLAGS:
            raise RustPatternError(f"the flag {flag} cannot be had; leave it out", 0)
    return _Pattern(pattern, "i" in flags, "s" in flags).whole()


def in_any_case(text: str) -> str:
    """A pattern of a text, case-insensitive."""
    return "".join(_written(_folded(((ord(character), ord(character)),))) for character in text)


class _Pattern:
    def __init__(self, pattern: str, any_case: bool, dot_all: bool) -> None:
        self._pattern, self._at = pattern, 0
        self._any_case, self._dot_all = any_case, dot_all

    def whole(self) -> str:
        text = self._group()
        if self._at < len(self._pattern):
            self._fail("this ) closes nothing; write \\) for the character")
        return text

    def _fail(self, message: str, at: int | None = None) -> NoReturn:
        raise RustPatternError(message, self._at if at is None else at)

    def _peek(self, count: int = 1) -> str:
        return self._pattern[self._at : self._at + count]

    def _group(self) -> str:
        """All up to a parenthesis, or the end; flags that are set within hold up to there."""
        before = self._any_case, self._dot_all
        text = ""
        while self._peek() not in ("", ")"):
            if self._peek() == "|":
                self._at += 1
                text += "|"
            elif not self._set_flags():
                text += self._quantified(self._atom())
        self._any_case, self._dot_all = before
        return f"(?:{text})"

    def _set_flags(self) -> bool:
        """Whether flags stand here, such as ``(?is)``, which are set from here on."""
        match = _SET_FLAGS.match(self._pattern, self._at)
        if match is not None:
            self._change(match[1], match[2] or "")
            self._at = match.end()
        return match is not None

    def _change(self, on: str, off: str) -> None:
        for flag in on + off:
            if flag not in _FLAGS or (flag == "u" and flag in off):
                self._fail(f"the flag {flag} cannot be had; leave it out")
        self._any_case = "i" in on or (self._any_case and "i" not in off)
        self._dot_all = "s" in on or (self._dot_all and "s" not in off)

    def _quantified(self, atom: str) -> str:
        while (match := _QUANTIFIER.match(self._pattern, self._at)) is not None:
            at, sign = self._at, match[0]
            if sign[0] == "{":
                if not match[1]:
                    self._fail("a number of repetitions is expected; write \\{ for the character")
                least, most = match[1], match[3] if match[2] else match[1]
                if most and int(most) < int(least):
                    self._fail(f"at least {least} and at most {most} times is never; exchange the two")
                sign = f"{{{least},{most}}}"
            self._at = match.end()
            if self._peek() == "?":
                self._fail("repetitions that take as little as possible cannot be had; use [lazy] of a rule", at)
            atom = f"(?:{atom}){sign}"
        return atom

    def _atom(self) -> str:
        at, sign = self._at, self._peek()
        if sign in "*+?{":
            self._fail(f"{sign} repeats nothing; write \\{sign} for the character")
        if sign in "^$":
            self._fail(f"anchors ({sign}) cannot be had: a terminal is read whole; leave it out")
        if sign == "[":
            return _written(self._class())
        self._at += 1
        if sign == "(":
            return self._parenthesis(at)
        if sign == ".":
            return _written(ANY if self._dot_all else complement(((0x0A, 0x0A),)))
        if sign == "\\":
            return _written(self._cased(self._escape()))
        return _written(self._cased(((ord(sign), ord(sign)),)))

    def _parenthesis(self, begin: int) -> str:
        before = self._any_case, self._dot_all
        if self._peek() == "?":
            match = _GROUP.match(self._pattern, self._at)
            if match is None:
                self._fail("look-around, and other groups of this kind, cannot be had", begin)
            self._change(match[1] or "", match[2] or "")
            self._at = match.end()
        text = self._group()
        self._any_case, self._dot_all = before
        if self._peek() != ")":
            self._fail("this ( is not closed", begin)
        self._at += 1
        return text

    def _cased(self, ranges: Ranges) -> Ranges:
        return _folded(ranges) if self._any_case else ranges

    # Classes

    def _class(self) -> Ranges:
        begin = self._at
        self._at += 1
        negative = self._peek() == "^"
        self._at += negative
        whole: Ranges | None = None
        operator = ""
        pieces: list[Ranges] = []
        first = True
        while first or self._peek() != "]":
            if not self._peek():
                self._fail("this [ is not closed", begin)
            if not first and self._peek(2) in ("&&", "--", "~~"):
                whole = _combined(whole, operator, union(*pieces))
                operator, pieces = self._peek(2), []
                self._at += 2
            else:
                pieces.append(self._item())
            first = False
        self._at += 1
        combined = _combined(whole, operator, union(*pieces))
        return complement(combined) if negative else combined

    def _item(self) -> Ranges:
        posix = re.compile(r"\[:(\^?)(\w+):\]").match(self._pattern, self._at)
        if posix is not None:
            if posix[2] not in _POSIX:
                self._fail(f"[:{posix[2]}:] is no class")
            self._at = posix.end()
            ranges = self._cased(_POSIX[posix[2]])
            return complement(ranges) if posix[1] else ranges
        if self._peek() == "[":
            return self._class()
        at = self._at
        low = self._one()
        if self._peek() != "-" or self._peek(2) in ("--", "-]"):
            return self._cased(low)
        self._at += 1
        high = self._one()
        ends = [ranges[0][0] for ranges in (low, high) if len(ranges) == 1 and ranges[0][0] == ranges[0][1]]
        if len(ends) < 2 or ends[0] > ends[1]:
            self._fail("a range is from one character up to a later one", at)
        return self._cased(union([(ends[0], ends[1])]))

    def _one(self) -> Ranges:
        sign = self._peek()
        if not sign:
            self._fail("a class is not closed")
        self._at += 1
        return self._escape() if sign == "\\" else ((ord(sign), ord(sign)),)

    def _escape(self) -> Ranges:
        begin, sign = self._at - 1, self._peek()
        self._at += 1
        if sign in _CONTROLS:
            return ((ord(_CONTROLS[sign]), ord(_CONTROLS[sign])),)
        if sign in _HEX:
            match = re.compile(rf"([0-9a-fA-F]{{{_HEX[sign]}}})|\{{([0-9a-fA-F]{{1,8}})\}}").match(
                self._pattern, self._at
            )
            point = int(match[1] or match[2], 16) if match else -1
            if match is None or not union([(point, point)]):
                self._fail(f"\\{sign} is for a character: {_HEX[sign]} hexadecimal digits, or some in braces", begin)
            self._at = match.end()
            return ((point, point),)
        if sign and sign in "dDsSwW":
            ranges = _shorthand(sign.lower())
            return complement(ranges) if sign.isupper() else ranges
        if sign in ("p", "P"):
            return self._property(sign == "P", begin)
        if sign and sign in "bBAzZ<>":
            self._fail(f"anchors (\\{sign}) cannot be had: a terminal is read whole; leave it out", begin)
        if not sign or (sign.isalnum() and sign.isascii()) or not sign.isascii():
            self._fail(f"\\{sign} means nothing; write the character", begin)
        return ((ord(sign), ord(sign)),)

    def _property(self, negative: bool, begin: int) -> Ranges:
        match = re.compile(r"([A-Za-z])|\{(\^?)\s*(?:(?:gc|General_Category)\s*=\s*)?(\w+)\}").match(
            self._pattern, self._at
        )
        name = (match[1] or match[3]) if match else ""
        ranges = category(_LONG_NAMES.get(name.replace("_", "").lower(), name)) if name else None
        if match is None or ranges is None:
            self._fail(f"{self._pattern[begin : begin + 12]} is no general category of Unicode, which \\p takes", begin)
        self._at = match.end()
        return complement(ranges) if negative != bool(match[2]) else ranges


_LONG_NAMES = {
    "letter": "L",
    "lowercaseletter": "Ll",
    "uppercaseletter": "Lu",
    "mark": "M",
    "number": "N",
    "decimalnumber": "Nd",
    "punctuation": "P",
    "symbol": "S",
    "separator": "Z",
    "other": "C",
}


def _combined(whole: Ranges | None, operator: str, further: Ranges) -> Ranges:
    """What an operator within a class makes of the two sides."""
    if whole is None:
        return further
    if operator == "&&":
        return intersection(whole, further)
    without = intersection(whole, complement(further))
    return without if operator == "--" else union(without, intersection(further, complement(whole)))


def _written(ranges: Ranges) -> str:
    return character_class(ranges) if ranges else "(?!)"


def _has(ranges: Ranges, point: int) -> bool:
    at = bisect_right(ranges, (point, sys.maxunicode)) - 1
    return at >= 0 and ranges[at][1] >= point


def _folded(ranges: Ranges) -> Ranges:
    """A set closed under simple case folding."""
    further = [
        (other, other)
        for members in _letters_of_a_kind()
        if any(_has(ranges, member) for member in members)
        for other in members
    ]
    return union(ranges, further) if further else ranges


@lru_cache(maxsize=1)
def _letters_of_a_kind() -> list[list[int]]:
    """Characters that differ in case only, by Unicode's simple case folding. Some 100 ms."""
    kinds: dict[str, list[int]] = {}
    cased = (category(name) or () for name in ("L", "M", "Nl", "So"))
    for first, last in union(*cased):
        for character in map(chr, range(first, last + 1)):
            folded = character.casefold()
            key = folded if len(folded) == 1 else character.lower()
            if len(key) == 1:
                kinds.setdefault(key, []).append(ord(character))
    return [members for members in kinds.values() if len(members) > 1]


@lru_cache(maxsize=3)
def _shorthand(letter: str) -> Ranges:
    r"""``\d``, ``\s`` and ``\w``, by Unicode Technical Standard 18, Annex C."""
    if letter == "s":
        return union(intersection(BLANKS, complement(((0xFEFF, 0xFEFF),))), ((0x85, 0x85),))
    names = ("Nd",) if letter == "d" else ("L", "Nl", "M", "Nd", "Pc")
    parts = [ranges for name in names if (ranges := category(name)) is not None]
    return union(*parts) if letter == "d" else union(*parts, _CIRCLED, ((0x200C, 0x200D),))
