from __future__ import annotations

import copy
import threading
from typing import Any

import pytest
import torch
from support.finite_languages import SentenceConstraint

import pdacon
from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError
from pdacon.frontends.json_schema import Schema
from pdacon.integrations.huggingface import Generation, generate, generate_batch, vocabulary
from pdacon.integrations.huggingface.seeds import Seeded


@pytest.fixture
def emoji(model: Any, tokenizer: Any) -> SentenceConstraint:
    """Characters of four bytes, which take several tokens each."""
    return SentenceConstraint(vocabulary(model, tokenizer), ["𝄞𝄞𝄞𝄞", "€uro"])


def test_the_vocabulary_is_as_wide_as_the_logits_and_ends_as_generate_does(model: Any, tokenizer: Any) -> None:
    vocab = vocabulary(model, tokenizer)
    assert isinstance(vocab, Vocabulary)
    assert vocab.size == model.config.vocab_size == 512
    assert vocab.eos_ids == tuple(model.generation_config.eos_token_id)


@pytest.mark.parametrize("prompt", ["Say something:", ""])
@pytest.mark.parametrize("temperature", [0, 0.7, 1.0])
def test_one_text(model: Any, tokenizer: Any, constraint: Any, prompt: str, temperature: float) -> None:
    (only,) = generate(model, tokenizer, prompt, grammar=constraint, seed=3, temperature=temperature)
    assert isinstance(only, Generation)
    assert only.complete
    assert only.text.encode() in constraint.sentences
    assert only.token_ids[-1] in constraint.vocabulary.eos_ids
    assert constraint.vocabulary.decode(only.token_ids).decode() == only.text


def test_several_texts(model: Any, tokenizer: Any, constraint: Any) -> None:
    texts = generate(model, tokenizer, "Hi", grammar=constraint, seed=0, num_return_sequences=10)
    assert len(texts) == 10
    assert all(one.complete and one.text.encode() in constraint.sentences for one in texts)
    assert len({one.text for one in texts}) > 1


def test_a_seed_repeats_and_leaves_the_global_state_alone(model: Any, tokenizer: Any, constraint: Any) -> None:
    torch.manual_seed(42)
    state = torch.get_rng_state()
    runs = [generate(model, tokenizer, "Hi", grammar=constraint, seed=s, num_return_sequences=5) for s in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert torch.equal(torch.get_rng_state(), state)
    generate(model, tokenizer, "Hi", grammar=constraint)
    assert not torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("options", [{}, {"num_beams": 2, "temperature": 1.0}, {"assistant_model": True}])
def test_a_seed_repeats_in_threads(model: Any, tokenizer: Any, constraint: Any, options: dict[str, Any]) -> None:
    """Whatever other threads draw meanwhile, with seeds or from the global state; that one is as it was left."""
    if "assistant_model" in options:
        options = {"assistant_model": model}
    seeds = range(6)
    alone = [generate(model, tokenizer, "Hi", grammar=constraint, seed=seed, **options) for seed in seeds]
    barrier = threading.Barrier(3)
    together: list[Any] = [None] * len(seeds)

    def run(first: int) -> None:
        for seed in range(first, len(seeds), 3):
            barrier.wait(60)
            together[seed] = generate(model, tokenizer, "Hi", grammar=constraint, seed=seed, **options)

    torch.manual_seed(42)
    drawn = torch.rand(1000)
    torch.manual_seed(42)
    threads = [threading.Thread(target=run, args=(first,)) for first in range(3)]
    for thread in threads:
        thread.start()
    meanwhile = torch.cat([torch.rand(10) for _ in range(100)])
    for thread in threads:
        thread.join(60)
    assert together == alone
    assert torch.equal(meanwhile, drawn)


@pytest.mark.parametrize("seed", ["1", 1.5, 2**70])
def test_what_is_no_seed_is_refused_before_anything_is_drawn(
    model: Any, tokenizer: Any, constraint: Any, seed: Any
) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError, RuntimeError)):
        generate(model, tokenizer, "Hi", grammar=constraint, seed=seed, temperature=0)


