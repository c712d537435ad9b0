"""JSON under grammars/json.lark with a vocabulary of 131,072 tokens: what a step costs, beside llguidance, and
beside xgrammar if it is installed, which gets its builtin grammar of JSON.

    pip install '.[test,bench]' && pytest tests/benchmarks --benchmark-enable --benchmark-columns=min,median,max

Without ``--benchmark-enable`` each runs once, as a test that it works. Nothing here asserts a time.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

import pdacon

tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")

Step = tuple[Callable[[], Any], Callable[[int], bool]]


class Tekken:
    """A byte-level BPE vocabulary of 131,072 ids, 1,000 of them control tokens, and its own tokenization."""

    def __init__(self) -> None:
        path = files("mistral_common") / "data" / "tekken_240911.json"
        model = json.loads(path.read_text())
        control = model["config"]["default_num_special_tokens"]
        entries = model["vocab"][: model["config"]["default_vocab_size"] - control]
        tokenizer = tekken.Tekkenizer.from_file(path)
        self.tokens = [None] * control + [base64.b64decode(entry["token_bytes"]) for entry in entries]
        self.eos = tokenizer.eos_id
        self.encode = lambda text: tokenizer.encode(text, bos=False, eos=False)


def some_value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(8 if depth else 5)
    if kind < 2:
        return "".join(rng.choices('abcdefghij klmnop qrstuvwxyz"\\/é中😀\n0123', k=rng.randint(0, 30)))
    if kind == 2:
        return rng.choice([True, False, None])
    if kind < 5:
        return rng.choice([rng.randint(-9999, 9999), rng.uniform(-1e6, 1e6), 1.5e-9])
    if kind < 7:
        return {f"key_{rng.randint(0, 99)}": some_value(rng, depth - 1) for _ in range(rng.randint(0, 6))}
    return [some_value(rng, depth - 1) for _ in range(rng.randint(0, 6))]


@pytest.fixture(scope="module")
def vocabulary() -> Tekken:
    return Tekken()


@pytest.fixture(scope="module")
def texts(vocabulary: Tekken) -> list[list[int]]:
    rng = random.Random(1)
    return [vocabulary.encode(json.dumps([some_value(rng, 4)], ensure_ascii=False)) for _ in range(40)]


def with_pdacon(vocabulary: Tekken) -> Callable[[], Step]:
    known = pdacon.Vocabulary.from_tokens(vocabulary.tokens, eos_ids=[vocabulary.eos])
    text = pdacon.Grammar.builtin("json").source

    def compiled() -> Callable[[], Step]:
        constraint = pdacon.compile(pdacon.Grammar.from_lark(text), known)

        def session() -> Step:
            matcher = constraint.matcher()
            bitmask = np.zeros((1, (len(vocabulary.tokens) + 31) // 32), np.int32)
            return lambda: matcher.fill_bitmask(bitmask, 0), matcher.accept_token

        return session

    return compiled


def with_llguidance(vocabulary: Tekken) -> Callable[[], Step]:
    llguidance = pytest.importorskip("llguidance", reason="the bench extra is not installed")
    masks = pytest.importorskip("llguidance.numpy")

    class Tokenizer:
        eos_token_id, bos_token_id = vocabulary.eos, None
        special_token_ids = [i for i, text in enumerate(vocabulary.tokens) if text is None]  # noqa: RUF012
        tokens = [b"\xff<control>" if text is None else text for text in vocabulary.tokens]  # noqa: RUF012

        def __call__(self, text: str | bytes) -> list[int]:
            return vocabulary.encode(text if isinstance(text, str) else text.decode("utf-8", "ignore"))

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer()))
    text = pdacon.Grammar.builtin("json").source

    def compiled() -> Callable[[], Step]:
        first = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(text), log_level=0)
        assert not first.is_error(), first.get_error()

        def session() -> Step:
            matcher = first.deep_copy()
            row = masks.allocate_token_bitmask(1, len(vocabulary.tokens))
            return lambda: masks.fill_next_token_bitmask(matcher, row, 0), matcher.consume_token

        return session

    return compiled


def with_xgrammar(vocabulary: Tekken) -> Callable[[], Step]:
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    tokens = [b"<control_%d>" % i if text is None else text for i, text in enumerate(vocabulary.tokens)]
    known = xgrammar.TokenizerInfo(
        tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=len(tokens), stop_token_ids=[vocabulary.eos]
    )
    compiler = xgrammar.GrammarCompiler(known, max_threads=1, cache_enabled=False)

    def compiled() -> Callable[[], Step]:
        grammar = compiler.compile_builtin_json_grammar()

        def session() -> Step:
            matcher = xgrammar.GrammarMatcher(grammar)
            bitmask = xgrammar.allocate_token_bitmask(1, len(tokens))
            return lambda: matcher.fill_next_token_bitmask(bitmask), matcher.accept_token

        return session

    return compiled


ENGINES = {"pdacon": with_pdacon, "llguidance": with_llguidance, "xgrammar": with_xgrammar}


@pytest.fixture(scope="module", params=ENGINES.values(), ids=list(ENGINES))
def compiled(request: pytest.FixtureRequest, vocabulary: Tekken) -> Callable[[], Callable[[], Step]]:
    return request.param(vocabulary)


def replay(session: Callable[[], Step], texts: list[list[int]]) -> int:
    steps = 0
    for tokens in texts:
        fill, accept = session()
        for token in tokens:
            fill()
            assert accept(token)
            steps += 1
        fill()
    return steps


@pytest.mark.benchmark(group="compile and first mask")
def test_compile(benchmark: Any, compiled: Callable[[], Callable[[], Step]]) -> None:
    def run() -> None:
        fill, _ = compiled()()
        fill()

    benchmark(run)


@pytest.mark.benchmark(group="mask and accept, every step of 40 texts, warm")
def test_warm(benchmark: Any, compiled: Callable[[], Callable[[], Step]], texts: list[list[int]]) -> None:
    session = compiled()
    benchmark.extra_info["steps"] = replay(session, texts)
    benchmark(replay, session, texts)


@pytest.mark.benchmark(group="accept, every step of 40 texts, warm")
def test_accept(benchmark: Any, compiled: Callable[[], Callable[[], Step]], texts: list[list[int]]) -> None:
    session = compiled()
    replay(session, texts)

    def accept_all() -> None:
        for tokens in texts:
            _, accept = session()
            for token in tokens:
                accept(token)

    benchmark(accept_all)


@pytest.mark.benchmark(group="mask and accept, one text, fresh constraint")
def test_fresh(benchmark: Any, compiled: Callable[[], Callable[[], Step]], texts: list[list[int]]) -> None:
    compiled()

    def fresh() -> tuple[tuple[Callable[[], Step], list[list[int]]], dict[str, Any]]:
        return (compiled(), texts[:1]), {}

    benchmark.pedantic(replay, setup=fresh, rounds=20)


@pytest.fixture
def deep(vocabulary: Tekken) -> pdacon.Matcher:
    known = pdacon.Vocabulary.from_tokens(vocabulary.tokens, eos_ids=[vocabulary.eos])
    matcher = pdacon.compile(pdacon.Grammar.builtin("json"), known).matcher(max_rollback=0)
    assert matcher.accept_bytes(b"[" * 100_000)
    return matcher


@pytest.mark.benchmark(group="one mask below 100,000 open brackets")
def test_deep(benchmark: Any, deep: pdacon.Matcher) -> None:
    bitmask = np.zeros((1, 4096), np.int32)
    benchmark(deep.fill_bitmask, bitmask, 0)
