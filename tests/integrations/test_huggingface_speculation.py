"""Speculation in transformers under a constraint: the same texts as without it, masks once for each place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.chi_square import is_far

import pdacon
from pdacon.integrations.huggingface import Draft, PDALogitsProcessor, generate, load_tiny

TEXTS = ["aa", "ab", "abab", "ba", "b", "abb"]
PROMPT = "ab abab ab"  # in which prompt lookup finds something


@pytest.fixture(scope="module")
def finite(model: Any, tokenizer: Any) -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.from_choices(TEXTS), tokenizer=tokenizer, model=model)


@pytest.fixture(scope="module")
def assistant(model: Any) -> Any:
    """Another model that wants other things: its weights are those of the model with noise."""
    other = type(model)(model.config).eval()
    other.load_state_dict(model.state_dict())
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    return other


def distribution(model: Any, tokenizer: Any, constraint: pdacon.Constraint) -> dict[str, float]:
    """How often each text is to be generated: a pass of the model for each beginning, divided by what is allowed."""
    prompt, found = tokenizer(PROMPT)["input_ids"], dict.fromkeys(TEXTS, 0.0)
    waiting = [((), 1.0)]
    while waiting:
        ids, probability = waiting.pop()
        matcher = constraint.matcher()
        assert all(matcher.accept_token(token) for token in ids)
        with torch.no_grad():
            chances = model(torch.tensor([[*prompt, *ids]])).logits[0, -1].double().softmax(dim=0)
        allowed = matcher.allowed_tokens()
        kept = math.fsum(chances[allowed].tolist())
        for token in allowed:
            behind = probability * float(chances[token]) / kept
            if token in constraint.vocabulary.eos_ids:
                found[constraint.vocabulary.decode(ids).decode()] += behind
            else:
                waiting.append(((*ids, token), behind))
    assert math.fsum(found.values()) == pytest.approx(1)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["assistant", "prompt lookup", "draft"])
def test_sampled_texts_are_distributed_as_without_it(
    model: Any,
    tokenizer: Any,
    finite: pdacon.Constraint,
    assistant: Any,
    mode: str,
    scaled: Callable[[int], int],
) -> None:
    options: dict[str, Any] = {
        "assistant": {"assistant_model": assistant},
        "prompt lookup": {"prompt_lookup_num_tokens": 3},
        "draft": {"draft": Draft(finite, tokenizer, most=3, samples=5)},
    }[mode]
    expected = distribution(model, tokenizer, finite)
    counts: Counter[str] = Counter()
    for seed in range(scaled(125)):
        answer = generate(model, tokenizer, PROMPT, grammar=finite, seed=seed, max_tokens=10, **options)
        assert answer.complete
        counts[answer.text] += 1
    assert is_far(counts, expected) < 4, (counts, expected)


@pytest.mark.parametrize("mode", ["assistant", "the model itself", "prompt lookup"])
def test_masks_are_computed_once_for_each_place(model: Any, tokenizer: Any, assistant: Any, mode: str) -> None:
    """Who drafts and who verifies ask for the same masks: what is computed for one is there for the other."""
    options: dict[str, Any] = {
        "assistant": {"assistant_model": assistant},
        "the model itself": {"assistant_model": model},
        "prompt lookup": {"prompt_lookup_num_tokens": 3},
    }[mode]
    made = pdacon.compile("json", tokenizer=tokenizer, model=model)
    common: dict[str, Any] = {"grammar": made, "temperature": 0, "max_tokens": 30}
    speculated = generate(model, tokenizer, PROMPT, **common, **options)
    computed = made.statistics()["masks_computed"]
    assert generate(model, tokenizer, PROMPT, **common) == speculated
    assert made.statistics()["masks_computed"] == computed
    assert computed <= 4 * len(speculated.token_ids)


@pytest.mark.parametrize("length", range(1, 9))
def test_drafts_are_taken_back_at_every_length(tokenizer: Any, length: int) -> None:
    """What is masked after a draft of which any part was kept is what a new matcher masks there."""
    made = pdacon.compile('start: "[" [start ("," start)*] "]" | "a"\n', tokenizer=tokenizer)
    spelt = {text: tokenizer.convert_tokens_to_ids(text) for text in "[],a"}
    drafted = [spelt[one] for one in "[a,[a,[[a,a],a]]"]
    scores = torch.zeros(1, len(tokenizer))
    for kept in range(length + 1):
        processor = PDALogitsProcessor(made, prompt_length=1)
        for end in range(4, 4 + length + 1):  # as they are drafted, one by one
            processor(torch.tensor([[0, *drafted[:end]]]), scores)
        ids = drafted[: 4 + kept]
        matcher = made.matcher()
        assert all(matcher.accept_token(token) for token in ids)
        masked = processor(torch.tensor([[0, *ids]]), scores)
        assert (masked[0] == 0).nonzero().flatten().tolist() == matcher.allowed_tokens()
        other = next(token for token in spelt.values() if matcher.is_allowed(token) and token != drafted[4 + kept])
        matcher.accept_token(other)
        masked = processor(torch.tensor([[0, *ids, other]]), scores)
        assert (masked[0] == 0).nonzero().flatten().tolist() == matcher.allowed_tokens()


@pytest.mark.slow
def test_drafts_of_the_grammar_change_no_text(model: Any, tokenizer: Any) -> None:
    made = pdacon.compile("json", tokenizer=tokenizer, model=model)
    draft = Draft(made, tokenizer, samples=10)
    for temperature, seed in ((0, 0), (1.0, 1), (1.0, 2)):
        for length in ({"max_tokens": 20}, {"budget": pdacon.Budget(tokens=20)}):
            common: dict[str, Any] = {"grammar": made, "temperature": temperature, **length}
            drafted = generate(model, tokenizer, PROMPT, draft=draft, seed=seed, prefix='{"', **common)
            assert made.matcher().accept(drafted.text)
            assert len(drafted.token_ids) <= 20
            if temperature == 0:
                assert drafted == generate(model, tokenizer, PROMPT, prefix='{"', **common)
    assert draft.accepted <= draft.drafted


def test_what_is_forced_is_drafted_and_written_in_fewer_passes() -> None:
    tiny, tokenizer = load_tiny()
    grammar = 'start: "{\\"name\\": \\"" NAME "\\", \\"age\\": " AGE "}"\nNAME: /[A-Z][a-z]+/\nAGE: /[0-9]+/\n'
    made = pdacon.compile(grammar, tokenizer=tokenizer, model=tiny)
    draft = Draft(made, tokenizer)
    options: dict[str, Any] = {"grammar": made, "temperature": 0, "max_tokens": 30}
    prompt = "Describe a person as JSON:"
    alone = generate(tiny, tokenizer, prompt, **options)
    for _ in range(2):
        before = draft.passes
        assert generate(tiny, tokenizer, prompt, draft=draft, **options) == alone
    assert draft.passes - before < len(alone.token_ids) / 2  # now the text has been seen
    assert draft.accepted > draft.drafted / 2


def test_drafts_with_a_streamer_and_stop_strings(model: Any, tokenizer: Any) -> None:
    made = pdacon.compile("json", tokenizer=tokenizer, model=model)
    options: dict[str, Any] = {"grammar": made, "temperature": 0, "max_tokens": 20}
    pieces: list[str] = []
    answer = generate(model, tokenizer, PROMPT, draft=Draft(made, tokenizer), on_text=pieces.append, **options)
    assert "".join(pieces) == answer.text
    options["stop_strings"] = [answer.text[3:5]]
    stopped = generate(model, tokenizer, PROMPT, draft=Draft(made, tokenizer), **options)
    assert stopped == generate(model, tokenizer, PROMPT, **options)


def test_what_a_draft_is_for(model: Any, tokenizer: Any, finite: pdacon.Constraint) -> None:
    draft = Draft(finite)
    for options in ({"num_beams": 2}, {"num_return_sequences": 2}):
        with pytest.raises(ValueError, match="one text"):
            generate(model, tokenizer, PROMPT, grammar=finite, draft=draft, **options)  # type: ignore[arg-type]
    for wrong in ({"most": 0}, {"order": 1}, {"samples": 3}):
        with pytest.raises(ValueError, match="Draft: "):
            Draft(finite, **wrong)
