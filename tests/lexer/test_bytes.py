"""Patterns of bytes against ``re`` on bytes: what it makes of the latin-1 of a pattern."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lexer.regexes import flag_sets, guarded_regexes, rich_regexes
from support.pike import Simulator
from support.scaling import scaled

from pdacon.errors import UnsupportedGrammarError
from pdacon.regular.ordered import compile_pattern

BYTES = "".join(map(chr, range(256)))
LETTERS = "aAkKsSiI_0 -\n\x00\x1c\x85\xa0\xb5\xc9\xdf\xe9\xff"
CLASSES = (
    *(".", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", "a", "k", r"\xe9", r"\xb5", r"[\x80-\xff]", r"[^\x80-\xff]"),
    *("[a-k]", "[^a-k]", r"[\xc0-\xde]", r"[^\xe9k]", r"[\W\d]", r"[^\Wk]", r"[\s\xe9]", "[^a]", "[\x00-\x1f]"),
)


def disagreements(regexp: str, texts: list[str], flags: int = 0) -> list[tuple[bytes, int, int | None, int | None]]:
    """(text, start, end of re's match, end of ours) wherever the two are not the same; texts are latin-1."""
    expected = re.compile(regexp.encode("latin-1"), flags)
    simulator = Simulator(compile_pattern(regexp, flags, use_bytes=True))
    found = []
    for text in (text.encode("latin-1") for text in texts):
        for start in range(len(text) + (text != b"")):
            match = expected.match(text, start)
            theirs = None if match is None else match.end()
            ours = simulator.match_end(text, start)
            if theirs != ours:
                found.append((text, start, theirs, ours))
    return found


@pytest.mark.parametrize("flags", [0, re.I, re.A, re.A | re.I, re.S], ids=["", "i", "a", "ai", "s"])
@pytest.mark.parametrize("regexp", CLASSES)
def test_class_has_exactly_the_bytes_that_re_matches(regexp: str, flags: int) -> None:
    assert disagreements(regexp, list(BYTES), flags) == []


@pytest.mark.slow
@settings(
    max_examples=scaled(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(
    rich_regexes.filter(lambda regexp: max(regexp, default="") <= "\xff") | guarded_regexes(atomic=False),
    flag_sets,
    st.lists(st.text(LETTERS, max_size=5), min_size=1, max_size=8),
)
@example(r"\b\w", 0, ["\xe9a", "a\xe9", "\xb5 a"])
@example(r"(?i:\xe9)(?a:\w)", 0, ["\xe9a", "\xc9a", "\xe9\xe9"])
def test_random_patterns(regexp: str, flags: int, texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        assert disagreements(regexp, texts, flags) == []


@pytest.mark.parametrize("regexp", ["a\u20ac", "[\u0100-\uffff]", r"\N{DIGIT ONE}", r"\u0031", "(?u:a)"])
def test_what_is_no_pattern_of_bytes(regexp: str) -> None:
    with pytest.raises((re.error, UnicodeEncodeError)):
        re.compile(regexp.encode("latin-1"))
    with pytest.raises(UnsupportedGrammarError, match="column"):
        compile_pattern(regexp, use_bytes=True)


def test_a_pattern_of_bytes_is_not_taken_for_one_of_text() -> None:
    assert len(compile_pattern(r"[\x80-\xff]", use_bytes=True)) < len(compile_pattern(r"[\x80-\xff]"))
