"""Lexical dead ends: places from which the rules go on and no text does, and alternatives that no text uses.

In: which LR states texts lead to (`reachability`). Out: findings PDA015 and PDA013. A terminal is dead in a place if
the rules shift it there and the lexer never cuts it there; what the rules lead to after it is followed without a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from pdacon.base.bit_sets import members
from pdacon.base.graphs import reachable
from pdacon.base.once import memoized
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import Examples
from pdacon.determinism.language.neighbours import Neighbours
from pdacon.determinism.language.reachability import Follower, Reach
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.grammar import GrammarData
from pdacon.lalr import Tables


@dataclass(slots=True)
class _Wants:
    """What the rules would go on with after the terminals that texts lead to."""

    # For an LR state: the terminals that the rules shift there and that cannot be read, each with the place (an LR
    # state after a terminal) in which it cannot be read.
    terminals: dict[int, dict[int, int]] = field(default_factory=dict)
    passed: set[int] = field(default_factory=set)  # The LR states that the rules lead to from such places


@dataclass(frozen=True, slots=True)
class _DeadEnd:
    """A finding, and the alternatives that it is about, each of which is a line at the end of its message."""

    finding: Finding
    items: tuple[str, ...]

    @property
    def position(self) -> int:
        """How many lexemes the example has before it."""
        return 0 if self.finding.witness is None else self.finding.witness.position

    def with_another(self, other: _DeadEnd) -> _DeadEnd:
        """The finding with the alternatives that another one of its title is about."""
        first, second = self.finding, other.finding
        further = tuple(item for item in other.items if item not in self.items)
        places = [first.span, *(span for _, span in first.related)]
        here = () if second.span is None or second.span in places else (("and here", second.span),)
        finding = replace(
            first,
            message="\n".join([first.message, *map(_line, further)]),
            symbols=tuple(dict.fromkeys([*first.symbols, *second.symbols])),
            related=(*first.related, *here),
        )
        return _DeadEnd(finding, self.items + further)


class DeadEnds:
    """What the rules allow and the lexer does not, in one grammar."""

    def __init__(
        self,
        tables: Tables,
        texts: WitnessTexts,
        examples: Examples,
        follower: Follower,
        reach: Reach,
        never: Iterable[int],
        deadline: Deadline,
    ) -> None:
        self._grammar: GrammarData = texts.grammar
        self._tables = tables
        self._texts = texts
        self._examples = examples
        self._follower = follower
        self._reach = reach
        self._never = frozenset(never)
        self._deadline = deadline
        self._neighbours = Neighbours(texts)

    def findings(self) -> list[Finding]:
        """PDA015 and, for alternatives, PDA013.

        PDA015, a warning: some text is read up to a symbol of an alternative and no text whatever is read past it,
        because no text is cut so that a terminal that the rules want there comes next. Also each place from which no
        text goes on at all. PDA013, a warning: the same, but it is a conflict, settled by a shift, that keeps the
        parser from going on.

        Never a false alarm; what only the stack further down rules out is found where ``reach`` knows of it, and one
        place keeps an alternative from being read. Terminals that are never matched (PDA010) or never made (PDA009)
        are left to these findings. A repetition of a terminal that takes all
        of the repeated text at once, such as ``WS+`` of ``/[ ]+/``, is fine.
        """
        lost = [k for k in range(len(self._grammar.productions)) if k not in self._reach.reduced]
        if not lost and not self._reach.stuck:
            return []
        wants = self._wants()
        dead_ends: dict[tuple[object, ...], _DeadEnd] = {}
        for production in lost:
            self._deadline.require()
            for key, dead_end in self._blocked(production, wants):
                dead_ends.setdefault(key, dead_end)
        for state in sorted(self._reach.stuck):
            wanted = wants.terminals.get(state) or dict.fromkeys(members(self._follower.shifts[state]), state)
            wanted = {t: place for t, place in wanted.items() if t not in self._never}
            if wanted and not any(key[0] in wanted.values() for key in dead_ends):
                key = (state, *sorted(wanted))
                dead_ends.setdefault(key, self._dead_end(wanted, None))
        # What one change of the terminals mends is one finding, with the shortest example.
        together: dict[str, _DeadEnd] = {}
        for dead_end in sorted(dead_ends.values(), key=lambda dead_end: dead_end.position):
            first = together.setdefault(dead_end.finding.title, dead_end)
            if first is not dead_end:
                together[dead_end.finding.title] = first.with_another(dead_end)
        return [dead_end.finding for dead_end in together.values()]

    def _wants(self) -> _Wants:
        """Go on from each place with what the rules allow there and no text brings."""
        wants = _Wants()
        back = self._follower.back(self._reach)
        for place in self._reach.places:
            self._deadline.require()
            allowed = self._follower.allowed(place)
            missing = allowed & ~self._reach.next.get(place, 0)
            for state, lookaheads in self._follower.walk(place, missing, back):
                wants.passed.add(state)
                for terminal in members(lookaheads & self._follower.shifts[state]):
                    if not self._reach.shifted.get(state, 0) >> terminal & 1:
                        wants.terminals.setdefault(state, {}).setdefault(terminal, place)
        return wants

    def _blocked(self, production: int, wants: _Wants) -> Iterator[tuple[tuple[object, ...], _DeadEnd]]:
        """What keeps a production from being reduced, if it is something right here."""
        rhs = self._grammar.productions[production].rhs
        dot, states = self._furthest(production, wants.passed | self._reach.passed)
        if dot < 0 or dot == len(rhs) or rhs[dot] in self._never:
            return
        blocked: dict[int, dict[int, int]] = {}
        for state in states:
            wanted = wants.terminals.get(state, {})
            firsts = self._first_terminals(state, rhs[dot])
            if self._reach.shifted.get(state, 0) & sum(1 << t for t in firsts):
                return  # Some text goes on into the symbol: what stops it is further down.
            at = {t: wanted[t] for t in sorted(firsts) if t in wanted and t not in self._never}
            if at:
                blocked[state] = at
        if blocked:
            state = min(blocked, key=lambda s: (len(self._examples.prefix(s) or ()), s))
            if not self._harmless(production, dot, blocked[state]):
                yield (
                    (next(iter(blocked[state].values())), *blocked[state]),
                    self._dead_end(blocked[state], production, dot),
                )
        elif dot > 0 and rhs[dot] < self._grammar.end and self._is_settled(rhs[dot]):
            yield ("settled", rhs[dot], *states), self._never_used(states, rhs[dot])

    def _furthest(self, production: int, passed: set[int]) -> tuple[int, list[int]]:
        """The last place in a production that texts, or the rules from there, lead to; and the LR states there."""
        best = -1
        states: list[int] = []
        for dot, state in self._places_in[production]:
            if dot >= best and state in passed:
                states = [*states, state] if dot == best else [state]
                best = dot
        return best, states

    @cached_property
    def _places_in(self) -> list[list[tuple[int, int]]]:
        """For each production the LR states that are in it, with how far they are; ascending by state."""
        found: list[list[tuple[int, int]]] = [[] for _ in self._grammar.productions]
        for state in range(self._tables.num_states):
            for number, dot in self._items_of(state):
                if number < len(found):
                    found[number].append((dot, state))
        return found

    def _items_of(self, state: int) -> list[tuple[int, int]]:
        return self._items_of_origin(int(self._tables.origin[state]))

    @memoized
    def _items_of_origin(self, state: int) -> list[tuple[int, int]]:
        return self._tables.items(state)

    def _first_terminals(self, state: int, symbol: int) -> set[int]:
        """The terminals that a state shifts to begin a symbol."""
        productions = self._grammar.productions
        begun = [productions[k] for k, dot in self._items_of(state) if k < len(productions) and not dot]

        def beginnings(lhs: int) -> Iterator[int]:
            return (production.rhs[0] for production in begun if production.lhs == lhs and production.rhs)

        return {begin for begin in reachable([symbol], beginnings) if begin < self._grammar.end}

    def _harmless(self, production: int, dot: int, blocked: dict[int, int]) -> bool:
        """Whether it is a repetition whose terminal takes what would be repeated."""
        lhs = self._grammar.productions[production].lhs
        if not self._grammar.nonterminals[lhs - self._grammar.end - 1].repeats or dot == 0:
            return False
        return all(int(self._tables.accessing[place]) == terminal for terminal, place in blocked.items())

    def _is_settled(self, terminal: int) -> bool:
        return any(c.terminal == terminal and c.kind == "shift/reduce" for c in self._tables.conflicts)

    def _dead_end(self, wanted: dict[int, int], production: int | None, dot: int = 0) -> _DeadEnd:
        grammar = self._grammar
        place = next(iter(wanted.values()))
        before = int(self._tables.accessing[place])
        prefix = self._examples.prefix(place) or ()
        items: tuple[str, ...] = ()
        rule, span = "", None
        if production is not None:
            record = grammar.productions[production]
            items = (grammar.describe_item(production, dot),)
            rule, span = record.rule, record.span
        elif 0 <= before < grammar.end:
            span = grammar.terminals[before].span
        lines = ["So no text is read past the dot:", *map(_line, items)] if items else []
        finding = self._neighbours.unread("warning", before, [*wanted], prefix, lines, span, filter(None, [rule]))
        return _DeadEnd(finding, items)

    def _never_used(self, states: list[int], terminal: int) -> _DeadEnd:
        grammar = self._grammar
        shown = grammar.describe_symbol(terminal)
        prefix = min((self._examples.prefix(state) or () for state in states), key=len)
        items = [
            (k, dot)
            for k, dot in self._items_of(states[0])
            if k < len(grammar.productions) and dot and grammar.productions[k].rhs[dot : dot + 1] == (terminal,)
        ]
        described = tuple(grammar.describe_item(k, dot) for k, dot in items)
        rules = list(dict.fromkeys(grammar.productions[k].rule for k, _ in items))
        whose = ", ".join(map(grammar.describe_name, rules))
        lines = [
            f"The parser never goes on with {shown} here, because of a shift/reduce conflict on it in which it takes "
            "the other way:",
            *map(_line, described),
        ]
        finding = Finding(
            id="PDA013",
            level="warning",
            title=f"{TITLES['PDA013']}: {'alternatives' if len(items) > 1 else 'an alternative'} of {whose}",
            message="\n".join(lines),
            span=grammar.productions[items[0][0]].span,
            symbols=(*rules, grammar.terminals[terminal].name),
            witness=Witness((*prefix, shown), len(prefix)),
            repair=f"settle the conflict on {shown} in the rules (see its finding), or remove what is never used.",
            cause="settled-conflict",
        )
        return _DeadEnd(finding, described)


def _line(item: str) -> str:
    return f"  {item}"
