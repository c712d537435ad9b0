"""A structural tag that is read on demand: pieces -> places of the text around the values of schemas.

In: a piece in which schemas are symbols. Out: places, as ``json_schema.calling`` has them, or nothing where the end of
a part is not told by the next byte. The text around values is a deterministic automaton over bytes. It is cut into
terminals: a part that goes round in circles, such as free text, is one; from elsewhere each text to the next such part,
or to a value, is one, or each byte where these are many. So a hundred tags are a hundred texts beside one another, and
no value of theirs is looked at before it is come to. A late piece is a symbol, too: its places are made when a text
comes to where it begins.

Source: M. Rabin and D. Scott, "Finite Automata and Their Decision Problems" (1959); for values as calls R. Alur and
P. Madhusudan, "Visibly Pushdown Languages" (2004).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from pdacon.base.cancelling import every, look, raise_if_out_of_time
from pdacon.base.cautions import caution, held
from pdacon.base.graphs import components, is_cyclic
from pdacon.base.limits import Limits
from pdacon.errors import EmptyLanguageError, LimitExceededError
from pdacon.frontends.json_schema import Schema
from pdacon.frontends.json_schema.calling import OuterPlace, has_order_of_its_own
from pdacon.frontends.json_schema.exploring import Arrays
from pdacon.frontends.machines import FIRST_CALL, MOST_CALLED, Nfa
from pdacon.frontends.structural_tags.pieces import LatePiece, Piece, SchemaPiece, TextPiece
from pdacon.grammar.expressions import InOrder
from pdacon.regular.ordered.program import BYTES, MATCH, SPLIT, pack, to_automaton
from pdacon.regular.string_programs import utf8

_MOST_BYTES = 1 << 20
"""Of the texts that are terminals."""
_MOST_ALIKE = 8
"""Bytes that lead to one state, of which each is in a text of its own."""
_MOST_CUTS = 50
"""How often states are taken out of circles before the tag is read as a whole."""
_MOST_STATES = 20_000
"""Of a part that goes round in circles."""
_FIRST = {"object": b"{", "array": b"[", "string": b'"', "boolean": b"tf", "null": b"n"}
"""By type, the bytes that values begin with, where a value tells its own end."""
_ANY_FIRST = b'{["tfn-0123456789'
_OF_NUMBERS = b"0123456789.eE+-"

Edges: TypeAlias = list[tuple[int, int, int]]
"""First and last byte, and the state that they lead to; the bytes of a state are disjoint."""
Symbol: TypeAlias = "SchemaPiece | LatePiece"


class UndecidedError(Exception):
    """The end of some part is not told by the next byte: the tag has to be read as a whole."""


@dataclass(frozen=True, slots=True)
class _LatePlace:
    """A place where a late piece may come, and behind it a place; in the place of its own edges those of the piece."""

    before: OuterPlace
    piece: LatePiece
    behind: int


class OuterPlaces:
    """The places of a tag, of which those within late pieces are made when they are first asked for.

    For one thread at a time; `copied` gives another one.
    """

    def __init__(self, schemas: Sequence[Schema], places: Sequence[OuterPlace | _LatePlace]) -> None:
        self._schemas, self._begun = schemas, places
        self._places = list(places)
        self._numbers = {id(schema): number for number, schema in enumerate(schemas)}

    def copied(self) -> OuterPlaces:
        """The same places, of which none is made late so far."""
        return OuterPlaces(self._schemas, self._begun)

    def __getitem__(self, number: int) -> OuterPlace:
        place = self._places[number]
        if isinstance(place, _LatePlace):
            symbols, graph = _graph_of(place.piece.make())
            within = self._within(symbols, graph, place.behind)
            first, before = within[0], place.before
            place = OuterPlace((*before.edges, *first.edges), None, before.may_end)
            self._places += within
            self._places[number] = place
        return place

    def _within(self, symbols: Sequence[Symbol], graph: _Graph, behind: int) -> list[OuterPlace]:
        """The places of a late piece. Where circles are not left as is usual, each byte of a text is a terminal."""
        for has_circles in (True, False):
            try:
                made = _Places(graph, symbols, self._numbers, len(self._places), behind, has_circles).all()
            except UndecidedError:
                continue
            return [place for place in made if isinstance(place, OuterPlace)]
        raise AssertionError("a late piece has values whose beginnings are not told")


def outer_places(translate: Callable[[], Piece]) -> tuple[list[Schema], OuterPlaces] | None:
    """The schemas of a tag, and the places around their values, of which the first is the start.

    Parameters
    ----------
    translate : callable
        Makes the piece of the tag, or raises UndecidedError.

    Returns
    -------
    tuple or None
        None: the tag has to be read as a whole, which then says what there is to be warned of.

    Raises
    ------
    LimitExceededError
        There was no time left.
    EmptyLanguageError
        The tag has no text.
    """
    empty: EmptyLanguageError | None = None
    with held() as cautions:
        try:
            symbols, graph = _graph_of(translate())
            schemas = _schemas_of(symbols)
            numbers = {id(schema): number for number, schema in enumerate(schemas)}
            places = OuterPlaces(schemas, _Places(graph, symbols, numbers).all())
        except UndecidedError:
            return None
        except LimitExceededError as error:
            raise_if_out_of_time(error)
            return None
        except EmptyLanguageError as error:
            empty = error  # which the warnings explain
    for message, kind in cautions:
        caution(message, kind)
    if empty is not None:
        raise empty
    return schemas, places


def _schemas_of(symbols: Sequence[Symbol]) -> list[Schema]:
    """All schemas that values are of, each of them once."""
    schemas: dict[int, Schema] = {}
    for symbol in symbols:
        for schema in symbol.schemas if isinstance(symbol, LatePiece) else (symbol.schema,):
            schemas[id(schema)] = schema
    return list(schemas.values())


def schema_piece(schema: Schema, place: str) -> SchemaPiece:
    """The values of a schema as a symbol; UndecidedError if they are not to be read on demand between other texts."""
    usual = schema.may_be_read_on_demand() and not schema.notes  # which the whole tells
    if not (usual and has_order_of_its_own(schema.documents.root.node)):
        raise UndecidedError
    return SchemaPiece("a value", place, schema)


class _Machine(Nfa):
    """Pieces as a nondeterministic machine, in which alternatives that begin with a word have these words as a trie."""

    def __init__(self) -> None:
        super().__init__()
        self.symbols: list[Symbol] = []
        self._letters: dict[tuple[int, str], int] = {}
        self._ends: dict[tuple[str, int], int] = {}
        self._begun: dict[tuple[int, int], tuple[int, Piece]] = {}
        self._numbers: dict[int, int] = {}

    def tree(self, tree: Piece, begin: int, end: int, leaf: Callable[[Any, int, int], None]) -> None:
        if isinstance(tree, InOrder):
            self._in_order(tree.items, begin, end)
        else:
            super().tree(tree, begin, end, leaf)

    def put(self, piece: Piece, begin: int, end: int) -> None:
        """Put a piece between two states."""
        look()
        self.tree(piece, begin, end, self._leaf)

    def _leaf(self, piece: Piece, begin: int, end: int) -> None:
        if isinstance(piece, SchemaPiece | LatePiece):
            self.call(begin, self._number(piece), end)
        elif isinstance(piece, TextPiece) and piece.words is not None:
            for word in piece.words:
                self._word(word, begin, end)
        else:
            assert isinstance(piece, TextPiece)
            self.texts(piece.set.automaton, begin, end)

    def _in_order(self, items: Sequence[Piece], begin: int, end: int) -> None:
        if len(items) > 1 and (word := _only_word(items[-1])) is not None:
            end = self._before(word, end)  # alternatives that end with the same word share its states
            items = items[:-1]
        if len(items) > 1 and (word := _only_word(items[0])) is not None:
            begin = self._behind(word, begin)
            items = items[1:]
        for item in items[:-1]:
            after = self.state()
            self.put(item, begin, after)
            begin = after
        self.silent(begin, self._shared(items[-1], end))

    def _shared(self, piece: Piece, end: int) -> int:
        """The state where a piece begins that leads to a state: one, however many alternatives go on with it."""
        key = id(piece), end
        if key not in self._begun:
            begin = self.state()
            self.put(piece, begin, end)
            self._begun[key] = begin, piece
        return self._begun[key][0]

    def _behind(self, word: str, begin: int) -> int:
        """The state behind a word, in a trie of all that begin in a state."""
        for letter in word:
            after = self._letters.get((begin, letter))
            if after is None:
                after = self._letters[begin, letter] = self.state()
                self.read(begin, ((ord(letter), ord(letter)),), after)
            begin = after
        return begin

    def _before(self, word: str, end: int) -> int:
        begin = self._ends.get((word, end))
        if begin is None:
            begin = self._ends[word, end] = self.state()
            self._word(word, begin, end)
        return begin

    def _word(self, word: str, begin: int, end: int) -> None:
        for letter in word:
            after = self.state()
            self.read(begin, ((ord(letter), ord(letter)),), after)
            begin = after
        self.silent(begin, end)

    def _number(self, piece: Symbol) -> int:
        number = self._numbers.get(id(piece))
        if number is None:
            number = self._numbers[id(piece)] = len(self.symbols)
            self.symbols.append(piece)
            if number >= MOST_CALLED:
                raise UndecidedError
        return number


def _only_word(piece: Piece) -> str | None:
    if isinstance(piece, TextPiece) and piece.words is not None and len(piece.words) == 1:
        return piece.words[0]
    return None


@dataclass(frozen=True)
class _Graph:
    """A deterministic automaton over bytes, of which state 0 is the start.

    Attributes
    ----------
    edges : list
        By state.
    ends : list of bool
        By state, whether the text may end there; of those within characters nothing.
    values : dict of int to (int, int)
        By state, the number of a symbol, and the state behind its texts.
    """

    edges: list[Edges]
    ends: list[bool]
    values: dict[int, tuple[int, int]]


def _graph_of(piece: Piece) -> tuple[list[Symbol], _Graph]:
    machine = _Machine()
    begin, end = machine.state(), machine.state()
    machine.put(piece, begin, end)
    dfa = machine.deterministic(begin, [end])
    if not len(dfa):
        raise UndecidedError
    native = dfa.native
    values: dict[int, tuple[int, int]] = {}
    if machine.symbols:
        calls = np.arange(FIRST_CALL, FIRST_CALL + len(machine.symbols), dtype=np.int32)
        classes = native.numbers[np.searchsorted(native.firsts, calls, side="right") - 1]
        table = native.table.reshape(len(dfa), native.num_classes)[:, classes]
        table[:, classes < 0] = -1
        states, symbols = np.nonzero(table >= 0)
        for state, symbol in zip(states.tolist(), symbols.tolist(), strict=True):
            if state in values:
                raise UndecidedError  # two schemas, of which nothing tells which it is
            values[state] = symbol, int(table[state, symbol])
    offset, low, high, target = (array.tolist() for array in utf8(dfa, Limits()))
    edges = [
        list(zip(low[first:last], high[first:last], target[first:last], strict=True))
        for first, last in pairwise(offset)
    ]
    _leave_out_surrogates(edges)
    ends = dfa.accepting()
    return machine.symbols, _Graph(edges, ends + [False] * (len(edges) - len(ends)), values)


def _leave_out_surrogates(edges: list[Edges]) -> None:
    """Remove the edges of surrogates, which are calls in the core's automata; no text in UTF-8 has them."""
    behind = {target for row in edges for first, last, target in row if first <= 0xED <= last}
    empty = set()
    for state in behind:
        edges[state] = [(first, min(last, 0x9F), target) for first, last, target in edges[state] if first < 0xA0]
        if not edges[state]:
            empty.add(state)
    if empty:
        for state, row in enumerate(edges):
            edges[state] = [edge for edge in row if edge[2] not in empty]


