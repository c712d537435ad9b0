"""`check` takes what `compile` takes, and says what that would say."""

from __future__ import annotations

import threading

import pytest
from support.small_tokenizers import train_byte_level

import pdacon
from pdacon.filters import Words
from pdacon.filters.canonical import Canonical

AMBIGUOUS = pdacon.Grammar.from_lark('start: a | b\na: "x"\nb: "x"\n')
NAMES = pdacon.Grammar.from_lark("start: NAME\nNAME: /[a-z]+/\n")


def test_a_tokenizer_in_place_of_a_vocabulary() -> None:
    tokenizer = train_byte_level("gpt2", ["<|endoftext|>"])
    vocabulary = pdacon.Vocabulary.from_huggingface(tokenizer, eos_ids=[0])
    report = pdacon.check(AMBIGUOUS, vocabulary)
    assert report == pdacon.check(AMBIGUOUS, vocabulary=vocabulary)
    assert report.findings[0].level == "error"
    with pytest.raises(TypeError, match="vocab"):
        pdacon.check(AMBIGUOUS, vocab=vocabulary)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="check: give"):
        pdacon.check(AMBIGUOUS, vocabulary, tokenizer=tokenizer)


def test_limits_are_those_of_the_caller() -> None:
    limits = pdacon.Limits(states=3)
    says = r"pdacon\.Limits\(states=\.\.\.\)"
    with pytest.raises(pdacon.LimitExceededError, match=says):
        pdacon.check("json", limits=limits)
    with pytest.raises(pdacon.LimitExceededError, match=says):
        pdacon.compile("json", pdacon.Vocabulary.bytes(), limits=limits)


def test_it_can_be_stopped() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(pdacon.CancelledError):
        pdacon.check("python", cancel=cancel)
    with pytest.raises(TypeError, match="check: cancel must have is_set"):
        pdacon.check("json", cancel=True)  # type: ignore[arg-type]


def test_filters_narrow_what_is_checked() -> None:
    report = pdacon.check(NAMES, filters=[Words(["ab", "c"])])
    assert report.ok
    assert report.sizes != pdacon.check(NAMES).sizes
    assert pdacon.check(NAMES, filters=[Words(["1".replace("1", "Q")])]).findings[0].id == "PDA007"
    with pytest.raises(TypeError):
        pdacon.check(NAMES, filters=["a"])  # type: ignore[list-item]
    for ask in (pdacon.check, pdacon.compile):
        with pytest.raises(TypeError, match=f"{ask.__name__}: the tokenizer's own tokens .* canonical=tokenizer"):
            ask(NAMES, pdacon.Vocabulary.bytes(), filters=[Canonical(None)])
