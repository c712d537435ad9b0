"""Repairs keep the sentences of the rules, end the conflict, and say nothing that is false."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import lark
import pytest

from pdacon import Grammar, check
from pdacon.determinism import Finding

STATEMENTS = """
start: stmt*
stmt: exp "=" exp
exp: NAME | exp "(" exp ")" | "(" exp ")" | exp "." NAME
NAME: /[a-z]+/
%ignore " "
"""
TEMPLATE = """
start: body
body: item*
item: TEXT | "{%" "if" NAME "%}" body "{%" "else" "%}" body "{%" "endif" "%}"
TEXT: /[a-z]/
NAME: /[A-Z]/
"""
OPERATORS = {
    "prefix before the ternary": '"-" e | e "?" e ":" e | "1"',
    "prefix first": '"not" e | e "and" e | e "==" e | "-" e | "a"',
    "postfix first": 't "[" "]" | t "|" t | "A"'.replace("t", "e"),
    "both": '"-" e | e "!" | "~" e | e "?" | e "+" e | "(" e ")" | "a"',
    "juxtaposition": 'e e | "a" | "b"',
    "index": 'e "+" e | e "[" e "]" | "-" e | "a"',
}
POOL = [
    'e "+" e',
    'e "*" e',
    'e "?" e ":" e',
    'e "!"',
    'e "[" e "]"',
    '"-" e',
    '"not" e',
    '"if" e "then" e',
    '"(" e ")"',
]
ATOM = '"a"'


def findings(text: str, **options: object) -> list[Finding]:
    return list(check(Grammar.from_lark(text, **options)).findings)  # type: ignore[arg-type]


def sentences(text: str, longest: int = 5) -> set[tuple[str, ...]]:
    """The strings of terminals that the rules derive, up to a length."""
    grammar = Grammar.from_lark(text)
    derived: dict[int, set[tuple[str, ...]]] = {k: {(grammar.data.symbol_name(k),)} for k in range(grammar.data.end)}
    changed = True
    while changed:
        changed = False
        for production in grammar.data.productions:
            strings: set[tuple[str, ...]] = {()}
            for at, symbol in enumerate(production.rhs):
                room = longest - (len(production.rhs) - at - 1)
                strings = {a + b for a in strings for b in derived.get(symbol, ()) if len(a) + len(b) <= room}
            old = derived.setdefault(production.lhs, set())
            changed |= not strings <= old
            old |= strings
    return derived[grammar.data.starts[0]]


def written(finding: Finding) -> list[str]:
    """The rules of a repair."""
    assert finding.repair is not None
    return [line.strip() for line in finding.repair.split("\n") if line.startswith("  ")]


@pytest.mark.parametrize("alternatives", OPERATORS.values(), ids=list(OPERATORS))
def test_a_ladder_loses_no_sentence_and_ends_the_conflict(alternatives: str) -> None:
    text = f"start: e\ne: {alternatives}\n"
    finding = next(f for f in findings(text) if f.cause in ("operator-precedence", "juxtaposition"))
    repaired = "\n".join(["start: e", *written(finding)])
    assert written(finding)
    assert not [f for f in findings(repaired) if f.level == "error"]
    assert sentences(repaired) == sentences(text)


@pytest.mark.slow
def test_random_ladders_lose_no_sentence_and_end_the_conflict(scaled: Callable[[int], int]) -> None:
    rng = random.Random(11)
    shown = 0
    for _ in range(scaled(25)):
        alternatives = " | ".join([*rng.sample(POOL, rng.randint(1, 4)), ATOM])
        text = f"start: e\ne: {alternatives}\n"
        for finding in findings(text):
            if finding.cause == "operator-precedence" and written(finding):
                repaired = "\n".join(["start: e", *written(finding)])
                assert sentences(repaired) == sentences(text), text
                assert not [f for f in findings(repaired) if f.id == "PDA001"], text
                shown += 1
    assert shown > scaled(25) * 2 // 5


def test_statements_without_a_separator_are_no_operators() -> None:
    found = [f for f in findings(STATEMENTS) if f.id == "PDA001"]
    assert found
    for finding in found:
        assert finding.cause not in ("operator-precedence", "juxtaposition")
        assert "texts" not in (finding.repair or "")
        assert "refused" in (finding.repair or "")


def test_a_block_of_a_template_is_not_rewritten_in_vain() -> None:
    found = [f for f in findings(TEMPLATE) if f.id == "PDA001"]
    assert found
    for finding in found:
        assert not written(finding)
        assert 'make one terminal of "{%"' in (finding.repair or "")


def test_a_rule_is_written_out_where_that_ends_the_conflict() -> None:
    text = 'start: a "x" "y" | "p" "x" "z"\na: "p" | "q"\n'
    finding = next(f for f in findings(text) if f.cause == "needs-lookahead")
    *new, old = written(finding)
    assert old == 'start: a "x" "y"'
    repaired = " | ".join(['start: "p" "x" "z"', *(line.removeprefix("start: ") for line in new)])
    assert sentences(repaired) == sentences(text)
    assert not findings(repaired)
    assert "same texts as before; the second sentence, which Lark refuses now, is read then" in (finding.repair or "")
    gained = "".join(name.lower() for name in min(sentences(text), key=lambda s: (s[0] != "P", s[2] != "Y")))
    assert not Grammar.from_lark(text, conflicts="shift").accepts(gained)
    assert Grammar.from_lark(repaired).accepts(gained)


@pytest.mark.parametrize(
    "rules",
    [
        'start: A r | start? A | A A\nr: A A "c"\nA: "a"',
        'start: start r | r | A?\nr: A "d" | "c" A\nA: "a"',
        'start: start "b" | "b"\nr: start?',
        'start: a a | a "x" | "y" "x"\na: "y" | "y"?',
    ],
)
def test_no_rule_is_written_out_twice(rules: str) -> None:
    """What is there already is no repair, and no rule may be there twice."""
    for finding in findings(rules):
        lines = [line for line in (finding.repair or "").splitlines() if line.startswith("  ")]
        assert len(lines) == len(set(lines)), finding.repair


def test_rules_of_different_shape_are_not_to_be_one_rule() -> None:
    text = """
    start: params "=>" "x" | call ";"
    params: "(" name ")"
    call: "(" expr ")"
    name: ID
    expr: ID | expr "+" ID
    ID: /[a-z]/
    """
    finding = next(f for f in findings(text) if f.id == "PDA002")
    assert finding.cause == "needs-lookahead"
    assert "instead of" not in (finding.repair or "")


@pytest.mark.parametrize("text", ['start: "{%" | X\nX.2: /[{]%/\n', 'start: /[ab]+/ "1" | /[bc]+/ "2"\n'])
def test_a_terminal_is_not_called_by_the_name_that_lark_made_up(text: str) -> None:
    found = [f for f in findings(text) if f.id in ("PDA005", "PDA010")]
    assert found
    assert "__ANON" not in "".join(f"{f.title}{f.message}{f.repair}" for f in found)


def test_a_list_of_lists_is_no_operator() -> None:
    """Nothing stands between the two; the alternative beside it repeats already."""
    found = findings('start: list\nlist: list "x" | "x" | list list\n')
    assert "juxtaposition" in {finding.cause for finding in found}
    finding = next(f for f in found if f.cause == "juxtaposition")
    assert "operator" not in finding.message + (finding.repair or "")
    assert "drop the alternative list list" in (finding.repair or "")
    assert not findings('start: list\nlist: list "x" | "x"\n')


def test_one_optional_end_of_many_rules_is_one_finding() -> None:
    levels = "".join(f'e{k}: e{k} "{k}" e{k + 1} nl? | e{k + 1}\n' for k in range(4))
    (finding,) = findings(f'start: "[" e0 nl? "]"\n{levels}e4: "n"\nnl: "#"\n')
    assert finding.cause == "optional-list"
    assert {"e0", "e1", "e2", "e3"} <= set(finding.symbols)
    assert "nl may stand at the end of " in finding.message
    assert not findings(f'start: "[" e0 nl? "]"\n{levels.replace(" nl?", "")}e4: "n"\nnl: "#"\n')


@pytest.mark.slow
def test_the_middle_of_a_palindrome_has_to_be_marked() -> None:
    rules = 'start: "a" start "a" | "b" start "b" | {}\n'
    (finding,) = findings(rules.format(""))
    assert "the middle of start" in (finding.repair or "")
    assert not findings(rules.format('"m"'))


def test_operators_of_one_group_stay_on_one_level() -> None:
    (finding,) = findings('start: e\ne: e ("/" | "*") e | e "@" e | "a"\n')
    assert written(finding) == ['e: e ("/" | "*") e_2 | e_2', 'e_2: e_2 "@" e_3 | e_3', 'e_3: "a"']
    assert "those that bind alike belong together in one rule" in (finding.repair or "")
    (finding,) = findings('start: e\ne: e ("<" | ">") e | "a"\n')
    assert written(finding) == ['e: e ("<" | ">") e_2 | e_2', 'e_2: "a"']
    assert finding.message == 'Nothing says whether a chain of e ("<" | ">") e groups to the left or to the right.'


def test_operators_of_arithmetic_have_their_usual_levels() -> None:
    text = 'start: e\ne: e "^" e | e "-" e | e "*" e | e "+" e | e "/" e | "-" e | "a"\n'
    (finding,) = findings(text)
    assert written(finding) == [
        'e: e ("-" | "+") e_2 | e_2',
        'e_2: e_2 ("*" | "/") e_3 | e_3',
        'e_3: e_4 "^" e_3 | e_4',
        'e_4: "-" e_4 | e_5',
        'e_5: "a"',
    ]
    repaired = "\n".join(["start: e", *written(finding)])
    assert sentences(repaired) == sentences(text)
    assert not findings(repaired)


def test_what_shapes_the_trees_stays() -> None:
    """Aliases, what stands before the rule, and its priority."""
    text = 'start: e\n!?e.2: e "+" e -> add | e "-" e -> sub | e "@" e | "(" e ")" -> group | "a" -> name\n'
    (finding,) = findings(text)
    assert written(finding) == [
        '!?e.2: e "+" e_2 -> add | e "-" e_2 -> sub | e_2',
        '!?e_2.2: e_2 "@" e_3 | e_3',
        '!?e_3.2: "(" e ")" -> group | "a" -> name',
    ]
    tree = lark.Lark("\n".join(["start: e", *written(finding)]), parser="lalr").parse("a+(a-a)")
    assert [each.data for each in tree.iter_subtrees_topdown()] == [
        "start",
        "add",
        "name",
        "group",
        "sub",
        "name",
        "name",
    ]


def test_a_renamed_rule_has_its_own_name_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "ex.lark").write_text('?expr: expr "+" expr | A\nA: "a"\n', encoding="utf-8")
    main = tmp_path / "main.lark"
    main.write_text('start: e expr\nexpr: "x"\n%import .ex.expr -> e\n', encoding="utf-8")
    (finding,) = check(Grammar.from_file(main)).findings
    assert written(finding) == ['?expr: expr "+" expr_2 | expr_2', "?expr_2: A"]
    assert "chain of expr" in finding.message


def test_no_code_for_the_use_of_a_template() -> None:
    text = 'start: chain{item, SIGN}\nchain{x, s}: chain{x, s} s chain{x, s} | x\nitem: "a"\nSIGN: "+"\n'
    (finding,) = findings(text)
    assert finding.cause == "operator-precedence"
    assert not written(finding)
    assert "a rule of its own" in (finding.repair or "")


def test_a_comma_at_the_end_of_a_list_that_two_parts_can_take() -> None:
    """The conflict is on the bracket, which belongs to the list in both readings: no comma before it would help."""
    text = 'start: list\nlist: "[" (item ",")* item? ","? "]"\nitem: "a" | list\n'
    (finding,) = [f for f in findings(text) if f.id == "PDA001"]
    assert finding.message.startswith('Two parts of list can take the same text, and "]" comes after either')
    assert "put something between" not in (finding.repair or "")
    assert "refused" not in (finding.repair or "")
    assert not findings('start: list\nlist: "[" (item ("," item)* ","?)? "]"\nitem: "a" | list\n')


def test_and_or_and_comparisons_have_their_usual_order() -> None:
    text = 'start: e\ne: e "and" e | e "or" e | e "==" e | NAME\nNAME: /[A-Z]/\n%ignore " "\n'
    finding = next(finding for finding in check(Grammar.from_lark(text)).findings if finding.id == "PDA001")
    assert finding.repair is not None
    levels = [line.strip() for line in finding.repair.split("\n") if line.startswith("  ")]
    assert levels == ['e: e "or" e_2 | e_2', 'e_2: e_2 "and" e_3 | e_3', 'e_3: e_3 "==" e_4 | e_4', "e_4: NAME"]
