"""What type checkers know of values: the type that the grammar was made of."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pdacon

USER_CODE = """
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pydantic
from typing_extensions import assert_type

import pdacon
from pdacon.integrations.huggingface import Stream


class Invoice(pydantic.BaseModel):
    total: float


vocabulary = pdacon.Vocabulary.bytes()
constraint = pdacon.compile(Invoice, vocabulary, limits=pdacon.Limits(seconds=2))
assert_type(constraint, pdacon.Constraint[Invoice])
assert_type(constraint.parse("{}"), Invoice)
grammar = pdacon.Grammar.from_type(Invoice, lax=True)
assert_type(grammar, pdacon.Grammar[Invoice])
assert_type(pdacon.compile(grammar, vocabulary).parse("{}"), Invoice)
assert_type(pdacon.compile(pdacon.Grammar.from_json_schema({}), vocabulary).parse("{}"), Any)
assert_type(pdacon.compile("json", vocabulary).parse("{}"), Any)


def answers(model: Any, tokenizer: Any) -> list[float]:
    write = pdacon.Generator(model, tokenizer, Invoice, max_new_tokens=50)
    assert_type(write, pdacon.Generator[Invoice])
    assert_type(write("An invoice:").value, Invoice)
    assert_type(pdacon.Generator(model, tokenizer, constraint)("An invoice:").value, Invoice)
    assert_type(pdacon.Generator(model, tokenizer, "json")("JSON:").value, Any)
    stream = write.stream("An invoice:")
    assert_type(stream, Stream[Invoice])
    for piece in stream:
        shown: str = piece.text
        so_far = piece.value
        assert_type(so_far, Invoice | pdacon.PartialInstance | None)
        if isinstance(so_far, Invoice):
            return [so_far.total]
        if so_far is not None:
            print(so_far.total)
    assert_type(stream.result, pdacon.Generation[Invoice])
    assert_type(stream.result.value, Invoice)
    assert_type(constraint.partial().value, Invoice | pdacon.PartialInstance | None)
    return [answer.value.total for answer in write(["One:", "Two:"])]


@dataclass
class Order:
    count: int


class Row(TypedDict):
    name: str


def other_types(model: Any, tokenizer: Any) -> None:
    assert_type(pdacon.compile(Order, vocabulary).parse("{}"), Order)
    assert_type(pdacon.compile(Row, vocabulary).parse("{}"), Row)
    assert_type(pdacon.generate(model, tokenizer, "An order:", Order).value, Order)
    assert_type(pdacon.generate(model, tokenizer, ["One:"], grammar), list[pdacon.Generation[Invoice]])
    assert_type(pdacon.generate(model, tokenizer, "JSON:", "json").value, Any)
    assert_type(pdacon.generate(model, tokenizer, "An invoice:", constraint, progress=True).value, Invoice)


def type_forms(model: Any, tokenizer: Any, cache: pdacon.CompileCache, folder: Any) -> None:
    colours = pdacon.Grammar.from_type(Literal["red", "green"])
    assert_type(colours, pdacon.Grammar[Literal["red", "green"]])
    assert_type(pdacon.compile(colours, vocabulary).parse('"red"'), Literal["red", "green"])
    assert_type(pdacon.Grammar.from_type(Optional[Invoice]), pdacon.Grammar[Optional[Invoice]])
    assert_type(pdacon.Grammar.from_type(Invoice | None, strict=True), pdacon.Grammar[Invoice | None])
    assert_type(pdacon.Grammar.from_type(Union[int, str]), pdacon.Grammar[Union[int, str]])
    assert_type(pdacon.Grammar.from_type(Annotated[int, "a count"]), pdacon.Grammar[int])
    assert_type(pdacon.Grammar.from_type(list[Invoice | None]), pdacon.Grammar[list[Invoice | None]])
    assert_type(pdacon.compile(Invoice | None, vocabulary), pdacon.Constraint[Invoice | None])
    assert_type(pdacon.compile(Literal["a"], vocabulary).parse('"a"'), Literal["a"])
    assert_type(pdacon.compile(dict[str, date], vocabulary).parse("{}"), dict[str, date])
    assert_type(pdacon.compile(pdacon.Grammar.from_choices(["a", "b"]), vocabulary).parse("a"), str)
    assert_type(pdacon.compile(pdacon.Grammar.from_regex("a+"), vocabulary).parse("a"), str)
    assert_type(cache.compile(Invoice, vocabulary), pdacon.Constraint[Invoice])
    assert_type(cache.compile(grammar, vocabulary).parse("{}"), Invoice)
    assert_type(cache.compile(Invoice | None, vocabulary), pdacon.Constraint[Invoice | None])
    assert_type(cache.compile("json", vocabulary).parse("{}"), Any)
    assert_type(cache.compile_keyed(("invoice",), lambda: grammar, vocabulary), pdacon.Constraint[Invoice])
    assert_type(pdacon.generate(model, tokenizer, "A colour:", Literal["red"]).value, Literal["red"])
    assert_type(pdacon.generate(model, tokenizer, ["One:"], Invoice | None), list[pdacon.Generation[Invoice | None]])
    write = pdacon.Generator(model, tokenizer, list[Invoice] | None)
    assert_type(write, pdacon.Generator[list[Invoice] | None])
    for piece in write.stream("Some:"):
        for each in piece.value or ():
            print(each.total)
    plain = pdacon.Generator(model, tokenizer, "json", temperature=0.5)
    assert_type(plain, pdacon.Generator[Any])
    for of_json in plain.stream("JSON:"):
        if of_json.value is not None:
            print(of_json.value["name"])


