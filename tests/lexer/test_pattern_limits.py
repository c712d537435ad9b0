"""What compile_pattern refuses, by name and place, and how much it is willing to build and to remember."""

from __future__ import annotations

import re

import pytest

from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.regular.ordered import compile_pattern

VERBOSE = "(?x: [(?(1)] # neither (?(1) nor \\\\1 is meant\n(a+)\\1)"


@pytest.mark.parametrize(
    ("regexp", "feature", "column", "text"),
    [
        (r"(a+)\01\1", "backreference", 8, r"\1"),
        (r"(?P<q>['\"]*).(?P=q)", "backreference", 15, "(?P=q)"),
        ("(?:(a)?(?(1)b|c))*", "conditional-group", 8, "(?(1)...)"),
        (r"(a+)(?=b(?!\1))", "backreference", 12, r"\1"),
        (r"[]\1](.)\1", "backreference", 9, r"\1"),
        (r"(?:(?P<q>a)|b)*(?(q)c)", "conditional-group", 16, "(?(q)...)"),
        (VERBOSE, "backreference", VERBOSE.rindex("\\1") + 1, r"\1"),
    ],
)
def test_refused_construct(regexp: str, feature: str, column: int, text: str) -> None:
    re.compile(regexp)
    with pytest.raises(UnsupportedGrammarError) as raised:
        compile_pattern(regexp)
    assert raised.value.feature == feature
    assert f"the {feature} {text} at column {column} of the pattern" in str(raised.value)
    assert str(raised.value).partition("is not supported; ")[2], "the message names no way out"


@pytest.mark.parametrize(
    ("regexp", "flags", "message"),
    [
        ("a(b", 0, "at column 2"),
        ("(?P<x>a)(?P<x>b)", 0, "at column 13"),
        ("*a", 0, "at column 1"),
        ("a{3,2}", 0, "column"),
        ("a{99999999999999}", 0, "/a{99999999999999}/"),
        ("a", re.ASCII | re.UNICODE, "/a/"),
        ("a", re.LOCALE, "/a/"),
    ],
)
def test_what_re_does_not_take(regexp: str, flags: int, message: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match="Python's re does not take the pattern") as raised:
        compile_pattern(regexp, flags)
    assert message in str(raised.value)
    assert raised.value.feature == "invalid-pattern"


def test_deep_nesting_is_an_error_of_its_own() -> None:
    with pytest.raises(UnsupportedGrammarError) as raised:
        compile_pattern("(" * 5000 + "a" + ")" * 5000)
    assert raised.value.feature == "deep-nesting"


@pytest.mark.parametrize("regexp", ["(?:a{1000}){1000}", "(?:(?:a?){1000}){1000}", r"\w{0,2000}"])
def test_limit_on_states(regexp: str) -> None:
    with pytest.raises(LimitExceededError) as raised:
        compile_pattern(regexp, limit=20_000)
    assert raised.value.what == "states"
    assert raised.value.limit == 20_000


@pytest.mark.parametrize(
    "regexp",
    [
        "(?:(?:(?:){1000}){1000}){1000}",
        "(?:(?:(?:|){9999}){0,9999}?){9999,}",
        "(?:|" * 60 + "){1,2}" * 60,
        "(?:" * 60 + "|" + "){2,3}?" * 60,
    ],
)
def test_repetition_of_nothing_is_not_unrolled(regexp: str) -> None:
    assert len(compile_pattern(regexp)) == 1  # copy by copy this would take minutes


def test_nested_loops_grow_with_their_depth_not_exponentially() -> None:
    sizes = [len(compile_pattern("(?:" * depth + "a|" + ")*" * depth)) for depth in (10, 20, 40)]
    assert sizes[2] <= 5 * sizes[1] <= 25 * sizes[0]


def test_the_same_pattern_is_compiled_once() -> None:
    assert compile_pattern("[a-z]+") is compile_pattern("[a-z]+")
    assert compile_pattern("[a-z]+") is not compile_pattern("[a-z]+", re.IGNORECASE)


@pytest.mark.slow
def test_large_programs_do_not_stay_in_memory() -> None:
    large = compile_pattern("[a-z]{60000}")
    assert compile_pattern("[a-y]{60000}") is compile_pattern("[a-y]{60000}")
    assert compile_pattern("[a-z]{60000}") is not large


def test_a_limit_holds_for_a_pattern_that_was_lowered_under_a_higher_one() -> None:
    regexp = "a{3000}b"
    program = compile_pattern(regexp, limit=10_000)
    assert compile_pattern(regexp, limit=20_000) is program
    with pytest.raises(LimitExceededError):
        compile_pattern(regexp, limit=1_000)
    assert len(compile_pattern(regexp, limit=5_000)) == len(program)
