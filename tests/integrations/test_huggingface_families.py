"""Tokenizers of each family: what is constrained is the text that the tokenizer decodes from the generated ids."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch
from support.lark_oracle import accepts
from support.small_tokenizers import FAMILIES, TEXT, end_of
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

import pdacon
from pdacon.integrations.huggingface import PDALogitsProcessor, generate, vocabulary

WORDS = pdacon.Grammar.from_lark('start: word (" " word)*\nword: /[a-z]{1,5}/\n')
# A WordLevel tokenizer joins what it decodes by spaces and cannot spell short words of any letters.
SPELLING = [name for name in FAMILIES if name != "WordLevel"]
# These decode some tokens to something else where they are the first ones; Vocabulary.notes says so.
UNLIKE_THEIR_BYTES = ("WordPiece", "Metaspace, not split")


def loaded(name: str, architecture: str = "llama") -> tuple[Any, Any]:
    backend = FAMILIES[name](TEXT)
    end = end_of(backend)
    word = backend.id_to_token(end)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token=word, pad_token=word)
    torch.manual_seed(0)
    special = {"eos_token_id": end, "pad_token_id": end, "bos_token_id": end, "vocab_size": 512}
    if architecture == "t5":
        sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
        return T5ForConditionalGeneration(T5Config(decoder_start_token_id=end, **sizes, **special)).eval(), tokenizer
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(**sizes, **special)).eval(), tokenizer


@pytest.mark.parametrize("architecture", ["llama", "t5"])
@pytest.mark.parametrize("name", SPELLING)
def test_the_text_is_what_the_tokenizer_decodes(name: str, architecture: str) -> None:
    """In every family some texts begin with a token that has a space, where the tokenizer takes that away."""
    model, tokenizer = loaded(name, architecture)
    vocab = vocabulary(model, tokenizer)
    constraint = pdacon.compile(WORDS, vocab)
    spaced = 0
    for options in (
        {"num_return_sequences": 40, "seed": 0},
        {"num_beams": 4, "num_return_sequences": 4},
        {"num_beams": 4, "num_return_sequences": 4, "temperature": 1.0, "seed": 0},
    ):
        texts = generate(model, tokenizer, "the lazy dog", grammar=constraint, max_tokens=8, **options)
        for one in texts:
            first = vocab.tokens[one.token_ids[0]]
            spaced += first is not None and first.startswith(b" ")
            assert not one.complete or accepts(WORDS, one.text)
            if not name.startswith(UNLIKE_THEIR_BYTES):
                assert tokenizer.decode(list(one.token_ids), skip_special_tokens=True) == one.text
        assert any(one.complete for one in texts)
    assert vocab.strip_leading_space or not spaced
    assert spaced or not vocab.strip_leading_space or architecture == "t5"  # whose weights are tied: it repeats itself


@pytest.mark.parametrize("name", ["byte fallback, Llama 2", "Metaspace, first", "byte-level BPE, GPT-2"])
def test_the_space_of_those_who_decode_prompt_and_answer_together(name: str) -> None:
    model, tokenizer = loaded(name)
    constraint = pdacon.compile(WORDS, vocabulary(model, tokenizer))
    batch = tokenizer("the lazy dog", return_tensors="pt", return_token_type_ids=False)
    torch.manual_seed(0)
    rows = model.generate(
        **batch,
        do_sample=True,
        num_return_sequences=30,
        max_new_tokens=8,
        logits_processor=[PDALogitsProcessor(constraint, strip_leading_space=False)],
    )
    prompt = tokenizer.decode(batch["input_ids"][0])
    whole = tokenizer.batch_decode(rows, skip_special_tokens=True)
    ended = [text.removeprefix(prompt) for text, row in zip(whole, rows.tolist(), strict=True) if row[-1] == row[-2]]
    assert ended
    assert all(accepts(WORDS, text) for text in ended)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["byte fallback, Llama 2", "Metaspace, always", "byte-level BPE, Llama 3"])
def test_pieces_of_a_text_lose_no_space(name: str) -> None:
    """Handed on piece by piece, and cut off and continued after each token, the text is what it is in one piece."""
    model, tokenizer = loaded(name)
    constraint = pdacon.compile(WORDS, vocabulary(model, tokenizer))
    for seed in range(12):
        pieces: list[str] = []
        (one,) = generate(model, tokenizer, "the", grammar=constraint, seed=seed, max_tokens=8, on_text=pieces.append)
        assert "".join(pieces) == one.text
        (text,) = generate(model, tokenizer, "the", grammar=constraint, seed=seed, max_tokens=1)
        while text.token_ids[-1] not in constraint.vocabulary.eos_ids and len(text.token_ids) < 8:
            pieces = []
            (longer,) = generate(
                model,
                tokenizer,
                "the",
                grammar=constraint,
                seed=seed,
                max_tokens=1,
                prefix=text,
                on_text=pieces.append,
            )
            assert text.text + "".join(pieces) == longer.text
            text = longer
        assert not text.complete or accepts(WORDS, text.text)
        (written,) = generate(model, tokenizer, "the", grammar=constraint, seed=seed, max_tokens=8, prefix="lazy")
        assert written.text.startswith("lazy")
        assert not written.complete or accepts(WORDS, written.text)


def test_a_word_that_becomes_special_makes_a_new_vocabulary(model: Any, tokenizer: Any) -> None:
    tokenizer = deepcopy(tokenizer)  # that of all tests
    (token,) = tokenizer.encode("a", add_special_tokens=False)
    before = vocabulary(model, tokenizer)
    assert vocabulary(model, tokenizer) is before
    assert before.tokens[token] == b"a"
    tokenizer.add_special_tokens({"sep_token": "a"})
    assert vocabulary(model, tokenizer).tokens[token] is None
