"""A text held by a constraint in llama-cpp-python, without it: `tests/engines/run.sh llama_cpp` writes real ones."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support import llama_samplers

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
    """Writes what it is told to write, by a chain of samplers as llama-cpp-python has one."""

    draft_model = None
    processors = 0
    forgets = False

    def __init__(self, text: bytes) -> None:
        self._text = text
        self.chain: Any = None

    def _init_sampler(self, **_: Any) -> Any:
        return llama_samplers.Chain(self.processors)

    def create_completion(self, prompt: str, stream: bool = False, **_: Any) -> Any:
        pieces = self._pieces()
        return pieces if stream else {"choices": [{"text": "".join(piece["choices"][0]["text"] for piece in pieces)}]}

    create_chat_completion = create_completion

    def _pieces(self) -> Any:
        if not self.forgets:
            self.chain = self._init_sampler()
        for token in [*self._text, END]:
            candidates = list(range(WORDS.size))
            for part in self.chain.parts if self.chain else ():
                if not isinstance(part, str):
                    candidates = llama_samplers.left(part, candidates)
            chosen = token if self.forgets or token in candidates else candidates[0]
            for part in self.chain.parts if self.chain else ():
                if not isinstance(part, str):
                    llama_samplers.accept(part, chosen)
            if chosen == END:
                return
            yield {"choices": [{"text": chr(chosen)}]}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> type[Llama]:
    monkeypatch.setattr(llama_cpp, "_vocabulary", lambda llama: WORDS)
    monkeypatch.setitem(sys.modules, "llama_cpp", llama_samplers)
    return Llama


def written(llama: Llama, grammar: Any, **options: Any) -> str:
    answer = llama_cpp.complete(llama, "x", grammar, **options)
    pieces = answer if options.get("stream") else [answer]
    return "".join(piece["choices"][0]["text"] for piece in pieces)


@pytest.mark.parametrize("stream", [False, True])
def test_complete(model: type[Llama], stream: bool) -> None:
    grammar = pdacon.Grammar.from_regex("ab*")
    assert written(model(b"abb"), grammar, stream=stream) == "abb"
    assert written(model(b"bab"), pdacon.compile(grammar, WORDS), stream=stream) == "abb"
    answer = llama_cpp.chat(model(b"abb"), [], grammar)
    assert answer["choices"][0]["text"] == "abb"


def test_the_constraint_comes_before_what_leaves_tokens_out(model: type[Llama]) -> None:
    llama = model(b"ab")
    llama.processors = 2
    assert written(llama, pdacon.Grammar.from_regex("ab*")) == "ab"
    first, second, ours, *others = llama.chain.parts
    assert [first, second, *others] == ["processor 0", "processor 1", "penalties", "top-k", "dist"]
    assert llama_samplers.name(ours) == b"pdacon"


def test_the_next_text_of_the_model_has_no_constraint(model: type[Llama]) -> None:
    llama = model(b"abb")
    pieces = llama_cpp.complete(llama, "x", pdacon.Grammar.from_regex("ab*"), stream=True)
    assert next(pieces)["choices"][0]["text"] == "a"
    assert "_init_sampler" not in vars(llama)
    assert llama._init_sampler().parts == ["penalties", "top-k", "dist"]
    assert "".join(piece["choices"][0]["text"] for piece in pieces) == "bb"
    pieces = llama_cpp.complete(llama, "x", "json", stream=True)
    pieces.close()
    assert "_init_sampler" not in vars(llama)


@pytest.mark.parametrize("stream", [False, True])
def test_a_text_whose_chain_was_made_otherwise_is_told(model: type[Llama], stream: bool) -> None:
    llama = model(b"ba")
    llama.forgets = True
    with pytest.raises(pdacon.MatcherError, match="made no sampler"):
        written(llama, pdacon.Grammar.from_regex("ab*"), stream=stream)
    assert "_init_sampler" not in vars(llama)


@pytest.mark.parametrize("name", ["tools", "functions", "response_format"])
def test_options_that_would_be_another_constraint(model: type[Llama], name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} is not for a text"):
        llama_cpp.complete(model(b"a"), "x", "json", **{name: [1]})


def test_a_llama_cpp_python_that_makes_its_samplers_otherwise(model: type[Llama]) -> None:
    class Other: ...

    with pytest.raises(TypeError, match="hold"):
        llama_cpp.complete(Other(), "x", pdacon.compile("json", WORDS))


def test_a_constraint_of_another_vocabulary(model: type[Llama]) -> None:
    other = pdacon.compile("json", pdacon.Vocabulary.from_tokens([b"{", b"}", b'"', None], eos_ids=[3]))
    with pytest.raises(ValueError, match="another vocabulary"):
        llama_cpp.complete(model(b"a"), "x", other)


@pytest.fixture
def one(model: type[Llama]) -> Iterator[Any]:
    """A sampler for texts of a, then b's."""
    found = llama_cpp.sampler(model(b""), pdacon.Grammar.from_regex("ab*"))
    yield found
    llama_samplers.free(found)


