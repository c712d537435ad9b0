"""What texts lead to: which LR states, which shifts, which productions, followed lexeme by lexeme.

The rules alone say which terminals may follow each other; the lexer may have it otherwise, because a lexeme takes the
text of the next one. Here both are followed together. A *place* is an LR state on top of the stack; what is known of a
text that leads there is its *residue*, what the lexer has read of it beyond the last lexeme. From a place and a
residue the native core tells which terminals can be committed next and what they leave; the tables tell which places
each of them leads to, through all reductions that it asks for.

What lies below the top is not followed here: a reduction may expose any LR state from which transitions that texts make
spell its right-hand side up to the top (its *lookbacks*). So the result is an over-approximation: what is not in it
never happens; what is in it may still be ruled out by the stack further down. `Follower.with_stacks` asks the native
core, which follows whole stacks, and leaves out what they rule out; it does not know an Indenter's columns. Where
lookahead has no bound, the lexing automaton lacks what ``lookahead="commit"`` gives up, and so does all that is said
here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from pdacon._native import _core
from pdacon.base.bit_sets import members, set_of
from pdacon.base.graphs import reachable
from pdacon.base.limits import Limits
from pdacon.composition import byte_vocabulary, compose, native_trie
from pdacon.determinism.deadline import ADVICE, ADVICE_BYTES, Deadline, OutOfTimeError
from pdacon.determinism.language.lookbacks import Lookbacks, predecessors
from pdacon.detokenizer import Vocabulary
from pdacon.errors import LimitExceededError
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables
from pdacon.lexer import Lexer

# Sets of symbols, states and residues are integers: bit k is member k.
"""Bits of a set from which on it is read and written as a whole: one by one, each step would cost the whole set."""


@dataclass(slots=True, eq=False)
class Reach:
    """What the texts of a grammar lead to: an over-approximation, so no set lacks a member."""

    # The LR states that are on top after a shift or at the start, each with the residues that are possible there.
    places: dict[int, int] = field(default_factory=dict)
    # For each of these places the terminals that can be read there next (``$END`` included).
    next: dict[int, int] = field(default_factory=dict)
    # The same, but with whole stacks; and only those that some sentence goes on with. None: not known.
    read: dict[int, int] | None = None
    in_sentences: dict[int, int] | None = None
    shifted: dict[int, int] = field(default_factory=dict)  # For each LR state the terminals that are shifted in it
    # LR states that are on top at some time, be it only between two reductions.
    passed: set[int] = field(default_factory=set)
    advanced: set[tuple[int, int]] = field(default_factory=set)  # (LR state, symbol): the transitions that are made
    reduced: set[int] = field(default_factory=set)  # Productions that are reduced
    stuck: set[int] = field(default_factory=set)  # Places from which no text goes on, nor may it end
    accepts: bool = False  # Whether a text may end somewhere


class Follower:
    """The tables of one grammar in a form that can be followed quickly.

    ``vocabulary``: follow those texts that it can spell; None: all.
    Raises LimitExceededError: "states". OutOfTimeError: time is over. So do the methods.
    Cost: for each place a walk over the reductions that its lookaheads ask for; 1 s for Python's grammar.
    """

    def __init__(
        self, grammar: GrammarData, tables: Tables, lexer: Lexer, vocabulary: Vocabulary | None, deadline: Deadline
    ) -> None:
        deadline.require()
        self.grammar = grammar
        self.tables = tables
        self._lexer = lexer
        self._vocabulary = byte_vocabulary(grammar) if vocabulary is None else vocabulary
        self._deadline = deadline
        self._contexts: list[int] = lexer.context_of_state.tolist()
        self._ignored = grammar.end + 1
        trie = native_trie(self._vocabulary, len(grammar.labels))
        try:
            self._lexemes = _core.NextLexemes.make(lexer.automaton, trie, ADVICE.states, ADVICE.bytes)
        except LimitExceededError as error:
            if error.what == "seconds":
                raise OutOfTimeError from error
            raise
        self._single: dict[tuple[int, int], dict[int, int]] = {}
        self._actions: list[list[int]] = tables.action.tolist()
        self._goto = tables.goto.rows()
        self.shifts, self._reduces = _by_action(tables.action)
        self._accessing: list[int] = tables.accessing.tolist()
        self._before = predecessors(self._actions, self._goto, len(self._accessing))

    def find(self) -> Reach:
        back = self._lookbacks(None)
        while True:
            found = self._reach(back)
            # A lookback over a transition that no text makes is none. Without those fewer gotos are taken, and fewer
            # transitions made, and so on to a fixpoint.
            fewer = self._lookbacks(found.advanced)
            if fewer.agree_with(back):
                return found
            back = fewer

    def with_stacks(self, found: Reach) -> Reach:
        """What texts lead to of what was found, with whole stacks; the same for a grammar with layout.

        Exact for ``reduced``, ``advanced``, ``shifted``, ``read`` and ``in_sentences``. Cost: one composition for each
        start symbol, and a tabulation whose size is that of masks' coaccessibility; 0.7 s for SQL's grammar.
        """
        if self.grammar.layout is not None:
            return found
        reduced: set[int] = set()
        shifts: set[tuple[int, int]] = set()
        gotos: set[tuple[int, int]] = set()
        following: list[list[int]] = []
        in_sentences: list[list[int]] = []
        first = self.grammar.end + 1
        limits = Limits(bytes=ADVICE_BYTES)
        try:
            composition = compose(self._lexer, self.tables, self._vocabulary, limits)
            for start in range(len(self.tables.start_states)):
                pda = composition.pda(start)
                productions, shifted, gone, read, used = pda.reached(limits.states, limits.bytes)
                reduced.update(productions)
                shifts.update(zip(*shifted.T.tolist(), strict=True))
                gotos.update((state, first + lhs) for state, lhs in gone.tolist())
                following += read.tolist()
                in_sentences += used.tolist()
        except LimitExceededError as error:
            raise OutOfTimeError from error
        exact = self._reach(self._lookbacks(shifts | gotos))
        exact.reduced, exact.advanced = reduced, shifts | gotos
        exact.shifted = {}
        for state, label in shifts:
            exact.shifted[state] = exact.shifted.get(state, 0) | 1 << label
        after = {self._actions[state][label] - 1 for state, label in shifts}
        exact.passed = after | {self._goto[state][lhs - first] for state, lhs in gotos} | {*self.tables.start_states}
        exact.places = {state: residues for state, residues in exact.places.items() if state in exact.passed}
        exact.read = self._by_place(following, exact)
        exact.in_sentences = self._by_place(in_sentences, exact)
        exact.stuck &= exact.places.keys()
        exact.accepts = found.accepts
        return exact

    def _by_place(self, pairs: Iterable[list[int]], reach: Reach) -> dict[int, int]:
        """Sets of terminals by place, ``$END`` included."""
        found: dict[int, int] = {}
        for state, label in pairs:
            if label <= self.grammar.end and state in reach.places:
                found[state] = found.get(state, 0) | 1 << label
        return found

    def _reach(self, back: Lookbacks) -> Reach:
        """What texts lead to, with these lookbacks."""
        found = Reach()
        pending = dict.fromkeys(self.tables.start_states, 1 << self._lexemes.beginning())
        leads: dict[int, dict[int, list[int]]] = {}
        while pending:
            self._deadline.require()
            state = next(iter(pending))
            new = pending.pop(state) & ~found.places.get(state, 0)
            if not new:
                continue
            found.places[state] = found.places.get(state, 0) | new
            found.passed.add(state)
            for target, left in self._read(state, new, leads.setdefault(state, {}), back, found):
                pending[target] = pending.get(target, 0) | left
        ended = {end for end in self.tables.end_states if end in found.passed}
        found.accepts = found.accepts and bool(ended)
        found.stuck = {state for state in found.places if not self._goes_on(state, back, found)}
        return found

    def allowed(self, state: int) -> int:
        """The terminals that the rules allow in an LR state, ``$END`` included."""
        return self.shifts[state] | sum(self._reduces[state].values())

    def walk(self, state: int, lookaheads: int, back: Lookbacks) -> Iterator[tuple[int, int]]:
        """The LR states on top before, between and after the reductions that lookaheads ask for, each with those
        lookaheads with which it is reached."""
        seen = {state: lookaheads}
        pending = [(state, lookaheads)]
        while pending:
            at, mask = pending.pop()
            yield at, mask
            for production, asked in self._reduces[at].items():
                if not mask & asked:
                    continue
                for target in back.targets(at, production):
                    more = mask & asked & ~seen.get(target, 0)
                    if more:
                        seen[target] = seen.get(target, 0) | more
                        pending.append((target, more))

    def _read(
        self, state: int, residues: int, leads: dict[int, list[int]], back: Lookbacks, found: Reach
    ) -> Iterator[tuple[int, int]]:
        """Read one lexeme: the places that it leads to, each with the residues it leaves. ``leads`` remembers which
        places each lookahead leads to from here."""
        layout = self.grammar.layout
        lookaheads = 0
        after = self._after(self._contexts[state], residues)
        for label, left in after.items():
            if label == self._ignored or (
                layout is not None and label == layout.newline and self.tables.in_parens[state]
            ):
                yield state, left
            else:
                lookaheads |= 1 << label
        new = lookaheads & ~found.next.get(state, 0)
        if new:
            found.next[state] = found.next.get(state, 0) | new
            for target, label in self._feed(state, new, back, found):
                leads.setdefault(label, []).append(target)
        for label, left in after.items():
            if lookaheads >> label & 1:
                for target in leads.get(label, ()):
                    yield target, left

    def _feed(self, state: int, lookaheads: int, back: Lookbacks, found: Reach) -> Iterator[tuple[int, int]]:
        """Shift each lookahead, after the reductions that it asks for, and then INDENT or DEDENTs where an Indenter may
        put them: the places that this leads to, each with its lookahead."""
        layout = self.grammar.layout
        for closer in () if layout is None else (*layout.closers, self.grammar.end):
            if lookaheads >> closer & 1:  # it closes the open blocks first
                for closed in self._dedent(state, back, found):
                    yield from ((at, closer) for at in self._shift_one(closed, closer, back, found))
        for at, label in self._shift(state, lookaheads, back, found):
            if layout is None or label != layout.newline:
                yield at, label
                continue
            lines = {at, *self._shift_one(at, layout.indent, back, found)}
            for target in lines | self._dedent(at, back, found):
                yield target, label

    def _dedent(self, state: int, back: Lookbacks, found: Reach) -> set[int]:
        """The places after any number of blocks was closed, at a new line or at the end of the text."""
        assert self.grammar.layout is not None
        dedent = self.grammar.layout.dedent
        if state not in back.closed:
            once = self._shift_one(state, dedent, back, found)
            back.closed[state] = set(reachable(once, lambda at: self._shift_one(at, dedent, back, found)))
        return back.closed[state]

    def _shift_one(self, state: int, label: int, back: Lookbacks, found: Reach) -> tuple[int, ...]:
        """The places after one lookahead, found once for each state."""
        known = back.shifted.get((state, label))
        if known is None:
            known = back.shifted[state, label] = tuple(t for t, _ in self._shift(state, 1 << label, back, found))
        return known

    def _shift(self, state: int, lookaheads: int, back: Lookbacks, found: Reach) -> Iterator[tuple[int, int]]:
        """Make the reductions that the lookaheads ask for and shift them: the places that this leads to, each with its
        lookahead."""
        for at, mask in self.walk(state, lookaheads, back):
            found.passed.add(at)
            for production, asked in self._reduces[at].items():
                if mask & asked and (at, production) not in back.made:
                    back.made.add((at, production))
                    found.reduced.add(production)
                    found.advanced.update(back.transitions(at, production))
            if mask >> self.grammar.end & 1 and at in self.tables.end_states:
                found.accepts = True
            shifted = mask & self.shifts[at]
            before = found.shifted.get(at, 0)
            if shifted & ~before:
                found.shifted[at] = before | shifted
                found.advanced.update((at, label) for label in members(shifted & ~before))
            action = self._actions[at]
            for label in members(shifted):
                yield action[label] - 1, label

    def _goes_on(self, state: int, back: Lookbacks, found: Reach) -> bool:
        end = 1 << self.grammar.end
        for at, mask in self.walk(state, found.next.get(state, 0), back):
            if mask & self.shifts[at] or (mask & end and at in self.tables.end_states):
                return True
        return self.grammar.layout is not None and state in found.passed

    def _after(self, context: int, residues: int) -> dict[int, int]:
        """The labels that the lexer can commit next from some residues, each with the residues that it leaves."""
        found: dict[int, int] = {}
        for residue in members(residues):
            left = self._single.get((context, residue))
            if left is None:
                left = self._single[context, residue] = _by_label(self._lexemes.after(context, residue))
            for label, rests in left.items():
                found[label] = found.get(label, 0) | rests
        return found

    def _lookbacks(self, advanced: set[tuple[int, int]] | None) -> Lookbacks:
        before = self._before
        if advanced is not None:
            before = [
                [state for state in states if (state, self._accessing[k]) in advanced]
                for k, states in enumerate(before)
            ]
        return Lookbacks(self.grammar, before, self._goto)

    def back(self, reach: Reach) -> Lookbacks:
        """The lookbacks of reductions over the transitions of a reach, for `walk`."""
        return self._lookbacks(reach.advanced)


def _by_label(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Sets of residues by label. As sets they take a bit each, where the list of a wide pattern is a thousand times
    as large."""
    rests: dict[int, list[int]] = {}
    for label, rest in pairs:
        rests.setdefault(label, []).append(rest)
    return {label: set_of(some) for label, some in rests.items()}


def _by_action(action: np.ndarray) -> tuple[list[int], list[dict[int, int]]]:
    """For each LR state: what it shifts, and which lookaheads each of its reductions has."""
    shifts: list[int] = []
    reduces: list[dict[int, int]] = []
    for row in action:
        masks: dict[int, int] = {}
        shift = 0
        for label in np.flatnonzero(row).tolist():
            entry = int(row[label])
            if entry > 0:
                shift |= 1 << label
            else:
                masks[-entry - 1] = masks.get(-entry - 1, 0) | 1 << label
        shifts.append(shift)
        reduces.append(masks)
    return shifts, reduces
