"""Texts without bias: weighted rejection sampling by all orders, sequential Monte Carlo by chi-square."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from decoding.enumeration import PROMPT
from decoding.small_models import make_model
from support.chi_square import is_far

import pdacon
from pdacon.decoding.rejection import draw_by_rejection

TEXTS = ["a", "ab", "ba", "cab", "c1", "1aa", "bb"]


@pytest.fixture(scope="module")
def language(tokenizer: Any) -> pdacon.Pipeline:
    """A model that mostly wants what is allowed, as models do: some letters, and an end."""
    model = make_model("llama", tokenizer, scale=2.5)
    head = torch.nn.Linear(32, model.config.vocab_size)
    with torch.no_grad():
        head.weight.copy_(model.lm_head.weight)
        head.bias.zero_()
        head.bias[[*tokenizer.convert_tokens_to_ids(list("abc1")), *model.generation_config.eos_token_id]] = 5.0
    model.lm_head = head
    return pdacon.Pipeline(model, tokenizer)


def orders(chances: Sequence[float]) -> Any:
    """All orders of tokens with their probabilities, drawn one by one without putting back."""
    for order in itertools.permutations(range(len(chances))):
        probability, left = 1.0, 1.0
        for token in order:
            probability *= chances[token] / left if left > 1e-15 else 1.0
            left -= chances[token]
        yield order, probability


@pytest.mark.parametrize("checks", [1, 2, 3, 9])
@pytest.mark.parametrize("allowed", [{0}, {1, 3}, {0, 2, 4}, {0, 1, 2, 3, 4}, set()], ids=str)
def test_weights_of_rejection_sampling_have_no_bias(allowed: set[int], checks: int) -> None:
    """Over all orders: the expectation of the weight, where a token is drawn, is the token's probability."""
    chances = [0.35, 0.3, 0.2, 0.1, 0.05]
    expected = dict.fromkeys([*allowed, -1], 0.0)
    drawn = dict.fromkeys([*allowed, -1], 0.0)
    for order, probability in orders(chances):
        keys = np.array([-order.index(token) for token in range(len(chances))], float)
        token, log_mass, checked = draw_by_rejection(np.log(chances), keys, allowed.__contains__, checks)
        assert token == next((token for token in order if token in allowed), -1)
        assert checked <= len(chances)
        assert token < 0 or log_mass > -math.inf
        expected[token] += probability * math.exp(log_mass)
        drawn[token] += probability
    for token in allowed:
        assert expected[token] == pytest.approx(chances[token], abs=1e-12)
        assert drawn[token] == pytest.approx(chances[token] / sum(chances[one] for one in allowed))
    assert expected[-1] == 0


def test_rejection_sampling_checks_few_tokens_where_the_model_wants_what_is_allowed() -> None:
    generator = np.random.default_rng(0)
    log_probs = np.log(np.array([0.9] + [0.1 / 9999] * 9999))
    checked = []
    for _ in range(200):
        keys = log_probs + generator.gumbel(size=len(log_probs))
        token, log_mass, count = draw_by_rejection(log_probs, keys, lambda token: token % 2 == 0, 1)
        assert token % 2 == 0
        assert 0.89 < math.exp(log_mass) < 1.001 or token
        checked.append(count)
    assert sum(checked) / len(checked) < 3


def test_many_rejections_go_beyond_the_first_tokens_in_order() -> None:
    log_probs = np.full(1000, -math.log(1000))
    keys = -np.arange(1000.0)
    token, log_mass, checked = draw_by_rejection(log_probs, keys, lambda token: token >= 900, 2)
    assert (token, checked) == (900, 903)
    assert math.exp(log_mass) == pytest.approx(0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"checks": 1}, {"resample_below": 0.0}, {"resample_below": 1.0, "checks": 2}],
    ids=["masks", "checks", "importance", "resampled at each step"],
)
def test_texts_are_of_the_posterior(language: pdacon.Pipeline, options: dict[str, Any]) -> None:
    grammar = pdacon.Grammar.from_choices(TEXTS)
    exact = language.compute_probability_mass(PROMPT, grammar)
    posterior = {text: math.exp(log_prob - exact.log_mass) for text, log_prob in exact.texts.items()}
    counts: Counter[str] = Counter()
    masses = []
    runs = 150
    for seed in range(runs):
        found = language.sample(PROMPT, grammar, particles=48, seed=seed, **options)
        counts[found.draw(seed=seed)[0].text] += 1
        masses.append(math.exp(found.log_mass))
    assert is_far(counts, posterior) < 4, (counts, posterior)
    error = float(np.std(masses, ddof=1)) / math.sqrt(runs)
    assert abs(float(np.mean(masses)) - exact.mass) < 4.5 * error


