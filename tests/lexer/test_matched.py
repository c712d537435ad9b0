"""The texts that part of a pattern can match, where they are long, many, or nested."""

from __future__ import annotations

import re

import pytest

from pdacon.errors import UnsupportedGrammarError
from pdacon.frontends.made_up import made_up
from pdacon.regular.ordered import compile_pattern


@pytest.mark.parametrize(
    "group",
    ["a" * 1500, "(?:" * 100 + "ab" + ")" * 100, "(?:(?:a{8}b){8}c){8}", "(?:ab|c){6}", "(?:ab??){5}", "x{0,90}?"],
)
def test_a_group_of_long_texts_comes_again(group: str) -> None:
    program = compile_pattern(f"(?P<q>{group})-(?P=q)", limit=1_000_000)
    assert len(program)
    assert re.compile(f"(?P<q>{group})-(?P=q)")


@pytest.mark.parametrize(
    "group", ["a" * 3000, "((a{90}b){90}){90}", "(((x?a{0,2}b){0,90}c){90}){90}", "a{90,}", ".{3}"]
)
def test_too_long_or_too_many_texts_are_refused_at_once(group: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match="let its group match a few texts only"):
        compile_pattern(f"(?P<q>{group})b(?P=q)")


@pytest.mark.parametrize(
    "pattern", ["a" * 1500, "(?:a?){3}b" * 300, "(?:[a-z][0-9]){700}", "(?:" * 100 + "x" + ")" * 100]
)
def test_patterns_for_long_names(pattern: str) -> None:
    assert made_up("aliases", pattern)
