"""A report as plain text: one block a finding, the verdict last, where a terminal shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import fill

from pdacon.base.snippets import Mark, snippet
from pdacon.determinism.report.derivation_trees import counterexample_lines, plain_lines, sentence
from pdacon.determinism.report.findings import TITLES, Finding, Findings

_INDENT = "    "
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"|/(?!/)(?:\\.|[^/\\])+/|[\s\S]')
"""A string, a pattern, or a character of a rule."""
WIDTH = 110
"""Columns of a report where nothing else is asked for."""
NO_REPAIR = "none is needed"
"""How repairs begin of what may well be meant."""
_EXCERPT = 3
"""Errors in an exception's message."""
_MANY = 3
"""Notes of one kind that are shown together."""


def render_text(report: Findings, width: int = WIDTH, *, sizes: bool = False, folded: bool = False) -> str:
    """The whole report: blocks, an empty line between them; it ends with the summary line and no newline.

    ``folded``: of notes that need no repair only their first lines, after all else.
    """
    blocks = []
    short = [finding for finding in report.findings if folded and _needs_nothing(finding)]
    whole = [finding for finding in report.findings if finding not in short]
    for _, alike in groupby(whole, key=lambda finding: (finding.level, finding.id)):
        findings = list(alike)
        if _are_noise(findings):
            blocks.append(_together(findings, report, width))
        else:
            blocks += [_block(finding, report, width) for finding in findings]
    if short:
        heads = [_head(finding, report) for finding in short]
        these = "this one" if len(heads) == 1 else "these"
        line = f"No repair is needed of {these}, if it is meant: `pdacon check --all` and report.render() say more."
        blocks.append("\n".join([*heads, _wrapped(line, width)]))
    blocks += _more(report, width)
    if report.unfinished:
        blocks.append(fill(unfinished_line(report), width, subsequent_indent=_INDENT, break_on_hyphens=False))
    if sizes and report.sizes is not None:
        lines = report.sizes.render().split("\n")
        blocks.append("\n".join(fill(line, width, subsequent_indent=_INDENT) for line in lines))
    return "\n\n".join([*blocks, report.summary()])


def render_excerpt(report: Findings) -> str:
    """The verdict, and of the first errors the place, the source line and an example; no trailing newline."""
    errors = report.at_least("error")
    lines = [report.summary()]
    for finding in errors[:_EXCERPT]:
        lines.append(_head(finding, report))
        lines += _marked([] if finding.span is None else [Mark(finding.span)], report, WIDTH)
        lines += [_INDENT + line for line in _example(finding)]
    more = f"{len(errors) - _EXCERPT} more, and repairs" if len(errors) > _EXCERPT else "Repairs"
    return "\n".join([*lines, f"{more}: print(error.report.render()), or `pdacon check` on the command line"])


def plain_message(finding: Finding) -> str:
    """The message, an example and the repair as plain lines, for a reader that wraps them itself."""
    lines = [finding.message]
    if finding.counterexample is not None:
        lines += plain_lines(finding.counterexample)
    elif finding.witness is not None:
        lines.append(f"For example: {finding.witness}")
    if finding.repair is not None:
        lines.append(f"Repair: {finding.repair}")
    return "\n".join(lines)


def unfinished_line(report: Findings) -> str:
    """What was not looked for to the end."""
    shown = ", ".join(f"{id} ({TITLES[id]})" for id in report.unfinished)
    return (
        f"Not looked for to the end, because time or memory ran out; there may be more: {shown}. "
        "Give it more seconds to go on."
    )


def _needs_nothing(finding: Finding) -> bool:
    """Whether it is a note of which its repair says that none is needed."""
    return finding.level == "note" and finding.repair is not None and finding.repair.startswith(NO_REPAIR)


def _are_noise(findings: list[Finding]) -> bool:
    """Whether they are so many notes of one kind that one block is enough; conflicts are each about other rules."""
    return len(findings) >= _MANY and findings[0].level == "note" and all(f.counterexample is None for f in findings)


