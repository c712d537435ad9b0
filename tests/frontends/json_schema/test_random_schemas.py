"""Random schemas against ``jsonschema``: values that it takes are accepted, and sentences are values that it takes.

`python tests/frontends/json_schema/test_random_schemas.py FIRST COUNT` tries more of them and prints a table.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import Counter
from random import Random

import jsonschema
import pytest
from support.json_schemas import random_document, random_value, spellings, without_duplicates
from support.scaling import scaled

import pdacon
from pdacon import EmptyLanguageError, Grammar, UnsupportedSchemaError, Vocabulary

VALUES, SENTENCES = 20, 10


def compare(seed: int) -> Counter[str]:
    """One schema: how much was compared. Raises AssertionError with what differs."""
    random = Random(seed)
    schema = random_document(random)
    valid = jsonschema.Draft202012Validator(schema).is_valid
    done: Counter[str] = Counter()
    constraint = None
    try:
        grammar = Grammar.from_json_schema(schema)
        constraint = pdacon.compile(grammar, Vocabulary.bytes())
        done["schemas"] += 1
    except EmptyLanguageError:
        done["schemas without a value"] += 1
    except UnsupportedSchemaError as error:
        done[f"refused: {error.keyword}"] += 1
        return done
    for _ in range(VALUES):
        value = random_value(random, 2)
        expected = valid(value)
        texts = itertools.islice(spellings(value), 400)
        accepted = constraint is not None and any(map(constraint.accepts, texts))
        assert accepted == expected, (seed, json.dumps(schema), json.dumps(value), expected)
        done["values"] += 1
        done["valid values"] += expected
    for text in [] if constraint is None else grammar.sample(SENTENCES, seed=seed, size=30):
        unique, value = without_duplicates(text)
        if not unique:
            done["sentences with a name twice"] += 1
            continue
        assert valid(value), (seed, json.dumps(schema), text)
        done["sentences"] += 1
    return done


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 20 * scaled(4), 20))
def test_values_and_sentences(first: int) -> None:
    done = sum((compare(seed) for seed in range(first, first + 20)), Counter[str]())
    assert done["values"] >= 300
    assert done["valid values"] >= 50
    assert done["sentences"] >= 50


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    print(sum((compare(seed) for seed in range(first, first + count)), Counter[str]()))
