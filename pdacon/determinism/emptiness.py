"""Grammars without a single sentence."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pdacon.composition import Limits, compose
from pdacon.determinism.examples import shortest_yields
from pdacon.determinism.findings import TITLES, Finding
from pdacon.detokenizer import Vocabulary

if TYPE_CHECKING:
    from pdacon.grammar import Grammar
    from pdacon.lalr import Tables
    from pdacon.lexer import Lexer


def emptiness_findings(grammar: Grammar) -> list[Finding]:
    """An error for each start rule that derives no string of terminals. Linear in the grammar, up to a logarithm."""
    length = shortest_yields(grammar).length
    first = grammar.end + 1
    endless = [nonterminal.name for nonterminal, n in zip(grammar.nonterminals, length, strict=True) if n < 0]
    return [
        Finding(
            id="PDA007",
            level="error",
            title=f"{TITLES['PDA007']}: {grammar.symbol_name(start)} derives no text",
            message=f"Every alternative of these rules needs one of them again: {', '.join(endless)}.",
            span=grammar.nonterminals[start - first].span,
            symbols=(grammar.symbol_name(start), *(name for name in endless if name != grammar.symbol_name(start))),
            repair="give one of these rules an alternative that does not need another of them.",
        )
        for start in dict.fromkeys(grammar.starts)
        if length[start - first] < 0
    ]


def unreadable_findings(
    grammar: Grammar, tables: Tables, lexer: Lexer, vocab: Vocabulary | None = None
) -> list[Finding]:
    """An error for each start rule that derives strings of terminals, none of which any text is cut into.

    For a grammar without other errors. With a vocabulary: none that it can spell. Cost: one composition, as in
    ``compile``, with a vocabulary of the 256 bytes where none is given.

    Raises
    ------
    VocabularyError
        As ``compile`` does: the grammar has layout, and the vocabulary cannot spell every column.
    """
    vocabulary = _every_byte() if vocab is None else vocab
    empty = [
        k for k in range(len(grammar.starts)) if compose(lexer, tables, k, vocabulary, Limits(), 0.0).empty_language()
    ]
    what = "is cut" if vocab is None else "that the vocabulary can spell is cut"
    return [
        Finding(
            id="PDA007",
            level="error",
            title=f"{TITLES['PDA007']}: no text is read as {grammar.options.start[k]}",
            message=f"The rules derive terminals, but no text {what} into them: a lexeme takes the text that the "
            "next one would need, or another terminal is found in its place.",
            span=grammar.nonterminals[grammar.starts[k] - grammar.end - 1].span,
            symbols=(grammar.options.start[k],),
            repair="let the terminals stop earlier, exclude each other, or be parted by something else.",
        )
        for k in empty
    ]


@cache
def _every_byte() -> Vocabulary:
    return Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])
