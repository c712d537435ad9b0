"""Probabilities of texts and languages, compared with full enumeration."""

from __future__ import annotations

import math
from typing import Any

import pytest
from decoding.enumeration import PROMPT, Definition
from decoding.small_models import make_model

import pdacon
from pdacon.integrations.huggingface import load_tiny

WORDS = ["yes", "no", "yes, no", "maybe 1", ""]


@pytest.fixture(scope="module")
def defined(pipeline: pdacon.Pipeline) -> Definition:
    return Definition(pipeline)


def test_the_mass_of_a_finite_language(pipeline: pdacon.Pipeline, defined: Definition) -> None:
    found = pipeline.compute_probability_mass(PROMPT, pdacon.Grammar.from_choices(WORDS))
    expected = {word: defined.of_text(word) for word in WORDS}
    assert found.exact
    assert {text: math.exp(log_prob) for text, log_prob in found.texts.items()} == pytest.approx(expected, rel=1e-5)
    assert found.mass == float(found) == pytest.approx(sum(expected.values()), rel=1e-5)
    assert found.interval() == (found.mass, found.mass)
    assert list(found.texts.values()) == sorted(found.texts.values(), reverse=True)


@pytest.mark.parametrize("batch_size", [1, 2, 7, 1000])
def test_however_many_rows_the_model_is_given(pipeline: pdacon.Pipeline, batch_size: int) -> None:
    language = pdacon.Grammar.from_choices(WORDS)
    at_once = pipeline.compute_probability_mass(PROMPT, language)
    found = pipeline.compute_probability_mass(PROMPT, language, batch_size=batch_size)
    assert found.log_mass == pytest.approx(at_once.log_mass, abs=1e-5)
    assert found.texts == pytest.approx(dict(at_once.texts), abs=1e-4)
    assert found.evaluated == at_once.evaluated  # each prefix once


def test_each_prefix_is_evaluated_once(pipeline: pdacon.Pipeline, defined: Definition) -> None:
    found = pipeline.compute_probability_mass(PROMPT, pdacon.Grammar.from_choices(WORDS))
    spellings = [ids for word in WORDS for ids in defined.spellings(word.encode())]
    prefixes = {ids[:length] for ids in spellings for length in range(len(ids) + 1)}
    assert found.evaluated == len(prefixes) - 1  # the prompt is not counted


@pytest.mark.slow
def test_of_the_tokens_that_the_tokenizer_makes(pipeline: pdacon.Pipeline, defined: Definition) -> None:
    made = pipeline.compile(pdacon.Grammar.from_choices(WORDS), canonical=True)
    found = pipeline.compute_probability_mass(PROMPT, made)
    own = {word: tuple(pipeline.tokenizer(word)["input_ids"]) for word in WORDS}
    expected = {word: defined.of_tokens(ids) * defined.end(ids) for word, ids in own.items()}
    assert {text: math.exp(log_prob) for text, log_prob in found.texts.items()} == pytest.approx(expected, rel=1e-5)


def test_within_some_tokens(pipeline: pdacon.Pipeline, defined: Definition) -> None:
    for most in (1, 2, 3):
        found = pipeline.compute_probability_mass(PROMPT, pdacon.Grammar.from_regex("a*b?"), max_tokens=most)
        assert found.exact
        texts = ["a" * count + end for count in range(20) for end in ("", "b")]
        expected = sum(defined.of_text(text, lambda ids: len(ids) <= most) for text in texts)  # noqa: B023
        assert found.mass == pytest.approx(expected, rel=1e-5)


def test_behind_a_prefix(pipeline: pdacon.Pipeline) -> None:
    begun = Definition(pipeline, PROMPT + "ye") if not pipeline.model.config.is_encoder_decoder else None
    found = pipeline.compute_probability_mass(PROMPT, pdacon.Grammar.from_choices(WORDS), prefix="ye")
    assert set(found.texts) == {"yes", "yes, no"}
    if begun is not None:
        assert found.mass == pytest.approx(begun.of_text("s") + begun.of_text("s, no"), rel=1e-5)


