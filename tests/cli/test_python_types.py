"""Types of Python as grammars on the command line, and names of what comes with pdacon."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdacon.cli import main

MODELS = """
from dataclasses import dataclass

import pdacon


@dataclass
class Order:
    count: int


def weather(city: str) -> None: ...


@dataclass
class Window:
    low: int

    def __post_init__(self) -> None: ...


word = pdacon.RegularSet.from_choices(["yes", "no"])
number = 7
"""


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "models_of_mine.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    return str(tmp_path / "models_of_mine.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [("Order", '{"count": 3}'), ("weather", '{"name": "weather", "arguments": {"city": "Oslo"}}'), ("word", "yes")],
)
def test_what_a_file_or_a_module_has_is_a_grammar(models: str, name: str, text: str) -> None:
    for given in (f"{models}:{name}", f"models_of_mine:{name}"):
        assert main(["explain", given, text]) == 0
        assert main(["explain", given, "?"]) == 1


def test_options_of_json_go_with_types(models: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{models}:Order", '{"count":12}', "--whitespace", "compact"]) == 0
    assert main(["explain", f"{models}:Order", '{"count": 123}', "--max-digits", "2"]) == 1
    capsys.readouterr()
    assert main(["sample", f"{models}:Window", "-n", "1", "--seed", "1"]) == 0
    assert capsys.readouterr().err == "pdacon: not enforced: Window: __post_init__: it may refuse values\n"
    assert main(["sample", f"{models}:Window", "--strict"]) == 2
    assert "Window: __post_init__" in capsys.readouterr().err
    assert main(["sample", f"{models}:word", "--max-digits", "2"]) == 2
    assert "--max-digits goes with a type" in capsys.readouterr().err
    assert main(["sample", "json", "--strict"]) == 2
    assert "goes with a JSON Schema or a Python type only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("models_of_mine:Orders", "has no attribute 'Orders'"),
        ("models_of_nobody:Order", "No module named"),
        ("none.py:Order", "none.py: no such file"),
        ("models_of_mine:number", "grammar must be"),
    ],
)
def test_what_cannot_be_had(models: str, given: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", given]) == 2
    assert said in capsys.readouterr().err


def test_generate_takes_types_and_schemas(models: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--temperature", "0", "--prompt", "A number:", "--max-tokens", "40"]
    assert main(["generate", f"{models}:Order", *arguments]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["count"]
    (tmp_path / "three.json").write_text('{"const": 3}')
    assert main(["generate", "--schema", "three.json", *arguments]) == 0
    assert capsys.readouterr().out.strip() == "3"
    assert main(["generate", "json", "--grammar", f"{models}:Order"]) == 2
    assert "only once" in capsys.readouterr().err


def test_the_tiny_model_has_a_name(models: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokens"]) == 0
    usual = capsys.readouterr().out
    assert main(["tokens", "--tokenizer", "tiny"]) == 0
    assert capsys.readouterr().out == usual
    assert main(["generate", "--model", "tiny", "--schema", "none.json"]) == 2
