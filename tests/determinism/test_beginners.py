"""Grammars as they are first written: is the place right, and does the repair work when it is applied as it stands?"""

from __future__ import annotations

import lark
import pytest

import pdacon
from pdacon import Grammar
from pdacon.determinism import Finding

BLANKS = '\n%ignore " "\n'

IMPORTS = 'start: imp+\nimp: "import" NAME NEWLINE?\nNAME: /[a-z]+/\nNEWLINE: /\\n/\n%ignore /\\s/\n'
NUMBERS = 'start: (INT | FLOAT)+\nINT: /\\d+/\nFLOAT: /\\d+(\\.\\d+)?/\n%ignore " "\n'
MARKDOWN = 'start: (HEADER? TEXT "\\n")*\nHEADER: /#+ /\nTEXT: /[^\\n]+/\n'
OPERATORS = 'start: e\ne: e "+" e\n | e "*" e\n | "-" e\n | N\nN: /[0-9]+/' + BLANKS
LISTS = "start: items? items?\nitems: WORD+\nWORD: /[a-z]+/" + BLANKS
HOLES = 'start: "[" list "]"\nlist: item | list "," item | list ","\nitem: N?\nN: /[0-9]+/\n'
SUM = 'start: e\ne: e "+" e | N\nN: /[0-9]+/\n'
BLANK_TEXT = 'start: ("<" NAME ">" TEXT)+\nNAME: /[a-z]+/\nTEXT: /[^<]+/\n%ignore /\\s+/\n'


def the(text: str, id: str) -> Finding:
    """The only finding of a kind."""
    (finding,) = [finding for finding in pdacon.check(Grammar.from_lark(text)).findings if finding.id == id]
    return finding


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said", "before", "after"),
    [
        (IMPORTS, "NEWLINE.1: /\\n/", "NEWLINE: /", "NEWLINE.1: /"),
        (
            BLANK_TEXT,
            "TEXT.1: /[^<]+/",
            "TEXT: /[^<]+/",
            "TEXT.1: /[^<]+/",
        ),
        (MARKDOWN, "(HEADER.1: ... or TEXT.1: ...)", "HEADER: ", "HEADER.1: "),
        (SUM, 'e: e "+" e_2 | e_2\n  e_2: N', 'e: e "+" e | N', 'e: e "+" e_2 | e_2\ne_2: N'),
        (HOLES, "drop the empty alternative of item", "item: N?", "item: N"),
        (
            OPERATORS,
            'e: e "+" e_2 | e_2\n  e_2: e_2 "*" e_3 | e_3\n  e_3: "-" e_3 | e_4\n  e_4: N',
            'e: e "+" e\n | e "*" e\n | "-" e\n | N',
            'e: e "+" e_2 | e_2\ne_2: e_2 "*" e_3 | e_3\ne_3: "-" e_3 | e_4\ne_4: N',
        ),
    ],
)
def test_the_repair_works_as_it_stands(text: str, said: str, before: str, after: str) -> None:
    first = pdacon.check(Grammar.from_lark(text)).findings[0]
    assert first.repair is not None
    assert said in first.repair
    assert before in text
    assert pdacon.check(Grammar.from_lark(text.replace(before, after))).ok


def test_both_colliding_terminals_have_their_place() -> None:
    finding = the(NUMBERS, "PDA005")
    assert finding.span is not None
    assert finding.span.line == 3
    assert [(label, span.line) for label, span in finding.related] == [("INT matches it too", 2)]


def test_a_name_that_is_suggested_is_free() -> None:
    text = "start: NAME (/[a-b]/ | /[ab]/)\nNAME: /x/\n"
    repair = the(text, "PDA005").repair
    assert repair is not None
    assert "NAME_2.1: " in repair


@pytest.mark.parametrize("text", [NUMBERS, MARKDOWN])
def test_what_a_priority_would_cost_is_true(text: str) -> None:
    """Of a text that the other one matches as a whole only a part is left, once the one has a higher priority."""
    finding = the(text, "PDA005")
    assert finding.repair is not None
    *_, cost = finding.repair.split("\n")
    raised, other = cost.split()[5], cost.split()[-5]
    part, whole = (eval(quoted) for quoted in cost.split("take ")[1].split(" too")[0].split(" of "))
    for priority, expected in ((0, whole), (1, part)):
        one = text.replace(f"{raised}: ", f"{raised}.{priority}: ").partition("\n")[2]
        lexer = lark.Lark(f"start: ({raised} | {other})+\n{one}", parser="lalr", lexer="basic")
        assert next(iter(lexer.lex(whole))) == expected


def test_a_priority_that_leaves_nothing_to_the_other_one_is_not_suggested() -> None:
    repair = the(IMPORTS, "PDA005").repair
    assert repair is not None
    assert "IGNORED" not in repair


