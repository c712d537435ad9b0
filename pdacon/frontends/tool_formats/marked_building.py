"""The arguments of a tool in a notation of its own -> pieces of the grammar of answers.

In: marks, and the shapes of the arguments. Out: a piece. Each part of a value ends where a mark says so, or where a
number cannot go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from keyword import kwlist

from pdacon.errors import EmptyLanguageError, UnsupportedTypeError
from pdacon.frontends.structural_tags.free_text import FreeText
from pdacon.frontends.structural_tags.pieces import (
    EMPTY,
    LoopPiece,
    Piece,
    TextPiece,
    either,
    grammar_piece,
    sequence,
)
from pdacon.frontends.tool_formats.argument_schema import ArgumentValues
from pdacon.frontends.tool_formats.marked_shapes import Members, Shape, Shapes
from pdacon.frontends.tool_formats.ordered_pieces import closed_by, in_order, some_members
from pdacon.frontends.tool_formats.parameters import free_names, strings_beside_scalars
from pdacon.frontends.tool_formats.records import ToolFormat, ValueMarks
from pdacon.grammar.expressions import OneOf, Repeated
from pdacon.regular import RegularSet


@dataclass
class MarkedArguments:
    """Makes the pieces of the arguments of one tool.

    Attributes
    ----------
    fixed : callable
        Makes the piece of a fixed text, which may have special tokens in it, and a place.
    """

    format: ToolFormat
    tool: str
    shapes: Shapes
    fixed: Callable[[str, str], Piece]
    is_any_order: bool
    _values: dict[tuple[str, str], Piece | None] = field(default_factory=dict)

    def piece(self) -> Piece:
        """All arguments."""
        return self._members(self.shapes.arguments(), self.is_any_order, self.tool)

    def _members(self, members: Members, is_any_order: bool, where: str) -> Piece:
        """Members that are listed, in their order or in any, and others behind them, or anywhere in any order."""
        pieces: list[Piece] = []
        required: set[int] = set()
        for name, (is_required, place) in members.listed.items():
            end = self._marks.ends_key(name)
            if end is not None:
                why = f"an argument's name has no {end!r} in the format {self.format.name}"
                raise UnsupportedTypeError(f"{self.tool}{place}", f"{why}; rename it, or choose another format")
            value = self._value(place)
            if value is not None:
                required |= {len(pieces)} if is_required else set()
                pieces.append(self._member(name, value))
            elif is_required:
                raise EmptyLanguageError(f"{self.tool}{place}: it is required, and no value satisfies its schema")
        other = self._other(members, where)
        if not pieces and other is None:
            return TextPiece(EMPTY, where)
        between = self.fixed(self._marks.object[1], self.tool)
        ordered = some_members(pieces, frozenset(required), is_any_order, other, between)
        return ordered if required else Repeated(ordered, 0, 1)

    def _other(self, members: Members, where: str) -> Piece | None:
        """A member that is not listed; None: there is none."""
        if members.others is None or ("$key" in self._marks.member[1] and (members.listed or where == self.tool)):
            return None
        if "$key" in self._marks.member[1]:
            raise self._too_free(where, "names are not listed, and each comes twice there")
        value = self._value(members.others)
        if value is None:
            return None
        (before, after_name), value = self._marks.key, closed_by(value, self._marks.member[1], where)
        elsewhere = (name for name in self.shapes.names if name not in members.listed and name in self._names)
        each: list[RegularSet | tuple[str, ...]] = [self._names_listed_nowhere, *((name,) for name in elsewhere)]
        heads = [
            sequence([self.fixed(before, where), TextPiece(names, where), self.fixed(after_name, where)])
            for names in each
        ]
        options = [in_order([head, value]) for head in heads]
        return options[0] if len(options) == 1 else OneOf(tuple(options))

    @cached_property
    def _names_listed_nowhere(self) -> RegularSet:
        """Names that no object lists. Behind a value the lexer may be in any object, so that a name which one of them
        lists is a terminal of its own in all.
        """
        listed = self.shapes.names
        return self._names - RegularSet.from_choices(listed) if listed else self._names

    @cached_property
    def _names(self) -> RegularSet:
        """The names of members that need not be listed."""
        if self._marks.python:
            names = RegularSet.from_regex("[A-Za-z_][A-Za-z0-9_]*") - RegularSet.from_choices(kwlist)
        else:
            names = free_names(self._marks.forbidden)
        return names & FreeText(self.shapes.excludes).texts if self.shapes.excludes else names

    @property
    def _marks(self) -> ValueMarks:
        assert self.format.value_marks is not None
        return self.format.value_marks

    def _member(self, name: str, value: Piece) -> Piece:
        (before, after_name), after = self._marks.key, self._marks.member[1]
        head = self.fixed(f"{before}{name}{after_name}", name)
        return in_order([head, closed_by(value, after.replace("$key", name), name)])

    def _value(self, place: str, head: str = "") -> Piece | None:
        """The values of a place, with a text before them; None if there are none.

        What has itself within it is a loop.
        """
        if self._marks.python:
            return grammar_piece(self.shapes.in_python(place).grammar(), f"{self.tool}{place}")
        key = place, head
        if key not in self._values:
            loop = LoopPiece(f"{self.tool}{place}")
            self._values[key] = loop
            piece = self._of_shape(self.shapes.at(place), f"{self.tool}{place}", head)
            if piece is not None and loop.is_used:
                loop.piece = piece
                piece = loop
            self._values[key] = piece
        value = self._values[key]
        if isinstance(value, LoopPiece):
            value.is_used = True
            if self._marks.stop:
                raise self._too_free(f"{self.tool}{place}", "a value has itself within it")
        return value

    def _of_shape(self, shape: Shape, place: str, head: str) -> Piece | None:
        marks, values = self._marks, shape.values
        pieces = [*self._strings(values, place, head)]
        for kind, others in values.others.items():
            if isinstance(others, RegularSet):
                pieces.append(self._around(marks.scalar, TextPiece(others, place), place, head))
            elif kind == "object" and shape.members is not None:
                pieces += self._object(shape, place, head)
            elif kind == "array" and shape.items is not None:
                pieces += self._array(shape, place, head)
        return either(pieces) if pieces else None

    def _around(self, marks: Sequence[str], piece: Piece, place: str, head: str = "") -> Piece:
        begin, end = self.fixed(head + marks[0], place), marks[-1]
        if any(token in end for token in self.format.tokens):
            return in_order([begin, piece, self.fixed(end, place)])
        return in_order([begin, closed_by(piece, end, place)])

    def _strings(self, values: ArgumentValues, place: str, head: str) -> list[Piece]:
        marks = self._marks
        strings = values.strings
        stop = marks.string[1] or marks.stop
        if not marks.string[0]:
            strings = strings_beside_scalars(values)
        stops = () if any(token in stop for token in self.format.tokens) else (stop,)
        texts = strings & FreeText((*stops, *self.shapes.excludes)).texts
        return [self._around(marks.string, TextPiece(texts, place), place, head)] if texts else []

    def _too_free(self, place: str, why: str) -> UnsupportedTypeError:
        named = f"any value of {self.tool}" if place == f"{self.tool}{Shapes.ANYTHING}" else place
        advice = "list the properties of its objects and what items there are, or choose another format"
        return UnsupportedTypeError(named, f"the format {self.format.name} cannot be held to it, since {why}; {advice}")

    def _object(self, shape: Shape, place: str, head: str) -> list[Piece]:
        marks, members = self._marks, shape.members
        assert members is not None
        return [self._around(marks.object, self._members(members, False, place), place, head)]

    def _array(self, shape: Shape, place: str, head: str) -> list[Piece]:
        marks, items = self._marks, shape.items
        assert items is not None
        if marks.string[0]:  # each value has a mark of its own, which is one text with that of the item
            item = self._value(items.each, marks.item[0])
            item = None if item is None else closed_by(item, marks.item[1], place)
        else:
            value = self._value(items.each)
            item = None if value is None else self._around(marks.item, value, place)
        inner = self._several(item, marks.array[1], items.least, items.most, place)
        return [self._around(marks.array, inner, place, head)]

    def _several(self, part: Piece | None, between: str, least: int, most: int | None, place: str) -> Piece:
        nothing = TextPiece(EMPTY, place)
        if part is None or most == 0:
            if least > 0:
                raise EmptyLanguageError(f"{place}: it has to have parts, and none is possible")
            return nothing
        another = in_order([self.fixed(between, place), part])
        rest = None if most is None else most - 1
        parts = in_order([part, Repeated(another, max(least - 1, 0), rest)]) if rest != 0 else part
        return parts if least else Repeated(parts, 0, 1)
