"""Types that nest deeply work as far as Python's stack reaches; beyond it they are refused with their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from typing import Any, Generic, TypeVar

import pytest

from pdacon import Grammar, UnsupportedTypeError

Item = TypeVar("Item")


@dataclass
class Growing(Generic[Item]):
    item: Item
    rest: Growing[list[Item]] | None


@dataclass
class Nested:
    inner: Nested | None = None


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "lists": lambda inner: list[inner],
    "dicts": lambda inner: dict[str, inner],
    "tuples": lambda inner: tuple[inner, int],
    "unions": lambda inner: list[inner | None],
    "classes": lambda inner: make_dataclass("Outer", [("x", inner)]),
}


def nested(wrapper: str, levels: int) -> Any:
    hint: Any = int
    for _ in range(levels):
        hint = WRAPPERS[wrapper](hint)
    return hint


@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize(("wrapper", "place"), [
    ("lists", r"list\[list\["), ("dicts", r"dict\[str, dict"), ("tuples", r"tuple\[tuple"), ("unions", r"list\[list"),
    ("classes", r"Outer\.x\.x"),
])  # fmt: skip
def test_what_the_stack_has_no_room_for_is_refused_with_its_place(wrapper: str, place: str, form: Any) -> None:
    with pytest.raises(UnsupportedTypeError, match=rf"^{place}.*nested in each other too deeply.* itself as a field"):
        Grammar.from_type(nested(wrapper, 600), form=form)


def test_a_class_that_names_larger_ones_of_itself_is_refused_with_its_place() -> None:
    with pytest.raises(UnsupportedTypeError, match=r"^Growing\[int\]\.rest\.rest.{,100}: types are nested"):
        Grammar.from_type(Growing[int])


@pytest.mark.parametrize("options", [{}, {"format": "qwen3_coder"}])
def test_a_parameter_that_is_nested_too_deeply_is_refused(options: Any) -> None:
    def look(x: Any) -> None: ...

    look.__annotations__ = {"x": nested("lists", 600)}
    with pytest.raises(UnsupportedTypeError, match=r"^look(\.x\S*)?: types are nested in each other too deeply"):
        Grammar.from_tools([look], **options)


def test_levels_that_fit_work_and_a_class_in_itself_has_no_end() -> None:
    assert Grammar.from_type(nested("lists", 100)).accepts("[" * 100 + "1" + "]" * 100)
    text = '{"inner": ' * 2000 + "null" + "}" * 2000
    assert Grammar.from_type(Nested).accepts(text)
