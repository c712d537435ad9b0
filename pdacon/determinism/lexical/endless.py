"""Ignored text that can go on for ever.

In: the lexing automaton. Out: at most one finding, PDA016. Such text exists if the automaton has a loop that commits
nothing but ignored text and can still be left; a shortest one is found by breadth-first search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pdacon.base.graphs import Search, reachable
from pdacon.base.once import memoized
from pdacon.base.quoting import quote
from pdacon.determinism.deadline import ADVICE, REPAIR, Deadline, OutOfTimeError
from pdacon.determinism.lexical.repair.lexical_repairs import Repairs
from pdacon.determinism.lexical.repair.suggested import definition, free_name, read, written
from pdacon.determinism.lexical.witness_texts import WitnessTexts, turned
from pdacon.determinism.report.edits import unused_names
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.determinism.report.listing import listed
from pdacon.errors import PdaconError
from pdacon.grammar import GrammarData, Pattern
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer, find_collisions

_BLANKS = {0x20: " ", 0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r", 0x0C: r"\f", 0x0B: r"\v"}
_ANY_BLANK = re.compile(r"(?:\\s|\[\\s\])[+*]?")
_LINE_COMMENT = re.compile(r"((?:\\[^\w\s]|[^\w\s\\()\[\]{}.*+?|^$])+)(?:\[\^(?:\\n|\\r|\n|\r)+\]|\.)[*+]")
_FEW = 6
_SECONDS = 2.0
"""For trying a repair."""

_LARKS_NAME = "__IGNORE_0"
"""What Lark calls a pattern that stands after ``%ignore``."""

_DEAD, _OTHER = -1, -2
"""What a commit can lead to besides a lexer state: nothing, or a commit of something that is not ignored."""


def endless_findings(texts: WitnessTexts, repairs: Repairs, deadline: Deadline) -> list[Finding]:
    """PDA016: at most one note, if ignored text can go on for ever in some context.

    What is claimed: there are texts x and y such that x, x y, x y y, ... can all be read in that context with nothing
    but ignored text so far, and something else can follow ignored text that comes of it. The witness is a shortest
    such x y, of blanks if there is a choice. A pattern that does not match after itself, by a look-behind, has none.

    Cost: linear in the lexing automaton, for each lexer state in which text can still become ignored.
    """
    grammar = texts.grammar
    if not grammar.ignore:
        return []
    loop = _first_loop(texts, deadline)
    if loop is None:
        return []
    return [_finding(texts, *(loop if grammar.options.use_bytes else turned(*loop)), repairs, deadline)]


def _first_loop(texts: WitnessTexts, deadline: Deadline) -> tuple[bytes, bytes] | None:
    """What leads to endless ignored text in some context, and what is repeated there."""
    coaccessible = _can_be_ignored(texts)
    loops = (_Ignored(texts, context, coaccessible, deadline).shortest_loop() for context in texts.entered)
    return next((loop for loop in loops if loop is not None), None)


def _can_be_ignored(texts: WitnessTexts) -> NDArray[np.bool_]:
    """The lexer states from which the next commit can be of ignored text, before the text ends."""
    sources, targets = texts.edges
    commits = targets < -1
    ignored = texts.automaton.commits[-2 - targets[commits], 0] == texts.grammar.end + 1
    coaccessible: NDArray[np.bool_] = np.zeros(len(texts.next), dtype=np.bool_)
    coaccessible[sources[commits][ignored]] = True
    sources, targets = sources[targets >= 0], targets[targets >= 0]
    while True:
        more = sources[coaccessible[targets] & ~coaccessible[sources]]
        if not len(more):
            return coaccessible
        coaccessible[more] = True


class _Ignored:
    """What the lexer makes of ignored text in one context."""

    def __init__(self, texts: WitnessTexts, context: int, coaccessible: NDArray[np.bool_], deadline: Deadline) -> None:
        self._texts = texts
        self._coaccessible = coaccessible
        self._deadline = deadline
        self._entries: list[int] = texts.automaton.entries[context].tolist()
        self._label = texts.grammar.end + 1

    def shortest_loop(self) -> tuple[bytes, bytes] | None:
        """What leads to endless ignored text, and what is repeated there."""
        start = max(self._entries)
        if not self._coaccessible[start]:
            return None
        steps = self._steps_that_can_be_endless(start)
        best: tuple[int, bool, int, bytes, bytes] | None = None
        search = Search({start: b""})
        for state, text in search:
            if best is not None and len(text) >= best[0]:
                break
            loop = self._loop_at(steps, state)
            if loop is not None and self._comes_out(state):
                whole = text + loop
                found = len(whole), not whole.isspace(), len(whole) - whole.count(b" "), text, loop
                best = found if best is None else min(best, found)
            for byte, target in steps.get(state, ()):
                search.meet(target, text + byte)
        return None if best is None else best[3:]

    def _steps_that_can_be_endless(self, start: int) -> dict[int, list[tuple[bytes, int]]]:
        """For each state that ignored text leads to, and from which it can go on for ever, the steps to others of
        them."""

        def following(state: int) -> list[int]:
            self._deadline.require()
            return [target for _, target in self._steps(state)]

        steps = {state: self._steps(state) for state in reachable([start], following)}
        before: dict[int, list[int]] = {}
        for state, further in steps.items():
            for _, target in further:
                before.setdefault(target, []).append(state)
        left = {state: len(further) for state, further in steps.items()}
        pending = [state for state, count in left.items() if not count]
        while pending:
            for state in before.get(pending.pop(), ()):
                left[state] -= 1
                if not left[state]:
                    pending.append(state)
        return {state: [step for step in steps[state] if left[step[1]]] for state in steps if left[state]}

    def _loop_at(self, steps: dict[int, list[tuple[bytes, int]]], start: int) -> bytes | None:
        """A shortest text that leads from a state back to it."""
        search = Search({start: b""})
        for state, text in search:
            self._deadline.require()
            for byte, target in steps.get(state, ()):
                if target == start:
                    return text + byte
                search.meet(target, text + byte)
        return None

    def _comes_out(self, start: int) -> bool:
        """Whether ignored text that is read in a state can end so that something can follow in this context."""

        def following(state: int) -> Iterable[int]:
            return (target for target in self._texts.successors(state)[0] if target >= 0)

        commits = (c for state in reachable([start], following) for c in self._texts.successors(state)[0] if c < -1)
        ignored = (commit for commit in commits if self._texts.automaton.commit(commit)[0] == self._label)
        return any(self._land(commit) != _DEAD for commit in ignored)

    @memoized
    def _steps(self, state: int) -> list[tuple[bytes, int]]:
        """One byte further, within ignored text or from one piece of it to the next; blanks first."""
        texts = self._texts
        row = texts.next[state, texts.blanks_first].tolist()
        steps = []
        for target in dict.fromkeys(row):
            after = target if target >= -1 else self._land(target)
            if after >= 0 and self._coaccessible[after]:
                steps.append((bytes([texts.readable[texts.blanks_first[row.index(target)]]]), after))
        return steps

    @memoized
    def _land(self, commit: int) -> int:
        """The lexer state after a commit of ignored text; where there is none, _DEAD or _OTHER.

        What is read again may be committed in its turn.
        """
        automaton, next_of = self._texts.automaton, self._texts.next.item
        label, behind, word = automaton.commit(commit)
        pending = list(word)
        while label == self._label:
            state = self._entries[behind]
            for at, cls in enumerate(pending):
                if state < 0:
                    return _DEAD
                after = next_of(state, cls)
                if after < -1:
                    label, behind, word = automaton.commit(after)
                    pending = [*word, *pending[at + 1 :]]
                    break
                state = after
            else:
                return state
        return _OTHER


def _finding(texts: WitnessTexts, prefix: bytes, loop: bytes, repairs: Repairs, deadline: Deadline) -> Finding:
    grammar = texts.grammar
    names = [k for k in sorted(grammar.ignore) if _matches(texts, k, prefix + loop) or _matches(texts, k, loop)]
    terminals = [grammar.terminals[k] for k in names or sorted(grammar.ignore)]
    shown = " and ".join(map(grammar.describe_symbol, names or sorted(grammar.ignore)))
    return Finding(
        id="PDA016",
        level="note",
        title=f"{TITLES['PDA016']}: {shown}",
        message=f"Wherever something may be ignored, {quote(loop)} can be repeated for ever: a model may write nothing "
        "else, and no mask keeps it from that.",
        span=terminals[0].span,
        symbols=tuple(terminal.name for terminal in terminals),
        witness=Witness(text=prefix + loop, loop=loop),
        repair=_repair(texts, repairs, deadline),
    )


def _repair(texts: WitnessTexts, repairs: Repairs, deadline: Deadline) -> str:
    grammar = texts.grammar
    ignored = sorted(grammar.ignore)
    pattern, after = _bounded_and_small(texts, deadline)
    if pattern is None or after is None:
        return (
            "ignore one terminal only, which matches a bounded text, and does not match after itself, by a "
            "look-behind; or write what is ignored into the rules."
        )
    if len(ignored) == 1:
        what, line = "let it match", definition(grammar, ignored[0], written(pattern, ()))
    else:
        names = listed(map(grammar.describe_symbol, ignored), _FEW)
        what, line = f"instead of {names} ignore one terminal, which matches", f"%ignore {written(pattern, ())}"
        if priority := _priority_of_all(grammar):
            name = free_name(grammar, "IGNORED")
            line = f"{name}.{priority}: {written(pattern, ())} with %ignore {name}"
    blank = pattern.removeprefix("(?<!").partition(")")[0]
    unused = unused_names(grammar.source, [grammar.terminals[k].name for k in ignored]) if len(ignored) > 1 else []
    left = f"Remove {listed(unused, _FEW)}, which nothing uses then.\n" if unused else ""
    others = (
        "\\s takes Unicode's blanks, too, such as a no-break space; this line has those of ASCII.\n"
        if _has_others(grammar)
        else ""
    )
    return (
        f"{what} a bounded text, and not after itself:\n  {line}\n{left}{others}"
        "A model needs no more than one blank in a place; if "
        f"texts are to have more, put {{1,8}} after the second {written(blank, ())[1:-1]}.\n"
        f"{repairs.other_told(after, ())}\nOr write what is ignored into the rules."
    )


def _priority_of_all(grammar: GrammarData) -> int:
    """The priority of one terminal that stands for all that is ignored: the highest that one of them has."""
    return max(grammar.terminals[k].priority for k in grammar.ignore)


def _bounded_and_small(texts: WitnessTexts, deadline: Deadline) -> tuple[str | None, WitnessTexts | None]:
    """One pattern for all that is ignored, and the texts with it; None if ignored text has no end with it, the lexer
    becomes large, or a terminal collides with it.

    The numbers do not matter for the first, which is asked with small ones. They do for the second: where a comment
    begins like an operator, the automaton has its states once for each piece and each length of a comment.
    """
    ignored = texts.grammar.ignore
    if any(not ignored.isdisjoint(production.rhs) for production in texts.grammar.productions):
        return None, None  # these rules need it as it is
    small = _bounded(texts, comment=2, pieces=2)
    if small is None or not _is_bounded(texts, small, deadline):
        return None, None
    pattern = _bounded(texts)
    return pattern, None if pattern is None else _if_small(texts, pattern, deadline)


def _bounded(texts: WitnessTexts, *, comment: int = 80, pieces: int = 4) -> str | None:
    """One pattern for all that is ignored: a blank, or pieces of blanks and of comments up to the line's end.

    Blanks are those of ASCII: whoever writes ``\\s`` thinks of them, and of Unicode's a model should write none.
    """
    grammar = texts.grammar
    found: list[str] = []
    signs: list[str] = []
    for index in sorted(grammar.ignore):
        pattern = grammar.terminals[index].pattern
        assert pattern is not None
        used = texts.bytes_of(index)
        of_a_line = _LINE_COMMENT.fullmatch(pattern.value)
        if used <= _BLANKS.keys():
            found += [shown for byte, shown in _BLANKS.items() if byte in used]
        elif _is_any_blank(pattern):
            found += _BLANKS.values()
        elif pattern.kind == "re" and of_a_line is not None:
            signs.append(of_a_line.group(1))
        else:
            return None
    if not found:
        return None
    kinds = [shown for shown in _BLANKS.values() if shown in found]
    blank = kinds[0] if len(kinds) == 1 else f"[{''.join(kinds)}]"
    if not signs:
        return f"(?<!{blank}){blank}"
    sign = signs[0] if len(signs) == 1 else f"(?:{'|'.join(dict.fromkeys(signs))})"
    if re.fullmatch(blank, "\n"):
        return rf"(?<!{blank})(?:{blank}|{sign}[^\n]{{0,{comment}}}(?:\n|\Z)){{1,{pieces}}}"
    return rf"(?<!{blank}){blank}|{sign}[^\n]{{0,{comment}}}(?=\n|\Z)"


def _is_any_blank(pattern: Pattern) -> bool:
    return pattern.kind == "re" and _ANY_BLANK.fullmatch(pattern.value) is not None


def _has_others(grammar: GrammarData) -> bool:
    patterns = [grammar.terminals[k].pattern for k in grammar.ignore]
    flags = grammar.options.g_regex_flags
    return not grammar.options.use_bytes and any(
        p is not None and _is_any_blank(p) and re.compile(p.regexp, flags).match("\u00a0") for p in patterns
    )


def _is_bounded(texts: WitnessTexts, pattern: str, deadline: Deadline) -> bool:
    """Whether ignored text ends, if there is this pattern for all of it; False where it takes long to tell."""
    own = deadline.share(_SECONDS)
    with suppress(PdaconError, OutOfTimeError):
        return _first_loop(_ignoring(texts, pattern), own) is None
    return False


def _if_small(texts: WitnessTexts, pattern: str, deadline: Deadline) -> WitnessTexts | None:
    """The texts with this pattern for all that is ignored, if the lexer can be built and no terminal collides with it
    that did not before; None where it takes long to tell.

    A blank that is written as a literal gives way to a pattern that matches it, and a pattern does not.
    """
    with suppress(PdaconError, OutOfTimeError):
        after = _ignoring(texts, pattern)
        if not after.lexer.automaton.unbounded and _colliding(after) <= _colliding(texts):
            return after
    return None


def _colliding(texts: WitnessTexts) -> set[int]:
    ignore = texts.grammar.ignore
    pairs = find_collisions(texts.lexer, ADVICE)
    sides = ((pair.first, pair.second) for pair in pairs)
    return {k for pair in sides if not ignore.isdisjoint(pair) for k in pair if k not in ignore}


def _ignoring(texts: WitnessTexts, pattern: str) -> WitnessTexts:
    """The texts of the grammar in which one terminal of this pattern stands for all that is ignored."""
    grammar = texts.grammar
    first = min(grammar.ignore)
    terminals = list(grammar.terminals)
    single = read(grammar, written(pattern, ())).terminals[0].pattern
    terminals[first] = replace(terminals[first], pattern=single, priority=_priority_of_all(grammar))
    if len(grammar.ignore) > 1:  # it has no name of its own then, by which Lark would sort it elsewhere
        terminals[first] = replace(terminals[first], name=_LARKS_NAME)
    repaired = replace(grammar, terminals=tuple(terminals), ignore=frozenset([first]), islands=())
    lexer = build_lexer(repaired, build_tables(repaired), REPAIR)
    return WitnessTexts(repaired, lexer)


def _matches(texts: WitnessTexts, terminal: int, text: bytes) -> bool:
    grammar = texts.grammar
    pattern = grammar.terminals[terminal].pattern
    if pattern is None:
        return False
    decoded = text.decode("latin-1" if grammar.options.use_bytes else "utf-8", "replace")
    return re.compile(pattern.regexp, grammar.options.g_regex_flags).fullmatch(decoded) is not None
