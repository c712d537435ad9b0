"""What becomes of a sentence when Lark settles the conflicts: it is still read, or it is lost."""

from __future__ import annotations

from collections import deque

import numpy as np

from pdacon.determinism.conflicts.derivations import DerivationNode
from pdacon.determinism.conflicts.items import Items
from pdacon.pda import Stack

_LONGEST = 200  # terminals


def is_still_read(items: Items, tree: DerivationNode) -> bool | None:
    """Whether Lark's tables lead over the sentence of a derivation to its root, from some state where that can begin.

    None if the sentence is too long to tell. Linear in the sentence, for each such state until one is found.
    """
    terminals = _spelled(items, tree)
    if terminals is None:
        return None
    column = tree.symbol - items.nonterminal
    goto = items.tables.goto
    return any(_reads(items, state, terminals, goto[state, column]) for state in goto.states_of(column))


def _spelled(items: Items, tree: DerivationNode) -> list[int] | None:
    """The terminals of a sentence, rules spelt out as shortly as can be."""
    found: list[int] = []
    pending = [leaf.symbol for leaf in tree.leaves()][::-1]
    for _ in range(10 * _LONGEST):
        if not pending:
            return found
        symbol = pending.pop()
        if symbol < items.nonterminal:
            found.append(symbol)
        elif items.yields.length[symbol - items.nonterminal]:
            pending += reversed(items.sides[items.yields.production[symbol - items.nonterminal]][1])
        if len(found) + len(pending) > _LONGEST:
            return None
    return None


def _reads(items: Items, state: int, terminals: list[int], goal: int) -> bool:
    stack = Stack(state)
    for terminal in terminals:
        stack = deque(items.reduces.chain(stack, terminal), maxlen=1).pop()
        action = int(items.tables.action[stack.state, terminal])
        if action <= 0:
            return False
        stack = stack.push(action - 1)
    read = Stack(state).push(goal)
    following = np.flatnonzero(items.tables.action[goal] != 0).tolist()
    return any(read in items.reduces.chain(stack, ahead) for ahead in {*following, items.nonterminal - 1})
