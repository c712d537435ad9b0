"""What reprs and messages call a grammar and its constraint: by the type that it is of."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal, Optional, Union

import pydantic
import pytest

import pdacon


class Invoice(pydantic.BaseModel):
    issued: datetime.date


def weather(city: str) -> None: ...


WORDS = pdacon.Vocabulary.bytes()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (Invoice, "Invoice"),
        (Invoice | None, "Invoice | None"),
        (Optional[Invoice], "Invoice | None"),  # noqa: UP045
        (Union[int, str], "int | str"),  # noqa: UP007
        (list[Invoice], "list[Invoice]"),
        (dict[str, int | None], "dict[str, int | None]"),
        (Literal["a", 1], "Literal['a', 1]"),
        (Annotated[int, "a count"], "int"),
        (tuple[int, ...], "tuple[int, ...]"),
        (weather, "calls of weather"),
    ],
)
def test_a_grammar_and_its_constraint_have_the_name_of_their_type(given: Any, name: str) -> None:
    grammar = pdacon.Grammar.from_tools([given]) if given is weather else pdacon.Grammar.from_type(given)
    constraint = pdacon.compile(grammar, WORDS)
    assert repr(grammar) == f"<Grammar of {name}>"
    assert repr(constraint) == f"<Constraint of {name} for 257 tokens>"
    assert repr(constraint.grammar) == repr(grammar)
    assert name in grammar._repr_html_() if hasattr(grammar, "_repr_html_") else True
    with pytest.raises(ValueError) as refusal:
        constraint.parse("?")
    assert str(refusal.value).startswith(f"{name}: this text is not a sentence: ")
    grammar.data  # noqa: B018  # is made now
    assert repr(grammar) == f"<Grammar of {name}>"


def test_types_with_the_same_texts_keep_their_names_in_a_cache() -> None:
    class Other(pydantic.BaseModel):
        issued: datetime.date

    cache = pdacon.CompileCache()
    for kind, name in ((Invoice, "Invoice"), (Other, "Other"), (Invoice, "Invoice")):
        assert repr(cache.compile(kind, WORDS)) == f"<Constraint of {name} for 257 tokens>"


def test_a_repr_makes_nothing_and_never_fails() -> None:
    grammar = pdacon.Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}})
    assert repr(grammar) == "<Grammar from a JSON Schema: read on demand>"
    assert not grammar._on_demand.data.is_made  # type: ignore[union-attr]


def test_formats_are_named() -> None:
    grammar = pdacon.Grammar.from_tools([weather], format="hermes")
    assert repr(grammar) == "<Grammar of answers in the format hermes>"
