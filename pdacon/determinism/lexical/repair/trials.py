"""What a repair does to the language: texts of the grammar are read with it and without it.

In: a grammar with its lexer, and the lexer of the repaired one. Out: how many texts were tried, and a shortest one that
is lost and a shortest one that is gained, if there are such. The texts come from random derivations, in which each
terminal is spelled with short texts, those that other terminals match before all: there repairs make a difference.
Both grammars are asked as a `Matcher` is, so that what is said of a text is what stock Lark says of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING

from pdacon._native import _core
from pdacon.composition import Limits, byte_vocabulary, compose
from pdacon.determinism.deadline import ADVICE_BYTES, Deadline
from pdacon.determinism.examples import shortest_yields
from pdacon.errors import PdaconError
from pdacon.lalr import build_tables
from pdacon.lexer import Runner, compile_terminal
from pdacon.quoting import quote

if TYPE_CHECKING:
    from pdacon.determinism.lexical.texts import Texts
    from pdacon.grammar import Grammar
    from pdacon.lalr import Tables

_DERIVATIONS = 200
_LONGEST = 12  # terminals before a derivation is brought to its end
_MOST_TERMINALS = 400  # in it all the same
_SPELLINGS = 8  # texts of a terminal
_COMBINED = 12  # texts that are also put side by side
_UNUSUAL = tuple(text.encode() for text in ("\n", "\t", "é", "٠"))
"""What patterns match that are more general than they look."""
_SIGN = re.compile(r"[^\w\s\\()\[\]{}*+?|^$]")
"""What a pattern may have written out that its shortest text has not, such as a decimal point."""
_SECONDS = 3.0
_MOST_STATES = 20_000


@dataclass(frozen=True, slots=True)
class Effect:
    """What a repair does to the texts that were tried.

    Attributes
    ----------
    tried : int
        How many texts of the grammar.
    lost, gained : bytes or None
        A shortest text that only the grammar as it is has, and one that only the repaired one has.
    ends : bool
        Whether none of the texts is left.
    """

    tried: int
    lost: bytes | None
    gained: bytes | None
    ends: bool

    def sentence(self) -> str:
        """The same in words."""
        if not self.tried:
            return NOT_TRIED if self.gained is None else f"With it such a text as {quote(self.gained)} is read."
        if self.lost is None:
            kept = f"Of {self.tried} texts of the grammar that were tried with it none is lost."
            return kept if self.gained is None else f"{kept} Gained is such a text as {quote(self.gained)}."
        lost = f"Lost with it is such a text as {quote(self.lost)}"
        return f"{lost}." if self.gained is None else f"{lost}; gained is such a one as {quote(self.gained)}."


NOT_TRIED = "What it does to the texts of the grammar has not been tried."


class Trial:
    """The texts of one grammar, for repairs to be tried on."""

    def __init__(self, texts: Texts, tables: Tables, deadline: Deadline) -> None:
        self._texts = texts
        self._tables = tables
        self._deadline = deadline

    def effect(self, after: Texts, hints: Iterable[bytes] = ()) -> Effect | None:
        """What becomes of texts if the grammar is the other one; None where it is not to be had.

        ``after``: of a grammar with the same rules. ``hints``: texts of which some may make a difference.

        Cost: one composition of each grammar with the 256 bytes, and 600 short texts.
        """
        if self._before is None or after.lexer.automaton.unbounded:
            return None
        own = Deadline(min(_SECONDS, self._deadline.left()))
        with suppress(PdaconError):
            there = _Reader(after, build_tables(after.grammar), own)
            if there.is_empty:
                return Effect(0, None, None, ends=True)
            before: list[bytes] = []
            lost: list[bytes] = []
            gained: list[bytes] = []
            for text in self._candidates(after, tuple(hints)):
                if own.passed() and not lost:
                    return None
                now, then = self._before.accepts(text), there.accepts(text)
                before += [text] if now else []
                lost += [text] if now and not then else []
                gained += [text] if then and not now else []
            ends = bool(before) and len(lost) == len(before)
            return Effect(len(before), _shortest(lost), _shortest(gained), ends)
        return None

    @cached_property
    def _before(self) -> _Reader | None:
        """The grammar as it is; None where Lark does not take it, or it takes too long."""
        unsettled = any(not conflict.settled for conflict in self._tables.conflicts)
        if unsettled or self._texts.grammar.layout is not None or self._texts.grammar.labels:
            return None
        with suppress(PdaconError):
            return _Reader(self._texts, self._tables, self._deadline)
        return None

    def _candidates(self, after: Texts, hints: tuple[bytes, ...]) -> list[bytes]:
        """Texts that may be in either language, all different, some of them not in one piece."""
        rng = Random(0)
        spellings = _Spellings((self._texts, after), hints)
        ignored = dict.fromkeys(text for k in sorted(self._texts.grammar.ignore) for text in spellings.of(k))
        blanks = sorted(ignored, key=lambda text: (text != b" ", len(text), text))[:_SPELLINGS] or [b""]
        found: dict[bytes, None] = {}
        for terminals in _derivations(self._texts.grammar, rng):
            words = [rng.choice(spelled) for k in terminals if (spelled := spellings.of(k))]
            if len(words) == len(terminals):
                found[b"".join(words)] = None
                found[blanks[0].join(words)] = None
                gaps = [rng.choice(blanks) * rng.choice((0, 1, 2)) for _ in words]
                found[b"".join(map(bytes.__add__, words, gaps))] = None
        return list(found)


def _shortest(texts: list[bytes]) -> bytes | None:
    return min(texts, key=lambda text: (len(text), text), default=None)


class _Reader:
    """Says whether a text is a sentence."""

    def __init__(self, texts: Texts, tables: Tables, deadline: Deadline) -> None:
        limits = Limits(states=_MOST_STATES, bytes=ADVICE_BYTES)
        every = byte_vocabulary(texts.grammar)
        self._pda = compose(texts.lexer, tables, 0, every, limits, deadline.left_or_little())
        self.is_empty: bool = self._pda.empty_language()

    def accepts(self, text: bytes) -> bool:
        matcher = _core.Matcher(self._pda, 1, False, False)
        return bool(matcher.accept_bytes(text)) and matcher.is_accepting()


class _Spellings:
    """A few texts of each terminal, before or after."""

    def __init__(self, sides: Sequence[Texts], hints: tuple[bytes, ...]) -> None:
        self._sides = sides
        self._known: dict[int, list[bytes]] = {}
        terminals = range(sides[0].grammar.end)
        shortest = [text for side in sides for k in terminals if (text := side.shortest(k))]
        signs = dict.fromkeys(
            sign.encode()
            for terminal in sides[0].grammar.terminals
            if terminal.pattern is not None and terminal.pattern.kind == "re"
            for sign in _SIGN.findall(terminal.pattern.value)
        )
        some = list(dict.fromkeys([*hints, *list(signs)[: _COMBINED // 2], *shortest]))[:_COMBINED]
        own = list(dict.fromkeys([*hints, *_UNUSUAL, *shortest]))
        self._texts = list(dict.fromkeys([*own, *(a + b for a in some for b in some)]))

    def of(self, terminal: int) -> list[bytes]:
        """The shortest first, then those that come of the others."""
        if terminal not in self._known:
            self._known[terminal] = list(dict.fromkeys(self._found(terminal)))[:_SPELLINGS]
        return self._known[terminal]

    def _found(self, terminal: int) -> Iterator[bytes]:
        for side in self._sides:
            record = side.grammar.terminals[terminal]
            if record.pattern is None:
                continue
            text = side.shortest(terminal)
            if text:
                yield text
            if record.pattern.kind == "re":
                run = Runner(compile_terminal(side.grammar, record))
                yield from (text for text in self._texts if run.matches_whole(text))


def _derivations(grammar: Grammar, rng: Random) -> Iterator[list[int]]:
    """Random strings of terminals that the rules derive from the first start; none if there are none."""
    yields = shortest_yields(grammar)
    first = grammar.end + 1
    productive = [
        k
        for k, production in enumerate(grammar.productions)
        if all(symbol < first or yields.length[symbol - first] >= 0 for symbol in production.rhs)
    ]
    bodies: dict[int, list[tuple[int, ...]]] = {}
    for k in productive:
        bodies.setdefault(grammar.productions[k].lhs, []).append(tuple(grammar.productions[k].rhs))
    if yields.length[grammar.starts[0] - first] < 0:
        return
    for _ in range(_DERIVATIONS):
        size = rng.randint(1, _LONGEST)
        found: list[int] = []
        pending = [grammar.starts[0]]
        steps = 0
        while pending and steps < 10 * _MOST_TERMINALS:
            steps += 1
            top = pending.pop()
            if top < first:
                found.append(top)
                continue
            if len(found) + len(pending) < size and steps < _MOST_TERMINALS:
                body = rng.choice(bodies[top])
            else:
                body = tuple(grammar.productions[yields.production[top - first]].rhs)
            pending += reversed(body)
        if not pending:
            yield found
