"""No text is cut off where it has to be a sentence within its tokens."""

from __future__ import annotations

from typing import Any

import pytest

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


def test_a_processor_of_its_own(model: Any, tokenizer: Any, json: pdacon.Constraint) -> None:
    prompt = tokenizer("A list:", return_tensors="pt")
    processor = PDALogitsProcessor(json, max_tokens=6, model=model, tokenizer=tokenizer)
    ids = model.generate(**prompt, max_new_tokens=6, do_sample=True, logits_processor=[processor])
    answer = ids[0, prompt["input_ids"].shape[1] :].tolist()
    assert json.accepts(json.vocabulary.decode(answer))