@dataclass
class _Part:
    """States that lead to one another, and how they are left."""

    states: set[int]
    leaving: dict[int, int] = field(default_factory=dict)  # by byte, the state outside
    value: int | None = None  # the state in which a value may come
    may_end: bool = False


class _Places:
    """The places of a graph. ``at`` a state, or ``behind`` a part that is left: its smallest state says which.

    Parameters
    ----------
    numbers : mapping of int to int
        By the identity of a schema, its number.
    offset : int
        The number of the first place.
    behind : int, optional
        The number of the place that comes behind the whole, which is a late piece; None: texts end there.
    has_circles : bool
        Whether parts that go round in circles are terminals; else each byte is.
    """

    def __init__(
        self, graph: _Graph, symbols: Sequence[Symbol], numbers: Mapping[int, int],
        offset: int = 0, behind: int | None = None, has_circles: bool = True,
    ) -> None:  # fmt: skip
        self._graph, self._symbols, self._schema_numbers = graph, symbols, numbers
        self._offset, self._end, self._has_circles = offset, behind, has_circles
        self._parts = self._told_parts() if has_circles else {}
        self._joints = _joints(graph.edges, self._parts.keys())
        self._numbers: dict[tuple[str, int], int] = {}
        self._pending: list[tuple[str, int]] = []
        self._left = _MOST_BYTES if has_circles else 0

    def all(self) -> list[OuterPlace | _LatePlace]:
        places: list[OuterPlace | _LatePlace] = []
        self._place("at", 0)
        while len(places) < len(self._pending):
            look()
            kind, state = self._pending[len(places)]
            part = self._parts.get(state)
            if part is None:
                places.append(self._straight(state))
            else:
                places.append(self._within(state, part) if kind == "at" else self._behind(part))
        return places

    def _told_parts(self) -> dict[int, _Part]:
        """By state, the part that goes round in circles, which a byte alone tells when it is left."""
        cut: set[int] = set()
        for _ in every(range(_MOST_CUTS)):
            parts = _circles(self._graph.edges, cut)
            more = {state for part in parts for state in self._untold(part)}
            if not more:
                return {state: part for part in parts for state in part.states}
            cut |= more
        raise UndecidedError

    def _untold(self, part: _Part) -> set[int]:
        """How a part is left, and the states that have to be out of it, since there the byte alone does not tell."""
        graph = self._graph
        sources: defaultdict[int, dict[int, list[int]]] = defaultdict(dict)
        left = {state for state in part.states if state in graph.values}
        for state in part.states:
            for first, last, target in graph.edges[state]:
                if target not in part.states:
                    left.add(state)
                    for byte in range(first, last + 1):
                        sources[byte].setdefault(target, []).append(state)
        ends = {state for state in part.states if graph.ends[state]}
        valued = sorted(left & graph.values.keys())
        firsts = {byte for state in valued for byte in self._first(graph.values[state][0])}
        untold = left - ends if ends else set()
        untold |= {
            state for targets in sources.values() if len(targets) > 1 for states in targets.values() for state in states
        }
        if len({graph.values[state] for state in valued}) > 1 or not firsts.isdisjoint(sources):
            untold |= set(valued)
        for state in left | ends:
            told = sources.keys() if state in graph.values else sources.keys() | firsts
            if not _reads_all(graph.edges[state], told):
                untold.add(state)
        part.leaving = {byte: target for byte, targets in sources.items() for target in targets}
        part.value = valued[0] if valued else None
        part.may_end = bool(ends)
        return untold

    def _place(self, kind: str, state: int) -> int:
        """The number of a place, which is made in its turn."""
        if self._end is not None and self._graph.ends[state]:
            return self._end
        key = kind, state
        if key not in self._numbers:
            self._numbers[key] = self._offset + len(self._pending)
            self._pending.append(key)
        return self._numbers[key]

    def _value(self, state: int) -> tuple[int, int] | None:
        """The number of the schema whose value may come in a state, where a byte tells that it begins and ends, and the
        place behind it."""
        value = self._graph.values.get(state)
        if value is None:
            return None
        number, behind = value
        symbol = self._symbols[number]
        if not isinstance(symbol, SchemaPiece) or _reads_any(self._graph.edges[state], self._first(number)):
            raise UndecidedError
        if self._may_be_number(number) and (
            behind in self._graph.values or _reads_any(self._graph.edges[behind], _OF_NUMBERS)
        ):
            raise UndecidedError
        return self._schema_numbers[id(symbol.schema)], self._place("at", behind)

    def _kinds(self, schema: Schema) -> list[str]:
        """The types of a schema's values; empty if they are not plain."""
        node = schema.documents.root.node
        given = node.get("type") if isinstance(node, dict) and "$ref" not in node else None
        kinds = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        return kinds if all(kind in _FIRST for kind in kinds) else []

    def _first(self, number: int) -> frozenset[int]:
        """The bytes that the texts of a symbol begin with."""
        symbol = self._symbols[number]
        if isinstance(symbol, LatePiece):
            return symbol.first
        kinds = self._kinds(symbol.schema)
        return frozenset(b"".join(_FIRST[kind] for kind in kinds) if kinds else _ANY_FIRST)

    def _may_be_number(self, number: int) -> bool:
        symbol = self._symbols[number]
        return isinstance(symbol, SchemaPiece) and not self._kinds(symbol.schema)

    def _straight(self, state: int) -> OuterPlace | _LatePlace:
        """A state out of circles: each text to the next one where something is told is a terminal, or each byte."""
        number, behind = self._graph.values.get(state, (-1, -1))
        piece = self._symbols[number] if number >= 0 else None
        is_late = isinstance(piece, LatePiece)
        if is_late and _reads_any(self._graph.edges[state], self._first(number)):
            raise UndecidedError
        value = None if is_late else self._value(state)
        place = OuterPlace(self._edges_of(state), value, self._graph.ends[state])
        return _LatePlace(place, piece, self._place("at", behind)) if isinstance(piece, LatePiece) else place

    def _edges_of(self, state: int) -> tuple[tuple[bytes | Arrays, int], ...]:
        graph = self._graph
        texts: list[tuple[bytes, int]] = []
        pending = [(state, b"")]
        while pending:
            here, text = pending.pop()
            if text and self._is_told(here):
                texts.append((text, here))
                self._left -= len(text)
                continue
            for first, last, target in graph.edges[here]:
                if self._left <= 0 or last - first > _MOST_ALIKE:
                    return self._by_byte(graph.edges[state])
                pending += [(target, text + bytes([byte])) for byte in range(first, last + 1)]
                self._left -= last + 1 - first
        return tuple((text, self._place("at", here)) for text, here in texts)

    def _by_byte(self, edges: Edges) -> tuple[tuple[Arrays, int], ...]:
        """For each state that some edges lead to a terminal: the bytes that lead there."""
        by_target: defaultdict[int, Edges] = defaultdict(list)
        for first, last, target in edges:
            by_target[target].append((first, last, 1))
        return tuple((_arrays([row, []], [1]), self._place("at", target)) for target, row in by_target.items())

    def _is_told(self, state: int) -> bool:
        return self._graph.ends[state] or state in self._graph.values or state in self._parts or state in self._joints

    def _within(self, state: int, part: _Part) -> OuterPlace:
        """A state of a part that goes round in circles: one terminal, up to the byte with which the part is left."""
        graph = self._graph
        if len(part.states) > _MOST_STATES:
            raise UndecidedError
        order = {state: 0}
        for other in sorted(part.states - {state}):
            order[other] = len(order)
        rows = [[(a, b, order[target]) for a, b, target in graph.edges[here] if target in order] for here in order]
        told = [
            place
            for here, place in order.items()
            if graph.ends[here] or here in graph.values or len(rows[place]) < len(graph.edges[here])
        ]
        terminal = _arrays(rows, told), self._place("behind", min(part.states))
        return OuterPlace((terminal,), None, graph.ends[state])  # a number before it does not know of empty texts

    def _behind(self, part: _Part) -> OuterPlace:
        """Where a part is left: the byte that tells it is read here."""
        edges = self._by_byte([(byte, byte, target) for byte, target in sorted(part.leaving.items())])
        return OuterPlace(edges, None if part.value is None else self._value(part.value), part.may_end)


