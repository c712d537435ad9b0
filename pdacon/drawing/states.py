"""LR states as boxes: which of them have one, what lies between them, and what is written in each.

In: a grammar and its tables. Out: nodes and edges of a `Graph`. A state that can only reduce by one rule has no box: it
is a line in the boxes of the states that lead to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy

from pdacon.base.graphs import Search
from pdacon.determinism.report.listing import cut_short, listed
from pdacon.drawing.captions import numbers, shortened, wrapped
from pdacon.drawing.contexts import context_lines, find_contexts
from pdacon.drawing.graph import Edge, EdgeStyle, Node, Row, RowStyle
from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import GrammarData
from pdacon.lalr import Conflict, Tables

_MOST_EDGES = 48  # between boxes; of more, those into states that have so many of them are lines in a box
_MOST_ENTRIES = 3
_MOST_LABELS = 6  # symbols on one edge; the others are counted
_WIDEST_LEGEND = 110  # characters of a line above the picture
_MOST_ITEMS = 6  # in a box beside the one that is asked for


class States:
    """The tables in the author's words."""

    def __init__(self, grammar: GrammarData, tables: Tables) -> None:
        self._grammar, self._tables = grammar, tables
        self._conflicts: dict[int, list[Conflict]] = {}
        for conflict in tables.conflicts:
            self._conflicts.setdefault(conflict.state, []).append(conflict)

    # Which states, and what lies between them

    @cached_property
    def steps(self) -> list[list[tuple[int, int]]]:
        """For each state the symbols that lead on, terminals first, and where to."""
        action, goto, end = self._tables.action, self._tables.goto, self._grammar.end
        return [
            [
                *((k, int(action[state, k]) - 1) for k in numpy.flatnonzero(action[state] > 0).tolist()),
                *((end + 1 + k, target) for k, target in goto.row(state).items()),
            ]
            for state in range(self._tables.num_states)
        ]

    @cached_property
    def boxes(self) -> list[int]:
        """The states that are more than a line: not those that can only reduce one thing."""
        kept = {*self._tables.start_states, *self._tables.end_states, *self._conflicts}
        return [
            state for state, steps in enumerate(self.steps) if steps or state in kept or len(self._kernel(state)) > 1
        ]

    def jumps(self) -> set[tuple[int, int]]:
        """Transitions that are lines in a box: of many edges those that only lead once more to where many lead."""
        boxes = set(self.boxes)
        pairs = sorted({(source, target) for source in boxes for _, target in self.steps[source] if target in boxes})
        if len(pairs) <= _MOST_EDGES:
            return set()
        sources: dict[int, list[int]] = {}
        for source, target in pairs:
            sources.setdefault(target, []).append(source)
        # States are numbered as they are found, breadth first, so the first source is the one next to the start.
        return {
            (source, target) for target, found in sources.items() if len(found) > _MOST_ENTRIES for source in found[1:]
        }

    def near(self, state: int, around: int) -> dict[int, int]:
        """The state, and the boxes up to so many steps before and after it, the nearest first: how far each is."""
        boxes = {*self.boxes, state}
        beside: dict[int, set[int]] = {box: set() for box in boxes}
        for source in boxes:
            for _, target in self.steps[source]:
                if target in boxes:
                    beside[source].add(target)
                    beside[target].add(source)
        search = Search({state: 0})
        for box, distance in search:
            for other in sorted(beside[box]) if distance < around else ():
                search.meet(other, distance + 1)
        return search.ways

    def edges(self, boxes: Mapping[int, int], around: int) -> Iterator[Edge]:
        """The transitions between boxes, terminals and nonterminals apart, but not between two that are so far away."""
        for source in sorted(boxes):
            symbols: dict[tuple[int, EdgeStyle], list[str]] = {}
            for symbol, target in self.steps[source]:
                if target in boxes and min(boxes[source], boxes[target]) < around:
                    style: EdgeStyle = "terminal" if symbol < self._grammar.end else "nonterminal"
                    symbols.setdefault((target, style), []).append(self._grammar.describe_symbol(symbol))
            for (target, style), labels in symbols.items():
                yield Edge(str(source), str(target), tuple(cut_short(labels, _MOST_LABELS)), style)

    # What is written in a box

    def box(self, state: int, jumps: Collection[tuple[int, int]]) -> Node:
        """Its kernel items, what is complete after one more symbol, and the transitions that are not edges."""
        rows = [self._head(state), *self._items(self._kernel(state)), *self._short_conflicts(state)]
        return self._node(state, [*rows, *self._empty_reductions(state), *self._steps_in_words(state, jumps)])

    def small_box(self, state: int) -> Node:
        kernel = self._kernel(state)
        rows = [self._head(state), *self._items(kernel[:_MOST_ITEMS]), *self._short_conflicts(state)]
        if len(kernel) > _MOST_ITEMS:
            rows.append(Row(f"and {len(kernel) - _MOST_ITEMS} items more", "faint"))
        return self._node(state, rows)

    def full_box(self, state: int) -> Node:
        """All its items, its row of actions, its context."""
        kernel = self._kernel(state)
        closure = self._tables.items(state)[len(kernel) :]
        rows = [self._head(state), *self._items(kernel), *self._conflicts_in_words(state)]
        rows += self._items(closure, "closure")
        for part in (self._actions(state), [Row(line, "faint") for line in self._context(state)]):
            rows += [Row("", "line"), *part] if part else []
        return self._node(state, rows)

    def way_to(self, state: int) -> list[str]:
        """A shortest example of what leads there, and from which states it is entered."""
        from pdacon.determinism.examples import Examples

        prefix = Examples(self._grammar, self._tables).prefix(state)
        lines = []
        if prefix is None:
            lines.append("No text leads here.")
        elif prefix:
            lines += wrapped("A shortest way here:", prefix, _WIDEST_LEGEND)
        before = [source for source, steps in enumerate(self.steps) if any(target == state for _, target in steps)]
        if before:
            symbol = self._grammar.describe_symbol(int(self._tables.accessing[state]))
            lines += wrapped(f"Entered on {symbol} from", [numbers(before)], _WIDEST_LEGEND)
        return lines

    def stack(self, states: Sequence[int]) -> list[str]:
        """The states of a stack, and the symbols between them."""
        accessing, describe = self._tables.accessing, self._grammar.describe_symbol
        words = [str(states[0]), *(f"{describe(int(accessing[state]))} {state}" for state in states[1:])]
        return wrapped("The stack, from its bottom:", words, _WIDEST_LEGEND)

    def say_where_conflicts_are(self) -> str:
        """The end of a message."""
        if not self._conflicts:
            return ""
        return f"; there are conflicts in {numbers(sorted(self._conflicts))}"

    def _node(self, state: int, rows: Sequence[Row]) -> Node:
        start, end = state in self._tables.start_states, state in self._tables.end_states
        kind = ", start" if start else ", accepts" if end else ""
        conflict = ", in conflict" if state in self._conflicts else ""
        return Node(
            id=str(state),
            rows=tuple(Row(shortened(row.text), row.style) for row in rows),
            accepting=end,
            start=start,
            description=f"LR state {state}{kind}{conflict}",
        )

    def _head(self, state: int) -> Row:
        if state in self._tables.start_states:
            return Row(f"{state}  start", "head")
        return Row(f"{state}  the text may end" if state in self._tables.end_states else str(state), "head")

    def _kernel(self, state: int) -> list[tuple[int, int]]:
        rules = len(self._grammar.productions)
        return [(rule, dot) for rule, dot in self._tables.items(state) if dot or rule >= rules]

    def _items(self, items: Sequence[tuple[int, int]], style: RowStyle = "item") -> Iterator[Row]:
        return (Row(self._item(*item), style) for item in items)

    def _item(self, rule: int, dot: int) -> str:
        """``expr: expr "+" • expr``; the rule behind a start has no name of the author's."""
        further = rule - len(self._grammar.productions)
        if further < 0:
            return self._grammar.describe_item(rule, dot)
        start = self._grammar.describe_symbol(list(dict.fromkeys(self._grammar.starts))[further])
        return f"$root: {start} •" if dot else f"$root: • {start}"

    def _complete(self, rule: int) -> str:
        return self._item(rule, len(self._grammar.productions[rule].rhs))

    def _empty_reductions(self, state: int) -> Iterator[Row]:
        productions = self._grammar.productions
        for rule, dot in self._tables.items(state):
            if rule < len(productions) and not dot and not productions[rule].rhs:
                yield Row(self._item(rule, 0), "closure")

    def _steps_in_words(self, state: int, jumps: Collection[tuple[int, int]]) -> list[Row]:
        boxes = set(self.boxes)
        rows: list[tuple[str, int, str]] = []
        for symbol, target in self.steps[state]:
            if target not in boxes:
                rows.append((self._grammar.describe_symbol(symbol), target, self._item(*self._kernel(target)[0])))
            elif (state, target) in jumps:
                rows.append((self._grammar.describe_symbol(symbol), target, ""))
        width = max((len(name) for name, _, _ in rows), default=0)
        return [
            Row(f"  {name:<{width}} → {target:<2} {item}".rstrip(), "step" if item else "jump")
            for name, target, item in rows
        ]

    def _actions(self, state: int) -> list[Row]:
        """The row of the table: shifts, then reductions with the terminals that call for them, then gotos."""
        action, describe = self._tables.action[state], self._grammar.describe_symbol
        boxes = set(self.boxes)
        rows: list[tuple[str, str]] = []
        for symbol, target in self.steps[state]:
            leads = f"to {target}"
            if target not in boxes:
                leads += f"  {self._item(*self._kernel(target)[0])}"
            what = "shift" if symbol < self._grammar.end else "goto"
            rows.append((f"{what} {describe(symbol)}", leads))
        width = min(max((len(head) for head, _ in rows), default=0), 40)
        lines = [Row(f"{head:<{width}}  {leads}", "step") for head, leads in rows]
        for rule in sorted({-int(entry) - 1 for entry in action.tolist() if entry < 0}):
            terminals = [describe(k) for k in numpy.flatnonzero(action == -rule - 1).tolist()]
            lines += [Row(line, "step") for line in wrapped(f"reduce {self._complete(rule)}  on", terminals)]
        return lines

    def _context(self, state: int) -> Iterator[str]:
        try:
            contexts = find_contexts(self._grammar, self._tables)
        except UnsupportedGrammarError as error:
            yield from wrapped("no lexical context:", str(error).split())
        else:
            yield from context_lines(self._grammar, contexts, state)

    def _short_conflicts(self, state: int) -> Iterator[Row]:
        terminals = [self._grammar.describe_symbol(c.terminal) for c in self._conflicts.get(state, ())]
        if terminals:
            yield Row(f"conflict on {listed(dict.fromkeys(terminals), _MOST_LABELS)}", "conflict")

    def _conflicts_in_words(self, state: int) -> Iterator[Row]:
        groups: dict[tuple[object, ...], list[Conflict]] = {}
        for c in self._conflicts.get(state, ()):
            groups.setdefault((c.kind, c.productions, c.settled, c.chosen, c.shift_to < 0), []).append(c)
        for same in groups.values():
            first = same[0]
            names = [self._grammar.describe_symbol(c.terminal) for c in same]
            yield Row(f"{first.kind} conflict on {listed(names, _MOST_LABELS)}", "conflict")
            if first.kind == "shift/reduce":
                yield Row("  shift", "conflict")
            for rule in first.productions:
                chosen = "  (its priority decides)" if rule == first.chosen else ""
                yield Row(f"  reduce {self._complete(rule)}{chosen}", "conflict")
            if first.settled == "shift":
                yield Row("  Lark shifts", "conflict")
