"""Masks are exact where the column of a line tells what may follow it.

Held against enumeration with stock Lark, as in the small world, with newlines such as ``/\\n+ */``: another one follows
it only where it ends in a blank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from support.indented_grammars import TreeIndenter
from support.lark_oracle import lark_parser
from support.lowering import load
from support.random_grammars import loadable_grammars, random_columns_grammar
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark, affordable_length
from support.vocabularies import TinyVocabulary, tiny_vocabularies
from support.world import explore

from pdacon import (
    Grammar,
    LimitExceededError,
    NondeterministicGrammarError,
    UnsupportedGrammarError,
    Vocabulary,
    compile,
)


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


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ("start: _NL _INDENT start _NL? _NL _INDENT _NL* _NL _DEDENT _DEDENT | _NL", b"\n  "),
        ("start: _NL _INDENT start _NL? _NL _INDENT _NL* _NL _DEDENT _DEDENT | _NL", b"\n  \n"),
    ],
)
def test_a_completion_keeps_the_column_of_what_was_read(rules: str, text: bytes) -> None:
    grammar = Grammar.from_lark(f"{rules}\n_NL: /;*\\n\\t* */\n%declare _INDENT _DEDENT\n", postlex=TreeIndenter())
    every_byte = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])
    matcher = compile(grammar, every_byte).matcher()
    assert matcher.accept_bytes(text)
    lark_parser(grammar).parse((text + matcher.shortest_completion()).decode())
