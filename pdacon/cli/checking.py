"""``pdacon check``: a report on standard output."""

from __future__ import annotations

import json

from rich.text import Text

from pdacon.cli.display import show, width
from pdacon.cli.failures import FINDINGS, in_options
from pdacon.determinism import DeterminismReport, Level, check
from pdacon.grammar import Grammar

_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def check_grammar(grammar: Grammar, *, json_format: bool, fail_on: Level) -> int:
    """Print the report; 1 if a finding is at or above ``fail_on``."""
    report = check(grammar)
    if json_format:
        print(json.dumps(report.to_dict(), indent=2, ensure_ascii=False))  # noqa: T201
    else:
        _print_report(report)
    return FINDINGS if report.at_least(fail_on) else 0


def _print_report(report: DeterminismReport) -> None:
    text = Text(in_options(report.render(width())))
    for level, style in _STYLES.items():
        text.highlight_regex(rf"\b{level}\[PDA\d+\]", style)
    show(text)
