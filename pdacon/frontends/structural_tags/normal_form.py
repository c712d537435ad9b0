"""A structural tag as the least automaton over characters, grammars and special tokens, and its rules.

In: a piece. Out: the rules of the same texts in which, after each grammar or token, sets of texts say what comes next:
for each set of grammars and tokens that may come then, the texts after which it is just these. So texts that meet are
one set, alternatives that begin alike are told apart where they differ, and pieces that come twice are one. A symbol
stands for each grammar and each token: a surrogate, which no text has.

Source: M. Rabin and D. Scott, "Finite Automata and Their Decision Problems" (1959), for the subset construction;
N. Chomsky and G. Miller, "Finite State Languages" (1958), for an automaton as right-linear rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pdacon.base.cancelling import every, look
from pdacon.base.quoting import quoted
from pdacon.errors import LimitExceededError
from pdacon.frontends.structural_tags.free_text import SUCH_AS
from pdacon.frontends.structural_tags.pieces import Part, Piece, Texts, Token
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.regular import Ranges
from pdacon.regular.automata import Dfa, Numbered, determinized
from pdacon.regular.regular_set import RegularSet

_SYMBOLS = 0xD800
_MOST_SYMBOLS = 0x800
_MOST_POSITIONS = 100_000
_MOST_STATES = 50_000
_MOST_TEXTS = 300


@dataclass(frozen=True, slots=True)
class Step:
    """What may come in a state: texts, perhaps none, then perhaps a grammar or a token, and the state after that.

    ``texts`` has no empty text; None: nothing is read. ``then`` None: the end.
    """

    texts: RegularSet | None
    then: tuple[Part | Token, int] | None


@dataclass(frozen=True)
class NormalForm:
    """An automaton, of which state 0 is the start: for each state that a symbol leads to, and the start, its steps.

    ``place`` is that of the outermost format, where all texts come from.
    """

    steps: dict[int, tuple[Step, ...]]
    place: str


def normal_form(piece: Piece, place: str) -> NormalForm:
    """The normal form of a piece, which comes from the format at ``place``.

    Raises
    ------
    LimitExceededError
        It would be large.
    """
    positions = _Positions()
    end = positions.add()
    begin = positions.piece(piece, end)
    return NormalForm(_Splitting(positions.automaton(begin, end), positions.symbols).steps(), place)


@dataclass
class _Positions:
    """A nondeterministic automaton: of each position the edges, and the positions that are there without reading.

    ``symbols`` are grammars and tokens in the order of their surrogates.
    """

    edges: list[list[tuple[Ranges, int]]] = field(default_factory=list)
    silent: list[list[int]] = field(default_factory=list)
    symbols: list[Part | Token] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, *silent: int) -> int:
        if len(self.edges) == _MOST_POSITIONS:
            raise LimitExceededError("states", _MOST_POSITIONS + 1, _MOST_POSITIONS, fixed=True)
        self.edges.append([])
        self.silent.append(list(silent))
        return len(self.edges) - 1

    def piece(self, piece: Piece, then: int) -> int:
        """The position before a piece, of that after it."""
        if isinstance(piece, Texts):
            return self._texts(piece.set.automaton, then)
        if isinstance(piece, InOrder):
            for one in reversed(piece.items):
                then = self.piece(one, then)
            return then
        if isinstance(piece, OneOf):
            return self.add(*[self.piece(one, then) for one in piece.items])
        if isinstance(piece, Repeated):
            return self._repeated(piece, then)
        own = self.add()
        symbol = self._symbol(piece)
        self.edges[own].append((((symbol, symbol),), then))
        return own

    def _texts(self, texts: Dfa, then: int) -> int:
        states = [self.add(*([then] if accepts else [])) for accepts in texts.accepting()]
        for state, row in zip(states, texts.edges(), strict=True):
            self.edges[state] += [(ranges, states[target]) for target, ranges in row.items()]
        return states[0] if states else self.add()

    def _repeated(self, piece: Repeated[Texts | Part | Token], then: int) -> int:
        if piece.most is None:
            before = self.add(then)
            self.silent[before].append(self.piece(piece.item, before))
        else:
            before = then
            for _ in range(piece.most - piece.least):
                before = self.add(self.piece(piece.item, before), then)
        for _ in range(piece.least):
            before = self.piece(piece.item, before)
        return before

    def _symbol(self, piece: Part | Token) -> int:
        key = f"part {piece.grammar.fingerprint}" if isinstance(piece, Part) else f"token {piece.name}"
        if key not in self._numbers:
            if len(self.symbols) == _MOST_SYMBOLS:
                raise LimitExceededError("states", _MOST_SYMBOLS + 1, _MOST_SYMBOLS, fixed=True)
            self._numbers[key] = len(self.symbols)
            self.symbols.append(piece)
        return _SYMBOLS + self._numbers[key]

    def automaton(self, begin: int, end: int) -> Dfa:
        """The least automaton from one position to another one."""
        lists = Numbered()
        sets: dict[Ranges, int] = {}
        rows = [
            [(sets.setdefault(ranges, len(sets)), lists.number(self._closure(target))) for ranges, target in row]
            for row in every(self.edges)
        ]
        start = lists.number(self._closure(begin))
        accepting = [position == end for position in range(len(rows))]
        return determinized(sets, rows, accepting, -1, lists, start, _MOST_STATES)

    def _closure(self, position: int) -> Iterable[int]:
        """The positions that are there without reading."""
        seen, pending = {position}, [position]
        while pending:
            new = [one for one in self.silent[pending.pop()] if one not in seen]
            seen.update(new)
            pending += new
        return sorted(seen)


class _Splitting:
    """Steps of an automaton: its edges over characters as sets of texts, those over symbols as they are."""

    def __init__(self, automaton: Dfa, symbols: list[Part | Token]) -> None:
        self._accepting = automaton.accepting()
        self._symbols = symbols
        self._texts = 0
        self._over_characters: list[dict[int, Ranges]] = []
        self._over_symbols: list[tuple[tuple[int, int], ...]] = []
        last = _SYMBOLS + _MOST_SYMBOLS - 1
        for row in automaton.edges():
            characters: dict[int, Ranges] = {}
            own: list[tuple[int, int]] = []
            for target, ranges in row.items():
                for low, high in ranges:
                    if low < _SYMBOLS:
                        characters[target] = (*characters.get(target, ()), (low, min(high, _SYMBOLS - 1)))
                    if high > last:
                        characters[target] = (*characters.get(target, ()), (max(low, last + 1), high))
                    own += [(one, target) for one in range(max(low, _SYMBOLS), min(high, last) + 1)]
            self._over_characters.append(characters)
            self._over_symbols.append(tuple(sorted(own)))

    def steps(self) -> dict[int, tuple[Step, ...]]:
        steps: dict[int, tuple[Step, ...]] = {}
        pending = [0] if self._accepting else []
        while pending:
            look()
            state = pending.pop()
            if state not in steps:
                steps[state] = tuple(self._of(state))
                pending += [one.then[1] for one in steps[state] if one.then is not None]
        return steps

    def _of(self, state: int) -> Iterator[Step]:
        order = {state: 0}
        for one in (states := [state]):  # grows
            for target in self._over_characters[one]:
                if target not in order:
                    order[target] = len(states)
                    states.append(target)
        kinds: defaultdict[tuple[tuple[tuple[int, int], ...], bool], list[int]] = defaultdict(list)
        for one in states:
            kinds[self._over_symbols[one], self._accepting[one]].append(one)
        for (symbols, may_end), ends in every(kinds.items(), 1):
            if not symbols and not may_end:
                continue
            after: list[tuple[Part | Token, int] | None] = [
                (self._symbols[symbol - _SYMBOLS], target) for symbol, target in symbols
            ]
            after += [None] if may_end else []
            texts = self._texts_to(order, states, set(ends))
            before: list[RegularSet | None] = ([texts] if texts else []) + ([None] if state in ends else [])
            yield from (Step(one, then) for one in before for then in after)

    def _texts_to(self, order: dict[int, int], states: list[int], ends: set[int]) -> RegularSet:
        """The texts from the first state to some others, but for the empty one."""
        self._texts += 1
        if self._texts > _MOST_TEXTS:
            raise LimitExceededError("states", self._texts, _MOST_TEXTS, fixed=True)
        lists = Numbered()
        sets: dict[Ranges, int] = {}
        rows = [
            [(sets.setdefault(ranges, len(sets)), lists.number([order[target]])) for target, ranges in row.items()]
            for row in (self._over_characters[one] for one in states)
        ]
        # The start once more, where no text ends yet.
        rows.append(rows[0])
        accepting = [one in ends for one in states]
        automaton = determinized(sets, rows, [*accepting, False], -1, lists, lists.number([len(states)]), _MOST_STATES)
        texts = RegularSet(automaton, SUCH_AS)
        return texts.named(f"{SUCH_AS}{quoted(texts.shortest() or '')}")
