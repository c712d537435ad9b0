"""The meaning of a Program, executed directly: an ordered list of threads, one byte at a time."""

from __future__ import annotations

from pdacon.regular.ordered.program import BYTES, MATCH, PENDING_OR_END, SPLIT, Program

Threads = tuple[tuple[int, int | None], ...]
"""States, and where the match of a pending one ended."""


def match_end(program: Program, data: bytes, start: int = 0) -> int | None:
    """Where the leftmost-first match that starts at ``start`` ends; None: no match."""
    return Simulator(program).match_end(data, start)


class Simulator:
    """Remembers what it has seen of one program, which makes many short texts cheap."""

    def __init__(self, program: Program) -> None:
        self._kind, self._edges = zip(*program.states(), strict=True)
        self._entries = program.entries.tolist()
        self._behind = program.look_behind.tolist()
        self._closures: dict[tuple[int, ...], tuple[int, ...]] = {}

    def match_end(self, data: bytes, start: int = 0) -> int | None:
        """As the function of that name."""
        behind = 0
        for byte in data[:start]:
            behind = self._behind[behind][byte]
        end = None
        seeds: Threads = ((self._entries[behind], None),)
        for position in range(start, len(data) + 1):
            threads: list[tuple[int, int | None]] = []
            for seed, matched in seeds:
                for state in self._closure(seed):
                    kind = self._kind[state]
                    if kind == MATCH:
                        end = position if matched is None else matched
                        break
                    if (state, matched) not in threads:
                        threads.append((state, position if matched is None and kind != BYTES else matched))
                else:
                    continue
                break
            if not threads:
                break
            if position == len(data):
                return next((at for state, at in threads if self._kind[state] == PENDING_OR_END), end)
            seeds = tuple(
                (target, matched)
                for state, matched in threads
                for lo, hi, target in self._edges[state]
                if lo <= data[position] <= hi
            )
        return end

    def _closure(self, seed: int) -> tuple[int, ...]:
        """The states other than SPLIT that a state stands for, in order."""
        if seed not in self._closures:
            found: dict[int, None] = {}
            pending = [seed]
            while pending:
                state = pending.pop()
                if self._kind[state] == SPLIT:
                    pending += [target for _, _, target in reversed(self._edges[state])]
                else:
                    found.setdefault(state)
            self._closures[seed] = tuple(found)
        return self._closures[seed]
