"""What tests of advice on lexemes begin with: the witnesses of a grammar, and all short texts."""

from __future__ import annotations

from itertools import product

from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.front.grammar import Grammar
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer


def texts_of(text: str, **options: object) -> WitnessTexts:
    grammar = Grammar.from_lark(text, **options)
    return WitnessTexts(grammar.data, build_lexer(grammar.data, build_tables(grammar.data)))


def short_texts(alphabet: str, length: int) -> list[str]:
    return ["".join(letters) for n in range(length + 1) for letters in product(alphabet, repeat=n)]
