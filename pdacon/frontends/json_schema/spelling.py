"""How JSON values are written: what a schema leaves open.

In: nothing. Out: the policy, and the texts between values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import lru_cache
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Literal, TypeAlias

from pdacon.base.limits import Limits
from pdacon.errors import LimitExceededError, UnsupportedGrammarError, UnsupportedSchemaError
from pdacon.regular import ANY, RegularSet
from pdacon.regular.characters import Ranges, complement, intersection
from pdacon.regular.ordered.escaping import ESCAPES, Escapes

Whitespace: TypeAlias = Literal["json.dumps", "compact", "indent", "usual", "any"]

SHORT = {0x22: '\\"', 0x5C: "\\\\", 0x08: "\\b", 0x0C: "\\f", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
ESCAPED: Ranges = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
PLAIN = intersection(complement(ESCAPED), ANY)
"""The characters that stand for themselves in a string; those of ``ESCAPED`` do not, ``SHORT`` has short escapes."""
CHARACTER = r'(?:[^"\\\x00-\x1f\ud800-\udfff]|\\(?:["\\bfnrt]|u00(?:0[0-7be-f]|1[0-9a-f])))'
"""One character of a string, as a pattern of Python's ``re``."""
ANY_STRING = f'"{CHARACTER}*"'
"""Every string, as a pattern of Python's ``re``."""

_MOST_IN_A_ROW = 1_000
_BLANKS = r"[ \t\r\n]*"
_MOST_BLANKS_STATES = 1_000  # of the automaton of a pattern of blanks
_FIXED = ("json.dumps", "compact", "indent")
_OF_JSON = ("whitespace", "max_blanks", "whitespace_pattern", "separators", "escapes", "indent", "excludes")
_CHOICES = {
    "language": ("json", "yaml"),
    "whitespace": (*_FIXED, "usual", "any"),
    "order": ("schema", "any"),
    "escapes": ESCAPES,
    "numbers": ("any", "canonical"),
    "integers": ("plain", "decimal"),
    "exponents": ("any", "json.dumps", "none"),
}


@dataclass(frozen=True, slots=True)
class Blanks:
    """Patterns of the blanks at each place between values, where they are free.

    ``inside``: behind an opening bracket, and before a closing one, but once if nothing else is there. ``before``:
    before a comma and a colon.
    """

    inside: str
    before: str
    after_comma: str
    after_colon: str


