"""Token healing: what the tokenizer makes of prompt and answer together can be generated, across several tokens."""

from __future__ import annotations

from typing import Any

import pytest
from support.canonical_oracle import followers, require_equal_masks
from support.small_tokenizers import train_byte_fallback, train_byte_level
from transformers import PreTrainedTokenizerFast

import pdacon
from pdacon import Vocabulary
from pdacon.errors import VocabularyError
from pdacon.integrations.huggingface import generate, heal, load_tiny

ADDRESSES = ["See http://a.b/c and https://d.e/", "The URL is http://x.y now"] * 40


@pytest.fixture(scope="module")
def web() -> Any:
    made = train_byte_level("gpt2", ["<end>"], text=ADDRESSES)
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>")


@pytest.mark.parametrize("tokens", [1, 2, 3, 4])
def test_the_border_is_where_the_tokenizer_puts_it(web: Any, tokens: int) -> None:
    """``http:`` and ``//x``: the tokenizer has ``://``."""
    prompt, answers = "The URL is http:", ["//x.y", "//a.b/c", " none"]
    together = [web.encode(prompt + answer) for answer in answers]
    behind = pdacon.compile(pdacon.Grammar.from_choices(answers), tokenizer=web, canonical=True)
    assert behind.matcher().forced_tokens() != together[0][len(web.encode(prompt)) :]
    healed = heal(web, prompt, pdacon.Grammar.from_choices(answers), tokens)
    assert healed.prompt + healed.tail == prompt
    kept = web.encode(healed.prompt)
    assert len(kept) == len(web.encode(prompt)) - tokens
    assert all(ids[: len(kept)] == kept for ids in together)
    made = pdacon.compile(healed.grammar, tokenizer=web, canonical=True)
    expected = followers(answers, lambda answer: web.encode(prompt + answer)[len(kept) :], made.vocabulary.eos_ids[0])
    require_equal_masks(made, expected)
    plain = pdacon.compile(healed.grammar, tokenizer=web)
    for ids in together:
        assert plain.matcher().validate_tokens(ids[len(kept) :]) == len(ids) - len(kept)


def test_a_model_writes_the_end_of_the_prompt_anew() -> None:
    model, tokenizer = load_tiny()
    for prompt, tokens in (('Describe a person as JSON: {"na', 1), ('Describe a person as JSON: {"na', 2)):
        healed = heal(tokenizer, prompt, r'start: /[a-z]+": "[A-Z][a-z]+"\}/', tokens)
        answer = generate(model, tokenizer, healed.prompt, healed.grammar, temperature=0, max_tokens=40)
        assert answer.text.startswith(healed.tail)
        assert (healed.tail + "me").strip() in answer.text
    json = heal(tokenizer, 'A list: [1, "a', "json", 3)
    assert json.tail.endswith('"a')
    assert pdacon.compile(json.grammar, tokenizer=tokenizer, model=model).accepts(json.tail + '{"a": [2]}')


def test_odd_ends_of_prompts(web: Any) -> None:
    for prompt in ('say "\\', "line\n", "tab\t", "é", "日本", "del\x7f", "/*", "a'"):
        healed = heal(web, prompt, pdacon.Grammar.from_choices(["b"]))
        assert pdacon.compile(healed.grammar, Vocabulary.bytes()).accepts(healed.tail + "b")
        assert healed.prompt + healed.tail == prompt


def test_what_it_is_for(web: Any) -> None:
    with pytest.raises(ValueError, match="has not 2 tokens"):
        heal(web, "a", "json", 2)
    with pytest.raises(ValueError, match="has not 1 tokens"):
        heal(web, "", "json")
    with pytest.raises(ValueError, match="at least 1"):
        heal(web, "a", "json", 0)
    llama = PreTrainedTokenizerFast(tokenizer_object=train_byte_fallback(), eos_token="</s>")
    with pytest.raises(VocabularyError, match="takes a space"):
        heal(llama, "a", "json")
