"""What a constraint's report says: what the checker does."""

from __future__ import annotations

import pytest

import pdacon
from pdacon.determinism import check_within
from pdacon.front import stages

BYTES = [bytes([byte]) for byte in range(256)]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('start: "a" | start "b"', {}),
        ('start: "a" | "b" X\n%declare X', {}),
        ('start: "a" | start "+" start', {"conflicts": "shift"}),
        ("start: (A | B)+\nA: /[ab]/\nB: /[bc]/", {"conflicts": "shift"}),
        ('one: "a"\ntwo: two "b"', {"start": ["one", "two"]}),
        ('one: "a"\ntwo: A "a"\nA: /a+/', {"start": ["one", "two"]}),
        ('one: "b" A | A? | two "b"\ntwo: A "a"\nA: /a+/', {"start": ["one", "two"], "conflicts": "shift"}),
        ('start: (C | "/" | "*" | "a")+\nC: "/*" /(.|\\n)*?/ "*/"', {"lookahead": "commit"}),
    ],
)
def test_a_constraint_reports_what_check_finds(text: str, options: dict[str, str]) -> None:
    grammar = pdacon.Grammar.from_lark(text, **options)
    vocabulary = pdacon.Vocabulary.from_tokens([*BYTES, None], eos_ids=[256])
    constraint = pdacon.compile(grammar, vocabulary)
    checked = pdacon.check(grammar, vocabulary)
    assert constraint.report == checked
    assert constraint.report.ok
    assert pdacon.Constraint.from_bytes(constraint.to_bytes()).report.to_dict() == checked.to_dict()
    without = pdacon.check(grammar)
    assert [finding.title for finding in constraint.report.findings] == [f.title for f in without.findings]


def test_notes_are_in_it() -> None:
    """One that `check` has of a grammar is not left out because nothing else is to be said."""
    grammar = pdacon.Grammar.builtin("json")
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.from_tokens([*BYTES, None], eos_ids=[256]))
    assert [finding.level for finding in constraint.report.findings] == ["note"]
    assert constraint.report.summary() == pdacon.check(grammar).summary()


def test_a_report_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    check_within = stages.check_within
    monkeypatch.setattr(stages, "check_within", lambda *a, **k: calls.append(1) or check_within(*a, **k))
    grammar = pdacon.Grammar.from_lark('start: "a"')
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.from_tokens([*BYTES, None], eos_ids=[256]))
    assert not calls
    assert constraint.report is constraint.report
    assert calls == [1]


def test_a_report_has_the_limits_of_its_compilation() -> None:
    """The lexer of arithmetic takes less than these bytes, its composition more."""
    with pytest.raises(pdacon.LimitExceededError, match="28,000"):
        check_within(pdacon.Grammar.builtin("arithmetic").data, limits=pdacon.Limits(bytes=28_000))
