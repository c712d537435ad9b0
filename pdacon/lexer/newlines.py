"""Can every column follow a line break?

A line may begin at any column that an ``Indenter`` has on its stack, and further in. So that masks need not count what
is left of a pattern, its newline has to end in blanks without a limit: wherever it has read a line break, it matches,
it takes a space, and it is then where a further space leaves it. In between it may be on the way to such a place
(within a character of a comment) or to the next line break. Lark itself does not ask for this: the pattern ``/\\n/`` is
fine, and no line is ever indented.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from pdacon.errors import UnsupportedGrammarError
from pdacon.lexer.lowering import lexing_order
from pdacon.lexer.patterns import compile_terminal
from pdacon.lexer.program import BYTES, MATCH, SPLIT, Program, epsilon_closure

if TYPE_CHECKING:
    from pdacon.grammar import Grammar, Terminal

LINE_BREAK, SPACE = b"\n "
_BLANKS = frozenset(b"\n\t ")
_ADVICE = r"let the pattern end in any number of blanks, as /(\r?\n[\t ]*)+/ does"

Place: TypeAlias = tuple[tuple[int, ...], bool]
"""The threads of a pattern in order, up to the first match, and whether there is one."""

_Pair: TypeAlias = tuple[Place, Place]
"""Of the newline, and of a terminal that Lark tries before it."""

_NOWHERE: Place = ((), False)


def check_newline(grammar: Grammar) -> None:
    """Make sure that after each line break of the layout's newline every column can be reached, in every context.

    Raises
    ------
    UnsupportedGrammarError
        The span is the newline's.

    Notes
    -----
    Afterwards, where the lexeme that has been begun can be a newline and has a line break: if the newline has matched,
    it matches after a space too, and a further one leads to the same place, also within terminals that Lark tries
    before it; if it has not, it gets there without a blank, or has to read another line break first. Terminals that
    Lark tries after the newline are out once it has matched.

    Cost: the automaton of one terminal, and its product with those that Lark tries before it.
    """
    layout = grammar.layout
    if layout is None:
        return
    terminal = grammar.terminals[layout.newline]
    program = compile_terminal(grammar, terminal)
    if not set(program.kind.tolist()) <= {BYTES, SPLIT, MATCH}:
        raise _refused(terminal, "what follows decides whether it matches", "leave the look-ahead at its end out")
    if len(program.entries) > 1:
        raise _refused(terminal, "what comes before decides whether it matches", "leave the look-behind out")
    run = _Run(program, int(program.entries[0]))
    text = _trap(_Newline(run, None))
    if text is not None:
        raise _refused(terminal, f"after {_quote(text)} it cannot take any number of spaces", _ADVICE)
    _check_rivals(grammar, terminal, run)
    _check_renames(grammar, terminal)


class _Run:
    """A Program as ordered threads from one of its entries; see `Program` for the meaning.

    A pending thread is one like any other: it cuts nothing before its condition is met.
    """

    def __init__(self, program: Program, entry: int) -> None:
        self._states = program.states()
        self.entry = self._closure([entry])
        self.known: dict[tuple[Place, int], Place] = {}

    def step(self, place: Place, byte: int) -> Place:
        if (place, byte) not in self.known:
            seeds = [to for state in place[0] for low, high, to in self._states[state][1] if low <= byte <= high]
            self.known[place, byte] = self._closure(seeds)
        return self.known[place, byte]

    def representatives(self, states: Iterable[int]) -> list[int]:
        """One byte for each way in which these states can step, and each blank."""
        cuts = {cut for state in states for low, high, _ in self._states[state][1] for cut in (low, high + 1)}
        cuts |= {cut for blank in _BLANKS for cut in (blank, blank + 1)}
        return sorted(cut for cut in cuts if cut < 256)

    def _closure(self, seeds: list[int]) -> Place:
        threads: list[int] = []
        seen: set[int] = set()
        for state in chain.from_iterable(epsilon_closure(self._states, seed, seen) for seed in seeds):
            if self._states[state][0] == MATCH:
                return tuple(threads), True
            threads.append(state)
        return tuple(threads), False


@dataclass(frozen=True, slots=True)
class _Newline:
    """A newline, and a terminal that Lark tries before it, if any: once that has matched, the newline has lost."""

    run: _Run
    rival: _Run | None

    def begin(self) -> _Pair:
        return self.run.entry, _NOWHERE if self.rival is None else self.rival.entry

    def step(self, pair: _Pair, byte: int) -> _Pair | None:
        """None where it can be no newline any more."""
        own = self.run.step(pair[0], byte)
        other = _NOWHERE if self.rival is None else self.rival.step(pair[1], byte)
        return None if own == _NOWHERE or other[1] else (own, other)

    def good(self, pair: _Pair) -> bool:
        """Whether it has matched, and does so after any number of spaces, always in the same place."""
        spaced = self.step(pair, SPACE)
        return pair[0][1] and spaced is not None and spaced[0][1] and self.step(spaced, SPACE) == spaced

    def bytes(self, pair: _Pair) -> list[int]:
        """One byte for each way in which it can step."""
        both = set(self.run.representatives(pair[0][0]))
        return sorted(both if self.rival is None else both.union(self.rival.representatives(pair[1][0])))


@dataclass(frozen=True, slots=True)
class _Graph:
    """Where a newline can be after its first line break: a shortest text for each place, and where it goes on."""

    texts: dict[_Pair, bytes]
    steps: dict[_Pair, dict[int, _Pair]]

    @classmethod
    def of(cls, newline: _Newline) -> _Graph:
        texts: dict[_Pair, bytes] = {}
        steps: dict[_Pair, dict[int, _Pair]] = {}
        before = {newline.begin()}
        pending = [(newline.begin(), b"", False)]
        for pair, text, broken in pending:
            moves = {byte: to for byte in newline.bytes(pair) if (to := newline.step(pair, byte)) is not None}
            if broken:
                steps[pair] = moves
            for byte, to in moves.items():
                if broken or byte == LINE_BREAK:
                    if to not in texts:
                        texts[to] = text + bytes([byte])
                        pending.append((to, texts[to], True))
                elif to not in before:
                    before.add(to)
                    pending.append((to, text + bytes([byte]), False))
        return cls(texts, steps)

    def reaches(self, start: _Pair, goal: Callable[[_Pair], bool], without: frozenset[int]) -> bool:
        """Whether a place lies ahead, by bytes other than these."""
        seen = {start}
        pending = [start]
        for pair in pending:
            if goal(pair):
                return True
            following = {to for byte, to in self.steps[pair].items() if byte not in without} - seen
            seen |= following
            pending += following
        return False


def _trap(newline: _Newline) -> bytes | None:
    """A shortest text after which some column cannot be reached."""
    graph = _Graph.of(newline)
    for pair, text in graph.texts.items():
        # Neither good, nor on the way to it, nor before another line break that starts the count again.
        on_the_way = newline.good(pair) if pair[0][1] else graph.reaches(pair, newline.good, _BLANKS)
        if not on_the_way and graph.reaches(pair, lambda other: other[0][1], frozenset([LINE_BREAK])):
            return text
    return None


def _check_rivals(grammar: Grammar, newline: Terminal, run: _Run) -> None:
    """A terminal that Lark tries before the newline may take all of its text, but not what is indented so far."""
    for terminal in grammar.terminals:
        if terminal.pattern is None or terminal is newline or lexing_order(terminal) > lexing_order(newline):
            continue
        program = compile_terminal(grammar, terminal)
        traps = (_trap(_Newline(run, _Run(program, entry))) for entry in program.entries.tolist())
        text = next((text for text in traps if text is not None), None)
        if text is not None:
            raise _refused(
                newline,
                f"{terminal.name}, which Lark tries before it, may begin with {_quote(text)} as well and take "
                "columns away",
                f"give {newline.name} a higher priority ({newline.name}.{terminal.priority + 1}: ...)",
            )


def _check_renames(grammar: Grammar, newline: Terminal) -> None:
    assert newline.pattern is not None
    for terminal in grammar.terminals:
        pattern = terminal.pattern
        if pattern is None or pattern.kind != "str" or "\n" not in pattern.value or terminal is newline:
            continue
        match = re.match(newline.pattern.regexp, pattern.value, grammar.options.g_regex_flags)
        if match and match.group() == pattern.value and terminal.priority == newline.priority:
            raise _refused(
                newline,
                f"Lark makes {terminal.name} of it where it reads {_quote(pattern.value.encode())}",
                f"give one of them another priority ({newline.name}.{terminal.priority + 1}: ...)",
            )


def _quote(text: bytes) -> str:
    return repr(text)[1:]


def _refused(newline: Terminal, reason: str, advice: str) -> UnsupportedGrammarError:
    return UnsupportedGrammarError(
        f"{newline.name} ends lines, but {reason}, so that not every column can follow; {advice}",
        newline.span,
        feature="postlex",
    )