def test_a_seed_brings_the_numbers_of_the_global_state() -> None:
    def draw() -> list[torch.Tensor]:
        chances = torch.tensor([0.1, 0.2, 0.7]).repeat(5, 1)
        return [
            torch.multinomial(chances, 2),
            chances.multinomial(1),
            torch.rand_like(chances),
            torch.randn_like(chances, dtype=torch.float64),
            torch.bernoulli(chances),
            torch.rand(3),
            torch.rand((2, 2), device="cpu"),
            torch.randint(9, (3,)),
            torch.empty(4).exponential_(),
        ]

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        expected = draw()
    state = torch.get_rng_state()
    with Seeded(7):
        found = draw()
    assert all(map(torch.equal, found, expected))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.slow
def test_what_max_tokens_cuts_is_incomplete_whole_characters(model: Any, tokenizer: Any, emoji: Any) -> None:
    whole = {sentence.decode() for sentence in emoji.sentences}
    for max_tokens in range(1, 20):
        (only,) = generate(model, tokenizer, "Hi", grammar=emoji, seed=5, max_tokens=max_tokens)
        assert len(only.token_ids) <= max_tokens
        assert any(sentence.startswith(only.text) for sentence in whole)
        assert only.complete == (only.text in whole)


@pytest.mark.parametrize("max_tokens", [3, 5, 40])
def test_text_is_handed_on_while_it_is_generated(model: Any, tokenizer: Any, emoji: Any, max_tokens: int) -> None:
    pieces: list[str] = []
    (only,) = generate(model, tokenizer, "Hi", grammar=emoji, seed=5, max_tokens=max_tokens, on_text=pieces.append)
    assert "".join(pieces) == only.text
    assert all(pieces)
    assert max_tokens < 40 or len(pieces) > 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"temperature": -1}, "temperature is -1"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"num_return_sequences": 0}, "num_return_sequences is 0"),
        ({"num_return_sequences": 2, "temperature": 0}, "one text only"),
        ({"num_return_sequences": 2, "on_text": print}, "one text only"),
    ],
)
def test_numbers_out_of_range(model: Any, tokenizer: Any, constraint: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        generate(model, tokenizer, "Hi", grammar=constraint, **options)


def test_a_constraint_for_another_vocabulary_is_refused(model: Any, tokenizer: Any) -> None:
    alone = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
    other = pdacon.compile(pdacon.Grammar.from_lark('start: "hello"'), alone)
    with pytest.raises(
        VocabularyError, match=r"another vocabulary, of 257 tokens: in it token \d+ is .*; compile it for"
    ):
        generate(model, tokenizer, "Hi", grammar=other)
    for given in (other, [other]):
        with pytest.raises(VocabularyError, match="another vocabulary"):
            generate_batch(model, tokenizer, ["Hi"], grammar=given)
    with pytest.raises(VocabularyError, match="another vocabulary"):
        generate(model, tokenizer, "Hi", grammar=[other])


def test_a_tokenizer_with_more_ids_than_the_model_has_columns(model: Any, tokenizer: Any, constraint: Any) -> None:
    """The model never gives those ids; what the others mean is compared all the same, and a prompt has none of them."""
    wide = copy.deepcopy(tokenizer)
    wide.add_tokens([f"<extra {k}>" for k in range(300)])
    assert len(wide) > model.config.vocab_size
    (text,) = generate(model, wide, "Hi", grammar=constraint)
    assert text.text.encode() in constraint.sentences
    swapped = list(constraint.vocabulary.tokens)
    swapped[40], swapped[41] = swapped[41], swapped[40]
    grammar = pdacon.Grammar.from_lark('start: "hello"')
    other = pdacon.compile(grammar, Vocabulary.from_tokens(swapped, eos_ids=constraint.vocabulary.eos_ids))
    for run in (generate, generate_batch):
        with pytest.raises(VocabularyError, match=r"another vocabulary.* in it token 40 is"):
            run(model, wide, ["Hi"], grammar=other)
        with pytest.raises(VocabularyError, match=r"token 682 \('<extra 290>'\), and the model knows 512 tokens only"):
            run(model, wide, ["Hi <extra 290>"], grammar=constraint)
        with pytest.raises(VocabularyError, match="size=512 is too small"):
            run(model, wide, ["Hi"], grammar=grammar)


def test_texts_are_compared_though_the_tokenizer_names_no_end(model: Any, tokenizer: Any, constraint: Any) -> None:
    endless, unending = copy.deepcopy(tokenizer), copy.deepcopy(model)
    endless.eos_token, unending.generation_config.eos_token_id = None, None
    swapped = list(constraint.vocabulary.tokens)
    swapped[40], swapped[41] = swapped[41], swapped[40]
    vocabulary = Vocabulary.from_tokens(swapped, eos_ids=constraint.vocabulary.eos_ids)
    other = pdacon.compile(pdacon.Grammar.from_lark('start: "hello"'), vocabulary)
    with pytest.raises(VocabularyError, match=r"another vocabulary.* in it token 40 is"):
        generate(unending, endless, "Hi", grammar=other)
    (text,) = generate(unending, endless, "Hi", grammar=constraint)
    assert text.text.encode() in constraint.sentences


def test_a_constraint_may_end_otherwise_and_allow_less(model: Any, tokenizer: Any) -> None:
    full = vocabulary(model, tokenizer)
    end = tokenizer.pad_token_id
    fewer = Vocabulary.from_tokens([text if text and len(text) == 1 else None for text in full.tokens], eos_ids=[end])
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: "hello"'), fewer)
    (only,) = generate(model, tokenizer, "Hi", grammar=constraint)
    assert (only.text, len(only.token_ids), only.token_ids[-1]) == ("hello", 6, end)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("jsno", r"no built-in grammar 'jsno'; did you mean json"),
        ("my.lark", r"neither the name of a built-in grammar nor the text of one; .*pathlib\.Path\('my\.lark'\)"),
        ("C:\\my.lark", r"neither the name of a built-in grammar nor the text of one"),
    ],
)
def test_a_name_is_not_the_text_of_a_grammar(model: Any, tokenizer: Any, name: str, words: str) -> None:
    """And a str is never taken for a path: a text from elsewhere must not decide which files are read."""
    with pytest.raises(ValueError, match=words):
        generate(model, tokenizer, "Hi", grammar=name)


