"""What the parser reduces before a lookahead, without a walk along what empty rules come to.

A chain of reduces of empty rules can be as long as 2 to the number of rules: ``a40: a39 a39``, ..., ``a0:``. But what
the reduces before one lookahead do above a state depends on that state alone, until they pop it. So it is found once
for each state, from what they do above the state that the empty rule leaves on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pdacon.pda.stack import Stack


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What becomes of a state on top of the stack.

    "fails": an error, or the chain never ends. "shifts": the lookahead can be shifted with ``above`` on the state, and
    on that what ``above`` leads to in its turn; None: with nothing on it. "pops": a rule of ``lhs`` is reduced that
    pops ``length`` states, this one the first.
    """

    kind: Literal["fails", "shifts", "pops"]
    above: int | None = None
    lhs: int = -1
    length: int = 0


_FAILS, _SHIFTS = _Outcome("fails"), _Outcome("shifts")


@dataclass(slots=True)
class _Open:
    """An empty rule has been reduced on a state, and left another one on it."""

    state: int
    above: int
    moves: int = 0  # how often a reduce has put another one in its place


class Reduces:
    """The reduces of a grammar's tables. It remembers what chains of empty rules come to.

    Parameters
    ----------
    action, goto
        Those of the tables: a list for each state, and the next state by nonterminal.
    productions
        Of each production the left-hand side, counted as in ``goto``, and the number of its symbols.
    """

    def __init__(
        self, action: list[list[int]], goto: list[dict[int, int]], productions: Sequence[tuple[int, int]]
    ) -> None:
        self._action = action
        self._goto = goto
        self._productions = productions
        self._most_moves = max(map(len, goto), default=0) + 1
        self._outcomes: dict[tuple[int, int], _Outcome] = {}

    def chain(self, stack: Stack, lookahead: int) -> Iterator[Stack]:
        """The stack, and the stack after each reduce before one lookahead.

        Of empty rules that are reduced above the second state there is only what it all comes to. Where the last stack
        asks for a reduce, that pops more than there is, or comes to an error, or never ends.
        Where priority settles the conflicts of a cyclic grammar Lark may reduce for ever: the text is not accepted.

        Cost: for each state that is popped at most one reduce for each nonterminal.
        """
        yield stack
        moves = 0  # reduces one after the other that have popped one state each
        while (action := self._action[stack.state][lookahead]) < 0:
            lhs, length = self._productions[-action - 1]
            if length == 0 and stack.below is not None:
                found = self._find(stack.state, lookahead)
                if found.kind == "shifts":
                    yield self._pushed(stack, found, lookahead)
                if found.kind != "pops":
                    return
                lhs, length = found.lhs, found.length
            moves = moves + 1 if length == 1 else 0
            if length >= len(stack) or moves > self._most_moves:
                return
            below = stack.pop(length)
            target = self._goto[below.state].get(lhs)
            if target is None:
                return
            stack = below.push(target)
            yield stack

    def _pushed(self, stack: Stack, found: _Outcome, lookahead: int) -> Stack:
        while found.above is not None:
            stack = stack.push(found.above)
            found = self._find(found.above, lookahead)
        return stack

    def _find(self, state: int, lookahead: int) -> _Outcome:
        known = self._known(state, lookahead)
        if known is not None:
            return known
        pending = [self._begin(state, lookahead)]
        while pending:
            found = self._follow(pending[-1], lookahead)
            if found is None:
                pending.append(self._begin(pending[-1].above, lookahead))
            else:
                self._outcomes[pending.pop().state, lookahead] = found
        return self._outcomes[state, lookahead]

    def _known(self, state: int, lookahead: int) -> _Outcome | None:
        """None: an empty rule is reduced, and it is not known yet what that comes to."""
        action = self._action[state][lookahead]
        if action >= 0:
            return _SHIFTS if action else _FAILS
        lhs, length = self._productions[-action - 1]
        return _Outcome("pops", None, lhs, length) if length else self._outcomes.get((state, lookahead))

    def _begin(self, state: int, lookahead: int) -> _Open:
        """As long as it is open, a chain that comes to the same state above it goes on so for ever."""
        self._outcomes[state, lookahead] = _FAILS
        lhs, _ = self._productions[-self._action[state][lookahead] - 1]
        return _Open(state, self._goto[state].get(lhs, -1))

    def _follow(self, at: _Open, lookahead: int) -> _Outcome | None:
        """None: what becomes of the state above has to be found first."""
        while at.moves <= self._most_moves and at.above >= 0:
            found = self._known(at.above, lookahead)
            if found is None:
                return None
            if found.kind == "shifts":
                return replace(found, above=at.above)
            if found.kind == "fails" or found.length > 1:
                return replace(found, length=found.length - 1)
            at.above = self._goto[at.state].get(found.lhs, -1)
            at.moves += 1
        return _FAILS
