"""Grammars with labels and sets of texts under transformers: what comes is in the grammar, token by token."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

import pdacon
from pdacon import Grammar, Vocabulary
from pdacon.integrations.huggingface import PDALogitsProcessor, load_tiny

GRAMMARS = {
    "as printed": r"/Summary:(\n\* (?P<PARAGRAPH_TOKEN>)+){3,5}/",
    "any token": r"/x(?P<TEXT_TOKEN>){3}y/",
    "a special token": r"/(?P<TOKEN><|pad|>)[a-z]{1,4}(?P<TOKEN><|begin|>)/",
    "a label": r"/[0-9]+(?P<VOWEL>){2}!/",
    "substrings": r"/(?P<SUBSTRING_OF>hello there, wörld)\.(?P<PARAGRAPH_TOKEN>)/",
}
TEXTS = {
    "as printed": r"Summary:(\n\* [^\n]+){3,5}",
    "any token": r"x[^\0]{3,}y",
    "a special token": r"[a-z]{1,4}",
    "a label": r"[0-9]+!",
    "substrings": r"[helo twörd,]{1,18}\.[^\n]+",
}


@pytest.fixture(scope="module")
def host() -> tuple[Any, Any, Vocabulary]:
    model, tokenizer = load_tiny()
    vocabulary = Vocabulary.from_huggingface(tokenizer, size=model.config.vocab_size)
    empty = [token for token, text in enumerate(vocabulary.tokens) if not text and token not in vocabulary.eos_ids]
    return model, tokenizer, vocabulary.with_labels(VOWEL=empty)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "eager"), [*((name, False) for name in GRAMMARS), ("as printed", True)])
def test_what_is_generated_is_in_the_grammar(host: tuple[Any, Any, Vocabulary], name: str, eager: bool) -> None:
    model, tokenizer, vocabulary = host
    grammar = Grammar.from_lark(f"start: S\nS: {GRAMMARS[name]}", extensions=True)
    constraint = pdacon.compile(grammar, vocabulary, eager=eager)
    if eager:
        assert constraint.statistics()["situations_left"] == 0
    prompt = tokenizer(["Write", "Write:"], return_tensors="pt", padding=True, padding_side="left")
    length = prompt["input_ids"].shape[1]
    for options in ({"do_sample": False}, {"do_sample": True}, {"num_beams": 3, "do_sample": False}):
        torch.manual_seed(5)
        processor = PDALogitsProcessor(constraint, num_beams=options.get("num_beams"))
        rows = model.generate(**prompt, max_new_tokens=20, logits_processor=[processor], **options)
        assert len(rows) == 2
        for row in rows[:, length:].tolist():
            end = next((at for at, token in enumerate(row) if token in vocabulary.eos_ids), len(row))
            matcher = constraint.matcher()
            assert matcher.validate_tokens(row[:end]) == end > 0
            assert all(map(matcher.accept_token, row[:end]))
            if end < len(row):
                assert matcher.is_accepting()
                assert re.fullmatch(TEXTS[name], matcher.text), matcher.text


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_computed_beforehand_are_those_computed_when_needed(host: tuple[Any, Any, Vocabulary], name: str) -> None:
    """Along walks through tokens that are allowed, whichever are first in an order that differs from place to place."""
    vocabulary = host[2]
    grammar = Grammar.from_lark(f"start: S\nS: {GRAMMARS[name]}", extensions=True)
    later, before = (pdacon.compile(grammar, vocabulary, eager=eager) for eager in (False, True))
    computed = before.statistics()["masks_computed"]
    for walk in range(8):
        one, other = later.matcher(), before.matcher()
        for step in range(20):
            allowed = one.allowed_tokens()
            assert allowed == other.allowed_tokens()
            token = allowed[(walk * 7919 + step * 104_729) % len(allowed)]
            assert one.accept_token(token)
            assert other.accept_token(token)
            if one.is_terminated():
                break
    assert before.statistics()["masks_computed"] == computed
