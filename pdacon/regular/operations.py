"""What is made of automata over code points, and what they can be asked.

In: automata, words, the bytes of UTF-8. Out: automata, or answers. Boolean combinations are in `automata`.

Source: J. Hopcroft and J. Ullman, "Introduction to Automata Theory, Languages, and Computation" (1979), chapters 2, 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.limits import Limits
from pdacon.regular.automata import Dfa, as_set, combined, int32s, offsets
from pdacon.regular.characters import Ranges

WordArrays = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8]]
"""Offsets of edges, their bytes and targets, and whether each state accepts; state 0 is the start."""


def of_words(words: Sequence[str], limits: Limits) -> WordArrays:
    """The least automaton over the bytes of words, in any order and any number of times.

    Cost: some 50 ns a letter.

    Raises UnicodeEncodeError, LimitExceededError.
    """
    text = "".join(words)
    if text.isascii():
        letters, lengths = text.encode(), map(len, words)
    else:
        encoded = [word.encode() for word in words]
        letters, lengths = b"".join(encoded), map(len, encoded)
    return _core.word_automaton(np.frombuffer(letters, np.uint8), int32s(lengths), limits.states, limits.bytes)


def of_factors(text: str, limits: Limits) -> WordArrays:
    """An automaton over the bytes of the strings that occur in a text, but for the empty one. It need not be least.

    Cost: half a second for a megabyte; at most two states for each character, and as many for each byte of those that
    have several.

    Raises UnicodeEncodeError, LimitExceededError.
    """
    points = np.frombuffer(text.encode("utf-32-le"), np.int32)
    return _core.factor_automaton(points, limits.states, limits.bytes)


def of_bytes(
    kind: NDArray[np.uint8],
    offset: NDArray[np.int32],
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    target: NDArray[np.int32],
    start: int,
    limits: Limits,
) -> Dfa:
    """The texts that an automaton over UTF-8 accepts from a state; `_core.characters_of` says what the kinds are.

    Raises LimitExceededError.
    """
    return Dfa(_core.characters_of(kind, offset, low, high, target, start, limits.states, limits.bytes))


def of_deterministic_bytes(
    offset: NDArray[np.int32],
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    target: NDArray[np.int32],
    accepting: NDArray[np.uint8],
    limits: Limits,
) -> Dfa:
    """The texts that a deterministic automaton over UTF-8 accepts from state 0.

    Raises LimitExceededError.
    """
    # For `of_bytes` an accepting state is a split, of its edges and the end.
    count = len(accepting)
    inner, end = count + np.arange(count, dtype=np.int32), 2 * count
    splits = accepting != 0
    degrees = np.concatenate([np.where(splits, 2, np.diff(offset)), np.where(splits, np.diff(offset), 0), [0]])
    starts = np.cumsum([0, *degrees], dtype=np.int32)
    all_low, all_high = np.zeros((2, starts[-1]), np.uint8)
    to = np.full(starts[-1], end, np.int32)
    reads = np.where(splits, inner, np.arange(count))
    places = np.repeat(starts[reads] - offset[:-1], np.diff(offset)) + np.arange(len(target))
    all_low[places], all_high[places], to[places] = low, high, target
    to[starts[np.flatnonzero(splits)]] = inner[splits]
    kinds = np.zeros(end + 1, np.uint8)
    kinds[:count][splits], kinds[end] = 1, 2
    return of_bytes(kinds, starts, all_low, all_high, to, 0, limits)


def of_ranges(rows: Iterable[Iterable[tuple[Ranges, int]]], accepting: Sequence[bool], limits: Limits) -> Dfa:
    """The texts that an automaton accepts from state 0, given for each state its edges: characters, and a state."""
    edges = [(state, ranges, to) for state, row in enumerate(rows) for ranges, to in row]
    number: dict[Ranges, int] = {}
    sets = int32s(number.setdefault(ranges, len(number)) for _, ranges, _ in edges)
    starts = np.searchsorted(int32s(state for state, _, _ in edges), np.arange(len(accepting) + 1))
    return _determinized(
        [as_set(ranges) for ranges in number],
        starts.astype(np.int32),
        sets,
        int32s(to for _, _, to in edges),
        np.zeros(len(accepting), bool),
        0,
        np.array(accepting, np.uint8),
        limits,
    )


def concatenated(one: Dfa, other: Dfa, limits: Limits) -> Dfa:
    """What consists of a text of one automaton and a text of the other. There can be exponentially many states.

    Raises LimitExceededError.
    """
    if not len(one) or not len(other):
        return other if len(one) else one
    count = len(one)
    starts, sets, targets = _edges(one)
    further_starts, further_sets, further_targets = _edges(other)
    accepts = one.native.accepting
    return _determinized(
        [*_sets(one), *_sets(other)],
        np.concatenate([starts, further_starts[1:] + starts[-1]]),
        np.concatenate([sets, further_sets + one.native.num_classes]),
        np.concatenate([targets, further_targets + count]),
        np.concatenate([accepts != 0, np.zeros(len(other), bool)]),
        count,
        np.concatenate([np.zeros(count, np.uint8), other.native.accepting]),
        limits,
    )


def power(one: Dfa, times: int, limits: Limits) -> Dfa:
    """What consists of so many texts of an automaton.

    Cost: by squaring, that of a few automata of the size of the result.

    Raises LimitExceededError.
    """
    return _powers(one, times, limits)[0]


def up_to(one: Dfa, times: int, limits: Limits) -> Dfa:
    """What consists of so many texts of an automaton at most. Cost and errors as for `power`."""
    return _powers(one, times, limits, shorter=True)[1]


def _powers(one: Dfa, times: int, limits: Limits, *, shorter: bool = False) -> tuple[Dfa, Dfa]:
    """So many texts, and, where it is asked for, at most so many: for n that of n // 2 is doubled.

    What has at most 2n texts has at most n, or n and then at most n. (n times "one or none" would be the same set, but
    its subsets have a position for each of the times that were left out.)
    """

    def then(first: Dfa, second: Dfa) -> Dfa:
        return concatenated(first, second, limits)

    def either(first: Dfa, second: Dfa) -> Dfa:
        return combined([first, second], [(1, 1, 0), (0, 1, 2)], limits.states, limits.bytes)

    exactly = at_most = THE_EMPTY
    for bit in bin(times)[2:]:
        if shorter:
            at_most = either(at_most, then(exactly, at_most))
        exactly = then(exactly, exactly)
        if bit == "1":
            if shorter:
                at_most = either(THE_EMPTY, then(one, at_most))
            exactly = then(one, exactly)
    return exactly, at_most


def repeated(one: Dfa, limits: Limits) -> Dfa:
    """What consists of texts of an automaton, one or more. There can be exponentially many states.

    Raises LimitExceededError.
    """
    if not len(one):
        return one
    accepts = one.native.accepting
    return _determinized(_sets(one), *_edges(one), accepts != 0, 0, accepts, limits)


def _determinized(
    sets: Sequence[NDArray[np.int32]],
    starts: NDArray[np.int32],
    edge_sets: NDArray[np.int32],
    targets: NDArray[np.int32],
    goes_on: NDArray[np.bool_],
    again: int,
    accepting: NDArray[np.uint8],
    limits: Limits,
) -> Dfa:
    """The subset construction from state 0, where some states are also another one, in which a text begins again."""
    lengths = 1 + goes_on
    first = np.cumsum([0, *lengths], dtype=np.int32)
    lists = np.full(int(first[-1]), again, np.int32)
    lists[first[:-1]] = np.arange(len(lengths))
    return Dfa(
        _core.determinized(
            sets=list(sets),
            edge_offsets=starts,
            edge_sets=edge_sets,
            edge_lists=targets,
            list_offsets=first,
            lists=lists,
            accepting=accepting,
            everything=-1,
            start_list=0,
            max_states=limits.states,
            max_bytes=limits.bytes,
        )
    )


def _table(dfa: Dfa) -> NDArray[np.int32]:
    return dfa.native.table.reshape(len(dfa), dfa.native.num_classes)


def _edges(dfa: Dfa) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Where the edges of each state begin, the class that each reads and the state that it leads to."""
    table = _table(dfa)
    states, classes = np.nonzero(table >= 0)
    return (
        offsets(np.bincount(states, minlength=len(dfa)).tolist()),
        classes.astype(np.int32),
        np.ascontiguousarray(table[states, classes]),
    )


