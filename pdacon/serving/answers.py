"""Answers to a request: as many as it asks for, written at the same time, as events and what is told of them.

What is text, what a thought and what a call comes from `AnswerReader`, whatever the model's format: this is the one
stream that all interfaces write in their own ways.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from pdacon.errors import PdaconError
from pdacon.front.answer_readers import reader_with
from pdacon.front.constraint import Constraint
from pdacon.frontends.tool_formats import AnswerEvent, AnswerReader, AnswerValues
from pdacon.integrations.huggingface.beginnings import begin
from pdacon.matching import Budget
from pdacon.serving.accounts import current
from pdacon.serving.engine import Engine
from pdacon.serving.failures import RequestError
from pdacon.serving.token_choice import ChosenToken, Sampling, ThoughtBudget
from pdacon.serving.writing import Writer

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be written."""

    engine: Engine
    ids: list[int]  # the prompt
    constraint: Constraint | None  # None: the request asks for any text
    sampling: Sampling  # of the first answer; others have the seeds that follow
    max_tokens: int  # end tokens included, which a text with a budget may have beyond that
    stops: tuple[str, ...] = ()
    values: AnswerValues | None = None  # what reads the answers; None: all is text
    stop_tokens: frozenset[int] = frozenset()
    thinking: int | None = None  # the most tokens of thoughts
    texts: frozenset[str] = frozenset()  # the names of tools that take a text
    budget: Budget | None = None  # within how many tokens each answer is a text of the format

    @classmethod
    def fitting(
        cls,
        engine: Engine,
        ids: list[int],
        constraint: Constraint | None,
        sampling: Sampling,
        max_tokens: int | None,
        stops: tuple[str, ...],
        values: AnswerValues | None = None,
    ) -> Job:
        """A job of as many tokens as are asked for and the model's context has room for, behind a prompt that fits."""
        room = engine.context - len(ids)
        most = room if max_tokens is None else min(room, max_tokens)
        return cls(engine, ids, constraint, sampling, most, stops, values)

    def completed(self, soft: int | None) -> Job:
        """The same with a budget: no answer is cut off by its length. There is a constraint; free text has no such end.

        Raises RequestError: no text of the format is so short: the message says how many tokens the shortest has.
        """
        assert self.constraint is not None, "`response_formats.requested_format` refuses to complete free text"
        # The end token is one of those for which there is room.
        most = min(self.max_tokens, self.engine.context - len(self.ids) - 1)
        try:
            budget = Budget(tokens=most, soft=soft)
            begin(self.constraint, "", budget=budget)
        except (ValueError, PdaconError) as error:
            raise RequestError(400, f"complete: {error}", param="max_tokens") from error
        return replace(self, budget=budget, max_tokens=most + 1)

    def writer(self) -> Writer:
        """Makes the parts of one answer."""
        return Writer(self.engine.vocabulary, self.stops, self._reader(), self.stop_tokens)

    def sampling_of(self, index: int) -> Sampling:
        """How the tokens of one of the answers are chosen."""
        seed, scoring = self.sampling.seed, self.sampling.scoring
        return replace(
            self.sampling,
            seed=None if seed is None else seed + index,
            scoring=None if scoring is None else replace(scoring, prompt=frozenset(self.ids), written=Counter()),
            thinking=self._thinking(),
            choices=[],
        )

    def _reader(self) -> AnswerReader | None:
        vocabulary = self.engine.vocabulary
        return None if self.values is None else reader_with(self.values, vocabulary, vocabulary.strip_leading_space)

    def _thinking(self) -> ThoughtBudget | None:
        """What ends the thoughts of one answer in time; None: nothing has to."""
        reader = self._reader()
        if self.thinking is None or self.values is None or reader is None:
            return None
        thought, reasoning = self.values.asked.format.thought, self.values.asked.reasoning
        if thought is None or not reasoning:
            return None
        end = self.engine.tokenizer(thought.end, add_special_tokens=False)["input_ids"]
        return ThoughtBudget(self.thinking, end, reader, reasoning == "begun")

    def usage(self, answers: list[Answer]) -> dict[str, int]:
        """How many tokens it took, as OpenAI counts them."""
        generated = sum(one.tokens for one in answers)
        prompt = len(self.ids)
        return {"prompt_tokens": prompt, "completion_tokens": generated, "total_tokens": prompt + generated}

    def spelled(self, token: int) -> bytes:
        """The text of a token; of an end token its name."""
        text = self.engine.vocabulary.tokens[token]
        return str(self.engine.tokenizer.convert_ids_to_tokens(token)).encode() if text is None else bytes(text)


