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
from typing import TYPE_CHECKING, TypeAlias

from pdacon.errors import UnsupportedGrammarError
from pdacon.lexer.lowering import lexing_order
from pdacon.lexer.patterns import compile_pattern
from pdacon.lexer.program import BYTES, MATCH, SPLIT, Program

if TYPE_CHECKING:
    from pdacon.grammar import Grammar, Terminal

LINE_BREAK, SPACE = b"\n "
_BLANKS = frozenset(b"\n\t ")
_ADVICE = r"let the pattern end in any number of blanks, as /(\r?\n[\t ]*)+/ does"

Place: TypeAlias = tuple[tuple[int, ...], bool]
"""The threads of a pattern in order, up to the first match, and whether there is one."""


def check_newline(grammar: Grammar) -> None:
    """Make sure that after each line break of the layout's newline every column can be reached, in every context.

    Raises
    ------
    UnsupportedGrammarError
        The span is the newline's.

    Notes
    -----
    Afterwards, where the lexeme that has been begun can be a newline and has a line break: if the newline has matched,
    only its threads are left, a space leads to a match too, and a further one to the same place; if it has not, it gets
    there without a blank, or has to read another line break first.

    Cost: the automaton of one terminal, and its product with those that Lark tries before it.
    """
    layout = grammar.layout
    if layout is None:
        return
    terminal = grammar.terminals[layout.newline]
    run = _Run(_program(grammar, terminal))
    _check_columns(terminal, run)
    _check_rivals(grammar, terminal, run)
    _check_renames(grammar, terminal)


class _Run:
    """A Program as ordered threads; see `Program` for the meaning."""

    def __init__(self, program: Program) -> None:
        ends = program.offset.tolist()
        edges = list(zip(program.lo.tolist(), program.hi.tolist(), program.target.tolist(), strict=True))
        self.kind = program.kind.tolist()
        self.edges = [edges[ends[i] : ends[i + 1]] for i in range(len(self.kind))]
        self.entry = self._closure([program.entry])
        self.known: dict[tuple[Place, int], Place] = {}

    def step(self, place: Place, byte: int) -> Place:
        if (place, byte) not in self.known:
            seeds = [to for state in place[0] for low, high, to in self.edges[state] if low <= byte <= high]
            self.known[place, byte] = self._closure(seeds)
        return self.known[place, byte]

    def representatives(self, states: Iterable[int]) -> list[int]:
        """One byte for each way in which these states can step, and each blank."""
        cuts = {cut for state in states for low, high, _ in self.edges[state] for cut in (low, high + 1)}
        cuts |= {cut for blank in _BLANKS for cut in (blank, blank + 1)}
        return sorted(cut for cut in cuts if cut < 256)

    def _closure(self, seeds: list[int]) -> Place:
        threads: dict[int, None] = {}
        seen: set[int] = set()
        pending = seeds[::-1]
        while pending:
            state = pending.pop()
            if state in seen:
                continue
            seen.add(state)
            if self.kind[state] == MATCH:
                return tuple(threads), True
            if self.kind[state] == SPLIT:
                pending += [to for _, _, to in reversed(self.edges[state])]
            else:
                threads[state] = None
        return tuple(threads), False


def _program(grammar: Grammar, terminal: Terminal) -> Program:
    assert terminal.pattern is not None
    program = compile_pattern(terminal.pattern.regexp, grammar.options.g_regex_flags)
    if not set(program.kind.tolist()) <= {BYTES, SPLIT, MATCH}:
        raise _refused(terminal, "what follows decides whether it matches", "leave the look-ahead at its end out")
    return program


@dataclass(frozen=True, slots=True)
class _Graph:
    """The automaton of a newline after its first line break: a shortest text for each place, and where it goes on."""

    texts: dict[Place, bytes]
    steps: dict[Place, dict[int, Place]]

    def reaches(self, start: Place, goal: Callable[[Place], bool], without: frozenset[int]) -> bool:
        """Whether a place lies ahead, by bytes other than these."""
        seen = {start}
        pending = [start]
        for place in pending:
            if goal(place):
                return True
            following = {to for byte, to in self.steps[place].items() if byte not in without} - seen
            seen |= following
            pending += following
        return False


def _check_columns(terminal: Terminal, run: _Run) -> None:
    graph = _explore(run)

    def good(place: Place) -> bool:
        spaced = run.step(place, SPACE)
        return place[1] and spaced[1] and run.step(spaced, SPACE) == spaced

    for place, text in graph.texts.items():
        # Neither good, nor on the way to it, nor before another line break that starts the count again.
        on_the_way = good(place) if place[1] else graph.reaches(place, good, _BLANKS)
        if not on_the_way and graph.reaches(place, lambda other: other[1], frozenset([LINE_BREAK])):
            raise _refused(terminal, f"after {_quote(text)} it cannot take any number of spaces", _ADVICE)


def _explore(run: _Run) -> _Graph:
    texts: dict[Place, bytes] = {}
    steps: dict[Place, dict[int, Place]] = {}
    before: dict[Place, bytes] = {run.entry: b""}
    pending: list[tuple[Place, bytes, bool]] = [(run.entry, b"", False)]
    for place, text, broken in pending:
        moves = {byte: run.step(place, byte) for byte in run.representatives(place[0])}
        if broken:
            steps[place] = {byte: to for byte, to in moves.items() if to[0] or to[1]}
        for byte, to in moves.items():
            now_broken = broken or byte == LINE_BREAK
            known = texts if now_broken else before
            if (to[0] or to[1]) and to not in known:
                known[to] = text + bytes([byte])
                pending.append((to, known[to], now_broken))
    return _Graph(texts, steps)


def _check_rivals(grammar: Grammar, newline: Terminal, run: _Run) -> None:
    """No terminal that Lark tries before the newline can be open together with it behind a line break."""
    for terminal in grammar.terminals:
        if terminal.pattern is None or terminal is newline or lexing_order(terminal) > lexing_order(newline):
            continue
        program = compile_pattern(terminal.pattern.regexp, grammar.options.g_regex_flags)
        text = _common_beginning(run, _Run(program))
        if text is not None:
            raise _refused(
                newline,
                f"{terminal.name}, which Lark tries before it, may begin with {_quote(text)} as well",
                f"give {newline.name} a higher priority ({newline.name}.{terminal.priority + 1}: ...)",
            )


def _common_beginning(first: _Run, second: _Run) -> bytes | None:
    """A shortest text with a line break that both can begin with, or be."""
    start = (first.entry, second.entry, False)
    seen = {start}
    pending = [(start, b"")]
    for (one, other, broken), text in pending:
        for byte in {*first.representatives(one[0]), *second.representatives(other[0])}:
            to = first.step(one, byte), second.step(other, byte), broken or byte == LINE_BREAK
            if to in seen or not all(place[0] or place[1] for place in to[:2]):
                continue
            if to[2]:
                return text + bytes([byte])
            seen.add(to)
            pending.append((to, text + bytes([byte])))
    return None


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
