"""Pieces of a text, as they come, are the text."""

from __future__ import annotations

import asyncio
import threading
import warnings
from typing import Any

import pytest

import pdacon
from pdacon import Generator
from pdacon.errors import IncompleteWarning
from pdacon.integrations.huggingface import Generation, load_tiny

PROMPT = "Describe a person as JSON:"


@pytest.fixture(scope="module")
def write() -> Generator:
    return Generator(*load_tiny(), "json_dumps", max_tokens=150)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"seed": 3}, {"temperature": 0}, {"seed": 1, "prefix": '{"na'}], ids=str)
def test_pieces_are_the_text(write: Generator, options: dict[str, Any]) -> None:
    answer = write(PROMPT, **options)
    outcome: list[Generation] = []

    def follow() -> Any:
        outcome.append((yield from write.stream(PROMPT, **options)))

    pieces = list(follow())
    assert len(pieces) > 3
    assert options.get("prefix", "") + "".join(pieces) == answer.text
    assert outcome == [answer]


def test_pieces_have_values(write: Generator) -> None:
    """What has come of the value, at each piece, asked at once or later."""
    stream = write.stream(PROMPT, seed=3)
    with pytest.raises(ValueError, match="not written yet"):
        _ = stream.result
    pieces, values = [], []
    for piece in stream:
        pieces.append(piece)
        values.append(piece.value)
    assert stream.result == write(PROMPT, seed=3)
    assert pieces[-1].text == stream.result.text
    assert [piece.value for piece in reversed(pieces)] == values[::-1]
    if stream.result.complete:
        assert values[-1] == stream.result.value
    words = Generator(write.model, write.tokenizer, pdacon.Grammar.from_regex("[ab]{3}"))
    with pytest.raises(TypeError, match="known in part"):
        _ = next(words.stream(PROMPT, seed=1)).value


def test_asynchronous_twins(write: Generator) -> None:
    async def follow() -> tuple[str, Any, Any]:
        stream = write.astream(PROMPT, seed=3)
        text = "".join([piece async for piece in stream])
        return text, stream.result, await write.agenerate(PROMPT, seed=3)

    async def give_up() -> int:
        async for piece in write.astream(PROMPT, seed=3):
            return len(piece)
        return 0

    answer = write(PROMPT, seed=3)
    assert asyncio.run(follow()) == (answer.text, answer, answer)
    before = threading.active_count()
    assert asyncio.run(give_up()) > 0
    assert threading.active_count() <= before


def test_who_stops_iterating_ends_the_generation(write: Generator) -> None:
    before = threading.active_count()
    pieces = write.stream(PROMPT, seed=3)
    assert next(pieces)
    pieces.close()
    assert threading.active_count() == before


def test_errors_come_out(write: Generator) -> None:
    with pytest.raises(TypeError, match=r"neither Generator nor model\.generate has an option top_q"):
        write.stream(PROMPT, top_q=3)
    with pytest.raises(TypeError, match="leave on_text out"):
        write.stream(PROMPT, on_text=print)
    with pytest.raises(ValueError, match="not the beginning of a sentence"):
        list(write.stream(PROMPT, prefix="}"))
    with pytest.raises(ValueError, match="one text only"):
        list(write.stream([PROMPT, PROMPT]))


def test_warnings_are_at_the_line_that_iterates(write: Generator) -> None:
    with pytest.warns(IncompleteWarning, match="cut off") as caught:
        list(write.stream(PROMPT, max_new_tokens=2, seed=3))
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IncompleteWarning):
            list(write.stream(PROMPT, max_new_tokens=2, seed=3))
