"""Grammars without a single sentence, as far as the productions alone can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdacon.determinism.examples import shortest_yields
from pdacon.determinism.findings import TITLES, Finding

if TYPE_CHECKING:
    from pdacon.grammar import Grammar


def emptiness_findings(grammar: Grammar) -> list[Finding]:
    """An error for each start rule that derives no string of terminals. Linear in the grammar, up to a logarithm.

    What no lexer can produce although the productions derive it is found by ``compile``, which raises
    EmptyLanguageError.
    """
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
