"""Masks of a tree of drafted tokens are those of a matcher that walks each of its paths."""

from __future__ import annotations

import random

import numpy as np
import pytest

import pdacon

TOKENS = [b"[", b"]", b"a", b",", b"[[", b"]]", b",a", b"a]"]


@pytest.fixture(scope="module")
def constraint() -> pdacon.Constraint:
    vocabulary = pdacon.Vocabulary.from_tokens([*TOKENS, None], eos_ids=[len(TOKENS)])
    return pdacon.compile('start: "[" [start ("," start)*] "]" | "a"\n', vocabulary)


@pytest.mark.parametrize("max_rollback", [0, None])
def test_each_mask_is_that_of_its_path(constraint: pdacon.Constraint, max_rollback: int | None) -> None:
    rng = random.Random(1)
    for _ in range(60):
        matcher = constraint.matcher(max_rollback=max_rollback, budget=rng.choice([None, pdacon.Budget(tokens=9)]))
        for token in rng.choice([[], [0], [4, 2]]):
            assert matcher.accept_token(token)
        before = (matcher.text, matcher.allowed_tokens())
        count = rng.randrange(9)
        tokens = [rng.randrange(len(TOKENS) + 1) for _ in range(count)]
        parents = [rng.randrange(-1, index) for index in range(count)]
        bitmask = np.full((count + 2, 1), 77, np.int32)
        allowed = pdacon.matching.fill_tree_bitmask(matcher, tokens, parents, bitmask)
        assert (matcher.text, matcher.allowed_tokens()) == before
        assert bitmask[-1] == 77
        for index in range(-1, count):
            path, place = [], index
            while place >= 0:
                path.append(tokens[place])
                place = parents[place]
            walker = matcher.fork()
            fits = all(walker.accept_token(token) for token in reversed(path))
            assert index < 0 or allowed[index] == fits
            expected = constraint.new_bitmask()
            if fits:
                walker.fill_bitmask(expected)
            assert bitmask[index + 1] == expected[0]


def test_masks_are_computed_once(constraint: pdacon.Constraint) -> None:
    matcher, bitmask = constraint.matcher(), constraint.new_bitmask(9)
    tree = ([0, 2, 3, 0, 0, 2, 3], [-1, 0, 1, 2, 0, 4, 5])  # "[a,[" and "[[a,"
    pdacon.matching.fill_tree_bitmask(matcher, *tree, bitmask)
    computed = constraint.statistics()["masks_computed"]
    pdacon.matching.fill_tree_bitmask(matcher, *tree, bitmask)
    assert constraint.statistics()["masks_computed"] == computed


def test_what_is_no_tree(constraint: pdacon.Constraint) -> None:
    for parents in ([0, 0], [-1, 1], [-1, -2], [-1]):
        with pytest.raises(ValueError, match="parent"):
            pdacon.matching.fill_tree_bitmask(constraint.matcher(), [0, 1], parents, constraint.new_bitmask(3))
