"""The model that comes with pdacon, and the text it was trained on."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers.utils import logging

import pdacon
from pdacon.integrations.huggingface import generate, load_tiny, tiny_path, vocabulary

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMPTS = ["Describe a person as JSON:", "Write an order as JSON:", "JSON:"]


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    return load_tiny()


def compiled(tiny: tuple[Any, Any], grammar: str) -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin(grammar), vocabulary(*tiny))


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_it_is_small_and_whole() -> None:
    sizes = {path.name: path.stat().st_size for path in tiny_path().iterdir()}
    assert sum(sizes.values()) <= 5_000_000
    assert {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "README.md"} <= set(sizes)


def test_loading_it_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    logging.enable_progress_bar()
    load_tiny()
    assert logging.is_progress_bar_enabled()
    assert capsys.readouterr() == ("", "")


def test_its_vocabulary_is_exact(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    vocab = vocabulary(model, tokenizer)
    assert vocab.size == model.config.vocab_size
    assert vocab.eos_ids == (tokenizer.eos_token_id,)
    text = '{"name": "Zoë", "tags": ["日本語", "🙂"]}'
    assert vocab.decode(tokenizer(text)["input_ids"]).decode() == text


@pytest.mark.slow
@pytest.mark.parametrize("prompt", PROMPTS)
def test_constrained_it_writes_json_only(tiny: tuple[Any, Any], prompt: str) -> None:
    constraint = compiled(tiny, "json")
    texts = generate(*tiny, prompt, grammar=constraint, seed=0, num_return_sequences=8, max_tokens=300)
    assert sum(one.complete for one in texts) >= 7
    assert all(is_json(one.text) for one in texts if one.complete)
    assert len({one.text for one in texts}) > 4


@pytest.mark.slow
def test_another_grammar_makes_it_write_something_else(tiny: tuple[Any, Any]) -> None:
    constraint = compiled(tiny, "arithmetic")
    texts = generate(*tiny, PROMPTS[0], grammar=constraint, seed=0, num_return_sequences=8, max_tokens=60)
    assert not any("{" in one.text for one in texts)
    assert any(one.complete for one in texts)


@pytest.mark.slow
def test_unconstrained_it_writes_mostly_json(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    batch = tokenizer(PROMPTS * 6, return_tensors="pt", padding=True)
    torch.manual_seed(0)
    rows = model.generate(
        input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=300, do_sample=True
    )
    texts = tokenizer.batch_decode(rows[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
    assert sum(map(is_json, texts)) > len(texts) / 2


def test_the_corpus_is_fixed_by_its_seed_and_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, "tiny_corpus", raising=False)
    import tiny_corpus  # type: ignore[import-not-found]

    documents = list(islice(tiny_corpus.documents(7), 500))
    assert documents == list(islice(tiny_corpus.documents(7), 500))
    assert documents != list(islice(tiny_corpus.documents(8), 500))
    answers = [answer for _, answer in documents]
    assert sum(is_json(answer) and answer[0] in "{[" for answer in answers) > 400
    vocab = pdacon.Vocabulary.from_tokens([bytes([b]) for b in range(256)] + [None], eos_ids=[256])
    arithmetic = pdacon.compile(pdacon.Grammar.builtin("arithmetic"), vocab)
    for answer in answers:
        if not is_json(answer):
            matcher = arithmetic.matcher()
            assert matcher.accept_bytes(answer.encode())
            assert matcher.is_accepting()