def test_borders_of_words(pipeline: pdacon.Pipeline, defined: Definition) -> None:
    """A text is over where its end or something else than a letter comes; what goes on otherwise is another text."""
    found = pipeline.compute_probability_mass(PROMPT, pdacon.Grammar.from_choices(["ab", "abc", "ab c"]), border="word")
    expected = sum(
        defined.of_tokens(ids) * sum(defined.chances(ids)[token] for token in borders(defined))
        for word in (b"ab", b"abc", b"ab c")
        for ids in defined.spellings(word)
        if word != b"ab c" or not any(spelt(defined, ids[:n]) == b"ab" for n in range(len(ids)))  # it is over there
    )
    assert found.mass == pytest.approx(expected, rel=1e-5)


def borders(defined: Definition) -> list[int]:
    """Ends, and what begins with something else than a letter, a digit or a low line."""
    firsts = [
        (text or b"a").decode("utf-8", "replace").replace("\ufffd", "a")[:1] for text in defined.vocabulary.tokens
    ]
    others = [token for token, first in enumerate(firsts) if not (first.isalnum() or first == "_")]
    return [*defined.vocabulary.eos_ids, *others]


def spelt(defined: Definition, ids: tuple[int, ...]) -> bytes:
    return b"".join(defined.vocabulary.tokens[token] or b"" for token in ids)


def test_whatever_follows(pipeline: pdacon.Pipeline, defined: Definition) -> None:
    """The probability that the answer begins with a sentence: the first one that it has counts."""
    found = pipeline.compute_probability_mass(PROMPT, pdacon.Grammar.from_choices(["a", "ab", "b"]), border="any")
    expected = sum(defined.of_tokens(ids) for text in (b"a", b"b") for ids in defined.spellings(text))
    expected += sum(defined.of_tokens(ids) for ids in defined.spellings(b"ab") if len(ids) == 1)  # not after "a"
    assert found.mass == pytest.approx(expected, rel=1e-5)


def test_of_one_text(pipeline: pdacon.Pipeline, defined: Definition) -> None:
    texts = ["yes, no", "", "maybe 1", "3"]
    grammar = pdacon.Grammar.from_choices(["yes, no", "", "maybe 1", "no"])
    for text, found in zip(texts, pipeline.compute_probability(PROMPT, texts, grammar), strict=True):
        ids = tuple(pipeline.tokenizer(text)["input_ids"])
        assert (found.text, found.token_ids) == (text, ids)
        assert found.probability == float(found) == pytest.approx(defined.of_tokens(ids) * defined.end(ids), rel=1e-5)
        assert math.fsum(found.log_probs) == found.log_prob
        expected = under_constraint(defined, pipeline.compile(grammar), ids)
        assert found.constrained_probability == pytest.approx(expected, rel=1e-5)


def under_constraint(defined: Definition, constraint: pdacon.Constraint, ids: tuple[int, ...]) -> float:
    """The probability of tokens and an end where what is allowed is divided by its sum."""
    matcher, product = constraint.matcher(), 1.0
    for place in range(len(ids) + 1):
        chances, allowed = defined.chances(ids[:place]), matcher.allowed_tokens()
        ways = defined.vocabulary.eos_ids if place == len(ids) else ids[place : place + 1]
        product *= sum(chances[token] for token in ways if token in allowed) / sum(chances[token] for token in allowed)
        if place < len(ids) and not matcher.accept_token(ids[place]):
            return 0.0
    return product


def test_without_a_constraint_there_is_one_probability(pipeline: pdacon.Pipeline) -> None:
    found = pipeline.compute_probability(PROMPT, "no")
    assert found.log_prob == found.constrained_log_prob
    assert pipeline.compute_probability(PROMPT, []) == []


