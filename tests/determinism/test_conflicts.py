"""Each kind of LALR conflict is found, classed, placed and shown. Classes are asserted, not wording."""

from __future__ import annotations

import json
import pickle

import pytest

from pdacon.determinism import Finding
from pdacon.front.checking import check
from pdacon.front.grammar import Grammar
from pdacon.front.report import DeterminismReport

EXPRESSION = """
start: expr
expr: expr "+" expr
    | expr "*" expr
    | NUMBER
NUMBER: /[0-9]+/
"""

DANGLING_ELSE = """
start: stmt
stmt: "if" COND "then" stmt
    | "if" COND "then" stmt "else" stmt
    | "skip"
COND: "c"
"""

TWO_WAYS = """
start: a | b
a: "x"
b: "x"
"""

TWO_WAYS_BY_PRIORITY = """
start: a | b
a.2: "x"
b: "x"
"""

READS_CYCLE = """
start: a
a: c d a "x" | "y"
c:
d:
"""

DETERMINISTIC = """
start: sum
sum: product | sum "+" product
product: atom | product "*" atom
atom: NUMBER | "(" sum ")"
NUMBER: /[0-9]+/
"""

NO_SENTENCE = """
start: a
a: "x" a
"""


def classes(report: DeterminismReport) -> list[tuple[str, str]]:
    return [(finding.id, finding.level) for finding in report.findings]


def only(report: DeterminismReport, id: str) -> Finding:
    (finding,) = [finding for finding in report.findings if finding.id == id]
    return finding


@pytest.mark.parametrize(
    ("text", "conflicts", "expected"),
    [
        (DETERMINISTIC, "error", []),
        (DETERMINISTIC, "shift", []),
        (EXPRESSION, "error", [("PDA001", "error")]),
        (EXPRESSION, "shift", [("PDA001", "note")]),
        (DANGLING_ELSE, "error", [("PDA001", "error")]),
        (DANGLING_ELSE, "shift", [("PDA001", "note")]),
        (TWO_WAYS, "error", [("PDA002", "error")]),
        (TWO_WAYS, "shift", [("PDA002", "error")]),  # Lark refuses it too
        (TWO_WAYS_BY_PRIORITY, "error", [("PDA003", "note")]),
        (TWO_WAYS_BY_PRIORITY, "shift", [("PDA003", "note")]),
        (READS_CYCLE, "error", [("PDA004", "error"), ("PDA001", "error")]),
        (READS_CYCLE, "shift", [("PDA004", "error"), ("PDA001", "note")]),
        (NO_SENTENCE, "error", [("PDA007", "error")]),
        (NO_SENTENCE, "shift", [("PDA007", "error")]),
    ],
)
def test_class_of_each_finding(text: str, conflicts: str, expected: list[tuple[str, str]]) -> None:
    report = check(Grammar.from_lark(text, conflicts=conflicts))
    assert classes(report) == expected
    assert report.ok == all(level != "error" for _, level in expected)


def test_shift_reduce_names_what_is_torn() -> None:
    finding = only(check(Grammar.from_lark(DANGLING_ELSE, source_path="else.lark")), "PDA001")
    assert finding.symbols == ("ELSE", "stmt")
    assert finding.span is not None
    assert (finding.span.path, finding.span.line) == ("else.lark", 3)
    assert finding.cause == "dangling-else"
    assert finding.counterexample is not None
    assert finding.counterexample.unifying
    assert finding.counterexample.position == 7
    assert finding.counterexample.first.leaves() == finding.counterexample.second.leaves()
    assert finding.counterexample.first != finding.counterexample.second
    assert finding.witness is not None
    assert finding.witness.symbols == ('"if"', "COND", '"then"', '"skip"', '"else"')
    assert finding.witness.position == 4
    assert finding.repair


