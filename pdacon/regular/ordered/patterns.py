"""Patterns -> ordered byte automata.

In: a pattern in Python's ``re`` syntax. Out: a Program that matches
what ``re`` matches: ordered alternation, greedy, lazy and possessive repetition, atomic groups, look-around, anchors,
Unicode classes and IGNORECASE as str patterns have them. Backreferences and conditional groups are written out first
where they are regular, and refused by name where they are not (see ``captures``).

States are built from the end of the pattern to its start: a node is lowered against the states that follow it
(its continuation), and equal states are made once. What looks at the text around a point becomes a guard; see
``guards`` for how guards are taken away.

Repetition of what can be empty is where ordered automata and ``re`` usually part. ``re`` goes on after a loop as soon
as one iteration beyond the required ones has consumed nothing; so the order of threads depends on whether the current
iteration has consumed anything. Go's and RE2's rewriting of ``x*`` to ``(x+)?`` is not enough: ``(|a)*(b|abc)`` on
``aabc`` is 3 long there and 4 in Python. Here a continuation is a vector: entry i is where to go on when the
i outermost of the loops around the node have consumed something in their current iteration, and the inner ones have
not (an iteration of an inner loop lies within one of an outer loop, so there are no other cases). Where an iteration
ends empty, the entry leads past the loop. No epsilon cycle is left, so a closure that visits each state once
explores what a backtracking matcher does, in the same order.

Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009), for the machine; CPython's
``Modules/_sre/sre_lib.h``, MAX_UNTIL and MIN_UNTIL, for the loops.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NoReturn, TypeAlias

from pdacon.base.cancelling import look
from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.regular.groups import FIRST_SET
from pdacon.regular.ordered import guarded, guards, sre
from pdacon.regular.ordered.captures import without_references
from pdacon.regular.ordered.classes import consumed
from pdacon.regular.ordered.program import BYTES, MATCH, SPLIT, Edges, Program, pack
from pdacon.regular.ordered.utf8 import FINAL, ByteTrie
from pdacon.regular.ordered.words import words_program

STATES_LIMIT = 100_000
ANY_SIZE = 1 << 60
"""A limit for patterns of a grammar that has been compiled, which are known to keep to one."""

Continuation: TypeAlias = tuple[int, ...]


def compile_pattern(
    regexp: str, flags: int = 0, limit: int = STATES_LIMIT, *, use_bytes: bool = False, labels: bool = False
) -> Program:
    """Lower a pattern to an ordered automaton over the UTF-8 bytes of the text, or over a text of bytes.

    Parameters
    ----------
    regexp : str
        A pattern as ``re.compile`` takes it for str.
    flags : int
        Flags as for ``re.compile`` (LOCALE is not for str).
    limit : int
        Most states. A counted repetition makes a copy per count: ``\\w{1,1000}`` has 309,000 states.
    use_bytes : bool
        The pattern is for bytes, as ``re.compile`` takes its latin-1.
    labels : bool
        Surrogates in the pattern stand for labels.

    Returns
    -------
    Program
        Cached (some 100,000 states in total). Uncached, a terminal of JSON takes 0.1 ms, one ``\\w`` 2 ms,
        and 100,000 states half a second.

    Raises
    ------
    UnsupportedGrammarError
        ``re`` does not take the pattern, or it has a construct that is not supported; the message says where.
    LimitExceededError
        More than ``limit`` states.
    """
    flags |= (sre.BYTES if use_bytes else 0) | (sre.LABELS if labels else 0)
    program = _cache.get(regexp, flags, limit)
    if program is None:
        words = None if flags else words_program(regexp, compile_pattern, limit)
        program = words or _lowered(regexp, flags, limit)
        _cache.put(regexp, flags, limit, program)
    return program


def compile_whole(regexp: str, limit: int = STATES_LIMIT, flags: int = 0) -> Program:
    """Lower a pattern to an automaton whose threads are all ways to match: what ``re.fullmatch`` tries.

    A text is matched whole if any thread is at ``MATCH`` at its end, or at a state that matches if the text ends.
    Parameters and errors as of `compile_pattern`.
    """
    return _lowered(regexp, flags, limit, whole=True)


def _lowered(regexp: str, flags: int, limit: int, whole: bool = False) -> Program:
    try:
        tree, flags = sre.parse(regexp, flags)
        tree = without_references(tree, regexp, flags)
        lowering = _Lowering(regexp, flags, limit)
        entry = lowering.entry(tree, flags)
        if whole and lowering.guarded:  # the product with guards cuts what a match has priority over
            lowering = _Lowering(regexp, flags, limit)
            entry = lowering.entry(sre.sequence(tree, [*tree.data, sre.END_OF_TEXT]), flags)
        return lowering.program(entry)
    except RecursionError as error:
        raise UnsupportedGrammarError(
            f"the groups of {sre.quoted(regexp)} are nested too deeply", feature="deep-nesting"
        ) from error


def compile_with_sets(regexp: str, flags: int, sets: Sequence[Program], limit: int = STATES_LIMIT) -> Program:
    """Lower a pattern in which ``\\udc00+`` stands for the first of some programs, ``\\udc01+`` for the next.

    A program that looks at nothing behind it, and that matches no empty text; with ``*`` the empty text is added. Other
    surrogates stand for labels. A pattern that is nothing but one of them is that program, whatever its size.

    Raises
    ------
    UnsupportedGrammarError
        See `compile_pattern`; or what looks at the text before it, or knows no case, stands beside a set.
    LimitExceededError
    """
    tree, flags = sre.parse(regexp, flags | sre.LABELS)
    only = _set_of(tree.data[0]) if len(tree.data) == 1 else None
    if only is not None and tree.data[0][1][0] == 1 and not flags & sre.IGNORECASE:
        return sets[only]
    lowering = _Lowering(regexp, flags, limit, sets)
    try:
        program = lowering.program(lowering.entry(without_references(tree, regexp, flags), flags))
    except RecursionError as error:
        raise UnsupportedGrammarError(
            f"the groups of {sre.quoted(regexp)} are nested too deeply", feature="deep-nesting"
        ) from error
    if not program.looks_ahead_only:
        raise UnsupportedGrammarError(
            f"the pattern {sre.quoted(regexp)} has a set and looks at the text before it",
            feature="extensions",
            advice=r"write it without \b, ^ and look-behind",
        )
    return program


def _set_of(node: tuple[Any, Any]) -> int | None:
    """The number of the set that a node stands for."""
    operator, argument = node
    if operator.name != "MAX_REPEAT" or len(argument[2].data) != 1:
        return None
    inner, point = argument[2].data[0]
    return point - FIRST_SET if inner.name == "LITERAL" and point >> 10 == FIRST_SET >> 10 else None


class _Cache:
    """The programs used last, up to a number of states in total, each with the limit that it has kept to."""

    def __init__(self, states: int) -> None:
        self._free = states
        self._programs: OrderedDict[tuple[str, int], tuple[int, Program]] = OrderedDict()
        self._lock = Lock()

    def get(self, regexp: str, flags: int, limit: int) -> Program | None:
        """The program, if it was made under this limit or a lower one: it is the same under each that suffices."""
        key = regexp, flags
        with self._lock:
            kept, program = self._programs.get(key, (limit + 1, None))
            if program is None or kept > limit:
                return None
            self._programs.move_to_end(key)
            return program

    def put(self, regexp: str, flags: int, limit: int, program: Program) -> None:
        key = regexp, flags
        with self._lock:
            _, former = self._programs.pop(key, (0, None))
            self._free += 0 if former is None else len(former)
            self._programs[key] = limit, program
            self._free -= len(program)
            while self._free < 0:
                self._free += len(self._programs.popitem(last=False)[1][1])


_cache = _Cache(states=100_000)


_MATCH_STATE, _DEAD_STATE = guarded.MATCH_STATE, 1

_CHARACTERS = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})


class _Lowering:
    """The states made so far for one pattern. ``SPLIT`` edges are (0, 0, target)."""

    def __init__(self, regexp: str, flags: int, limit: int, sets: Sequence[Program] = ()) -> None:
        self._sets = sets
        self._regexp, self._flags, self._limit = regexp, flags, limit
        self._kinds = [MATCH, BYTES]
        self._edges: list[Edges] = [(), ()]
        self._known: dict[tuple[int, Edges], int] = {(BYTES, ()): _DEAD_STATE}
        self._placed: dict[tuple[ByteTrie, int], int] = {}
        # Repetitions within repetitions lower what they repeat more than twice for each level.
        self._lowered: dict[tuple[int, int, Continuation, bool], Continuation] = {}
        self._iterations: dict[int, Any] = {}  # of possessive repetitions, by their bodies
        self.guarded = False
        self._trackers: list[int] = []
        self._inside_look_behind = False

    def entry(self, tree: Any, flags: int) -> int:
        """Lower a whole pattern; the state to start in."""
        (entry,) = self._sequence(tree, flags, (_MATCH_STATE,))
        return entry

    def program(self, entry: int) -> Program:
        """What was lowered, without guards."""
        if self.guarded:
            return guards.expand(
                guarded.Guarded(self._kinds, self._edges, self._trackers, bool(self._flags & sre.BYTES)),
                entry,
                self._limit,
            )
        return pack(self._kinds, self._edges, (entry,))

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
        key = (id(node), flags, then, self._inside_look_behind)  # a node lives as long as the tree
        entries = self._lowered.get(key)
        if entries is None:
            entries = self._lowered[key] = lower(self, node, flags, then)
        return entries

    def _branch(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        alternatives = [self._sequence(nodes, flags, then) for nodes in node[1][1]]
        return tuple(self._split(entries) for entries in zip(*alternatives, strict=True))

    def _group(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        _, added, removed, nodes = node[1]
        return self._sequence(nodes, sre.scoped_flags(flags, added, removed), then)

    def _repeat(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        operator, (least, most, body) = node
        lazy = operator.name == "MIN_REPEAT"
        number = _set_of(node) if self._sets else None
        if number is not None:
            return self._set(self._sets[number], least == 0, flags, then)
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

    def _set(self, program: Program, or_nothing: bool, flags: int, then: Continuation) -> Continuation:
        """The states of a program; it has consumed something where it has matched."""
        if flags & sre.IGNORECASE:
            raise UnsupportedGrammarError(
                f"the pattern {sre.quoted(self._regexp)} has the flag i, and a set has its texts as they are",
                feature="extensions",
                advice="leave the flag out, or write (?-i:...) around the set",
            )
        if then[-1] == _DEAD_STATE:
            return (_DEAD_STATE,) * len(then)
        states = program.states()
        placed = [then[-1] if kind == MATCH else self._reserve() for kind, _ in states]
        for place, (kind, edges) in zip(placed, states, strict=True):
            if kind != MATCH:
                self._settle(place, kind, tuple((lo, hi, placed[target]) for lo, hi, target in edges))
        entries = (placed[0],) * len(then)
        return self._choices(entries, then, lazy=False) if or_nothing else entries

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

    # Guards

    def _assertion(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        operator, (direction, body) = node
        must = operator.name == "ASSERT"
        return self._ahead(body, flags, must, then) if direction > 0 else self._behind(body, flags, must, then)

    def _ahead(self, body: Any, flags: int, must: bool, then: Continuation) -> Continuation:
        outside, self._inside_look_behind = self._inside_look_behind, False  # what it looks at may have any length
        (entry,) = self._sequence(body, flags, (_MATCH_STATE,))
        self._inside_look_behind = outside
        return self._look_ahead(entry, must, then)

    def _look_ahead(self, body: int, must: bool, then: Continuation) -> Continuation:
        return self._guards(guarded.AHEAD if must else guarded.NOT_AHEAD, body, then)

    def _behind(self, body: Any, flags: int, must: bool, then: Continuation) -> Continuation:
        outside, self._inside_look_behind = self._inside_look_behind, True
        (entry,) = self._sequence(body, flags, (_MATCH_STATE,))
        self._inside_look_behind = outside
        return self._look_behind(entry, must, then)

    def _look_behind(self, body: int, must: bool, then: Continuation) -> Continuation:
        if body not in self._trackers:
            self._trackers.append(body)
        return self._guards(guarded.BEHIND if must else guarded.NOT_BEHIND, self._trackers.index(body), then)

    def _guards(self, kind: int, subject: int, then: Continuation) -> Continuation:
        self.guarded = True
        return tuple(
            target if target == _DEAD_STATE else self._intern(kind, ((0, 0, subject), (0, 0, target)))
            for target in then
        )

    def _anchor(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        name = node[1].name
        if name in ("AT_BOUNDARY", "AT_NON_BOUNDARY"):
            return self._word_boundary(name == "AT_BOUNDARY", flags, then)
        newline = self._intern(BYTES, ((10, 10, _MATCH_STATE),))
        if name in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            begin = self._intern(guarded.BEGIN, ((0, 0, _MATCH_STATE),))
            multiline = name == "AT_BEGINNING" and flags & sre.MULTILINE
            return self._look_behind(self._split((begin, newline)) if multiline else begin, True, then)
        end = self._intern(BYTES, ((guarded.END_OF_TEXT, guarded.END_OF_TEXT, _MATCH_STATE),))
        if name == "AT_END" and flags & sre.MULTILINE:
            end = self._split((end, newline))
        elif name == "AT_END":
            end = self._split((end, self._intern(BYTES, ((10, 10, end),))))
        return self._look_ahead(end, True, then)

    def _word_boundary(self, boundary: bool, flags: int, then: Continuation) -> Continuation:
        word = self._place(consumed(*sre.WORD, flags), _MATCH_STATE)
        return tuple(
            self._split(sides)
            for sides in zip(
                self._look_behind(word, True, self._look_ahead(word, not boundary, then)),
                self._look_behind(word, False, self._look_ahead(word, boundary, then)),
                strict=True,
            )
        )

    def _atomic(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        return self._committed(lambda exits: self._sequence(node[1], flags, exits), then)

    def _possessive(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        """In `re` each iteration is final once it has matched, so that ``(?:a?a){2}+`` does not match ``aa``."""
        operator, (least, most, body) = node
        if most > 1:  # else what makes the whole final makes its one iteration final
            body = self._iterations.setdefault(id(body), sre.atomic(body))
        return self._committed(lambda exits: self._repeat((operator, (least, most, body)), flags, exits), then)

    def _committed(self, body: Callable[[Continuation], Continuation], then: Continuation) -> Continuation:
        """A body whose first match is final. In a look-behind, of one length, it is any group."""
        if self._inside_look_behind:
            return body(then)
        self.guarded = True
        exits = tuple(self._intern(guarded.EXIT, ((0, 0, number),)) for number in range(len(then)))
        after = tuple((0, 0, target) for target in then)
        return tuple(self._intern(guarded.ATOMIC, ((0, 0, entry), *after)) for entry in body(exits))

    def _failure(self, node: tuple[Any, Any], flags: int, then: Continuation) -> Continuation:
        return (_DEAD_STATE,) * len(then)

    def _refuse(self, operator: str) -> NoReturn:
        feature = operator.lower().replace("_", "-")
        raise UnsupportedGrammarError(
            f"the {feature} in the pattern {sre.quoted(self._regexp)} is not supported",
            feature=feature,
            advice="write the pattern without it",
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

    def _intern(self, kind: int, edges: Edges) -> int:
        state = self._known.get((kind, edges))
        if state is None:
            state = self._reserve()
            self._settle(state, kind, edges)
        return state

    def _settle(self, state: int, kind: int, edges: Edges) -> None:
        self._kinds[state], self._edges[state] = kind, edges
        self._known.setdefault((kind, edges), state)

    def _reserve(self) -> int:
        look()
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
    "POSSESSIVE_REPEAT": _Lowering._possessive,
    "ATOMIC_GROUP": _Lowering._atomic,
    "ASSERT": _Lowering._assertion,
    "ASSERT_NOT": _Lowering._assertion,
    "AT": _Lowering._anchor,
    "FAILURE": _Lowering._failure,
}


def _ordered(inside: int, out: int, lazy: bool) -> tuple[int, int]:
    return (out, inside) if lazy else (inside, out)
