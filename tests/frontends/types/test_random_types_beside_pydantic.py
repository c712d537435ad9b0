"""Random types: a sample is a value to Pydantic, too, and what is read of it is written as a text of the type."""

from __future__ import annotations

from random import Random
from typing import Any, Literal

import pydantic
import pytest
from support.random_types import random_type
from support.scaling import scaled

import pdacon
from pdacon import Grammar, UnsupportedTypeError, Vocabulary


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "python"])
@pytest.mark.parametrize("seed", range(scaled(6)))
def test_samples_of_random_types(seed: int, form: Literal["json", "python"]) -> None:
    random = Random(seed)
    for _ in range(8):
        kind = random_type(random, 2)
        try:
            grammar = Grammar.from_type(kind, form=form)
        except UnsupportedTypeError:  # a union whose members nothing tells apart
            continue
        constraint = pdacon.compile(grammar, Vocabulary.bytes())
        adapter: Any = pydantic.TypeAdapter(kind)
        for text in grammar.sample(4, seed=seed):
            read = constraint.parse(text)
            written = grammar.write(read)
            assert constraint.parse(written) == read, (kind, text)
            if form == "json" and "e" not in text:  # of a decimal Pydantic takes no exponent beyond floats
                adapter.validate_json(text)