def test_a_keyword_of_one_terminal_is_not_found_twice() -> None:
    """What collides with ignored text and is never matched for it is one matter."""
    assert [finding.id for finding in pdacon.check(Grammar.from_lark(IMPORTS)).findings] == ["PDA005"]


def test_the_place_is_that_of_what_is_shown() -> None:
    finding = the(OPERATORS, "PDA001")
    assert finding.span is not None
    assert finding.counterexample is not None
    assert finding.counterexample.first.leaves()[:3] == ("e", '"+"', "e")
    assert finding.span.line == 2


def test_the_rule_with_both_readings_is_marked() -> None:
    finding = the(LISTS, "PDA001")
    assert ("start has both readings", 1) in [(label, span.line) for label, span in finding.related]


def test_a_rule_that_can_be_empty_is_named() -> None:
    finding = the(HOLES, "PDA002")
    assert finding.repair is not None
    assert "the empty alternative of item" in finding.repair


def test_one_operator_is_a_matter_of_grouping() -> None:
    assert 'a chain of e "+" e groups' in the(SUM, "PDA001").message


def test_blanks_are_shown_as_spaces() -> None:
    witness = the("start: /a/+\n%ignore /\\s+/\n", "PDA016").witness
    assert witness is not None
    assert witness.loop == b" "


DANGLING = """
start: stmt
stmt: "if" COND "then" stmt -> short
    | "if" COND "then" stmt "else" stmt
    | "skip"
COND: "true" | "false"
%ignore " "
"""


def test_a_closed_rule_is_one_rule_and_keeps_its_other_alternatives() -> None:
    finding = the(DANGLING, "PDA001")
    assert finding.repair is not None
    (rule,) = [line.strip() for line in finding.repair.split("\n") if line.startswith("  ")]
    head, body, rest = DANGLING.partition("stmt: ")[0], rule, DANGLING[DANGLING.index("COND: ") :]
    repaired = f"{head}{body}\n{rest}"
    assert pdacon.check(Grammar.from_lark(repaired)).ok
    parser = lark.Lark(repaired, parser="lalr", strict=False)
    for text in ("skip", "if true then skip end", "if true then if false then skip end else skip end"):
        parser.parse(text)


@pytest.mark.parametrize(
    ("text", "line", "dropped"),
    [
        ('start: e\ne: e | "x"\n', 2, "e of e"),
        ('start: e\ne: f | "x"\nf: e | "y"\n', 3, "e of f"),
    ],
)
def test_the_rule_that_leads_back_to_itself_is_to_blame(text: str, line: int, dropped: str) -> None:
    finding = the(text, "PDA002")
    assert finding.cause == "cyclic-rule"
    assert finding.span is not None
    assert finding.repair is not None
    assert finding.span.line == line
    assert f"drop the alternative {dropped}," in finding.repair
    assert "start" not in finding.message


def test_a_cycle_of_empty_rules_comes_before_what_comes_of_it() -> None:
    """Nothing is offered that PDA004 does not allow."""
    report = pdacon.check(Grammar.from_lark('start: a\na: b c a "x" | "y"\nb: | "b"\nc: | "c"\n'))
    assert report.findings[0].id == "PDA004"
    conflicts = [finding for finding in report.findings if finding.id == "PDA001"]
    assert conflicts
    assert all(finding.repair is not None and "conflicts=" not in finding.repair for finding in conflicts)


def test_what_an_unsupported_pattern_hides_is_said() -> None:
    text = "start: A | B | C\nA: /(?P<t>[A-Z]+)\\r\\n(?P=t)/\nB: /b+/\nC: /[bc]+/\n"
    finding = the(text, "PDA008")
    assert finding.message.isprintable() or finding.message.count("\n") == 1
    assert "Not looked at" in finding.message
    assert finding.repair is not None


@pytest.mark.parametrize(
    "between", ["\n// a comment\n", " // a comment\n\n\n// and another\n", "\n\n# a comment\n\n", "\n"]
)
def test_a_place_ends_where_the_rule_does(between: str) -> None:
    text = f'start: list "x" list list{between}list: "n"+ "//" // end\n// other\n'
    places = [(p.rule, p.span) for p in Grammar.from_lark(text).data.productions if p.span is not None]
    assert {(span.end_line, span.end_column) for rule, span in places if rule == "start"} == {(1, 26)}
    assert max(span.end_column for rule, span in places if rule == "list") == len('list: "n"+ "//"') + 1


def test_a_sign_of_its_own_ends_a_rule_that_needs_lookahead() -> None:
    text = 'start: rule+\nrule: NAME ":" NAME*\nNAME: /[a-z]+/' + BLANKS
    finding = the(text, "PDA001")
    assert finding.cause == "needs-lookahead"
    assert finding.repair is not None
    assert "such as a semicolon, end rule" in finding.repair
    assert pdacon.check(Grammar.from_lark(text.replace("NAME*", 'NAME* ";"'))).ok
