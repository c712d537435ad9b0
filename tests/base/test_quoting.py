"""How texts and names are written in messages."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdacon.base.quoting import NEAR, first_character, head, is_literal, line_and_column, listing, quote, quoted, tail


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
