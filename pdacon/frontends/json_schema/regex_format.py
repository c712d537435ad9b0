"""The format ``regex``: a pattern of regular expressions that are right for ECMA-262 and for Python's ``re`` alike.

In: nothing. Out: the pattern. Balanced brackets are no regular language, so that groups are nested three deep at most.
What only one of the two languages has, or reads in its own way, is left out: look-behind, named groups,
back-references, ``\\p``, ``\\c``. So every string of the pattern is a regular expression, but not the other way round.

Source: ECMA-262, section 22.2.1, with the flag ``u``; Python's ``re``.
"""

from __future__ import annotations

_DEEPEST = 3  # groups within one another, as `string_formats.NARROWER` tells
_HEX = "[0-9A-Fa-f]"
_ESCAPED = r"dDsSwWfnrtv\^$.*+?()\[\]{}|/\\"
_LITERAL = r"[^\^$\\.*+?()\[\]{}|]"
_ASSERTION = r"[\^$]|\\[bB]"
_IN_CLASS = r"[^\]\\\^-]"


def _escape(more: str) -> str:
    """An escape; behind ``\\0`` stands no digit, with which it would be octal, and an error in ECMA-262."""
    return rf"\\(?:[{_ESCAPED}{more}]|0(?![0-9])|x{_HEX}{{2}}|u{_HEX}{{4}})"


def _ranges() -> str:
    """Letters or digits in order; what else lies between two characters is nobody's intention."""
    spans = [(chr(code), last) for first, last in ("09", "AZ", "az") for code in range(ord(first), ord(last) + 1)]
    return "|".join(f"{first}-[{first}-{last}]" for first, last in spans)


def _quantifier() -> str:
    """A quantifier: a sign, or one number or two, of which the second is as large as the first or larger.

    A number has at most three digits. Two of three digits are left out: each first one would need a state of its own.
    """
    greater = [rf"{ten}\d,[{ten + 1}-9]\d" for ten in range(1, 9)]
    two = "|".join([*greater, *[f"{ten}{digit},{ten}[{digit}-9]" for ten in range(1, 10) for digit in range(10)]])
    one = "|".join(f"{digit},[{digit}-9]" for digit in range(10))
    counts = rf"(?:0|[1-9]\d{{0,2}}),?|{one}|\d,[1-9]\d{{1,2}}|[1-9]\d,[1-9]\d\d|{two}"
    return rf"(?:[*+?]|\{{(?:{counts})\}})\??"


def _class() -> str:
    return rf"\[\^?(?:-|-?(?:{_ranges()}|{_IN_CLASS}|{_escape('-b')})+-?)\]"


def _pattern() -> str:
    atom, quantifier = rf"{_LITERAL}|\.|{_escape('')}|{_class()}", _quantifier()
    flat = rf"(?:(?:{atom})(?:{quantifier})?|{_ASSERTION}|\|)*"
    pattern = flat
    for _ in range(_DEEPEST):
        repeated = rf"(?:{atom}|\((?:\?:)?{pattern}\))(?:{quantifier})?"
        pattern = rf"(?:{repeated}|{_ASSERTION}|\(\?[=!]{flat}\)|\|)*"
    return pattern


REGEX = _pattern()
