"""What a constraint's report says, found without a second lowering."""

from __future__ import annotations

import pytest

import pdacon

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
def test_a_constraint_reports_what_decides_of_what_check_finds(text: str, options: dict[str, str]) -> None:
    grammar = pdacon.Grammar.from_lark(text, **options)
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.from_tokens([*BYTES, None], eos_ids=[256]))
    deciding = tuple(finding for finding in pdacon.check(grammar).findings if finding.id < "PDA010")
    assert constraint.report.findings == deciding
    assert constraint.report.sizes is None
