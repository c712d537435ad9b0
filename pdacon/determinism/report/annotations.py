"""Reports as workflow commands of GitHub Actions, which show them beside the lines of a change.

Source: GitHub Docs, "Workflow commands for GitHub Actions"; which characters are escaped: actions/toolkit, command.ts.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from pdacon.determinism.report.findings import Failure
from pdacon.determinism.report.rendering import plain_message, unfinished_line
from pdacon.determinism.report.report import Report
from pdacon.grammar import Span

_COMMANDS = MappingProxyType({"error": "error", "warning": "warning", "note": "notice"})


def to_annotations(report: Report) -> Iterator[str]:
    """One command a line for each finding, and for what was not looked for to the end."""
    for finding in report.findings:
        title = f"{finding.id}: {finding.title}"
        yield _command(_COMMANDS[finding.level], finding.span, report.subject, title, plain_message(finding))
    if report.unfinished:
        yield _command("notice", None, report.subject, "not looked at to the end", unfinished_line(report))


def failure_annotation(failure: Failure) -> str:
    """The command for a grammar that could not be checked."""
    return _command("error", failure.span, failure.path, "not a grammar", failure.message)


def _command(command: str, span: Span | None, path: str, title: str, message: str) -> str:
    place = {"file": path if span is None else span.path or path}
    if span is not None:
        place |= {"line": str(span.line), "endLine": str(span.end_line)}
        if span.line == span.end_line:  # GitHub has no columns in places of several lines.
            place |= {"col": str(span.column), "endColumn": str(span.end_column)}
    properties = ",".join(f"{name}={_property(value)}" for name, value in {**place, "title": title}.items())
    return f"::{command} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
