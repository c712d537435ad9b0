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
from collections.abc import Iterator
from dataclasses import dataclass

from pdacon.base.cancelling import every, look
from pdacon.base.graphs import reachable
from pdacon.base.quoting import quoted
from pdacon.errors import LimitExceededError
from pdacon.frontends.machines import MOST_CALLED, Machine, Nfa, machine_of
from pdacon.frontends.structural_tags.free_text import SUCH_AS
from pdacon.frontends.structural_tags.pieces import GrammarPiece, LoopPiece, Piece, TextPiece, Token
from pdacon.grammar.expressions import InOrder, OneOf, Repeated
from pdacon.regular import RegularSet

_MOST_TEXT_SETS = 300


@dataclass(frozen=True, slots=True)
class Transition:
    """What may come in a state: texts, perhaps none, then perhaps a grammar or a token, and the state after that.

    ``texts`` has no empty text; None: nothing is read. ``then`` None: the end.
    """

    texts: RegularSet | None
    then: tuple[GrammarPiece | Token, int] | None


@dataclass(frozen=True)
class RightLinearForm:
    """An automaton, of which state 0 is the start: for each state that a symbol leads to, and the start, its steps.

    ``place`` is that of the outermost format, where all texts come from.
    """

    steps: dict[int, tuple[Transition, ...]]
    place: str


def right_linear_form(piece: Piece, place: str) -> RightLinearForm:
    """The normal form of a piece, which comes from the format at ``place``.

    Raises
    ------
    LimitExceededError
        It would be large, or infinite, as that of a piece that has itself within it.
    """
    symbols: dict[str, GrammarPiece | Token] = {}
    for symbol in _symbols(piece):
        symbols.setdefault(_key(symbol), symbol)
    if len(symbols) > MOST_CALLED:
        raise LimitExceededError("states", len(symbols), MOST_CALLED, fixed=True)
    number = {key: k for k, key in enumerate(symbols)}
    nfa = Nfa()
    begin, end = nfa.state(), nfa.state()

    def leaf(node: TextPiece | GrammarPiece | Token, begin: int, end: int) -> None:
        if isinstance(node, TextPiece):
            nfa.texts(node.set.automaton, begin, end)
        else:
            nfa.call(begin, number[_key(node)], end)

    nfa.tree(piece, begin, end, leaf)
    machine = machine_of(nfa.deterministic(begin, [end]))
    return RightLinearForm(_StepFinder(machine, list(symbols.values())).steps(), place)


def _symbols(piece: Piece) -> Iterator[GrammarPiece | Token]:
    """The grammars and tokens, each as often as it is there; of what comes one after the other the last one first."""
    pending = [piece]
    while pending:
        node = pending.pop()
        if isinstance(node, Repeated):
            pending.append(node.item)
        elif isinstance(node, InOrder | OneOf):
            pending += node.items[:: -1 if isinstance(node, OneOf) else 1]
        elif isinstance(node, LoopPiece):  # no automaton has enough states for it
            raise LimitExceededError("states", MOST_CALLED + 1, MOST_CALLED, fixed=True)
        elif not isinstance(node, TextPiece):
            yield node


def _key(symbol: GrammarPiece | Token) -> str:
    return f"part {symbol.grammar.fingerprint}" if isinstance(symbol, GrammarPiece) else f"token {symbol.name}"


class _StepFinder:
    """Steps of an automaton: its edges over characters as sets of texts, those over symbols as they are."""

    def __init__(self, machine: Machine, symbols: list[GrammarPiece | Token]) -> None:
        self._accepting = machine.accepting
        self._symbols = symbols
        self._num_text_sets = 0
        self._over_characters = machine.reads
        self._over_symbols = [tuple(sorted(calls.items())) for calls in machine.calls]

    def steps(self) -> dict[int, tuple[Transition, ...]]:
        """The steps of the start and of each state after a symbol; none at all if there is no text."""
        steps: dict[int, tuple[Transition, ...]] = {}
        pending = [0] if self._accepting else []
        while pending:
            look()
            state = pending.pop()
            if state not in steps:
                steps[state] = tuple(self._steps_from(state))
                pending += [step.then[1] for step in steps[state] if step.then is not None]
        return steps

    def _steps_from(self, start: int) -> Iterator[Transition]:
        """The steps of a state: what it reaches over characters is grouped by the symbols that leave it."""
        states = list(reachable([start], self._over_characters.__getitem__))
        index = {state: place for place, state in enumerate(states)}
        groups: defaultdict[tuple[tuple[tuple[int, int], ...], bool], list[int]] = defaultdict(list)
        for state in states:
            groups[self._over_symbols[state], self._accepting[state]].append(state)
        for (symbols, may_end), group in every(groups.items(), 1):
            if not symbols and not may_end:
                continue
            continuations: list[tuple[GrammarPiece | Token, int] | None] = [
                (self._symbols[symbol], target) for symbol, target in symbols
            ]
            continuations += [None] if may_end else []
            texts = self._texts_to(index, states, set(group))
            choices: list[RegularSet | None] = ([texts] if texts else []) + ([None] if start in group else [])
            yield from (Transition(choice, then) for choice in choices for then in continuations)

    def _texts_to(self, index: dict[int, int], states: list[int], ends: set[int]) -> RegularSet:
        """The texts that lead from the first of the states to one of ``ends``, but for the empty one."""
        self._num_text_sets += 1
        if self._num_text_sets > _MOST_TEXT_SETS:
            raise LimitExceededError("states", self._num_text_sets, _MOST_TEXT_SETS, fixed=True)
        nfa = Nfa()
        own = [nfa.state() for _ in states]
        begin = nfa.state()  # the start once more, where no text ends yet
        for copy, state in (*zip(own, states, strict=True), (begin, states[0])):
            for target, ranges in self._over_characters[state].items():
                nfa.read(copy, ranges, own[index[target]])
        automaton = nfa.deterministic(begin, [copy for copy, state in zip(own, states, strict=True) if state in ends])
        texts = RegularSet(automaton, SUCH_AS)
        return texts.named(f"{SUCH_AS}{quoted(texts.shortest() or '')}")
