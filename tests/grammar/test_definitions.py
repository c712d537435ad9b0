"""Definitions: the rules as they were written. Written out again, Lark makes the same productions of them."""

from __future__ import annotations

import re
from pathlib import Path

import lark
import pytest
from support.random_grammars import random_grammar

from pdacon import Grammar
from pdacon.errors import GrammarError, GrammarSyntaxError
from pdacon.grammar.definitions import (
    Definition,
    Expression,
    InOrder,
    Name,
    OneOf,
    Repeated,
    read_definitions,
    written,
)

PYTHON = Path(lark.__file__).parent / "grammars" / "python.lark"


def expression(rule: str) -> Expression:
    (definition, *_) = read_definitions(Grammar.from_lark(f'start: {rule}\na: "a"\nb: "b"\nc{{x}}: x\nN: /n/\n').data)
    return definition.expression


A, B, N = Name("a", "rule", "a"), Name("b", "rule", "b"), Name("N", "terminal")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("a", A),
        ("a N", InOrder((A, N))),
        ('"x" | /y/i -> z', OneOf((Name('"x"', "literal"), Name("/y/i", "literal")))),
        ("a | (b | N)", OneOf((A, B, N))),
        ("[a] b?", InOrder((Repeated(A, 0, 1), Repeated(B, 0, 1)))),
        ("a* b+", InOrder((Repeated(A, 0, None), Repeated(B, 1, None)))),
        ("a~2 b~1..3", InOrder((Repeated(A, 2, 2), Repeated(B, 1, 3)))),
        ("(a b)~2", Repeated(InOrder((A, B)), 2, 2)),
        ('"a".."f"', Name('"a".."f"', "literal")),
        ("c{a} c{N}", InOrder((Name("c{a}", "rule", "c"), Name("c{N}", "rule", "c")))),
        ("a |", OneOf((A, InOrder(())))),
        ("[a | b] N", InOrder((Repeated(OneOf((A, B)), 0, 1), N))),
    ],
)
def test_expressions(rule: str, expected: Expression) -> None:
    assert expression(rule) == expected


def test_templates_have_parameters() -> None:
    grammar = Grammar.from_lark('start: _sep{"a", ","}\n_sep{x, s}: x (s x)*\n')
    _, template = read_definitions(grammar.data)
    x, s = Name("x", "parameter"), Name("s", "parameter")
    repeated = Repeated(InOrder((s, x)), 0, None)
    assert template == Definition("_sep", ("x", "s"), InOrder((x, repeated)), imported=False)


def test_order_imports_and_what_is_not_used() -> None:
    grammar = Grammar.from_lark('%import python.name -> word\nstart: word\n?unused: "u"\n!other.2: "o"\n')
    assert [(d.name, d.imported) for d in read_definitions(grammar.data)] == [
        ("start", False),
        ("unused", False),
        ("other", False),
        ("word", True),
    ]


def test_extended_rules() -> None:
    grammar = Grammar.from_lark('start: a\na: "x" | "y"\n%extend a: "z"\n')
    extended = read_definitions(grammar.data)[1].expression
    assert isinstance(extended, OneOf)
    assert {written(item) for item in extended.items} == {'"x"', '"y"', '"z"'}


def test_a_grammar_that_has_gone(tmp_path: Path) -> None:
    (tmp_path / "other.lark").write_text('word: "w"\n')
    (tmp_path / "main.lark").write_text("%import .other.word\nstart: word\n")
    grammar = Grammar.from_file(tmp_path / "main.lark")
    (tmp_path / "other.lark").unlink()
    with pytest.raises(GrammarSyntaxError, match="other"):
        read_definitions(grammar.data)


def rewritten(grammar: Grammar) -> Grammar:
    """The grammar with its rules written anew, and its other lines as they were."""
    names = {definition.name for definition in read_definitions(grammar.data)}
    other = [line for line in grammar.data.source.splitlines() if re.split("[.:]", line)[0].strip("?! ") not in names]
    rules = [f"{d.name}: {written(d.expression)}" for d in read_definitions(grammar.data)]
    return Grammar.from_lark("\n".join([*other, *rules]) + "\n", conflicts="shift", lexer=grammar.data.options.lexer)


def productions(grammar: Grammar) -> set[tuple[str, tuple[str, ...]]]:
    describe = grammar.data.describe_symbol
    return {(describe(p.lhs), tuple(map(describe, p.rhs))) for p in grammar.data.productions}


@pytest.mark.slow
def test_written_again_they_mean_the_same() -> None:
    compared = 0
    for seed in range(120):
        small = random_grammar(seed)
        if small.options.get("use_bytes"):
            continue
        try:
            grammar = Grammar.from_lark(small.text, conflicts="shift", lexer=small.options.get("lexer", "contextual"))
        except GrammarError:
            continue
        assert productions(rewritten(grammar)) == productions(grammar), small.text
        compared += 1
    assert compared > 40


def test_every_rule_of_python_is_there() -> None:
    grammar = Grammar.from_file(PYTHON, start="file_input", postlex="python", conflicts="shift")
    names = {definition.name for definition in read_definitions(grammar.data)}
    assert {p.rule for p in grammar.data.productions} <= names
