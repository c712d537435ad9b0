"""Whether a lexer cuts texts into terminals as some derivation does, and what it has to look at.

In: terminals, productions and their LALR(1) tables. Out: a `Cut`: for each terminal, by the state that it ends in, the
characters that may not follow; or that a lexer could cut otherwise. With these guards one terminal at most matches,
wherever a sentence goes on, so that it does not matter in which order a lexer tries them.

A sentence has a derivation, and that a cut: texts of terminals, one after the other. The lexer finds this cut, or
another one of a derivation, if, in each context,

1. no text is in two terminals;
2. where a terminal ends, and it or another one of the context could read a character on, no terminal that can come next
   begins with that character; or else the same terminal reads it, ends there, too, and every terminal that may begin
   with it stays as it was when it has read it: then the character can as well be the end of the one as the beginning
   of the other (white space on both sides of a border), and the lexer makes it the end; or else the other one reads on
   to what no text after the first begins with (``<a></a>`` beside ``<a>``, after which a tag opens): then the lexer
   tries it first, and where it matches it is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from pdacon.base.cancelling import every, look
from pdacon.base.graphs import reachable
from pdacon.frontends.dialects.network import Network
from pdacon.frontends.dialects.segments import Symbols
from pdacon.frontends.machines import Machine
from pdacon.lalr.tables import Tables
from pdacon.regular import Ranges
from pdacon.regular.characters import complement, intersection, union

Guards = list[dict[int, Ranges]]

_MOST_AHEAD = 16


@dataclass(frozen=True, slots=True)
class Cut:
    """How texts are cut.

    Attributes
    ----------
    is_certain : bool
        Whether the lexer finds the cut of a derivation in every sentence.
    guards : Guards
    disputed : Ranges
        Characters that can go on with a terminal as well as begin the next one.
    priorities : tuple of int
        In which order the terminals are to be tried, the greatest first.
    """

    is_certain: bool
    guards: Guards
    disputed: Ranges
    priorities: tuple[int, ...]


def cut_of(symbols: Symbols, network: Network, tables: Tables) -> Cut:
    """See above. Cost: the product of any two terminals of a context that begin alike."""
    return _Cuts(symbols, network, tables).cut()


class _Cuts:
    def __init__(self, symbols: Symbols, network: Network, tables: Tables) -> None:
        self._terminals, self._segments = symbols.terminals, symbols.segments
        self._machines = network.machines
        shifted = tables.action[:, : len(self._terminals)]
        rows = [frozenset(row.nonzero()[0].tolist()) for row in shifted]
        self._contexts = set(rows)
        self._next: list[set[int]] = [set() for _ in self._terminals]
        for state, row in enumerate(rows):
            for terminal in row:
                if (action := int(shifted[state, terminal])) > 0:
                    self._next[terminal] |= rows[action - 1]
        self._first = [union(*terminal.reads[0].values()) for terminal in self._terminals]
        self._follow = [union(*(self._first[terminal] for terminal in some)) for some in self._next]
        self._guards: Guards = [{} for _ in self._terminals]
        self._disputed: list[tuple[int, int]] = []
        self._before: list[set[int]] = [set() for _ in self._terminals]  # those that are tried before each

    def cut(self) -> Cut:
        for terminal in every(range(len(self._terminals)), 1):
            self._read_on(terminal)
        pairs = {pair for context in self._contexts for pair in combinations(sorted(context), 2)}
        apart = [self._tells_apart(*pair) for pair in every(sorted(pairs))]
        order = self._priorities()
        certain = all(apart) and not self._disputed and order is not None
        return Cut(certain, self._guards, union(self._disputed), order or ())

    def _priorities(self) -> tuple[int, ...] | None:
        """Numbers that are greater for what is tried before; None if there is a circle."""
        levels = [0] * len(self._terminals)
        for _ in levels:
            look()
            raised = False
            for terminal, before in enumerate(self._before):
                for earlier in before:
                    if levels[earlier] <= levels[terminal]:
                        levels[earlier], raised = levels[terminal] + 1, True
            if not raised:
                return tuple(levels)
        return None if any(self._before) else tuple(levels)

    def _read_on(self, terminal: int) -> None:
        """The second condition, as far as the terminal itself reads on."""
        machine, follow = self._terminals[terminal], self._follow[terminal]
        for state, accepts in every(enumerate(machine.accepting)):
            for target, ranges in machine.reads[state].items() if accepts else ():
                both = intersection(ranges, follow)
                if both and not (machine.accepting[target] and self._can_be_the_end(terminal, both)):
                    self._disputed += both

    def _can_be_the_end(self, terminal: int, characters: Ranges) -> bool:
        return all(
            self._stays(self._machines[segment.rule], segment.key, intersection(characters, self._first[after]))
            for after in self._next[terminal]
            for segment in self._segments[after]
        )

    @staticmethod
    def _stays(machine: Machine, state: int, characters: Ranges) -> bool:
        return not intersection(characters, complement(machine.reads[state].get(state, ())))

    def _tells_apart(self, first: int, other: int) -> bool:
        """Whether no text is in two terminals of a context; and the second condition for both."""
        if not intersection(self._first[first], self._first[other]):
            return True
        left, right = self._terminals[first], self._terminals[other]

        def after(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
            for p_next, mine in left.reads[pair[0]].items():
                for q_next, its in right.reads[pair[1]].items():
                    if intersection(mine, its):
                        yield p_next, q_next

        alike = False
        for p, q in every(reachable([(0, 0)], after), 1):
            if left.accepting[p] and right.accepting[q]:
                alike = True
            self._guard(first, p, other, q)
            self._guard(other, q, first, p)
        return not alike

    def _guard(self, terminal: int, state: int, other: int, its: int) -> None:
        """Keep a terminal from ending in a state where the other one reads on, or have the other one tried first."""
        machine = self._terminals[terminal]
        further = union(*self._terminals[other].reads[its].values())
        if machine.accepting[state] and further:
            own = union(*machine.reads[state].values())
            disputed = intersection(intersection(further, self._follow[terminal]), complement(own))
            if disputed and not self._may_begin_like(terminal, other, its):
                self._before[terminal].add(other)
                further = intersection(further, complement(disputed))
            else:
                self._disputed += disputed
            guards = self._guards[terminal]
            guards[state] = union(guards.get(state, ()), further)

    def _may_begin_like(self, terminal: int, other: int, its: int) -> bool:
        """Whether a text after a terminal may begin with what the other one, in a state of its own, reads to its end.

        True as well where that is not known after some characters, which the lexer would have to wait for.
        """
        machine = self._terminals[other]
        places = {(its, after, 0) for after in self._next[terminal]}
        for _ in range(_MOST_AHEAD):
            further: set[tuple[int, int, int]] = set()
            for state, reading, at in every(places):
                text = self._terminals[reading]
                for target, mine in machine.reads[state].items():
                    for behind, its_own in text.reads[at].items():
                        if not intersection(mine, its_own):
                            continue
                        if machine.accepting[target]:
                            return True
                        further.add((target, reading, behind))
                        if text.accepting[behind]:
                            further.update((target, after, 0) for after in self._next[reading])
            places = further
            if not places:
                return False
        return True
