"""Programs run on a text: what a pattern matches at its beginning, in time linear in the text.

Python's ``re`` backtracks, which can take a time exponential in the pattern.

Source: the Pike VM, as in R. Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009; extended by
threads that have matched on a condition.
"""

from __future__ import annotations

from functools import lru_cache

from pdacon.regular.ordered.program import BYTES, MATCH, PENDING_OR_END, Program, epsilon_closure

_NOWHERE = -1


class Runner:
    """Runs one program on texts."""

    __slots__ = ("_entries", "_lasts", "_look_behind", "_states")

    def __init__(self, program: Program) -> None:
        self._states = states = program.states()
        self._entries: list[int] = program.entries.tolist()
        self._look_behind = program.look_behind if len(self._entries) > 1 else None
        ends = [any(states[one][0] != BYTES for one in epsilon_closure(states, k, set())) for k in range(len(states))]
        edges = (edge for kind, some in states if kind == BYTES for edge in some)
        self._lasts = frozenset(byte for low, high, target in edges if ends[target] for byte in range(low, high + 1))

    def matches_whole(self, text: bytes) -> bool:
        """Whether the match at the beginning of a text, of which there is at least a byte, is all of it."""
        return text[-1] in self._lasts and self.match_end(text) == len(text)

    def look_behind_after(self, look_behind: int, text: bytes) -> int:
        """What lies behind a place, as `match_end` takes it, from what lies behind an earlier one: 0 for a text's."""
        if self._look_behind is not None:
            for byte in text:
                look_behind = int(self._look_behind[look_behind, byte])
        return look_behind

    def match_end(self, text: bytes | memoryview, look_behind: int = 0) -> int | None:
        """Where the match ends that ``re.match`` finds at the beginning of a text; None if there is none.

        ``look_behind``: what lies before the text, of a program that looks there (`behind_after`).

        Cost: the length of the text times the size of the program.
        """
        states = self._states
        found: int | None = None
        # Threads in order of priority: a state, and where the match has ended that waits there for its condition.
        threads = [(self._entries[look_behind], _NOWHERE)]
        for place in range(len(text) + 1):
            here: dict[int, int] = {}
            seen: tuple[set[int], set[int]] = set(), set()
            reached = (
                (state, end)
                for start, end in threads
                for state in epsilon_closure(states, start, seen[end != _NOWHERE])
            )
            for state, end in reached:
                kind = states[state][0]
                ended = place if end == _NOWHERE and kind != BYTES else end
                if kind == MATCH:
                    found = ended
                    break  # what is behind it has less priority
                here.setdefault(state, ended)
            if place == len(text):
                return next((end for state, end in here.items() if states[state][0] == PENDING_OR_END), found)
            threads = [
                (target, end)
                for state, end in here.items()
                for low, high, target in states[state][1]
                if low <= text[place] <= high
            ]
            if not threads:
                break
        return found


@lru_cache(maxsize=32)
def runner_of(program: Program) -> Runner:
    return Runner(program)
