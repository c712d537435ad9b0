"""Boolean combinations of patterns -> deterministic automata over code points.

A language is a formula over *positions*. A position says what is to be read next and which formula holds behind it: an
alternating automaton, in which look-ahead is a conjunction and complement a negation. Reading a character puts the
formula behind each position in its place; since equal formulas are one node, the formulas that come up are the states
of a deterministic automaton.

Source: A. Chandra, D. Kozen and L. Stockmeyer, "Alternation", Journal of the ACM 28(1), 1981.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pdacon.regular import ecma
from pdacon.regular.characters import ANY, WORD, Ranges
from pdacon.regular.formulas import FALSE, TRUE, Formulas, TooManyStates


@dataclass(frozen=True, slots=True, eq=False)
class Dfa:
    """A deterministic automaton over code points; state 0 is the start. No state is without a way to acceptance.

    Attributes
    ----------
    firsts : tuple of int
        The first code point of each class of characters, ascending from 0. Those of a class are not told apart.
    table : list of list of int
        For each state and class the next state, or -1.
    accepting : list of bool
    """

    firsts: tuple[int, ...]
    table: list[list[int]]
    accepting: list[bool]

    def accepts(self, text: str) -> bool:
        """Whether a text is in the language."""
        state = 0 if self.table else -1
        for character in text:
            if state < 0:
                return False
            state = self.table[state][bisect_right(self.firsts, ord(character)) - 1]
        return state >= 0 and self.accepting[state]

    def ranges(self, state: int) -> dict[int, Ranges]:
        """For each next state the characters that lead there."""
        found: dict[int, list[tuple[int, int]]] = {}
        ends = (*self.firsts[1:], ANY[-1][1] + 1)
        for first, end, target in zip(self.firsts, ends, self.table[state], strict=True):
            if target >= 0:
                pieces = found.setdefault(target, [])
                if pieces and pieces[-1][1] == first - 1:
                    pieces[-1] = pieces[-1][0], end - 1
                else:
                    pieces.append((first, end - 1))
        return {target: tuple(pieces) for target, pieces in found.items()}


@dataclass(slots=True)
class _Position:
    """What reading one character makes of it: for each set of characters the formula behind; else false."""

    edges: list[tuple[Ranges, int]] = field(default_factory=list)
    at_end: bool = False


_Trie: TypeAlias = "dict[str, _Trie]"
"""By character what follows; a word ends where the empty string is a key."""

_SMALL = 64
"""Up to so many states equal ones are merged; formulas are few to begin with, and long chains take many rounds."""

_ALWAYS = 1  # the bit of what always holds, in a set of positions

_END, _START, _AFTER_WORD = 0, 1, 2  # variables that ask where the text is


class Languages:
    """Formulas over positions, in one numbering; `formulas` has the Boolean connectives for them."""

    def __init__(self) -> None:
        self.formulas = Formulas()
        self._positions = [_Position(at_end=True), _Position(), _Position()]
        self._loops: dict[int, int] = {}  # by variable: what a loop begun there stands for
        self._known: dict[tuple[Ranges, int], int] = {}
        self._end = self.formulas.variable(_END)

    def pattern(self, tree: ecma.Tree) -> int:
        """The texts in which a pattern matches somewhere."""
        anywhere = ecma.Repeat(ecma.Characters(ANY), 0, None)
        if _starts_anchored(tree):
            return self.matched(tree, TRUE)
        return self.matched(ecma.Sequence((anywhere, tree)), TRUE)

    def whole(self, tree: ecma.Tree) -> int:
        """The texts that a pattern matches whole."""
        return self.matched(tree, self._end)

    def words(self, words: Iterable[str]) -> int:
        """These texts and no others."""
        trie: _Trie = {}
        for word in words:
            node = trie
            for character in word:
                node = node.setdefault(character, {})
            node[""] = {}
        return self._branch(trie)

    def _branch(self, trie: _Trie) -> int:
        order = [trie]
        for node in order:  # grows
            order += [child for character, child in node.items() if character]
        formula: dict[int, int] = {}
        for node in reversed(order):
            edges = [(((ord(c), ord(c)),), formula[id(child)]) for c, child in node.items() if c]
            own = self._position(edges) if edges else FALSE
            formula[id(node)] = self.formulas.disjunction(own, self._end) if "" in node else own
        return formula[id(trie)]

    def automaton(self, rows: Sequence[Sequence[tuple[Ranges, int]]], accepting: Sequence[bool]) -> int:
        """The language of an automaton: for each state its edges, from state 0."""
        base = len(self._positions)
        self._positions += [_Position(at_end=accept) for accept in accepting]
        for k, row in enumerate(rows):
            self._positions[base + k].edges = [(ranges, self.formulas.variable(base + to)) for ranges, to in row]
        return self.formulas.variable(base)

    def matched(self, tree: ecma.Tree, then: int) -> int:
        """The texts that begin with what a tree matches and go on as ``then`` says."""
        formulas = self.formulas
        if isinstance(tree, ecma.Characters):
            return self._read(tree.ranges, then)
        if isinstance(tree, ecma.Sequence):
            for part in reversed(tree.parts):
                then = self.matched(part, then)
            return then
        if isinstance(tree, ecma.Choice):
            return formulas.disjunction(*[self.matched(option, then) for option in tree.options])
        if isinstance(tree, ecma.Repeat):
            return self._repeated(tree, then)
        if isinstance(tree, ecma.Ahead):
            ahead = self.matched(tree.body, TRUE)
            return formulas.conjunction(formulas.negation(ahead) if tree.negative else ahead, then)
        return formulas.conjunction(self._anchor(tree.kind), then)

    def _repeated(self, tree: ecma.Repeat, then: int) -> int:
        formulas = self.formulas
        if tree.most is None:
            loop = len(self._positions)
            self._positions.append(_Position())
            self._loops[loop] = FALSE
            body = self.matched(tree.body, formulas.variable(loop))
            # An iteration that reads nothing adds nothing.
            then = formulas.disjunction(then, formulas.restricted(body, loop, False))
            self._loops[loop] = then
        else:
            behind = then
            for _ in range(tree.most - tree.least):
                then = formulas.disjunction(behind, self.matched(tree.body, then))
        for _ in range(tree.least):
            then = self.matched(tree.body, then)
        return then

    def _anchor(self, kind: str) -> int:
        formulas = self.formulas
        if kind == "end":
            return self._end
        if kind == "start":
            return formulas.variable(_START)
        word_next = self._read(WORD, TRUE)
        border = formulas.choice(formulas.variable(_AFTER_WORD), formulas.negation(word_next), word_next)
        return border if kind == "word" else formulas.negation(border)

    def _read(self, ranges: Ranges, then: int) -> int:
        if then == FALSE or not ranges:
            return FALSE
        key = ranges, then
        if key not in self._known:
            self._known[key] = self._position([(ranges, then)])
        return self._known[key]

    def _position(self, edges: Sequence[tuple[Ranges, int]]) -> int:
        self._positions.append(_Position(list(edges)))
        return self.formulas.variable(len(self._positions) - 1)

    def deterministic(self, formula: int, limit: int) -> Dfa:
        """The automaton of a language, without states that lead nowhere.

        Raises
        ------
        TooManyStates
            It would have more than ``limit``.
        """
        formulas = self.formulas
        start = self._placed(formula, {_START: TRUE, _AFTER_WORD: FALSE})
        firsts = self._classes(start)
        subsets = self._subsets(start, firsts, limit)
        if subsets is not None:
            return subsets
        words = [any(first <= point <= last for first, last in WORD) for point in firsts]
        characters = [any(first <= point <= last for first, last in ANY) for point in firsts]
        done: list[dict[int, int]] = [{} for _ in firsts]
        behind = [{_START: FALSE, _AFTER_WORD: TRUE if word else FALSE} for word in words]
        placed: list[dict[int, int]] = [{} for _ in range(2)]
        rows: list[list[int]] = []
        number = {start: 0}
        order = [start]

        def step(state: int, k: int) -> int:
            def read(variable: int) -> int:
                for ranges, then in self._positions[variable].edges:
                    if any(first <= firsts[k] <= last for first, last in ranges):
                        return self._placed(then, behind[k], placed[words[k]])
                return FALSE

            return formulas.substituted(state, read, done[k])

        for state in order:  # grows
            row = []
            for k in range(len(firsts)):
                after = step(state, k) if characters[k] else FALSE
                if after == FALSE:
                    row.append(-1)
                    continue
                if after not in number:
                    number[after] = len(order)
                    order.append(after)
                    if len(order) > limit:
                        raise TooManyStates
                row.append(number[after])
            rows.append(row)
        accepting = [formulas.evaluated(state, lambda one: self._positions[one].at_end) for state in order]
        return _trimmed(firsts, rows, accepting)

    def _subsets(self, start: int, firsts: tuple[int, ...], limit: int) -> Dfa | None:
        """The automaton, if every formula that comes up is a disjunction of positions; else None.

        That is so without look-ahead, complements and what looks behind. A state is then a set of positions, as bits,
        and reading a character is a union: much faster than to put formulas in the place of variables.
        """
        rows_of: dict[int, list[int]] = {}  # by position: for each class the positions behind
        sets: dict[int, int | None] = {}  # by formula

        def positions(formula: int) -> int | None:
            if formula not in sets:
                sets[formula] = self._alternatives(formula)
            return sets[formula]

        def row_of(position: int) -> list[int] | None:
            row = rows_of.get(position)
            if row is None:
                row = rows_of[position] = [0] * len(firsts)
                for ranges, then in self._positions[position].edges:
                    behind = positions(then)
                    if behind is None:
                        return None
                    for first, last in ranges:
                        for k in range(bisect_left(firsts, first), bisect_right(firsts, last)):
                            row[k] |= behind
            return row

        begin = positions(start)
        if begin is None:
            return None
        everywhere = [int(any(first <= point <= last for first, last in ANY)) for point in firsts]
        number: dict[int, int] = {begin: 0}
        order = [begin]
        rows: list[list[int]] = []
        for state in order:  # grows
            after = list(everywhere) if state & _ALWAYS else [0] * len(firsts)
            for position in _bits(state >> 1):
                row = row_of(position)
                if row is None:
                    return None
                after = [a | b for a, b in zip(after, row, strict=True)]
            after = [_ALWAYS if a & _ALWAYS else a for a in after]
            for a in dict.fromkeys(after):
                if a and a not in number:
                    number[a] = len(order)
                    order.append(a)
                    if len(order) > limit:
                        raise TooManyStates
            rows.append([number[a] if a else -1 for a in after])
        ends = {k for k, position in enumerate(self._positions) if position.at_end}
        accepting = [bool(state & _ALWAYS) or not ends.isdisjoint(_bits(state >> 1)) for state in order]
        return _trimmed(firsts, rows, accepting)

    def _alternatives(self, formula: int) -> int | None:
        """The positions of which any may hold, as bits behind that of what always holds; None: it is no disjunction."""
        found = 0
        pending = [formula]
        loops: set[int] = set()
        while pending:
            variables = self.formulas.alternatives(pending.pop())
            if variables is None:
                return None
            for variable in variables:
                if variable in (_START, _AFTER_WORD):
                    return None
                if variable not in self._loops:
                    found |= _ALWAYS if variable < 0 else 2 << variable
                elif variable not in loops:
                    loops.add(variable)
                    pending.append(self._loops[variable])
        return found

    def _placed(self, formula: int, place: dict[int, int], done: dict[int, int] | None = None) -> int:
        """The formula at a point of the text, with loops replaced by what they stand for."""

        def meaning(variable: int) -> int:
            if variable in place:
                return place[variable]
            if variable in self._loops:
                return self._placed(self._loops[variable], place, done)
            return self.formulas.variable(variable)

        return self.formulas.substituted(formula, meaning, done)

    def _classes(self, start: int) -> tuple[int, ...]:
        """The first code points of the classes of characters that no reachable position tells apart."""
        cuts = {0, 0xD800, 0xE000}
        seen: set[int] = set()
        pending = self.formulas.support(start)
        looks_behind = False
        while pending:
            variable = pending.pop()
            if variable in seen:
                continue
            seen.add(variable)
            looks_behind |= variable == _AFTER_WORD
            if variable in self._loops:
                pending += self.formulas.support(self._loops[variable])
            for ranges, then in self._positions[variable].edges:
                cuts.update(point for first, last in ranges for point in (first, last + 1))
                pending += self.formulas.support(then)
        if looks_behind:
            cuts.update(point for first, last in WORD for point in (first, last + 1))
        return tuple(sorted(cut for cut in cuts if cut <= ANY[-1][1]))


def _bits(number: int) -> Iterator[int]:
    """The places of the bits that are set, ascending."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def _starts_anchored(tree: ecma.Tree) -> bool:
    if isinstance(tree, ecma.Sequence):
        return bool(tree.parts) and _starts_anchored(tree.parts[0])
    if isinstance(tree, ecma.Choice):
        return all(map(_starts_anchored, tree.options))
    return isinstance(tree, ecma.Anchor) and tree.kind == "start"


