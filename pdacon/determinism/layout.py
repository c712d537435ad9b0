"""What keeps indentation from being followed -> findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdacon.determinism.findings import TITLES, Finding
from pdacon.errors import UnsupportedGrammarError
from pdacon.lalr import find_imbalances
from pdacon.lexer import check_newline

if TYPE_CHECKING:
    from pdacon.grammar import Grammar


def newline_findings(grammar: Grammar) -> list[Finding]:
    """An error if not every column can follow a newline. For a grammar whose patterns can all be lowered."""
    try:
        check_newline(grammar)
    except UnsupportedGrammarError as error:
        assert grammar.layout is not None
        newline = grammar.terminals[grammar.layout.newline]
        message, _, advice = str(error).removeprefix(f"{error.span}: ").rpartition("; ")
        return [
            Finding(
                id="PDA008",
                level="error",
                title=f"{TITLES['PDA008']}: columns after {newline.name}",
                message=message,
                span=error.span,
                symbols=(newline.name,),
                repair=advice,
            )
        ]
    return []


def balance_findings(grammar: Grammar) -> list[Finding]:
    """An error for each production that opens or closes more than its own. Linear in the grammar."""
    return [
        Finding(
            id="PDA008",
            level="error",
            title=f"{TITLES['PDA008']}: unbalanced {imbalance.what} in rule {imbalance.rule}",
            message=imbalance.message,
            span=imbalance.span,
            symbols=(*imbalance.opens, *imbalance.closes),
            repair=imbalance.advice,
        )
        for imbalance in find_imbalances(grammar)
    ]
