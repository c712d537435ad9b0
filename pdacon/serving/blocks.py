"""Events of an answer -> blocks, one after the other, as Anthropic's and OpenAI's newer interface have them.

A block is a thought, a text or a call. What stands in a block is told in pieces, in the order in which it was written.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pdacon.frontends.tool_formats import INPUT, AnswerEvent
from pdacon.serving.answers import Answer, Job, Piece, write

_PLAIN = re.compile(r'[^"\\]+')
_ESCAPE = re.compile(r"\\(?:u(?:d[89ab][0-9a-f]{2}\\u[0-9a-f]{4}|(?!d[89ab])[0-9a-f]{4})|[^u])", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Block:
    """A part of an answer: what it is and, of a call, of what; its text, or the JSON of a call's arguments.

    ``takes_text``: the call is of a tool that takes a text, which `text` is. ``is_whole``: nothing of it was cut.
    """

    index: int
    kind: Literal["reasoning", "text", "call"]
    name: str = ""
    takes_text: bool = False
    is_whole: bool = True
    parts: list[str] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:24])

    @property
    def text(self) -> str:
        """What came of it."""
        return "".join(self.parts)


class BlockStep(NamedTuple):
    """What happens to a block: it begins, goes on with a text, or has ended."""

    what: Literal["begin", "text", "end"]
    block: Block
    text: str = ""


class Blocks:
    """The blocks of one answer; ``texts``: the names of tools that take a text."""

    def __init__(self, texts: Collection[str] = ()) -> None:
        self.all: list[Block] = []
        self._texts = texts
        self._open: Block | None = None
        self._input = InputText()

    def add(self, events: Iterable[AnswerEvent]) -> Iterator[BlockStep]:
        """What events do to blocks."""
        for event in events:
            if event.kind == "end":
                yield from self.end()
            elif event.kind == "name":
                yield from self.end()
                yield from self._begin("call", event.text)
            elif event.kind == "arguments":
                assert self._open is not None
                yield from self._go_on(self._input.feed(event.text) if self._open.takes_text else event.text)
            else:
                if self._open is None or self._open.kind != event.kind:
                    yield from self.end()
                    yield from self._begin(event.kind)
                yield from self._go_on(event.text)

    def end(self, *, cut: bool = False) -> Iterator[BlockStep]:
        """End the block that is open. ``cut``: the model would have gone on."""
        block, self._open = self._open, None
        if block is not None:
            block.is_whole = not cut
            yield BlockStep("end", block)

    def _begin(self, kind: Literal["reasoning", "text", "call"], name: str = "") -> Iterator[BlockStep]:
        self._open = Block(len(self.all), kind, name, name in self._texts)
        self._input = InputText()
        self.all.append(self._open)
        yield BlockStep("begin", self._open)

    def _go_on(self, text: str) -> Iterator[BlockStep]:
        if text and self._open is not None:
            self._open.parts.append(text)
            yield BlockStep("text", self._open, text)


async def block_steps(job: Job, answer: Answer, blocks: Blocks) -> AsyncGenerator[tuple[Piece, list[BlockStep]], None]:
    """Write the only answer to a request: each piece with what it does to the blocks, once it is part of both."""
    async with aclosing(write(job, 1)) as pieces:
        async for piece in pieces:
            answer.add(piece)
            steps = list(blocks.add(piece.events))
            if piece.ending is not None:
                steps += blocks.end(cut=piece.ending == "length")
            yield piece, steps


class InputText:
    """Reads the text out of the JSON of its tool's only argument, ``{"input": "..."}``, as it comes."""

    def __init__(self) -> None:
        self._before = ""  # of what was not read yet
        self._is_within = self._is_over = False

    def feed(self, piece: str) -> str:
        """What a piece adds to the text."""
        self._before += piece
        if not self._is_within:
            begin = re.match(rf'\s*\{{\s*"{INPUT}"\s*:\s*"', self._before)
            if begin is None:
                return ""
            self._is_within, self._before = True, self._before[begin.end() :]
        out, at = [], 0
        while not self._is_over and at < len(self._before):
            plain = _PLAIN.match(self._before, at) or _ESCAPE.match(self._before, at)
            if plain is None:
                self._is_over = self._before[at] == '"'
                break
            out.append(json.loads(f'"{plain[0]}"', strict=False))
            at = plain.end()
        self._before = self._before[at:]
        return "".join(out)
