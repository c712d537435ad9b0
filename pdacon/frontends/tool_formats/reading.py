"""`AnswerReader`: the parts of an answer while it is generated.

In: tokens, text or bytes, as they come. Out: events. The states come from the record of the format
(``reader_states``), so that what is read is what the grammar of the format allows.
"""

from __future__ import annotations

import codecs
import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Literal, NamedTuple

from pdacon.base.arguments import what_was_given
from pdacon.base.quoting import quoted
from pdacon.frontends.partial_values import PartialValue
from pdacon.frontends.tool_formats.json_scanner import JsonScanner
from pdacon.frontends.tool_formats.layouts import Layout
from pdacon.frontends.tool_formats.marked_scanner import MarkedScanner
from pdacon.frontends.tool_formats.marked_shapes import Shapes
from pdacon.frontends.tool_formats.python_scanner import UnexpectedTextError
from pdacon.frontends.tool_formats.reader_states import Role, State, states_of
from pdacon.frontends.tool_formats.records import INDEX, ToolFormat
from pdacon.frontends.tool_formats.scalars import (
    ALL_KINDS,
    CONSTANTS,
    OPENINGS,
    StringInPieces,
    between_quotes,
    reads_as,
)
from pdacon.frontends.tool_formats.whole_answers import Answer, ReadCall

_event = tuple.__new__  # `AnswerEvent.__new__` is written in Python, and slow
_BEGINS_INDEX = re.compile(f"(?:{INDEX})?").fullmatch
EventKind = Literal["reasoning", "text", "name", "arguments", "end"]


class AnswerEvent(NamedTuple):
    """A part of an answer that has become certain.

    Attributes
    ----------
    kind : {"reasoning", "text", "name", "arguments", "end"}
        ``name`` begins a call; the ``arguments`` of a call are pieces of an object of JSON, one after the other;
        ``end`` says that all of the call is there.
    text : str
    call : int
        Which call it is of, counted from 0; -1: of none.
    """

    kind: EventKind
    text: str
    call: int = -1


@dataclass(frozen=True)
class AnswerPlan:
    """What answers are read by.

    Attributes
    ----------
    kinds : callable
        By the name of a tool and of an argument, the kinds of its values, where arguments are tagged one by one.
    answer : callable
        Makes an `Answer` of a thought, a text, whole calls, and what is missing.
    partial : callable
        By the name of a tool, its arguments as far as they come.
    shapes : mapping
        By the name of a tool the shapes of its arguments, where the format has a notation of its own.
    """

    format: ToolFormat
    layout: Layout
    kinds: Callable[[str, str], frozenset[str]]
    answer: Callable[[str, str, Sequence[ReadCall], str | None], Answer]
    partial: Callable[[str], PartialValue] = lambda name: PartialValue()
    shapes: Mapping[str, Shapes] = field(default_factory=dict)


