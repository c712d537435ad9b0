"""Terminals' programs -> the smallest deterministic automaton over characters that finds the same match.

The states are lists of threads, as the lexing automaton's are, so that what is drawn is what Python's ``re`` does: a
lazy repetition stops at its first match, an alternative that stands after a match is gone. Reading a text, the match
ends where the last accepting state on the way says. Several terminals are tried in Lark's order, and a keyword gives
its name to the lexemes of a regex that it matches whole.

UTF-8 is folded away: all bytes of a character are one step. The patterns are patterns over characters, so each
state is between two of them.

Source: Moore 1956, "Gedanken-experiments on sequential machines", for the minimisation by refinement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy
from numpy.typing import NDArray

from pdacon.base.graphs import Numbering
from pdacon.base.once import memoized
from pdacon.lexer.lowering import join_behind
from pdacon.regular.characters import ANY, union
from pdacon.regular.ordered.program import BYTES, MATCH, PENDING, PENDING_OR_END, SPLIT, Edges, Program
from pdacon.regular.ordered.utf8 import FINAL, ByteTrie, Ranges, byte_trie, single_bytes

ALL_BYTES: Ranges = ((0, 255),)

Thread: TypeAlias = tuple[int, int, int]
"""A state; how many characters ago the lexeme ended, or one of the signs below; whose lexeme it is, once it ended."""
Threads: TypeAlias = tuple[Thread, ...]

_READING, _KEYWORD = -1, -2
"""The lexeme has not ended; the thread is a keyword's, which matches nothing but may give its name to what does."""

Match: TypeAlias = tuple[int, int]
"""Which program has matched, and how many characters ago the lexeme ended (0: here; more after a look-ahead)."""


@dataclass(frozen=True, slots=True)
class CharacterState:
    """A state of the automaton."""

    # Disjoint sets of characters, in the order of their first, and the states they lead to.
    edges: tuple[tuple[Ranges, int], ...]
    accepts: Match | None  # What the text matches, if it does
    accepts_at_end: Match | None  # The same, if the text ends here
    explored: bool = True  # False: the limit was reached before what follows was known


@dataclass(frozen=True, slots=True, eq=False)
class CharacterAutomaton:
    """An automaton over characters; the match is what the last state that accepts says."""

    states: tuple[CharacterState, ...]
    entries: tuple[int, ...]  # The state to begin in, for each state of ``behind``
    # int32[k, 256]: what lies before the lexeme: an automaton that reads the text from its start; k is 1 where it does
    # not matter.
    behind: NDArray[numpy.int32]

    @property
    def complete(self) -> bool:
        return all(state.explored for state in self.states)


def character_automaton(
    programs: Sequence[Program],
    order: Sequence[int] = (0,),
    keywords: Mapping[int, Sequence[int]] | None = None,
    *,
    max_states: int = 2000,
    use_bytes: bool = False,
) -> CharacterAutomaton:
    """The minimal automaton of programs of which the first that matches wins.

    Cost: states times the edges of their threads times the ranges of UTF-8; a terminal of JSON takes a millisecond,
    ``\\w+`` some 20.

    ``order``: which programs are tried, in this order. ``keywords``: the programs after which a match of this one is
    named if they match it whole: the first that does. ``max_states``: states that are explored before the minimisation,
    breadth first; what lies beyond is left unexplored. ``use_bytes``: the programs are for texts of bytes, each of them
    a character.
    """
    stepper = _Stepper(programs, keywords or {}, single_bytes(ALL_BYTES) if use_bytes else byte_trie(ANY))
    behind, places = join_behind(programs, max_states)
    entries = [
        [int(program.entries[at]) for program, at in zip(programs, column, strict=True)] for column in places.T.tolist()
    ]
    return _minimal(_explore(stepper, [stepper.start(order, each) for each in entries], behind, max_states))


