"""Whether a pattern matches just what another one does, but for some words: on every text, whatever follows.

A match depends on what lies behind it in the text, by look-ahead. So what is compared is not which texts a pattern
matches whole, but for each beginning of a text the continuations with which it is the match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from pdacon.base.graphs import Search
from pdacon.base.once import memoized
from pdacon.regular.ordered import Program
from pdacon.regular.ordered.program import BYTES, MATCH, PENDING_OR_END, epsilon_closure
from pdacon.regular.ordered.utf8 import continuations

Threads: TypeAlias = tuple[tuple[int, bool], ...]
"""States of a program in order of priority, each with whether its match has ended already and waits for its
condition."""

End: TypeAlias = tuple[Threads, int]
"""A match that has come about: the threads that would win against it, and the pending state it is in, or -1."""

Ranges: TypeAlias = tuple[tuple[int, int], ...]

_CERTAIN = -1
_LEADS: Ranges = tuple(
    (chr(first).encode()[0], chr(last).encode()[0])
    for first, last in (
        (0x0, 0x7F),
        (0x80, 0x7FF),
        (0x800, 0xFFF),
        (0x1000, 0xCFFF),
        (0xD000, 0xD7FF),
        (0xE000, 0xFFFF),
        (0x10000, 0x3FFFF),
        (0x40000, 0xFFFFF),
        (0x100000, 0x10FFFF),
    )
)
"""First bytes of characters; those of one range are followed by the same bytes."""


class Run:
    """One program, followed byte by byte with all that its matches wait for."""

    def __init__(self, program: Program) -> None:
        self._states = program.states()
        self._entries: list[int] = program.entries.tolist()

    def start(self, entry: int = 0) -> Threads:
        """The threads before any byte, by the left context."""
        return self._closure([(self._entries[entry], False)])[0]

    @memoized
    def step(self, threads: Threads, byte: int) -> tuple[Threads, tuple[End, ...]]:
        """The threads after a byte, and the matches that end there."""
        return self._closure(self._moved(threads, byte))[:2]

    def reads_on(self, text: bytes, entry: int) -> bool:
        """Whether a match may come of more text."""
        threads = self.start(entry)
        for byte in text:
            threads, _ = self.step(threads, byte)
        return any(not ended for _, ended in threads)

    def boundaries(self, threads: Threads) -> Iterator[int]:
        """Where the bytes begin that these threads tell apart."""
        for state, _ in threads:
            for low, high, _ in self._states[state][1]:
                yield low
                yield high + 1

    def wins_at_end(self, end: End) -> bool:
        """Whether it is the match if the text ends here."""
        ahead, position = end
        holds = position == _CERTAIN or self._states[position][0] == PENDING_OR_END
        return holds and not any(self._states[state][0] == PENDING_OR_END for state, _ in ahead)

    def wait(self, end: End, byte: int) -> End | None:
        """What becomes of a match when a byte follows; None if it is none."""
        ahead, position = end
        moved, ends, won = self._closure(self._moved(ahead, byte))
        if won or any(at == _CERTAIN for _, at in ends):
            return None
        if position != _CERTAIN:
            following = [target for low, high, target in self._states[position][1] if low <= byte <= high]
            if not following:
                return None
            position = _CERTAIN if self._states[following[0]][0] == MATCH else following[0]
        return moved, position

    def end_boundaries(self, end: End) -> Iterator[int]:
        """As `boundaries`, for a match that waits."""
        ahead, position = end
        yield from self.boundaries(ahead if position == _CERTAIN else (*ahead, (position, True)))

    def _moved(self, threads: Threads, byte: int) -> list[tuple[int, bool]]:
        moved = []
        for state, ended in threads:
            kind, edges = self._states[state]
            moved += [(target, ended or kind != BYTES) for low, high, target in edges if low <= byte <= high]
        return moved

    def _closure(self, seeds: Iterable[tuple[int, bool]]) -> tuple[Threads, tuple[End, ...], bool]:
        """The threads that seeds lead to without a byte, up to the first that is certain to win, and the matches that
        end here; last, whether one that has ended before is certain now."""
        threads: dict[tuple[int, bool], None] = {}
        ends: list[End] = []
        for state, ended in self._reached(seeds):
            kind = self._states[state][0]
            if kind == MATCH:
                if ended:
                    return tuple(threads), tuple(ends), True
                ends.append((tuple(threads), _CERTAIN))
                break
            if kind == BYTES or ended:
                threads.setdefault((state, ended))
            else:
                ends.append((tuple(threads), state))
                threads.setdefault((state, True))
        return tuple(threads), tuple(ends), False

    def _reached(self, seeds: Iterable[tuple[int, bool]]) -> Iterator[tuple[int, bool]]:
        seen: tuple[set[int], set[int]] = set(), set()
        for start, ended in seeds:
            for state in epsilon_closure(self._states, start, seen[ended]):
                yield state, ended


def difference(
    old: Program, new: Program, words: Program, *, use_bytes: bool = False, most: int = 200_000
) -> bytes | None:
    """A text that shows that ``new`` is not ``old`` without the texts of ``words``; None if it is.

    Where ``old`` matches something else than one of the words, ``new`` matches the same; else nothing. The text ends
    where the two part. Only texts of whole characters count, unless ``use_bytes``.

    Raises OverflowError: more than ``most`` steps of single threads would be needed.
    Cost: the product of the determinized programs.
    """
    if not np.array_equal(old.look_behind, new.look_behind):
        return b""
    old_run, new_run = Run(old), Run(new)
    for entry in range(len(old.entries)):
        comparison = _Comparison(old_run, new_run, words, use_bytes, most)
        found = comparison.find(entry)
        most = comparison.left  # of all entries together
        if found is not None:
            return found
    return None


class _Comparison:
    def __init__(self, old: Run, new: Run, words: Program, use_bytes: bool, most: int) -> None:
        self._old, self._new = old, new
        self._words = words.states()
        self._word_start = self._reached([int(words.entries[0])])
        self.left = most
        self._leads: Ranges = ((0, 255),) if use_bytes else _LEADS
        self._compared: set[tuple[frozenset[End], frozenset[End], Ranges]] = set()

    def find(self, entry: int) -> bytes | None:
        start: tuple[Threads, Threads, tuple[int, ...], Ranges] = (
            self._old.start(entry),
            self._new.start(entry),
            self._word_start,
            (),
        )
        search = Search({start: b""})
        for (a, b, words, lacking), text in search:
            word_boundaries = [edge for k in words for low, high, _ in self._words[k][1] for edge in (low, high + 1)]
            for byte, still in self._bytes(
                [*self._old.boundaries(a), *self._new.boundaries(b), *word_boundaries], lacking
            ):
                self._count(1 + len(a) + len(b))
                (after_a, ends_a), (after_b, ends_b) = self._old.step(a, byte), self._new.step(b, byte)
                after_words = self._reached(
                    target for k in words for low, high, target in self._words[k][1] if low <= byte <= high
                )
                is_word = any(self._words[k][0] == MATCH for k in after_words)
                if ends_a or ends_b:
                    beyond = self._parts(frozenset() if is_word else frozenset(ends_a), frozenset(ends_b))
                    if beyond is not None:
                        return text + bytes([byte]) + beyond
                if after_a or after_b:
                    search.meet((after_a, after_b, after_words, still), text + bytes([byte]))
        return None

    def _parts(self, old: frozenset[End], new: frozenset[End]) -> bytes | None:
        """A text after which one set of matches has the match and the other has not."""
        start: tuple[frozenset[End], frozenset[End], Ranges] = old, new, ()
        search = Search({start: b""})
        for pair, text in search:
            if pair in self._compared:
                continue
            self._compared.add(pair)
            a, b, lacking = pair
            if not lacking and any(map(self._old.wins_at_end, a)) != any(map(self._new.wins_at_end, b)):
                return text
            boundaries = [boundary for end in a for boundary in self._old.end_boundaries(end)]
            boundaries += [boundary for end in b for boundary in self._new.end_boundaries(end)]
            for byte, still in self._bytes(boundaries, lacking):
                self._count(len(a) + len(b))
                after = (
                    frozenset(end for e in a if (end := self._old.wait(e, byte)) is not None),
                    frozenset(end for e in b if (end := self._new.wait(e, byte)) is not None),
                    still,
                )
                search.meet(after, text + bytes([byte]))
        return None

    def _reached(self, seeds: Iterable[int]) -> tuple[int, ...]:
        """The states of ``words`` that seeds lead to; no match cuts another."""
        seen: set[int] = set()
        return tuple(sorted(state for seed in seeds for state in epsilon_closure(self._words, seed, seen)))

    def _bytes(self, boundaries: Iterable[int], lacking: Ranges) -> Iterator[tuple[int, Ranges]]:
        """A byte of each stretch between boundaries that may come next, and what its character lacks then."""
        at = set(boundaries)
        for low, high in lacking[:1] or self._leads:
            for byte in sorted({low, *(boundary for boundary in at if low < boundary <= high)}):
                yield byte, lacking[1:] if lacking or self._leads is not _LEADS else continuations(byte)

    def _count(self, threads: int) -> None:
        self.left -= threads
        if self.left < 0:
            raise OverflowError("the comparison takes too many steps")
