"""Grammars that Lark's loader would never come back from are refused before it begins."""

from __future__ import annotations

import time

import lark
import pytest
from lark.load_grammar import load_grammar

from pdacon import Grammar, LimitExceededError
from pdacon.grammar.alternatives import MOST_ALTERNATIVES, check_alternatives

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    "rule",
    [
        " ".join(f'"{letter}"?' for letter in LETTERS),
        " ".join(f'["{letter}"]' for letter in LETTERS),
        '("a" | "b") ' * 30,
        '("a" | "b")~30',
        '("a" | "b")~17..20',
        '(("a" | "b") ("c" | "d") ("e" | "f"))~49',
        '(("a" | "b") ("c" | "d"))~60 "e"',
        '(("a" | "b")~20)*',
        '(("a" | "b")~20)+ | "c"',
        "(" * 17 + '"a"' + ' "b"?)' * 17,
    ],
)
def test_too_many_alternatives(rule: str) -> None:
    begin = time.monotonic()
    with pytest.raises(LimitExceededError, match=r"alternatives: .*rule start at <grammar>:1:1") as caught:
        Grammar.from_lark(f"start: {rule}")
    assert time.monotonic() - begin < 30  # Lark would take hours
    assert (caught.value.what, caught.value.limit) == ("alternatives", MOST_ALTERNATIVES)
    assert caught.value.given > MOST_ALTERNATIVES


@pytest.mark.parametrize(
    "rule",
    [
        '"a"? "b"? ("c" | "d" | "e")? "f"*',
        '("a" | "b")~2..4 ("c" "d"?)+',
        '["a" ["b"]] ("c" | "d") "e"~3 -> x',
        '("a" | "a")~3',
        '"a"~1..100 ("b" | "c")~2',
        '("a" | "b" "c"?)~0..3 | "d"',
    ],
)
def test_the_count_is_no_less_than_what_lark_writes_out(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit at what Lark makes of a rule the rule passes only if the count is right or more."""
    text = f"start: {rule}"
    parsed, _ = load_grammar(text, "<text>", [], False)
    (tree,) = (tree for _, _, tree, _ in parsed.rule_defs)
    _, rules, _ = parsed.compile(["start"], set())
    made = sum(str(production.origin.name) == "start" for production in rules)
    monkeypatch.setattr("pdacon.grammar.alternatives.MOST_ALTERNATIVES", made - 1)
    with pytest.raises(LimitExceededError):
        check_alternatives("start", tree, None)


@pytest.mark.parametrize(
    "templates",
    [
        '_t{x}: x | "(" _t{_u{x}} ")"\n_u{y}: y y',
        "_t{x}: x | _s{x}\n_s{x}: _t{_u{x}}\n_u{y}: y y",
        "_t{x}: x | _t{_u{x, x}}\n_u{x, y}: x y",
        "_t{x}: x | _t{_t{x}}",
        "_t{x}: x | _c{_u, x}\n_c{f, x}: x | _c{f, f{x}}\n_u{y}: y y",
    ],
)
def test_templates_without_end(templates: str) -> None:
    with pytest.raises(LimitExceededError, match=r"template _[a-z] at <grammar>:[2-4]:1"):
        Grammar.from_lark(f'start: _t{{"a"}}\n{templates}')


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ('start: _t{"a", "b"}\n_t{x, y}: x | "(" _t{y, x} ")"', "((a))"),
        ('start: _sep{_sep{"a", ","}, ";"}\n_sep{x, s}: x (s x)*', "a,a;a"),
        ('start: _t{_u}\n_t{f}: f{"a"}\n_u{y}: y y', "aa"),
        ('start: _p{_p{_p{"a"}}}\n_p{x}: x x', "aaaaaaaa"),
    ],
)
def test_templates_that_use_each_other(rules: str, text: str) -> None:
    assert Grammar.from_lark(rules).productions
    lark.Lark(rules, parser="lalr").parse(text)