class _Stepper:
    """What a list of threads becomes after one character."""

    def __init__(self, programs: Sequence[Program], keywords: Mapping[int, Sequence[int]], trie: ByteTrie) -> None:
        self._keywords = keywords
        self._kind: list[int] = []
        self._edges: list[Edges] = []
        self._owner: list[int] = []
        self._base: list[int] = []
        for owner, program in enumerate(programs):
            base = len(self._kind)
            self._base.append(base)
            for kind, edges in program.states():
                self._kind.append(kind)
                self._edges.append(tuple((low, high, base + target) for low, high, target in edges))
                self._owner.append(owner)
        self._trie = trie
        self._root = len(trie.nodes) - 1

    def start(self, order: Sequence[int], entries: Sequence[int]) -> Threads:
        """The threads with which a lexeme begins; ``entries`` are the programs' own."""
        renaming = dict.fromkeys(keyword for names in self._keywords.values() for keyword in names)
        begun = [(self._base[owner] + entries[owner], _READING, -1) for owner in order]
        return self._closed([*begun, *((self._base[k] + entries[k], _KEYWORD, -1) for k in renaming)])

    def edges(self, threads: Threads) -> list[tuple[Ranges, Threads]]:
        """Each list that a character can lead to, with all characters that do."""
        runs: dict[Threads, list[tuple[int, int]]] = {}
        # With this character whoever waits for a condition has waited one longer.
        alive = tuple(
            (state, back if back < 0 else back + 1, name) for state, back, name in threads if self._kind[state] != MATCH
        )
        for first, last, after in self._characters(alive, self._root):
            runs.setdefault(after, []).append((first, last))
        return sorted((union(found), after) for after, found in runs.items())

    def accepts(self, threads: Threads) -> tuple[Match | None, Match | None]:
        """The match, whatever follows, and that if nothing does."""
        always = at_end = None
        for state, back, name in threads:
            if back == _KEYWORD:
                break
            if self._kind[state] == MATCH:
                always = name, back
            elif self._kind[state] == PENDING_OR_END and at_end is None:
                at_end = name, back
        return always, at_end

    @memoized
    def _characters(self, threads: Threads, node: int) -> list[tuple[int, int, Threads]]:
        """(first, last, list) for the characters, or their parts, that the trie's node reads; by the low bits."""
        found: list[tuple[int, int, Threads]] = []
        for low, high, child in self._trie.nodes[node]:
            for first, last, after in self._bytes(threads, low, high):
                self._extend(found, (first, last), after, node, child)
        return found

    def _extend(
        self, found: list[tuple[int, int, Threads]], run: tuple[int, int], after: Threads, node: int, child: int
    ) -> None:
        if not after:
            return
        if child == FINAL:
            found.append((self._payload(run[0], node), self._payload(run[1], node), after))
            return
        rest = self._characters(after, child)
        bits = 6 * _continuations(self._trie, child)
        if len(rest) == 1 and rest[0][:2] == (0, (1 << bits) - 1):
            first, last = self._payload(run[0], node), self._payload(run[1], node)
            found.append((first << bits, ((last + 1) << bits) - 1, rest[0][2]))
            return
        for byte in range(run[0], run[1] + 1):
            base = self._payload(byte, node) << bits
            found.extend((base + first, base + last, final) for first, last, final in rest)

    def _payload(self, byte: int, node: int) -> int:
        """The bits of the character that a byte has, read at a node of the trie."""
        if len(self._trie.nodes) == 1:  # no UTF-8: bytes
            return byte
        if node != self._root:
            return byte & 0x3F
        return byte if byte < 0x80 else byte & (0x1F if byte < 0xE0 else 0x0F if byte < 0xF0 else 0x07)

    def _bytes(self, threads: Threads, low: int, high: int) -> list[tuple[int, int, Threads]]:
        """The bytes from low to high, in runs that lead to the same list."""
        borders = {low, high + 1}
        for state, _, _ in threads:
            for first, last, _ in self._edges[state]:
                borders.update(border for border in (first, last + 1) if low < border <= high)
        ordered = sorted(borders)
        return [(first, last - 1, self._after_byte(threads, first)) for first, last in pairwise(ordered)]

    def _after_byte(self, threads: Threads, byte: int) -> Threads:
        moved: list[Thread] = []
        for state, back, name in threads:
            if self._kind[state] == MATCH:  # reached within this character, and kept to its end
                moved.append((state, back, name))
            moved += [(target, back, name) for first, last, target in self._edges[state] if first <= byte <= last]
        return self._closed(moved)

    def _closed(self, threads: Iterable[Thread]) -> Threads:
        """The threads that consume something or match, in order, then the keywords; nothing where only they are left.

        What stands after a match is cut.
        """
        closed: list[Thread] = []
        keywords: list[Thread] = []
        seen: set[tuple[int, bool]] = set()
        matched = False
        pending = list(reversed(list(threads)))
        while pending:
            state, back, name = pending.pop()
            is_keyword = back == _KEYWORD
            if (state, is_keyword) in seen or (matched and not is_keyword):
                continue
            seen.add((state, is_keyword))
            kind = self._kind[state]
            if kind == SPLIT:
                pending += [(target, back, name) for _, _, target in reversed(self._edges[state])]
            elif kind != BYTES or self._edges[state]:
                (keywords if is_keyword else closed).append((state, back, name))
                matched = matched or (kind == MATCH and not is_keyword)
        complete = {self._owner[state] for state, _, _ in keywords if self._kind[state] == MATCH}
        return (*(self._named(thread, complete) for thread in closed), *keywords) if closed else ()

    def _named(self, thread: Thread, complete: set[int]) -> Thread:
        """The thread, with the name of its lexeme if that has just ended."""
        state, back, _ = thread
        if back != _READING or self._kind[state] not in (MATCH, PENDING, PENDING_OR_END):
            return thread
        owner = self._owner[state]
        return state, 0, next((keyword for keyword in self._keywords.get(owner, ()) if keyword in complete), owner)


