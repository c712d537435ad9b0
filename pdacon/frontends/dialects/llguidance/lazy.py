"""Lexemes that end as soon as they can, beside others that go on.

Where llguidance looks for a lazy lexeme, a text of it ends there, whatever else could go on. A lexer that takes the
longest text does the same if no other terminal of that place has a text that begins with one of the lazy lexeme's. So
those texts are taken away from a terminal wherever the lazy one is always looked for along with it.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from pdacon.frontends.dialects.llguidance.loaded import Loaded
from pdacon.frontends.dialects.llguidance.terminal_sets import ANYTHING, EVERYTHING
from pdacon.regular import RegularSet


def without_lazy(loaded: Loaded, lazy: AbstractSet[str]) -> dict[str, RegularSet]:
    """The sets that are to be smaller, by their names; ``lazy`` are the names of those that end as soon as they can.

    Raises
    ------
    UnsupportedGrammarError
        A terminal would be another set in one place than in another, or none at all.
    """
    smaller: dict[str, RegularSet] = {}
    for ends in [k for k, name in loaded.names.items() if name in lazy]:
        texts = loaded.texts[ends]
        beside = {k for place in loaded.places if ends in place for k in place if k in loaded.texts}
        for goes_on in sorted(beside - {ends}):
            name = loaded.names.get(goes_on, "")
            ended = texts + (ANYTHING if name in lazy else EVERYTHING)
            if loaded.texts[goes_on].isdisjoint(ended):
                continue
            rest = smaller.get(name, loaded.texts[goes_on]) - ended
            if not rest:
                raise _never(loaded, goes_on, ends)
            if not all(ends in place for place in loaded.places if goes_on in place):
                raise _sometimes(loaded, goes_on, ends)
            smaller[name] = rest
    return smaller


def _never(loaded: Loaded, goes_on: int, ends: int) -> Exception:
    shown, lazy = loaded.called(goes_on), loaded.called(ends)
    return loaded.refused(
        goes_on, f"{shown} is never read to its end: {lazy} has ended before; change one of the two", "lazy"
    )


def _sometimes(loaded: Loaded, goes_on: int, ends: int) -> Exception:
    shown, lazy = loaded.called(goes_on), loaded.called(ends)
    message = (
        f"{shown} can go on where {lazy} has ended, and {lazy} can come in some of the places of {shown}, not in all; "
        f"write two terminals for {shown}, one of them without what {lazy} can be"
    )
    return loaded.refused(goes_on, message, "lazy")
