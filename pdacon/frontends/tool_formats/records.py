"""What a format of tool calls says: which texts stand around the parts of an answer.

In: nothing. Out: `ToolFormat`, and its templates cut into parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from json import dumps, loads
from keyword import iskeyword
from typing import Any, Literal, TypeAlias, get_args

from pdacon.frontends.json_schema.json_values import NAMES, kind_of

INDEX = "0|[1-9][0-9]{0,3}"
"""A pattern of the numbers that count calls, of at most four digits: Kimi's counts those of a conversation."""
Slot: TypeAlias = Literal["name", "index", "arguments", "key", "value", "type", "is_string", "header", "channel"]
"""What a template leaves open, written ``$name``.

``name`` is the tool's, ``index`` a number that counts calls, ``arguments`` all arguments: an object of JSON, or tagged
one by one if the format has a template for one. In that template ``key`` is an argument's name, ``value`` its value,
``type`` the value's type (``string``, ``number``, ``boolean``, ``null``, ``array`` or ``object``), and ``is_string``
``true`` or ``false``. ``header`` and ``channel`` are each one of some fixed texts (`Messages`).
"""


@dataclass(frozen=True, slots=True)
class Open:
    """A part of a template that is left open."""

    slot: Slot


Part: TypeAlias = "str | Open"
Escapes: TypeAlias = tuple[tuple[str, str], ...]  # characters, each with what is written for it


@dataclass(frozen=True, slots=True)
class Thought:
    """What stands around the reasoning that may come before all else.

    Blanks in ``begin_blanks`` may follow its beginning, those in ``end_blanks`` may stand before its end, and those in
    ``after`` may follow it; they belong to neither thought nor text.
    """

    begin: str
    end: str
    begin_blanks: tuple[str, ...] = ()
    end_blanks: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Messages:
    """How an answer is written that consists of messages: thoughts and preambles, then a text or a call.

    Attributes
    ----------
    preamble : (str, str)
        What stands around a text that is not the last message.
    calls : tuple of str
        Templates of calls, besides that of the format.
    headers, channels : tuple of str
        What ``$header`` and ``$channel`` in templates of calls may be.
    """

    preamble: tuple[str, str]
    calls: tuple[str, ...]
    headers: tuple[str, ...]
    channels: tuple[str, ...]

    def texts(self, slot: Slot) -> tuple[str, ...] | None:
        """What may stand for a slot; None: it is none of those."""
        return {"header": self.headers, "channel": self.channels}.get(slot)


