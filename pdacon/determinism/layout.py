"""What keeps indentation from being followed -> findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdacon.determinism.findings import TITLES, Finding
from pdacon.lalr import find_imbalances

if TYPE_CHECKING:
    from pdacon.grammar import Grammar


def layout_findings(grammar: Grammar) -> list[Finding]:
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
