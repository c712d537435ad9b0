"""Short texts for witnesses: what a terminal matches, and what the lexer makes of a text where a lexeme begins.

In: the lexing automaton and the terminals' programs. Out: shortest texts, found by breadth-first search over the bytes
that are best to read, and the first lexeme of a text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from pdacon.base.graphs import Search
from pdacon.base.once import memoized
from pdacon.determinism.examples import Examples
from pdacon.grammar import GrammarData
from pdacon.lexer import Lexer, compile_terminal
from pdacon.regular.ordered import Program, Runner
from pdacon.regular.ordered.program import BYTES, MATCH, PENDING_OR_END, SPLIT

_READABLE = b"aA0 "


@dataclass(frozen=True, slots=True)
class Lexeme:
    """What the lexer commits first: a terminal (``grammar.end + 1``: ignored text), and how many bytes of the text."""

    label: int
    length: int


class WitnessTexts:
    """The lexing automaton of a grammar as witnesses need it. Everything is computed when it is first asked for."""

    def __init__(self, grammar: GrammarData, lexer: Lexer) -> None:
        self.grammar = grammar
        self.lexer = lexer
        self.automaton = lexer.automaton

    @cached_property
    def next(self) -> NDArray[np.int32]:
        """int32[states, classes]: a state, -1: dead, -2 - i: commit i."""
        return self.automaton.transitions

    @cached_property
    def _waiting(self) -> NDArray[np.int32]:
        """int32[states, 2]: of each state what has been matched so far, and how many bytes ago."""
        return self.automaton.waiting

    @cached_property
    def _ends(self) -> NDArray[np.int32]:
        """int32[states]: what is committed if the text ends, as in `next`."""
        return self.automaton.ends

    @cached_property
    def edges(self) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """The transitions between states and to commits, each once, whatever the bytes: source and entry of `next`.

        Ascending by both. Cost: one sort of each row.
        """
        rows = np.sort(self.next, axis=1)
        new = rows != -1
        new[:, 1:] &= rows[:, 1:] != rows[:, :-1]
        return np.nonzero(new)[0], rows[new]

    @cached_property
    def classes(self) -> bytes:
        """The class of each byte."""
        return bytes(self.automaton.byte_class(byte) for byte in range(256))

    @cached_property
    def readable(self) -> bytes:
        """A byte of each class, one that is good to read if there is one."""
        chosen = {}
        for byte in sorted(range(256), key=legibility, reverse=True):
            chosen[self.classes[byte]] = byte
        return bytes(chosen[k] for k in range(self.automaton.num_classes))

    @cached_property
    def blanks_first(self) -> NDArray[np.intp]:
        """The classes, those with blanks first, a space before all."""
        return np.array(sorted(range(len(self.readable)), key=lambda k: _blankness(self.readable[k])), np.intp)

    @cached_property
    def labels(self) -> frozenset[int]:
        """The terminals that some text makes the lexer commit."""
        return frozenset(np.unique(self.automaton.commits[:, 0]).tolist())

    @cached_property
    def entered(self) -> list[int]:
        """The contexts that texts lead to."""
        entered: list[int] = np.flatnonzero(self.automaton.entries.max(axis=1, initial=-1) >= 0).tolist()
        return entered

    @cached_property
    def never_matched(self) -> list[int]:
        """The terminals that are looked for somewhere, and that no text makes the parser get.

        Exact: no text, read from the start of a lexeme in any context that texts lead to, begins with one of them.
        """
        looked_for: set[int] = set().union(*map(self.looked_for, self.entered))
        used = {symbol for production in self.grammar.productions for symbol in production.rhs}
        # A keyword may have a label and be ignored: as the text of a regex it gets through.
        ignored = {k for k in self.grammar.ignore if not self.automaton.matched[k]}
        return sorted((looked_for - self.labels) & (used | ignored))

    def looked_for(self, context: int) -> frozenset[int]:
        """The terminals that a context looks for, keywords that a regex takes included."""
        found = self.lexer.contexts[context]
        return frozenset(found.alternation).union(*(keywords for _, keywords in found.renames))

    @memoized
    def shortest(self, terminal: int) -> bytes | None:
        """A shortest text that the terminal matches at the start of a text; None if there is none."""
        record = self.grammar.terminals[terminal]
        return None if record.pattern is None else shortest_match(compile_terminal(self.grammar, record))

    @cached_property
    def blank(self) -> bytes | None:
        """A text that is ignored, to part two lexemes: a space, or else a shortest; None if nothing is ignored."""
        ignored = (text for k in self.grammar.ignore if (text := self.shortest(k)))
        return min(ignored, key=lambda text: (text != b" ", len(text), text), default=None)

    def first_lexeme(self, context: int, text: bytes) -> Lexeme | None:
        """What is committed first if the text is read from the start of a lexeme and ends there; None if nothing is."""
        return self._lexeme(int(self.automaton.entries[context].max()), text)

    def taken(self, context: int, text: bytes) -> Lexeme | None:
        """What Lark's lexer takes from the beginning of a text that ends there, whatever the parser makes of it.

        As `first_lexeme`, but where nothing can be read on. None also where the start of a text is no example of what
        lies behind, because a pattern looks there. Cost: each pattern of the context once on the text.
        """
        found = self.lexer.contexts[context]
        for terminal in found.alternation:
            if self.looks_behind(terminal):
                return None
            length = self._runner(terminal).match_end(text)
            if length is not None:
                keywords = next((keywords for regex, keywords in found.renames if regex == terminal), ())
                named = (k for k in keywords if self._runner(k).matches_whole(text[:length]))
                label = next(named, terminal)
                return Lexeme(self.grammar.end + 1 if label in self.grammar.ignore else label, length)
        return None

    def looks_behind(self, terminal: int) -> bool:
        """Whether what a terminal matches depends on what lies before it."""
        return len(compile_terminal(self.grammar, self.grammar.terminals[terminal]).entries) > 1

    def looks_ahead(self, terminal: int) -> bool:
        """Whether it depends on what follows."""
        kinds = compile_terminal(self.grammar, self.grammar.terminals[terminal]).kind
        return not np.isin(kinds, (BYTES, SPLIT, MATCH)).all()

    @memoized
    def _runner(self, terminal: int) -> Runner:
        return Runner(compile_terminal(self.grammar, self.grammar.terminals[terminal]))

    def always_reads(self, context: int, text: bytes, terminal: int, length: int) -> bool:
        """Whether so many bytes of a text are committed as the terminal first, whatever stands before the text."""
        entries = [entry for entry in self.automaton.entries[context].tolist() if entry >= 0]
        return bool(entries) and all(self._lexeme(entry, text) == Lexeme(terminal, length) for entry in entries)

    def may_ignore(self, context: int, text: bytes, length: int) -> bool:
        """Whether so many bytes of a text are ignored first, by something that may stand before the text."""
        entries = (entry for entry in self.automaton.entries[context].tolist() if entry >= 0)
        return any(self._lexeme(entry, text) == Lexeme(self.grammar.end + 1, length) for entry in entries)

    def within(self, context: int, text: bytes) -> int:
        """The lexer state after a text that a lexeme can begin with; negative if there is none."""
        state = int(self.automaton.entries[context].max())
        for byte in text:
            state = int(self.next[state, self.classes[byte]]) if state >= 0 else -1
        return state

    def goes_on(self, state: int, byte: int) -> bool:
        """Whether a byte can belong to the lexeme that has been begun in a state."""
        after = int(self.next[state, self.classes[byte]])
        return after >= 0 or (after < -1 and not self.automaton.commit(after)[2])

    def _lexeme(self, state: int, text: bytes) -> Lexeme | None:
        """The same, from a state of the lexer."""
        next_of, waiting = self.next.item, self._waiting.item
        last: tuple[int, int] | None = None
        for at, cls in enumerate(text.translate(self.classes)):
            if state < 0:
                break
            after = next_of(state, cls)
            if after < -1:
                return self._committed(after, at + 1)
            if after >= 0 and waiting(after, 0) >= 0:
                last = after, at + 1
            state = after
        end = self._ends.item(state) if state >= 0 else -1
        if end < -1:
            return self._committed(end, len(text))
        return None if last is None else Lexeme(waiting(last[0], 0), last[1] - waiting(last[0], 1))

    def _committed(self, entry: int, read: int) -> Lexeme:
        label, _, again = self.automaton.commit(entry)
        return Lexeme(label, read - len(again))

    def path(self, sources: Iterable[int], goals: NDArray[np.bool_]) -> tuple[int, bytes] | None:
        """A shortest text that leads from one of some lexer states to a goal, within a lexeme, after the state."""
        search: Search[int, tuple[int, int] | None] = Search(dict.fromkeys(sources))
        for state, _ in search:
            if goals[state]:
                return self._spelled(search.ways, state)
            for target, cls in zip(*self.successors(state), strict=True):
                if target >= 0:
                    search.meet(target, (state, cls))
        return None

    @memoized
    def successors(self, state: int) -> tuple[list[int], list[int]]:
        """What the bytes make of a lexer state: each entry of its row of `next` once, and the first class with it."""
        row = self.next[state].tolist()
        first = dict(zip(reversed(row), reversed(range(len(row))), strict=True))
        targets = sorted(first)
        return targets, [first[target] for target in targets]

    def _spelled(self, ways: Mapping[int, tuple[int, int] | None], state: int) -> tuple[int, bytes]:
        text = bytearray()
        while (step := ways[state]) is not None:
            state, cls = step
            text.append(self.readable[cls])
        return state, bytes(reversed(text))

    def way_to(self, examples: Examples, contexts: Iterable[int]) -> tuple[str, ...] | None:
        """The fewest terminals that lead to an LR state that reads in one of some contexts."""
        wanted = set(contexts)
        states = [state for state, context in enumerate(self.lexer.context_of_state.tolist()) if context in wanted]
        return min((way for s in states if (way := examples.prefix(s)) is not None), key=len, default=None)

    def bytes_of(self, terminal: int) -> set[int]:
        """The bytes that texts of a terminal can have."""
        record = self.grammar.terminals[terminal]
        if record.pattern is None:
            return set()
        program = compile_terminal(self.grammar, record)
        kinds = np.repeat(program.kind, np.diff(program.offset)).tolist()
        edges = zip(program.lo.tolist(), program.hi.tolist(), kinds, strict=True)
        return {byte for low, high, kind in edges if kind != SPLIT for byte in range(low, high + 1)}

    def shown(self, label: int) -> str:
        """A label as its author writes it; for ignored text what is ignored."""
        if label <= self.grammar.end:
            return self.grammar.describe_symbol(label)
        return " or ".join(sorted(self.grammar.describe_symbol(k) for k in self.grammar.ignore))


def shortest_match(program: Program) -> bytes | None:
    """A shortest text that a program matches at the start of a text, readable where there is a choice."""
    ends = program.offset.tolist()
    kinds = program.kind.tolist()
    edges = list(zip(program.lo.tolist(), program.hi.tolist(), program.target.tolist(), strict=True))
    start = int(program.entries[0])
    texts = {start: b""}
    pending = deque([start])
    while pending:
        state = pending.popleft()
        if kinds[state] in (MATCH, PENDING_OR_END):
            return texts[state]
        following = edges[ends[state] : ends[state + 1]]
        if kinds[state] != SPLIT:
            following = sorted(following, key=lambda edge: legibility(_readable_between(edge[0], edge[1])))
        for low, high, target in following:
            if target in texts:
                continue
            if kinds[state] == SPLIT:
                texts[target] = texts[state]
                pending.appendleft(target)
            else:
                texts[target] = texts[state] + bytes([_readable_between(low, high)])
                pending.append(target)
    return None


def whole_characters(text: bytes) -> bytes:
    """A text without what it has of a last character that is not complete."""
    lacking = next((k for k in range(min(len(text), 4)) if _decodes(text[: len(text) - k])), 0)
    return text[: len(text) - lacking]


def turned(text: bytes, loop: bytes) -> tuple[bytes, bytes]:
    """A text and what follows it for ever, begun later in the loop if a character is cut in two otherwise."""
    for k in range(len(loop)):
        begun, again = text + loop[:k], loop[k:] + loop[:k]
        if _decodes(begun) and _decodes(again):
            return begun, again
    return text, loop


def _blankness(byte: int) -> tuple[bool, bool]:
    """Sorts a space, and then other blanks, to the front."""
    return byte != 0x20, not bytes([byte]).isspace()


def _decodes(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _readable_between(low: int, high: int) -> int:
    return min(range(low, high + 1), key=legibility)


@cache
def legibility(byte: int) -> tuple[bool, int, bool, int]:
    """Sorts bytes that are good to read to the front."""
    preferred = _READABLE.find(bytes([byte]))
    return preferred < 0, preferred, not 0x20 < byte < 0x7F, abs(byte - ord("a"))
