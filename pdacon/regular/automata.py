"""Deterministic automata over code points, made and combined by the core.

Source: for the Boolean operations, the product construction of M. Rabin and D. Scott, "Finite Automata and Their
Decision Problems", IBM Journal of Research and Development 3(2), 1959.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.cancelling import every, look
from pdacon.base.graphs import Numbering
from pdacon.errors import LimitExceededError
from pdacon.regular.characters import Ranges

_MOST_BYTES = 256 << 20
"""What the core may take for one automaton."""

_CODE_POINTS = 0x110000


class Dfa:
    """The least deterministic automaton of a set of strings; state 0 is the start. It cannot be changed.

    No state is without a way to acceptance. The empty set has no states.

    Attributes
    ----------
    native : CharacterDfa
        The automaton as the core has it.
    """

    __slots__ = ("native",)

    def __init__(self, native: _core.CharacterDfa) -> None:
        self.native = native

    def __len__(self) -> int:
        """Number of states."""
        return self.native.num_states

    def __reduce__(self) -> tuple[Any, ...]:
        native = self.native
        arrays = (native.firsts, native.numbers, native.table, native.accepting)
        return _unpickled, tuple(np.array(array) for array in arrays)

    def accepts(self, text: str) -> bool:
        """Whether a text is in the language. Linear in its length."""
        return self.native.accepts(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32))

    def accepting(self) -> list[bool]:
        """For each state whether the text may end there."""
        return [accepts != 0 for accepts in self.native.accepting.tolist()]

    def lengths(self, least: int, most: int | None) -> tuple[bool, bool] | None:
        """Whether some string, and whether every one, has at least and at most so many characters.

        None if that would take more than some ten million steps to say.
        """
        return self.native.lengths(least, most)

    def goes_on_everywhere(self) -> bool:
        """Whether each beginning of a string is one of infinitely many: from no state on there is an end."""
        native = self.native
        return bool((native.table.reshape(len(self), native.num_classes) >= 0).any(axis=1).all())

    def words(self, most: int) -> list[str] | None:
        """All strings, if they are no more than so many; else None."""
        if not len(self):
            return []
        if self.goes_on_everywhere() or self._has_more_words(most):
            return None
        edges, accepting = list(self.edges()), self.accepting()
        found: list[str] = []
        begun = [("", 0)]  # strings of one length, with the state after each; all of them lead to some word
        while begun and len(found) + len(begun) <= most + 1:
            found += [text for text, state in begun if accepting[state]]
            longer: list[tuple[str, int]] = []
            for text, state in begun:
                look()
                for target, ranges in edges[state].items():
                    if sum(last - first + 1 for first, last in ranges) > most:
                        return None
                    longer += [(text + chr(p), target) for first, last in ranges for p in range(first, last + 1)]
            begun = longer
        return None if begun or len(found) > most else found

    def _has_more_words(self, most: int) -> bool:
        """Whether there are more strings than so many; each beginning of a string is one of another string at least."""
        native = self.native
        table = native.table.reshape(len(self), native.num_classes)
        if (table == np.arange(len(self), dtype=np.int32)[:, None]).any():
            return True  # a state leads to itself, and, as all, to acceptance
        lengths = np.diff(native.firsts, append=_CODE_POINTS)
        is_in_some = native.numbers >= 0
        sizes = np.bincount(native.numbers[is_in_some], lengths[is_in_some], native.num_classes)
        accepting = native.accepting != 0
        begun: NDArray[np.float64] = np.zeros(len(self))
        ended = 0.0
        begun[0] = 1  # by state, how many strings of one length lead there
        while begun.any():
            look()
            ended += begun[accepting].sum()
            if ended + begun.sum() > most + accepting @ begun:
                return True
            (states,) = begun.nonzero()
            rows = table[states]
            counts = begun[states][:, None] * sizes
            begun = np.bincount(rows[rows >= 0], counts[rows >= 0], len(self)).astype(np.float64)
        return ended > most

    def edges(self) -> Iterator[dict[int, Ranges]]:
        """For each state and next state the characters that lead there."""
        native = self.native
        firsts = native.firsts.tolist()
        intervals = list(
            zip(firsts, (first - 1 for first in (*firsts[1:], _CODE_POINTS)), native.numbers.tolist(), strict=True)
        )
        for row in every(native.table.reshape(len(self), native.num_classes).tolist()):
            found: dict[int, list[tuple[int, int]]] = {}
            for first, last, number in intervals:
                if number >= 0 and (target := row[number]) >= 0:
                    pieces = found.setdefault(target, [])
                    if pieces and pieces[-1][1] == first - 1:
                        pieces[-1] = pieces[-1][0], last
                    else:
                        pieces.append((first, last))
            yield {target: tuple(pieces) for target, pieces in found.items()}


def _unpickled(
    firsts: NDArray[np.int32], numbers: NDArray[np.int32], table: NDArray[np.int32], accepting: NDArray[np.uint8]
) -> Dfa:
    return Dfa(_core.CharacterDfa.make(firsts, numbers, table, accepting))


class Numbered:
    """Lists of numbers, each with the number of its first occurrence; as the core takes them."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], int] = {}

    def number(self, some: Iterable[int]) -> int:
        return self._known.setdefault(tuple(some), len(self._known))

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Where each list begins, and at last where the last one ends; then all of them, one after the other."""
        return offsets(map(len, self._known)), int32s(one for some in self._known for one in some)


def int32s(numbers: Iterable[int]) -> NDArray[np.int32]:
    return np.fromiter(numbers, np.int32)


def offsets(lengths: Iterable[int]) -> NDArray[np.int32]:
    """Where sequences of these lengths begin, if each begins where the one before ends, and where the last one ends."""
    return np.cumsum([0, *lengths], dtype=np.int32)


def as_set(ranges: Ranges) -> NDArray[np.int32]:
    return np.array(ranges, np.int32).reshape(-1)


def determinized(
    sets: Iterable[Ranges],
    rows: Sequence[Sequence[tuple[int, int]]],
    accepting: Sequence[bool],
    everything: int,
    lists: Numbered,
    start: int,
    limit: int,
) -> Dfa:
    """The automaton of positions, by the subset construction.

    ``sets``: sets of characters; edges say which by number. ``rows``: for each position its edges: a set, and the list
    of positions that they lead to. ``accepting``: for each position whether the text may end there. ``everything``: the
    position from which every text is accepted, or -1. ``lists``: lists of positions. ``start``: the list to begin with.
    ``limit``: the most states.
    Raises LimitExceededError.
    """
    list_offsets, positions = lists.arrays()
    return Dfa(
        _core.determinized(
            sets=[as_set(one) for one in sets],
            edge_offsets=offsets(map(len, rows)),
            edge_sets=int32s(one for row in rows for one, _ in row),
            edge_lists=int32s(to for row in rows for _, to in row),
            list_offsets=list_offsets,
            lists=positions,
            accepting=np.array(accepting, np.uint8),
            everything=everything,
            start_list=start,
            max_states=limit,
            max_bytes=_MOST_BYTES,
        )
    )


def explored(
    sets: Iterable[Ranges], start: int, step: Callable[[int, int], int], accepts: Callable[[int], bool], limit: int
) -> Dfa:
    """The automaton of states that come up one by one.

    ``sets``: sets of characters; characters that none of them tells apart are read alike, and those in none are not
    read. ``start``: the first state; states are any numbers. ``step``: the state after a state and a character, 0 if
    there is none. ``accepts``: whether the text may end in a state. ``limit``: the most states.
    Raises LimitExceededError.
    """
    firsts, numbers, _ = _core.character_classes([as_set(one) for one in sets])
    by_class = dict(zip(reversed(numbers.tolist()), reversed(firsts.tolist()), strict=True))
    points = [by_class[number] for number in range(int(numbers.max()) + 1)]
    states = Numbering(start)
    table: list[int] = []
    for state in every(states):
        table += [states[after] if (after := step(state, point)) else -1 for point in points]
        if len(states) > limit:
            raise LimitExceededError("states", limit + 1, limit, fixed=True)
    accepting = np.array([accepts(state) for state in states], np.uint8)
    return Dfa(_core.CharacterDfa.make(firsts, numbers, int32s(table), accepting, _MOST_BYTES))


def combined(
    automata: Sequence[Dfa], diagram: Sequence[tuple[int, int, int]], limit: int, most_bytes: int = _MOST_BYTES
) -> Dfa:
    """A Boolean combination of automata.

    Parameters
    ----------
    automata : sequence of Dfa
    diagram : sequence of (int, int, int)
        A decision diagram: for each node from 2 on an automaton, and the nodes to go on with if it accepts and if it
        does not. Nodes 0 and 1 are false and true; the last node is the root.
    limit, most_bytes : int
        The most states, and the most memory.

    Raises
    ------
    LimitExceededError
    """
    return Dfa(
        _core.combined(
            [automaton.native for automaton in automata],
            int32s(automaton for automaton, _, _ in diagram),
            int32s(then for _, then, _ in diagram),
            int32s(otherwise for _, _, otherwise in diagram),
            limit,
            most_bytes,
        )
    )


def signatures(automata: Sequence[Dfa], limit: int, most_bytes: int = _MOST_BYTES) -> list[list[int]]:
    """The classes into which automata part all strings: for each the automata that accept its strings, ascending.

    Raises
    ------
    LimitExceededError
    """
    return _core.signatures([automaton.native for automaton in automata], limit, most_bytes)


def plain_pattern(pattern: str, limit: int) -> Dfa | None:
    """The strings in which a pattern matches somewhere, if it is plain (``regular/plain_patterns.hpp``); else None.

    Raises LimitExceededError.
    """
    native = _core.plain_pattern(pattern, limit, _MOST_BYTES)
    return None if native is None else Dfa(native)


Bound: TypeAlias = tuple[str, bool]
"""A number as a plain decimal, and whether it is within the range; in place of it None: there is no bound."""


def numbers_between(ranges: Sequence[tuple[Bound | None, Bound | None]], *, integral: bool) -> Dfa | None:
    """The numbers of ranges, each a lower and an upper bound (``nested/number_range.hpp``).

    They are spelled as ``json.dumps`` does, with trailing zeros allowed; ``integral``: integers only, each in its one
    spelling. None: a bound has very many digits.
    """
    native = (_core.integers_between if integral else _core.numbers_between)(ranges)
    return None if native is None else Dfa(native)


def longer_than(length: int, limit: int) -> Dfa:
    """The strings of more than so many code points; see above for ``limit``."""
    if length + 2 > limit:
        raise LimitExceededError("states", length + 2, limit, fixed=True)
    firsts, numbers = np.array([0, 0xD800, 0xE000], np.int32), np.array([0, -1, 0], np.int32)
    states = np.arange(length + 2, dtype=np.int32)
    table = np.minimum(states + 1, states[-1])
    return Dfa(_core.CharacterDfa.make(firsts, numbers, table, (states > length).astype(np.uint8), _MOST_BYTES))
