"""The texts of counterexamples are what they are said to be: stock Lark's Earley parser derives them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from conftest import Tally
from lark import Lark
from support.finding_fixtures import FIXTURES, report_of
from support.lowering import load
from support.random_grammars import loadable_grammars

import pdacon
from pdacon import Grammar, Vocabulary
from pdacon.determinism import Counterexample, Derivation

DANGLING = """
start: stmt*
stmt: "if" COND stmt | "if" COND stmt "else" stmt | NAME "=" COND
COND: "true" | "false"
NAME: /[a-z]+/
%ignore " "
"""


def readings(shown: Counterexample) -> list[tuple[Derivation, bytes | None]]:
    return [(shown.first, shown.first_text), (shown.second, shown.second_text)]


def counterexample(text: str, **options: str) -> Counterexample:
    found = [finding.counterexample for finding in pdacon.check(Grammar.from_lark(text, **options)).findings]
    return next(example for example in found if example is not None)


def test_words_are_parted_where_blanks_are_ignored() -> None:
    shown = counterexample(DANGLING)
    assert shown.first_text == shown.second_text
    assert shown.first_text is not None
    words = shown.first_text.replace(b"false", b"true").split()
    assert words[:5] == [b"if", b"true", b"if", b"true", b"a=true"]
    assert words[5:7] == [b"else", b"a=true"]


def test_two_sentences_have_two_texts() -> None:
    shown = counterexample('start: rule+\nrule: NAME ":" NAME*\nNAME: /[a-z]/\n')
    assert not shown.unifying
    assert (shown.first_text, shown.second_text) == (b"a:a", b"a:a:")


def test_what_the_lexer_would_cut_otherwise_has_no_text() -> None:
    """Two names in a row are always one, and nothing parts them."""
    assert counterexample("start: e\ne: e e | NAME\nNAME: /[a-z]+/\n").first_text is None
    assert counterexample('start: e\ne: e e | NAME\nNAME: /[a-z]+/\n%ignore " "\n').first_text == b"a a a"


def test_texts_come_as_tokens_of_a_vocabulary() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b":", b":a", None], [3])
    report = pdacon.check(Grammar.from_lark('start: rule+\nrule: NAME ":" NAME*\nNAME: /[a-z]/\n'), vocabulary)
    shown = report.findings[0].counterexample
    assert shown is not None
    assert (shown.first_tokens, shown.second_tokens) == ((0, 2), (0, 2, 1))
    assert 'as text: "a:a:" (tokens "a" ":a" ":": 0 2 1)' in report.render()
    assert shown.to_dict()["second"]["tokens"] == [0, 2, 1]


@pytest.mark.parametrize("folder", FIXTURES, ids=lambda folder: folder.name)
def test_conflicts_of_fixtures_have_texts(folder) -> None:
    for finding in report_of(folder / "grammar.lark").findings:
        for _, text in readings(finding.counterexample) if finding.counterexample else ():
            assert text is not None, finding


@pytest.mark.slow
def test_earley_derives_the_texts_of_random_grammars(scaled: Callable[[int], int], tally: Tally) -> None:
    for grammar, _ in loadable_grammars(scaled(30), first_seed=60_000):
        if grammar.options:
            continue
        rules = {nonterminal.name for nonterminal in load(grammar).data.nonterminals}
        try:
            report = pdacon.check(load(replace(grammar, conflicts="error", lookahead="reject")), seconds=0.5)
        except pdacon.LimitExceededError:
            continue
        for finding in report.findings:
            for tree, text in readings(finding.counterexample) if finding.counterexample else ():
                tally(readings=1, texts=text is not None)
                if text is None or tree.symbol not in rules:
                    continue
                lark = Lark(grammar.text, parser="earley", lexer="dynamic_complete", start=tree.symbol)
                lark.parse(text.decode())
                tally(parsed=1)
