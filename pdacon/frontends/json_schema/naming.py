"""Names of terminals that say what they match, as far as a few words can.

In: a kind of value, and what is asked of it. Out: a name such as ``INTEGER_0_TO_120``; it need not be unique.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from itertools import islice

from pdacon.frontends.json_schema import string_formats
from pdacon.frontends.json_schema.facts import Above, LongerThan, Matches, Multiple
from pdacon.frontends.json_schema.strings import Shape

_LONGEST = 32


def words_name(kind: str, words: Iterable[str]) -> str:
    """The name of a terminal that lists words: the first ones."""
    return _name(kind, *islice(words, _LONGEST))


def bounds_name(kind: str, least: int | None, most: int | None) -> str:
    """The name of a terminal with a least and a most length or value."""
    if least is not None and most is not None:
        return _name(kind, str(least), *([] if least == most else ["TO", str(most)]))
    return _name(kind, *([] if least is None else ["MIN", str(least)]), *([] if most is None else ["MAX", str(most)]))


def shape_name(kind: str, shape: Shape) -> str:
    """The name of a terminal for a formula, if it is a conjunction: its format or pattern, and its bounds."""
    leasts: list[int] = []
    mosts: list[int] = []
    parts: list[str] = []
    while not isinstance(shape, bool):
        fact = shape.fact
        holds = shape.otherwise is False
        if not holds and shape.then is not False:
            return _name(kind)
        shape = shape.then if holds else shape.otherwise
        if isinstance(fact, LongerThan):
            (leasts if holds else mosts).append(fact.length + holds)
        elif isinstance(fact, Above) and fact.bound.denominator == 1:
            strict = holds != fact.inclusive  # more than the bound, or less than it
            if not strict or kind == "INTEGER":
                (leasts if holds else mosts).append(int(fact.bound) + (strict if holds else -strict))
        elif isinstance(fact, Matches) and holds:
            parts.append(string_formats.NAMES.get(fact.pattern, "pattern") if fact.whole else "pattern")
        elif isinstance(fact, Multiple) and holds and fact.of != Fraction(1):
            parts.append(f"multiple_of_{fact.of}")
    return bounds_name(_name(kind, *dict.fromkeys(parts)), max(leasts, default=None), min(mosts, default=None))


def _name(kind: str, *parts: str) -> str:
    words = [re.sub(r"\W+", "_", re.sub(r"^-(?=\d)", "minus ", part), flags=re.ASCII).strip("_") for part in parts]
    return "_".join([kind, *(word for word in words if word)]).upper()[:_LONGEST].rstrip("_")
