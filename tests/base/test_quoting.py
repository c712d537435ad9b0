"""How texts and names are written in messages."""

from __future__ import annotations

import ast
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdacon.base.quoting import (
    NEAR,
    did_you_mean,
    first_character,
    head,
    is_literal,
    line_and_column,
    listing,
    near_names,
    quote,
    quoted,
    tail,
)


@pytest.mark.slow
@given(st.text())
def test_any_quoted_text_is_a_literal_of_python(text: str) -> None:
    shown = quote(text.encode())
    assert shown.isprintable()
    assert ast.literal_eval(shown) == text


@pytest.mark.parametrize(
    "text", ["a\\n", "a\n", '"', "'\"", "\\", "é\u20ac\U0001f600", "\x00\x7f\u2028", "\\xff", "\\u0041"]
)
def test_a_quoted_text_is_a_literal_of_python(text: str) -> None:
    quoted = quote(text.encode())
    assert quoted.isprintable()
    assert ast.literal_eval(quoted) == text


def test_bytes_that_are_no_text_are_not_like_any_text() -> None:
    assert quote(b"a\xff") == '"a\\xff"'
    assert quote(b"a\\xff") == '"a\\\\xff"'


def test_decoded_bytes_are_quoted_as_bytes() -> None:
    assert quoted("a\udcff") == r'"a\xff"'


@pytest.mark.parametrize(
    ("names", "shown"), [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")]
)
def test_names_in_a_row(names: list[str], shown: str) -> None:
    assert listing(names) == shown


def test_of_many_names_the_first_are_given() -> None:
    assert listing(map(str, range(20)), "and", most=4) == "0, 1, 2 and 17 others"


def test_a_long_text_is_cut_at_the_far_end() -> None:
    text = b"a" * 60 + b"b" * 60
    assert tail(text) == '..."' + "b" * 40 + '"'
    assert tail(text[-NEAR:]) == tail(text)
    assert head(text, 50) == '"' + "a" * 50 + '"... (120 bytes)'
    assert tail(b"") == "the start of the text"


def test_places_count_characters() -> None:
    assert line_and_column("ä\nöx".encode()) == (2, 3)
    assert first_character("ö!".encode()) == "ö".encode()
    assert first_character(b"\xff!") == b"\xff"
    assert is_literal('"if"', b"if")
    assert not is_literal("IF", b"if")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("al0f", "allOf"), ("aalOf", "allOf"), ("fallof", "allOf"), ("oneof", "oneOf"), ("invioce", "invoice"),
        ("in_voice", "invoice"), ("nivoicee", "invoice"), ("INVOICE", "invoice"), ("1ine", "line"), ("lien", "line"),
        ("ivoic", "invoice"),
    ],
)  # fmt: skip
def test_names_within_two_slips_are_near(name: str, meant: str) -> None:
    assert near_names(name, ["allOf", "oneOf", "invoice", "line", "ab", "xyz"])[0] == meant
    assert did_you_mean(name, [meant]) == f"did you mean {meant}? "


@pytest.mark.parametrize("name", ["", "ba", "q", "zzzzzz", "0"])
def test_other_names_are_not(name: str) -> None:
    assert near_names(name, ["ab", "xyz", "line", "total"]) == []
    assert did_you_mean(name, []) == ""


def test_slips_are_counted_as_they_are_defined() -> None:
    """Against all names that one or two edits make; two edits of which one is within the other may count as three."""
    letters = "abc"

    def edited(word: str, swaps: bool = True) -> set[str]:
        cuts = [(word[:k], word[k:]) for k in range(len(word) + 1)]
        made = {left + right[1:] for left, right in cuts if right}
        made |= {left + one + right[1:] for left, right in cuts if right for one in letters}
        made |= {left + one + right for left, right in cuts for one in letters}
        swapped = {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
        return made | (swapped if swaps else set())

    word = "abcabc"
    twice = {other for each in edited(word) for other in edited(each)}
    surely = edited(word) | {other for each in edited(word, False) for other in edited(each, False)}
    for length in (5, 6, 7):
        for other in map("".join, itertools.product(letters, repeat=length)):
            is_near = bool(near_names(other, [word], nearness=1))
            assert (other in surely) <= is_near <= (other in twice), other