@dataclass(frozen=True, slots=True)
class Spelling:
    """How values are written.

    Attributes
    ----------
    whitespace : {"json.dumps", "compact", "indent", "usual", "any"}
        One space after ``,`` and ``:``, as ``json.dumps`` writes; none; lines that are indented by ``indent`` spaces a
        level, as ``json.dumps(..., indent=2)``. "usual" leaves it to the model, at each place anew, where programs
        write blanks: after ``,`` and within brackets nothing, one space, or one line break with an indentation, and
        after ``:`` nothing or a space. "any": blanks wherever JSON allows them within a value.
    max_blanks : int or None
        How many blanks stand at one place at most with "any" (None: 16), and behind a line break with "usual" (None:
        64, or a quarter of them in tabs).
    whitespace_pattern : str or None
        With "any": a pattern of Python's ``re`` for the blanks at each place, in place of `max_blanks`. It matches
        blanks of JSON only, and not for ever.
    separators : (str, str) or None
        What stands between members and items, and behind a name, in place of what `whitespace` has: as ``json.dumps``
        takes it, a comma and a colon with blanks around them.
    order : {"schema", "any"}
        The members that a schema lists come in its order, or in any. Members that it does not list may always come
        anywhere.
    escapes : {"needed", "ascii", "any"}
        Characters of strings and names stand for themselves but where they cannot, as ``json.dumps(...,
        ensure_ascii=False)`` writes; those that are not ASCII are escaped too, as ``json.dumps`` does by default; or
        each may be written in any way that JSON allows, such as ``\\u0041`` for ``A``.
    numbers : {"any", "canonical"}
        Integers have one spelling. Other numbers may end in zeros, and have exponents as ``json.dumps`` writes them, or
        any if the schema asks for nothing but a number; or each has one spelling, without either.
    integers : {"plain", "decimal"}
        Where only integers may stand, they have no fraction; or also ``.0``, as floats are written that are integers,
        where the schema's draft takes these for integers. What a schema lists as ``1.0`` may be written so in any case.
    exponents : {"any", "json.dumps", "none"}
        With ``numbers="any"``: as said there; only for very large and very small numbers, as ``json.dumps`` writes
        them; or none at all, not even those that the schema shows.
    max_digits : int, "any" or None
        So many digits a number has at most before its point, and after it, so that a weak model does not write
        ``0.000`` for ever; the numbers that a schema lists, and bounds that are written with more, come as they are.
        Multiples have no more digits after it than they need, or one zero: 30.00, but not 30.000, of 0.01.
        With 20 all floats are spelled as ``json.dumps`` does, and all integers of 64 bits. "any" is no limit. None:
        20 for types of Python and calls, no limit for JSON Schemas.
    indent : int
    max_depth : int
        So many arrays and objects can lie within one another where lines are indented; what is deeper is left out.
    language : {"json", "yaml"}
        YAML is written in blocks that are indented by two blanks a level, of at most ``max_depth`` levels. It has its
        own blanks, quotes and escapes: `whitespace`, `escapes` and what goes with them are left out then.
    excludes : tuple of str
        Texts that no string and no name of a member has in it as it is written, such as ``("<|", "\\n")``; what else is
        asked of a string holds as well. With ``escapes="needed"``, so that each string has one text.
    """

    whitespace: Whitespace = "json.dumps"
    max_blanks: int | None = None
    whitespace_pattern: str | None = None
    separators: tuple[str, str] | None = None
    order: Literal["schema", "any"] = "schema"
    escapes: Escapes = "needed"
    numbers: Literal["any", "canonical"] = "any"
    integers: Literal["plain", "decimal"] = "plain"
    exponents: Literal["any", "json.dumps", "none"] = "any"
    max_digits: int | Literal["any"] | None = None
    indent: int = 2
    max_depth: int = 16
    language: Literal["json", "yaml"] = "json"
    excludes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                listed = ", ".join(map(_quoted, choices[:-1])) + f" or {_quoted(choices[-1])}"
                raise ValueError(f"{name} is {listed}, not {getattr(self, name)!r}")
        for name in ("max_blanks", "indent", "max_depth"):
            value = getattr(self, name)
            if name == "max_blanks" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} is a number, 0 or more, not {value!r}")
        if max(self.max_blanks or 0, self.indent) > _MOST_IN_A_ROW:
            raise ValueError(f"max_blanks and indent are at most {_MOST_IN_A_ROW:,}")

        digits = self.max_digits
        if digits not in (None, "any") and (
            isinstance(digits, bool | str) or not isinstance(digits, int) or digits < 1
        ):
            raise ValueError(f'max_digits is a number, 1 or more, "any" or None, not {digits!r}')
        self._check_blanks()
        self._check_excluded()
        if self.language == "yaml":
            for field in fields(self):
                if field.name in _OF_JSON and getattr(self, field.name) != field.default:
                    raise ValueError(
                        f'{field.name} says how JSON is written; leave it out where the language is "yaml"'
                    )

    def _check_blanks(self) -> None:
        if self.whitespace_pattern is not None:
            if self.whitespace != "any" or self.max_blanks is not None:
                raise ValueError(
                    'whitespace_pattern goes with the whitespace "any", and says itself how many blanks there are'
                )
            _check_pattern(self.whitespace_pattern)
        separators = self.separators
        if separators is None:
            return
        if self.whitespace not in _FIXED:
            raise ValueError(f"separators go with whitespace={', '.join(map(_quoted, _FIXED))}, where blanks are fixed")
        if (
            not isinstance(separators, tuple | list)
            or len(separators) != 2
            or not all(map(_separates, separators, ",:"))
        ):
            raise ValueError(f"separators are a comma and a colon, with blanks around them, not {separators!r:.60}")
        object.__setattr__(self, "separators", tuple(separators))

    def _check_excluded(self) -> None:
        excludes = self.excludes
        if (
            isinstance(excludes, str)
            or not isinstance(excludes, tuple | list)
            or not all(isinstance(text, str) and text for text in excludes)
        ):
            raise ValueError(f"excludes are texts that are not empty, not {excludes!r:.60}")
        object.__setattr__(self, "excludes", tuple(dict.fromkeys(excludes)))
        if excludes and self.escapes != "needed":
            raise ValueError("excludes need each string to have one text: leave out the spelling's escapes")

    @property
    def digits(self) -> int | None:
        """How many digits a number has at most before its point and after it; None: any."""
        return self.max_digits if isinstance(self.max_digits, int) else None

    @property
    def has_any_exponents(self) -> bool:
        """Whether numbers of which nothing but the type is asked have exponents as they like."""
        return self.numbers == "any" and self.exponents == "any"

    @property
    def writes_like_dumps(self) -> bool:
        """Whether an object of listed members has one spelling, that of ``json.dumps``, but for its values."""
        has_one_text = self.whitespace == "json.dumps" and self.separators is None and self.escapes != "any"
        return has_one_text and self.order == "schema"

    @property
    def has_one_layout(self) -> bool:
        """Whether all blanks are fixed, and do not depend on depth."""
        return self.whitespace in ("json.dumps", "compact")

    @property
    def colon(self) -> str:
        """What stands between a name and its value, as values are written."""
        if self.separators is not None:
            return self.separators[1]
        if self.whitespace_pattern is not None:
            return f"{self.least_blanks}:{self.least_blanks}"
        return ":" if self.whitespace == "compact" or (self.whitespace == "any" and self.max_blanks == 0) else ": "

    @property
    def comma(self) -> str:
        """What stands between two members or items, as values are written, before a line break if there is one."""
        if self.separators is not None:
            return self.separators[0]
        if self.whitespace_pattern is not None:
            return f"{self.least_blanks},{self.least_blanks}"
        return ", " if self.whitespace in ("json.dumps", "usual") else ","

    @property
    def least_blanks(self) -> str:
        """What stands within brackets, as values are written, on one line."""
        return "" if self.whitespace_pattern is None else _check_pattern(self.whitespace_pattern)

    @property
    def most_blanks(self) -> int:
        """How many blanks stand at one place at most with "any", and after a line break with "usual"."""
        if self.max_blanks is not None:
            return self.max_blanks
        return 64 if self.whitespace == "usual" else 16

    @property
    def blanks(self) -> Blanks | None:
        """What blanks there may be; None: they are fixed."""
        most = self.most_blanks
        if self.whitespace == "usual":
            gap = rf"(?: |\n(?:\t{{1,{most // 4}}}| {{0,{most}}}))?" if most >= 4 else rf"(?: |\n {{0,{most}}})?"
            return Blanks(inside=gap, before="", after_comma=gap, after_colon=" ?")
        if self.whitespace == "any":
            every = rf"[ \t\r\n]{{0,{most}}}" if self.whitespace_pattern is None else f"(?:{self.whitespace_pattern})"
            return Blanks(every, every, every, every)
        return None


