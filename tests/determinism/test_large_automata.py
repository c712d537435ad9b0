"""Advice on large automata is bounded, and says what it has not found out; limits name what is large."""

from __future__ import annotations

import pickle
from typing import NoReturn

import pytest

import pdacon
from pdacon import Grammar, LimitExceededError, Limits, Vocabulary
from pdacon.determinism import check_within
from pdacon.determinism.deadline import OutOfTimeError
from pdacon.determinism.language import reachability
from pdacon.determinism.lexical import early_ends, measuring
from pdacon.determinism.report.annotations import to_annotations
from pdacon.determinism.report.sarif import to_sarif
from pdacon.front import checking

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
LARGE = Grammar.from_lark('start: "c" LONG\nLONG: /[ab]*a[ab]{9}c/\n')
LIMIT = 200


def test_a_pattern_that_is_too_large_for_advice_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_ends, "REPAIR", Limits(states=1_000))
    monkeypatch.setattr(measuring, "_MOST_REFINED", 20_000)
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


@pytest.mark.parametrize("limits", [None, Limits(states=LIMIT)])
def test_check_points_to_the_limits_that_it_takes(limits: Limits | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if limits is None:  # such a grammar is too slow to make that is past the limits without being asked
        monkeypatch.setattr(
            checking, "check_within", lambda *a, **k: check_within(*a, **{**k, "limits": Limits(states=LIMIT)})
        )
    with pytest.raises(LimitExceededError, match=r"patterns are LONG \(.*pdacon\.Limits") as caught:
        pdacon.check(LARGE, limits=limits)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.limit, again.fixed) == (LIMIT, False)


@pytest.mark.slow
def test_strings_are_not_compared_with_each_other() -> None:
    """A thousand keywords, and one pattern that collides with one of them in a context of its own."""
    words = " | ".join(f'"k{k}"' for k in range(1000))
    report = pdacon.check(Grammar.from_lark(f'start: ({words}) "x" | "y" PART\nPART: /k1(?=x)|y/\n'))
    assert report.ok


def test_a_report_says_what_it_had_no_time_for() -> None:
    report = pdacon.check(Grammar.builtin("json"), seconds=0)
    assert report.ok
    assert {"PDA012", "PDA013", "PDA015"} <= set(report.unfinished)
    assert report.to_dict()["unfinished"] == list(report.unfinished)
    assert "PDA015 (lexical dead end)" in " ".join(report.render().split())
    (run,) = to_sarif([report], "1.0")["runs"]
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["level"] == "note"
    assert "PDA015" in notification["message"]["text"]
    assert run["invocations"][0]["executionSuccessful"]
    *_, last = to_annotations(report)
    assert last.startswith("::notice file=")
    assert "PDA015" in last


def test_what_was_found_in_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is over while texts are followed: what was looked for before that is in the report."""
    text = 'start: A "x" | B\nA: /[a-z]+/\nB: "b"\nC: "c"\n'
    monkeypatch.setattr(reachability.Follower, "find", out_of_time)
    report = pdacon.check(Grammar.from_lark(text))
    assert report.unfinished == ("PDA013", "PDA015")
    assert "PDA013" in [finding.id for finding in report.findings]


def out_of_time(*_: object) -> NoReturn:
    raise OutOfTimeError
