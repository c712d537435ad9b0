"""Chains of reduces of empty rules, which can be as long as 2 to the number of rules.

Stock Lark walks along them, so it is asked about short ones; no chain is too long for what is known of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice
from random import Random

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from support.definition import mask_of
from support.random_grammars import loadable_grammars, random_grammar_with_empty_rules
from support.scaling import scaled
from support.stock_lark import texts
from support.vocabularies import tiny_vocabularies
from support.world import explore

import pdacon
from pdacon import Grammar, UnsupportedGrammarError, Vocabulary
from pdacon.front.sampling import sample
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])


def empty(rules: int) -> str:
    """A rule that matches nothing, with 2 ** (rules + 1) - 1 reduces."""
    return "".join(f"a{i}: a{i - 1} a{i - 1}\n" for i in range(rules, 0, -1)) + "a0:\n"


SHAPES = {
    "beside another": 'start: "y" | aK "x"',
    "alone": 'start: aK "x"',
    "at the end": 'start: "x" aK',
    "the whole text": "start: aK",
    "between and again": 'start: aK "x" aK "y" aK start | aK',
    "on each level of a right recursion": 'start: "x" aK start aK | "y"',
    "with a part that may be there": 'start: (b aK "x" | c "y")+\nb: aK | aK "z"\nc: "w"?',
    "popped again": 'start: b "x" | c "y"\nb: aK d aK\nc: "z"\nd: aK',
    "one after the other": 'start: "w" (aK "x")* "y"',
    "in front of what was read": 'start: b "x" | b "y" "x"\nb: c aK\nc: d aK | "z"\nd: "w" aK | "w" aK d',
}


def written(shape: str, rules: int) -> str:
    return SHAPES[shape].replace("aK", f"a{rules}") + "\n" + empty(rules)


@pytest.mark.parametrize("rules", [1, 7, 8, min(12, 9 + scaled(1))])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_read_as_stock_lark_reads_them(shape: str, rules: int) -> None:
    oracle = Lark(written(shape, rules), parser="lalr")
    grammar = Grammar.from_lark(written(shape, rules))
    machine = Machine(grammar.data, build_tables(grammar.data))
    constraint = pdacon.compile(grammar, BYTES)
    for text in texts("wxyz", 3):
        try:
            oracle.parse(text)
        except UnexpectedInput:
            accepted = False
        else:
            accepted = True
        matcher = constraint.matcher()
        assert (matcher.accept_bytes(text.encode()) and matcher.is_accepting()) == accepted
        configuration = Configuration.initial(machine).read(text.encode())
        assert (configuration is not None and configuration.ends()) == accepted


@pytest.mark.parametrize("rules", [9, 17, 60])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_chain_is_too_long(shape: str, rules: int) -> None:
    """Whatever is read is read as with a short one."""
    grammar = Grammar.from_lark(written(shape, rules))
    assert pdacon.check(grammar).ok
    short, constraint = (pdacon.compile(Grammar.from_lark(written(shape, k)), BYTES) for k in (1, rules))
    machine = Machine(grammar.data, build_tables(grammar.data))
    pending = [(b"", short.matcher(), constraint.matcher())]
    for text, one, other in pending:
        mask = mask_of(other, 257)
        assert mask == mask_of(one, 257)
        configuration = Configuration.initial(machine).read(text)
        assert configuration is not None
        assert configuration.ends() == one.is_accepting() == other.is_accepting() == (256 in mask)
        explanation = other.explain(256)
        assert explanation.allowed == (256 in mask)
        assert explanation.expected == one.explain(256).expected
        completion = other.shortest_completion()
        assert completion == one.shortest_completion()
        if len(text) < 4:
            for byte in sorted(mask - {256}):
                forks = one.fork(), other.fork()
                assert all(fork.accept_bytes(bytes([byte])) for fork in forks)
                pending.append((text + bytes([byte]), *forks))
        assert other.accept_bytes(completion)
        assert other.is_accepting()
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes(), BYTES, verify=True)
    assert mask_of(loaded.matcher(), 257) == mask_of(short.matcher(), 257)


@pytest.mark.parametrize("shape", SHAPES)
def test_random_texts_of_long_chains(shape: str) -> None:
    constraint = pdacon.compile(Grammar.from_lark(written(shape, 40)), BYTES)
    lark = Lark(written(shape, 1), parser="lalr")
    for text in islice(sample(constraint, 1), 5):
        lark.parse(text)


CONFLICTS = {
    "two empty rules": ('start: aK "x" | b "x"\nb:', "PDA002"),
    "around an else": ('start: "i" aK start aK "e" start | aK "i" aK start | "s"', "PDA001"),
    "ambiguous": ('start: start aK start | "x"', "PDA002"),
    "to the left and to the right": ('start: aK start aK | "x"', "PDA001"),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_conflicts_around_long_chains_are_explained(name: str) -> None:
    """The tree of what matches nothing has 2 ** 60 leaves; nobody wants to see it."""
    shape, expected = CONFLICTS[name]
    report = pdacon.check(Grammar.from_lark(shape.replace("aK", "a60") + "\n" + empty(60)))
    (finding,) = report.findings
    assert finding.id == expected
    assert finding.counterexample is not None
    assert len(finding.counterexample.first.leaves()) < 10
    assert len(report.render()) < 3000


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_masks_of_random_grammars_with_empty_rules(
    chunk: int, scaled: Callable[[int], int], tally: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("support.stock_lark.MOST_REDUCES", 10_000)
    counts: Counter[str] = Counter()
    for grammar, oracle in loadable_grammars(scaled(3), 1_000_000 * (chunk + 1300), random_grammar_with_empty_rules):
        counts["grammars"] += 1
        loaded = Grammar.from_lark(grammar.text, conflicts="shift")
        try:
            errors = [finding.id for finding in pdacon.check(loaded).findings if finding.level == "error"]
        except UnsupportedGrammarError as error:
            counts[f"refused_for_{error.feature}"] += 1
            continue
        if errors and errors != ["PDA007"]:
            counts["refused"] += 1
            continue
        sentences = [grammar.encode(text) for text in oracle.sentences(4)]
        for tiny in tiny_vocabularies(grammar.letters, sentences, Random(grammar.name))[:2]:
            counts += explore(oracle, loaded, tiny, 4, 25)
    tally(**counts)
