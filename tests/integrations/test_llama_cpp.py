"""A text held by a constraint in llama-cpp-python, without it: `tests/engines/run.sh llama_cpp` writes real ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pdacon
from pdacon.integrations import llama_cpp
from pdacon.integrations.llama_cpp import Held

WORDS = pdacon.Vocabulary.bytes()
END = 256
PROMPT = [1, 2, 3]


def held_by(pattern: str, draft_model: object = None) -> Held:
    constraint = pdacon.compile(pdacon.Grammar.from_regex(pattern), WORDS)
    return Held(SimpleNamespace(draft_model=draft_model), constraint)


def allowed(held: Held, ids: list[int]) -> list[int]:
    """What may come next, as llama-cpp-python asks for it."""
    (process,) = held
    scores = np.linspace(-3, 3, WORDS.size, dtype=np.float32)
    found = process(np.array(ids, dtype=np.intc), scores)
    assert found.shape == scores.shape
    assert found.dtype == scores.dtype
    return [int(token) for token in np.flatnonzero(found > -np.inf)]


def test_a_text_is_followed() -> None:
    held = held_by("ab*")
    a, b = b"ab"
    assert allowed(held, PROMPT) == [a]
    assert allowed(held, PROMPT) == [a], "asked again, nothing is new"
    assert allowed(held, [*PROMPT, a]) == [b, END]
    assert allowed(held, [*PROMPT, a, b, b]) == [b, END]
    held.check()


@pytest.mark.parametrize(
    "ids", [[1, 2], [1, 2, 4], [9, 9, 9, 9], [*PROMPT, ord("b")], [*PROMPT, ord("a"), 99_999], [*PROMPT, -1]]
)
def test_what_cannot_be_ends_the_text_and_is_raised_afterwards(ids: list[int]) -> None:
    held = held_by("ab*")
    allowed(held, PROMPT)
    assert allowed(held, ids) == [END]
    assert allowed(held, PROMPT) == [END], "it does not heal"
    with pytest.raises((pdacon.MatcherError, IndexError, OverflowError, ValueError)):
        held.check()


@pytest.mark.parametrize("error", [RuntimeError("x"), KeyboardInterrupt(), MemoryError()])
def test_nothing_is_raised_within_llama_cpp(error: BaseException) -> None:
    """What is raised there is swallowed, and the scores stay as they were."""
    held = held_by("ab*")

    class Broken:
        def allowed_mask(self) -> None:
            raise error

    held._matcher = Broken()  # type: ignore[assignment]
    assert allowed(held, PROMPT) == [END]
    with pytest.raises(type(error)):
        held.check()


def test_a_constraint_that_was_left_out_is_told() -> None:
    with pytest.raises(pdacon.MatcherError, match="not asked for a single token"):
        held_by("a").check()


def test_drafts_are_refused() -> None:
    held = held_by("a", draft_model=object())
    assert allowed(held, PROMPT) == [END]
    with pytest.raises(pdacon.MatcherError, match="draft"):
        held.check()
    with pytest.raises(ValueError, match="draft"):
        llama_cpp.hold(SimpleNamespace(draft_model=object()), "json")


def test_logit_bias_is_refused() -> None:
    with pytest.raises(TypeError, match="drops both"):
        held_by("a").extend([])


class Llama:
    """Writes what it is told to write, and asks before each token."""

    draft_model = None

    def __init__(self, text: bytes) -> None:
        self._text = text

    def create_completion(self, prompt: str, logits_processor: Any, stream: bool = False, **_: Any) -> Any:
        pieces = self._pieces(logits_processor)
        return pieces if stream else {"choices": [{"text": "".join(piece["choices"][0]["text"] for piece in pieces)}]}

    def _pieces(self, processors: Any) -> Any:
        for place in range(len(self._text)):
            for process in processors:
                process(np.array([*PROMPT, *self._text[:place]], dtype=np.intc), np.zeros(WORDS.size, dtype=np.float32))
            yield {"choices": [{"text": chr(self._text[place])}]}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> type[Llama]:
    monkeypatch.setattr(llama_cpp, "_vocabulary", lambda llama: WORDS)
    return Llama


def test_complete(model: type[Llama]) -> None:
    grammar = pdacon.Grammar.from_regex("ab*")
    answer = llama_cpp.complete(model(b"abb"), "x", grammar)
    assert answer["choices"][0]["text"] == "abb"
    pieces = llama_cpp.complete(model(b"abb"), "x", pdacon.compile(grammar, WORDS), stream=True)
    assert "".join(piece["choices"][0]["text"] for piece in pieces) == "abb"


@pytest.mark.parametrize("stream", [False, True])
def test_complete_raises_what_went_wrong(model: type[Llama], stream: bool) -> None:
    with pytest.raises(pdacon.MatcherError, match="token 98 was chosen"):
        list(llama_cpp.complete(model(b"ba"), "x", pdacon.Grammar.from_regex("ab*"), stream=stream))


@pytest.mark.parametrize("name", ["logit_bias", "logits_processor", "response_format"])
def test_options_that_would_be_another_constraint(model: type[Llama], name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} is not for a text"):
        llama_cpp.complete(model(b"a"), "x", "json", **{name: [1]})


def test_a_constraint_of_another_vocabulary(model: type[Llama]) -> None:
    other = pdacon.compile("json", pdacon.Vocabulary.from_tokens([b"{", b"}", b'"', None], eos_ids=[3]))
    with pytest.raises(ValueError, match="another vocabulary"):
        llama_cpp.complete(model(b"a"), "x", other)
