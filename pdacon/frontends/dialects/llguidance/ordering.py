"""Maximal munch over all terminals, by the order in which Lark tries them.

llguidance's lexer takes the longest lexeme of all terminals that may come. Lark's takes the first terminal, in an
order, that matches here. The two are the same if B comes before A wherever some text of B, but not of A, begins with
one of A. Where sometimes the one, sometimes the other goes on, one of them comes first with a look-ahead: not before
the characters with which a longer text goes on (``if``, but not in ``iffy``).

Two patterns have no text in common by now. Where a string literal and a pattern have, the literal is a keyword.
(llguidance's parser follows both.)

Cost: for each two terminals of a place some products of their automata.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from graphlib import CycleError, TopologicalSorter

from pdacon.base.cancelling import every
from pdacon.base.quoting import quoted
from pdacon.frontends.dialects.llguidance.loaded import Loaded
from pdacon.frontends.dialects.llguidance.terminal_sets import ANYTHING, EVERYTHING
from pdacon.grammar import GrammarData
from pdacon.regular import RegularSet
from pdacon.regular.characters import Ranges, character_class, union


@dataclass(slots=True)
class Order:
    """In which order terminals are tried.

    Attributes
    ----------
    priorities : dict of int to int
        Of each terminal that needs one.
    never : dict of str to RegularSet
        For some sets the characters that must not follow.
    """

    priorities: dict[int, int] = field(default_factory=dict)
    never: dict[str, RegularSet] = field(default_factory=dict)

    def given(self, grammar: GrammarData) -> GrammarData:
        """The grammar with these priorities."""
        terminals = tuple(
            replace(terminal, priority=self.priorities.get(k, terminal.priority))
            for k, terminal in enumerate(grammar.terminals)
        )
        return replace(grammar, terminals=terminals)


def ordered(loaded: Loaded) -> Order:
    """The order in which the longest lexeme wins.

    Raises
    ------
    UnsupportedGrammarError
        There is none: of two terminals sometimes the one, sometimes the other goes on. Or what is ignored is the text
        of a terminal, too.
    """
    return _Ordering(loaded).found()


class _Ordering:
    def __init__(self, loaded: Loaded) -> None:
        self._loaded, self._texts, self._names = loaded, loaded.texts, loaded.names
        self._after: dict[int, set[int]] = {}  # for each terminal those that are tried after it
        self._level_with = list(range(len(loaded.grammar.terminals)))  # those of one priority, as a forest
        self._order = Order()
        self._longer = cache(lambda terminal: self._texts[terminal] + ANYTHING)

    def found(self) -> Order:
        # Of two string literals Lark tries the longer one first. Labels have no text.
        pairs = self._loaded.pairs(self._names.keys() & self._texts.keys(), self._texts.keys())
        for terminal, other in every(sorted(pairs), 1):
            self._relate(terminal, other)
        self._number()
        return self._order

    def _relate(self, terminal: int, other: int) -> None:
        first, second = self._texts[terminal], self._texts[other]
        common = not first.isdisjoint(second)
        if common and (terminal in self._loaded.grammar.ignore) != (other in self._loaded.grammar.ignore):
            raise self._both_ignored(terminal, other)
        if common and (terminal not in self._names or other not in self._names):
            # Lark tells a string literal from a pattern of the same priority by itself.
            small, large = (terminal, other) if terminal not in self._names else (other, terminal)
            self._level_with[self._root(small)] = self._root(large)
            return
        goes_on = [self._goes_on(terminal, other), self._goes_on(other, terminal)]
        if common or all(goes_on):
            if not (self._put_first(terminal, other) or self._put_first(other, terminal)):
                raise self._undecided(terminal, other)
        elif any(goes_on):
            early, late = (other, terminal) if goes_on[0] else (terminal, other)
            self._after.setdefault(early, set()).add(late)

    def _goes_on(self, terminal: int, other: int) -> bool:
        """Whether a text of the other, but not of the one, begins with one of the one."""
        return not self._longer(terminal).isdisjoint(self._texts[other] - self._texts[terminal])

    def _put_first(self, terminal: int, other: int) -> bool:
        """Have one tried first, with a look-ahead where the other can go on; False: one character does not tell."""
        texts, further = self._texts[terminal], self._texts[other]
        if not texts <= further and not texts.isdisjoint(further):
            return False
        longer = (further & self._longer(terminal)) - texts
        if longer and terminal not in self._names:
            return False
        if longer:
            whole = longer.shortest() or ""
            begun = next(whole[:k] for k in range(1, len(whole)) if whole[:k] in texts)
            never = RegularSet.from_regex(character_class(_next_characters(further, begun)))
            if not (texts + never <= texts | further and longer <= texts + never + EVERYTHING):
                return False
            if self._order.never.setdefault(self._names[terminal], never) != never:
                return False
        self._after.setdefault(terminal, set()).add(other)
        return True

    def _root(self, terminal: int) -> int:
        while self._level_with[terminal] != terminal:
            terminal = self._level_with[terminal]
        return terminal

    def _number(self) -> None:
        """Give priorities: each is higher than those of all that are tried after it."""
        edges = {(self._root(early), self._root(late)) for early, some in self._after.items() for late in some}
        sorter: TopologicalSorter[int] = TopologicalSorter()
        for early, late in sorted(edges):
            sorter.add(early, late)
        try:
            roots = list(sorter.static_order())
        except CycleError as error:
            terminal, other, *_rest = error.args[1]
            raise self._undecided(terminal, other) from None
        level: dict[int, int] = {}
        for root in roots:
            level[root] = max((level[late] + 1 for early, late in edges if early == root), default=0)
        self._order.priorities = {k: level.get(self._root(k), 0) for k in self._texts}

    def _undecided(self, terminal: int, other: int) -> Exception:
        first, second = self._loaded.called(terminal), self._loaded.called(other)
        message = f"{first} and {second} can come in one place, and either can have the longer text; write one for both"
        return self._loaded.refused(terminal, message, "terminals")

    def _both_ignored(self, first: int, other: int) -> Exception:
        ignored, terminal = (first, other) if first in self._loaded.grammar.ignore else (other, first)
        text = (self._texts[ignored] & self._texts[terminal]).shortest() or ""
        called = self._loaded.called(terminal)
        message = f"{quoted(text)} is ignored, and {called} can be that text; write {called} so that it cannot"
        return self._loaded.refused(terminal, message, "ignored text")


def _next_characters(texts: RegularSet, begun: str) -> Ranges:
    """The characters that a text which begins so can go on with."""
    edges = list(texts.automaton.edges())
    state = 0
    for character in begun:
        point = ord(character)
        state = next(
            target for target, ranges in edges[state].items() if any(first <= point <= last for first, last in ranges)
        )
    return union(*edges[state].values())
