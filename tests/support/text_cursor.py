"""A place in a text that moves behind what is read there; for readers that tests compare others with."""

from __future__ import annotations

import json
import re
from typing import Any

BLANKS = " \t\r\n"


class NoAnswerError(ValueError):
    """The text is no answer in the format."""


class Cursor:
    """A text and a place in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def ended(self) -> bool:
        return self.at == len(self.text)

    def sees(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def take(self, mark: str) -> bool:
        seen = self.sees(mark)
        self.at += len(mark) if seen else 0
        return seen

    def need(self, mark: str) -> None:
        if not self.take(mark):
            raise NoAnswerError(f"{mark!r} is missing at {self.at}")

    def blanks(self) -> None:
        while not self.ended and self.text[self.at] in BLANKS:
            self.at += 1

    def until(self, *marks: str, or_end: bool = False) -> str:
        """What stands before the first of the marks; the place is there then."""
        places = [place for mark in marks if (place := self.text.find(mark, self.at)) >= 0]
        if not places and not or_end:
            raise NoAnswerError(f"none of {marks} follows")
        place = min(places, default=len(self.text))
        text, self.at = self.text[self.at : place], place
        return text

    def json(self) -> Any:
        self.blanks()
        try:
            value, self.at = json.JSONDecoder(object_pairs_hook=_once).raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            raise NoAnswerError(str(error)) from None
        return value

    def match(self, pattern: str) -> str:
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            raise NoAnswerError(f"{pattern} does not match at {self.at}")
        self.at = found.end()
        return found.group(found.lastindex or 0)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise NoAnswerError("a key comes twice")
    return dict(pairs)