class AnswerReader:
    """Reads an answer piece by piece; `Constraint.reader` makes one.

    The same events come wherever the pieces are cut, but for how text and arguments are cut into events.
    """

    def __init__(self, plan: AnswerPlan, token: Callable[[int], bytes | str | None] | None = None) -> None:
        self._plan, self._token = plan, token
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._special: dict[str, str] = {}  # special tokens, by the character that stands for each
        self._state: State | None = None
        self._fed: type | None = None
        self._text, self._at, self._before = "", 0, 0
        self._awaited = ""  # a text of which `_text` is the beginning from `_at` on: until it parts from it, all waits
        self._captured: list[str] = []
        self._scanner = JsonScanner()
        self._marked: MarkedScanner | None = None
        self._kinds: frozenset[str] = ALL_KINDS
        self._undecided: StringInPieces | None = None  # the value that is looked at when all of it is there
        self._type = ""
        self._num_arguments = 0
        self._said: dict[str, list[str]] = {"reasoning": [], "text": []}
        self._calls: list[tuple[str, list[str]]] = []
        self._whole_calls = 0
        self._events: list[AnswerEvent] = []
        self._partial: PartialValue | None = None
        self._partial_read = 0, 0  # which call it is of, and how many pieces of its arguments it has read
        self._closed = False
        self._refusal: str | None = None
        self._missing: str | None = None

    def feed(self, piece: int | bytes | str) -> list[AnswerEvent]:
        """Read on.

        Parameters
        ----------
        piece : int, bytes or str
            A token; or a text, or its UTF-8, cut anywhere. Text spells special tokens by their names, so that it cannot
            tell one from the same letters in a thought; tokens can.

        Returns
        -------
        list of AnswerEvent
            What has become certain.

        Raises
        ------
        ValueError
            What came is no answer in this format, or the reader was closed.
        TypeError
            Tokens and text were both given, or the reader has no vocabulary.
        """
        if self._closed:
            raise ValueError("this reader was closed; make another one for another answer")
        if self._refusal is not None:
            raise ValueError(self._refusal)
        text = piece if type(piece) is self._fed is str else self._decoded(piece)
        if self._at:
            self._before += self._at
            text = self._text[self._at :] + text
            self._at = 0
        else:
            text = self._text + text
        self._text = text
        awaited = self._awaited
        if len(text) < len(awaited) and awaited.startswith(text):
            return []
        self._awaited, self._events = "", []
        state = self._state
        if state is not None and state.role == "marked" and not self._marked_arguments(state):  # as of most pieces
            return self._events
        return self._read(last=False)

    def close(self, *, cut: bool = False) -> list[AnswerEvent]:
        """End the answer; `answer` then says what is missing.

        Parameters
        ----------
        cut : bool
            Whether the model would have gone on, and was stopped by a limit. What was held back as the beginning of a
            mark is no text then.
        """
        if self._closed:
            return []
        self._closed = True
        if self._state is None:
            self._begin(str)
        try:
            self._decoder.decode(b"", final=True)
            within_character = False
        except UnicodeDecodeError:
            within_character = True
        self._events = []
        events = [] if cut or self._refusal else self._read(last=True)
        self._missing = "the end of a character had to come" if within_character else self._what_is_missing()
        if cut and self._missing is None:
            self._missing = "the model was stopped where it could have ended"
        return events

    @property
    def answer(self) -> Answer:
        """The answer so far, with the calls of which all is there; after `close` it says what is missing."""
        calls = [ReadCall(name, "".join(parts)) for name, parts in self._calls[: self._whole_calls]]
        said = ["".join(self._said[role]) for role in ("reasoning", "text")]
        return self._plan.answer(said[0], said[1], calls, self._missing)

    @property
    def arguments(self) -> PartialValue | None:
        """The arguments of the last call that has begun, as far as they have come; None if there is no call."""
        if not self._calls:
            return None
        name, parts = self._calls[-1]
        if self._partial is None or self._partial_read[0] != len(self._calls):
            self._partial, self._partial_read = self._plan.partial(name), (len(self._calls), 0)
        for part in parts[self._partial_read[1] :]:
            self._partial.feed(part)
        self._partial_read = len(self._calls), len(parts)
        return self._partial

    @property
    def is_in_thought(self) -> bool:
        """Whether what was fed ends within a thought, and not within a character of one."""
        whole = not self._decoder.getstate()[0]
        return whole and self._state is not None and self._state.role == "reasoning"

    # What comes in

    def _begin(self, fed: type) -> None:
        """Go to the first state. Of tokens a special one is a character that no text has."""
        spelled: dict[str, str] = {}
        if fed is int:
            spelled = {name: chr(0xD800 + k) for k, name in enumerate(self._plan.format.tokens)}
            self._special = {character: name for name, character in spelled.items()}
        self._fed, self._state = fed, states_of(self._plan.format, self._plan.layout, spelled)

    def _decoded(self, piece: int | bytes | str) -> str:
        if not isinstance(piece, (str, bytes, bytearray)):
            if isinstance(piece, bool) or not hasattr(type(piece), "__index__"):
                raise TypeError(f"feed takes a token's id, a str or bytes, not {what_was_given(piece)}")
            piece = operator.index(piece)
        fed = int if isinstance(piece, int) else str
        if self._state is None:
            self._begin(fed)
        if fed is not self._fed:
            raise TypeError("a reader is fed tokens or text, not both")
        if isinstance(piece, str):
            return piece
        if isinstance(piece, int):
            if self._token is None:
                raise TypeError("this reader has no vocabulary; feed it text")
            token = self._token(piece)
            if isinstance(token, str):
                for character, name in self._special.items():
                    if name == token:
                        return character
                raise ValueError(f"the special token {token!r} is none of the format {self._plan.format.name}")
            piece = token or b""
        return self._decoder.decode(piece)

    # What is read

    def _read(self, *, last: bool) -> list[AnswerEvent]:
        while self._step(last):
            pass
        return self._events

    def _step(self, last: bool) -> bool:
        """Take one step; whether there was one to take."""
        state = self._state
        assert state is not None
        if state.role == "marked":
            return self._marked_arguments(state)
        if state.role == "json":
            return self._json(state)
        if state.role == "fixed":
            return self._fixed(state, last)
        if state.role == "value":
            self._state = state.values[self._way_of_value()]
            return True
        if state.role == "end":
            self._end_call()
            self._state = state.then
            return True
        return self._free(state, last)

    def _fixed(self, state: State, last: bool) -> bool:
        text, at = self._text, self._at
        for exit in state.ordered:
            if text.startswith(exit, at):
                self._at += len(exit)
                self._state = state.exits[exit]
                return True
            is_begun = at < len(text) and len(text) - at < len(exit) and exit.startswith(text[at:])
            if is_begun and not (last and self._may_be_text(at)):
                self._awaited = exit
                return False
        if at == len(text) and not last:
            return False
        if state.otherwise is not None:
            self._state = state.otherwise
            return True
        if at < len(text) and not any(exit.startswith(text[at:]) for exit in state.ordered):
            raise self._refused(state, at)
        return False

    def _refused(self, state: State, at: int, shown: int = 20) -> ValueError:
        """The error that something else came; it is kept, since nothing can come after it."""
        came = quoted(self._named(self._text[at : at + shown]))
        self._refusal = (
            f"format {self._plan.format.name}: at character {self._before + at} {came} came, where "
            f"{self._expected(state)} had to come"
        )
        return ValueError(self._refusal)

    def _marked_arguments(self, state: State) -> bool:
        assert state.then is not None
        marked = self._marked
        if marked is None:
            assert state.marks is not None
            ends = tuple(state.then.exits)
            marked = self._marked = MarkedScanner(state.marks, ends, self._plan.shapes.get(self._calls[-1][0]))
        try:
            self._at, said = marked.scan(self._text, self._at)
        except UnexpectedTextError as error:
            raise self._refused(state, error.args[0]) from None
        if said:
            self._argue(self._named(said) if self._special else said)
        if not marked.done:
            self._awaited = marked.awaited
            return False
        self._marked, self._state = None, state.then
        return True

    def _free(self, state: State, last: bool) -> bool:
        """Text up to one of the exits; what may be the beginning of one is held back."""
        at, exit = self._next_exit(state, last)
        if state.role == "index" and not last:  # at the end nothing is left but the beginning of a mark
            self._look_at_index(state, at, exit)
        if at > self._at:
            self._came(state.role, self._named(self._text[self._at : at]))
            self._at = at
        if self._state is not state:
            return True
        if exit is None:
            return False
        if state.role == "whole" and self._is_within_json_string():
            self._came(state.role, self._text[at])
            self._at += 1
            return True
        self._at += len(exit)
        self._state = state.exits[exit]
        self._ended(state.role)
        return True

    def _look_at_index(self, state: State, end: int, exit: str | None) -> None:
        """Refuse what is no number that counts calls: the grammar has such a one only.

        The words are the same however the text was cut: they show the character, or the mark, that must not come here.
        """
        before = "".join(self._captured)
        for at in range(self._at, end):
            if not _BEGINS_INDEX(before + self._text[self._at : at + 1]):
                if at > self._at:
                    self._captured.append(self._text[self._at : at])
                raise self._refused(state, at, 1)
        if exit is not None and not before and end == self._at:
            raise self._refused(state, end, len(exit))

    def _next_exit(self, state: State, last: bool) -> tuple[int, str | None]:
        """Where the first exit is, and which; else where what may be one begins."""
        text, at, length = self._text, self._at, len(self._text)
        while True:
            at = min([place for c in state.first_characters if (place := text.find(c, at)) >= 0], default=length)
            if at == length:
                return length, None
            for exit in state.ordered:
                if text.startswith(exit, at):
                    return at, exit
                if length - at < len(exit) and exit.startswith(text[at:]) and not (last and self._may_be_text(at)):
                    self._awaited = exit
                    return at, None
            at += 1

    def _may_be_text(self, at: int) -> bool:
        """Whether the beginning of a mark may be text if nothing comes after it: a special token may not."""
        tokens = tuple(self._special) if self._fed is int else self._plan.format.tokens
        return not self._text.startswith(tokens, at)

    def _json(self, state: State) -> bool:
        scanner, begin = self._scanner, self._at
        self._at = scanner.scan(self._text, begin)
        piece = self._text[begin : self._at]
        if scanner.is_scalar:
            self._captured.append(piece)
        else:
            self._argue(self._named(piece))
        if not scanner.done:
            return False
        if scanner.is_scalar:
            text = self._capture()
            self._argue(CONSTANTS.get(text, text))
        self._scanner, self._state = JsonScanner(), state.then
        return True

    # What it means

    def _came(self, role: Role, text: str) -> None:
        if role == "reasoning" or role == "text":
            self._said[role].append(text)
            self._events.append(AnswerEvent(role, text))
        elif role == "raw":
            self._argue(between_quotes(text))
        else:
            self._captured.append(text)
            if role == "whole":
                self._came_of_whole(text)

    def _came_of_whole(self, text: str) -> None:
        """More of a value that is looked at as a whole, unless it is certain by now that it is a string."""
        assert self._undecided is not None
        assert self._state is not None
        if self._undecided.is_certain_with(text):
            self._argue(f'"{between_quotes(self._capture())}')
            self._scanner, self._state = JsonScanner(), self._state.then
        else:
            self._scanner.scan(text, 0)

    def _is_within_json_string(self) -> bool:
        """Whether a value that is read as a whole is an object or an array so far, and within one of its strings.

        There the grammar has it as JSON, in which the end mark has no meaning.
        """
        first = next((text[0] for text in self._captured if text), "")
        return OPENINGS.get(first) in self._kinds and self._scanner.in_string

    def _ended(self, role: Role) -> None:
        """An exit was read after text of this role."""
        if role == "raw":
            self._argue('"')
        if role in ("raw", "reasoning", "text"):
            return
        text = self._capture()
        if role in ("name", "key"):
            text = self._plan.format.unescaped(text)
        if role == "name":
            self._calls.append((text, []))
            self._events.append(AnswerEvent("name", text, len(self._calls) - 1))
            self._num_arguments = 0
        elif role == "key":
            self._argue(f"{', ' if self._num_arguments else '{'}{encode_basestring(text)}: ")
            self._num_arguments += 1
            self._kinds, self._type = self._plan.kinds(self._calls[-1][0], text), ""
        elif role in ("type", "is_string"):
            self._type = text
        elif role == "whole":
            self._argue(self._value(text))
            self._scanner = JsonScanner()

    def _capture(self) -> str:
        text = "".join(self._captured)
        self._captured.clear()
        return text

    def _way_of_value(self) -> str:
        """How the value of an argument is read: as a string, as JSON, or as one of these once it is certain."""
        if self._type:
            way = "raw" if self._type in ("string", "true") else "json"
        elif "string" in self._kinds:
            way = "raw" if len(self._kinds) == 1 else "whole"
        else:
            way = "json"
        if way == "raw":
            self._argue('"')
        if way == "whole":
            self._undecided = StringInPieces(self._kinds, self._plan.format.python_constants)
        return way

    def _value(self, text: str) -> str:
        """The JSON of a value whose text was read as a whole."""
        kind = reads_as(text, self._kinds, self._plan.format.python_constants)
        if kind == "string" or (kind in ("array", "object") and not _is_json(text)):
            return f'"{between_quotes(text)}"'
        return CONSTANTS.get(text, text)

    def _argue(self, text: str) -> None:
        """A piece of the arguments of the last call."""
        if text:
            calls = self._calls
            calls[-1][1].append(text)
            self._events.append(_event(AnswerEvent, ("arguments", text, len(calls) - 1)))

    def _end_call(self) -> None:
        if self._plan.format.argument:
            self._argue("}" if self._num_arguments else "{}")
        self._whole_calls += 1
        self._events.append(AnswerEvent("end", "", len(self._calls) - 1))

    def _named(self, text: str) -> str:
        """A text with the names of its special tokens."""
        for character, name in self._special.items():
            text = text.replace(character, name)
        return text

    # What is missing

    def _what_is_missing(self) -> str | None:
        """What the answer lacks, now that no more comes; None if it is whole."""
        state = self._state
        assert state is not None
        if state.may_end and self._at == len(self._text):
            return None
        what = self._expected(state)
        if len(self._calls) > self._whole_calls:
            return f"call {len(self._calls)}, of {self._calls[-1][0]}, was cut: {what} had to come"
        return f"{what} had to come"

    def _expected(self, state: State) -> str:
        """What had to come in a state, in words."""
        closers = ""
        if state.role == "marked" and self._marked is not None:
            listed = [quoted(self._named(text)) for text in self._marked.expected[:3]]
            return " or ".join(listed)
        if state.role == "json":
            if not (closers := self._scanner.missing):
                return "a value"
            return f"{quoted(closers)} at least"
        if state.role == "index" and not self._captured:
            return "a number that counts calls"
        listed = [quoted(self._named(exit)) for exit in sorted(state.exits, key=len)[:3]]
        return " or ".join(listed) if listed else "the end of the answer"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
