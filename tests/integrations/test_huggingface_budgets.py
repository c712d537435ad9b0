"""No text is cut off where it has to be a sentence within its tokens."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import GenerationConfig

import pdacon
from pdacon.errors import MatcherError
from pdacon.integrations.huggingface import PDALogitsProcessor, generate


@pytest.fixture(scope="module")
def json(model: Any, tokenizer: Any) -> pdacon.Constraint:
    return pdacon.compile("json", tokenizer=tokenizer, model=model)


@pytest.mark.parametrize(
    "options", [{"seed": 1}, {"temperature": 0}, {"num_beams": 3}, {"seed": 2, "num_return_sequences": 4}]
)
def test_texts_are_complete_within_the_budget(
    model: Any, tokenizer: Any, json: pdacon.Constraint, options: dict[str, Any]
) -> None:
    for budget in (1, 2, 5, 30):
        texts = generate(
            model, tokenizer, ["A list:", "An object:"], constraint=json, max_tokens=budget, complete=True, **options
        )
        assert texts
        assert all(text.complete and json.accepts(text.text) for text in texts)


def test_a_prefix_does_not_count(model: Any, tokenizer: Any, json: pdacon.Constraint) -> None:
    text = generate(
        model, tokenizer, "", constraint=json, prefix='{"a": [[', max_tokens=4, complete=True, temperature=0
    )
    assert text.complete
    with pytest.raises(ValueError, match="nearest sentence takes"):
        generate(model, tokenizer, "", constraint=json, prefix='{"a": [[', max_tokens=1, complete=True)


@pytest.mark.parametrize(
    "options",
    [
        {"max_new_tokens": 5, "do_sample": True},
        {"max_new_tokens": 7, "num_beams": 3},
        {"max_new_tokens": 6, "do_sample": True, "num_return_sequences": 3},
        {"max_new_tokens": 9, "do_sample": False, "prompt_lookup_num_tokens": 3},
        {"max_new_tokens": 9, "do_sample": False, "assistant": True},
        {"generation_config": GenerationConfig(max_new_tokens=3, do_sample=True)},
    ],
    ids=["sampling", "beams", "several", "prompt lookup", "assistant", "configuration"],
)
def test_as_many_tokens_as_the_generation_may_have(
    model: Any, tokenizer: Any, json: pdacon.Constraint, options: dict[str, Any]
) -> None:
    prompt = tokenizer("A list: [1, [", return_tensors="pt")
    columns = prompt["input_ids"].shape[1]
    processor = PDALogitsProcessor(json, max_tokens="generation", model=model, tokenizer=tokenizer)
    options = dict(options)
    if options.pop("assistant", False):
        options["assistant_model"] = model
    for _ in range(2):  # the second one has another length
        torch.manual_seed(0)
        rows = model.generate(**prompt, logits_processor=[processor], **options)
        for row in rows[:, columns:].tolist():
            ids = [token for token in row if token not in json.vocabulary.eos_ids]
            assert json.accepts(json.vocabulary.decode(ids))
        if "max_new_tokens" in options:
            options["max_new_tokens"] -= 3
    with pytest.raises(MatcherError, match="none calls"):
        processor(torch.tensor([[1, 2, 3]]), torch.zeros(1, model.config.vocab_size))


def test_budgets_of_a_processor(model: Any, tokenizer: Any, json: pdacon.Constraint) -> None:
    prompt = tokenizer("A list:", return_tensors="pt")
    for budget in ({"max_bytes": 12}, {"max_bytes": 30, "soft": 5}, {"max_tokens": 20, "soft": 2}):
        processor = PDALogitsProcessor(json, model=model, tokenizer=tokenizer, **budget)  # type: ignore[arg-type]
        ids = model.generate(**prompt, max_new_tokens=60, num_beams=2, do_sample=True, logits_processor=[processor])
        text = json.vocabulary.decode(ids[0, prompt["input_ids"].shape[1] :].tolist())
        assert json.accepts(text)
        assert len(text) <= budget.get("max_bytes", len(text))
    for wrong in ({"max_tokens": "all"}, {"soft": 3}, {"max_tokens": 3, "max_bytes": 3}):
        with pytest.raises(ValueError, match=r"max_tokens|budget"):
            PDALogitsProcessor(json, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="complete=True"):
        generate(model, tokenizer, "A list:", constraint=json, soft=3)
    answer = generate(
        model, tokenizer, "A list:", constraint=json, max_tokens=30, complete=True, soft=0, seed=1, diagnostics=True
    )
    assert answer.complete
    assert answer.diagnostics.log_prob <= answer.diagnostics.constrained_log_prob


def test_a_processor_of_its_own(model: Any, tokenizer: Any, json: pdacon.Constraint) -> None:
    prompt = tokenizer("A list:", return_tensors="pt")
    processor = PDALogitsProcessor(json, max_tokens=6, model=model, tokenizer=tokenizer)
    ids = model.generate(**prompt, max_new_tokens=6, do_sample=True, logits_processor=[processor])
    answer = ids[0, prompt["input_ids"].shape[1] :].tolist()
    assert json.accepts(json.vocabulary.decode(answer))


@pytest.mark.parametrize(
    "options", [{"seed": 1}, {"temperature": 0}, {"num_beams": 3}, {"seed": 2, "num_return_sequences": 4}]
)
def test_canonical_texts_are_complete_within_the_budget(model: Any, tokenizer: Any, options: dict[str, Any]) -> None:
    canonical = pdacon.compile("json", tokenizer=tokenizer, model=model, canonical=True)
    for budget in (1, 4, 20):
        for text in generate(
            model, tokenizer, ["A list:", "{"], constraint=canonical, max_tokens=budget, complete=True, **options
        ):
            assert text.complete
            assert canonical.accepts(text.text)
            ids = [token for token in text.token_ids if token not in canonical.vocabulary.eos_ids]
            assert ids == tokenizer.encode(text.text, add_special_tokens=False)


def test_forced_tokens_and_drafts_keep_canonical_budgets(model: Any, tokenizer: Any) -> None:
    record = pdacon.Grammar.from_json_schema({"properties": {"name": {"type": "string"}}, "required": ["name"]})
    canonical = pdacon.compile(record, tokenizer=tokenizer, model=model, canonical=True)
    least = canonical.matcher().least_tokens()
    plain = generate(model, tokenizer, "A:", constraint=canonical, max_tokens=least + 3, complete=True, temperature=0)
    for options in ({"skip_forced": True}, {"prompt_lookup_num_tokens": 4}):
        found = generate(
            model, tokenizer, "A:", constraint=canonical, max_tokens=least + 3, complete=True, temperature=0, **options
        )
        assert found.complete
        assert found.text == plain.text
