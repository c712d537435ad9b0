"""What a file is written in is told by its ending, wherever a path may be given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pdacon
from pdacon import Grammar, Vocabulary

GBNF = 'root ::= "(" root ")" | [a-z]\n'
LARK = 'start: "(" start ")" | /[a-z]/\n'


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("a.gbnf", GBNF, "GBNF"),
        ("a.GBNF", GBNF, "GBNF"),
        ("a.ebnf", GBNF, "EBNF"),
        ("a.lark", LARK, "Lark"),
        ("a.txt", LARK, "Lark"),
        ("a", LARK, "Lark"),
    ],
)
def test_the_ending_says_what_a_file_is_written_in(name: str, text: str, language: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text)
    for given in (file, str(file)):
        grammar = Grammar.from_file(given)
        assert (grammar.data.language, grammar.data.source_path) == (language, str(file))
        assert grammar.accepts("((a))")
    assert pdacon.compile(file, Vocabulary.bytes()).accepts("(a)")
    assert pdacon.check(file).ok


def test_a_json_schema(tmp_path: Path) -> None:
    file = tmp_path / "person.json"
    file.write_text(json.dumps({"type": "integer", "minimum": 3}))
    grammar = Grammar.from_file(file)
    assert [grammar.accepts(text) for text in ("2", "3")] == [False, True]
    assert grammar.data.source_path == str(file)


@pytest.mark.parametrize("ending", ["gbnf", "ebnf", "json"])
def test_options_of_lark_are_refused(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"a.{ending}"
    file.write_text(GBNF)
    with pytest.raises(TypeError, match=rf"start is an option of .* not of \.{ending} files; Grammar\.from_"):
        Grammar.from_file(file, start="a")
    with pytest.raises(ValueError, match=r"give pathlib\.Path"):
        pdacon.compile(f"C:/grammars/a.{ending}", Vocabulary.bytes())


def test_gbnf_under_another_name_is_recognised(tmp_path: Path) -> None:
    file = tmp_path / "grammar.txt"
    file.write_text(GBNF)
    with pytest.raises(pdacon.GrammarSyntaxError, match=r"Grammar\.from_gbnf") as caught:
        Grammar.from_file(file)
    assert caught.value.span is not None
