"""Configuration, the executable meaning, accepts a text if and only if stock Lark parses it: all short texts."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from support.lowering import load, machine_of
from support.random_grammars import loadable_grammars
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar, small_grammar
from support.small_stack import in_small_stack
from support.stock_lark import StockLark, affordable_length, shared_lark

from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine


def disagreements(
    grammar: SmallGrammar, oracle: StockLark, machine: Machine, length: int
) -> tuple[list[str], int, int]:
    """Texts on which Lark and Configuration differ; how many texts were tried, and how many of them are sentences."""
    wrong: list[str] = []
    tried = sentences = 0
    for index, start in enumerate(grammar.starts):
        layer: list[tuple[str, Configuration | None]] = [("", Configuration.initial(machine, index))]
        for n in range(length + 1):
            if n:
                layer = [
                    (text + character, configuration and configuration.read(grammar.encode(character)))
                    for text, configuration in layer
                    for character in grammar.alphabet
                ]
            for text, configuration in layer:
                expected = oracle.accepts(text, start)
                tried += 1
                sentences += expected
                if expected != (configuration is not None and configuration.ends()):
                    wrong.append(text)
    return wrong, tried, sentences


@pytest.mark.parametrize("grammar", SMALL_GRAMMARS, ids=lambda grammar: grammar.name)
def test_curated_grammar_agrees_with_lark(
    grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    length = grammar.length or affordable_length(grammar.alphabet, scaled(2000))
    wrong, tried, sentences = disagreements(grammar, shared_lark(grammar), machine_of(grammar), length)
    assert not wrong, str(grammar)
    tally(grammars=1, texts=tried, sentences=sentences)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(8))
def test_random_grammars_agree_with_lark(chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    for grammar, oracle in loadable_grammars(scaled(20), first_seed=1_000_000 * chunk):
        loaded = load(grammar)
        tables = build_tables(loaded.data)
        if any(conflict.kind == "reads-cycle" for conflict in tables.conflicts):
            tally(grammars_whose_table_is_undefined=1)
            continue
        length = affordable_length(grammar.alphabet, 400)
        wrong, tried, sentences = disagreements(grammar, oracle, Machine(loaded.data, tables), length)
        assert not wrong, str(grammar)
        tally(grammars=1, texts=tried, sentences=sentences)


def test_configurations_are_values() -> None:
    """Equal texts, and texts between which the grammar cannot tell, give equal configurations."""
    machine = machine_of(small_grammar("left_recursion"))
    first, second = (Configuration.initial(machine).read(text) for text in (b"a,", b"a,b,"))
    assert first is not None
    assert first == second
    assert hash(first) == hash(second)
    assert first != Configuration.initial(machine)


def test_dead_lexeme_is_none() -> None:
    machine = machine_of(small_grammar("one_letter"))
    assert Configuration.initial(machine).step(ord("b")) is None
    assert Configuration.initial(machine).read(b"aa") is None


@pytest.mark.slow
def test_many_lexemes_that_are_not_certain_are_no_deep_recursion() -> None:
    """Each "a" may be a lexeme, so that configurations nest as deep as the text is long."""
    machine = machine_of(SmallGrammar("nested", "", 'start: (A | B)+\nA: "a"\nB: /a{300}b/\n', "ab"))

    def read() -> None:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(200)
        try:
            one, other = (Configuration.initial(machine).read(b"a" * 250) for _ in range(2))
            assert one is not None
            assert other is not None
            assert sum(1 for _ in one.alternatives()) == 251
            assert one.ends()
            assert (one == other, hash(one) == hash(other), repr(one) == repr(other)) == (True, True, True)
            assert one != one.step(ord("a"))
            assert one.step(ord("c")) is None
        finally:
            sys.setrecursionlimit(before)

    in_small_stack(read)
