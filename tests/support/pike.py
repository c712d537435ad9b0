"""The meaning of a Program, executed directly: an ordered list of threads, one byte at a time."""

from __future__ import annotations

from itertools import pairwise

from pdacon.lexer.program import BYTES, MATCH, Program

Threads = tuple[int, ...]


def match_end(program: Program, data: bytes) -> int | None:
    """Where the leftmost-first match that starts at 0 ends; None: no match."""
    return Simulator(program).match_end(data)


class Simulator:
    """Remembers what it has seen of one program, which makes many short texts cheap."""

    def __init__(self, program: Program) -> None:
        offset = program.offset.tolist()
        edges = list(zip(program.lo.tolist(), program.hi.tolist(), program.target.tolist(), strict=True))
        self._kind = program.kind.tolist()
        self._edges = [edges[first:last] for first, last in pairwise(offset)]
        self._entry = program.entry
        self._closures: dict[Threads, tuple[Threads, bool]] = {}
        self._steps: dict[tuple[Threads, int], Threads] = {}

    def match_end(self, data: bytes) -> int | None:
        """As the function of that name."""
        end = None
        seeds: Threads = (self._entry,)
        for position in range(len(data) + 1):
            threads, matches = self._closure(seeds)
            if matches:
                end = position
            if not threads or position == len(data):
                break
            seeds = self._step(threads, data[position])
        return end

    def _closure(self, seeds: Threads) -> tuple[Threads, bool]:
        """The BYTES states of the closure, in order, cut at the first MATCH; and whether there was one."""
        if seeds not in self._closures:
            threads: list[int] = []
            matches = False
            seen: set[int] = set()
            pending = list(reversed(seeds))
            while pending and not matches:
                state = pending.pop()
                if state in seen:
                    continue
                seen.add(state)
                if self._kind[state] == MATCH:
                    matches = True
                elif self._kind[state] == BYTES:
                    threads.append(state)
                else:
                    pending += [target for _, _, target in reversed(self._edges[state])]
            self._closures[seeds] = tuple(threads), matches
        return self._closures[seeds]

    def _step(self, threads: Threads, byte: int) -> Threads:
        if (threads, byte) not in self._steps:
            self._steps[threads, byte] = tuple(
                target for state in threads for lo, hi, target in self._edges[state] if lo <= byte <= hi
            )
        return self._steps[threads, byte]