def _sets(dfa: Dfa) -> list[NDArray[np.int32]]:
    return [as_set(ranges) for ranges in class_ranges(dfa)]


def class_ranges(dfa: Dfa) -> list[Ranges]:
    native = dfa.native
    firsts = native.firsts.tolist()
    found: list[list[tuple[int, int]]] = [[] for _ in range(native.num_classes)]
    for first, after, number in zip(firsts, [*firsts[1:], 0x110000], native.numbers.tolist(), strict=True):
        if number >= 0:
            found[number].append((first, after - 1))
    return [tuple(pieces) for pieces in found]


THE_EMPTY = of_ranges([()], [True], Limits(states=1, bytes=0))
"""The set of the empty string."""


def number_of_words(dfa: Dfa) -> int | None:
    """How many strings there are; None if there is no end of them."""
    if not len(dfa):
        return 0
    native, table = dfa.native, _table(dfa).tolist()
    sizes = [sum(last - first + 1 for first, last in ranges) for ranges in class_ranges(dfa)]
    accepting = native.accepting.tolist()
    waiting = [0] * len(table)  # edges into each state that were not counted yet
    for row in table:
        for to in row:
            if to >= 0:
                waiting[to] += 1
    if waiting[0]:
        return None
    ways = [0] * len(table)  # texts that lead to each state
    ways[0] = 1
    pending = [0]
    done = total = 0
    while pending:
        state = pending.pop()
        done += 1
        total += ways[state] * accepting[state]
        for size, to in zip(sizes, table[state], strict=True):
            if to >= 0:
                ways[to] += size * ways[state]
                waiting[to] -= 1
                if not waiting[to]:
                    pending.append(to)
    return total if done == len(table) else None


