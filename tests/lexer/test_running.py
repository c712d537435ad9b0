"""What a pattern matches at the beginning of a text, as Python's ``re`` has it."""

from __future__ import annotations

import re
from itertools import product

import pytest

import pdacon
from pdacon.regular.ordered import Runner, compile_pattern

PATTERNS = [
    "a|ab",
    "ab|a",
    "a*?b",
    "(?:a|ab)(?:c|bcd)?",
    "a+(?=b)",
    "a+(?!b)",
    "a(?=b)|ab$",
    "a*b?$",
    r"a\b|ab+",
    r"(?:a(?=c)|a(?!c)b)+",
    "(?>a|ab)c?",
    "[ab]{2,3}?c?",
    "a++b?",
    "(?<!a)b|a",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_match_ends_where_that_of_re_does(pattern: str) -> None:
    try:
        compiled = re.compile(pattern)
    except re.error:  # older than possessive quantifiers
        pytest.skip("Python's re does not know this pattern")
    runner = Runner(compile_pattern(pattern))
    for size in range(6):
        for letters in product("abc\n", repeat=size):
            text = "".join(letters)
            found = compiled.match(text)
            end = None if found is None else found.end()
            assert runner.match_end(text.encode()) == end, text


def test_a_string_is_held_against_a_pattern_that_backtracks_without_end() -> None:
    grammar = r"""
        start: (A | "b")+
        A: /c?(?:(?:(?:(?:(?:(?:[ab])*?)?){1,3}){2}){1,3})+?a/
    """
    report = pdacon.check(pdacon.Grammar.from_lark(grammar, conflicts="shift"), seconds=0)
    assert [finding.id for finding in report.findings if finding.level == "error"] == ["PDA006"]
