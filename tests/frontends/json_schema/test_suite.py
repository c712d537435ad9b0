"""The cases of JSON-Schema-Test-Suite, draft 2020-12: each is right, or its schema is refused by name."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.json_schemas import spellings

import pdacon
from pdacon import EmptyLanguageError, Grammar, UnsupportedSchemaError, Vocabulary

CASES = Path(__file__).parents[4] / "shared" / "data" / "json_schema_test_suite" / "draft2020-12.jsonl.gz"

# What is refused, by keyword and with how many cases: a document that is not at hand, items that can be anything.
REFUSED = {"$ref": 48, "uniqueItems": 36, "$schema": 5, "multipleOf": 1, "minProperties": 4}


@functools.cache
def decider(schema: str, formats: bool) -> Callable[[str], bool]:
    try:
        grammar = Grammar.from_json_schema(schema, formats=formats)
        return pdacon.compile(grammar, Vocabulary.bytes()).accepts
    except EmptyLanguageError:
        return lambda text: False


@pytest.mark.slow
@pytest.mark.skipif(not CASES.exists(), reason="the cases are not at hand")
def test_every_case() -> None:
    wrong: list[Any] = []
    right: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    with gzip.open(CASES, "rt") as lines:
        for case in map(json.loads, lines):
            try:
                # These are of the format vocabulary as annotation, which is what the draft has by default.
                accepts = decider(json.dumps(case["schema"]), case["file"] != "format.json")
            except UnsupportedSchemaError as error:
                refused[error.keyword] += 1
                continue
            if any(map(accepts, itertools.islice(spellings(case["data"]), 5000))) == case["valid"]:
                right[case["file"]] += 1
            else:
                wrong.append((case["file"], case["group"], case["schema"], case["data"], case["valid"]))
    assert not wrong
    assert right.total() == 1205
    assert refused == REFUSED