def require_json(caller: str, spelling: Spelling | None) -> None:
    """Raise UnsupportedSchemaError if values are to be in another language, where they are written as JSON."""
    if spelling is not None and spelling.language != "json":
        why = f"{caller} writes JSON; the language {_quoted(spelling.language)} goes with a JSON Schema alone"
        raise UnsupportedSchemaError("#", "", why)


def spelled(text: str, escapes: Escapes = "needed") -> str:
    """A string as ``json.dumps`` writes it."""
    return encode_basestring_ascii(text) if escapes == "ascii" else encode_basestring(text)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _separates(text: object, sign: str) -> bool:
    return isinstance(text, str) and re.fullmatch(f"{_BLANKS}{sign}{_BLANKS}", text) is not None


@lru_cache(maxsize=256)
def _check_pattern(pattern: str) -> str:
    """The shortest text of a pattern of blanks.

    Raises ValueError: it matches something else than so many blanks, or means something else beside signs.
    """
    if not isinstance(pattern, str):
        raise ValueError(f"whitespace_pattern is a pattern of Python's re, not {pattern!r:.60}")
    limits = Limits(states=_MOST_BLANKS_STATES, seconds=1.0)
    try:
        blanks = RegularSet.from_regex(pattern, limits=limits)
        around = RegularSet.from_regex(f"(?:{pattern}),(?:{pattern})", limits=limits)
    except (LimitExceededError, UnsupportedGrammarError) as error:
        raise ValueError(f"whitespace_pattern: {error}") from None
    shortest = blanks.shortest()
    if shortest is None or not blanks <= RegularSet.from_regex(_BLANKS):
        raise ValueError(f"whitespace_pattern: {pattern!r:.60} matches something else than blanks of JSON")
    if not blanks.is_finite():
        raise ValueError(
            f"whitespace_pattern: {pattern!r:.60} lets a model write blanks for ever; bound it, as [ \\n]{{0,16}} does"
        )
    if around != blanks + "," + blanks:
        raise ValueError(f"whitespace_pattern: {pattern!r:.60} depends on what stands beside it")
    return shortest
