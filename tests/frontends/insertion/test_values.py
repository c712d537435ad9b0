"""What `Constraint.parse` makes of texts of composed and escaped grammars: trees with values in them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from lark import Lark, Tree

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.front import values
from pdacon.lalr import build_tables


@dataclass
class Person:
    name: str
    age: int


PERSON = json.dumps({"name": 'é"', "age": 3}, ensure_ascii=False)


def parsed(grammar: Grammar, text: str, start: str | None = None) -> Any:
    return pdacon.compile(grammar, pdacon.Vocabulary.bytes()).parse(text, start)


def test_instances_in_a_tree() -> None:
    template = 'start: "<answer>" person "</answer>" note?\nnote: /x+/\n%import common.WS\n%ignore WS'
    grammar = Grammar.compose(template, person=Grammar.from_type(Person))
    tree = parsed(grammar, f" <answer>\n{PERSON} </answer> xx ")
    assert tree == Tree("start", [Person('é"', 3), Tree("note", ["xx"])])
    assert tree.children[1].children[0].start_pos == len(f" <answer>\n{PERSON} </answer> ")


def test_a_hole_that_is_a_terminal_and_one_without_a_name_in_the_tree() -> None:
    outer = Grammar.from_lark('start: "(" CODE ")" _rest\n_rest: /;+/?\n%declare CODE')
    grammar = Grammar.compose(outer, CODE=RegularSet.from_regex("[a-z]+"))
    assert parsed(grammar, "(ab);;") == Tree("start", ["ab", ";;"])
    hidden = Grammar.compose('start: "(" _h ")" X\nX: "x"', _h=RegularSet.from_regex("[a-z]+"))
    assert parsed(hidden, "(ab)x") == Tree("start", ["x"])


def test_the_only_child() -> None:
    assert parsed(Grammar.compose('?start: "(" h ")"', h=Grammar.from_type(int)), "(12)") == 12


@pytest.mark.slow
def test_code_behind_which_a_fence_takes_what_is_ignored() -> None:
    grammar = Grammar.compose('start: "Query:\\n" code "\\n```"', code="sql_select")
    plain = Grammar.builtin("sql_select")
    lark = Lark(plain.to_lark(), **plain.lark_options)
    text = 'SELECT "a"\nFROM t -- all'
    assert parsed(grammar, f"Query:\n{text}\n\n```") == Tree("start", [lark.parse(text)])


def test_texts_that_end_before_a_word() -> None:
    thought = ~RegularSet.from_regex("(?s).*</think>.*")
    grammar = Grammar.compose('start: "<think>" thought "</think>" answer', thought=thought, answer="json")
    assert parsed(grammar, '<think>1 < 2</think> {"a": [1]}') == Tree("start", ["1 < 2", {"a": [1]}])


def test_schemas_in_the_text() -> None:
    text = 'start: answer+\nanswer: "result: " %json {"type": "integer"} ".\\n"'
    tree = parsed(Grammar.from_lark(text, extensions=True), "result: 12.\nresult: 3.\n")
    assert tree == Tree("start", [Tree("answer", [12]), Tree("answer", [3])])


def test_several_starts() -> None:
    outer = Grammar.from_lark('start: "(" H ")"\nother: "[" H "]"\n%declare H', start=["start", "other"])
    grammar = Grammar.compose(outer, H=Grammar.from_type(int))
    assert parsed(grammar, "(1)") == Tree("start", [1])
    assert parsed(grammar, "[2]", "other") == Tree("other", [2])


def test_strings_mean_what_is_escaped_in_them() -> None:
    person = Grammar.from_type(Person)
    assert parsed(person.escaped(quotes=True), json.dumps(PERSON, ensure_ascii=False)) == Person('é"', 3)
    assert parsed(person.escaped(escapes="ascii"), json.dumps(PERSON)[1:-1]) == Person('é"', 3)
    call = Grammar.compose('start: "{\\"arguments\\": " args "}"', args=person.escaped(quotes=True))
    text = json.dumps({"arguments": PERSON}, ensure_ascii=False)
    assert parsed(call, text) == Tree("start", [Person('é"', 3)])
    assert parsed(Grammar.compose('start: "(" h ")"', h=call), f"({text})") == Tree("start", [parsed(call, text)])
    words = Grammar.from_lark('start: WORD+\nWORD: /[a-z]+/\n%ignore "\\n"')
    assert parsed(words.escaped(), "a\\nb") == Tree("start", ["a", "b"])
    assert parsed(Grammar.from_gbnf('root ::= [a-z\\n]+ | "(" root ")"').escaped(), "a\\nb") == "a\nb"


def test_the_cache_keeps_what_a_grammar_was_composed_of(tmp_path: Any) -> None:
    for kind, value in ((Person, Person('é"', 3)), (dict[str, Any], {"name": 'é"', "age": 3})):
        cache = pdacon.CompileCache(directory=tmp_path)
        inner = Grammar.from_type(kind)
        grammar = Grammar.compose('?start: "(" h ")"', h=inner)
        assert cache.compile(grammar, pdacon.Vocabulary.bytes()).parse(f"({PERSON})") == value
        assert cache.compile(grammar, pdacon.Vocabulary.bytes()).parse(f"({PERSON})") == value


def test_what_reads_a_text_is_made_once_and_serves_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = Grammar.compose('start: "<" data ">"', data=Grammar.builtin("json"))
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    texts = [f'<{{"a": [{k}]}}>' for k in range(40)]
    first = constraint.parse(texts[0])
    built: list[Any] = []
    monkeypatch.setattr(values, "build_tables", lambda *given: built.append(given) or build_tables(*given))
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(constraint.parse, texts))
    assert trees[0] == first
    assert [tree.children[0]["a"] for tree in trees] == [[k] for k in range(40)]
    assert not built