EVERY = list(range(WORDS.size))
A, B = b"ab"


def test_a_sampler_leaves_what_is_allowed(one: Any) -> None:
    assert llama_samplers.left(one, EVERY) == [A]
    llama_samplers.accept(one, A)
    assert llama_samplers.left(one, EVERY) == [B, END]
    assert llama_samplers.left(one, [END, 7, B, -1, 9999, B]) == [END, B, B], "in their order"
    llama_samplers.accept(one, END)
    assert llama_samplers.left(one, EVERY) == [END]
    llama_cpp.check_sampler(one)


def test_a_clone_goes_its_own_way(one: Any) -> None:
    llama_samplers.accept(one, A)
    twin, other = llama_samplers.clone(one), llama_samplers.clone(one)
    llama_samplers.reset(one)
    llama_samplers.copy_state(one, other)
    assert llama_samplers.left(one, EVERY) == llama_samplers.left(other, EVERY) == [A]
    assert llama_samplers.left(twin, EVERY) == [B, END]
    for address in (twin, other):
        llama_cpp.check_sampler(address)
        llama_samplers.free(address)
    assert llama_samplers.left(one, EVERY) == [A]


@pytest.mark.parametrize("token", [B, END, -1, 1 << 30])
def test_a_token_that_is_not_allowed_ends_the_text(one: Any, token: int) -> None:
    llama_samplers.accept(one, token)
    assert llama_samplers.left(one, EVERY) == [END]
    llama_samplers.accept(one, A)
    assert llama_samplers.left(one, [A, B]) == [END], "not even a candidate"
    twin = llama_samplers.clone(one)
    assert llama_samplers.left(twin, EVERY) == [END], "a clone does not heal"
    for address in (one, twin):
        with pytest.raises((pdacon.MatcherError, IndexError)):
            llama_cpp.check_sampler(address)
    for address in (one, twin):
        llama_samplers.reset(address)
        assert llama_samplers.left(address, EVERY) == [A], "another text"
        llama_cpp.check_sampler(address)
    llama_samplers.free(twin)


def test_candidates_of_whom_none_is_allowed_end_the_text(one: Any) -> None:
    assert llama_samplers.left(one, []) == []
    llama_samplers.reset(one)
    assert llama_samplers.left(one, [B, 7]) == [END]
    with pytest.raises(pdacon.MatcherError, match=r"none of the 2 candidates.* before samplers"):
        llama_cpp.check_sampler(one)


def test_a_mask_that_cannot_be_had_ends_the_text(model: type[Llama]) -> None:
    grammar = pdacon.Grammar.from_lark('start: "(" start ")" | "x"')
    deep = pdacon.compile(grammar, WORDS, limits=pdacon.Limits(depth=9))
    sampler = llama_cpp.sampler(model(b""), deep)
    for _ in range(20):
        llama_samplers.left(sampler, EVERY)
        llama_samplers.accept(sampler, ord("("))
    assert llama_samplers.left(sampler, EVERY) == [END]
    with pytest.raises(pdacon.LimitExceededError, match="depth"):
        llama_cpp.check_sampler(sampler)
    llama_samplers.free(sampler)


def test_a_sampler_that_was_not_asked_is_told(one: Any) -> None:
    with pytest.raises(pdacon.MatcherError, match="not asked for a single token"):
        llama_cpp.check_sampler(one)


def test_other_structures_are_refused(model: type[Llama], monkeypatch: pytest.MonkeyPatch) -> None:
    class Larger(ctypes.Structure):
        _fields_ = [("first", llama_samplers.llama_sampler_i), ("more", ctypes.c_void_p)]

    for name, structure in [
        ("llama_sampler_i", Larger),
        ("llama_sampler_i", llama_samplers.llama_sampler),
        ("llama_token_data", llama_samplers.llama_sampler),
        ("llama_token_data_array", llama_samplers.llama_token_data),
        ("llama_sampler", llama_samplers.llama_token_data),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(llama_samplers, name, structure)
            with pytest.raises(ValueError, match="other structures"):
                llama_cpp.sampler(model(b""), "json")
    table = llama_samplers.llama_sampler_i()
    other = llama_samplers.llama_sampler(ctypes.pointer(table), None)
    with pytest.raises(ValueError, match="no sampler of pdacon's"):
        llama_cpp.check_sampler(ctypes.pointer(other))