def _continuations(trie: ByteTrie, node: int) -> int:
    """How many bytes a node of the trie has before it, up to the end of the character."""
    count = 1
    while (child := trie.nodes[node][0][2]) != FINAL:
        node, count = child, count + 1
    return count


def _explore(
    stepper: _Stepper, starts: Sequence[Threads], behind: NDArray[numpy.int32], max_states: int
) -> CharacterAutomaton:
    number = Numbering(*dict.fromkeys(starts))
    states: list[CharacterState] = []
    for threads in number:
        explored = len(states) < max_states
        edges = [(characters, number[after]) for characters, after in (stepper.edges(threads) if explored else ())]
        states.append(CharacterState(tuple(edges), *stepper.accepts(threads), explored))
    return CharacterAutomaton(tuple(states), tuple(number[threads] for threads in starts), behind)


def _minimal(automaton: CharacterAutomaton) -> CharacterAutomaton:
    states = automaton.states
    sets = _Sets()
    edges = [[(sets.number[characters], target) for characters, target in state.edges] for state in states]
    # A state that was not explored is like no other.
    block = _numbered([(s.accepts, s.accepts_at_end, -1 if s.explored else k) for k, s in enumerate(states)])
    while True:
        refined = _numbered([(block[k], sets.merged(edges[k], block)) for k in range(len(states))])
        if max(refined) == max(block):
            break
        block = refined
    made: dict[int, CharacterState] = {}
    for k, state in enumerate(states):
        if block[k] not in made:
            merged = [(sets.number.node(number), target) for target, number in sets.merged(edges[k], block)]
            made[block[k]] = CharacterState(tuple(sorted(merged)), state.accepts, state.accepts_at_end, state.explored)
    entries = tuple(block[k] for k in automaton.entries)
    return CharacterAutomaton(tuple(made[k] for k in range(len(made))), entries, automaton.behind)


def _numbered(keys: Sequence[object]) -> list[int]:
    """Equal keys get one number, in the order in which they come."""
    ids: dict[object, int] = {}
    return [ids.setdefault(key, len(ids)) for key in keys]


class _Sets:
    """Sets of characters by number, so that equal ones are compared once; ``\\w`` has 700 ranges."""

    def __init__(self) -> None:
        self.number = Numbering[Ranges]()
        self._unions: dict[tuple[int, ...], int] = {}

    def merged(self, edges: Sequence[tuple[int, int]], block: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """(block, set) for each block that the edges lead to, ascending; those to one block as one."""
        by_block: dict[int, list[int]] = {}
        for number, target in edges:
            by_block.setdefault(block[target], []).append(number)
        return tuple(sorted((target, self._union(tuple(sorted(parts)))) for target, parts in by_block.items()))

    def _union(self, parts: tuple[int, ...]) -> int:
        if len(parts) == 1:
            return parts[0]
        if parts not in self._unions:
            self._unions[parts] = self.number[union(*(self.number.node(part) for part in parts))]
        return self._unions[parts]
