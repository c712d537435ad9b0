"""The LR(0) items of a grammar, in which states they are, and what comes before and after: the ground of the searches.

Sets of LR states and of terminals are bits of Python integers, so that a search walks the left context of an item in
all states at once.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pdacon.base.bit_sets import members, set_of
from pdacon.base.graphs import reachable
from pdacon.base.once import memoized
from pdacon.determinism.examples import Yields, shortest_yields
from pdacon.grammar import GrammarData
from pdacon.grammar.first_follow import first_sets, rule_of
from pdacon.lalr import Tables
from pdacon.pda import Reduces

Item = int
"""``Items.first[production] + dot``."""

AUGMENTED = -1
"""The left side of the productions that the starts are given."""


class Items:
    """Items of one grammar and its tables. Productions and states that no string of terminals can use are left out."""

    def __init__(self, grammar: GrammarData, tables: Tables) -> None:
        self.grammar = grammar
        self.tables = tables
        self.nonterminal = grammar.end + 1
        # A symbol that no grammar has, for what is forgotten.
        self.anything = self.nonterminal + len(grammar.nonterminals)
        starts = tuple(dict.fromkeys(grammar.starts))
        # Left and right side of each production; those of the augmented start rules come last.
        self.sides = [(p.lhs, p.rhs) for p in grammar.productions] + [(AUGMENTED, (start,)) for start in starts]
        self.first: list[int] = []  # the item of each production with the dot at its left end
        self.production: list[int] = []
        self.dot: list[int] = []
        for k, (_, rhs) in enumerate(self.sides):
            self.first.append(len(self.production))
            self.production += [k] * (len(rhs) + 1)
            self.dot += range(len(rhs) + 1)
        # The left side of each item's production.
        self.lefts = [self.sides[k][0] for k in self.production]

    @cached_property
    def yields(self) -> Yields:
        return shortest_yields(self.grammar)

    @cached_property
    def reduces(self) -> Reduces:
        """What the parser does before a lookahead."""
        productions = [(lhs - self.nonterminal, len(rhs)) for lhs, rhs in self.sides if lhs != AUGMENTED]
        return Reduces(self.tables.action.tolist(), self.tables.goto.rows(), productions)

    def derives(self, symbol: int) -> bool:
        """Whether a symbol stands for a string of terminals at all."""
        return symbol < self.nonterminal or self.yields.length[symbol - self.nonterminal] >= 0

    @cached_property
    def expansions(self) -> dict[int, list[int]]:
        """For each nonterminal its productions."""
        found: dict[int, list[int]] = {}
        for k, (lhs, rhs) in enumerate(self.sides):
            if all(map(self.derives, rhs)):
                found.setdefault(lhs, []).append(k)
        return found

    @cached_property
    def begins(self) -> list[int]:
        """For each symbol the terminals with which its texts can begin, ``$END`` never among them."""

        sides = (self.sides[k] for lhs, productions in self.expansions.items() if lhs != AUGMENTED for k in productions)
        first, _ = first_sets(rule_of(self.grammar, *side) for side in sides)
        terminals = [1 << terminal for terminal in range(self.grammar.end)]
        return [*terminals, 0, *(first.get(~k, 0) for k in range(len(self.grammar.nonterminals))), -1]

    @cached_property
    def empty(self) -> list[bool]:
        """For each symbol whether it derives the empty text."""
        lengths = self.yields.length
        return [False] * self.nonterminal + [length == 0 for length in lengths] + [True]

    def can_begin(self, symbols: tuple[int, ...]) -> tuple[int, bool]:
        """The terminals with which a text of a string of symbols can begin, and whether it can be empty."""
        begins = 0
        for symbol in symbols:
            begins |= self.begins[symbol]
            if not self.empty[symbol]:
                return begins, False
        return begins, True

    @memoized
    def about(self, symbols: tuple[int, ...]) -> tuple[int, bool, int]:
        """What `can_begin` says of a string of symbols, and how many of them cannot be empty."""
        return *self.can_begin(symbols), sum(not self.empty[symbol] for symbol in symbols)

    def rest(self, item: Item) -> tuple[int, ...]:
        """The symbols after the dot."""
        return self.sides[self.production[item]][1][self.dot[item] :]

    @memoized
    def behind(self, item: Item) -> tuple[tuple[int, ...], int, bool]:
        """The symbols after the one that the dot is before, and what `can_begin` says of them."""
        behind = self.rest(item)[1:]
        return behind, *self.can_begin(behind)

    def at_end(self, item: Item) -> bool:
        return not self.rest(item)

    def left(self, item: Item) -> int:
        return self.lefts[item]

    def complete(self, production: int) -> Item:
        """The item with the dot at the right end."""
        return self.first[production] + len(self.sides[production][1])

    def distance(self, symbol: int, terminal: int, *, leftmost: bool = False) -> int | None:
        """How many productions it takes at least until a symbol's string begins with a terminal. None: it never does.

        A symbol that has to become empty before it counts as one more; with ``leftmost`` there is none.
        """
        return self._distances(terminal, leftmost).get(symbol)

    def towards(self, nonterminal: int, terminal: int, *, leftmost: bool = False) -> tuple[int, int]:
        """The first production on a shortest such way, and how many of its symbols become empty."""
        best = self.distance(nonterminal, terminal, leftmost=leftmost)
        for k in sorted(self.expansions[nonterminal], key=lambda k: len(self.sides[k][1])):
            for skipped, symbol in enumerate(self.sides[k][1]):
                behind = self.distance(symbol, terminal, leftmost=leftmost)
                if behind is not None and behind + 1 + skipped == best:
                    return k, skipped
                if leftmost or not self.empty[symbol]:
                    break
        raise AssertionError(f"symbol {nonterminal} cannot begin with terminal {terminal}")

    @memoized
    def _distances(self, terminal: int, leftmost: bool) -> dict[int, int]:
        """Rounds over the productions that can begin with what is known."""
        found = {terminal: 0}
        border = [terminal]
        while border:
            new: dict[int, int] = {}
            for corner in border:
                for lhs, skipped in self._corners.get(corner, ()):
                    cost = found[corner] + 1 + skipped
                    if not (leftmost and skipped) and cost < found.get(lhs, cost + 1):
                        found[lhs] = new[lhs] = cost
            border = list(new)
        return found

    @cached_property
    def _corners(self) -> dict[int, list[tuple[int, int]]]:
        """For each symbol the left sides of productions in which it can come first, after so many empty symbols."""
        corners: dict[int, list[tuple[int, int]]] = {}
        for lhs, productions in self.expansions.items():
            if lhs == AUGMENTED:
                continue
            for k in productions:
                for at, symbol in enumerate(self.sides[k][1]):
                    corners.setdefault(symbol, []).append((lhs, at))
                    if not self.empty[symbol]:
                        break
        return corners

    # States

    def copies(self, state: int) -> int:
        """The copies of one LR(0) state that the tables have, as bits: with layout, states are split by parentheses."""
        return set_of(np.flatnonzero(self.tables.origin == self.tables.origin[state]).tolist()) & self._accessible

    @memoized
    def predecessors(self, states: int) -> int:
        """The states from which a shift or goto leads to one of the states."""
        before = 0
        for state in members(states):
            before |= self._before[state]
        return before

    def kernel(self, state: int) -> list[Item]:
        offset, production, dot = self.tables._kernels
        those = slice(offset[state], offset[state + 1])
        return [self.first[k] + at for k, at in zip(production[those].tolist(), dot[those].tolist(), strict=True)]

    @memoized
    def parents(self, symbol: int, states: int) -> list[tuple[Item, int]]:
        """The items with the dot before a symbol, each with those of the states that have it."""
        within = ((item, self.states_with(item) & states) for item in self.before.get(symbol, ()))
        return [(item, those) for item, those in within if those]

    def can_follow(self, item: Item, states: int, terminal: int) -> bool:
        """Whether a terminal can come after the production of an item, which is in all of the states."""
        seen: set[tuple[int, int]] = set()
        pending = [(item, states)]
        while pending:
            item, states = pending.pop()
            for _ in range(self.dot[item]):
                states = self.predecessors(states)
            lhs = self.left(item)
            if lhs == AUGMENTED:
                if terminal == self.nonterminal - 1:
                    return True
                continue
            for parent, those in self.parents(lhs, states):
                _, begins, empty = self.behind(parent)
                if begins >> terminal & 1:
                    return True
                if empty and (parent, those) not in seen:
                    seen.add((parent, those))
                    pending.append((parent, those))
        return False

    def states_with(self, item: Item) -> int:
        lhs = self.left(item)
        if self.dot[item] or lhs == AUGMENTED:
            return self._kernels.get(item, 0)
        return self._closures.get(lhs, 0)

    @cached_property
    def before(self) -> dict[int, list[Item]]:
        """For each symbol the items with the dot before it."""
        found: dict[int, list[Item]] = {}
        for productions in self.expansions.values():
            for k in productions:
                for dot, symbol in enumerate(self.sides[k][1]):
                    found.setdefault(symbol, []).append(self.first[k] + dot)
        return found

    @cached_property
    def _kernels(self) -> dict[Item, int]:
        """For each kernel item its states."""
        offset, production, dot = self.tables._kernels
        items = np.array(self.first)[production] + dot
        states = np.repeat(np.arange(self.tables.num_states), np.diff(offset))
        found: dict[Item, int] = {}
        for item, state in zip(items.tolist(), states.tolist(), strict=True):
            found[item] = found.get(item, 0) | 1 << state
        return {item: those for item, bits in found.items() if (those := bits & self._accessible)}

    @cached_property
    def _closures(self) -> dict[int, int]:
        """For each nonterminal the states in whose closure its productions are."""
        found: dict[int, int] = {}
        for item, states in self._kernels.items():
            rest = self.rest(item)
            if rest and rest[0] >= self.nonterminal:
                found[rest[0]] = found.get(rest[0], 0) | states
        pending = list(found)
        while pending:
            symbol = pending.pop()
            for k in self.expansions.get(symbol, ()):
                rhs = self.sides[k][1]
                if rhs and rhs[0] >= self.nonterminal and found[symbol] & ~found.get(rhs[0], 0):
                    found[rhs[0]] = found.get(rhs[0], 0) | found[symbol]
                    pending.append(rhs[0])
        return found

    @cached_property
    def _edges(self) -> tuple[list[int], list[int]]:
        """Source and target of each shift and goto over a symbol that derives something."""
        tables = self.tables
        goto = tables.goto
        derives = np.array([self.derives(self.nonterminal + k) for k in range(goto.num_nonterminals)], np.bool_)
        shifts, gotos = tables.action > 0, derives[goto.nonterminal]
        source = np.concatenate([np.nonzero(shifts)[0], goto.source()[gotos]])
        target = np.concatenate([tables.action[shifts] - 1, goto.target[gotos]])
        return source.tolist(), target.tolist()

    @cached_property
    def _accessible(self) -> int:
        """The states that a string of terminals leads to."""
        following: dict[int, list[int]] = {}
        for source, target in zip(*self._edges, strict=True):
            following.setdefault(source, []).append(target)
        return set_of(list(reachable(self.tables.start_states, lambda state: following.get(state, ()))))

    @cached_property
    def _before(self) -> list[int]:
        before = [0] * self.tables.num_states
        for source, target in zip(*self._edges, strict=True):
            before[target] |= 1 << source
        return [states & self._accessible for states in before]
