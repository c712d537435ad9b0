"""Boolean combinations of patterns -> deterministic automata over code points.

A language is a formula over *positions*. A position says what is to be read next and which formula holds after it: an
alternating automaton, in which look-ahead is a conjunction and complement a negation. Reading a character puts the
formula after each position in its place; since equal formulas are one node, the formulas that come up are the states
of a deterministic automaton.

Source: A. Chandra, D. Kozen and L. Stockmeyer, "Alternation", Journal of the ACM 28(1), 1981.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pdacon.base.once import memoized
from pdacon.regular import ecma
from pdacon.regular.automata import Dfa, Numbered, determinized, explored
from pdacon.regular.characters import ANY, WORD, Ranges
from pdacon.regular.formulas import FALSE, TRUE, Formulas, Substitution


@dataclass(slots=True)
class _Position:
    """For each set of characters, the formula that holds after one of them; after all others it is false."""

    edges: list[tuple[Ranges, int]] = field(default_factory=list)
    at_end: bool = False


_Trie: TypeAlias = "dict[str, _Trie]"
"""By character what follows; a word ends where the empty string is a key."""

_END, _START, _AFTER_WORD = 0, 1, 2  # variables that ask where the text is
_EVERYTHING = -1  # in lists of positions: what always holds


class Languages:
    """Formulas over positions, in one numbering; `formulas` has the Boolean connectives for them."""

    def __init__(self) -> None:
        self.formulas = Formulas()
        self._positions = [_Position(at_end=True), _Position(), _Position()]
        self._loops: dict[int, int] = {}  # by variable: what a loop begun there stands for
        self._end = self.formulas.variable(_END)

    def pattern(self, tree: ecma.Tree) -> int:
        """The texts in which a pattern matches somewhere."""
        anywhere = ecma.Repeat(ecma.CharacterSet(ANY), 0, None)
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

    def matched(self, tree: ecma.Tree, then: int) -> int:
        """The texts that begin with what a tree matches and go on as ``then`` says."""
        formulas = self.formulas
        if isinstance(tree, ecma.CharacterSet):
            return self._read(tree.ranges, then)
        if isinstance(tree, ecma.Sequence):
            for part in reversed(tree.parts):
                then = self.matched(part, then)
            return then
        if isinstance(tree, ecma.Alternatives):
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
            after = then
            for _ in range(tree.most - tree.least):
                then = formulas.disjunction(after, self.matched(tree.body, then))
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

    @memoized
    def _read(self, ranges: Ranges, then: int) -> int:
        if then == FALSE or not ranges:
            return FALSE
        return self._position([(ranges, then)])

    def _position(self, edges: Sequence[tuple[Ranges, int]]) -> int:
        self._positions.append(_Position(list(edges)))
        return self.formulas.variable(len(self._positions) - 1)

    def deterministic(self, formula: int, limit: int) -> Dfa:
        """The least automaton of a language.

        Raises
        ------
        LimitExceededError
            The subset construction, or what stands for it, would have more than ``limit``.
        """
        start = self._placed({_START: TRUE, _AFTER_WORD: FALSE})(formula)
        subsets = self._subsets(start, limit)
        if subsets is not None:
            return subsets
        formulas = self.formulas
        placed = [self._placed({_START: FALSE, _AFTER_WORD: after_word}) for after_word in (FALSE, TRUE)]

        def reading(point: int) -> Substitution:
            after = placed[any(first <= point <= last for first, last in WORD)]

            def read(variable: int) -> int:
                for ranges, then in self._positions[variable].edges:
                    if any(first <= point <= last for first, last in ranges):
                        return after(then)
                return FALSE

            return Substitution(formulas, read)

        readings: dict[int, Substitution] = {}

        def step(state: int, point: int) -> int:
            if point not in readings:
                readings[point] = reading(point)
            return readings[point](state)

        def accepts(state: int) -> bool:
            return formulas.evaluated(state, lambda one: self._positions[one].at_end)

        return explored([ANY, *self._sets(start)], start, step, accepts, limit)

    def _subsets(self, start: int, limit: int) -> Dfa | None:
        """The automaton, if every formula that comes up is a disjunction of positions; else None.

        That is so without look-ahead, complements and what looks behind. A state is then a set of positions: much
        faster than to put formulas in the place of variables.
        """
        lists = Numbered()
        list_of: dict[int, int] = {}  # by formula
        sets: dict[Ranges, int] = {}
        number: dict[int, int] = {}  # by position
        order: list[int] = []
        rows: list[list[tuple[int, int]]] = []

        def list_for(formula: int) -> int | None:
            if formula not in list_of:
                positions = self._alternatives(formula)
                if positions is None:
                    return None
                for position in positions:
                    if position not in number:
                        number[position] = len(order)
                        order.append(position)
                list_of[formula] = lists.number(number[position] for position in positions)
            return list_of[formula]

        begin = list_for(start)
        if begin is None:
            return None
        for position in order:  # grows
            row = []
            for ranges, then in [(ANY, TRUE)] if position == _EVERYTHING else self._positions[position].edges:
                after = list_for(then)
                if after is None:
                    return None
                row.append((sets.setdefault(ranges, len(sets)), after))
            rows.append(row)
        accepting = [position == _EVERYTHING or self._positions[position].at_end for position in order]
        return determinized(sets, rows, accepting, number.get(_EVERYTHING, -1), lists, begin, limit)

    def _alternatives(self, formula: int) -> list[int] | None:
        """The positions of which any may hold, and what stands for everything; None: it is no disjunction."""
        found: dict[int, None] = {}
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
                    found[variable] = None
                elif variable not in loops:
                    loops.add(variable)
                    pending.append(self._loops[variable])
        return list(found)

    def _placed(self, place: dict[int, int]) -> Substitution:
        """Formulas at a point of the text, with loops replaced by what they stand for."""
        return _Placed(self.formulas, self._loops, place)

    def _sets(self, start: int) -> Iterable[Ranges]:
        """The sets of characters that reachable positions, and what looks behind, tell apart."""
        sets: dict[Ranges, None] = {}
        seen: set[int] = set()
        pending = self.formulas.support([start])
        while pending:
            variable = pending.pop()
            if variable in seen:
                continue
            seen.add(variable)
            if variable == _AFTER_WORD:
                sets[WORD] = None
            if variable in self._loops:
                pending += self.formulas.support([self._loops[variable]])
            for ranges, then in self._positions[variable].edges:
                sets[ranges] = None
                pending += self.formulas.support([then])
        return sets


class _Placed(Substitution):
    """At a point of the text: formulas in place of some variables, and in place of loops what they stand for."""

    __slots__ = ("_loops", "_place")

    def __init__(self, formulas: Formulas, loops: Mapping[int, int], place: Mapping[int, int]) -> None:
        super().__init__(formulas, formulas.variable)
        self._loops, self._place = loops, place

    def meaning(self, variable: int) -> int:
        """The formula in place of a variable."""
        if variable in self._place:
            return self._place[variable]
        return self(self._loops[variable]) if variable in self._loops else super().meaning(variable)


def _starts_anchored(tree: ecma.Tree) -> bool:
    if isinstance(tree, ecma.Sequence):
        return bool(tree.parts) and _starts_anchored(tree.parts[0])
    if isinstance(tree, ecma.Alternatives):
        return all(map(_starts_anchored, tree.options))
    return isinstance(tree, ecma.Anchor) and tree.kind == "start"
