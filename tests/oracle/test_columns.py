"""Masks are exact where the column of a line tells what may follow it.

Held against enumeration with stock Lark, as in the small world, with newlines such as ``/\\n+ */``: another one follows
it only where it ends in a blank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from support.lowering import load
from support.random_grammars import loadable_grammars, random_columns_grammar
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark, affordable_length
from support.vocabularies import TinyVocabulary, tiny_vocabularies
from support.world import explore

from pdacon import LimitExceededError, NondeterministicGrammarError, UnsupportedGrammarError


def masks_of(grammar: SmallGrammar, oracle: StockLark, texts: int, prefixes: int) -> Counter[str]:
    length = affordable_length(grammar.alphabet, texts)
    sentences = [text.encode() for text in oracle.sentences(length)]
    kinds: list[TinyVocabulary] = tiny_vocabularies(grammar.letters, sentences, Random(grammar.name))
    fit = [tiny for tiny in kinds if {b" ", b"\n"} <= set(tiny.texts())]
    tiny = Random(grammar.name).choice(fit)
    counts = Counter(grammars=1)
    try:
        counts += explore(oracle, load(grammar), tiny, length, prefixes)
    except (LimitExceededError, NondeterministicGrammarError, UnsupportedGrammarError) as error:
        counts[f"refused_with_{type(error).__name__}"] += 1
    return counts


def test_random_newlines(scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    counts: Counter[str] = Counter()
    for grammar, oracle in loadable_grammars(scaled(24), 5_000_000, random_columns_grammar):
        counts += masks_of(grammar, oracle, 300, 12)
    tally(**counts)
