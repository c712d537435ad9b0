"""Docstrings of what is public: each name has one, and what it says of parameters is what there is."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

ROOMS = (
    "pdacon",
    "pdacon.decoding",
    "pdacon.drawing",
    "pdacon.lalr",
    "pdacon.integrations.genlm",
    "pdacon.integrations.huggingface",
    "pdacon.integrations.llama_cpp",
    "pdacon.integrations.torch",
    "pdacon.integrations.vllm",
)
SECTIONS = {
    "Attributes", "Examples", "Notes", "Parameters", "Raises", "Returns", "See Also", "Source", "Warns", "Yields"
}  # fmt: skip
SPECIAL = ("__call__", "__getitem__", "__iter__", "__len__")


def public() -> Iterator[tuple[str, Any]]:
    """Each public name with what it stands for; methods with what the class has under the name."""
    seen = set()
    for room in ROOMS:
        try:
            module = importlib.import_module(room)
        except ModuleNotFoundError:  # an extra that is not installed
            continue
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if id(value) in seen or not (inspect.isclass(value) or callable(value)):
                continue
            seen.add(id(value))
            yield f"{room}.{name}", value
            for owner in value.__mro__ if inspect.isclass(value) else ():
                if not (owner.__module__ or "").startswith("pdacon"):
                    continue
                for member, held in vars(owner).items():
                    if member in SPECIAL or not member.startswith("_"):
                        yield f"{room}.{name}.{member}", held


def documented(value: Any) -> Any:
    """The function or class after a property, a class method or a cached one; None for plain data."""
    for wrapped in ("fget", "__func__", "func"):
        value = getattr(value, wrapped, None) or value
    return value if callable(value) else None


NAMES = [(name, inner) for name, value in public() if (inner := documented(value)) is not None]


def section(text: str, title: str) -> list[str] | None:
    """The lines of a section in NumPy's style, or None."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return None if found is None else found[1].splitlines()


def test_there_are_some() -> None:
    names = dict(NAMES)
    assert {"pdacon.Grammar.from_lark", "pdacon.Matcher.fill_bitmask", "pdacon.Constraint.report"} <= set(names)
    assert len(names) > 100


@pytest.mark.parametrize(("name", "value"), NAMES, ids=[name for name, _ in NAMES])
def test_a_public_name_says_what_it_is(name: str, value: Any) -> None:
    text = inspect.getdoc(value)
    assert text, f"{name} has no docstring"
    for title in re.findall(r"^(\S[^\n]*)\n-+$", text, re.MULTILINE):
        assert title in SECTIONS, title
    underlined = re.findall(r"^(\S[^\n]*)\n(-+)$", text, re.MULTILINE)
    assert all(len(title) == len(line) for title, line in underlined)


@pytest.mark.parametrize(("name", "value"), NAMES, ids=[name for name, _ in NAMES])
def test_parameters_that_are_described_are_those_there_are(name: str, value: Any) -> None:
    text = inspect.getdoc(value) or ""
    lines = section(text, "Parameters")
    if lines is None:
        return
    described = [
        part.strip().lstrip("*")
        for line in lines
        if " : " in line and not line.startswith(" ")
        for part in line.split(" : ")[0].split(",")
    ]
    try:
        given = [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]
    except ValueError:  # of the core, whose docstrings begin with it
        given = re.findall(r"(\w+):", text.split(" ->")[0])
    assert [one for one in described if one not in given] == []
    # One that is described elsewhere is named all the same.
    assert [one for one in given if one not in described and not re.search(rf"\b{one}\b", text)] == []
