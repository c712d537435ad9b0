"""Reports on a terminal: source lines with carets, counterexamples as trees, whatever the width."""

from __future__ import annotations

import pickle

import pytest

from pdacon import NondeterministicGrammarError, Vocabulary, compile
from pdacon.base.snippets import Mark, columns, snippet
from pdacon.determinism import Counterexample, Derivation, Finding
from pdacon.determinism.report.annotations import to_annotations
from pdacon.determinism.report.derivation_trees import counterexample_lines
from pdacon.determinism.report.sarif import to_sarif
from pdacon.front.checking import check
from pdacon.front.grammar import Grammar
from pdacon.front.report import DeterminismReport
from pdacon.grammar import Span


def span(line: int, column: int, end_column: int, end_line: int | None = None) -> Span:
    return Span("g.lark", line, column, end_line or line, end_column)


def shown(source: str, *marks: Mark, width: int = 40) -> str:
    return "\n".join(snippet(source, marks, width, ""))


def test_a_place_is_underlined() -> None:
    assert shown("a\nbc def\n", Mark(span(2, 4, 7))) == "2 | bc def\n  |    ^^^"


def test_an_empty_place_gets_one_caret() -> None:
    assert shown("c:", Mark(span(1, 3, 3))) == "1 | c:\n  |   ^"


def test_related_places_have_labels_and_are_in_the_order_of_the_text() -> None:
    source = "one\ntwo\n\n\n\n\n\n\n\nten"
    marks = [Mark(span(10, 1, 4)), Mark(span(1, 1, 4), "-", "the other"), Mark(span(2, 2, 3), "-")]
    assert shown(source, *marks) == " 1 | one\n   | --- the other\n 2 | two\n   |  -\n...\n10 | ten\n   | ^^^"


def test_a_label_that_does_not_fit_comes_below() -> None:
    assert shown("0123456789" * 3, Mark(span(1, 21, 31), "-", "a label of some length")).splitlines() == [
        "1 | 012345678901234567890123456789",
        "  |                     ----------",
        "  |              a label of some length",
    ]


def test_a_place_of_several_lines_is_underlined_without_its_indentation() -> None:
    assert shown("a: b\n   | c", Mark(span(1, 4, 6, 2))) == "1 | a: b\n  |    ^\n2 |    | c\n  |    ^^"
    assert shown("a: b\nc: d", Mark(span(1, 1, 1, 2))) == "1 | a: b\n  | ^^^^"


def test_tabs_and_wide_and_combining_characters_do_not_shift_carets() -> None:
    assert shown("\tx\ty", Mark(span(1, 4, 5))) == "1 |     x    y\n  |          ^"
    assert shown("語語x", Mark(span(1, 3, 4))) == "1 | 語語x\n  |     ^"
    assert shown("語語x", Mark(span(1, 2, 3))) == "1 | 語語x\n  |   ^^"
    assert shown("e\u0301x", Mark(span(1, 3, 4))) == "1 | e\u0301x\n  |  ^"


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    assert "\x1b" not in shown("a\x1b[31mb", Mark(span(1, 1, 2)))


@pytest.mark.parametrize("column", [1, 50, 500, 989, 1000])
@pytest.mark.parametrize("letter", ["x", "語"])
def test_long_lines_are_cut_around_the_caret(column: int, letter: str) -> None:
    line = letter * (column - 1) + "?" + letter * (1000 - column)
    text, carets = shown(line, Mark(span(1, column, column + 1))).splitlines()
    assert columns(text) <= 40
    before = text[: text.index("?")]
    assert columns(before) == carets.index("^")
    assert carets.count("^") == 1
    assert ("..." in before) == (column > 1 and len(before) - 4 < column - 1)


def test_a_long_place_is_underlined_as_far_as_it_is_shown() -> None:
    text, carets = shown("x" * 1000, Mark(span(1, 101, 901))).splitlines()
    assert len(text) <= 40
    assert text.count("...") == 2
    assert carets.count("^") == text.count("x")


def test_places_that_the_source_does_not_have_are_left_out() -> None:
    assert shown("one line", Mark(span(7, 1, 2))) == ""
    assert shown("one", Mark(span(1, 9, 12))) == "1 | one\n  |    ^"


def leaves(words: str) -> tuple[Derivation, ...]:
    return tuple(map(Derivation, words.split()))


SHIFT = Derivation("stmt", (*leaves("if C then"), Derivation("stmt", leaves("if C then stmt else stmt"))))
REDUCE = Derivation("stmt", (*leaves("if C then"), Derivation("stmt", leaves("if C then stmt")), *leaves("else stmt")))