def _trimmed(firsts: tuple[int, ...], rows: list[list[int]], accepting: list[bool]) -> Dfa:
    """Without the states from which no text is accepted; equal columns are merged, and so are equal states."""
    sources: dict[int, set[int]] = {}
    for state, row in enumerate(rows):
        for target in row:
            sources.setdefault(target, set()).add(state)
    live = {state for state, accept in enumerate(accepting) if accept}
    pending = list(live)
    while pending:
        for source in sources.get(pending.pop(), ()):
            if source not in live:
                live.add(source)
                pending.append(source)
    if 0 not in live:
        return Dfa((0,), [], [])
    number = _blocks(rows, accepting, live) if len(live) <= _SMALL else {state: state for state in live}
    states: dict[int, int] = {}
    for state in range(len(rows)):
        if state in live:
            states.setdefault(number[state], state)
    renamed = {block: k for k, block in enumerate(states)}  # the start's block is the first
    table = [[renamed[number[to]] if to in live else -1 for to in rows[state]] for state in states.values()]
    columns = list(zip(*table, strict=True))
    kept = [k for k, column in enumerate(columns) if k == 0 or column != columns[k - 1]]
    return Dfa(
        tuple(firsts[k] for k in kept),
        [[row[k] for k in kept] for row in table],
        [accepting[state] for state in states.values()],
    )


def _blocks(rows: list[list[int]], accepting: list[bool], live: set[int]) -> dict[int, int]:
    """For each live state the block of those that accept the same texts (Moore's refinement)."""
    block = {state: int(accepting[state]) for state in live}
    count = len(set(block.values()))
    while True:
        keys: dict[tuple[int, ...], int] = {}
        refined = {
            state: keys.setdefault((block[state], *[block.get(to, -1) for to in rows[state]]), len(keys))
            for state in live
        }
        if len(keys) == count:
            return refined
        block, count = refined, len(keys)
