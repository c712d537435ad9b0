"""Terminal patterns -> ordered byte automata.

In: a pattern in Python's ``re`` syntax, as Lark writes a terminal with ``to_regexp()``. Out: a Program that matches
what ``re`` matches: ordered alternation, greedy and lazy repetition, Unicode classes and IGNORECASE as str patterns
have them. Look-around, anchors, word boundaries, backreferences, conditional groups, atomic groups and possessive
quantifiers are refused by name.

States are built from the end of the pattern to its start: a node is lowered against the states that follow it
(its continuation), and equal states are made once.

Repetition of what can be empty is where ordered automata and ``re`` usually part. ``re`` goes on behind a loop as soon
as one iteration beyond the required ones has consumed nothing; so the order of threads depends on whether the current
iteration has consumed anything. Go's and RE2's rewriting of ``x*`` to ``(x+)?`` is not enough: ``(|a)*(b|abc)`` on
``aabc`` is 3 long there and 4 in Python. Here a continuation is a vector: entry i is where to go on when the
i outermost of the loops around the node have consumed something in their current iteration, and the inner ones have
not (an iteration of an inner loop lies within one of an outer loop, so there are no other cases). Where an iteration
ends empty, the entry leads behind the loop. No epsilon cycle is left, so a closure that visits each state once
explores what a backtracking matcher does, in the same order.

Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009), for the machine; CPython's
``Modules/_sre/sre_lib.h``, MAX_UNTIL and MIN_UNTIL, for the loops.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, NoReturn, TypeAlias

import numpy as np

from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.lexer import sre
from pdacon.lexer.classes import consumed
from pdacon.lexer.program import BYTES, MATCH, SPLIT, Program
from pdacon.lexer.utf8 import FINAL, ByteTrie

STATES_LIMIT = 250_000

Continuation: TypeAlias = tuple[int, ...]


def compile_pattern(regexp: str, flags: int = 0, limit: int = STATES_LIMIT) -> Program:
    """Lower a pattern to an ordered automaton over the UTF-8 bytes of the text.

    Parameters
    ----------
    regexp : str
        A pattern as ``re.compile`` takes it for str.
    flags : int
        Flags as for ``re.compile`` (LOCALE is not for str).
    limit : int
        Most states. A counted repetition makes a copy per count: ``\\w{1,1000}`` has 309,000 states.

    Returns
    -------
    Program
        Cached (some 100,000 states in total). Uncached, a terminal of JSON takes 0.1 ms, one ``\\w`` 2 ms,
        and 250,000 states one or two seconds.

    Raises
    ------
    UnsupportedGrammarError
        ``re`` does not take the pattern, or it has a construct that is not supported; the message says where.
    LimitExceededError
        More than ``limit`` states.
    """
    key = (regexp, flags, limit)
    program = _cache.get(key)
    if program is None:
        try:
            tree, flags = sre.parse(regexp, flags)
            program = _Lowering(regexp, flags, limit).program(tree, flags)
        except RecursionError as error:
            raise UnsupportedGrammarError(
                f"the groups of {sre.quoted(regexp)} are nested too deeply", feature="deep-nesting"
            ) from error
        _cache.put(key, program)
    return program


class _Cache:
    """The programs used last, up to a number of states in total."""

    def __init__(self, states: int) -> None:
        self._free = states
        self._programs: OrderedDict[tuple[str, int, int], Program] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, int, int]) -> Program | None:
        with self._lock:
            program = self._programs.get(key)
            if program is not None:
                self._programs.move_to_end(key)
            return program

    def put(self, key: tuple[str, int, int], program: Program) -> None:
        with self._lock:
            if key not in self._programs:
                self._programs[key] = program
                self._free -= len(program)
            while self._free < 0:
                self._free += len(self._programs.popitem(last=False)[1])


_cache = _Cache(states=100_000)

_Edges: TypeAlias = tuple[tuple[int, int, int], ...]

_MATCH_STATE, _DEAD_STATE = 0, 1

_CHARACTERS = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})
_INSTEAD = {
    "backreference": "write out the texts that may be repeated as alternatives",
    "conditional_group": "write the two cases as alternatives of the whole pattern",
    "look_ahead": "let the grammar say what may follow, or give the excluded text a terminal of higher priority",
    "look_behind": "make the text before it a part of this terminal",
    "anchor": "a terminal starts where the one before it ends, and the grammar can name the newline",
    "word_boundary": "a keyword needs none where a name can stand, as Lark then matches the whole name first",
    "atomic_group": "write an ordinary group (?:...)",
    "possessive_quantifier": "write the greedy quantifier, without the last +",
}


class _Lowering:
    """The states made so far for one pattern. ``SPLIT`` edges are (0, 0, target)."""

    def __init__(self, regexp: str, flags: int, limit: int) -> None:
        self._regexp, self._flags, self._limit = regexp, flags, limit
        self._kinds = [MATCH, BYTES]
        self._edges: list[_Edges] = [(), ()]
        self._known: dict[tuple[int, _Edges], int] = {(BYTES, ()): _DEAD_STATE}
        self._placed: dict[tuple[ByteTrie, int], int] = {}

    def program(self, tree: Any, flags: int) -> Program:
        """Lower a whole pattern."""
        (entry,) = self._sequence(tree, flags, (_MATCH_STATE,))
        return _pack(self._kinds, self._edges, entry)

    # Lowering: what a node does before a continuation, one entry state per entry of the continuation.

    def _sequence(self, nodes: Any, flags: int, then: Continuation) -> Continuation:
        for node in reversed(nodes.data):
            if then[-1] == _DEAD_STATE:  # whether anything can match does not depend on what was consumed before
                break
            then = self._node(node, flags, then)
        return then

    def _node(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        operator, argument = node
        if operator.name in _CHARACTERS:
            return (self._place(consumed(operator, argument, flags), then[-1]),) * len(then)
        lower = _INNER_NODES.get(operator.name)
        if lower is None:
            self._refuse(operator.name)
        return lower(self, node, flags, then)

    def _branch(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        alternatives = [self._sequence(nodes, flags, then) for nodes in node[1][1]]
        return tuple(self._split(entries) for entries in zip(*alternatives, strict=True))

    def _group(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        _, added, removed, nodes = node[1]
        return self._sequence(nodes, sre.scoped_flags(flags, added, removed), then)

    def _repeat(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        operator, (least, most, body) = node
        lazy = operator.name == "MIN_REPEAT"
        nullable = body.getwidth()[0] == 0
        if most == sre.UNLIMITED:
            then, once = self._loop(body, flags, then, lazy, nullable)
            if least > 0 and not nullable:  # the loop's own body serves as the last required iteration
                then, least = once, least - 1
        else:
            then = self._optional(body, flags, then, most - least, lazy, nullable)
        for _ in range(least):
            before = self._sequence(body, flags, then)
            if before == then:  # the body is empty, and so are all further copies
                break
            then = before
        return then

    def _loop(
        self, body: Any, flags: int, then: Continuation, lazy: bool, nullable: bool
    ) -> tuple[Continuation, Continuation]:
        """``body*`` before ``then``; also its entries past the first choice, that is, inside an iteration."""
        again = self._reserve()
        inner = self._sequence(body, flags, (*then, again) if nullable else (again,) * len(then))[: len(then)]
        first, second = _ordered(inner[-1], then[-1], lazy)
        self._settle(again, SPLIT, ((0, 0, first), (0, 0, second)))
        return self._choices(inner, then, lazy), inner

    def _optional(
        self, body: Any, flags: int, then: Continuation, most: int, lazy: bool, nullable: bool
    ) -> Continuation:
        """``body{0,most}`` before ``then``."""
        entries = then
        for _ in range(most):
            inner = self._sequence(body, flags, (*then, entries[-1]) if nullable else (entries[-1],) * len(then))
            before = self._choices(inner[: len(then)], then, lazy)
            if before == entries:
                break
            entries = before
        return entries

    def _refuse(self, operator: str) -> NoReturn:
        construct, text, column = sre.first_of(_INSTEAD, self._regexp, self._flags) or (operator.lower(), "", 1)
        feature = construct.replace("_", "-")
        raise UnsupportedGrammarError(
            f"the {feature} {text} at column {column} of the pattern {sre.quoted(self._regexp)} is not supported; "
            f"{_INSTEAD.get(construct, 'write the pattern without it')}",
            feature=feature,
        )

    # Building: equal states are one.

    def _place(self, characters: ByteTrie, target: int) -> int:
        """A state that consumes one of the characters and goes on to the target."""
        key = (characters, target)
        state = self._placed.get(key)
        if state is None:
            state = _DEAD_STATE
            if target != _DEAD_STATE:
                made: list[int] = []
                for node in characters.nodes:
                    edges = tuple((lo, hi, target if child == FINAL else made[child]) for lo, hi, child in node)
                    made.append(self._intern(BYTES, edges))
                if made:
                    state = made[-1]
            self._placed[key] = state
        return state

    def _choices(self, inside: Continuation, out: Continuation, lazy: bool) -> Continuation:
        return tuple(self._split(_ordered(*pair, lazy)) for pair in zip(inside, out, strict=True))

    def _split(self, targets: tuple[int, ...]) -> int:
        distinct = [target for target in dict.fromkeys(targets) if target != _DEAD_STATE]
        if len(distinct) == 1:
            return distinct[0]
        return self._intern(SPLIT, tuple((0, 0, target) for target in distinct)) if distinct else _DEAD_STATE

    def _intern(self, kind: int, edges: _Edges) -> int:
        state = self._known.get((kind, edges))
        if state is None:
            state = self._reserve()
            self._settle(state, kind, edges)
        return state

    def _settle(self, state: int, kind: int, edges: _Edges) -> None:
        self._kinds[state], self._edges[state] = kind, edges
        self._known.setdefault((kind, edges), state)

    def _reserve(self) -> int:
        if len(self._kinds) >= self._limit:
            raise LimitExceededError("states", len(self._kinds) + 1, self._limit)
        self._kinds.append(SPLIT)
        self._edges.append(())
        return len(self._kinds) - 1


_INNER_NODES = {
    "BRANCH": _Lowering._branch,
    "SUBPATTERN": _Lowering._group,
    "MAX_REPEAT": _Lowering._repeat,
    "MIN_REPEAT": _Lowering._repeat,
}


def _ordered(inside: int, out: int, lazy: bool) -> tuple[int, int]:
    return (out, inside) if lazy else (inside, out)


def _pack(kinds: list[int], edges: list[_Edges], entry: int) -> Program:
    """Number what the entry reaches in depth-first preorder, and lay it out in arrays."""
    number: dict[int, int] = {}
    pending = [entry]
    while pending:
        state = pending.pop()
        if state not in number:
            number[state] = len(number)
            pending += [target for _, _, target in reversed(edges[state])]
    offset = [0]
    lo: list[int] = []
    hi: list[int] = []
    target: list[int] = []
    for state in number:
        for first, last, to in edges[state]:
            lo.append(first)
            hi.append(last)
            target.append(number[to])
        offset.append(len(target))
    return Program(
        kind=np.array([kinds[state] for state in number], dtype=np.uint8),
        offset=np.array(offset, dtype=np.int32),
        lo=np.array(lo, dtype=np.uint8),
        hi=np.array(hi, dtype=np.uint8),
        target=np.array(target, dtype=np.int32),
    )