def test_two_readings_of_one_sentence() -> None:
    lines = counterexample_lines(Counterexample(True, SHIFT, REDUCE, 7, b"ifx", b"ifx"), True, 76)
    assert "\n".join(lines) == (
        """\
This has two readings; the parser has to choose at the •:
  if C then if C then stmt • else stmt
  as text: "ifx"
shift, as Lark does:
  stmt
  ├─ if C then
  └─ stmt: if C then stmt • else stmt
reduce:
  stmt
  ├─ if C then
  ├─ stmt: if C then stmt •
  └─ else stmt"""
    )


def test_two_sentences_that_begin_alike() -> None:
    first = Derivation("s", leaves("X Y"))
    second = Derivation("s", (Derivation("a", (Derivation("b", leaves("X")),)), *leaves("Y Z")))
    lines = counterexample_lines(Counterexample(False, first, second, 1, complete=False), True, 76)
    assert "was given up" in " ".join(lines)
    assert "  X • Y" in lines
    assert "  X • Y Z" in lines
    assert "  ├─ a → b: X •" in lines


def test_two_reductions_of_merged_states() -> None:
    first = Derivation("s", (*leaves("a"), Derivation("x", leaves("c")), *leaves("d")))
    second = Derivation("s", (*leaves("b"), Derivation("y", leaves("c")), *leaves("d")))
    lines = counterexample_lines(Counterexample(False, first, second, 2), False, 76)
    assert lines == [
        "At the • the parser cannot tell these apart, and has to choose:",
        "  a c • d",
        "  b c • d",
        "reduce to x:",
        "  s",
        "  ├─ a",
        "  ├─ x: c •",
        "  └─ d",
        "reduce to y:",
        "  s",
        "  ├─ b",
        "  ├─ y: c •",
        "  └─ d",
    ]


def test_what_is_empty_is_shown_where_it_is() -> None:
    second = Derivation("s", (Derivation("a", ()), *leaves("X"), Derivation("b", ())))
    lines = counterexample_lines(Counterexample(False, Derivation("s", leaves("X")), second, 0), True, 76)
    assert lines[-7:] == [
        "shift, as Lark does:",
        "  s: • X",
        "reduce:",
        "  s",
        "  ├─ a: •",
        "  ├─ X",
        "  └─ b: (nothing)",
    ]


def test_the_dot_is_shown_once_in_every_tree() -> None:
    trees = [
        Derivation("s", (Derivation("a", leaves("X")), *leaves("Y"))),
        Derivation("s", (Derivation("a", ()), Derivation("b", leaves("X Y")))),
        Derivation("s", (Derivation("a", (Derivation("c", ()), *leaves("X"), Derivation("d", ()))), *leaves("Y"))),
    ]
    for first in trees:
        for second in trees:
            for position in (0, 1):
                lines = counterexample_lines(Counterexample(False, first, second, position), True, 76)
                head, tail = lines.index("shift, as Lark does:"), lines.index("reduce:")
                assert "\n".join(lines[head:tail]).count("•") == 1
                assert "\n".join(lines[tail:]).count("•") == 1


@pytest.mark.parametrize("width", [40, 60, 80])
def test_trees_stay_narrow_and_short_however_deep_and_long(width: int) -> None:
    deep = Derivation("X")
    for _ in range(300):
        deep = Derivation("e", (Derivation('"("'), deep, Derivation('")"')))
    lines = counterexample_lines(Counterexample(False, deep, deep, 300), True, width)
    assert max(map(len, lines)) <= width
    assert len(lines) < 100


def test_a_report_has_the_source_line_and_the_related_place() -> None:
    finding = Finding(
        "PDA001",
        "error",
        "t",
        "m",
        span(1, 7, 8),
        cause="dangling-else",
        counterexample=Counterexample(True, SHIFT, REDUCE, 7),
        related=(("also", span(2, 1, 2)),),
    )
    report = DeterminismReport("g.lark", (finding,), "error", "reject", source="stmt: x\ny: z\n")
    rendered = report.render(60)
    assert "    1 | stmt: x\n      |       ^\n    2 | y: z\n      | - also\n" in rendered
    assert "\n    cause: dangling-else\n" in rendered
    assert rendered.endswith("\n\ng.lark: refused (1 error)")


class Numbers:
    def to_dict(self) -> dict[str, int]:
        return {"lr_states": 7}

    def render(self) -> str:
        return "parser: 7 LR states\nlexer: " + "many " * 20


