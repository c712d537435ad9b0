"""Workflow commands of GitHub Actions: escaped so that the runner reads them as they were meant."""

from __future__ import annotations

from pdacon.determinism import Failure, Finding, Witness
from pdacon.determinism.report.annotations import failure_annotation, to_annotations
from pdacon.front.report import DeterminismReport
from pdacon.grammar import Span


def annotation(finding: Finding) -> str:
    (line,) = to_annotations(DeterminismReport("g.lark", (finding,), "error", "reject"))
    return line


def read(line: str) -> tuple[str, dict[str, str], str]:
    """As the runner does: command, properties, message."""

    def unescaped(text: str) -> str:
        for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            text = text.replace(code, character)
        return text

    assert "\n" not in line
    assert "\r" not in line
    _, head, message = line.split("::", 2)
    command, _, properties = head.partition(" ")
    pairs = (pair.split("=", 1) for pair in properties.split(","))
    return command, {name: unescaped(value) for name, value in pairs}, unescaped(message)


def test_a_place_on_one_line_has_columns() -> None:
    finding = Finding("PDA009", "warning", "title", "message", Span("g.lark", 2, 3, 2, 9))
    assert annotation(finding) == (
        "::warning file=g.lark,line=2,endLine=2,col=3,endColumn=9,title=PDA009%3A title::message"
    )


def test_a_place_of_several_lines_has_none() -> None:
    finding = Finding("PDA003", "note", "title", "message", Span("g.lark", 2, 3, 4, 9))
    assert annotation(finding) == "::notice file=g.lark,line=2,endLine=4,title=PDA003%3A title::message"


def test_a_finding_without_a_place_has_its_file() -> None:
    assert annotation(Finding("PDA005", "error", "t", "m")) == "::error file=g.lark,title=PDA005%3A t::m"


def test_what_the_runner_would_obey_is_escaped() -> None:
    title, message = 'a, b: "100%0A"\r\n::error::', "50% of\r\nthe lines :: are, well: like this\n::warning::x"
    finding = Finding(
        "PDA005",
        "error",
        title,
        message,
        Span("a,b:c%.lark", 1, 1, 1, 2),
        witness=Witness(text=b"\n::"),
        repair="this",
    )
    command, properties, read_message = read(annotation(finding))
    assert command == "error"
    assert properties["title"] == f"PDA005: {title}"
    assert properties["file"] == "a,b:c%.lark"
    assert read_message == f'{message}\nFor example: "\\n::"\nRepair: this'


def test_what_is_not_a_grammar_is_annotated_too() -> None:
    failure = Failure("g.lark", "expected a name", Span("g.lark", 7, 1, 7, 4))
    assert failure_annotation(failure) == (
        "::error file=g.lark,line=7,endLine=7,col=1,endColumn=4,title=not a grammar::expected a name"
    )
    assert failure_annotation(Failure("g.lark", "why")) == "::error file=g.lark,title=not a grammar::why"
