"""``progress=``: how many of many texts are written, and how long the rest may take; nothing unless it is asked for."""

from __future__ import annotations

import io
from typing import Any

import pytest

import pdacon
from pdacon import Generator
from pdacon.integrations.huggingface import Progress, load_tiny
from pdacon.integrations.huggingface.progress import telling

OPTIONS = [{"seed": [1, 2, 3, 4, 5]}, {"batch_size": 2}, {"num_return_sequences": 2}, {"num_beams": 2}]
PROMPTS = [f"Number {index}:" for index in range(5)]


@pytest.fixture(scope="module")
def write() -> Generator[Any]:
    return Generator(*load_tiny(), pdacon.Grammar.from_regex("[0-9]{1,30}"), seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
def test_a_function_is_told(write: Generator[Any], options: dict[str, Any]) -> None:
    told: list[Progress] = []
    answers = write(PROMPTS, progress=told.append, **options)
    assert told[0].done == 0
    assert told[-1].done == told[-1].total == len(answers)
    assert [progress.done for progress in told] == sorted({progress.done for progress in told})
    assert len(told) > 2 or "num_beams" in options
    assert answers == write(PROMPTS, **options)  # whether or not somebody looks


@pytest.mark.slow
def test_nothing_is_shown_unless_it_is_asked_for(write: Generator[Any], capfd: pytest.CaptureFixture[str]) -> None:
    write(PROMPTS)
    assert capfd.readouterr() == ("", "")
    write(PROMPTS, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "5/5" in err
    assert "100%" in err


def test_what_is_told_may_end_the_call(write: Generator[Any]) -> None:
    class Enough(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done:
            raise Enough

    with pytest.raises(Enough):
        write(PROMPTS, progress=stop)


def test_the_time_that_is_left() -> None:
    assert Progress(0, 4, 2.0).seconds_left is None
    assert Progress(1, 4, 2.0).seconds_left == 6.0
    assert str(Progress(1, 4, 2.0)) == "1 of 4 texts in 2 s, 6 s left"
    assert str(Progress(0, 4, 2.0)) == "0 of 4 texts in 2 s"


def test_no_texts_have_no_progress(capfd: pytest.CaptureFixture[str]) -> None:
    with telling(True, 0) as tell:
        assert tell is None
    assert capfd.readouterr() == ("", "")


def test_what_is_no_way_to_tell_is_refused(write: Generator[Any]) -> None:
    with pytest.raises(TypeError, match="progress"):
        write(PROMPTS, progress=io.StringIO())
