"""Values behind blanks, of which some are texts that may begin with blanks of their own -> pieces in which it is known
at each character which blanks are which.

In: the blanks, a set of texts that has them in it, and the pieces that come behind them. Out: for each choice of blanks
that the texts go on behind in the same way, the blanks and what is behind them.

Source: J. Brzozowski, "Derivatives of Regular Expressions" (1964), for what a set has behind a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pdacon.base.cancelling import every, look
from pdacon.frontends.machines import Nfa
from pdacon.frontends.structural_tags.pieces import TextPiece
from pdacon.regular import Ranges, RegularSet
from pdacon.regular.characters import difference, intersection, union

_Edges: TypeAlias = Sequence[dict[int, Ranges]]
_Pair: TypeAlias = tuple[int, int]
_DEAD = -1


def by_blanks(texts: TextPiece, blanks: RegularSet) -> Iterator[tuple[RegularSet, TextPiece | None]]:
    """The texts as blanks and what is behind them: each text begins with the longest blanks that it can.

    Parameters
    ----------
    blanks : RegularSet
        Each beginning of one of them is one of them, too; the empty one is.

    Yields
    ------
    tuple of RegularSet and TextPiece or None
        Some blanks, and all that texts have behind each of these; None: nothing. All blanks are in one of the sets.
    """
    own, of_texts = _edges(blanks), _edges(texts.set)
    steps = _pairs(own, of_texts)
    behind: dict[RegularSet | None, list[_Pair]] = {}
    for pair in every(steps, 1):
        further = union(*own[pair[0]].values())
        behind.setdefault(_from(texts.set, of_texts, pair[1], further), []).append(pair)
    for rest, pairs in behind.items():
        yield _leading_to(steps, pairs), None if rest is None else TextPiece(rest, texts.place)


def _edges(texts: RegularSet) -> _Edges:
    return list(texts.automaton.edges())


def _pairs(blanks: _Edges, texts: _Edges) -> dict[_Pair, list[tuple[Ranges, _Pair]]]:
    """The states of both automata that blanks lead to, and the steps from each; the second may be none."""
    start = (0, 0 if texts else _DEAD)
    steps: dict[_Pair, list[tuple[Ranges, _Pair]]] = {}
    pending = [start]
    while pending:
        look()
        pair = pending.pop()
        if pair in steps:
            continue
        steps[pair] = []
        for target, ranges in blanks[pair[0]].items():
            left = ranges
            for other, read in texts[pair[1]].items() if pair[1] != _DEAD else ():
                if common := intersection(ranges, read):
                    steps[pair].append((common, (target, other)))
                    left = difference(left, common)
            if left:
                steps[pair].append((left, (target, _DEAD)))
        pending += [target for _, target in steps[pair]]
    return steps


def _leading_to(steps: dict[_Pair, list[tuple[Ranges, _Pair]]], ends: Sequence[_Pair]) -> RegularSet:
    """The blanks that lead to some of the states."""
    nfa = Nfa()
    states = {pair: nfa.state() for pair in steps}
    for pair, own in steps.items():
        for ranges, target in own:
            nfa.read(states[pair], ranges, states[target])
    start = next(iter(states.values()))
    return RegularSet(nfa.deterministic(start, [states[pair] for pair in ends]), "blanks")


def _from(texts: RegularSet, edges: _Edges, state: int, further: Ranges) -> RegularSet | None:
    """What the automaton of texts reads from a state on, but for what begins with certain characters; None: nothing."""
    if state == _DEAD:
        return None
    nfa = Nfa()
    states = [nfa.state() for _ in edges]
    begin = nfa.state()
    for at, row in enumerate(edges):
        for target, ranges in row.items():
            nfa.read(states[at], ranges, states[target])
    for target, ranges in edges[state].items():
        nfa.read(begin, difference(ranges, further), states[target])
    ends = [own for own, accepts in zip(states, texts.automaton.accepting(), strict=True) if accepts]
    rest = RegularSet(nfa.deterministic(begin, [*ends, *([begin] if states[state] in ends else [])]), texts.name)
    return rest or None
