"""json5.lark: its samples, stock Lark, the ``json5`` package and Unicode's categories agree."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.collisions import strict_lark
from support.json_references import is_json5
from support.lark_oracle import accepts, lark_parser
from support.sampler import Sampler, damaged

from pdacon import Grammar, check

pytest.importorskip("json5", reason="the json5 package is the reference")

SAMPLES = Path(__file__).parents[2] / "grammars" / "json5"


def samples(kind: str) -> list[Any]:
    return [pytest.param(path.read_bytes().decode(), id=path.name) for path in sorted((SAMPLES / kind).iterdir())]


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.builtin("json5")


def has_escaped_name(text: str) -> bool:
    """Whether a name has an escape: the json5 package takes any there, ECMAScript those of a name's characters."""
    return re.search(r"[{,][^'\"]*\\u", text) is not None


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("accept"))
def test_accepts(grammar: Grammar, text: str) -> None:
    assert is_json5(text)
    assert accepts(grammar, text)


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("reject"))
def test_rejects(grammar: Grammar, text: str) -> None:
    assert not is_json5(text) or has_escaped_name(text)
    assert not accepts(grammar, text)


@pytest.mark.slow
def test_strict_lark_finds_nothing_and_check_no_error(grammar: Grammar) -> None:
    strict_lark(grammar.to_lark(), **grammar.lark_options)
    assert {finding.id for finding in check(grammar).findings} == {"PDA011", "PDA016"}


def test_names_are_those_of_ecmascript(grammar: Grammar) -> None:
    """Section 7.6 of ECMAScript 5.1, character by character."""
    (name,) = (terminal.pattern for terminal in grammar.data.terminals if terminal.name == "NAME")
    assert name is not None
    matches = re.compile(name.regexp).fullmatch
    letters = {"Lu", "Ll", "Lt", "Lm", "Lo", "Nl"}
    more = {"Mn", "Mc", "Nd", "Pc"}
    newer = 0
    for character in map(chr, (*range(0xD800), *range(0xE000, 0x11000))):
        category = unicodedata.category(character)
        narrow = character <= "\uffff"
        starts = narrow and (category in letters or character in "$_")
        goes_on = starts or (narrow and (category in more or character in "\u200c\u200d"))
        if (matches(character) is not None, matches("a" + character) is not None) != (starts, goes_on):
            newer += 1
            assert category in {"Mn", "Mc", "Cn"}, hex(ord(character))  # of a Unicode that is not the grammar's
    assert newer < 100
    assert newer == 0 or unicodedata.unidata_version != "14.0.0"


@pytest.mark.slow
def test_escapes_in_names(grammar: Grammar) -> None:
    for code in range(0x180):
        taken = accepts(grammar, f"{{a\\u{code:04x}: 1}}")
        assert taken == bool(re.fullmatch("[A-Za-z0-9$_]", chr(code))), hex(code)
        assert accepts(grammar, f"{{\\u{code:04X}: 1}}") == (taken and not chr(code).isdigit())


@pytest.mark.slow
def test_texts_are_taken_as_json5_takes_them(grammar: Grammar, tally: Callable[..., None]) -> None:
    random = Random(1)
    sampler = Sampler(lark_parser(grammar), random)
    seeds = [path.read_bytes().decode() for path in sorted((SAMPLES / "accept").iterdir())]
    for round in range(1200):
        text = sampler.sentence() if round % 3 else random.choice(seeds)
        if len(text) > 200:
            continue
        text = damaged(text, random) if round % 2 else text
        ours = accepts(grammar, text)
        if ours != is_json5(text):
            assert has_escaped_name(text) or any(character > "\uffff" for character in text), text
            tally(names_that_ecmascript_does_not_have=1)
        tally(texts=1, sentences=int(ours))
