"""Guarded automata: what a pattern is lowered to first, byte states, ordered splits and guards.

In: nothing; `patterns` makes them. Out: the data, and how far its states are from the places where trackers are asked.
`guards` says what the guards mean and takes them away.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TypeAlias

from pdacon.regular.ordered.program import BYTES

AHEAD, NOT_AHEAD, BEHIND, NOT_BEHIND, ATOMIC, EXIT, BEGIN = range(10, 17)
"""Kinds of guards. The first two edges of a look-ahead lead to its body and on; a look-behind has its tracker in place
of the body; an atomic group's edges lead to its body and to where each of its exits goes on; an exit has its number;
BEGIN, in trackers only, passes at the start of the text."""

LOOK_AROUND = frozenset({AHEAD, NOT_AHEAD, BEHIND, NOT_BEHIND})

MATCH_STATE = 0
"""Where every guarded automaton, and every body of a look-around, has its match."""

END_OF_TEXT = 256
"""The byte that stands for the end of the text in the body of a look-ahead."""

Edge: TypeAlias = tuple[int, int, int]
Edges: TypeAlias = tuple[Edge, ...]


@dataclass(slots=True)
class Guarded:
    """An automaton with guards: for each state its kind and its edges; for each tracker its entry, inner ones first.

    ``use_bytes``: what is read need not be UTF-8.
    """

    kinds: list[int]
    edges: list[Edges]
    trackers: list[int] = field(default_factory=list)
    use_bytes: bool = False


def distances_to_trackers(guarded: Guarded) -> list[dict[int, int]]:
    """For each state the fewest bytes after which a guard may ask a tracker, for each tracker that may be asked.

    A tracker whose guard is part of another tracker is asked at every byte.
    """
    predecessors: list[list[int]] = [[] for _ in guarded.kinds]
    guards: list[list[int]] = [[] for _ in guarded.trackers]
    for state, (kind, edges) in enumerate(zip(guarded.kinds, guarded.edges, strict=True)):
        targets = [] if kind == EXIT else [target for _, _, target in edges]
        if kind in (BEHIND, NOT_BEHIND):
            guards[targets.pop(0)].append(state)
        for target in targets:
            predecessors[target].append(state)
    distances: list[dict[int, int]] = [{} for _ in guarded.kinds]
    for tracker in range(len(guarded.trackers)):
        open_ = deque((guard, 0) for guard in guards[tracker])
        while open_:
            state, distance = open_.popleft()
            if distances[state].get(tracker, distance + 1) <= distance:
                continue
            distances[state][tracker] = distance
            for source in predecessors[state]:
                if guarded.kinds[source] == BYTES:
                    open_.append((source, distance + 1))
                else:
                    open_.appendleft((source, distance))
        inner = distances[guarded.trackers[tracker]]
        for distance_of in distances:
            if tracker in distance_of:
                distance_of.update((index, 0) for index in inner if index != tracker)
    return distances


def longest_matches(guarded: Guarded) -> list[int]:
    """For each state of a tracker the most bytes up to its match; trackers have no loops, and targets come first."""
    longest: list[int] = []
    for kind, edges in zip(guarded.kinds, guarded.edges, strict=True):
        onward = edges[1:] if kind in LOOK_AROUND else edges
        ahead = [longest[target] for _, _, target in onward if target < len(longest)]
        longest.append(max(ahead, default=0) + (kind == BYTES))
    return longest
