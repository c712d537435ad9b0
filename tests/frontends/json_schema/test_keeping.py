"""What is kept for the next schema: the values used last, within a number of bytes, from any thread."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import pdacon
from pdacon.frontends.json_schema.keeping import Kept


def test_the_values_used_last_stay_within_the_bytes() -> None:
    made: list[str] = []
    kept: Kept[str] = Kept(80, len)

    def get(key: str) -> str:
        def make() -> str:
            made.append(key)
            return key * 10

        return kept.get(key, make)

    for key in "abcdefgh":
        assert get(key) == key * 10
    get("a")
    get("i")  # in the place of "b", which was used longest ago
    assert made == list("abcdefghi")
    get("a")
    get("b")
    assert made == list("abcdefghib")


def test_what_is_larger_than_an_eighth_is_made_each_time() -> None:
    kept: Kept[str] = Kept(80, len)
    assert kept.get("large", lambda: "x" * 11) == "x" * 11
    assert kept.get("large", lambda: "y" * 11) == "y" * 11


def test_an_error_keeps_nothing() -> None:
    kept: Kept[str] = Kept(80, len)
    with pytest.raises(ZeroDivisionError):
        kept.get("k", lambda: str(1 // 0))
    assert kept.get("k", lambda: "v") == "v"


def test_threads_that_ask_at_once_get_what_they_ask_for() -> None:
    kept: Kept[str] = Kept(200, len)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            asked = [str(k % 37) for k in range(4000)]
            assert list(pool.map(lambda key: kept.get(key, lambda: key * 5), asked)) == [key * 5 for key in asked]
    finally:
        sys.setswitchinterval(before)


def test_a_grammar_does_not_depend_on_what_is_kept() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^kept-[a-f]+$"}, "b": {"minimum": 17.25}}}
    first, second = (pdacon.Grammar.from_json_schema(schema) for _ in range(2))
    assert first.fingerprint == second.fingerprint
    assert first.data.terminals == second.data.terminals
