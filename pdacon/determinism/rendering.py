"""A report as plain text: one block a finding, the verdict last, where a terminal shows it."""

from __future__ import annotations

from textwrap import fill

from pdacon.determinism.findings import DeterminismReport, Finding
from pdacon.determinism.snippets import Mark, snippet
from pdacon.determinism.trees import counterexample_lines

_INDENT = "    "
WIDTH = 110
"""Columns of a report where nothing else is asked for."""


def render_text(report: DeterminismReport, width: int = WIDTH) -> str:
    """The whole report: blocks, an empty line between them; it ends with the summary line and no newline."""
    blocks = [_block(finding, report, width) for finding in report.findings]
    return "\n\n".join([*blocks, *_more(report, width), report.summary()])


def plain_message(finding: Finding) -> str:
    """The message, an example and the repair as plain lines, for a reader that wraps them itself."""
    lines = [finding.message]
    if finding.witness is not None:
        lines.append(f"For example: {finding.witness}")
    if finding.repair is not None:
        lines.append(f"Repair: {finding.repair}")
    return "\n".join(lines)


def _block(finding: Finding, report: DeterminismReport, width: int) -> str:
    place = str(finding.span) if finding.span is not None else report.subject
    lines = [f"{place}: {finding.level}[{finding.id}]: {finding.title}"]
    lines += _source_lines(finding, report, width)
    lines += [_wrapped(line, width) for line in finding.message.split("\n")]
    if finding.counterexample is not None:
        shown = counterexample_lines(finding.counterexample, _names(finding), width - len(_INDENT))
        lines += [_INDENT + line for line in shown]
    elif finding.witness is not None:
        lines.append(f"{_INDENT}for example: {finding.witness}")
    if finding.cause is not None:
        lines.append(f"{_INDENT}cause: {finding.cause.replace('-', ' ')}")
    if finding.repair is not None:
        lines.append(_wrapped(f"repair: {finding.repair}", width))
    return "\n".join(lines)


def _source_lines(finding: Finding, report: DeterminismReport, width: int) -> list[str]:
    """The place and what is related to it, as far as they are in the grammar's own text."""
    marks = [] if finding.span is None else [Mark(finding.span)]
    marks += [Mark(span, "-", label) for label, span in finding.related]
    return snippet(report.source, marks, width, _INDENT)


def _names(finding: Finding) -> tuple[str, str]:
    if finding.id == "PDA001":
        return "shift, as Lark does", "reduce"
    return "one reduction", "the other"


def _more(report: DeterminismReport, width: int) -> list[str]:
    """Where there is more about each kind of finding."""
    ids = list(dict.fromkeys(finding.id for finding in report.findings))
    if not ids:
        return []
    others = f" (or {', '.join(ids[1:])})" if len(ids) > 1 else ""
    return [fill(f"More about it: pdacon check --explain {ids[0]}{others}", width, break_on_hyphens=False)]


def _wrapped(line: str, width: int) -> str:
    if line.startswith(" "):  # Items and productions stay as they are.
        return _INDENT + line
    return fill(line, width, initial_indent=_INDENT, subsequent_indent=2 * _INDENT, break_long_words=False)
