"""Sets that a text has to be in -> what look-behind states say of the text so far.

The automaton for look-behind reads the whole text, whatever its lexemes are, and the lexing automaton carries its state
along. So a set of texts is one more factor of it: a product in which each state also says whether the text may end
there, and whether any text of the set begins like this at all.

Source: for the intersection with a regular language, Y. Bar-Hillel, M. Perles and E. Shamir, "On Formal Properties of
Simple Phrase Structure Grammars" (1961).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdacon.base.cancelling import look
from pdacon.errors import LimitExceededError
from pdacon.regular.records import TextSet

BEGINNING, WHOLE, OUTSIDE = range(3)
"""What is said of a text: one of the set goes on from it, it is one, or none begins like it. As the core has it."""


def table_of(texts: TextSet) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """The automaton of a set as a complete table, int32[k, 256], and what each state says. The last one is outside."""
    offset, target = (np.frombuffer(array, "<i4") for array in (texts.offset, texts.target))
    low, high = (np.frombuffer(array, np.uint8).astype(np.int64) for array in (texts.lo, texts.hi))
    states = len(offset) - 1
    table = np.full((states + 1) * 256, states, np.int32)
    widths = high - low + 1
    first = np.repeat(np.arange(states), np.diff(offset)) * 256 + low
    within = np.arange(int(widths.sum())) - np.repeat(np.cumsum(widths) - widths, widths)
    table[np.repeat(first, widths) + within] = np.repeat(target, widths)
    said = np.append(np.frombuffer(texts.accepting, np.uint8), np.uint8(OUTSIDE))
    return table.reshape(-1, 256), said


def narrowed(
    look_behind: NDArray[np.int32], wanted: NDArray[np.uint8], texts: TextSet, max_states: int
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32]]:
    """The product of an automaton that reads the whole text with a set; all that is outside is one state.

    ``look_behind`` is int32[k, 256]. ``wanted`` (uint8[k]): what its states say already: all ``WHOLE``, if nothing was
    asked for yet.
    Returns: of the product, as far as texts lead there. ``places`` (int32[m]): which state of the given automaton each
    state is.
    Raises LimitExceededError.
    """
    table, said = table_of(texts)
    width = len(table)
    outside = width - 1
    number = np.full(len(look_behind) * width, -1, np.int32)
    number[0] = 0
    order = [np.zeros(1, np.int64)]
    rows = []
    count = 1
    while len(order[-1]):
        look()
        one, other = np.divmod(order[-1], width)
        after = look_behind[one].astype(np.int64) * width + table[other]
        after[(table[other] == outside) | (wanted[look_behind[one]] == OUTSIDE)] = outside
        rows.append(after)
        fresh = np.unique(after[number[after] < 0])
        number[fresh] = np.arange(count, count + len(fresh))
        count += len(fresh)
        if count > max_states:
            raise LimitExceededError("states", count, max_states, f"of what {texts.name} asks of a text")
        order.append(fresh)
    one, other = np.divmod(np.concatenate(order), width)
    both = np.minimum(wanted[one], said[other])  # WHOLE only if both are
    both[(wanted[one] == OUTSIDE) | (said[other] == OUTSIDE)] = OUTSIDE
    return number[np.concatenate(rows)], both, one.astype(np.int32)
