"""``pdacon check``: reports on standard output, in the format of whoever reads them."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from pdacon.cli.display import BLUE, GREEN, ORANGE, PURPLE, RED, TEAL, printable, show, width
from pdacon.cli.failures import BAD_INPUT, FINDINGS, BadInput, complain, described, in_options
from pdacon.cli.grammars import load_grammar
from pdacon.cli.imported import is_imported
from pdacon.cli.options import GrammarOptions, ReportFormat
from pdacon.cli.waiting import waiting
from pdacon.determinism import Failure, Finding, Level
from pdacon.determinism.report.annotations import failure_annotation, to_annotations
from pdacon.determinism.report.pages import page
from pdacon.determinism.report.sarif import to_sarif
from pdacon.errors import GrammarError, LimitExceededError, PdaconError
from pdacon.front.checking import check
from pdacon.front.report import DeterminismReport

if TYPE_CHECKING:
    from pdacon.detokenizer import Vocabulary

_LEVELS = MappingProxyType({"error": RED, "warning": ORANGE, "note": TEAL})
# The parts of a block: its first line, and the source lines below it.
_HEAD = re.compile(r"^(?P<place>.+?): (?P<level>error|warning|note)\[PDA\d+\]: ")
_SOURCE = re.compile(r".*\n(?P<rows>(?: {4}(?: *\d* \|.*|\.\.\.|in .*:)\n)+)")
_ROW = re.compile(
    r"^(?P<gutter> {4} *\d* \|)(?: *(?P<carets>\^+(?: .*)?)$| *(?P<related>-+(?: .*)?)$|.*)", re.MULTILINE
)


def check_grammars(
    names: Sequence[str],
    options: GrammarOptions,
    vocabulary: Vocabulary | None,
    *,
    format: ReportFormat,
    fail_on: Level,
    sizes: bool,
    seconds: float,
    whole: bool = False,
) -> int:
    """Print a report of each grammar; 2 if one could not be checked, else 1 if a finding is at or above ``fail_on``."""
    if format in ("sarif", "github"):
        names = [_from_here(name) for name in names]
    outcomes = [_check(name, options, vocabulary, seconds) for name in dict.fromkeys(names)]
    if format != "json":  # which is data, as Python has it
        outcomes = [
            outcome if is_imported(name) or isinstance(outcome, Failure) else _of_options(outcome)
            for name, outcome in zip(dict.fromkeys(names), outcomes, strict=True)
        ]
    reports = [outcome for outcome in outcomes if isinstance(outcome, DeterminismReport)]
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    if format == "text":
        _print_text(reports, sizes, whole)
    else:
        _PRINTERS[format](reports, failures)
    if failures:
        return BAD_INPUT
    return FINDINGS if any(report.at_least(fail_on) for report in reports) else 0


def explain_finding(id: str) -> int:
    """Print what an id or an error means: as Markdown, rendered in a terminal, else as wide as COLUMNS."""
    try:
        text = page(id)
    except ValueError as problem:
        raise BadInput(str(problem)) from problem
    # The library's own style of code has a black background, whatever the terminal's is.
    console = Console(width=width(), theme=Theme({"markdown.code": f"bold {TEAL}"}))
    if console.is_terminal:
        from rich.markdown import Markdown

        console.print(Markdown(text, code_theme="ansi_dark"))
    else:
        print(_wrapped(text, width()), end="")  # noqa: T201
    return 0


def _wrapped(markdown: str, width: int) -> str:
    """Markdown that means the same, with no paragraph wider; code, tables and headings stay as they are."""
    lines: list[str] = []
    paragraph: list[str] = []
    code = False

    def fill() -> None:
        text, behind = " ".join(paragraph), "  " if paragraph[:1] and paragraph[0].startswith("- ") else ""
        lines.extend(
            textwrap.wrap(text, width, subsequent_indent=behind, break_long_words=False, break_on_hyphens=False)
        )
        paragraph.clear()

    for line in markdown.splitlines():
        fence = line.startswith("```")
        stays = code or fence or not line.strip() or line[0] in "|#"
        if stays or line.startswith("- "):
            fill()
        if stays:
            lines.append(line)
        else:
            paragraph.append(line.strip())
        code ^= fence
    fill()
    return "\n".join(lines) + "\n"


def _from_here(name: str) -> str:
    """A path below the current folder without what leads there: services know files by their path in the repository."""
    path, here = Path(name), Path.cwd()
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else name


def _check(
    name: str, options: GrammarOptions, vocabulary: Vocabulary | None, seconds: float
) -> DeterminismReport | Failure:
    """A grammar's report. What keeps it from having one is said on standard error too, whatever the format."""
    try:
        with waiting(f"checking {name}", seconds):
            grammar = load_grammar(name, options, several_starts=True, seconds=seconds)
            return check(grammar, vocabulary, seconds=seconds)
    except LimitExceededError as problem:
        message = described(problem)
        complain(BadInput(f"{name}: {message}"))
        return Failure(name, message)
    except (BadInput, PdaconError, OSError) as problem:
        complain(problem)
        if isinstance(problem, GrammarError):
            return Failure(name, in_options(problem.message), problem.span)
        return Failure(name, in_options(described(problem)))


