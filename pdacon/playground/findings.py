"""Says what the checker found as the page shows it, with the repairs that it can take.

In: a source and its report, or the error that reading it raised. Out: JSON-ready records.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pdacon import DeterminismReport, UnsupportedSchemaError
from pdacon.determinism import Finding, repaired_texts
from pdacon.errors import GrammarError, PdaconError, Span
from pdacon.playground.sources import POLICIES, Source

_MOST = 60  # findings
_CHOICE = 'conflicts="shift"'
_COMMITMENT = 'lookahead="commit"'


def report_record(source: Source, report: DeterminismReport, *, complete: bool) -> dict[str, Any]:
    """A report: its verdict and findings. ``complete``: it is that of the checker, with what takes longer."""
    return {
        "ok": report.ok,
        "complete": complete,
        "summary": report.summary().partition(": ")[2],
        "unfinished": list(report.unfinished),
        "findings": [
            _finding_record(source, finding, number, offer=complete)
            for number, finding in enumerate(report.findings[:_MOST], 1)
        ],
        "left_out": max(0, len(report.findings) - _MOST),
    }


def _finding_record(source: Source, finding: Finding, number: int, *, offer: bool) -> dict[str, Any]:
    """``number`` is its place in the report, by which `DeterminismReport.draw` knows it."""
    return {
        "id": finding.id,
        "level": finding.level,
        "title": finding.title,
        "message": finding.message,
        "example": finding.example,
        "repair": finding.repair or "",
        "span": _place(source, finding.span),
        "picture": 0 if finding.counterexample is None else number,
        "offers": _offers(source, finding) if offer else [],
    }


def _place(source: Source, span: Span | None) -> list[int] | None:
    """Lines and columns from 1, the end exclusive; None where it is in another file, or in no line of the author's."""
    if span is None or (span.path is not None and Path(span.path).stem != source.builtin):
        return None
    if source.notation not in ("lark", "gbnf", "ebnf", "llguidance"):
        return None
    if span.line > source.text.count("\n") + 1:
        return None
    return [span.line, span.column, span.end_line, span.end_column]


def _offers(source: Source, finding: Finding) -> list[dict[str, Any]]:
    """Repairs as sources that can be read; those that cannot are left to the reader."""
    offers: list[dict[str, Any]] = []
    advice = finding.repair or ""
    if source.notation == "lark":
        repaired = repaired_texts(source.text, finding, lambda text: replace(source, text=text).grammar())
        offers += [{"label": label, "change": {"text": text}} for label, text in repaired]
    policies = POLICIES.get(source.notation, ())
    if _CHOICE in advice and "conflicts" in policies:
        label = "accept what Lark chooses" if source.notation == "lark" else "settle it by a shift"
        offers.append({"label": label, "change": {"conflicts": "shift"}})
    if _COMMITMENT in advice and "lookahead" in policies:
        offers.append({"label": "accept the loss of such texts", "change": {"lookahead": "commit"}})
    return offers


def error_record(source: Source, error: PdaconError | ValueError) -> dict[str, Any]:
    """Why there is no grammar, or no constraint: the message, and the place where it has one."""
    span = _place(source, error.span) if isinstance(error, GrammarError) else None
    message = error.message if isinstance(error, GrammarError) and span is not None else str(error)
    pointer = error.pointer if isinstance(error, UnsupportedSchemaError) else None
    return {"kind": type(error).__name__, "message": message, "span": span, "pointer": pointer}