def test_every_operator_pair_of_an_ambiguous_expression_is_found() -> None:
    finding = only(check(Grammar.from_lark(EXPRESSION)), "PDA001")
    assert finding.symbols == ("PLUS", "STAR", "expr")
    assert finding.cause == "operator-precedence"
    places = [finding.span, *(span for _, span in finding.related)]
    assert [place.line for place in places if place is not None] == [3, 4]


def test_reduce_reduce_names_both_rules() -> None:
    finding = only(check(Grammar.from_lark(TWO_WAYS)), "PDA002")
    assert finding.symbols == ("$END", "a", "b")
    assert finding.witness is not None
    assert finding.witness.symbols == ('"x"', "the end of the text")


def test_one_conflict_in_several_states_is_one_finding() -> None:
    text = """
    start: "a" list "." | "b" list ":"
    list: pair*
    pair: NAME NAME? | NAME
    NAME: /[a-z]/
    """
    report = check(Grammar.from_lark(text))
    messages = [finding.message for finding in report.findings]
    assert len(messages) == len(set(messages))


def test_spelling_out_stays_short_where_the_shortest_yield_is_exponential() -> None:
    doubling = "\n".join(f"r{i}: r{i + 1} r{i + 1}" for i in range(60))
    text = f'start: r0 stmt\n{doubling}\nr60: "x"\n' + DANGLING_ELSE.replace("start: stmt", "")
    finding = only(check(Grammar.from_lark(text)), "PDA001")
    assert finding.witness is not None
    assert finding.witness.symbols == ("r0", '"if"', "COND", '"then"', '"skip"', '"else"')


def test_empty_yields_are_not_walked() -> None:
    doubling = "\n".join(f"r{i}: r{i + 1} r{i + 1}" for i in range(60))
    text = f"start: r0 stmt\n{doubling}\nr60:\n" + DANGLING_ELSE.replace("start: stmt", "")
    finding = only(check(Grammar.from_lark(text)), "PDA001")
    assert finding.witness is not None
    assert finding.witness.symbols == ('"if"', "COND", '"then"', '"skip"', '"else"')


def test_a_state_behind_a_rule_without_text_has_no_witness() -> None:
    text = 'start: "s" | endless stmt\nendless: "x" endless\n' + DANGLING_ELSE.replace("start: stmt", "")
    finding = only(check(Grammar.from_lark(text)), "PDA001")
    assert finding.witness is None


def test_several_starts_share_one_report() -> None:
    text = DANGLING_ELSE.replace("start:", "one: stmt\ntwo:") + "three: three COND\n"
    report = check(Grammar.from_lark(text, start=["one", "two", "three"]))
    assert classes(report) == [("PDA001", "error"), ("PDA007", "warning")]
    assert only(report, "PDA007").symbols == ("three",)


def test_an_empty_start_is_an_error_only_if_all_are() -> None:
    text = 'one: "a"\ntwo: two "b"\nthree: A "a"\nA: /a+/'
    levels = {
        ("one", "two", "three"): [("PDA007", "warning"), ("PDA007", "warning")],
        ("one", "three"): [("PDA007", "warning")],
        ("two", "three"): [("PDA007", "error"), ("PDA007", "error")],
    }
    for starts, expected in levels.items():
        found = check(Grammar.from_lark(text, start=list(starts))).findings
        assert [(one.id, one.level) for one in found if one.id == "PDA007"] == expected


@pytest.mark.parametrize("text", [DETERMINISTIC, EXPRESSION, TWO_WAYS, READS_CYCLE, NO_SENTENCE])
def test_a_report_is_data(text: str) -> None:
    report = check(Grammar.from_lark(text))
    as_dict = report.to_dict()
    assert json.loads(json.dumps(as_dict)) == as_dict
    assert as_dict["ok"] == report.ok
    assert len(as_dict["findings"]) == len(report.findings)
    assert pickle.loads(pickle.dumps(report)) == report
    assert "\n" not in str(report)
    assert report.render().endswith(report.summary())