@dataclass(frozen=True, slots=True)
class ValueMarks:
    """How values are written, at any depth, where arguments are no JSON and not only tagged one by one.

    Attributes
    ----------
    string, scalar : (str, str)
        What stands around a string, which is its text as it is, and around a number or a constant.
    object, array : (str, str, str)
        What stands before, between and after members and items. Arguments are members without what is around them.
    member, item : (str, str)
        What stands before and after the value of a member, whose name is ``$key`` there, and of an item.
    stop : str
        What no text has in it where strings have no marks: all marks begin with it.
    python : bool
        Whether values are Python's: strings in its quotes, objects and arrays as dicts and lists of these, ``None``,
        ``False`` and ``True``. What is said of members is about arguments then, and the rest is not asked.
    """

    string: tuple[str, str] = ("", "")
    scalar: tuple[str, str] = ("", "")
    object: tuple[str, str, str] = ("", "", "")
    array: tuple[str, str, str] = ("", "", "")
    member: tuple[str, str] = ("$key", "")
    item: tuple[str, str] = ("", "")
    stop: str = ""
    python: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What stands before and after the name of a member."""
        before, _, after = self.member[0].partition("$key")
        return before, after

    @property
    def fixed_texts(self) -> tuple[str, ...]:
        """All marks."""
        return (*self.string, *self.scalar, *self.object, *self.array, *self.key, self.member[1], *self.item)

    def ends_key(self, name: str) -> str | None:
        """What a name must not have in it, if it has that."""
        if self.python:
            return None if name.isidentifier() and name.isascii() and not iskeyword(name) else name
        return next((sign for sign in self.forbidden if sign in name), None if name == name.strip() else " ")

    @property
    def forbidden(self) -> str:
        """The characters that no name of a member has."""
        return '{}[],<>&"' + self.key[1] + "".join(map(chr, range(32)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFormat:
    """How a family of models writes what it thinks, says and calls.

    Attributes
    ----------
    name : str
    models : str
        Who writes so.
    source : str
        Where that is documented.
    call : str
        The template of a call.
    argument : str
        The template of one argument, where they are tagged one by one; a string is its text as it is, without what
        follows ``$value`` there up to blanks at the end, and any other value is JSON.
    no_arguments : str
        What stands in the place of all arguments if there is none.
    begin, separator, end : str
        What stands around all calls, and between two of them.
    trigger : str
        A beginning of ``begin``, or of ``call`` if that is empty: free text goes on with a call where it has this, and
        nowhere else.
    blanks : tuple of str
        What may stand between free text and the trigger and belongs to neither.
    trigger_blanks : tuple of str
        What may stand after the trigger and has no meaning.
    text_begin, text_end : str
        What stands around free text.
    text_begun : bool
        Whether the prompt has written ``text_begin`` if the model is not to think.
    close : str
        What ends an answer.
    text_after : bool
        Whether free text may come after calls, and more calls after that.
    reserved : tuple of str
        Texts that free text never has, besides the trigger and the marks of a thought: marks that the model would mean.
    thought : Thought, optional
        None: the models do not think in a part of their own.
    messages : Messages, optional
        How an answer is written that consists of messages, of which the last one may be a call.
    tokens : tuple of str
        Which texts above are special tokens of the models' vocabularies.
    python_constants : bool
        Whether ``True``, ``False`` and ``None`` stand for ``true``, ``false`` and ``null`` as arguments, too.
    value_marks : ValueMarks, optional
        How the arguments are written where they are neither JSON nor tagged one by one.
    calls_alone : bool
        Whether calls come without any text, and what stands around one. A text may have the trigger then, but not at
        its beginning.
    escapes : tuple of (str, str)
        The characters that are escaped in the names of tools and arguments, and what is written for each. First comes
        the character that all escapes begin with.
    """

    name: str
    models: str
    source: str
    call: str
    argument: str = ""
    no_arguments: str = ""
    begin: str = ""
    separator: str = ""
    end: str = ""
    trigger: str
    blanks: tuple[str, ...] = ()
    trigger_blanks: tuple[str, ...] = ()
    text_begin: str = ""
    text_end: str = ""
    text_begun: bool = False
    close: str = ""
    text_after: bool = False
    reserved: tuple[str, ...] = ()
    thought: Thought | None = None
    messages: Messages | None = None
    tokens: tuple[str, ...] = ()
    python_constants: bool = False
    value_marks: ValueMarks | None = None
    calls_alone: bool = False
    escapes: Escapes = ()

    def __post_init__(self) -> None:
        if not self.trigger or not (self.begin or self.call).startswith(self.trigger):
            raise ValueError(f"format {self.name}: its calls do not begin with the trigger {self.trigger!r}")
        for stop in self.marks:
            if any(self.trigger.startswith(stop[k:]) for k in range(1, len(stop))):
                raise ValueError(f"format {self.name}: {stop!r} ends with what the trigger begins with")

    def write_call(self, index: int, name: str, arguments: Mapping[str, str] | str) -> str:
        """The text of a call whose arguments are given as JSON: each of them, or one object."""
        return next(self.write_calls(index, name, arguments))

    def write_calls(self, index: int, name: str, arguments: Mapping[str, str] | str) -> Iterator[str]:
        """The texts that a call may have, of which models write any: the format's own first."""
        if isinstance(arguments, str):
            inner = arguments
        elif self.value_marks is not None:
            inner = written_members(self.value_marks, {key: loads(value) for key, value in arguments.items()})
        elif not self.tagged:
            inner = (
                "{" + ", ".join(f"{dumps(key, ensure_ascii=False)}: {value}" for key, value in arguments.items()) + "}"
            )
        else:
            inner = "".join(self._write_argument(key, value) for key, value in arguments.items()) or self.no_arguments
        slots = {"name": self.escaped(name), "index": str(index), "arguments": inner}
        if self.messages is None:
            yield _filled(self.call, slots)
            return
        for template in (self.call, *self.messages.calls):
            texts = self.messages.headers if "$header" in template else self.messages.channels
            yield from (_filled(template, {**slots, "header": text, "channel": text}) for text in texts)

    def _write_argument(self, key: str, value: str) -> str:
        plain = loads(value)
        text = plain if isinstance(plain, str) else value
        is_string = "true" if isinstance(plain, str) else "false"
        type = next(name for name, kinds in NAMES.items() if kind_of(plain) in kinds)
        return _filled(self.argument, {"key": self.escaped(key), "value": text, "is_string": is_string, "type": type})

    def escaped(self, name: str) -> str:
        """A name as it is written."""
        return escaped_name(name, self.escapes)

    def unescaped(self, text: str) -> str:
        """The name that is written so."""
        for character, spelled in reversed(self.escapes):
            text = text.replace(spelled, character)
        return text

    @property
    def fixed_texts(self) -> tuple[str, ...]:
        """All texts that the format puts around parts of an answer, with its templates."""
        texts = (self.call, self.argument, self.begin, self.separator, self.end, self.text_begin, self.text_end)
        thought = () if self.thought is None else (self.thought.begin, self.thought.end)
        messages = self.messages
        others = (
            () if messages is None else (*messages.preamble, *messages.calls, *messages.headers, *messages.channels)
        )
        marks = () if self.value_marks is None else self.value_marks.fixed_texts
        return (*texts, self.close, *self.reserved, *thought, *others, *marks)

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts that free text never has: a call begins with the first of them."""
        thought = () if self.thought is None else (self.thought.begin, self.thought.end)
        return (self.trigger, *self.reserved, *thought)

    def ends_within(self, slot: Slot, text: str) -> str | None:
        """What ends a name in some template of the format, if it comes before the end of this one; else None."""
        others, text = () if self.messages is None else self.messages.calls, self.escaped(text)
        for template in (self.call, self.argument, *others):
            end = next(iter(parts_of_template(template.partition(f"${slot}")[2])), None)
            if isinstance(end, str) and (text + end).index(end) < len(text):
                return end
        return None

    @property
    def value_end(self) -> tuple[str, str]:
        """What a value of a tagged argument ends at, and the blanks that come after that."""
        end = self.argument.partition("$value")[2]
        stop = end.rstrip()
        return stop, end[len(stop) :]

    @property
    def around_arguments(self) -> tuple[str, str]:
        """The marks of an object, where a call has them around all arguments; else nothing."""
        before, _, after = ("", "", "") if self.value_marks is None else self.value_marks.object
        head, _, tail = self.call.partition("$arguments")
        return (before, after) if head.endswith(before) and tail.startswith(after) else ("", "")

    @property
    def tagged(self) -> bool:
        """Whether each argument is written by itself."""
        return bool(self.argument) or self.value_marks is not None

    @property
    def tells_types(self) -> bool:
        """Whether the type of an argument stands before its value."""
        return "$type" in self.argument

    @property
    def tells_strings(self) -> bool:
        """Whether it stands before the value of an argument if that is a string."""
        return self.tells_types or "$is_string" in self.argument


def written_members(marks: ValueMarks, members: Mapping[str, Any]) -> str:
    """Arguments, or the members of an object, in marks; without what stands around all of them.

    Raises ValueError: a member has a name that cannot be written.
    """
    (begin, after_key), end = marks.key, marks.member[1]
    written = []
    for key, value in members.items():
        sign = marks.ends_key(key)
        if sign is not None:
            raise ValueError(f"the name {key!r:.60} has {sign!r} in it, which no name has there")
        text = python_text(value) if marks.python else _written_value(marks, value)
        written.append(f"{begin}{key}{after_key}{text}{end.replace('$key', key)}")
    return marks.object[1].join(written)


def _written_value(marks: ValueMarks, value: Any) -> str:
    if isinstance(value, dict):
        before, _, after = marks.object
        return f"{before}{written_members(marks, value)}{after}"
    if isinstance(value, list):
        before, between, after = marks.array
        items = (f"{marks.item[0]}{_written_value(marks, item)}{marks.item[1]}" for item in value)
        return f"{before}{between.join(items)}{after}"
    begin, end = marks.string if isinstance(value, str) else marks.scalar
    return f"{begin}{value if isinstance(value, str) else dumps(value)}{end}"


def python_text(value: Any) -> str:
    """A value of JSON as Python writes it, with strings as in JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)}: {python_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(python_text, value)) + "]"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return dumps(text, ensure_ascii=False)


def parts_of_template(template: str) -> tuple[Part, ...]:
    """A template as texts and what is left open between them; no text is empty."""
    parts: list[Part] = []
    first, *others = template.split("$")
    if first:
        parts.append(first)
    for other in others:
        slot = next(slot for slot in get_args(Slot) if other.startswith(slot))
        parts.append(Open(slot))
        if other != slot:
            parts.append(other[len(slot) :])
    return tuple(parts)


def escaped_name(name: str, escapes: Escapes) -> str:
    """A name as it is written; see `ToolFormat`."""
    for character, spelled in escapes:
        name = name.replace(character, spelled)
    return name


def joined_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Parts of a template in which texts side by side are one."""
    joined: list[Part] = []
    for part in parts:
        if joined and isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def _filled(template: str, slots: Mapping[str, str]) -> str:
    return "".join(part if isinstance(part, str) else slots[part.slot] for part in parts_of_template(template))