def _print_text(reports: Sequence[DeterminismReport], sizes: bool, whole: bool) -> None:
    for k, report in enumerate(reports):
        last = k == len(reports) - 1
        shown = report.render(width(), sizes=sizes, folded=not whole)
        shown = printable(shown)
        show(_coloured(shown if last or "\n" not in shown else f"{shown}\n"))


def _print_json(reports: Sequence[DeterminismReport], failures: Sequence[Failure]) -> None:
    for found in [*(report.to_dict() for report in reports), *(failure.to_dict() for failure in failures)]:
        print(json.dumps(found, ensure_ascii=False))  # noqa: T201


def _print_sarif(reports: Sequence[DeterminismReport], failures: Sequence[Failure]) -> None:
    log = to_sarif(reports, version("pdacon"), failures)
    print(json.dumps(log, indent=2, ensure_ascii=False))  # noqa: T201


def _print_github(reports: Sequence[DeterminismReport], failures: Sequence[Failure]) -> None:
    for report in reports:
        for line in to_annotations(report):
            print(line)  # noqa: T201
    for failure in failures:
        print(failure_annotation(failure))  # noqa: T201


_PRINTERS = MappingProxyType({"json": _print_json, "sarif": _print_sarif, "github": _print_github})


def _of_options(report: DeterminismReport) -> DeterminismReport:
    """The report with what is said of keyword arguments said of options."""
    return replace(report, findings=tuple(map(_finding_of_options, report.findings)))


def _finding_of_options(finding: Finding) -> Finding:
    repair = None if finding.repair is None else in_options(finding.repair)
    return replace(finding, message=in_options(finding.message), repair=repair)


def _coloured(rendered: str) -> Text:
    return Text("\n\n").join(_coloured_block(block) for block in rendered.split("\n\n"))


def _coloured_block(block: str) -> Text:
    text = Text(block)
    head = _HEAD.match(block)
    if head is None:
        text.highlight_regex(r"(?<=: )ok\b", f"bold {GREEN}")
        text.highlight_regex(r"(?<=: )refused\b", f"bold {RED}")
        return text
    colour = _LEVELS[head["level"]]
    text.stylize("bold", 0, block.find("\n") % (len(block) + 1))
    text.stylize(f"bold {colour}", head.start("level"), head.end() - 2)
    source = _SOURCE.match(block)
    for row in _ROW.finditer(block, *(source.span("rows") if source else (0, 0))):
        text.stylize(BLUE, *row.span("gutter"))
        text.stylize(f"bold {colour}", *row.span("carets"))
        text.stylize(BLUE, *row.span("related"))
    text.highlight_regex(re.compile(r"^ {4}(for example|cause|repair(, in .+?)?):", re.MULTILINE), f"bold {GREEN}")
    text.highlight_regex("•", f"bold {PURPLE}")
    return text
