"""Grammars in GBNF against the definition of GBNF: the same texts, whatever becomes a terminal."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import pdacon
from pdacon.errors import EmptyLanguageError, GrammarSyntaxError, NondeterministicGrammarError, UnsupportedGrammarError
from tests.support.gbnf import Definition, texts_of
from tests.support.gbnf_grammars import DETERMINISTIC, NOT_DETERMINISTIC, REFUSED, random_grammar
from tests.support.lark_oracle import accepts

_LETTERS = "abc "


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_accepts_what_the_definition_accepts(name: str, scaled: Callable[[int], int]) -> None:
    source = DETERMINISTIC[name]
    grammar, definition = pdacon.Grammar.from_gbnf(source), Definition.read(source)
    said = {text: definition.accepts(text) for text in texts_of(definition, random.Random(name), scaled(12))}
    assert {text: grammar.accepts(text) for text in said} == said
    assert any(said.values())


@pytest.mark.parametrize("name", ["brackets"])
def test_stock_lark_means_the_same(name: str) -> None:
    source = DETERMINISTIC[name]
    grammar = pdacon.Grammar.from_gbnf(source)
    for text in texts_of(Definition.read(source), random.Random(name), 12):
        assert grammar.accepts(text) == accepts(grammar, text)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_DETERMINISTIC)
def test_the_report_is_about_the_rules_of_the_author(name: str) -> None:
    grammar = pdacon.Grammar.from_gbnf(NOT_DETERMINISTIC[name], source_path="my.gbnf")
    report = pdacon.check(grammar)
    assert not report.ok
    assert all(finding.span is not None and finding.span.path == "my.gbnf" for finding in report.findings)
    with pytest.raises(NondeterministicGrammarError):
        grammar.accepts("a")


@pytest.mark.parametrize("name", NOT_DETERMINISTIC)
def test_a_shift_lets_no_other_text_in(name: str, scaled: Callable[[int], int]) -> None:
    source = NOT_DETERMINISTIC[name]
    grammar, definition = pdacon.Grammar.from_gbnf(source, conflicts="shift"), Definition.read(source)
    assert pdacon.check(grammar).ok
    texts = texts_of(definition, random.Random(name), scaled(12))
    lost = [text for text in texts if grammar.accepts(text) != definition.accepts(text)]
    assert all(definition.accepts(text) for text in [*lost, *grammar.sample(20, seed=1, size=8)])
    assert bool(lost) == (name == "palindromes")


def test_advice_says_how_a_shift_is_taken_here(tmp_path: Path) -> None:
    file = tmp_path / "my.gbnf"
    file.write_text(NOT_DETERMINISTIC["dangling else"], encoding="utf-8")
    (finding,) = pdacon.check(pdacon.Grammar.from_file(file)).findings
    assert 'Or settle it with conflicts="shift": ' in (finding.repair or "")
    assert "Lark" not in (finding.repair or "")
    text = "if if x else x"
    assert pdacon.Grammar.from_file(file, conflicts="shift").accepts(text)
    assert pdacon.Grammar.from_ebnf(file.read_text(), conflicts="shift").accepts(text)
    with pytest.raises(TypeError, match=r"lookahead is an option of a grammar in Lark's language"):
        pdacon.Grammar.from_file(file, lookahead="commit")
    with pytest.raises(ValueError, match=r"conflicts='shifts': expected one of 'error', 'shift'"):
        pdacon.Grammar.from_gbnf(file.read_text(), conflicts="shifts")  # type: ignore[arg-type]


def test_terminals_are_called_by_the_rules_of_the_author() -> None:
    grammar = pdacon.Grammar.from_gbnf('root ::= "(" my-item ("," root)* ")"\nmy-item ::= [a-z]+\n')
    names = [grammar.data.describe_symbol(terminal) for terminal in range(grammar.data.end)]
    assert names == ["(root)", '")"', "(root before root)", '","']
    assert "(root before root)" in grammar.draw("(root before root)")


@pytest.mark.slow
def test_any_small_grammar_accepts_what_the_definition_accepts(scaled: Callable[[int], int]) -> None:
    texts = ["".join(letters) for length in range(6) for letters in product(_LETTERS, repeat=length)]
    taken = 0
    for seed in range(scaled(24)):
        rng = random.Random(seed)
        source = random_grammar(rng)
        definition = Definition.read(source)
        sampled = [
            text for text in (definition.sample(rng, 8) for _ in range(10)) if text is not None and len(text) < 20
        ]
        try:
            grammar = pdacon.Grammar.from_gbnf(source)
        except EmptyLanguageError:
            assert not sampled
            continue
        try:
            for text in [*rng.sample(texts, 20), *sampled]:
                assert grammar.accepts(text) == definition.accepts(text), (source, text)
            taken += 1
        except NondeterministicGrammarError:
            shifting = pdacon.Grammar.from_gbnf(source, conflicts="shift")
            if pdacon.check(shifting, seconds=0).ok:
                assert all(definition.accepts(text) for text in texts if shifting.accepts(text)), source
    assert taken > scaled(24) // 2


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_grammar_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(GrammarSyntaxError, match=REFUSED[text]) as caught:
        pdacon.Grammar.from_gbnf(text, source_path="my.gbnf")
    assert caught.value.span is not None
    assert caught.value.span.path == "my.gbnf"


def test_tokens_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedGrammarError, match="<think>") as caught:
        pdacon.Grammar.from_gbnf('root ::= <think> [a-z]* "."\n')
    assert caught.value.feature == "tokens"
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (1, 10)


def test_no_text_is_derived() -> None:
    with pytest.raises(EmptyLanguageError, match="root"):
        pdacon.Grammar.from_gbnf('root ::= "a" root\n')


def test_options_and_macros_of_ebnf_are_refused_by_name() -> None:
    assert pdacon.Grammar.from_ebnf('main.rule ::= "a" |\n  "b" x\nx ::= [^]\n', root_rule_name="main.rule").accepts(
        "b\n"
    )
    for text, feature in (
        ("root[max_tokens=3] ::= [a-z]*\n", "max_tokens"),
        ('root ::= TagDispatch(("a", b))\n', "TagDispatch"),
        ('root ::= "a" (= "b")\n', "lookahead"),
    ):
        with pytest.raises(UnsupportedGrammarError) as caught:
            pdacon.Grammar.from_ebnf(text)
        assert caught.value.feature == feature
