"""Random texts of a terminal that a person can read: short, mostly letters and digits.

In: a terminal's `Program`. Out: texts, by a random walk over its states: loops are left after a while, and what can be
left out is left out now and then. The walk knows nothing of priorities, so the lexer may cut the text elsewhere.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cached_property
from random import Random

from pdacon.base.graphs import reachable
from pdacon.base.once import memoized
from pdacon.regular.ordered import Program
from pdacon.regular.ordered.program import BYTES, SPLIT, Edges, epsilon_closure

# Letters about as often as English has them, so that names look like words.
_LETTERS = "eeeeaaaaooooiiittttnnnsssrrrhhlldduccmmfpgwybvk"
_KINDS = ((60, _LETTERS), (12, "0123456789"), (8, " "), (6, "ETAOINSR"), (8, "_-.:;,!?+*/=<>()[]{}'@#%&|~^$`\"\\"))
_OTHERS = tuple(character.encode() for character in "éüñßŁλπжш日本語€—🙂")
_OTHERS_SHARE = 0.03
# Weights beside 1: of parts that can be left out, of escapes, of leaving a loop too early or too late.
_OPTIONAL, _ESCAPE, _RELUCTANT = 0.35, 0.1, 0.1
_BACKSLASH = (0x5C, 0x5C)
_COUNTED = 3  # so many ways past a part mean that it is one of several written out


class LexemeSampler:
    """Draws texts that a pattern's automaton can read; whether the lexer cuts them there is for a matcher to say."""

    def __init__(self, program: Program) -> None:
        self._kind, self._edges = zip(*program.states(), strict=True)
        # What was read before decides which one it is. From an entry without edges no text matches.
        self._starts = [i for i in program.entries.tolist() if self._edges[i]]
        self._entries = Counter(
            target for kind, edges in zip(self._kind, self._edges, strict=True) if kind == SPLIT for *_, target in edges
        )
        self._readable: dict[int, tuple[list[tuple[int, list[str]]], list[bytes]]] = {}

    def draw(self, rng: Random) -> bytes | None:
        """One text; None if the pattern matches none."""
        if not self._starts:
            return None
        wanted = 1 + min(int(rng.expovariate(0.3)), 12)
        text = bytearray()
        state = rng.choice(self._starts)
        while self._kind[state] in (BYTES, SPLIT):
            if self._kind[state] == SPLIT:
                state = self._choose_branch(rng, state, far=len(text) < wanted)
                continue
            ways_out = self._ways_out(state) if len(text) >= wanted else ()
            for byte in _byte_of(rng, ways_out) if ways_out else self._choose_character(rng, state, text):
                text.append(byte)
                state = self._follow(state, byte) or 0  # 0 is never meant: what was chosen can be read
        return bytes(text)

    def _choose_branch(self, rng: Random, state: int, far: bool) -> int:
        """Round a loop while the text is short, out of it then; parts that can be left out now and then."""
        branches, weights = self._branches(state)
        targets = [target for target, _ in branches]
        if any(loops for _, loops in branches):
            weights = [
                weight * (1 if loops == far else _RELUCTANT)
                for (_, loops), weight in zip(branches, weights, strict=True)
            ]
        return rng.choices(targets, weights)[0]

    @memoized
    def _branches(self, state: int) -> tuple[list[tuple[int, bool]], list[float]]:
        """The edges of a state as (target, whether it repeats something), and how much each is liked.

        Counted repetitions are written out in a Program: what they have in common is that all leave out the same rest.
        """
        targets = [target for _, _, target in self._edges[state]]
        reached = [set(reachable([target], lambda at: (to for _, _, to in self._edges[at]))) for target in targets]
        left_out = [
            max((self._entries[other] for other in targets if other in reach and other != target), default=0)
            for target, reach in zip(targets, reached, strict=True)
        ]
        repeats = [state in reach or entries >= _COUNTED for reach, entries in zip(reached, left_out, strict=True)]
        branches = list(zip(targets, repeats, strict=True))
        weights = [
            (_OPTIONAL if entries and not again else 1)
            * (_ESCAPE if self._edges[target] and self._edges[target][0][:2] == _BACKSLASH else 1)
            for (target, again), entries in zip(branches, left_out, strict=True)
        ]
        return branches, weights

    def _ways_out(self, state: int) -> Edges:
        """Of a state of which only some edges lead nearer to the end of the pattern, those that do; else nothing.

        In a deterministic automaton a loop and the way out of it are edges of one state.
        """
        edges = self._edges[state]
        nearer = tuple(edge for edge in edges if self._distance[edge[2]] < self._distance[state])
        return nearer if len(nearer) < len(edges) else ()

    @cached_property
    def _distance(self) -> list[float]:
        """For each state how many edges lie between it and an end, at least."""
        sources: dict[int, list[int]] = {}
        for state, edges in enumerate(self._edges):
            for _, _, target in edges:
                sources.setdefault(target, []).append(state)
        distance = [math.inf] * len(self._kind)
        pending = [state for state, kind in enumerate(self._kind) if kind not in (BYTES, SPLIT)]
        for state in pending:
            distance[state] = 0
        for state in pending:  # grows
            for source in sources.get(state, ()):
                if distance[source] == math.inf:
                    distance[source] = distance[state] + 1
                    pending.append(source)
        return distance

    def _choose_character(self, rng: Random, state: int, text: bytearray) -> bytes:
        kinds, others = self._characters(state)
        if not text or text.endswith(b" "):
            kinds = [(weight, fitting) for weight, fitting in kinds if fitting != [" "]]
        weights, choices = [weight for weight, _ in kinds], [fitting for _, fitting in kinds]
        if others and (not choices or rng.random() < _OTHERS_SHARE):
            return rng.choice(others)
        if choices:
            return rng.choice(rng.choices(choices, weights)[0]).encode()
        return _byte_of(rng, self._edges[state])

    def _characters(self, state: int) -> tuple[list[tuple[int, list[str]]], list[bytes]]:
        """What can be read in a state: characters of each kind with its weight, and those beyond ASCII."""
        known = self._readable.get(state)
        if known is None:
            fitting = [
                (weight, [c for c in kind if self._follow(state, ord(c)) is not None]) for weight, kind in _KINDS
            ]
            others = [character for character in _OTHERS if self._reads(state, character)]
            known = self._readable[state] = [(weight, kind) for weight, kind in fitting if kind], others
        return known

    def _reads(self, state: int, character: bytes) -> bool:
        """Whether the bytes of one character can be read one after the other."""
        for byte in character:
            target = self._follow(state, byte) if self._kind[state] == BYTES else None
            if target is None:
                return False
            state = target
        return True

    def _follow(self, state: int, byte: int) -> int | None:
        return next((target for low, high, target in self._edges[state] if low <= byte <= high), None)


