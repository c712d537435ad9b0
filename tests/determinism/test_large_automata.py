"""Advice on large automata is bounded, and says what it has not found out; limits name what is large."""

from __future__ import annotations

import pickle
from functools import partial

import pytest

import pdacon
from pdacon import Grammar, LimitExceededError, Limits, Vocabulary
from pdacon.determinism import checker, early_ends, sizes
from pdacon.lexer import build_lexer

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
LARGE = Grammar.from_lark('start: "c" LONG\nLONG: /[ab]*a[ab]{9}c/\n')
LIMIT = 200


def test_a_pattern_that_is_too_large_for_advice_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_ends, "_MOST_STATES", 1_000)
    monkeypatch.setattr(sizes, "_MOST_REFINED", 20_000)
    report = pdacon.check(Grammar.from_lark("start: LONG\nLONG: /a{2000}/\n"))
    (finding,) = report.findings
    assert (finding.id, finding.level, finding.cause) == ("PDA012", "note", "not-found-out")
    assert finding.symbols == ("LONG",)
    assert report.sizes is not None
    assert report.sizes.lexer_states_minimal is None


def test_the_limit_of_states_names_the_largest_patterns() -> None:
    with pytest.raises(LimitExceededError, match=r"patterns are LONG \(.*pdacon\.Limits") as caught:
        pdacon.compile(LARGE, BYTES, limits=Limits(states=LIMIT))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.limit, again.fixed) == (str(caught.value), LIMIT, False)


def test_check_does_not_point_to_limits_that_it_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "build_lexer", partial(build_lexer, max_states=LIMIT))
    with pytest.raises(LimitExceededError, match="LONG") as caught:
        pdacon.check(LARGE)
    assert "Limits" not in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).fixed


def test_strings_are_not_compared_with_each_other() -> None:
    """A thousand keywords, and one pattern that collides with one of them in a context of its own."""
    words = " | ".join(f'"k{k}"' for k in range(1000))
    report = pdacon.check(Grammar.from_lark(f'start: ({words}) "x" | "y" PART\nPART: /k1(?=x)|y/\n'))
    assert report.ok
