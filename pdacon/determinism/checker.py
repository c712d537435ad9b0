"""The checker: runs each kind of check and sorts what they find. It composes; the checks are next door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdacon.determinism.conflicts import conflict_findings
from pdacon.determinism.emptiness import emptiness_findings
from pdacon.determinism.findings import LEVELS, DeterminismReport, Finding
from pdacon.lalr import build_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pdacon.grammar import Grammar
    from pdacon.lalr import Tables


def check(grammar: Grammar) -> DeterminismReport:
    """Is the grammar deterministic, as pdacon needs it? Findings are returned, never raised.

    Parameters
    ----------
    grammar : Grammar
        Its options ``conflicts`` and ``lookahead`` decide which findings are errors.

    Returns
    -------
    DeterminismReport
        ``ok`` if ``compile`` takes the grammar.

    Raises
    ------
    LimitExceededError
        If the tables are larger than ``build_tables`` allows.

    Notes
    -----
    Cost: one build of the LALR tables and of the lexing automaton, plus time linear in what is found.
    """
    return make_report(grammar, table_findings(grammar, build_tables(grammar)))


def table_findings(grammar: Grammar, tables: Tables) -> list[Finding]:
    """What productions and LALR tables show."""
    return [*emptiness_findings(grammar), *conflict_findings(grammar, tables)]


def make_report(grammar: Grammar, findings: Iterable[Finding]) -> DeterminismReport:
    """Findings in order: worst first, then by id and place."""

    def rank(finding: Finding) -> tuple[object, ...]:
        span = finding.span
        place = (span.path or "", span.line, span.column) if span is not None else ("", 0, 0)
        return LEVELS.index(finding.level), finding.id, place, finding.title

    options = grammar.options
    return DeterminismReport(
        subject=grammar.source_path or "<grammar>",
        findings=tuple(sorted(findings, key=rank)),
        conflicts=options.conflicts,
        lookahead=options.lookahead,
    )