def _together(findings: list[Finding], report: Findings, width: int) -> str:
    """One block for all: where each is, and the first one in full."""
    first = findings[0]
    head = _head(replace(first, title=f"{TITLES[first.id]}: {len(findings)} of them"), report)
    details = [(finding.title.removeprefix(f"{TITLES[first.id]}: "), finding.span) for finding in findings]
    marks = [Mark(span, label=detail) for detail, span in details if span is not None]
    lines = [head, *_marked(marks, report, width)]
    lines += [_wrapped(f"also: {detail}", width) for detail, span in details if span is None]
    lines.append(_wrapped(f"About the first, {details[0][0]}:", width))
    lines += _block(replace(first, span=None, related=()), report, width).split("\n")[1:]
    lines.append(_wrapped("The others have messages and repairs of their own: see the report as data, or JSON.", width))
    return "\n".join(lines)


def _block(finding: Finding, report: Findings, width: int) -> str:
    lines = [_head(finding, report)]
    lines += _source_lines(finding, report, width)
    lines += [_wrapped(line, width) for line in finding.message.split("\n")]
    if finding.counterexample is not None:
        shown = counterexample_lines(finding.counterexample, finding.id == "PDA001", width - len(_INDENT))
        lines += [_INDENT + line for line in shown]
    elif finding.witness is not None:
        lines += [_wrapped(line, width) for line in _example(finding)]
    if finding.cause is not None:
        lines.append(f"{_INDENT}cause: {finding.cause}")
    if finding.repair is not None:
        elsewhere = finding.span.path if finding.span is not None else None
        where = f", in {elsewhere}" if elsewhere in dict(report.imported_files) else ""
        for line in f"repair{where}: {finding.repair}".split("\n"):
            lines += _alternatives(line, width) if line.startswith(" ") else [_wrapped(line, width)]
    return "\n".join(lines)


def _head(finding: Finding, report: Findings) -> str:
    place = str(finding.span) if finding.span is not None else report.subject
    return f"{place}: {finding.level}[{finding.id}]: {finding.title}"


def _example(finding: Finding) -> list[str]:
    """One line that shows it, if there is one."""
    if finding.counterexample is not None:
        leaves, position = finding.counterexample.first.leaves(), finding.counterexample.position
        return [f"for example: {sentence(leaves, position)}"]
    return [] if finding.witness is None else [f"for example: {finding.witness}"]


def _source_lines(finding: Finding, report: Findings, width: int) -> list[str]:
    """The place and what is related to it."""
    marks = [] if finding.span is None else [Mark(finding.span)]
    marks += [Mark(span, "-", label) for label, span in finding.related]
    return _marked(marks, report, width)


def _marked(marks: Sequence[Mark], report: Findings, width: int) -> list[str]:
    """The marked lines, file by file; the name of a file stands before its lines, but for that of the first mark."""
    texts = dict(report.imported_files)
    files: dict[str | None, list[Mark]] = {}
    for mark in marks:
        files.setdefault(mark.span.path if mark.span.path in texts else None, []).append(mark)
    lines: list[str] = []
    for path, here in files.items():
        if lines:
            lines.append(f"{_INDENT}in {path or report.subject}:")
        lines += snippet(report.source if path is None else texts[path], here, width, _INDENT)
    return lines


def _more(report: Findings, width: int) -> list[str]:
    """Where there is more about each kind of finding."""
    ids = list(dict.fromkeys(finding.id for finding in report.findings))
    if not ids:
        return []
    others = f" (or {', '.join(ids[1:])})" if len(ids) > 1 else ""
    return [fill(f"More about it: pdacon check --explain {ids[0]}{others}", width, break_on_hyphens=False)]


def _alternatives(line: str, width: int) -> list[str]:
    """A rule that is to be pasted, with a line for each alternative where it is too wide for one."""
    if len(_INDENT + line) <= width:
        return [_INDENT + line]
    parts, depth = [""], 0
    for piece in _PIECE.findall(line):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(piece, 0)
        if piece == "|" and depth == 0:
            parts.append("")
        parts[-1] += piece
    behind = " " * (len(line) - len(line.lstrip()) + len(_INDENT))
    return [_INDENT + parts[0].rstrip(), *(f"{_INDENT}{behind}{part.rstrip()}" for part in parts[1:])]


def _wrapped(line: str, width: int) -> str:
    if line.startswith(" "):  # Items and productions stay as they are.
        return _INDENT + line
    return fill(
        line,
        width,
        initial_indent=_INDENT,
        subsequent_indent=2 * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