@dataclass(frozen=True, slots=True)
class Piece:
    """What is new of one of the answers; `ending` is why it ends here."""

    index: int
    events: list[AnswerEvent]
    tokens: list[int]
    choices: list[ChosenToken]
    ending: str | None
    stop_text: str | None = None  # that has ended it

    @property
    def text(self) -> str:
        """What is new of its text."""
        return "".join(event.text for event in self.events if event.kind == "text")


@dataclass(slots=True)
class CallText:
    """A call, as far as it is written; its arguments are JSON, as the model wrote its numbers and strings."""

    name: str
    arguments: str = ""


@dataclass(slots=True)
class Answer:
    """One answer, as far as it is written."""

    reasoning: str = ""
    text: str = ""
    calls: list[CallText] = field(default_factory=list)
    tokens: int = 0
    choices: list[ChosenToken] = field(default_factory=list)
    ending: str = "length"
    stop_text: str | None = None

    def add(self, piece: Piece) -> None:
        """Take a piece of it."""
        for event in piece.events:
            if event.kind == "reasoning":
                self.reasoning += event.text
            elif event.kind == "text":
                self.text += event.text
            elif event.kind == "name":
                self.calls.append(CallText(event.text))
            elif event.kind == "arguments":
                self.calls[event.call].arguments += event.text
        self.tokens += len(piece.tokens)
        self.choices += piece.choices
        self.ending = piece.ending or self.ending
        self.stop_text = piece.stop_text


async def write(job: Job, answers: int) -> AsyncGenerator[Piece, None]:
    """Write so many answers, all at the same time; pieces come as they are written.

    Closing the iterator cancels them all.

    Raises RequestError: one of them could not be written.
    """
    job.engine.require_room(answers)
    pieces: asyncio.Queue[Piece | Exception] = asyncio.Queue()
    tasks = [asyncio.create_task(_write_one(job, index, pieces)) for index in range(answers)]
    left = answers
    try:
        while left:
            piece = await pieces.get()
            if isinstance(piece, Exception):
                raise piece
            if piece.ending is not None:
                left -= 1
                job.engine.count_ended(piece.ending)
            yield piece
    finally:
        if left:
            job.engine.count_ended("left" if current().has_left else "failed", left)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def written(job: Job, answers: int) -> list[Answer]:
    """So many answers, whole."""
    texts = [Answer() for _ in range(answers)]
    async with aclosing(write(job, answers)) as pieces:
        async for piece in pieces:
            texts[piece.index].add(piece)
    return texts


async def encoded(told: Callable[[], dict[str, Any]], *, large: bool) -> str:
    """What is told of a whole answer, as JSON.

    What is `large`, such as probabilities of each token, is put together in a thread, and encoded in Python: the
    encoder in C would hold Python's lock to the end.
    """
    if not large:
        return _ENCODER.encode(told())
    return await asyncio.to_thread(lambda: "".join(_ENCODER.iterencode(told())))


async def _write_one(job: Job, index: int, pieces: asyncio.Queue[Piece | Exception]) -> None:
    sampling = job.sampling_of(index)
    writer = job.writer()
    try:
        async with aclosing(job.engine.write(job.ids, job.constraint, sampling, job.max_tokens, job.budget)) as steps:
            async for step in steps:
                events = writer.add(step.tokens)
                if step.ending is not None and not writer.stopped:
                    events += writer.end(cut=step.ending == "length")
                ending = "stop" if writer.stopped else step.ending
                pieces.put_nowait(Piece(index, events, step.tokens, step.choices, ending, writer.stop_text))
                if writer.stopped:
                    return
    except asyncio.CancelledError:
        raise
    except Exception as error:
        pieces.put_nowait(error)
