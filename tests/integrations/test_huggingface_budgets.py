"""No text is cut off where it has to be a sentence within its tokens."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import GenerationConfig

import pdacon
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
            model, tokenizer, ["A list:", "An object:"], grammar=json, budget=pdacon.Budget(tokens=budget), **options
        )
        assert texts
        assert all(text.complete and json.accepts(text.text) for text in texts)


def test_a_prefix_does_not_count(model: Any, tokenizer: Any, json: pdacon.Constraint) -> None:
    text = generate(
        model, tokenizer, "", grammar=json, prefix='{"a": [[', budget=pdacon.Budget(tokens=4), temperature=0
    )
    assert text.complete
    with pytest.raises(ValueError, match="nearest sentence takes"):
        generate(model, tokenizer, "", grammar=json, prefix='{"a": [[', budget=pdacon.Budget(tokens=1))


def test_budgets_of_a_processor(model: Any, tokenizer: Any, json: pdacon.Constraint) -> None:
    prompt = tokenizer("A list:", return_tensors="pt")
    for budget in (pdacon.Budget(bytes=12), pdacon.Budget(bytes=30, soft=5), pdacon.Budget(tokens=20, soft=2)):
        processor = PDALogitsProcessor(json, model=model, tokenizer=tokenizer, budget=budget)
        ids = model.generate(**prompt, max_new_tokens=60, num_beams=2, do_sample=True, logits_processor=[processor])
        text = json.vocabulary.decode(ids[0, prompt["input_ids"].shape[1] :].tolist())
        assert json.accepts(text)
        assert len(text) <= (budget.bytes or len(text))
    for wrong in (20, "generation"):
        with pytest.raises(TypeError, match=r"budget must be a pdacon.Budget"):
            PDALogitsProcessor(json, budget=wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"generate: budget must be a pdacon.Budget"):
            generate(model, tokenizer, "A list:", grammar=json, budget=wrong)
    for name in ("max_tokens", "max_new_tokens"):
        with pytest.raises(TypeError, match=f"budget says how long a text may get; leave {name} out"):
            generate(model, tokenizer, "A list:", grammar=json, budget=pdacon.Budget(tokens=9), **{name: 9})
    answer = generate(
        model, tokenizer, "A list:", grammar=json, budget=pdacon.Budget(tokens=30, soft=0), seed=1, diagnostics=True
    )
    assert answer.complete
    assert answer.diagnostics.log_prob <= answer.diagnostics.constrained_log_prob


@pytest.mark.parametrize("options", [{"seed": 1}, {"temperature": 0}, {"num_beams": 3}])
def test_texts_are_complete_within_bytes(
    model: Any, tokenizer: Any, json: pdacon.Constraint, options: dict[str, Any]
) -> None:
    for most in (1, 2, 9):
        (text,) = generate(model, tokenizer, "A list:", grammar=json, budget=pdacon.Budget(bytes=most), **options)
        assert text.complete
        assert json.accepts(text.text)
        assert len(text.text.encode()) <= most


def test_a_budget_says_how_many_tokens(model: Any, tokenizer: Any, json: pdacon.Constraint) -> None:
    """In place of what a configuration, and a Generator for all its calls, say."""
    config = GenerationConfig(max_new_tokens=1)
    budget = pdacon.Budget(tokens=6)
    alone = generate(model, tokenizer, "A list:", grammar=json, budget=budget, seed=4)
    assert len(alone.token_ids) > 1
    assert generate(model, tokenizer, "A list:", grammar=json, budget=budget, seed=4, generation_config=config) == alone
    write = pdacon.Generator(model, tokenizer, json, max_new_tokens=1)
    assert write("A list:", budget=budget, seed=4) == alone
    kept = pdacon.Generator(model, tokenizer, json, budget=budget)
    assert kept("A list:", seed=4) == alone
    with pytest.raises(TypeError, match="budget says how long a text may get; leave max_tokens out"):
        kept("A list:", max_tokens=3)


def test_a_processor_of_its_own(model: Any, tokenizer: Any, json: pdacon.Constraint) -> None:
    prompt = tokenizer("A list:", return_tensors="pt")
    processor = PDALogitsProcessor(json, budget=pdacon.Budget(tokens=6), model=model, tokenizer=tokenizer)
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
            model, tokenizer, ["A list:", "{"], grammar=canonical, budget=pdacon.Budget(tokens=budget), **options
        ):
            assert text.complete
            assert canonical.accepts(text.text)
            ids = [token for token in text.token_ids if token not in canonical.vocabulary.eos_ids]
            assert ids == tokenizer.encode(text.text, add_special_tokens=False)


def test_forced_tokens_and_drafts_keep_canonical_budgets(model: Any, tokenizer: Any) -> None:
    record = pdacon.Grammar.from_json_schema({"properties": {"name": {"type": "string"}}, "required": ["name"]})
    canonical = pdacon.compile(record, tokenizer=tokenizer, model=model, canonical=True)
    least = canonical.matcher().least_tokens()
    plain = generate(model, tokenizer, "A:", grammar=canonical, budget=pdacon.Budget(tokens=least + 3), temperature=0)
    for options in ({"skip_forced": True}, {"prompt_lookup_num_tokens": 4}):
        found = generate(
            model,
            tokenizer,
            "A:",
            grammar=canonical,
            budget=pdacon.Budget(tokens=least + 3),
            temperature=0,
            **options,
        )
        assert found.complete
        assert found.text == plain.text
