"""pdacon within SGLang's own classes: thoughts and their budgets, marks around an answer, trees of drafts.

Needs SGLang; nothing here needs a GPU or a model. `tests/engines/run.sh sglang` has an environment.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pdacon

torch = pytest.importorskip("torch")
pytest.importorskip("sglang.srt.constrained.reasoner_grammar_backend", reason="needs SGLang")
backend = pytest.importorskip("pdacon.integrations.sglang.backend")

SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 1, "maximum": 99}},
    "required": ["age"],
}
SCHEMA["additionalProperties"] = False
JSON = ("json", json.dumps(SCHEMA))
END, THOUGHT_END, TOOL = 256, 257, 258  # a mark that ends a thought, and one that must not stand in it
TEXT = b'{"age": 42}'


def small() -> Any:
    tokens = [bytes([byte]) for byte in range(256)] + [None, None, b"<tool>", b'{"a', b'ge": ']
    return pdacon.Vocabulary.from_tokens(tokens, eos_ids=[END])


def reasoner(most: int, monkeypatch: pytest.MonkeyPatch, excluded: Sequence[str] = ("<tool>",)) -> Any:
    """SGLang's back end for thoughts over ours; at most so many tokens of thought, or any number for -1."""
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend

    monkeypatch.setenv("SGLANG_MAX_THINK_TOKENS", str(most))
    detector = SimpleNamespace(
        think_end_token="</think>",
        think_excluded_tokens=list(excluded),
        get_think_end_token_ids=lambda tokenizer: [THOUGHT_END],
        get_answer_frame=lambda: None,
    )
    tokenizer = SimpleNamespace(encode=lambda text, add_special_tokens: [TOOL], decode=lambda ids, **how: "")
    parser = SimpleNamespace(detector=detector)
    return ReasonerGrammarBackend(backend.Backend(small()), parser, tokenizer, enable_strict_thinking=True)


def made(engine: Any, key: tuple[str, str], require_reasoning: bool = True) -> Any:
    value, known = engine.get_cached_or_future_value(key, require_reasoning)
    if not known:
        engine.set_cache(key, value := value.result(60))
    value = value.copy()
    if hasattr(value, "maybe_init_reasoning"):
        value.maybe_init_reasoning(require_reasoning)
    return value


def allowed(answer: Any, size: int) -> set[int]:
    mask = answer.allocate_vocab_mask(size, 1, "cpu")
    answer.fill_vocab_mask(mask, 0)
    return bits(mask[0], size)


def bits(row: Any, size: int) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.numpy().view(np.uint8), bitorder="little", count=size)).tolist())


