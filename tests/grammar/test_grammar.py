"""What a Grammar is: ids, places, descriptions, options, identity."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from pathlib import Path

import lark
import pytest
from grammar.samples import GOOD
from support.lark_oracle import accepts

from pdacon.errors import GrammarSyntaxError
from pdacon.front.grammar import Grammar
from pdacon.grammar import GrammarData, GrammarOptions, Nonterminal, Production, Span, Terminal
from pdacon.lalr import build_tables

TEXT = """\
// a list
start: "[" item ("," item)* "]"   -> list
     | "[" "]"                    // nothing
item.2: NAME | NUMBER? _sep
_sep: ";" | "|"
NAME: /[a-z]+/
%import common.NUMBER
%declare _INDENT
%ignore " "
"""


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.from_lark(TEXT.replace("| NUMBER?", "| _INDENT NUMBER?"))


def describe(grammar: Grammar) -> list[str]:
    return [grammar.data.describe_production(k) for k in range(len(grammar.data.productions))]


def written(grammar: Grammar, span: Span | None) -> str:
    assert span is not None
    assert span.line == span.end_line
    return grammar.data.source.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


def test_symbols_are_terminals_then_end_then_nonterminals(grammar: Grammar) -> None:
    count = len(grammar.data.terminals)
    assert grammar.data.end == count
    assert [grammar.data.symbol_name(i) for i in range(count)] == [t.name for t in grammar.data.terminals]
    assert grammar.data.symbol_name(count) == "$END"
    assert [grammar.data.symbol_name(count + 1 + k) for k in range(4)] == ["start", "item", "_sep", "__start_star_0"]
    assert grammar.data.starts == (count + 1,)
    assert {grammar.data.symbol_name(i) for i in grammar.data.ignore} == {"__IGNORE_0"}
    with pytest.raises(IndexError):
        grammar.data.symbol_name(-1)
    with pytest.raises(IndexError):
        grammar.data.symbol_name(count + 99)


def test_a_declared_terminal_has_no_pattern_and_comes_last(grammar: Grammar) -> None:
    declared = grammar.data.terminals[-1]
    assert declared == Terminal("_INDENT", None, 0, declared.span)
    assert written(grammar, declared.span) == "_INDENT"
    assert all(terminal.pattern is not None for terminal in grammar.data.terminals[:-1])


def test_productions_are_described_in_the_authors_words(grammar: Grammar) -> None:
    assert describe(grammar) == [
        'start: "[" item ("," item)+ "]" -> list',
        'start: "[" item "]" -> list',
        'start: "[" "]"',
        "item: NAME",
        "item: _INDENT NUMBER _sep",
        "item: _INDENT _sep",
        '_sep: ";"',
        '_sep: "|"',
        '("," item)+: "," item',
        '("," item)+: ("," item)+ "," item',
    ]
    assert [p.rule for p in grammar.data.productions] == ["start"] * 3 + ["item"] * 3 + ["_sep"] * 2 + ["start"] * 2
    assert {p.priority for p in grammar.data.productions if p.rule == "item"} == {2}


def test_productions_have_the_place_of_their_alternative(grammar: Grammar) -> None:
    places = [written(grammar, production.span) for production in grammar.data.productions]
    first = '"[" item ("," item)* "]"   -> list'
    assert places[:3] == [first, first, '"[" "]"']
    assert places[3:8] == ["NAME", "_INDENT NUMBER? _sep", "_INDENT NUMBER? _sep", '";"', '"|"']
    assert places[8:] == ["start", "start"]


def test_terminals_have_the_place_of_their_definition_first_use_or_import(grammar: Grammar) -> None:
    places = {terminal.name: (written(grammar, terminal.span), terminal.span) for terminal in grammar.data.terminals}
    assert {name: place for name, (place, _) in places.items()} == {
        "NAME": "NAME",
        "NUMBER": "NUMBER",
        "__IGNORE_0": '" "',
        "COMMA": '","',
        "LSQB": '"["',
        "RSQB": '"]"',
        "SEMICOLON": '";"',
        "VBAR": '"|"',
        "_INDENT": "_INDENT",
    }
    assert str(places["LSQB"][1]) == "<grammar>:2:8"
    assert [(n.name, written(grammar, n.span), n.repeats) for n in grammar.data.nonterminals] == [
        ("start", "start", False),
        ("item", "item", False),
        ("_sep", "_sep", False),
        ("__start_star_0", "start", True),
    ]


def test_only_literals_without_a_name_are_shown_as_literals(grammar: Grammar) -> None:
    named = Grammar.from_lark(GOOD["named literal"])
    assert describe(named) == ['start: LBRACE "}"']
    assert {t.name: t.literal for t in named.data.terminals} == {"LBRACE": None, "RBRACE": '"}"'}


def test_places_in_templates_and_imports() -> None:
    templates = Grammar.from_lark(GOOD["templates"])
    assert describe(templates)[2:4] == ['_list{a,COMMA}: a ("," a)+', "_list{a,COMMA}: a"]
    assert {p.rule for p in templates.data.productions} == {"start", "_list", "a"}
    assert all(p.span is not None and p.span.line in (1, 2, 3) for p in templates.data.productions)
    imported = Grammar.from_lark('start: "a" rule_params\n%import lark.rule_params', source_path="x.lark")
    spans = {p.rule: str(p.span) for p in imported.data.productions}
    assert spans == {"start": "x.lark:1:8", "rule_params": "x.lark:2:14"}


def test_where_alternatives_cannot_be_told_apart_the_place_is_the_rules_name() -> None:
    grammar = Grammar.from_lark('start: ("a" | "a") "b" | "c"\n')
    assert [written(grammar, p.span) for p in grammar.data.productions] == ["start", "start"]
    single = Grammar.from_lark('start: ("a" | "a")? "b"\n')
    assert [written(single, p.span) for p in single.data.productions] == ['("a" | "a")? "b"'] * 2


def test_repetitions_are_described() -> None:
    grammar = Grammar.from_lark('start: ("a" | "b" "c")+ x+\nx: ("d" ("e" "f")+)+\n')
    assert describe(grammar)[:2] == ['start: ("a" | "b" "c")+ x+', 'x: ("d" ("e" "f")+)+']
    assert describe(Grammar.from_lark('start: "a"~3 "b"~2')) == ['start: "a"~3 "b" "b"']
    long = Grammar.from_lark('start: "a"~60 "b"~0..1000')
    assert all(len(line) < 300 for line in describe(long))


@pytest.mark.parametrize("name", GOOD)
def test_every_production_and_terminal_has_a_place(name: str) -> None:
    grammar = Grammar.from_lark(GOOD[name])
    lines = [*GOOD[name].split("\n"), ""]
    for record in [*grammar.data.terminals, *grammar.data.nonterminals, *grammar.data.productions]:
        span = record.span
        assert span is not None, record
        assert (span.line, span.column) <= (span.end_line, span.end_column)
        assert span.column <= len(lines[span.line - 1]) + 1


def test_a_grammar_pickles_and_copies(grammar: Grammar) -> None:
    for other in [pickle.loads(pickle.dumps(grammar)), copy.deepcopy(grammar)]:
        assert dataclasses.astuple(other.data) == dataclasses.astuple(grammar.data)
        assert other.fingerprint == grammar.fingerprint
        assert (other, hash(other)) == (grammar, hash(grammar))


def test_what_imports_need_is_used(tmp_path: Path) -> None:
    (tmp_path / "lists.lark").write_text(
        'list: "(" item* ")"\nitem: list | WORD\nother: WORD\nWORD: LETTER+\nLETTER: /[a-z]/\n'
    )
    text = "start: list\n%import .lists (list, item, other, WORD)\n"
    grammar = Grammar.from_lark(text, source_path=tmp_path / "main.lark")
    assert [(name.name, str(name.span).rpartition("main.lark")[2]) for name in grammar.data.unused] == [
        ("other", ":2:29")
    ]


def test_equal_are_those_of_the_same_text_place_and_options() -> None:
    assert Grammar.builtin("json") is Grammar.builtin("json")
    assert Grammar.from_lark(TEXT) == Grammar.from_lark(TEXT)
    assert hash(Grammar.from_lark(TEXT)) == hash(Grammar.from_lark(TEXT))
    plain = Grammar.from_lark('start: "a"')
    assert plain == pickle.loads(pickle.dumps(plain))
    others = [
        Grammar.from_lark('start: "b"'),
        Grammar.from_lark('start: "a" '),
        Grammar.from_lark('start: "a"', conflicts="shift"),
        Grammar.from_lark('start: "a"', source_path="a.lark"),
        Grammar.from_lark('start: "a"', import_paths=[lambda *_: ("", "")]),
    ]
    assert len({plain, *others}) == 6


def test_the_fingerprint_is_the_meaning() -> None:
    plain = Grammar.from_lark('start: a\na: "x" | "y"')
    same = Grammar.from_lark('// other text\nstart: a\n?a: "x" -> one\n | "y"\n', maybe_placeholders=False)
    assert plain.fingerprint == same.fingerprint
    different = [
        Grammar.from_lark('start: a\na: "x" | "z"'),
        Grammar.from_lark('start: b\nb: "x" | "y"'),
        Grammar.from_lark('start: a\na: "x" | "y"i'),
        Grammar.from_lark('start: a\na.1: "x" | "y"'),
        Grammar.from_lark('start: a\na: "x" | "y"\n%ignore "x"'),
        Grammar.from_lark('start: a\na: "x" | "y"', start="a"),
        Grammar.from_lark('start: a\na: "x" | "y"', lexer="basic"),
        Grammar.from_lark('start: a\na: "x" | "y"', conflicts="shift"),
        Grammar.from_lark('start: a\na: "x" | "y"', lookahead="commit"),
        Grammar.from_lark('start: a\na: "x" | "y"', g_regex_flags=re.IGNORECASE),
    ]
    assert len({plain.fingerprint, *(g.fingerprint for g in different)}) == len(different) + 1
    assert re.fullmatch("[0-9a-f]{64}", plain.fingerprint)


def test_to_lark_means_the_same(tmp_path: Path) -> None:
    (tmp_path / "words.lark").write_text('WORD: /[a-z]+/\nnumber: "0".."9"+\n')
    (tmp_path / "main.lark").write_text("start: WORD+ words__x?\n%import .words (WORD, number)\nwords__x: number\n")
    grammar = Grammar.from_file(tmp_path / "main.lark", g_regex_flags=re.IGNORECASE)
    assert accepts(grammar, "ABc")
    assert accepts(grammar, b"abc7")
    assert not accepts(grammar, "7abc")
    assert not accepts(grammar, b"\xff")
    again = Grammar.from_lark(grammar.to_lark(), **{k: v for k, v in grammar.lark_options.items() if k != "parser"})
    assert again.fingerprint == grammar.fingerprint
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    text = "start: WORD\n%import words.WORD\n"
    found = Grammar.from_lark(text, import_paths=[tmp_path])
    assert lark.Lark(found.to_lark(), **found.lark_options).parse("abc").children == ["abc"]


def test_a_grammar_checks_its_symbols() -> None:
    parts = {
        "terminals": (Terminal("A", None, 0, None),),
        "nonterminals": (Nonterminal("start", None),),
        "productions": (Production(2, (0,), 0, "start", None, 0, None),),
        "ignore": frozenset[int](),
        "starts": (2,),
        "options": GrammarOptions(),
        "source": "start: A\n%declare A\n",
    }
    GrammarData(**parts)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Grammar takes GrammarData, not str; see Grammar\.from_lark"):
        Grammar("start: A")  # type: ignore[arg-type]
    wrong = [
        {"starts": ()},
        {"starts": (0,)},
        {"starts": (3,)},
        {"ignore": frozenset([1])},
        {"productions": (Production(0, (), 0, "start", None, 0, None),)},
        {"productions": (Production(2, (1,), 0, "start", None, 0, None),)},
        {"productions": (Production(2, (-1,), 0, "start", None, 0, None),)},
    ]
    for change in wrong:
        with pytest.raises(ValueError):
            GrammarData(**{**parts, **change})  # type: ignore[arg-type]


def test_who_takes_a_grammar_for_its_data_is_told() -> None:
    grammar = Grammar.from_lark('start: "a"')
    with pytest.raises(AttributeError, match=r"'Grammar' object has no attribute 'starts'; .* grammar\.data\.starts$"):
        build_tables(grammar)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match=r"'Grammar' object has no attribute 'terminal'$"):
        grammar.terminal  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"lexer": "dynamic"}, "expected one of 'contextual', 'basic'"),
        ({"lexer": lark.lexer.BasicLexer}, "expected one of 'contextual', 'basic'"),
        ({"conflicts": "ignore"}, "expected one of 'error', 'shift'"),
        ({"lookahead": 3}, "expected one of 'reject', 'commit'"),
        ({"priority": "inverted"}, "expected one of 'auto', 'normal', 'invert', None"),
        ({"maybe_placeholders": 1}, "expected one of False, True"),
        ({"start": ["a", "a"]}, "given twice"),
        ({"start": []}, "at least one"),
        ({"start": [1]}, "a rule's name"),
        ({"start": 5}, "start=5: expected a rule's name"),
        ({"g_regex_flags": "i"}, "re.IGNORECASE"),
        ({"g_regex_flags": re.LOCALE}, "expected only"),
        ({"g_regex_flags": re.ASCII | re.UNICODE}, "exclude each other"),
        ({"import_paths": "grammars"}, r"such as \['grammars'\]"),
    ],
)
def test_wrong_options_name_the_right_ones(options: dict[str, object], expected: str) -> None:
    with pytest.raises((ValueError, TypeError), match=expected):
        Grammar.from_lark('start: "a"', **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_undefined_start_names_the_rules() -> None:
    with pytest.raises(
        GrammarSyntaxError, match=r"start rule 'begin' is not defined; .*: start, text, or what they use: a(\n|$)"
    ):  # those that no rule needs
        Grammar.from_lark('start: a\na: "x"\ntext: a text\n_b: a', start="begin")
    with pytest.raises(GrammarSyntaxError, match=r"start rule 'begin' is not defined; .*: a, b(\n|$)"):
        Grammar.from_lark('a: b\nb: a | "x"', start="begin")
    with pytest.raises(
        GrammarSyntaxError, match=r"you mean 'query'\? Or .*: start, or what they use: statement, query, "
    ):
        Grammar.builtin("sql", start="qery")


@pytest.mark.parametrize("name", ["json", "python_spaces", "url"])
def test_names_are_plain_strings(name: str) -> None:
    """Lark's own are tokens, which show themselves as such."""
    assert {type(terminal.name) for terminal in Grammar.builtin(name).data.terminals} == {str}


def test_alternatives_have_their_places_among_blanks_and_comments() -> None:
    """Each where it is written; 100,000 blanks, such as an embedded schema leaves, are read once."""
    blanks = " " * 100_000
    text = f'start: "a" // one | two\n\n     // three\n   | "b"{blanks}| "c" other # four\n\n\nother: "d"\n'
    grammar = Grammar.from_lark(text)
    assert [written(grammar, production.span) for production in grammar.data.productions] == [
        '"a"',
        '"b"',
        '"c" other',
        '"d"',
    ]
