"""How JSON values are written: what a schema leaves open.

In: nothing. Out: the policy, and the texts between values.
"""

from __future__ import annotations

from dataclasses import dataclass
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Literal, TypeAlias

from pdacon.regular import ANY
from pdacon.regular.characters import Ranges, complement, intersection
from pdacon.regular.ordered.escaping import ESCAPES, Escapes

Whitespace: TypeAlias = Literal["json.dumps", "compact", "indent", "any"]

SHORT = {0x22: '\\"', 0x5C: "\\\\", 0x08: "\\b", 0x0C: "\\f", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
ESCAPED: Ranges = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
PLAIN = intersection(complement(ESCAPED), ANY)
"""The characters that stand for themselves in a string; those of ``ESCAPED`` do not, ``SHORT`` has short escapes."""
CHARACTER = r'(?:[^"\\\x00-\x1f\ud800-\udfff]|\\(?:["\\bfnrt]|u00(?:0[0-7be-f]|1[0-9a-f])))'
"""One character of a string, as a pattern of Python's ``re``."""
ANY_STRING = f'"{CHARACTER}*"'
"""Every string, as a pattern of Python's ``re``."""

_CHOICES = {
    "whitespace": ("json.dumps", "compact", "indent", "any"),
    "order": ("schema", "any"),
    "escapes": ESCAPES,
    "numbers": ("any", "canonical"),
}


@dataclass(frozen=True, slots=True)
class Spelling:
    """How values are written.

    Attributes
    ----------
    whitespace : {"json.dumps", "compact", "indent", "any"}
        One space after ``,`` and ``:``, as ``json.dumps`` writes; none; lines that are indented by ``indent`` spaces a
        level, as ``json.dumps(..., indent=2)``; or up to ``max_blanks`` blanks wherever JSON allows them.
    max_blanks : int
    order : {"schema", "any"}
        The members that a schema lists come in its order, or in any, in objects for which it lists at most
        ``max_unordered``. Members that it does not list may always come anywhere.
    max_unordered : int
        Each name more doubles what such an object takes.
    escapes : {"needed", "ascii", "any"}
        Characters of strings and names stand for themselves but where they cannot, as ``json.dumps(...,
        ensure_ascii=False)`` writes; those that are not ASCII are escaped too, as ``json.dumps`` does by default; or
        each may be written in any way that JSON allows, such as ``\\u0041`` for ``A``.
    numbers : {"any", "canonical"}
        Integers have one spelling. Other numbers may end in zeros, and have exponents as ``json.dumps`` writes them, or
        any if the schema asks for nothing but a number; or each has one spelling, without either.
    max_digits : int, "any" or None
        So many digits a number has at most before its point, and after it, so that a weak model does not write
        ``0.000`` for ever; the numbers that a schema lists, and bounds that are written with more, come as they are.
        With 20 all floats are spelled as ``json.dumps`` does, and all integers of 64 bits. "any" is no limit. None:
        20 for types of Python and calls, no limit for JSON Schemas.
    indent : int
    max_depth : int
        So many arrays and objects can lie within one another where lines are indented; what is deeper is left out.
    """

    whitespace: Whitespace = "json.dumps"
    max_blanks: int = 16
    order: Literal["schema", "any"] = "schema"
    max_unordered: int = 6
    escapes: Escapes = "needed"
    numbers: Literal["any", "canonical"] = "any"
    max_digits: int | Literal["any"] | None = None
    indent: int = 2
    max_depth: int = 16

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                listed = ", ".join(map(_quoted, choices[:-1])) + f" or {_quoted(choices[-1])}"
                raise ValueError(f"{name} is {listed}, not {getattr(self, name)!r}")
        for name in ("max_blanks", "max_unordered", "indent", "max_depth"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} is a number, 0 or more, not {value!r}")

        digits = self.max_digits
        if digits not in (None, "any") and (
            isinstance(digits, bool | str) or not isinstance(digits, int) or digits < 1
        ):
            raise ValueError(f'max_digits is a number, 1 or more, "any" or None, not {digits!r}')

    @property
    def digits(self) -> int | None:
        """How many digits a number has at most before its point and after it; None: any."""
        return self.max_digits if isinstance(self.max_digits, int) else None

    @property
    def writes_like_dumps(self) -> bool:
        """Whether an object of listed members has one spelling, that of ``json.dumps``, but for its values."""
        return self.whitespace == "json.dumps" and self.order == "schema"

    @property
    def colon(self) -> str:
        """What stands between a name and its value, if that is fixed."""
        return ":" if self.whitespace == "compact" else ": "

    @property
    def comma(self) -> str:
        """What stands between two members or items, before the end of the line if there is one."""
        return ", " if self.whitespace == "json.dumps" else ","

    @property
    def blanks(self) -> str | None:
        """Where blanks are free, a pattern for them."""
        return rf"[ \t\r\n]{{0,{self.max_blanks}}}" if self.whitespace == "any" else None


def spelled(text: str, escapes: Escapes = "needed") -> str:
    """A string as ``json.dumps`` writes it."""
    return encode_basestring_ascii(text) if escapes == "ascii" else encode_basestring(text)


def _quoted(text: str) -> str:
    return f'"{text}"'