@pytest.mark.parametrize("most", [-1, 0, 3])
def test_a_thought_has_its_budget_and_then_the_answer_its_constraint(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = reasoner(most, monkeypatch)
    size = len(small())
    for seed in range(10):
        random, answer = Random(seed), made(engine, JSON)
        written: list[int] = []
        while THOUGHT_END not in written:
            can = allowed(answer, size)
            if most >= 0 and len(written) >= most:
                assert can == {THOUGHT_END}
            else:
                assert can == set(range(size)) - {TOOL}
            written.append(random.choice(sorted(can)) if most >= 0 or len(written) < 9 else THOUGHT_END)
            answer.accept_token(written[-1])
        matcher = pdacon.compile(pdacon.Grammar.from_json_schema(SCHEMA), small()).matcher()
        for token in (*TEXT, END):
            assert allowed(answer, size) == set(matcher.allowed_tokens())
            answer.accept_token(token)
            matcher.accept_token(token)
        assert answer.is_terminated()


def test_a_thought_is_taken_back_together_with_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As drafts are that were not taken: at each place the mask is that of an answer which came there straight."""
    engine, size = reasoner(4, monkeypatch), len(small())
    path = [1, 2, THOUGHT_END, *TEXT, END]
    straight = []
    answer = made(engine, JSON)
    for token in path:
        straight.append(allowed(answer, size))
        answer.accept_token(token)
    random, answer, place = Random(5), made(engine, JSON), 0
    for _ in range(200):
        if place and random.random() < 0.5:
            back = random.randint(1, place)
            answer.rollback(back)
            place -= back
        elif place < len(path):
            answer.accept_token(path[place])
            place += 1
        if place < len(path):
            assert allowed(answer, size) == straight[place]


def test_a_begun_answer_is_known_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """SGLang asks for the last token where a request goes over to another process, and would give it again."""
    answer = made(backend.Backend(small()), JSON)
    assert answer.current_token is None
    answer.accept_token(TEXT[0])
    assert answer.current_token == TEXT[0]


def trees(random: Random, width: int) -> tuple[list[int], list[int], list[int]]:
    """The parents of nodes, and SGLang's links: the first child and the next sibling of each."""
    parents = [-1, *(random.randrange(k) for k in range(1, width))]
    child, sibling = [-1] * width, [-1] * width
    for node in reversed(range(1, width)):
        sibling[node], child[parents[node]] = child[parents[node]], node
    return parents, child, sibling


@pytest.mark.parametrize("thinks", [False, True])
def test_masks_of_a_tree_of_drafts(thinks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from sglang.srt.speculative.spec_utils import traverse_tree

    size = len(small())
    engine = reasoner(3, monkeypatch) if thinks else backend.Backend(small())
    head = [1, 2, THOUGHT_END] if thinks else []
    whole = [*head, *TEXT, END]
    for seed in range(40):
        random = Random(seed)
        begun = whole[: random.randrange(len(whole))]
        answer = made(engine, JSON)
        for token in begun:
            answer.accept_token(token)
        parents, child, sibling = trees(random, 12)
        tokens = [0] * 12
        paths: list[list[int]] = [[]]
        for node in range(1, 12):  # mostly what may come, which only a walk from the beginning tells
            there = made(engine, JSON)
            path = paths[parents[node]]
            is_dead = not walked(there, begun + path)
            can = set() if is_dead or there.is_terminated() else allowed(there, size)
            tokens[node] = random.choice(sorted(can)) if can and random.random() < 0.8 else random.randrange(size)
            paths.append([*path, tokens[node]])
        mask = answer.allocate_vocab_mask(size, 12, "cpu")
        rows = [torch.tensor(values) for values in (child, sibling, tokens)]
        before = allowed(answer, size)
        traverse_tree(*rows, answer, mask, vocab_size=size)
        assert allowed(answer, size) == before
        for node, path in enumerate(paths):
            there = made(engine, JSON)
            if walked(there, begun + path) and not there.is_terminated():
                assert bits(mask[node], size) == allowed(there, size)


def walked(answer: Any, tokens: Sequence[int]) -> bool:
    """Whether all tokens were allowed, which are taken."""
    for token in tokens:
        if answer.is_terminated() or token not in allowed(answer, len(small())):
            return False
        answer.accept_token(token)
    return True


@pytest.fixture(scope="module")
def framed() -> Any:
    """SGLang's marks of a model's messages, in a vocabulary in which they have their spelling as text."""
    from sglang.srt.parser.answer_frame import InklingAnswerFrame
    from sglang.srt.parser.inkling_tokenizer import INKLING_SPECIAL_TOKEN_IDS

    ids = INKLING_SPECIAL_TOKEN_IDS
    tokens: list[bytes | None] = [bytes([byte]) for byte in range(256)] + [None]
    tokens += [None] * (max(ids.values()) + 1 - len(tokens))
    for name, token in ids.items():
        tokens[token] = name.encode()
    engine = backend.Backend(pdacon.Vocabulary.from_tokens(tokens, eos_ids=[END]))
    frame = InklingAnswerFrame()
    engine.reserve_framing_tokens(frame.framing_token_ids())
    return SimpleNamespace(engine=engine, frame=frame, ids=ids, size=len(tokens))


def in_frame(framed: Any, key: tuple[str, str], **how: Any) -> Any:
    answer = made(framed.engine, key)
    return framed.engine.compile_framed_grammar(answer, lambda content: framed.frame.structural_tag(content, **how))


TEXT_KEYS = [JSON, ("regex", r'\{"age": [0-9]+\}'), ("ebnf", 'root ::= "{\\"age\\": " [0-9]+ "}"'),
             ("ebnf", 'start: "{\\"age\\": " /[0-9]+/ "}"'), ("json", "$$ANY$$")]  # fmt: skip


@pytest.mark.parametrize("key", TEXT_KEYS)
def test_an_answer_in_its_frame(framed: Any, key: tuple[str, str]) -> None:
    ids = framed.ids
    message, end = ids["<|message_model|>"], ids["<|end_message|>"]
    thought = [message, ids["<|content_thinking|>"], 65, 66, end]
    answer = [message, ids["<|content_text|>"], *TEXT, end, END]
    for path, way in (
        (thought + answer, {"in_answer_block": False, "max_think_tokens": -1}),
        (thought + answer, {"in_answer_block": False, "max_think_tokens": 2}),
        (answer, {"in_answer_block": False, "max_think_tokens": 2}),
        (answer[2:], {"in_answer_block": True, "max_think_tokens": -1}),
    ):
        held = in_frame(framed, key, **way)
        for token in path:
            assert token in allowed(held, framed.size), (path, way)
            held.accept_token(token)
        assert held.is_terminated()


def test_a_framed_thought_has_its_budget_and_marks_are_no_text(framed: Any) -> None:
    ids = framed.ids
    end = ids["<|end_message|>"]
    held = in_frame(framed, ("json", '{"type": "string"}'), in_answer_block=False, max_think_tokens=2)
    for token in (ids["<|message_model|>"], ids["<|content_thinking|>"], 65, 66):
        held.accept_token(token)
    assert allowed(held, framed.size) == {end}
    for token in (end, ids["<|message_model|>"], ids["<|content_text|>"], ord('"')):
        held.accept_token(token)
    marks = set(framed.frame.framing_token_ids())
    assert not marks & allowed(held, framed.size)
    held.accept_token(ord('"'))
    assert allowed(held, framed.size) == {end}