def test_many_notes_of_one_kind_are_one_block() -> None:
    names = "ABC"
    text = "start: " + " | ".join(f'"k" {name}' for name in names) + "\n"
    text += "".join(f"{name}: /[k-z]+{k}?/\n" for k, name in enumerate(names))
    report = check(Grammar.from_lark(text, conflicts="shift"))
    notes = [finding for finding in report.findings if finding.id == "PDA005"]
    assert len(notes) == 3
    rendered = report.render(80)
    assert rendered.count("note[PDA005]") == 1
    assert "note[PDA005]: colliding terminals: 3 of them" in rendered
    assert all(finding.title.removeprefix("colliding terminals ") in rendered for finding in notes)
    assert notes[0].message.split("\n")[0][:60] in rendered
    assert max(map(len, rendered.splitlines())) <= 80


def test_sizes_come_before_the_verdict_if_they_are_asked_for() -> None:
    report = DeterminismReport("g.lark", (), "error", "reject", sizes=Numbers())
    assert report.render(60) == "g.lark: ok (no findings)"
    first, second, *_, verdict = report.render(60, sizes=True).splitlines()
    assert (first, verdict) == ("parser: 7 LR states", "g.lark: ok (no findings)")
    assert len(second) <= 60
    assert report.to_dict()["sizes"] == {"lr_states": 7}


def test_an_exception_says_the_first_errors_in_a_few_lines() -> None:
    text = 'start: a b c d\na: a "+" a\n    | N\nb: b "+" b | N\nc: c "+" c | N\nd: d "+" d | N\nN: /[0-9]/\n'
    with pytest.raises(NondeterministicGrammarError) as caught:
        compile(Grammar.from_lark(text, source_path="e.lark"), Vocabulary.from_tokens([b"1", None], [1]))
    lines = str(caught.value).splitlines()
    assert lines[0] == "e.lark: refused (4 errors)"
    assert lines[1].startswith('e.lark:2:4: error[PDA001]: shift/reduce conflict on "')
    assert lines[2:4] == ['    2 | a: a "+" a', "      |    ^^^^^^^"]
    assert lines[4].startswith("    for example: ")
    assert "•" in lines[4]
    assert lines[-1].startswith("1 more, and repairs: print(error.report.render())")
    assert len(lines) == 2 + 3 * 4
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.report) == (str(caught.value), caught.value.report)


def test_a_conflict_is_shown_as_tokens_of_the_vocabulary_in_every_format() -> None:
    text = 'start: e\ne: e "+" e | "(" e ")" | "x"\n'
    vocab = Vocabulary.from_tokens([b"+", b"x", b"x+", None], eos_ids=[3])
    report = check(Grammar.from_lark(text), vocab)
    finding = report.findings[0]
    assert finding.counterexample is not None
    assert finding.counterexample.first_pieces == (b"x+", b"x+", b"x")
    shown = 'as text: "x+x+x" (tokens "x+" "x+" "x": 2 2 1)'
    assert shown in report.render()
    reading = report.to_dict()["findings"][0]["counterexample"]["first"]
    assert (reading["tokens"], reading["pieces"]) == ([2, 2, 1], ["x+", "x+", "x"])
    result = to_sarif([report], "1.0")["runs"][0]["results"][0]
    assert shown in result["message"]["text"]
    assert result["properties"]["counterexample"]["first"]["pieces"] == ["x+", "x+", "x"]
    assert shown in next(to_annotations(report))


def test_a_rule_of_a_repair_has_a_line_for_each_alternative_where_it_is_wide() -> None:
    grammar = Grammar.from_lark(
        'start: stmt\nstmt: "if" COND "then" stmt | "if" COND "then" stmt "else" stmt | "a|b" (X | COND)\n'
        'COND: "true"\nX: "x"\n%ignore " "\n'
    )
    report = check(grammar)
    wide, narrow = report.render(width=200), report.render(width=60)
    (line,) = [line for line in wide.splitlines() if line.startswith('      stmt: "if"')]
    at = narrow.splitlines().index('      stmt: "if" COND "then" stmt "end"')
    lines = narrow.splitlines()[at : at + 5]
    assert [line.strip()[:5] for line in lines] == ["stmt:", '| "if', '| "a|', '| "a|', "Texts"]
    assert " ".join(" ".join(lines[:4]).split()) == line.strip()
    assert max(map(len, lines[:4])) <= 60