def _byte_of(rng: Random, edges: Edges) -> bytes:
    """A byte that one of some edges reads."""
    low, high, _ = rng.choice(edges)
    return bytes([rng.randint(low, high)])


def first_bytes(program: Program) -> set[int]:
    found: set[int] = set()
    seen: set[int] = set()
    pending: list[int] = program.entries.tolist()
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        edges = range(program.offset[state], program.offset[state + 1])
        if program.kind[state] == BYTES:
            for edge in edges:
                found.update(range(program.lo[edge], int(program.hi[edge]) + 1))
        else:
            pending += [int(program.target[edge]) for edge in edges]
    return found


def shortest_texts(program: Program) -> list[bytes]:
    """For each byte that a match can begin with a shortest text that it begins, whatever may have to follow that."""
    states = program.states()
    rests: dict[int, bytes | None] = {}
    found: dict[int, bytes] = {}
    for entry in dict.fromkeys(program.entries.tolist()):
        for state in epsilon_closure(states, entry, set()):
            for low, high, target in states[state][1] if states[state][0] == BYTES else ():
                if target not in rests:
                    rests[target] = _shortest_rest(states, target)
                rest = rests[target]
                for byte in range(low, high + 1) if rest is not None else ():
                    text = bytes([byte]) + (rest or b"")
                    found[byte] = min(found.get(byte, text), text, key=len)
    return list(found.values())


def _shortest_rest(states: list[tuple[int, Edges]], start: int) -> bytes | None:
    """A shortest text that leads from a state to a match; None if there is none."""
    texts = {start: b""}
    pending = [start]
    for state in pending:  # grows
        for inner in epsilon_closure(states, state, set()):
            kind, edges = states[inner]
            if kind != BYTES:
                return texts[state]
            for low, _, target in edges:
                if target not in texts:
                    texts[target] = texts[state] + bytes([low])
                    pending.append(target)
    return None
