"""Probabilities of generated texts, compared with the model's, asked once for each token and without a cache."""

from __future__ import annotations

import math
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from support.finite_languages import SentenceConstraint
from transformers import T5Config, T5ForConditionalGeneration

import pdacon
from pdacon.integrations.huggingface import Diagnostics, Generation, generate, vocabulary
from pdacon.integrations.huggingface.diagnostics import Step

NESTED = 'start: "[" [start ("," start)*] "]" | "a" | "bc"\n'


def defined(
    model: Any, tokenizer: Any, prompt: str, answer: Generation, allowed: Any, encoder: Any = None
) -> list[dict[str, Any]]:
    """What each step is, from the definition: a pass of the model for each token, sums over lists of ids."""
    if encoder is None:
        ids, arguments, name = tokenizer(prompt + answer.prefix)["input_ids"], {}, "input_ids"
    else:
        ids, arguments, name = [encoder], {"input_ids": torch.tensor([tokenizer(prompt)["input_ids"]])}, ""
        ids = [encoder, *tokenizer(answer.prefix, add_special_tokens=False)["input_ids"]]
        name = "decoder_input_ids"
    steps = []
    for number, token in enumerate(answer.token_ids):
        with torch.no_grad():
            scores = model(**arguments, **{name: torch.tensor([ids])}).logits[0, -1].double()
        chances = scores.softmax(dim=0)
        free = allowed(answer.token_ids[:number])
        kept = sum(float(chances[one]) for one in free)
        steps.append(
            {
                "token": token,
                "log_prob": math.log(chances[token]),
                "constrained_log_prob": math.log(float(chances[token]) / kept),
                "mass_removed": sum(float(chances[one]) for one in set(range(len(chances))) - set(free)),
                "rank": 1 + sum(bool(chance > chances[token]) for chance in chances),
                "wanted": int(chances.argmax()),
                "wanted_log_prob": math.log(float(chances.max())),
                "wanted_allowed": int(chances.argmax()) in free,
            }
        )
        ids = [*ids, token]
    return steps


def require_equal(found: Diagnostics, expected: list[dict[str, Any]]) -> None:
    assert len(found.steps) == len(expected)
    for step, fields in zip(found.steps, expected, strict=True):
        for name, value in fields.items():
            assert getattr(step, name) == pytest.approx(value, abs=1e-5), name
    assert found.log_prob == pytest.approx(sum(step["log_prob"] for step in expected), abs=1e-4)
    assert found.constrained_log_prob == pytest.approx(sum(step["constrained_log_prob"] for step in expected), abs=1e-4)
    assert found.log_weight == pytest.approx(found.log_prob - found.constrained_log_prob, abs=1e-9)


def along(constraint: Any, prefix: str = "", **options: Any) -> Any:
    def allowed(ids: tuple[int, ...]) -> list[int]:
        matcher = constraint.matcher(**options)
        assert not prefix or matcher.accept(prefix)
        assert all(matcher.accept_token(token) for token in ids)
        return list(matcher.allowed_tokens())

    return allowed


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.7, "top_p": 0.8},
        {"temperature": 0},
        {"num_beams": 3},
        {"num_beams": 3, "temperature": 1.0},
    ],
    ids=str,
)
def test_of_texts_of_a_finite_language(
    model: Any, tokenizer: Any, constraint: SentenceConstraint, options: dict[str, Any]
) -> None:
    several = {} if options.get("temperature") == 0 else {"num_return_sequences": 3}
    prompts = ["Say something:", "Hi"]
    answers = generate(model, tokenizer, prompts, grammar=constraint, seed=1, diagnostics=True, **several, **options)
    assert answers
    for answer in answers:
        expected = defined(model, tokenizer, prompts[answer.prompt], answer, constraint.allowed)
        require_equal(answer.diagnostics, expected)


def test_of_texts_that_are_begun(model: Any, tokenizer: Any) -> None:
    constraint = pdacon.compile(NESTED, tokenizer=tokenizer, model=model)
    answer = generate(
        model, tokenizer, "Hi", grammar=constraint, prefix="[bc,", seed=1, max_tokens=30, diagnostics=True
    )
    require_equal(answer.diagnostics, defined(model, tokenizer, "Hi", answer, along(constraint, "[bc,")))


def test_of_a_generation_that_goes_on(model: Any, tokenizer: Any) -> None:
    """What was generated before is measured, too: one step for each of its ids."""
    constraint = pdacon.compile(NESTED, tokenizer=tokenizer, model=model)
    part = generate(model, tokenizer, "Hi", grammar=constraint, prefix="[", seed=3, max_tokens=4)
    assert not part.complete
    whole = generate(model, tokenizer, "Hi", grammar=constraint, prefix=part, seed=1, max_tokens=6, diagnostics=True)
    assert len(whole.token_ids) > 4
    require_equal(whole.diagnostics, defined(model, tokenizer, "Hi", whole, along(constraint, "[")))


