"""The format ``regex``: every string of it is a regular expression, for Python and for a JavaScript engine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from functools import lru_cache

import pytest

from pdacon import Grammar

SCHEMA = {"type": "string", "format": "regex"}
TAKEN = [
    "", "a", "^a+$", "[a-z0-9_-]+", r"\d{3}-\d{2}", "(a|b)*", r"^(?:[A-Z]{2,3}|x)(\.\w+)?$", r"[^/]+\.js$", "(((a)))",
    "x{12,19}", "x{9,120}", "x{0}", "x{3,}?", r"(?=a)b", r"(?!\s)", r"[\w-]", "[-a]", "[-]", r"[^\]]", "a||b", "()",
    r"\u00e9\x41", "é+", r"\/", r"\bword\b", "[^a-c]", "\n",
    r"\0", r"a\0b", r"[\b]", r"[^a\b-]", "[[]", "[[a-z]", r"[\0]+",
]  # fmt: skip
WRONG = [
    "(", ")", "a{3,2}", "x{19,12}", "a**", "*a", "|*", "[z-a]", "\\", "[]", "[^]", "a{2", "(?a)", "(?=a", "a)(",
    r"\xg0", "[a", "+", "x{2}{3}", "((a)",
]  # fmt: skip
LEFT_OUT = [
    "((((a))))", r"\p{L}", "(?<n>a)", "(?P<n>a)", r"(a)\1", "(?<=a)b", "^*", "]", "}", "a{,2}", "x{120,125}", r"\01",
    r"[\07]",
]  # fmt: skip
"""Of one of the two languages only, or nested more deeply."""


@lru_cache
def grammar() -> Grammar:
    return Grammar.from_json_schema(SCHEMA)


def is_right(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def test_patterns_are_taken_or_refused() -> None:
    assert [text for text in TAKEN if not grammar().accepts(json.dumps(text, ensure_ascii=False))] == []
    assert [text for text in WRONG + LEFT_OUT if grammar().accepts(json.dumps(text, ensure_ascii=False))] == []
    assert all(map(is_right, TAKEN))


def test_every_string_is_a_pattern() -> None:
    texts = [*TAKEN, *(json.loads(text) for seed in range(3) for text in grammar().sample(200, seed=seed, size=40))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as of what a coming version may read in another way
        assert [text for text in texts if not is_right(text)] == []
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node, which would read them as ECMA-262 says")
    script = (
        "const texts = JSON.parse(require('fs').readFileSync(0)); const bad = [];"
        "for (const t of texts) for (const f of ['', 'u']) try { new RegExp(t, f) } catch (e) { bad.push([t, f]) }"
        "console.log(JSON.stringify(bad))"
    )
    told = subprocess.run([node, "-e", script], input=json.dumps(texts), text=True, capture_output=True, check=True)
    assert json.loads(told.stdout) == []


def test_what_is_left_out_is_told() -> None:
    ((pointer, keyword, why),) = grammar().unenforced
    assert (pointer, keyword) == ("#", "format")
    assert "at most three deep" in why
    assert Grammar.from_json_schema(SCHEMA, formats=False).unenforced == ()
