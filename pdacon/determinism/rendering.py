"""A report as plain text: one block a finding, the verdict last, where a terminal shows it."""

from __future__ import annotations

from textwrap import fill

from pdacon.determinism.findings import DeterminismReport, Finding

_INDENT = "    "
_WIDTH = 110


def render_text(report: DeterminismReport) -> str:
    """The whole report; ends with the summary line and no newline."""
    return "\n\n".join([*(_block(finding, report.subject) for finding in report.findings), report.summary()])


def _block(finding: Finding, subject: str) -> str:
    place = str(finding.span) if finding.span is not None else subject
    lines = [f"{place}: {finding.level}[{finding.id}]: {finding.title}"]
    lines += [_wrapped(line) for line in finding.message.split("\n")]
    if finding.witness is not None:
        lines.append(f"{_INDENT}for example: {finding.witness}")
    if finding.repair is not None:
        lines.append(_wrapped(f"repair: {finding.repair}"))
    return "\n".join(lines)


def _wrapped(line: str) -> str:
    if line.startswith(" "):  # Items and productions stay as they are.
        return _INDENT + line
    return fill(line, _WIDTH, initial_indent=_INDENT, subsequent_indent=2 * _INDENT, break_long_words=False)
