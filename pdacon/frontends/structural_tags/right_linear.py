"""A structural tag as right-linear rules of a deterministic automaton.

In: a piece. Out: for the start, and for each state that follows a grammar or a token, the steps: a set of texts, then
one grammar or token, or the end, and the state after it. Texts of one state that are followed by the same are one set,
so that alternatives with a common beginning part where they differ. The automaton's alphabet is the characters and, for
each grammar and each token, a surrogate, which no text has. ``making`` asks for it where the rules as they stand do not
say where a piece ends.

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

_FIRST_SYMBOL = 0xD800
_MOST_SYMBOLS = 0x800  # the surrogates
_MOST_POSITIONS = 100_000  # of the nondeterministic automaton
_MOST_STATES = 50_000  # of a deterministic one
_MOST_TEXT_SETS = 300


@dataclass(frozen=True, slots=True)
class Step:
    """What may come in a state: texts, perhaps none, then perhaps a grammar or a token, and the state after that.

    ``texts`` has no empty text; None: nothing is read. ``then`` None: the end.
    """

    texts: RegularSet | None
    then: tuple[Part | Token, int] | None


@dataclass(frozen=True)
class RightLinearForm:
    """An automaton, of which state 0 is the start: for each state that a symbol leads to, and the start, its steps.

    ``place`` is that of the outermost format, where all texts come from.
    """

    steps: dict[int, tuple[Step, ...]]
    place: str


def right_linear_form(piece: Piece, place: str) -> RightLinearForm:
    """The normal form of a piece, which comes from the format at ``place``.

    Raises
    ------
    LimitExceededError
        It would be large.
    """
    nfa = _Nfa()
    end = nfa.add()
    begin = nfa.before(piece, end)
    return RightLinearForm(_StepFinder(nfa.automaton(begin, end), nfa.symbols).steps(), place)


@dataclass
class _Nfa:
    """A nondeterministic automaton: of each position the edges, and its epsilon successors.

    ``symbols`` are grammars and tokens in the order of their surrogates.
    """

    edges: list[list[tuple[Ranges, int]]] = field(default_factory=list)
    epsilon: list[list[int]] = field(default_factory=list)
    symbols: list[Part | Token] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, *epsilon: int) -> int:
        """A new position with these epsilon successors."""
        if len(self.edges) == _MOST_POSITIONS:
            raise LimitExceededError("states", _MOST_POSITIONS + 1, _MOST_POSITIONS, fixed=True)
        self.edges.append([])
        self.epsilon.append(list(epsilon))
        return len(self.edges) - 1

    def before(self, piece: Piece, after: int) -> int:
        """The position from which a piece is read that ends at ``after``: what is read is built from its end."""
        if isinstance(piece, Texts):
            return self._texts(piece.set.automaton, after)
        if isinstance(piece, InOrder):
            for item in reversed(piece.items):
                after = self.before(item, after)
            return after
        if isinstance(piece, OneOf):
            return self.add(*[self.before(item, after) for item in piece.items])
        if isinstance(piece, Repeated):
            return self._repeated(piece, after)
        position = self.add()
        symbol = self._symbol(piece)
        self.edges[position].append((((symbol, symbol),), after))
        return position

    def _texts(self, texts: Dfa, after: int) -> int:
        states = [self.add(*([after] if accepts else [])) for accepts in texts.accepting()]
        for state, row in zip(states, texts.edges(), strict=True):
            self.edges[state] += [(ranges, states[target]) for target, ranges in row.items()]
        return states[0] if states else self.add()

    def _repeated(self, piece: Repeated[Texts | Part | Token], after: int) -> int:
        """Optional copies, nested, before what comes after; then those that have to be there, in front of them."""
        if piece.most is None:
            before = self.add(after)
            self.epsilon[before].append(self.before(piece.item, before))
        else:
            before = after
            for _ in range(piece.most - piece.least):
                before = self.add(self.before(piece.item, before), after)
        for _ in range(piece.least):
            before = self.before(piece.item, before)
        return before

    def _symbol(self, piece: Part | Token) -> int:
        key = f"part {piece.grammar.fingerprint}" if isinstance(piece, Part) else f"token {piece.name}"
        if key not in self._numbers:
            if len(self.symbols) == _MOST_SYMBOLS:
                raise LimitExceededError("states", _MOST_SYMBOLS + 1, _MOST_SYMBOLS, fixed=True)
            self._numbers[key] = len(self.symbols)
            self.symbols.append(piece)
        return _FIRST_SYMBOL + self._numbers[key]

    def automaton(self, begin: int, end: int) -> Dfa:
        """The least automaton from one position to another one."""
        position_lists = Numbered()
        set_numbers: dict[Ranges, int] = {}
        rows = [
            [
                (set_numbers.setdefault(ranges, len(set_numbers)), position_lists.number(self._closure(target)))
                for ranges, target in row
            ]
            for row in every(self.edges)
        ]
        start = position_lists.number(self._closure(begin))
        accepting = [position == end for position in range(len(rows))]
        return determinized(set_numbers, rows, accepting, -1, position_lists, start, _MOST_STATES)

    def _closure(self, position: int) -> Iterable[int]:
        """A position with all that it leads to without reading."""
        seen, pending = {position}, [position]
        while pending:
            new = [successor for successor in self.epsilon[pending.pop()] if successor not in seen]
            seen.update(new)
            pending += new
        return sorted(seen)


class _StepFinder:
    """Steps of an automaton: its edges over characters as sets of texts, those over symbols as they are."""

    def __init__(self, automaton: Dfa, symbols: list[Part | Token]) -> None:
        self._accepting = automaton.accepting()
        self._symbols = symbols
        self._num_text_sets = 0
        self._over_characters: list[dict[int, Ranges]] = []
        self._over_symbols: list[tuple[tuple[int, int], ...]] = []
        last_symbol = _FIRST_SYMBOL + _MOST_SYMBOLS - 1
        for row in automaton.edges():
            characters: dict[int, Ranges] = {}
            symbol_edges: list[tuple[int, int]] = []
            for target, ranges in row.items():
                for low, high in ranges:
                    if low < _FIRST_SYMBOL:
                        characters[target] = (*characters.get(target, ()), (low, min(high, _FIRST_SYMBOL - 1)))
                    if high > last_symbol:
                        characters[target] = (*characters.get(target, ()), (max(low, last_symbol + 1), high))
                    symbols_here = range(max(low, _FIRST_SYMBOL), min(high, last_symbol) + 1)
                    symbol_edges += [(symbol, target) for symbol in symbols_here]
            self._over_characters.append(characters)
            self._over_symbols.append(tuple(sorted(symbol_edges)))

    def steps(self) -> dict[int, tuple[Step, ...]]:
        """The steps of the start and of each state after a symbol; none at all if there is no text."""
        steps: dict[int, tuple[Step, ...]] = {}
        pending = [0] if self._accepting else []
        while pending:
            look()
            state = pending.pop()
            if state not in steps:
                steps[state] = tuple(self._steps_from(state))
                pending += [step.then[1] for step in steps[state] if step.then is not None]
        return steps

    def _steps_from(self, start: int) -> Iterator[Step]:
        """The steps of a state: what it reaches over characters is grouped by the symbols that leave it."""
        index = {start: 0}
        for state in (states := [start]):  # grows
            for target in self._over_characters[state]:
                if target not in index:
                    index[target] = len(states)
                    states.append(target)
        groups: defaultdict[tuple[tuple[tuple[int, int], ...], bool], list[int]] = defaultdict(list)
        for state in states:
            groups[self._over_symbols[state], self._accepting[state]].append(state)
        for (symbols, may_end), group in every(groups.items(), 1):
            if not symbols and not may_end:
                continue
            continuations: list[tuple[Part | Token, int] | None] = [
                (self._symbols[symbol - _FIRST_SYMBOL], target) for symbol, target in symbols
            ]
            continuations += [None] if may_end else []
            texts = self._texts_to(index, states, set(group))
            choices: list[RegularSet | None] = ([texts] if texts else []) + ([None] if start in group else [])
            yield from (Step(choice, then) for choice in choices for then in continuations)

    def _texts_to(self, index: dict[int, int], states: list[int], ends: set[int]) -> RegularSet:
        """The texts that lead from the first of the states to one of ``ends``, but for the empty one."""
        self._num_text_sets += 1
        if self._num_text_sets > _MOST_TEXT_SETS:
            raise LimitExceededError("states", self._num_text_sets, _MOST_TEXT_SETS, fixed=True)
        state_lists = Numbered()
        set_numbers: dict[Ranges, int] = {}
        rows = [
            [
                (set_numbers.setdefault(ranges, len(set_numbers)), state_lists.number([index[target]]))
                for target, ranges in self._over_characters[state].items()
            ]
            for state in states
        ]
        # The start once more, where no text ends yet.
        rows.append(rows[0])
        accepting = [*(state in ends for state in states), False]
        start = state_lists.number([len(states)])
        automaton = determinized(set_numbers, rows, accepting, -1, state_lists, start, _MOST_STATES)
        texts = RegularSet(automaton, SUCH_AS)
        return texts.named(f"{SUCH_AS}{quoted(texts.shortest() or '')}")
