"""The automata of formats that come with the package are those of their patterns."""

from __future__ import annotations

import json

import numpy as np
from frontends.json_schema.make_formats import automata

from pdacon.frontends.json_schema.facts import Matches
from pdacon.frontends.json_schema.made_formats import ARRAYS, FILE, made_format
from pdacon.frontends.json_schema.string_formats import CARD_NUMBER, PATTERNS
from pdacon.frontends.json_schema.strings import pattern_automaton


def test_they_are_what_is_made_of_the_patterns() -> None:
    made = automata()
    assert set(json.loads(FILE.read_bytes().partition(b"\n")[0])) == set(made)
    for name, pattern in PATTERNS.items():
        if name == CARD_NUMBER:
            continue  # it has an automaton of its own
        for one in (made_format(name), pattern_automaton(Matches(pattern, whole=True))):
            assert all(
                np.array_equal(getattr(one.native, array), getattr(made[name].native, array)) for array in ARRAYS
            )


def test_a_pattern_that_is_no_format_is_not_taken_for_one() -> None:
    within = pattern_automaton(Matches(PATTERNS["uuid"]))
    assert within.accepts("x 01234567-89ab-cdef-0123-456789abcdef y")
    assert not pattern_automaton(Matches(PATTERNS["uuid"], whole=True)).accepts("x")
