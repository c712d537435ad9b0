"""The built-in grammars: their samples, stock Lark and an independent implementation agree."""

from __future__ import annotations

import ast
import json
import operator
import re
from pathlib import Path
from typing import Any

import lark
import pytest
from support.collisions import strict_lark
from support.lark_oracle import accepts, lark_parser

from pdacon import check
from pdacon.front.grammar import Grammar
from pdacon.grammar.builtin import builtin_name, builtin_names

GRAMMARS = Path(__file__).parents[2] / "grammars"
NAMES = ["arithmetic", "json"]


def samples(name: str, kind: str) -> list[Any]:
    folder = GRAMMARS / name / kind
    return [pytest.param(path.read_bytes(), id=f"{name}/{path.name}") for path in sorted(folder.iterdir())]


@pytest.fixture(scope="module")
def grammars() -> dict[str, Grammar]:
    return {name: Grammar.builtin(name) for name in NAMES}


@pytest.mark.parametrize("text", samples("json", "accept"))
def test_json_accepts(grammars: dict[str, Grammar], text: bytes) -> None:
    json.loads(text.decode(), parse_constant=_refuse)
    assert accepts(grammars["json"], text)


@pytest.mark.parametrize("text", samples("json", "reject"))
def test_json_rejects(grammars: dict[str, Grammar], text: bytes) -> None:
    with pytest.raises(ValueError):
        json.loads(text.decode(), parse_constant=_refuse)
    assert not accepts(grammars["json"], text)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is Python's, not JSON")


@pytest.mark.parametrize("text", samples("arithmetic", "accept"))
def test_arithmetic_accepts(grammars: dict[str, Grammar], text: bytes) -> None:
    tree = lark_parser(grammars["arithmetic"]).parse(text.decode())
    # Python groups the same way, once leading zeros, which it refuses, are gone.
    as_python = re.sub(r"\b0+(?=\d)", "", text.decode()).strip()
    names = {node.id: float(len(node.id)) for node in ast.walk(ast.parse(as_python)) if isinstance(node, ast.Name)}
    assert Calculator(names).transform(tree) == eval(as_python, {}, names)


@pytest.mark.parametrize("text", samples("arithmetic", "reject"))
def test_arithmetic_rejects(grammars: dict[str, Grammar], text: bytes) -> None:
    assert not accepts(grammars["arithmetic"], text)


class Calculator(lark.Transformer[Any, float]):
    """Computes the value of a tree of arithmetic.lark."""

    def __init__(self, names: dict[str, float]) -> None:
        super().__init__()
        self.names = names

    def __default__(self, data: str, children: list[Any], meta: Any) -> float:
        functions = {
            "add": operator.add,
            "subtract": operator.sub,
            "multiply": operator.mul,
            "divide": operator.truediv,
            "negate": operator.neg,
            "number": float,
            "name": self.names.__getitem__,
        }
        return functions[data](*children)


@pytest.mark.parametrize("name", NAMES)
def test_strict_lark_finds_nothing(name: str) -> None:
    """No shift/reduce conflict and no collision of terminals: Lark's strict mode raises for both."""
    grammar = Grammar.builtin(name)
    strict_lark(grammar.to_lark(), **grammar.lark_options)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"no built-in grammar 'jsom'; did you mean json.*\? there are .*arithmetic.*json"
    ):
        Grammar.builtin("jsom")
    with pytest.raises(ValueError, match=r"no built-in grammar 'nope'; there are .*arithmetic.*json"):
        Grammar.builtin("nope")
    # A table that another grammar imports.
    assert (GRAMMARS / "_unicode.lark").exists()
    with pytest.raises(ValueError, match=r"no built-in grammar '_unicode'; .* are arithmetic"):
        Grammar.builtin("_unicode")
    with pytest.raises(TypeError, match=r"Grammar\.builtin has no option strt; did you mean start\?"):
        Grammar.builtin("json", strt="object")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Grammar\.from_file has no option postlexer; did you mean postlex or lexer\?"):
        Grammar.from_file("missing.lark", postlexer=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="must be a str such as 'json', not NoneType"):
        Grammar.builtin(None)  # type: ignore[arg-type]


def test_each_has_a_sentence_that_says_what_it_is() -> None:
    listed = Grammar.builtins()
    assert list(listed) == builtin_names()
    assert listed["json_compact"] == (
        'JSON without insignificant whitespace: what Python\'s json.dumps(x, separators=(",", ":")) writes'
    )
    for name, sentence in listed.items():
        assert 5 <= len(sentence) < 200, name
        assert "\n" not in sentence
        assert not sentence.startswith("/"), name


@pytest.mark.slow
def test_a_built_in_grammar_is_called_by_its_name(tmp_path: Path) -> None:
    grammar = Grammar.builtin("python_expression")
    assert (grammar.data.source_path, builtin_name(grammar.data)) == ("python_expression", "python_expression")
    assert {path for path, _ in grammar.data.imported_files} == {"python"}
    assert repr(grammar).startswith("<Grammar python_expression: ")
    assert check(grammar, seconds=0).subject == "python_expression"
    span = grammar.data.terminals[0].span
    assert span is not None
    assert span.path == "python"
    assert builtin_name(Grammar.builtin("json", start="object").data) == "json"
    copy = tmp_path / "json"
    copy.write_text('start: "x"\n')
    assert builtin_name(Grammar.from_file(copy).data) is None
    mine = Grammar.from_lark('start: "x"\n', source_path="json")
    assert (mine.data.source_path, builtin_name(mine.data)) == ("json", None)