def test_texts_that_are_generated_are_not_of_the_posterior(language: pdacon.Pipeline) -> None:
    """Which is what weights are for; and the test above would see it."""
    grammar = pdacon.Grammar.from_choices(TEXTS)
    exact = language.compute_probability_mass(PROMPT, grammar)
    posterior = {text: math.exp(log_prob - exact.log_mass) for text, log_prob in exact.texts.items()}
    answers = language.generate(PROMPT, grammar, num_return_sequences=250, seed=0, diagnostics=False)
    assert is_far(Counter(answer.text for answer in answers), posterior) > 20


def test_weighted_texts(pipeline: pdacon.Pipeline) -> None:
    grammar = pdacon.Grammar.from_choices(["yes", "no", "nope"])
    found = pipeline.sample(PROMPT, grammar, prefix="n", particles=20, seed=1)
    assert math.fsum(found.weights) == pytest.approx(1)
    assert {text.text for text in found.texts} <= {"no", "nope"}
    assert all(text.complete and text.value == text.text and text.prefix == "n" for text in found.texts)
    assert math.fsum(found.probabilities().values()) == pytest.approx(1)
    assert 0 < found.effective_sample_size <= 20.001
    assert found.checked == 0
    again = pipeline.sample(PROMPT, grammar, prefix="n", particles=20, seed=1)
    assert again == found
    assert [one.text for one in found.draw(5, seed=2)] == [one.text for one in again.draw(5, seed=2)]
    checked = pipeline.sample(PROMPT, grammar, particles=20, checks=1, seed=1)
    assert checked.checked >= 20


@pytest.mark.parametrize("checks", [0, 1])
def test_texts_without_budgets_are_cut(pipeline: pdacon.Pipeline, checks: int) -> None:
    """Tokens cannot be counted under ``canonical``: what is no sentence in time has no weight."""
    made = pipeline.compile(pdacon.Grammar.from_regex("(ab?){1,9}"), canonical=True)
    found = pipeline.sample(PROMPT, made, particles=30, max_tokens=2, checks=checks, seed=0)
    assert all(len(text.token_ids) <= 2 and made.accepts(text.text) for text in found.texts)
    assert len(found.texts) == len(found.weights)
    exact = pipeline.compute_probability_mass(PROMPT, made, max_tokens=2)
    assert set(found.probabilities()) <= set(exact.texts)


def test_nothing_in_time(pipeline: pdacon.Pipeline) -> None:
    made = pipeline.compile(pdacon.Grammar.from_regex("[0-9]{9}"), canonical=True)
    found = pipeline.sample(PROMPT, made, particles=5, max_tokens=1, seed=0)
    assert (found.texts, found.weights, found.log_mass) == ((), (), -math.inf)
    with pytest.raises(ValueError, match="no text became a sentence"):
        found.draw()
    mass = pipeline.compute_probability_mass(PROMPT, made, max_tokens=1, method="sampling", samples=5, seed=0)
    assert mass.mass == 0
    assert mass.interval() == (0, 1)


def test_numbers_out_of_range(pipeline: pdacon.Pipeline) -> None:
    for options in ({"particles": 0}, {"checks": -1}, {"resample_below": 1.5}, {"max_tokens": 0}):
        with pytest.raises(ValueError, match=r"particles is|max_tokens is"):
            pipeline.sample(PROMPT, "json", **options)  # type: ignore[arg-type]
