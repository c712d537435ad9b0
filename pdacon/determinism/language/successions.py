"""Terminals that no text puts after one of their predecessors, though others come there and they come elsewhere.

In: which terminals the rules put after which (`follow_sets`), and which the lexer does (`reachability`). Out: findings
PDA015, as notes. What a dead end says already is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from pdacon.base.bit_sets import members, set_of
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import Examples
from pdacon.determinism.language.follow_sets import FollowSets
from pdacon.determinism.language.neighbours import Neighbours
from pdacon.determinism.language.reachability import Reach
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import Finding
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables

_SHOWN = 6  # places in the rules
_BEGINNING = -1


class Successions:
    """What the rules put after terminals that texts lead to, and no text does."""

    def __init__(
        self,
        tables: Tables,
        texts: WitnessTexts,
        examples: Examples,
        reach: Reach,
        never: Iterable[int],
        deadline: Deadline,
    ) -> None:
        self._grammar: GrammarData = texts.grammar
        self._tables = tables
        self._texts = texts
        self._examples = examples
        self._reach = reach
        self._never = set_of({*never})
        self._deadline = deadline
        self._neighbours = Neighbours(texts)

    def findings(self, known: Iterable[Finding]) -> list[Finding]:
        """PDA015, a note for each terminal after which others are never read; but what is ``known`` already.

        Never a false alarm: ``reach`` has no less than what texts lead to. Where it has whole stacks, every pair is
        found of which the lexer never cuts the second terminal after the first. Those that it does cut, but in no
        sentence, are named if nothing else is: mostly it is what comes after them that no text is read as. A
        repetition of one terminal that takes all of the repeated text at once, such as ``WS+`` of ``/[ ]+/``, is fine.
        """
        named = {
            (self._before(finding), self._index.get(name))
            for finding in known
            if finding.id == "PDA015"
            for name in finding.symbols
        }
        unread = list(self._dead(self._read))
        found = [finding for before, dead in unread if (finding := self._finding(before, dead, named))]
        if found or named or self._reach.in_sentences is None or self._tables.conflicts:
            return found
        dead_ends = self._dead(self._reach.in_sentences)
        return [finding for before, dead in dead_ends if (finding := self._finding(before, dead, named))]

    @property
    def _read(self) -> dict[int, int]:
        return self._reach.next if self._reach.read is None else self._reach.read

    def _before(self, finding: Finding) -> int:
        """The terminal that a finding says another one is not read after."""
        return _BEGINNING if finding.title.endswith("after the beginning") else self._index[finding.symbols[0]]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {terminal.name: k for k, terminal in enumerate(self._grammar.terminals)}

    @cached_property
    def _follow(self) -> FollowSets:
        return FollowSets(self._grammar, self._never)

    def _dead(self, read: dict[int, int]) -> Iterator[tuple[int, int]]:
        """The terminals that texts lead to, each with those that the rules put after it and what is read does not.

        Where a conflict was settled, the parser may never ask for some of these: that is the conflict's finding.
        """
        accessing = self._tables.accessing
        behind: dict[int, int] = {}
        asked: dict[int, int] = {}
        for place in self._reach.places:
            symbol = int(accessing[place])
            if symbol < self._grammar.end:
                before = _BEGINNING if symbol < 0 else symbol
                behind[before] = behind.get(before, 0) | read.get(place, 0)
                asked[before] = asked.get(before, 0) | set_of(np.flatnonzero(self._tables.action[place]).tolist())
        layout = self._grammar.layout
        made = 0 if layout is None else 1 << layout.indent | 1 << layout.dedent
        for before, labels in sorted(behind.items()):
            wanted = self._follow.at_start() if before == _BEGINNING else self._follow.after(before)
            if dead := wanted & asked[before] & ~labels & ~made:
                yield before, dead

    def _finding(self, before: int, dead: int, named: set[tuple[int, int | None]]) -> Finding | None:
        self._deadline.require()
        terminals = [t for t in members(dead) if (before, t) not in named and not self._is_harmless(before, t)]
        if not terminals:
            return None
        origins = list(dict.fromkeys(origin for t in terminals for origin in self._follow.origins(before, t)))[:_SHOWN]
        lines = [f"  {self._grammar.describe_item(*origin)}" for origin in origins]
        places = [p for p in self._reach.places if self._accessed(p) == before]
        prefix = min((self._examples.prefix(place) or () for place in places), key=len)
        records = [self._grammar.productions[number] for number, _ in origins]
        finding = self._neighbours.unread(
            "note",
            before,
            terminals,
            prefix,
            ["So the rules never go on like that here:", *lines],
            records[0].span if records else None,
            [record.rule for record in records],
            too=", too",
        )
        return replace(finding, symbols=tuple(dict.fromkeys(finding.symbols)))

    def _accessed(self, place: int) -> int:
        symbol = int(self._tables.accessing[place])
        return _BEGINNING if symbol < 0 else symbol

    def _is_harmless(self, before: int, terminal: int) -> bool:
        """Whether they are the same, and only a repetition puts them together: all of it is one lexeme then."""
        if before != terminal:
            return False
        first = self._grammar.end + 1
        return all(
            self._grammar.nonterminals[self._grammar.productions[number].lhs - first].repeats
            for number, _ in self._follow.origins(before, terminal)
        )