def _reads_any(edges: Edges, alphabet: Iterable[int]) -> bool:
    return any(first <= byte <= last for first, last, _ in edges for byte in alphabet)


def _reads_all(edges: Edges, alphabet: Iterable[int]) -> bool:
    return all(any(first <= byte <= last for first, last, _ in edges) for byte in alphabet)


def _arrays(rows: Sequence[Edges], ends: Iterable[int]) -> Arrays:
    """A deterministic automaton as the core takes it: a state that may end is split into one that reads and the end."""
    end = len(rows)
    split = {state: end + 1 + k for k, state in enumerate(ends)}
    edges = [tuple((first, last, split.get(target, target)) for first, last, target in row) for row in rows]
    edges += [(), *(((0, 0, state), (0, 0, end)) for state in split)]
    kinds = [BYTES] * len(rows) + [MATCH] + [SPLIT] * len(split)
    automaton = to_automaton(pack(kinds, edges, [split.get(0, 0)]))
    return automaton.kind, automaton.offset, automaton.lo, automaton.hi, automaton.target


def _joints(edges: Sequence[Edges], parts: Collection[int]) -> set[int]:
    """States that every way round in circles goes through, beside states that are in parts already."""
    left = {state for circle in _circles(edges, set(parts)) for state in circle.states}
    if not left:
        return set()
    sources = Counter(target for row in edges for target in {target for _, _, target in row})
    return {state for state in left if sources[state] > 1 or state == 0}


def _circles(edges: Sequence[Edges], cut: set[int]) -> list[_Part]:
    """The parts of a graph that go round in circles, without some states: strongly connected, with an edge within."""
    graph = {
        state: [target for _, _, target in row if target not in cut]
        for state, row in enumerate(edges)
        if state not in cut
    }
    return [_Part(set(component)) for component in components(graph) if is_cyclic(component, graph)]