def test_the_next_word(pipeline: pdacon.Pipeline, defined: Definition) -> None:
    """Pimentel and Meister 2024: given that the prompt's last word is over."""
    word = pipeline.compute_probability(PROMPT, " no", border="word")
    over = pipeline.compute_probability(PROMPT, "", border="word")
    ids = tuple(pipeline.tokenizer(" no")["input_ids"])
    assert over.probability == pytest.approx(sum(defined.chances(())[token] for token in borders(defined)), rel=1e-5)
    after = sum(defined.chances(ids)[token] for token in borders(defined))
    assert word.probability / over.probability == pytest.approx(
        defined.of_tokens(ids) * after / sum(defined.chances(())[token] for token in borders(defined)), rel=1e-5
    )


@pytest.mark.parametrize("border", ["end", "word", "any"])
def test_an_estimate_is_about_right(pipeline: pdacon.Pipeline, border: Any) -> None:
    """Of the same event; at five standard errors a test that is right fails once in a million."""
    language = pdacon.Grammar.from_regex("(a|b|ab| c){1,3}")
    exact = pipeline.compute_probability_mass(PROMPT, language, border=border)
    found = pipeline.compute_probability_mass(
        PROMPT, language, border=border, method="sampling", samples=500, seed=1, batch_size=500
    )
    assert exact.exact
    assert not found.exact
    assert abs(found.mass - exact.mass) < 5 * found.standard_error + 1e-5 * exact.mass
    assert found.effective_sample_size <= found.samples == 500
    assert found.log_lower_bound <= exact.log_mass + 1e-4
    for text, log_prob in found.texts.items():
        assert log_prob <= exact.texts[text] + 1e-4
    again = pipeline.compute_probability_mass(
        PROMPT, language, border=border, method="sampling", samples=500, seed=1, batch_size=500
    )
    assert again == found


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(tokenizer: Any) -> None:
    pipeline = pdacon.Pipeline(make_model("llama", tokenizer), tokenizer)
    language = pdacon.Grammar.from_choices(["a", "b", "ab", "ba", "a b"])
    truth = pipeline.compute_probability_mass(PROMPT, language).mass
    tries = 150
    held = {0.5: 0, 0.9: 0}
    for seed in range(tries):
        found = pipeline.compute_probability_mass(
            PROMPT, language, method="sampling", samples=200, seed=seed, batch_size=200
        )
        for confidence in held:
            low, high = found.interval(confidence)
            held[confidence] += low <= truth <= high
    for confidence, count in held.items():
        spread = math.sqrt(tries * confidence * (1 - confidence))
        assert abs(count - tries * confidence) < 4 * spread, (confidence, count)


def test_what_makes_no_sense_is_refused(pipeline: pdacon.Pipeline) -> None:
    language = pdacon.Grammar.from_choices(["yes", "no"])
    cases: list[tuple[dict[str, Any], str]] = [
        ({"method": "guess"}, "method is one of"),
        ({"border": "line"}, "border is one of"),
        ({"samples": 0}, "samples is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"method": "exact", "most_prefixes": 3}, "more than 3 beginnings"),
        ({"prefix": "x"}, "not the beginning"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            pipeline.compute_probability_mass(PROMPT, language, **options)
    with pytest.raises(ValueError, match="takes"):
        pipeline.compute_probability_mass(PROMPT, pdacon.Grammar.from_regex("[0-9]{30}"), max_tokens=2)
    with pytest.raises(TypeError, match="one prompt"):
        pipeline.compute_probability_mass(["a", "b"], language)  # type: ignore[arg-type]


@pytest.mark.slow
def test_too_many_prefixes_are_sampled() -> None:
    """And what the tiny model writes without being told is mostly JSON."""
    tiny = pdacon.Pipeline(*load_tiny())
    found = tiny.compute_probability_mass(
        "Describe a person as JSON:", "json_dumps", samples=64, seed=0, max_tokens=100
    )
    assert not found.exact
    low, high = found.interval(0.999)
    assert low < 0.7 < high or low > 0.4