def words_in_order(dfa: Dfa) -> Iterator[str]:
    """All strings, the shortest first, those of one length by their code points; it may not end.

    Cost: each takes its length times the number of classes; each length the number of edges, and a byte a state.
    """
    if not len(dfa):
        return
    table = _table(dfa)
    to = np.where(table >= 0, table, 0)
    ranges = class_ranges(dfa)
    order = sorted((piece, cls) for cls, pieces in enumerate(ranges) for piece in pieces)
    pieces = [piece for piece, _ in order]
    rows = table[:, [cls for _, cls in order]]
    ends = [dfa.native.accepting != 0]  # for each length whether a string of it leads from a state to the end
    while ends[-1].any():
        yield from _words_of(rows, pieces, ends)
        before = ends[-1]
        ends.append(((table >= 0) & before[to]).any(axis=1))


def _words_of(
    rows: NDArray[np.int32], pieces: Sequence[tuple[int, int]], ends: list[NDArray[np.bool_]]
) -> Iterator[str]:
    """The strings of as many characters as ``ends`` has entries less one."""
    length = len(ends) - 1
    if not ends[length][0]:
        return
    if not length:
        yield ""
        return

    def choices(state: int, left: int) -> Iterator[tuple[int, int]]:
        row = rows[state]
        for piece, to in compress(zip(pieces, row.tolist(), strict=True), (row >= 0) & ends[left][row]):
            for point in range(piece[0], piece[1] + 1):
                yield point, to

    text = ""
    pending = [choices(0, length - 1)]
    while pending:
        found = next(pending[-1], None)
        if found is None:
            pending.pop()
            text = text[:-1]
            continue
        point, to = found
        if len(pending) == length:
            yield text + chr(point)
        else:
            text += chr(point)
            pending.append(choices(to, length - len(pending) - 1))