def weather(city: str, days: int = 1) -> str:
    return f"{city}: {days}"


class Tools:
    def search(self, query: str) -> str:
        return query


class Tokenizer:
    chat_template: str


def calls_of_tools(model: Any, tokenizer: Any, cache: pdacon.CompileCache) -> None:
    one = pdacon.Grammar.from_tools([weather, {"name": "now", "parameters": {}}])
    assert_type(one, pdacon.Grammar[pdacon.Call])
    assert_type(pdacon.Grammar.from_tools([weather], "python", several=False), pdacon.Grammar[pdacon.Call])
    assert_type(pdacon.compile(one, vocabulary).parse("{}"), pdacon.Call)
    many = pdacon.Grammar.from_tools([weather], several=True, lax=True)
    assert_type(many, pdacon.Grammar[list[pdacon.Call]])
    assert_type(pdacon.compile(many, vocabulary).parse("[]"), list[pdacon.Call])
    answers = pdacon.Grammar.from_tools([weather], format="hermes", choice="required", content=many)
    assert_type(answers, pdacon.Grammar[pdacon.Answer])
    assert_type(pdacon.Grammar.from_tools([weather], format=Tokenizer(), seconds=2), pdacon.Grammar[pdacon.Answer])
    assert_type(pdacon.Grammar.from_response_template(tokenizer, [weather]), pdacon.Grammar[pdacon.Answer])
    assert_type(pdacon.compile(answers, vocabulary).parse("").calls, tuple[pdacon.Call, ...])
    for given in (weather, Tools().search):
        assert_type(pdacon.compile(given, vocabulary), pdacon.Constraint[pdacon.Call])
    assert_type(cache.compile(weather, vocabulary).parse("{}"), pdacon.Call)
    assert_type(pdacon.Generator(model, tokenizer, weather)("The weather?").value, pdacon.Call)
    assert_type(pdacon.Generator(model, tokenizer, answers)("The weather?").value, pdacon.Answer)
    assert_type(pdacon.generate(model, tokenizer, "The weather?", weather).value, pdacon.Call)
    assert_type(pdacon.generate(model, tokenizer, ["One:"], weather), list[pdacon.Generation[pdacon.Call]])


def unsure(several: bool, format: str | None) -> None:
    assert_type(pdacon.Grammar.from_tools([weather], several=several), pdacon.Grammar[Any])
    assert_type(pdacon.Grammar.from_tools([weather], format=format), pdacon.Grammar[Any])


async def later(write: pdacon.Generator[Invoice]) -> Invoice:
    assert_type(await write.agenerate("An invoice:"), pdacon.Generation[Invoice])
    assert_type(await write.agenerate(["One:", "Two:"]), list[pdacon.Generation[Invoice]])
    stream = write.astream("An invoice:")
    async for piece in stream:
        assert_type(piece.value, Invoice | pdacon.PartialInstance | None)
    return stream.result.value


def total(of: pdacon.Constraint[Invoice], text: str) -> float:
    return of.parse(text).total


def anything(of: pdacon.Constraint) -> Any:
    return of.parse("{}")


total(constraint, "{}")
anything(constraint)
constraint.parse("{}").no_field  # type: ignore[attr-defined]
"""
SETTINGS = """
[mypy]
strict = True
follow_imports = silent
[mypy-torch.*,transformers.*,tokenizers.*,huggingface_hub.*,numpy.*]
follow_imports = skip
"""


@pytest.fixture
def user_code(tmp_path: Path) -> Path:
    path = tmp_path / "user_code.py"
    path.write_text(USER_CODE, encoding="utf-8")
    return path


def _checked(command: list[str], path: Path) -> subprocess.CompletedProcess[str]:
    where = Path(pdacon.__file__).parents[1]
    environment = dict(os.environ)
    if where.name != "site-packages":
        environment["MYPYPATH"] = str(where)
    return subprocess.run(
        [*command, path.name], cwd=path.parent, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_mypy_knows_the_types_of_values(user_code: Path) -> None:
    """Also that a value has no field of another name: strict settings refuse a comment that ignores no error."""
    pytest.importorskip("mypy")
    (user_code.parent / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    result = _checked([sys.executable, "-m", "mypy"], user_code)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_pyright_knows_the_types_of_values(user_code: Path) -> None:
    pyright = shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed")
    settings = {"extraPaths": [str(Path(pdacon.__file__).parents[1])], "reportUnnecessaryTypeIgnoreComment": "error"}
    (user_code.parent / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    result = _checked([pyright, "--pythonpath", sys.executable], user_code)
    assert result.returncode == 0, result.stdout + result.stderr
