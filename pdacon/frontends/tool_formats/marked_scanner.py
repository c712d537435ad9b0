"""Reads arguments in a notation of a format's own, in a text that comes in pieces, and says them as JSON.

In: marks, what may come after the arguments, and their shapes where a text does not say what it is. Out: pieces of an
object of JSON, each as soon as it is certain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from json.encoder import encode_basestring
from typing import Literal, TypeAlias

from pdacon.frontends.tool_formats.json_scanner import IN_SCALAR
from pdacon.frontends.tool_formats.marked_shapes import Shapes
from pdacon.frontends.tool_formats.python_scanner import PythonScanner, UnexpectedTextError
from pdacon.frontends.tool_formats.records import ValueMarks
from pdacon.frontends.tool_formats.scalars import (
    ALL_KINDS,
    CONSTANTS,
    StringInPieces,
    between_quotes,
    overlap,
    reads_as,
)

_Stage: TypeAlias = Literal["part", "key", "value", "string", "scalar", "text", "python", "after"]


@dataclass(slots=True)
class _Begun:
    """An object or an array that has begun."""

    is_array: bool
    place: str | None  # of its shape; None: nobody asks
    count: int = 0
    key: str = ""


class MarkedScanner:
    """Reads the arguments of a call.

    Parameters
    ----------
    ends : tuple of str
        What may come after them.
    shapes : Shapes, optional
        Their shapes, for notations in which a text does not say which kind of value it is.

    Attributes
    ----------
    done : bool
    expected : tuple of str
        What had to come where the text ends.
    awaited : str
        A text that begins with all that is left of the text: until it parts from this, more says nothing; empty: none.
    """

    def __init__(self, marks: ValueMarks, ends: tuple[str, ...], shapes: Shapes | None) -> None:
        self._marks, self._ends = marks, ends
        self._string_end = marks.string[1]
        self._key_begin, self._key_end = marks.key
        self._shapes = shapes if marks.stop else None
        self._open = [_Begun(False, None if self._shapes is None else "")]
        self._stage: _Stage = "part"
        self._captured: list[str] = []
        self._undecided: StringInPieces | None = None  # the text that is captured, unless it is said already
        self._python = PythonScanner()
        self.done = False
        self.expected: tuple[str, ...] = ()
        self.awaited = ""
        self._out: list[str] = []

    def scan(self, text: str, at: int) -> tuple[int, str]:
        """Read on from a place; how far what has come is certain, and what it says as JSON.

        Raises UnexpectedTextError, at which `expected` says what had to come; the place is in its argument.
        """
        end = self._string_end if self._stage == "string" else ""
        if self._stage == "text" and self._captured and self._undecided is None:
            end = self._marks.stop
        if end and text.find(end[0], at) < 0:  # as of most pieces
            self.expected, self.awaited = (end,), ""
            return len(text), between_quotes(text[at:])
        self._out = []
        while not self.done:
            self.awaited = ""
            after = _STAGES[self._stage](self, text, at)
            if after is None:
                break
            at = after
        return at, "".join(self._out)

    def _match(self, text: str, at: int, options: tuple[str, ...]) -> str | None:
        """The longest of some texts that comes; "" if it is none of them; None: more has to come to know."""
        self.expected = options
        for option in _longest_first(options):
            if text.startswith(option, at):
                return option
            if len(text) - at < len(option) and option.startswith(text[at:]):
                self.awaited = option
                return None
        return "" if at < len(text) else None

    def _need(self, text: str, at: int, option: str) -> int | None:
        if not option:
            return at
        mark = self._match(text, at, (option,))
        if mark == "":
            raise UnexpectedTextError(at)
        return None if mark is None else at + len(option)

    # Stages: each says how far it has come, or None if more has to come

    def _part(self, text: str, at: int) -> int | None:
        """The next member or item, or the end."""
        top = self._open[-1]
        marks = self._marks.array if top.is_array else self._marks.object
        begin = (marks[1] if top.count else "") + (self._marks.item[0] if top.is_array else self._key_begin)
        ends = self._ends if len(self._open) == 1 else (marks[2] or self._after_value(self._open[-2]),)
        mark = self._match(text, at, (*ends, *([begin] if begin else [])))
        if mark is None:
            return None
        if mark and mark in ends:
            self._close(top)
            return at + (len(mark) if marks[2] and not self.done else 0)
        if begin and not mark:
            raise UnexpectedTextError(at)
        if top.is_array:
            self._out.append(", " if top.count else "[")
            self._stage = self._first_stage()
        else:
            self._stage = "key"
        return at + len(begin)

    def _close(self, top: _Begun) -> None:
        opening, closing = "[]" if top.is_array else "{}"
        self._out.append(closing if top.count else opening + closing)
        if len(self._open) == 1:
            self.done = True
            return
        self._open.pop()
        self._stage = "after"

    def _key(self, text: str, at: int) -> int | None:
        end = self._key_end
        self.expected = (end,)
        place = text.find(end, at)
        if place < 0:
            return None
        top = self._open[-1]
        top.key = text[at:place]
        self._out.append(f"{', ' if top.count else '{'}{encode_basestring(top.key)}: ")
        self._stage = self._first_stage()
        return place + len(end)

    def _first_stage(self) -> _Stage:
        if self._marks.python:
            self._python = PythonScanner()
            return "python"
        return "text" if self._marks.stop else "value"

    @cached_property
    def _kinds_by_mark(self) -> dict[str, str]:
        """The kinds of values that have a mark before them, by it."""
        marks = self._marks
        kinds = {marks.object[0]: "object", marks.array[0]: "array", marks.string[0]: "string"}
        return {**kinds, **({marks.scalar[0]: "scalar"} if marks.scalar[0] else {})}

    @cached_property
    def _beginnings(self) -> tuple[str, ...]:
        return tuple(self._kinds_by_mark)

    def _value(self, text: str, at: int) -> int | None:
        """The mark that a value begins with."""
        mark = self._match(text, at, self._beginnings)
        if mark is None:
            return None
        if not mark and self._marks.scalar[0]:
            raise UnexpectedTextError(at)
        kind = self._kinds_by_mark[mark] if mark else "scalar"
        if kind in ("object", "array"):
            self._open.append(_Begun(kind == "array", None))
            self._stage = "part"
        else:
            self._out.append('"' if kind == "string" else "")
            self._stage = "string" if kind == "string" else "scalar"
        return at + len(mark)

    def _string(self, text: str, at: int) -> int | None:
        """The text of a string up to its mark; what may be the beginning of that is held back."""
        end = self._string_end
        self.expected = (end,)
        if at == len(text):
            return None
        place = text.find(end, at)
        stop = len(text) - overlap(text, end, at) if place < 0 else place
        self._out.append(between_quotes(text[at:stop]))
        if place < 0:
            return None if stop == at else stop
        self._out.append('"')
        self._stage = "after"
        return place + len(end)

    def _scalar(self, text: str, at: int) -> int | None:
        stop = at
        while stop < len(text) and text[stop] in IN_SCALAR:
            stop += 1
        self._captured.append(text[at:stop])
        self.expected = ("a value",)
        if stop == len(text):
            return stop if stop > at else None
        value = "".join(self._captured)
        end = self._marks.scalar[1]
        after = self._need(text, stop, end)
        if after is None:
            return stop if stop > at else None
        if not value:
            raise UnexpectedTextError(at)
        self._captured.clear()
        self._out.append(CONSTANTS.get(value, value))
        self._stage = "after"
        return after

    def _text(self, text: str, at: int) -> int | None:
        """A text without marks of its own, or what has parts."""
        stop = self._marks.stop
        place = text.find(stop, at)
        held = len(text) - overlap(text, stop, at) if place < 0 else place
        self.expected = (stop,)
        self._capture(text[at:held])
        if place < 0:
            return held if held > at else None
        end = self._after_value(self._open[-1])
        mark = self._match(text, place, (end, self._key_begin))
        if mark is None:
            return held if held > at else None
        if mark == self._key_begin and not self._captured:
            return self._opened(text, place)
        if mark != end:
            raise UnexpectedTextError(place)
        self._say()
        self._stage = "after"
        return place

    def _capture(self, piece: str) -> None:
        """More of a text. It is said as soon as it is certain that it is a string."""
        if not piece:
            return
        if not self._captured:
            self._undecided = StringInPieces(self._kinds() - {"array", "object"}, False)
        if self._undecided is None:
            self._out.append(between_quotes(piece))
            return
        self._captured.append(piece)
        if self._undecided.is_certain_with(piece):
            self._undecided = None
            self._out.append(encode_basestring("".join(self._captured))[:-1])

    def _say(self) -> None:
        """The value of a text that has ended."""
        value, kinds = "".join(self._captured), self._kinds()
        self._captured.clear()
        if value and self._undecided is None:
            self._out.append('"')
            return
        if not value and "string" not in kinds:
            self._out.append("{}" if "object" in kinds else "[]")
            return
        is_string = reads_as(value, kinds - {"array", "object"}, False) == "string"
        self._out.append(encode_basestring(value) if is_string else value)

    def _opened(self, text: str, at: int) -> int | None:
        """A member or an item comes where a text could: its object or array has begun."""
        kinds, item = self._kinds(), self._marks.item[0]
        is_array = "array" in kinds
        if is_array and "object" in kinds:
            mark = self._match(text, at, (item,))
            if mark is None:
                return None
            is_array = bool(mark)
        self._open.append(_Begun(is_array, self._place()))
        self._stage = "part"
        return at

    def _place(self) -> str | None:
        """The place of the shape of the value that is being read."""
        top = self._open[-1]
        if self._shapes is None or top.place is None:
            return None
        if len(self._open) == 1:
            listed = self._shapes.arguments().listed
            return listed[top.key][1] if top.key in listed else Shapes.ANYTHING
        shape = self._shapes.at(top.place)
        if top.is_array:
            return Shapes.ANYTHING if shape.items is None else shape.items.each
        if shape.members is None or top.key not in shape.members.listed:
            return Shapes.ANYTHING
        return shape.members.listed[top.key][1]

    def _kinds(self) -> frozenset[str]:
        place = self._place()
        return ALL_KINDS if place is None or self._shapes is None else self._shapes.at(place).values.kinds

    def _python_literal(self, text: str, at: int) -> int | None:
        """A value as Python writes it."""
        self.expected = ("a value",)
        after, said = self._python.scan(text, at)
        self._out.append(said)
        if not self._python.done:
            return after if after > at else None
        self._stage = "after"
        return after

    def _after(self, text: str, at: int) -> int | None:
        after = self._need(text, at, self._after_value(self._open[-1]))
        if after is not None:
            self._open[-1].count += 1
            self._stage = "part"
        return after

    def _after_value(self, top: _Begun) -> str:
        """What stands after a member or an item."""
        return self._marks.item[1] if top.is_array else self._marks.member[1].replace("$key", top.key)


@lru_cache(maxsize=1024)
def _longest_first(options: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(options, key=len, reverse=True))


_STAGES: dict[_Stage, Callable[[MarkedScanner, str, int], int | None]] = {
    "part": MarkedScanner._part,
    "key": MarkedScanner._key,
    "value": MarkedScanner._value,
    "string": MarkedScanner._string,
    "scalar": MarkedScanner._scalar,
    "text": MarkedScanner._text,
    "python": MarkedScanner._python_literal,
    "after": MarkedScanner._after,
}
