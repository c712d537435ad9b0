"""A report as plain text: one block a finding, the verdict last, where a terminal shows it."""

from __future__ import annotations

from textwrap import fill

from pdacon.determinism.findings import DeterminismReport, Finding

_INDENT = "    "
WIDTH = 110
"""Columns of a report where nothing else is asked for."""


def render_text(report: DeterminismReport, width: int = WIDTH) -> str:
    """The whole report; ends with the summary line and no newline."""
    return "\n\n".join([*(_block(finding, report.subject, width) for finding in report.findings), report.summary()])


def _block(finding: Finding, subject: str, width: int) -> str:
    place = str(finding.span) if finding.span is not None else subject
    lines = [f"{place}: {finding.level}[{finding.id}]: {finding.title}"]
    lines += [_wrapped(line, width) for line in finding.message.split("\n")]
    if finding.witness is not None:
        lines.append(f"{_INDENT}for example: {finding.witness}")
    if finding.repair is not None:
        lines.append(_wrapped(f"repair: {finding.repair}", width))
    return "\n".join(lines)


def _wrapped(line: str, width: int) -> str:
    if line.startswith(" "):  # Items and productions stay as they are.
        return _INDENT + line
    return fill(line, width, initial_indent=_INDENT, subsequent_indent=2 * _INDENT, break_long_words=False)
