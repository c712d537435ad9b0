"""Where a constrained text begins: with the first generated token, or with text that the prompt ends in."""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.constraint import Constraint
from pdacon.errors import MatcherError
from pdacon.matching import Matcher

Beginning = str | bytes


class Beginnings:
    """The matchers that rows start with, one for each different beginning.

    Parameters
    ----------
    constraint : Constraint
    prefix : str, bytes or sequence of them
        The text that stands already at the end of every prompt, or of each. Empty: the text begins behind the
        prompt, and if the tokenizer strips the leading space of what it decodes, so does the matcher.
    start : str or None
        Which of the grammar's start rules.

    Raises
    ------
    ValueError
        A prefix is not the beginning of a sentence.
    """

    def __init__(self, constraint: Constraint, prefix: Beginning | Sequence[Beginning], start: str | None) -> None:
        self.prefixes = (prefix,) if isinstance(prefix, str | bytes) else tuple(prefix)
        if not self.prefixes:
            raise ValueError("prefix is an empty sequence; give one text for each prompt")
        self._matchers = [begin(constraint, prefix, start) for prefix in self.prefixes]

    def parts(self, rows: int) -> int:
        """Into how many equal parts with one beginning each the rows fall."""
        if rows % len(self._matchers):
            raise MatcherError(f"there are {rows} rows, but {len(self._matchers)} prefixes; give one for each prompt")
        return len(self._matchers)

    def matcher(self, index: int, rows: int) -> Matcher:
        """Return a new matcher for the row at an index."""
        return self._matchers[index * len(self._matchers) // rows].fork()


def begin(constraint: Constraint, prefix: Beginning, start: str | None) -> Matcher:
    """Return a matcher that stands behind the prefix."""
    text = prefix.encode() if isinstance(prefix, str) else prefix
    matcher = constraint.matcher(start)
    if text and not matcher.accept_bytes(text):
        good = text
        while not matcher.accept_bytes(good):
            good = good[:-1]
        raise ValueError(
            f"the prefix {_shown(text)} is not the beginning of a sentence: behind {_shown(good)} the grammar does not "
            f"allow {_shown(text[len(good) :])}"
        )
    return matcher


def _shown(text: bytes) -> str:
    whole = text.decode("utf-8", "backslashreplace")
    return repr(whole if len(whole) <= 40 else whole[:37] + "...")
