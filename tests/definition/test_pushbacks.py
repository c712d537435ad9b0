"""What waits after a match is told apart by what it does alone: masks, by enumeration with stock Lark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from random import Random

import pytest
from support.lowering import load
from support.random_grammars import loadable_grammars
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark, affordable_length, texts
from support.vocabularies import tiny_vocabularies
from support.waiting_grammars import random_waiting_grammar, random_waiting_layout
from support.world import explore

import pdacon
from pdacon import (
    EmptyLanguageError,
    Grammar,
    LimitExceededError,
    Limits,
    NondeterministicGrammarError,
    UnsupportedGrammarError,
    VocabularyError,
)

BYTES = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
REFUSALS = (EmptyLanguageError, LimitExceededError, NondeterministicGrammarError, UnsupportedGrammarError)
LIMITS = Limits(states=20_000)


def waiting(grammar: SmallGrammar, counts: Counter[str]) -> pdacon.Constraint | None:
    """Compiled, unless it is refused; counted."""
    counts["grammars"] += 1
    try:
        constraint = pdacon.compile(load(grammar), BYTES, limits=LIMITS)
    except REFUSALS:
        counts["refused"] += 1
        return None
    counts["grammars_that_wait"] += constraint.statistics()["lookahead"] > 1
    return constraint


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(2))
def test_masks_of_random_grammars_in_which_matches_wait(
    chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    grammars = loadable_grammars(scaled(8), 1_000_000 * (chunk + 900), random_waiting_grammar)
    tally(**masks_of(grammars, 20))


@pytest.mark.parametrize("chunk", range(2))
def test_masks_of_random_grammars_with_columns_behind_a_match(
    chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """What has been read after a match can hold newlines, whose columns must be those of the text."""
    grammars = loadable_grammars(scaled(8), 1_000_000 * (chunk + 900), random_waiting_layout)
    tally(**masks_of(grammars, 12))


def masks_of(grammars: Iterable[tuple[SmallGrammar, StockLark]], prefixes: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for grammar, oracle in grammars:
        if waiting(grammar, counts) is None:
            continue
        length = affordable_length(grammar.alphabet, 300)
        sentences = [grammar.encode(text) for text in oracle.sentences(length)]
        tinies = tiny_vocabularies(grammar.letters, sentences, Random(grammar.name))
        for tiny in Random(grammar.name).sample(tinies, 2):
            with suppress(LimitExceededError, VocabularyError):
                counts += explore(oracle, load(grammar), tiny, length, prefixes)
    assert counts["grammars_that_wait"]
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(2))
def test_texts_of_random_grammars_with_columns_behind_a_match(
    chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """What has been read after a match can hold newlines, whose columns must be those of the text."""
    counts: Counter[str] = Counter()
    for grammar, oracle in loadable_grammars(scaled(15), 1_000_000 * (chunk + 910), random_waiting_layout):
        constraint = waiting(grammar, counts)
        if constraint is None:
            continue
        for text in texts(grammar.alphabet, affordable_length(grammar.alphabet, scaled(1500))):
            matcher = constraint.matcher()
            accepted = matcher.accept_bytes(text.encode()) and matcher.is_accepting()
            assert accepted == oracle.accepts(text), (str(grammar), text)
            counts += Counter(texts=1, sentences=accepted)
    assert counts["grammars_that_wait"]
    tally(**counts)


def test_texts_that_do_the_same_are_one() -> None:
    """Between "a" and "x" nine bytes of six classes, which are a name in any order: not a state for each text."""
    rules = 'start: ("a" | WORD | NAME | "bcd" | "efb")+\nWORD: /a[b-f0-9]{9}x/\nNAME: /[b-f0-9]+/\n'
    constraint = pdacon.compile(Grammar.from_lark(rules), BYTES, limits=LIMITS)
    assert constraint.statistics()["lookahead"] == 9
    assert constraint.statistics()["lexer_states"] < 100
