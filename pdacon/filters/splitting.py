"""Where a tokenizer splits texts beforehand, as a deterministic automaton over characters and marks.

A *marked* text has a mark at each border between pretokens, and is right if the tokenizer splits it just there. The
automaton accepts the marked texts that are right. It reads a character together with whether a mark stands before it.

The leftmost match of a regex that a backtracking matcher prefers is found by an ordered list of threads: a state of a
`Splitter` has the list of the pretoken at hand, cut at the first match where the pretoken goes on, and the set of all
threads of earlier pretokens that were preferred to where a mark says that the match ended. Those must never match: they
are what a border still waits for, such as whether a space follows the spaces before it. A text of which a regex matches
nothing in some place has a pretoken there as well, from where no match begins to where one does.

Several splits one after another, each within the pieces of the one before, are `Nested`: a mark is one of any of them,
so the automaton is made deterministic by sets of states.

Source: Pike 1987 (the ordered list); Berglund, Martens and van der Merwe 2024, "Constructing a BPE tokenization DFA",
and Cognetta and Okazaki 2024, "Tokenization as finite-state transduction" (pretokens as a regular language).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdacon.base.graphs import Numbering, reachable
from pdacon.base.once import memoized
from pdacon.errors import VocabularyError
from pdacon.filters.characters import Set, partition
from pdacon.filters.split_regex import CHARACTER, END, JUMP, MATCH, NEXT_IN, NEXT_NOT_IN, SPLIT, Program

_END_OF_TEXT = -1  # in place of a class
_MOST_STATES = 20_000
_MOST_SUBSETS = 2_000


class State(NamedTuple):
    """Of a `Splitter`: the threads of the pretoken at hand, None where nothing matches; and those that must not match.

    A thread is an instruction whose successors without a character are still to be found: they may depend on the next
    character.
    """

    threads: tuple[int, ...] | None
    forbidden: frozenset[int]
    fresh: bool = False


FRESH = State((0,), frozenset(), True)


class Splitter:
    """One regex, over classes of characters."""

    def __init__(self, program: Program, members: Sequence[frozenset[int]], num_classes: int) -> None:
        self._program = program
        self._members = members  # of each set of the program, the classes
        if MATCH in self._codes(self._closure((0,), _END_OF_TEXT)):
            raise VocabularyError("canonical: the tokenizer splits texts with a regex that matches the empty text")
        self._is_total = all(self._starts_match(first, num_classes) for first in range(num_classes))

    def step(self, state: State, marked: bool, character: int) -> Iterable[State]:
        """The states that a character leads to, with a mark before it or without."""
        if state.fresh:
            return () if marked else self._begin(frozenset(), character, may_gap=True)
        if state.threads is None:
            if marked:
                return self._begin(state.forbidden, character, may_gap=False)
            return self._go_on(None, state.forbidden | {0}, character)
        closure = self._closure(state.threads, character)
        before = self._before_match(closure)
        if not marked:
            return self._go_on(before, state.forbidden, character)
        if len(before) == len(closure):
            return ()
        return self._begin(state.forbidden | set(before), character, may_gap=True)

    def ends(self, state: State) -> bool:
        if state.fresh:
            return True
        if self._matches(state.forbidden, _END_OF_TEXT):
            return False
        return state.threads is None or self._matches(state.threads, _END_OF_TEXT)

    def _begin(self, forbidden: frozenset[int], character: int, *, may_gap: bool) -> list[State]:
        found = self._go_on(self._closure((0,), character), forbidden, character)
        if may_gap and not self._is_total:
            found += self._go_on(None, forbidden | {0}, character)
        return found

    def _go_on(self, threads: tuple[int, ...] | None, forbidden: frozenset[int], character: int) -> list[State]:
        if self._matches(forbidden, character):
            return []
        left = frozenset(self._advance(self._closure(tuple(sorted(forbidden)), character), character))
        if threads is None:
            return [State(None, left)]
        moved = self._advance(threads, character)
        return [State(moved, left)] if moved else []

    def _codes(self, threads: Iterable[int]) -> list[int]:
        return [self._program.instructions[at].code for at in threads]

    def _matches(self, threads: Iterable[int], character: int) -> bool:
        return MATCH in self._codes(self._closure(tuple(sorted(threads)), character))

    def _before_match(self, closure: tuple[int, ...]) -> tuple[int, ...]:
        codes = self._codes(closure)
        return closure[: codes.index(MATCH)] if MATCH in codes else closure

    def _advance(self, closure: Iterable[int], character: int) -> tuple[int, ...]:
        instructions = self._program.instructions
        moved = (
            at + 1
            for at in closure
            if instructions[at].code == CHARACTER and character in self._members[instructions[at].first]
        )
        return tuple(dict.fromkeys(moved))

    @memoized
    def _closure(self, threads: tuple[int, ...], character: int) -> tuple[int, ...]:
        """The instructions that read a character or match, which threads lead to before ``character``, in order."""
        seen: dict[int, None] = {}
        stack = list(reversed(threads))
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen[at] = None
            stack.extend(reversed(self._without_character(at, character)))
        codes = self._program.instructions
        return tuple(at for at in seen if codes[at].code in (CHARACTER, MATCH))

    def _without_character(self, at: int, character: int) -> tuple[int, ...]:
        code, first, second = (
            self._program.instructions[at].code,
            self._program.instructions[at].first,
            self._program.instructions[at].second,
        )
        if code == SPLIT:
            return first, second
        if code == JUMP:
            return (first,)
        if code == END:
            return (at + 1,) if character == _END_OF_TEXT else ()
        if code in (NEXT_IN, NEXT_NOT_IN):
            inside = character != _END_OF_TEXT and character in self._members[first]
            return (at + 1,) if inside == (code == NEXT_IN) else ()
        return ()

    def _starts_match(self, first: int, num_classes: int) -> bool:
        """Whether a match begins with a character of this class, whatever follows."""
        moved = self._advance(self._closure((0,), first), first)
        return all(self._matches(moved, following) for following in range(-1, num_classes))


class Nested:
    """Splitters one after another, each within the pieces of those before it."""

    def __init__(self, splitters: Sequence[Splitter]) -> None:
        self._splitters = splitters

    @property
    def start(self) -> tuple[State, ...]:
        return (FRESH,) * len(self._splitters)

    def step(self, states: tuple[State, ...], marked: bool, character: int) -> set[tuple[State, ...]]:
        """The states that a character leads to; a mark is one of any splitter, and the outermost one counts."""
        if not marked:
            return self._step(states, character, len(states))
        found: set[tuple[State, ...]] = set()
        for at in range(len(states)):
            inner = states[at + 1 :]
            if all(splitter.ends(state) for splitter, state in zip(self._splitters[at + 1 :], inner, strict=True)):
                found |= self._step((*states[: at + 1], *(FRESH,) * len(inner)), character, at)
        return found

    def _step(self, states: tuple[State, ...], character: int, marked_at: int) -> set[tuple[State, ...]]:
        found: set[tuple[State, ...]] = {()}
        for at, (splitter, state) in enumerate(zip(self._splitters, states, strict=True)):
            after = list(splitter.step(state, at == marked_at, character))
            found = {(*before, one) for before in found for one in after}
        return found

    def ends(self, states: tuple[State, ...]) -> bool:
        return all(splitter.ends(state) for splitter, state in zip(self._splitters, states, strict=True))


@dataclass(frozen=True)
class SplitAutomaton:
    """The automaton over characters and marks; state 0 is the start of a text."""

    classes: NDArray[np.uint8]  # uint8[0x110000]: the class of each code point
    # int32[states, classes, 2]: the state after a character without a mark before it, and with one; -1: none.
    next: NDArray[np.int32]
    ends: NDArray[np.uint8]  # uint8[states]: whether the text may end
    free: NDArray[np.uint8]  # uint8[states]: whether any text at all may follow, with marks in the right places


def split_automaton(programs: Sequence[Program]) -> SplitAutomaton:
    """The automaton of some regexes, each of which splits the pieces of those before it.

    Without any regex a text is one pretoken.

    Raises VocabularyError: it has too many states, or a regex matches the empty text.
    """
    sets: list[Set] = [codes for program in programs for codes in program.sets]
    classes, members = partition(sets)
    num_classes = int(classes.max()) + 1
    splitters = []
    for program in programs:
        splitters.append(Splitter(program, members[: len(program.sets)], num_classes))
        members = members[len(program.sets) :]
    if not splitters:
        everything = np.array([[[1, -1]], [[1, -1]]], np.int32)
        return SplitAutomaton(classes, everything, np.ones(2, np.uint8), np.ones(2, np.uint8))
    return _determinized(Nested(splitters), classes, num_classes)


def _determinized(nested: Nested, classes: NDArray[np.uint8], num_classes: int) -> SplitAutomaton:
    states = Numbering(frozenset([nested.start]))
    rows: list[list[list[int]]] = []
    for here in states:
        row = []
        for character in range(num_classes):
            pair = []
            for marked in (False, True):
                after = frozenset(one for state in here for one in nested.step(state, marked, character))
                pair.append(states[after] if after else -1)
            row.append(pair)
        rows.append(row)
        if len(states) > _MOST_STATES:
            raise VocabularyError(
                f"canonical: the regexes with which the tokenizer splits texts need more than {_MOST_STATES:,} states; "
                "compile without canonical"
            )
    ends = np.array([any(map(nested.ends, here)) for here in states], np.uint8)
    following = _trimmed(np.array(rows, np.int32), ends)
    return SplitAutomaton(classes, following, ends, _free(following, ends))


def _trimmed(following: NDArray[np.int32], ends: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The same without ways to states from which no text ends: each of them holds marks that are wrong already."""
    live = ends.astype(np.bool_)
    while True:
        leads = np.where(following >= 0, live[following], False)
        grown = live | leads.any(axis=(1, 2))
        if (grown == live).all():
            return np.where(leads, following, -1).astype(np.int32)
        live = grown


def _free(following: NDArray[np.int32], ends: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Which states any text may follow: each set of states that a text leads to, marks left out, has one that ends."""
    targets = [[frozenset(state for state in pair if state >= 0) for pair in row] for row in following.tolist()]
    free = np.zeros(len(ends), np.uint8)
    for state in sorted(set(following[:, :, 1].ravel().tolist()) - {-1}):
        free[state] = _is_universal(frozenset([state]), targets, ends)
    return free


def _is_universal(first: frozenset[int], targets: list[list[frozenset[int]]], ends: NDArray[np.uint8]) -> bool:

    def following(here: frozenset[int]) -> Iterator[frozenset[int]]:
        return (
            frozenset().union(*(targets[state][character] for state in here)) for character in range(len(targets[0]))
        )

    subsets = enumerate(reachable([first], following))
    return all(count < _MOST_SUBSETS and any(ends[state] for state in here) for count, here in subsets)
