"""Texts of tokens, piece by piece: whole characters only, and nothing of what could still become a stop text."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from pdacon.detokenizer import Vocabulary


class Writer:
    """Makes the text of one answer.

    ``stops``: texts that end the answer; they do not belong to it.
    """

    def __init__(self, vocabulary: Vocabulary, stops: Sequence[str] = ()) -> None:
        self._vocabulary = vocabulary
        self._stops = tuple(stops)
        self._characters = codecs.getincrementaldecoder("utf-8")("replace")
        self._first = vocabulary.strip_leading_space
        self._held = ""
        self.stopped = False

    def add(self, tokens: Sequence[int]) -> str:
        """What tokens add to the text; `stopped` says whether a stop text ends it."""
        spelled = self._vocabulary.decode(tokens)
        assert isinstance(spelled, bytes)
        if self._first and spelled:
            spelled = spelled.removeprefix(b" ")
            self._first = False
        return self._passed(self._characters.decode(spelled))

    def end(self) -> str:
        """What was held back, now that nothing follows. A character that is not whole is left out."""
        held, self._held = self._held, ""
        return held

    def _passed(self, text: str) -> str:
        if not self._stops or self.stopped:
            return "" if self.stopped else text
        text = self._held + text
        places = [(place, stop) for stop in self._stops if (place := text.find(stop)) >= 0]
        if places:
            self.stopped, self._held = True, ""
            return text[: min(places)[0]]
        keep = max((_overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of a text begin a stop text."""
    longest = min(len(stop) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)
