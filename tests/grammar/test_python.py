"""python.lark: its samples, stock Lark and CPython agree."""

from __future__ import annotations

import ast
import re
import sys
import unicodedata
import warnings
from pathlib import Path
from typing import Any

import pytest
from support.builtin import builtin, over_bytes
from support.lark_oracle import accepts
from support.python_blocks import widths_of_blocks

from pdacon import Constraint, Grammar, Vocabulary, compile

SAMPLES = Path(__file__).parents[2] / "grammars" / "python"
SINCE = {"formatted": (3, 12), "type_parameters": (3, 13), "try_star": (3, 11)}


def samples(kind: str) -> list[Any]:
    return [pytest.param(path.read_bytes().decode(), id=path.name) for path in sorted((SAMPLES / kind).iterdir())]


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return builtin("python")


@pytest.fixture(scope="module")
def constraint() -> Constraint:
    return over_bytes("python")


def is_sentence(constraint: Constraint, text: str) -> bool:
    matcher = constraint.matcher()
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("accept"))
def test_accepts(grammar: Grammar, constraint: Constraint, text: str, request: pytest.FixtureRequest) -> None:
    if sys.version_info >= SINCE.get(request.node.callspec.id, (3, 10)):
        assert parses(text)
    assert accepts(grammar, text)
    assert is_sentence(constraint, text)


@pytest.mark.slow
@pytest.mark.parametrize("text", samples("reject"))
def test_rejects(grammar: Grammar, constraint: Constraint, text: str) -> None:
    assert not parses(text)
    assert not accepts(grammar, text)
    assert not is_sentence(constraint, text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "template",
    ["{} = 1", "x.{}", "f({}=1)", "def {}(): pass", "def f({}): pass", "import {}", "import x as {}", "lambda {}: 1"],
)
def test_keywords_are_no_names(constraint: Constraint, template: str) -> None:
    keywords = (
        "False None True and as assert async await break class continue def del elif else except finally for from "
        "global if import in is lambda nonlocal not or pass raise return try while with yield"
    )
    for word in keywords.split():
        assert not parses(template.format(word))
        assert not is_sentence(constraint, template.format(word)), word
    for word in ("match", "case", "type", "_", "lambdas", "nonlocal_", "print"):
        assert is_sentence(constraint, template.format(word)), word


@pytest.mark.slow
def test_letters_are_those_of_unicode_13(grammar: Grammar) -> None:
    """Whatever Unicode this Python has: it knows all of the grammar's, and the grammar most of its."""
    (pattern,) = (terminal.pattern for terminal in grammar.data.terminals if terminal.name == "NAME")
    assert pattern is not None
    is_name = re.compile(pattern.regexp).fullmatch
    planes = [*range(0x32000), *range(0xE0000, 0xE0200), *range(0xE0200, 0x110000, 0x1001)]  # nothing is named beyond
    for before in ("", "a"):
        names = {before + chr(code) for code in planes}
        taken = {name for name in names if is_name(name)}
        identifiers = {name for name in names if name.isidentifier()}
        assert taken <= identifiers
        assert len(taken) > 0.9 * len(identifiers)
        if unicodedata.unidata_version == "13.0.0":
            assert taken == identifiers


def test_named_characters_are_those_of_unicode() -> None:
    """All names that the grammar has, in capitals, one after the other out of the automaton."""
    letters = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -", "'\\N{", "}'", "'", '"']
    vocabulary = Vocabulary.from_tokens([*(letter.encode() for letter in letters), None], eos_ids=[len(letters)])
    grammar = Grammar.from_lark(
        "start: STRING_BEFORE_ CHARACTER STRING_BEHIND_\n%import .python (STRING_BEFORE_, CHARACTER, STRING_BEHIND_)\n",
        source_path=str(SAMPLES.parent / "names.lark"),
    )
    matcher = compile(grammar, vocabulary).matcher()
    matcher.accept_bytes(b"'\\N{")
    names: set[str] = set()
    beginnings = [""]
    for beginning in beginnings:
        for letter in letters[:-4]:
            if matcher.accept_bytes((beginning + letter).encode()):
                beginnings.append(beginning + letter)
                matcher.rollback(1)
        if matcher.accept_bytes(f"{beginning}}}'".encode()):
            names.add(beginning)
            matcher.rollback(1)
    assert len(names) > 1_000
    assert {"EN DASH", "LATIN SMALL LETTER E WITH ACUTE", "NO-BREAK SPACE", "OX"} <= names
    for name in names:
        assert len(ast.literal_eval(f"'\\N{{{name}}}'")) == 1, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sentences", "others"),
    [
        (
            "python_expression",
            ["a", "a, b", "[\n  f'{x}'\n]", "\n# c\nlambda *a: (yield)\n", "a if b else c\n\n  ", "  a", "\t(a)"],
            ["", "a = 1", "*a, b", "pass", "a\nb", "\n a", "a; b", "yield", "a := 1"],
        ),
        (
            "python_function",
            ["def f(): pass", "\n@a\n@b()\nasync def f(x):\n  'c'\n  match x:\n    case 1: return\n\n# c\n"],
            ["", "a", "class A: pass", "def f(): pass\na", "def f(): pass\ndef g(): pass", "a\ndef f(): pass", "@a"],
        ),
        (
            "python_spaces",
            [
                "if x:\n    y\n    if z:\n        w\nelse:\n    v\n",
                "if x:\n\n  # c\n    y\n      \n# c\n    f(\n  x)\n",
                "x = 1 + \\\n  2",
                "x = '\t'  #\t",
            ],
            [
                "x =\t1",
                "x\t= 1",
                "x\n\t\ny",
                "if x:\n\ty",
                "if x:\n  y",
                "if x:\n     y",
                "if x:\n        y",
                "if x:\n    a\n    if y:\n      z",
                "if x:\n    a\n    if y:\n\tz",
                "f(\n\tx)",
            ],
        ),
    ],
)
def test_variants(name: str, sentences: list[str], others: list[str]) -> None:
    constraint = over_bytes(name)
    grammar = constraint.grammar
    assert not [
        symbol.name for symbol in (*grammar.data.terminals, *grammar.data.nonterminals) if "python__" in symbol.name
    ]
    for text in sentences:
        assert is_sentence(constraint, text), text
    for text in others:
        assert not is_sentence(constraint, text), text


@pytest.mark.slow
def test_samples_that_are_indented_by_one_width() -> None:
    """Judged by Python's own tokenizer: python_spaces takes those whose blocks are four spaces wide, and no others."""
    indenter = Grammar.builtin("python_spaces").lark_options["postlex"]
    indenter.indent_len = 2  # as in docs/grammars.md
    four, two = over_bytes("python_spaces"), over_bytes("python_spaces", postlex=indenter)
    taken = 0
    for path in sorted((SAMPLES / "accept").iterdir()):
        text = path.read_bytes().decode()
        widths = widths_of_blocks(text)
        if widths is not None and "\t" not in text and not text.startswith(("\f", " ", "\\")):
            assert is_sentence(four, text) == (widths <= {4}), path
            assert is_sentence(two, text) == (widths <= {2}), path
            taken += widths == {4} or widths == {2}
    assert taken > 10