def test_a_budget_is_a_part_of_the_constraint(model: Any, tokenizer: Any) -> None:
    constraint = pdacon.compile(NESTED, tokenizer=tokenizer, model=model)
    budget = pdacon.Budget(tokens=7)
    for seed in range(3):
        answer = generate(model, tokenizer, "Hi", grammar=constraint, seed=seed, budget=budget, diagnostics=True)
        require_equal(answer.diagnostics, defined(model, tokenizer, "Hi", answer, along(constraint, budget=budget)))


def test_where_nothing_constrains(model: Any, tokenizer: Any, constraint: SentenceConstraint) -> None:
    _, free = generate(
        model, tokenizer, ["Hi", "Say"], grammar=[constraint, None], seed=0, max_tokens=5, diagnostics=True
    )
    everything = list(range(512))
    require_equal(free.diagnostics, defined(model, tokenizer, "Say", free, lambda ids: everything))
    assert free.diagnostics.log_prob == pytest.approx(free.diagnostics.constrained_log_prob, abs=1e-9)
    assert all(step.mass_removed == 0 for step in free.diagnostics.steps)
    assert free.diagnostics.diverged() == ()


def test_of_an_encoder_decoder(tokenizer: Any) -> None:
    torch.manual_seed(0)
    sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2}
    special = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    begin = tokenizer.bos_token_id
    config = T5Config(vocab_size=len(tokenizer), decoder_start_token_id=begin, **sizes, **special)
    t5 = T5ForConditionalGeneration(config).eval()
    constraint = pdacon.compile(NESTED, tokenizer=tokenizer, model=t5)
    prompts = ["Hi", "Say something:"]
    answers = generate(t5, tokenizer, prompts, grammar=constraint, prefix="[", seed=0, max_tokens=20, diagnostics=True)
    for answer in answers:
        expected = defined(t5, tokenizer, prompts[answer.prompt], answer, along(constraint, "["), encoder=begin)
        require_equal(answer.diagnostics, expected)


def test_texts_of_more_scores_than_one_pass_keeps(
    model: Any, tokenizer: Any, constraint: SentenceConstraint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call() -> list[Diagnostics]:
        answers = generate(
            model, tokenizer, ["Hi", "a b c"], grammar=constraint, seed=0, num_return_sequences=3, diagnostics=True
        )
        return [answer.diagnostics for answer in answers]

    at_once = call()
    monkeypatch.setattr("pdacon.integrations.huggingface.diagnostics.MOST_SCORES", 1)
    for one, other in zip(at_once, call(), strict=True):
        assert one.cumulative_log_probs == pytest.approx(other.cumulative_log_probs, abs=1e-4)


def test_what_is_shown_and_kept(model: Any, tokenizer: Any, constraint: SentenceConstraint) -> None:
    answer = generate(model, tokenizer, "Hi", grammar=constraint, seed=1, diagnostics=True)
    found = answer.diagnostics
    assert found.cumulative_log_probs[-1] == found.log_prob
    assert found.cumulative_constrained_log_probs[-1] == found.constrained_log_prob
    assert found.log_prob <= found.constrained_log_prob
    lines = str(found).splitlines()
    assert len(lines) == len(answer.token_ids) + 2
    assert pickle.loads(pickle.dumps(answer)).diagnostics == found
    assert found.diverged() == tuple(n for n, step in enumerate(found.steps) if not step.wanted_allowed)
    texts = [token and token.decode("utf-8", "backslashreplace") for token in vocabulary(model, tokenizer).tokens]
    assert all(step.wanted_text == (texts[step.wanted] or "") for step in found.steps)


def test_the_sum_of_all_is_the_last_of_the_sums() -> None:
    """There is one sum: 0.1 ten times is 1 if it is rounded once, and less if it is rounded ten times."""
    step = Step(0, "a", -0.1, -0.1, 0.0, 1, 0, "a", -0.1, True)
    found = Diagnostics((step,) * 10)
    assert math.fsum([-0.1] * 10) != found.log_prob
    assert found.log_prob == found.cumulative_log_probs[-1]
    assert found.constrained_log_prob == found.cumulative_constrained_log_probs[-1]
    assert Diagnostics(()).log_prob == Diagnostics(()).constrained_log_prob == 0


def test_without_asking_there_are_none(model: Any, tokenizer: Any, constraint: SentenceConstraint) -> None:
    answer = generate(model, tokenizer, "Hi", grammar=constraint, seed=1)
    with pytest.raises(ValueError, match="diagnostics=True"):
        _ = answer.diagnostics


def test_a_picture(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'pdacon[plot]'")
    made = pdacon.compile(NESTED, tokenizer=tokenizer, model=model)
    found = generate(model, tokenizer, "a$b", grammar=made, seed=1, max_tokens=9, diagnostics=True).diagnostics
    axes = found.plot()
    axes.figure.savefig(tmp_path / "made.png")
    assert [bar.get_height() for bar in axes.patches] == [step.mass_removed for step in found.steps]
    assert found.plot(axes) is axes


def test_a_picture_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pdacon\\[plot\\]"):
        Diagnostics(()).plot()
