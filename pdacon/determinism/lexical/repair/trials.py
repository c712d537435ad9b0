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

import numpy as np

from pdacon.base.once import memoized
from pdacon.base.quoting import quote
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import shortest_yields
from pdacon.determinism.lexical.repair.lockstep import kept
from pdacon.determinism.lexical.repair.searching import Reader, Search
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.errors import PdaconError
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables, build_tables
from pdacon.lexer import compile_terminal
from pdacon.regular.ordered import Runner

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
_MOST_NODES = 400


@dataclass(frozen=True, slots=True)
class Effect:
    """What a repair does to the texts."""

    tried: int = 0  # How many texts of the grammar have been tried; 0 where it has been decided without that
    touched: int = 0  # Those of them that have a terminal that is repaired, or one that matches the same texts
    # A shortest text that only the grammar as it is has, and one that only the repaired one has.
    lost: bytes | None = None
    gained: bytes | None = None
    ends: bool = False  # Whether none of the texts is left
    # Whether it is certain that none is lost, and that none is gained.
    keeps_all: bool = False
    adds_none: bool = False

    @property
    def is_known(self) -> bool:
        """Whether something can be said of what is lost: a text, that there is none, or that many have been tried."""
        return self.keeps_all or self.lost is not None or self.touched >= ENOUGH

    def sentence(self) -> str:
        if self.lost is not None:
            lost = f"Lost with it is such a text as {quote(self.lost)}"
            return f"{lost}." if self.gained is None else f"{lost}; gained is such a one as {quote(self.gained)}."
        if self.keeps_all and self.adds_none:
            return "With it the grammar has the same texts as before."
        more = "" if self.gained is None else f" Gained is such a text as {quote(self.gained)}."
        if self.keeps_all:
            return f"No text is lost with it.{more}"
        if not self.is_known:
            return f"{NOT_TRIED}{more}"
        return f"Of {self.tried} texts of the grammar that were tried with it none is lost.{more}"


NOT_TRIED = "What it does to the texts of the grammar has not been found out."
ENOUGH = 50
"""So many texts that a repair is about have to be tried before it is said that none of them is lost."""


class Trial:
    """The texts of one grammar, for repairs to be tried on."""

    def __init__(self, texts: WitnessTexts, tables: Tables, deadline: Deadline) -> None:
        self._texts = texts
        self._tables = tables
        self._deadline = deadline

    def effect(
        self, after: WitnessTexts, hints: Iterable[bytes] = (), about: Iterable[int] = (), *, loses: bool = False
    ) -> Effect | None:
        """What becomes of texts if the grammar is the other one; None where it is not to be had.

        ``after``: of a grammar with the same rules. ``hints``: texts of which some may make a difference. ``about``:
        the terminals that the repair is for. ``loses``: it is meant to lose texts, so that one is looked for first.

        Cost: one comparison of the lexers; where that does not decide it, one composition of each grammar with the 256
        bytes, and some 3,000 short texts.
        """
        if not self._can_be_tried or after.lexer.automaton.unbounded or self._texts.lexer.automaton.unbounded:
            return None
        own = self._deadline.share(_SECONDS)
        with suppress(PdaconError):
            tables = build_tables(after.grammar)
            if not np.array_equal(tables.action, self._tables.action):
                return None
            return self._tried(after, tables, tuple(hints), frozenset(about), own, loses=loses)
        return None

    def _tried(
        self,
        after: WitnessTexts,
        tables: Tables,
        hints: tuple[bytes, ...],
        about: frozenset[int],
        deadline: Deadline,
        *,
        loses: bool,
    ) -> Effect | None:
        search = self._searched(after, tables, deadline) if loses else None
        keeps = adds = False
        if search is None or search.lost is None:
            keeps = kept(self._tables, self._texts, after, deadline)
            adds = kept(self._tables, after, self._texts, deadline)
        if keeps and adds:
            return Effect(keeps_all=True, adds_none=True)
        search = search or self._searched(after, tables, deadline)
        if search is None:
            return None
        if search.after.is_empty:
            return Effect(ends=True)
        for terminals, text in self._candidates(after, hints):
            search.read(text, touched=not terminals.isdisjoint(about))
        if search.out_of_time and search.lost is None and not keeps:
            return None
        return Effect(
            tried=search.tried,
            touched=search.touched,
            lost=search.lost,
            gained=search.gained,
            ends=search.tried > 0 and search.kept == 0 and not keeps,
            keeps_all=keeps,
            adds_none=adds,
        )

    def _searched(self, after: WitnessTexts, tables: Tables, deadline: Deadline) -> Search | None:
        """A search that has looked at the shortest texts."""
        before = self._before
        if before is None:
            return None
        search = Search(before, Reader(after, tables, deadline), deadline)
        search.look(_MOST_NODES)
        return search

    @property
    def _can_be_tried(self) -> bool:
        unsettled = any(not conflict.settled for conflict in self._tables.conflicts)
        return not unsettled and self._texts.grammar.layout is None and not self._texts.grammar.labels

    @cached_property
    def _before(self) -> Reader | None:
        """The grammar as it is; None where it takes too long."""
        with suppress(PdaconError):
            return Reader(self._texts, self._tables, self._deadline)
        return None

    def _candidates(self, after: WitnessTexts, hints: tuple[bytes, ...]) -> list[tuple[frozenset[int], bytes]]:
        """Texts that may be in either language, all different, some of them not in one piece, each with the terminals
        that it is made of; texts that begin alike stand together."""
        rng = Random(0)
        spellings = _Spellings((self._texts, after), hints)
        ignored = dict.fromkeys(text for k in sorted(self._texts.grammar.ignore) for text in spellings.of(k))
        blanks = sorted(ignored, key=lambda text: (text != b" ", len(text), text))[:_SPELLINGS] or [b""]
        found: dict[bytes, frozenset[int]] = {}
        for terminals in _derivations(self._texts.grammar, rng):
            words = [rng.choice(spelled) for k in terminals if (spelled := spellings.of(k))]
            if len(words) == len(terminals):
                made = frozenset(terminals)
                found[b"".join(words)] = made
                found[blanks[0].join(words)] = made
                gaps = [rng.choice(blanks) * rng.choice((0, 1, 2)) for _ in words]
                found[b"".join(map(bytes.__add__, words, gaps))] = made
        return [(found[text], text) for text in sorted(found)]


class _Spellings:
    """A few texts of each terminal, before or after."""

    def __init__(self, sides: Sequence[WitnessTexts], hints: tuple[bytes, ...]) -> None:
        self._sides = sides
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

    @memoized
    def of(self, terminal: int) -> list[bytes]:
        """The shortest first, then those that come of the others."""
        return list(dict.fromkeys(self._found(terminal)))[:_SPELLINGS]

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


def _derivations(grammar: GrammarData, rng: Random) -> Iterator[list[int]]:
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
