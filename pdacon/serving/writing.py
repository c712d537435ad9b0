"""Parts of answers of tokens, piece by piece: whole characters only, and nothing of what could still become a stop
text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence

from pdacon.detokenizer import Vocabulary
from pdacon.frontends.tool_formats import AnswerEvent, AnswerReader, overlap


class Writer:
    """Makes the parts of one answer.

    ``stops``: texts that end the answer where they come in its text; they do not belong to it. ``reader``: tells text
    from all else. Without it all is text. ``stop_tokens``: tokens that end the answer, as stop texts do.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        stops: Sequence[str] = (),
        reader: AnswerReader | None = None,
        stop_tokens: frozenset[int] = frozenset(),
    ) -> None:
        self._vocabulary = vocabulary
        self._stops = tuple(stops)
        self._reader = reader
        self._stop_tokens = stop_tokens
        self._characters = codecs.getincrementaldecoder("utf-8")("replace")
        self._first = vocabulary.strip_leading_space
        self._held = ""
        self.stopped = False
        self.stop_text: str | None = None  # which has ended the answer

    def add(self, tokens: Sequence[int]) -> list[AnswerEvent]:
        """What tokens add to the answer; `stopped` says whether a stop text ends it."""
        size = next((k for k, token in enumerate(tokens) if token in self._stop_tokens), None)
        if size is None:
            return self._added(tokens)
        events = self._added(tokens[:size])
        if not self.stopped:
            events += self.end(cut=True)
            self.stopped = True
        return events

    def _added(self, tokens: Sequence[int]) -> list[AnswerEvent]:
        if self._reader is not None:
            return list(self._passed([event for token in tokens for event in self._reader.feed(token)]))
        spelled = self._vocabulary.decode(tokens)
        assert isinstance(spelled, bytes)
        if self._first and spelled:
            spelled = spelled.removeprefix(b" ")
            self._first = False
        return list(self._passed([AnswerEvent("text", self._characters.decode(spelled))]))

    def end(self, *, cut: bool) -> list[AnswerEvent]:
        """What was held back, now that nothing follows. A character that is not whole is left out.

        ``cut``: the answer was to go on, so that what may have begun a mark of the model's format is no text.
        """
        events = [] if self._reader is None else list(self._passed(self._reader.close(cut=cut)))
        return events if self.stopped else [*events, *self._release()]

    def _passed(self, events: Sequence[AnswerEvent]) -> Iterator[AnswerEvent]:
        for event in events:
            if self.stopped:
                return
            if event.kind != "text":
                yield from self._release()
                yield event
            elif text := self._cut(event.text):
                yield AnswerEvent("text", text)

    def _release(self) -> list[AnswerEvent]:
        held, self._held = self._held, ""
        return [AnswerEvent("text", held)] if held else []

    def _cut(self, text: str) -> str:
        """What of a text comes before any stop text, and cannot be the beginning of one."""
        if not self._stops:
            return text
        text = self._held + text
        places = [(place, stop) for stop in self._stops if (place := text.find(stop)) >= 0]
        if places:
            self.stopped, self._held = True, ""
            place, self.stop_text = min(places)
            return text[:place]
        keep = max((overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]
