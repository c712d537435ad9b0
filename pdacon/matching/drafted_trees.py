"""Masks for a tree of drafted tokens, which one pass of a model verifies (SpecInfer, Miao et al. 2024)."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.matching.matcher import Matcher


def matchers_of_tree(
    matcher: Matcher, tokens: Sequence[SupportsIndex], parents: Sequence[SupportsIndex]
) -> list[Matcher | None]:
    """A matcher after each token of a tree that begins where a matcher stands; None where that is not allowed.

    Parameters and errors as of `fill_tree_bitmask`. Cost: a fork and a step for each token.
    """
    before = [operator.index(parent) for parent in parents]
    if len(before) != len(tokens):
        raise ValueError(f"there are {len(tokens)} tokens and {len(before)} parents; give one for each")
    there: list[Matcher | None] = []
    for index, (token, parent) in enumerate(zip(tokens, before, strict=True)):
        if not -1 <= parent < index:
            raise ValueError(f"the parent of token {index} is {parent}; it is -1, or a token before it")
        here = matcher if parent < 0 else there[parent]
        if here is not None:
            here = here.fork()
            if not here.accept_token(token):
                here = None
        there.append(here)
    return there


def fill_tree_bitmask(
    matcher: Matcher, tokens: Sequence[SupportsIndex], parents: Sequence[SupportsIndex], bitmask: Any
) -> NDArray[np.bool_]:
    """Write the mask after each token of a tree that begins where a matcher stands. The matcher stays there.

    Parameters
    ----------
    matcher : Matcher
    tokens : sequence of int
        The tokens of the tree, parents before their children.
    parents : sequence of int
        For each token the index of the one before it; -1: it is the first one after the matcher's text.
    bitmask : int32 array or CPU tensor, [rows, words]
        At least one row more than there are tokens. Row 0 becomes the matcher's own mask, row i + 1 the mask after
        token i: all zeros where the token is not allowed, or one before it.

    Returns
    -------
    NDArray of bool, [tokens]
        Which tokens are allowed, with all before them.

    Raises
    ------
    ValueError
        There are not as many parents as tokens, or a parent does not come before its child.

    Notes
    -----
    Cost: a fork and a step for each token, and one call for the masks of all that are allowed. A mask that another
    branch or an earlier draft has asked for is only copied. For masks on a device see `DeviceMasks.tree_ids`.

    Examples
    --------
    ::

        bitmask = constraint.new_bitmask(3)
        allowed = pdacon.matching.fill_tree_bitmask(matcher, [a, b], [-1, -1], bitmask)  # two ways on
    """
    there = matchers_of_tree(matcher, tokens, parents)
    allowed = [0, *(row for row, each in enumerate(there, 1) if each is not None)]
    _core.fill_bitmasks([matcher, *filter(None, there)], bitmask, allowed)
    for row, each in enumerate(there, 1):
        if each is None:
            bitmask[row] = 0
    return np.array([each is not None for each in there], np.bool_)
