"""A report as plain text: one block a finding, the verdict last, where a terminal shows it."""

from __future__ import annotations

from textwrap import fill

from pdacon.determinism.findings import DeterminismReport, Finding

_INDENT = "    "
_WIDTH = 110  # Of a repair; what quotes the grammar is never broken.


def render_text(report: DeterminismReport) -> str:
    """The whole report; ends with the summary line and no newline."""
    return "\n\n".join([*(_block(finding, report.subject) for finding in report.findings), report.summary()])


def _block(finding: Finding, subject: str) -> str:
    place = str(finding.span) if finding.span is not None else subject
    lines = [f"{place}: {finding.level}[{finding.id}]: {finding.title}"]
    lines += [_INDENT + line for line in finding.message.split("\n")]
    if finding.witness is not None:
        lines.append(f"{_INDENT}for example: {finding.witness}")
    if finding.repair is not None:
        lines.append(fill(f"repair: {finding.repair}", _WIDTH, initial_indent=_INDENT, subsequent_indent=2 * _INDENT))
    return "\n".join(lines)
