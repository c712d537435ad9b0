"""Masks for a tree of drafted tokens, which one pass of a model verifies (SpecInfer, Miao et al. 2024)."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from pdacon.matching.matcher import Matcher


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
    Cost: one step and one mask for each token that is allowed, and a copy of the position where the tree branches. A
    mask that another branch or an earlier draft has asked for is only copied.

    Examples
    --------
    ::

        bitmask = constraint.new_bitmask(3)
        allowed = pdacon.matching.fill_tree_bitmask(matcher, [a, b], [-1, -1], bitmask)  # two ways on
    """
    before = [operator.index(parent) for parent in parents]
    if len(before) != len(tokens):
        raise ValueError(f"there are {len(tokens)} tokens and {len(before)} parents; give one for each")
    left = [0] * (len(tokens) + 1)  # children that are to come, of the matcher's place and of each token
    for index, parent in enumerate(before):
        if not -1 <= parent < index:
            raise ValueError(f"the parent of token {index} is {parent}; it is -1, or a token before it")
        left[parent + 1] += 1
    behind: list[Matcher | None] = [matcher, *[None] * len(tokens)]
    allowed = np.zeros(len(tokens), np.bool_)
    matcher.fill_bitmask(bitmask, 0)
    for index, (token, parent) in enumerate(zip(tokens, before, strict=True)):
        left[parent + 1] -= 1
        here = behind[parent + 1]
        if here is not None and here.is_allowed(token):
            # The last child goes on with its parent's matcher; only branches need another one.
            here = here if parent >= 0 and not left[parent + 1] else here.fork()
            here.accept_token(token)
            here.fill_bitmask(bitmask, index + 1)
            behind[index + 1] = here
            allowed[index] = True
        else:
            bitmask[index + 1] = 0
        if not left[parent + 1] and parent >= 0:
            behind[parent + 1] = None
    return allowed