def test_stop_strings(model: Any, tokenizer: Any) -> None:
    grammar = 'start: "abc" "abc" "x"'
    texts = generate(model, tokenizer, ["Hi", "Hello"], grammar=grammar, stop_strings=["c"], temperature=0)
    assert [(one.text[:3], one.complete) for one in texts] == [("abc", False)] * 2
    assert all(len(one.text) < 7 for one in texts)


def test_batches_have_no_beams(model: Any, tokenizer: Any, constraint: Any) -> None:
    with pytest.raises(ValueError, match="no beams"):
        generate_batch(model, tokenizer, ["Hi"], grammar=constraint, num_beams=2)


def test_what_is_read_on_demand_stays_so(model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of masks on the device, texts, values: nothing of it needs the whole."""

    def whole(_: Any) -> Any:
        raise AssertionError("the grammar as a whole was made")

    monkeypatch.setattr(Schema, "grammar", whole)
    schema = {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": False}
    constraint = pdacon.compile(pdacon.Grammar.from_json_schema(schema), vocabulary(model, tokenizer))
    texts = generate(model, tokenizer, "Hi", grammar=constraint, seed=0, max_new_tokens=40, num_return_sequences=4)
    assert all(text.complete for text in texts)
    assert {text.value["a"] for text in texts} <= {1, 2}
    assert constraint.matcher()._is_nested()
    assert len(constraint.mask_table()) == constraint.statistics()["distinct_masks"] > 1
