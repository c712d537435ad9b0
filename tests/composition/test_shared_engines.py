"""Constraints of the same grammar for the same vocabulary share what computes masks, and nothing that can be seen."""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence

import numpy as np
import pytest

import pdacon
from pdacon import Constraint, Limits, Vocabulary

WORDS = [
    b"SELECT",
    b" a",
    b" b",
    b" FROM",
    b" t",
    b", ",
    b"(1",
    b"'x'",
    b'{"',
    b'": ',
    b"if ",
    b"x:\n",
    b"    ",
    b"pass\n",
]
CASES = {
    "sql": b"SELECT a, b FROM t WHERE (1 = 'x')",
    "json": b'{"a": [1, "b"], "c": {}}',
    "python": b"if x:\n    pass\nelse:\n    y = (1, 'x')\n",
}


def vocabulary() -> Vocabulary:
    """A new one with the same tokens, so that nothing is known for it."""
    return Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), *WORDS, None], eos_ids=[256 + len(WORDS)])


def masks_along(constraint: Constraint, text: bytes) -> list[list[int]]:
    matcher, row = constraint.matcher(), constraint.new_bitmask(1)
    masks = []
    for at in range(len(text) + 1):
        matcher.fill_bitmask(row)
        masks.append(row[0].tolist())
        assert at == len(text) or matcher.accept_bytes(text[at : at + 1])
    return masks


@pytest.mark.parametrize("name", CASES)
def test_masks_are_those_of_a_constraint_that_shares_nothing(name: str) -> None:
    text = CASES[name]
    alone = pdacon.compile(name, vocabulary(), limits=Limits(states=100_001))
    wanted = masks_along(alone, text)
    tokens = vocabulary()
    for _ in range(3):
        assert masks_along(pdacon.compile(name, tokens), text) == wanted
    # Other limits of states: with an engine that is not that of the others.
    assert masks_along(pdacon.compile(name, tokens, limits=Limits(states=200_000)), text) == wanted


def test_each_has_its_own_ids_and_counts_its_own_masks() -> None:
    tokens = vocabulary()
    one, two = pdacon.compile("json", tokens), pdacon.compile("json", tokens)
    masks_along(one, b'{"a": [1]}')
    assert two.statistics()["masks_computed"] == 1
    assert masks_along(two, b"[1]") == masks_along(one, b"[1]")
    for constraint in (one, two):
        first = constraint.matcher()
        assert (constraint.mask_table()[first.mask_id()] == np.array(masks_along(constraint, b"")[0])).all()
    assert len(two.mask_table()) < len(one.mask_table())
    assert one.nbytes > 0
    assert two.nbytes > 0


def test_it_lives_as_long_as_the_vocabulary() -> None:
    """A constraint that goes leaves what it found, and the last one that is there goes on without the vocabulary."""
    tokens = vocabulary()
    wanted = masks_along(pdacon.compile("sql", tokens), CASES["sql"])
    gc.collect()
    constraint = pdacon.compile("sql", tokens)
    del tokens
    gc.collect()
    assert masks_along(constraint, CASES["sql"]) == wanted


def test_other_questions_are_answered_as_well() -> None:
    tokens = vocabulary()
    alone = pdacon.compile("sql", vocabulary())
    masks_along(pdacon.compile("sql", tokens), CASES["sql"])
    shared = pdacon.compile("sql", tokens)
    for text in (b"", b"SELECT", b"SELECT a FR", CASES["sql"][:-4]):
        answers = []
        for constraint in (alone, shared):
            matcher = constraint.matcher()
            assert matcher.accept_bytes(text)
            answers.append((matcher.shortest_completion(), matcher.forced_bytes(), matcher.is_accepting()))
        assert answers[0] == answers[1]
    again = Constraint.from_bytes(shared.to_bytes(), tokens)
    assert masks_along(again, CASES["sql"]) == masks_along(alone, CASES["sql"])


def test_threads_with_constraints_of_their_own() -> None:
    wanted = {name: masks_along(pdacon.compile(name, vocabulary()), text) for name, text in CASES.items()}
    tokens = vocabulary()
    begin, failures = threading.Barrier(6), []

    def work(names: Sequence[str]) -> None:
        begin.wait()
        failures.extend(
            name for name in names if masks_along(pdacon.compile(name, tokens), CASES[name]) != wanted[name]
        )

    orders = [list(CASES), list(reversed(CASES))] * 3
    threads = [threading.Thread(target=work, args=(names,)) for names in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_bytes_themselves() -> None:
    """What is kept of a text that was compiled is for the 256 bytes: a constraint for them shares its engine."""
    grammar = pdacon.Grammar.from_lark('start: "a" NAME // kept for the bytes\nNAME: /[b-z]+/\n')
    one = pdacon.compile(grammar, vocabulary())
    two, three = (pdacon.compile(grammar, Vocabulary.bytes()) for _ in range(2))
    assert masks_along(two, b"abc") == masks_along(three, b"abc")
    assert one.accepts("abc")
