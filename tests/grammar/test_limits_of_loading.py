"""Grammars that Lark's loader would never come back from, or recurse on too deeply, are refused before it begins."""

from __future__ import annotations

import re
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.load_grammar import load_grammar
from support.small_stack import in_small_stack

from pdacon import CancelledError, Grammar, GrammarSyntaxError, LimitExceededError, Limits, check, time_limit
from pdacon.base.cancelling import Watch
from pdacon.grammar.alternatives import MOST_ALTERNATIVES, check_alternatives
from pdacon.grammar.loading import RecordingBuilder, SourceText
from pdacon.grammar.nesting import MOST_LEVELS

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    "rule",
    [
        " ".join(f'"{letter}"?' for letter in LETTERS),
        " ".join(f'["{letter}"]' for letter in LETTERS),
        '("a" | "b") ' * 30,
        '("a" | "b")~30',
        '("a" | "b")~17..20',
        '(("a" | "b") ("c" | "d") ("e" | "f"))~49',
        '(("a" | "b") ("c" | "d"))~60 "e"',
        '(("a" | "b")~20)*',
        '(("a" | "b")~20)+ | "c"',
        "(" * 17 + '"a"' + ' "b"?)' * 17,
    ],
)
def test_too_many_alternatives(rule: str) -> None:
    begin = time.monotonic()
    with pytest.raises(LimitExceededError, match=r"alternatives: .*rule start at <grammar>:1:1") as caught:
        Grammar.from_lark(f"start: {rule}")
    assert time.monotonic() - begin < 30  # Lark would take hours
    assert (caught.value.what, caught.value.limit) == ("alternatives", MOST_ALTERNATIVES)
    assert caught.value.given > MOST_ALTERNATIVES


