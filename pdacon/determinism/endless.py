"""Text that is ignored and need never end."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pdacon.determinism.findings import TITLES, Finding, Witness, quote
from pdacon.determinism.suggested import definition, written
from pdacon.determinism.texts import turned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pdacon.determinism.deadline import Deadline
    from pdacon.determinism.texts import Texts
    from pdacon.grammar import Terminal


_BLANK = r"(?:\\?[ \t\n\r\f]|\\[stnrfv]|\\x0[9a-dA-D]|\\x20)"
_BLANKS = re.compile(rf"(?:({_BLANK}|\[{_BLANK}+\])|\(\?:({_BLANK}|\[{_BLANK}+\])\))[+*]?")
"""A class of blanks, repeated or not."""

_DEAD, _OTHER = -1, -2
"""What a commit can lead to besides a lexer state: nothing, or a commit of something that is not ignored."""


def endless_findings(texts: Texts, deadline: Deadline) -> list[Finding]:
    """PDA016: at most one note, if ignored text can go on for ever in some context.

    What is claimed: there are texts x and y such that x, x y, x y y, ... can all be read in that context with nothing
    but ignored text so far, and something else can follow ignored text that comes of it. The witness is a shortest
    such x y, of blanks if there is a choice. A pattern that does not match behind itself, by a look-behind, has none.

    Cost: linear in the lexing automaton, for each lexer state in which text can still become ignored.
    """
    grammar = texts.grammar
    if not grammar.ignore:
        return []
    alive = _can_be_ignored(texts)
    for context in texts.entered:
        loop = _shortest_loop(texts, context, alive, deadline)
        if loop is not None:
            return [_finding(texts, *(loop if grammar.options.use_bytes else turned(*loop)))]
    return []


def _can_be_ignored(texts: Texts) -> NDArray[np.bool_]:
    """The lexer states from which the next commit can be of ignored text, before the text ends."""
    ignored = texts.grammar.end + 1
    after = texts.next
    commits = texts.automaton.commits[-2 - after[after < -1], 0] == ignored
    alive: NDArray[np.bool_] = np.zeros(len(after), dtype=np.bool_)
    alive[np.nonzero(after < -1)[0][commits]] = True
    while True:
        more: NDArray[np.bool_] = alive | ((after >= 0) & alive[np.maximum(after, 0)]).any(axis=1)
        if np.array_equal(more, alive):
            return more
        alive = more


def _shortest_loop(
    texts: Texts, context: int, alive: NDArray[np.bool_], deadline: Deadline
) -> tuple[bytes, bytes] | None:
    start = int(texts.automaton.entries[context].max())
    if not alive[start]:
        return None
    best: tuple[int, bool, int, bytes, bytes] | None = None
    texts_to = {start: b""}
    pending = deque([start])
    while pending:
        state = pending.popleft()
        text = texts_to[state]
        if best is not None and len(text) >= best[0]:
            break
        loop = _loop_at(texts, context, state, alive, deadline)
        if loop is not None and _comes_out(texts, context, state):
            whole = text + loop
            found = len(whole), not whole.isspace(), len(whole) - whole.count(b" "), text, loop
            best = found if best is None else min(best, found)
        for byte, target in _steps(texts, context, state, alive):
            if target not in texts_to:
                texts_to[target] = text + byte
                pending.append(target)
    return None if best is None else best[3:]


def _loop_at(texts: Texts, context: int, start: int, alive: NDArray[np.bool_], deadline: Deadline) -> bytes | None:
    """A shortest text that leads from a state back to it."""
    seen: set[int] = set()
    pending = deque([(start, b"")])
    while pending:
        deadline.require()
        state, text = pending.popleft()
        for byte, target in _steps(texts, context, state, alive):
            if target == start:
                return text + byte
            if target not in seen:
                seen.add(target)
                pending.append((target, text + byte))
    return None


def _comes_out(texts: Texts, context: int, start: int) -> bool:
    """Whether ignored text that is read in a state can end so that something can follow in this context."""
    seen = {start}
    pending = [start]
    while pending:
        for target in np.unique(texts.next[pending.pop()]).tolist():
            if target < -1 and texts.automaton.commit(target)[0] == texts.grammar.end + 1:
                if _land(texts, context, target) != _DEAD:
                    return True
            elif target >= 0 and target not in seen:
                seen.add(target)
                pending.append(target)
    return False


def _steps(texts: Texts, context: int, state: int, alive: NDArray[np.bool_]) -> Iterator[tuple[bytes, int]]:
    """One byte further, within ignored text or from one piece of it to the next; blanks first."""
    order = texts.blanks_first
    targets, places = np.unique(texts.next[state, order], return_index=True)
    for place, target in sorted(zip(places.tolist(), targets.tolist(), strict=True)):
        byte = bytes([texts.readable[order[place]]])
        after = target if target >= -1 else _land(texts, context, target)
        if after >= 0 and alive[after]:
            yield byte, after


def _land(texts: Texts, context: int, commit: int) -> int:
    """The lexer state after a commit of ignored text in a context; where there is none, _DEAD or _OTHER."""
    label, behind, word = texts.automaton.commit(commit)
    pending = list(word)
    while label == texts.grammar.end + 1:
        state = int(texts.automaton.entries[context, behind])
        for at, cls in enumerate(pending):
            if state < 0:
                return _DEAD
            after = int(texts.next[state, cls])
            if after < -1:
                label, behind, word = texts.automaton.commit(after)
                pending = [*word, *pending[at + 1 :]]
                break
            state = after
        else:
            return state
    return _OTHER


def _finding(texts: Texts, prefix: bytes, loop: bytes) -> Finding:
    grammar = texts.grammar
    names = [k for k in sorted(grammar.ignore) if _matches(texts, k, prefix + loop) or _matches(texts, k, loop)]
    terminals = [grammar.terminals[k] for k in names or sorted(grammar.ignore)]
    shown = " and ".join(terminal.literal or terminal.name for terminal in terminals)
    return Finding(
        id="PDA016",
        level="note",
        title=f"{TITLES['PDA016']}: {shown}",
        message=f"Wherever something may be ignored, {quote(loop)} can be repeated for ever: a model may write nothing "
        "else, and no mask keeps it from that.",
        span=terminals[0].span,
        symbols=tuple(terminal.name for terminal in terminals),
        witness=Witness(text=prefix + loop, loop=loop),
        repair=_repair(texts, terminals),
    )


def _repair(texts: Texts, terminals: list[Terminal]) -> str:
    bounded = _bounded(texts, terminals[0]) if len(terminals) == 1 else None
    if bounded is not None:
        return f"let it match at most eight blanks, and not behind itself: {bounded}; or write them into the rules."
    return "let what is ignored not match behind itself, and not without a bound, or write it into the rules."


def _bounded(texts: Texts, terminal: Terminal) -> str | None:
    """The definition of a terminal of blanks of a class that matches at most eight of them, and not behind them."""
    assert terminal.pattern is not None
    value = re.escape(terminal.pattern.value) if terminal.pattern.kind == "str" else terminal.pattern.value
    blanks = _BLANKS.fullmatch(value)
    if blanks is None:
        return None
    kind = blanks.group(1) or blanks.group(2)
    pattern = written(f"(?<!{kind}){kind}{{1,8}}", terminal.pattern.flags)
    return f"%ignore {pattern}" if terminal.literal is not None else definition(terminal, pattern)


def _matches(texts: Texts, terminal: int, text: bytes) -> bool:
    grammar = texts.grammar
    pattern = grammar.terminals[terminal].pattern
    if pattern is None:
        return False
    decoded = text.decode("latin-1" if grammar.options.use_bytes else "utf-8", "replace")
    return re.compile(pattern.regexp, grammar.options.g_regex_flags).fullmatch(decoded) is not None