@pytest.mark.parametrize(
    "rule",
    [
        '"a"? "b"? ("c" | "d" | "e")? "f"*',
        '("a" | "b")~2..4 ("c" "d"?)+',
        '["a" ["b"]] ("c" | "d") "e"~3 -> x',
        '("a" | "a")~3',
        '"a"~1..100 ("b" | "c")~2',
        '("a" | "b" "c"?)~0..3 | "d"',
    ],
)
def test_the_count_is_no_less_than_what_lark_writes_out(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit at what Lark makes of a rule the rule passes only if the count is right or more."""
    text = f"start: {rule}"
    parsed, _ = load_grammar(text, "<text>", [], False)
    (tree,) = (tree for _, _, tree, _ in parsed.rule_defs)
    _, rules, _ = parsed.compile(["start"], set())
    made = sum(str(production.origin.name) == "start" for production in rules)
    monkeypatch.setattr("pdacon.grammar.alternatives.MOST_ALTERNATIVES", made - 1)
    with pytest.raises(LimitExceededError):
        check_alternatives("start", tree, None)


@pytest.mark.parametrize(
    "templates",
    [
        '_t{x}: x | "(" _t{_u{x}} ")"\n_u{y}: y y',
        "_t{x}: x | _s{x}\n_s{x}: _t{_u{x}}\n_u{y}: y y",
        "_t{x}: x | _t{_u{x, x}}\n_u{x, y}: x y",
        "_t{x}: x | _t{_t{x}}",
        "_t{x}: x | _c{_u, x}\n_c{f, x}: x | _c{f, f{x}}\n_u{y}: y y",
    ],
)
def test_templates_without_end(templates: str) -> None:
    with pytest.raises(LimitExceededError, match=r"template _[a-z] at <grammar>:[2-4]:1"):
        Grammar.from_lark(f'start: _t{{"a"}}\n{templates}')


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ('start: _t{"a", "b"}\n_t{x, y}: x | "(" _t{y, x} ")"', "((a))"),
        ('start: _sep{_sep{"a", ","}, ";"}\n_sep{x, s}: x (s x)*', "a,a;a"),
        ('start: _t{_u}\n_t{f}: f{"a"}\n_u{y}: y y', "aa"),
        ('start: _p{_p{_p{"a"}}}\n_p{x}: x x', "aaaaaaaa"),
    ],
)
def test_templates_that_use_each_other(rules: str, text: str) -> None:
    assert Grammar.from_lark(rules).data.productions
    lark.Lark(rules, parser="lalr").parse(text)


def nested(opening: str, closing: str, core: str, depth: int) -> str:
    return opening * depth + core + closing * depth


def chain(depth: int) -> str:
    return f'start: T{depth - 1}\nT0: "a"\n' + "".join(f'T{k}: "b" T{k - 1}?\n' for k in range(1, depth))


NESTED = {
    "parentheses": lambda depth: "start: " + nested("(", ")", '"a"', depth),
    "alternatives": lambda depth: 'start: "b"\n  | ' + nested('("b" | ', ")", '"a"', depth),
    "optional parts": lambda depth: "start: " + nested("[", "]", '"a"', depth),
    "arguments of templates": lambda depth: "start: " + nested("_t{", "}", '"a"', depth) + "\n_t{x}: x",
    "a terminal": lambda depth: 'start: A\nA: "c" ' + nested('("b" ', ")?", '"a"', depth),
    "groups of a pattern": lambda depth: "start: A\nA: /c" + nested("(a", ")?", "b", depth) + "/",
    "look-ahead": lambda depth: 'start: A\n!x: "["\nA: /[(]' + nested("(?=[(]?a", ")", "b", depth) + "a/",
    "terminals within terminals": chain,
}


@pytest.mark.parametrize("name", NESTED)
def test_levels(name: str) -> None:
    """What is just allowed is loaded in a thread whose stack is small; what is deeper is refused before Lark begins."""
    make = NESTED[name]
    assert in_small_stack(lambda: Grammar.from_lark(make(MOST_LEVELS))).data.productions
    for depth in (MOST_LEVELS + 1, 400, 3000):
        with pytest.raises(LimitExceededError, match=r"levels of .* at deep.lark:\d+:\d+: ") as caught:
            in_small_stack(lambda depth=depth: Grammar.from_lark(make(depth), source_path="deep.lark"))  # type: ignore[misc]
        assert (caught.value.limit, caught.value.given) == (MOST_LEVELS, MOST_LEVELS + 1) or "groups" in str(caught)


def test_brackets_in_literals_and_comments_are_none() -> None:
    brackets = "([{" * 200
    text = f'start: "{brackets}" A  // {brackets}\n# {brackets}\nA: /[{brackets}]+/ | /{re.escape(brackets)}/'
    assert len(Grammar.from_lark(text).data.terminals) == 2


@pytest.mark.slow
def test_terminals_that_are_written_out_twice_each() -> None:
    """Of 2 ** 40 parts; Lark would copy each of them."""
    doubling = "".join(f"T{k}: T{k - 1} T{k - 1}\n" for k in range(1, 41))
    with pytest.raises(LimitExceededError, match=r"parts of terminals: .*T\d+ at <grammar>:\d+:1") as caught:
        Grammar.from_lark(f'start: T40\nT0: "a" | "b"\n{doubling}')
    assert caught.value.given < 200_000
    words = "".join(f'W{k}: "{k}"\n' for k in range(5_000))
    names = " | ".join(f"W{k}" for k in range(5_000))
    assert Grammar.from_lark(f"start: W\n{words}W: {names}").data.terminals


def test_terminals_in_a_circle_are_left_to_lark() -> None:
    with pytest.raises(GrammarSyntaxError, match="Recursion in terminal"):
        Grammar.from_lark('start: A\nA: "a" B\nB: "b" C C\nC: A?')


def test_files(tmp_path: Path) -> None:
    """An imported file is held to the same, and so is how deep files import each other."""
    (tmp_path / "deep.lark").write_text("x: " + nested("(", ")", '"a"', 300), encoding="utf-8")
    with pytest.raises(LimitExceededError, match=r"levels of brackets: .*x at .*deep\.lark:1:\d+"):
        Grammar.from_lark("start: x\n%import .deep.x", source_path=str(tmp_path / "main.lark"))
    for number in range(150):
        (tmp_path / f"f{number}.lark").write_text(f'%import .f{number + 1}.x\ny: x "b"', encoding="utf-8")
    (tmp_path / "f150.lark").write_text('x: "a"', encoding="utf-8")
    with pytest.raises(LimitExceededError, match=r"levels of imports: .*main\.lark:2:10"):
        Grammar.from_lark("start: x\n%import .f0.x", source_path=str(tmp_path / "main.lark"))
    shallow = f"start: x\n%import .f{150 - MOST_LEVELS + 1}.x"
    assert in_small_stack(lambda: Grammar.from_lark(shallow, source_path=str(tmp_path / "main.lark"))).data.terminals


def _fails_in_lark_too(text: str) -> bool:
    try:
        lark.Lark(text, parser="lalr")
    except lark.exceptions.LarkError:
        return True
    return False


@pytest.mark.parametrize("delimiter", ['"', "/"])
def test_backslashes_in_an_open_literal(delimiter: str) -> None:
    """Lark's own lexer tries every way to read them, for 60 of them for hours, and no clock stops Python's re."""
    assert _fails_in_lark_too(f"start: {delimiter}" + "\\" * 10)
    for backslashes in (60, 100_000):
        with pytest.raises(GrammarSyntaxError, match=r"<grammar>:1:8: this .* is not closed"):
            Grammar.from_lark(f"start: {delimiter}" + "\\" * backslashes)
    with pytest.raises(GrammarSyntaxError, match=r"<grammar>:2:(4|10): this .* is not closed"):
        Grammar.from_lark(f'start: "x"\nU: {delimiter}a\\{delimiter} // ' + "\\" * 80)


def test_escaped_quotes_that_close_are_as_in_lark() -> None:
    """Where Lark takes an escaped quote for the end of a literal, in a template that nothing uses, so does pdacon."""
    text = 'start: "x"\nt{a}: a "\\"\n'
    lark.Lark(text, parser="lalr")
    assert len(Grammar.from_lark(text).data.productions) == 1
    with pytest.raises(GrammarSyntaxError, match="is not closed"):
        Grammar.from_lark(text + f't2{{a}}: a "\\" {"(" * 200}a{")" * 200}\n')


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("start: " + "a" * 10_001, "letters in a name"),
        ("a" * 10_001 + ': "x"', "letters in a name"),
        ('start: "x"\n%import common.' + "A" * 10_001, "letters in a name"),
        ("start: " + '"a"? ' * 20_000, "alternatives"),
        ('start: "x"' + "\n" * 20_000, "blank lines in a row"),
        ('start: "x"' + "\r\n" * 20_000 + 'a: "x"', "blank lines in a row"),
    ],
)
def test_long_names_and_many_blank_lines(text: str, what: str) -> None:
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_lark(text)
    assert (caught.value.what, caught.value.fixed) == (what, True)


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("start: " + "a" * 10_001, ": call it by a shorter one"),
        ('start: "x"' + "\n" * 20_000, ": leave some out, which Lark's lexer takes too long for"),
        ("start: " + '"a"? ' * 30, "; give groups names"),
    ],
)
def test_a_fixed_limit_ends_with_what_to_do_about_it(text: str, way_out: str) -> None:
    with pytest.raises(LimitExceededError) as caught:
        Grammar.from_lark(text)
    assert str(caught.value).endswith(way_out)
    assert str(LimitExceededError("rules", 3, 2, fixed=True)).endswith("; make its patterns or rules smaller")


@pytest.mark.parametrize(
    "text",
    [
        "start: " + " | ".join(f'"w{number}"' for number in range(5000)),
        'start: "x"\n' + "".join(f'r{number}: "a"\n' for number in range(3000)),
        "start: " + '"a" ' * 5000,
        "start: " + "|" * 20_000,
        'start: "x"\n' + '%ignore " "\n' * 3000,
        "start: /" + "|".join(f"w{number}" for number in range(5000)) + "/",
        'start: "x"\n%declare ' + " ".join(f"A{number}" for number in range(3000)),
    ],
)
def test_reading_looks_at_the_clock(text: str) -> None:
    """A clock on which each look takes a second: reading stops at the third."""
    ticks = count()
    with pytest.raises(LimitExceededError, match=r"^seconds: "), Watch(3, clock=lambda: float(next(ticks))):
        Grammar.from_lark(text)


def test_the_text_of_a_check_is_read_within_its_limits() -> None:
    text = "start: " + " | ".join(f'"w{number}"' for number in range(3000))
    with pytest.raises(LimitExceededError, match=r"^seconds: "):
        check(text, limits=Limits(seconds=0.01))


def test_statements_are_found_at_once() -> None:
    """Each name in a statement has its place there; that is looked for in one pass, not once for each name."""
    source = SourceText("%declare A BB\n%ignore  BB // A\n%declare _C\n%import x.A -> D", "p")
    asked = [("declare", "BB"), ("declare", "_C"), ("ignore", "BB"), ("import", "D"), ("import", "x")]
    spans = [source.statement_span(keyword, name) for keyword, name in asked]
    assert [(span.line, span.column, span.end_column) for span in spans if span is not None] == [
        (1, 12, 14),
        (3, 10, 12),
        (2, 10, 12),
        (4, 16, 17),
        (4, 9, 10),
    ]
    assert source.statement_span("declare", "B") is None


def test_messages_stay_one_line_of_a_few_words() -> None:
    with pytest.raises(GrammarSyntaxError, match=r"no rule is called a{90,100}\.\.\.a{90,100}") as caught:
        Grammar.from_gbnf("root ::= " + "a" * 5000)
    assert len(str(caught.value)) < 2000


def test_a_small_text_is_given_up_between_two_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lark's own code is not asked to stop where it takes a moment only, and an editor has many such moments."""
    cancel = threading.Event()
    defined: list[str] = []
    define = RecordingBuilder._define

    def counting(builder: RecordingBuilder, name: str, *given: Any, **more: Any) -> None:
        defined.append(name)
        if len(defined) == 5:
            cancel.set()
        define(builder, name, *given, **more)

    monkeypatch.setattr(RecordingBuilder, "_define", counting)
    text = "start: r0\n" + "".join(f'r{k}: "{k}"\n' for k in range(50))
    with pytest.raises(CancelledError), time_limit(0, cancel):
        Grammar.from_lark(text)
    assert len(defined) == 5
