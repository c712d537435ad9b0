"""`PartialValue`: what is certain of a value of JSON whose text comes in pieces.

In: the beginning of a text of JSON, cut anywhere. Out: the value so far. What comes later only adds to it: an object
has the members whose values have begun, a string is the text that has come of it, a constant is there with its first
letter, and a number when its last character is certain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic

from pdacon.base.arguments import require_instance
from pdacon.base.json_pointers import pointer_names, pointer_token
from pdacon.base.type_variables import Value
from pdacon.frontends.long_integers import json_value

_BETWEEN = frozenset(" \t\r\n,:")
_AFTER_SCALARS = frozenset(" \t\r\n,]}")
_CONSTANTS = {"t": "true", "f": "false", "n": "null"}
_BEGUN_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_FIRST_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")


UNCERTAIN = object()
"""In the place of a value of which nothing is certain."""


class Part:
    """A value within a value, as far as it has come.

    Attributes
    ----------
    members : dict, list or None
        The parts of an object or an array; None of other values.
    texts : list of str
        Of a string what has come between its quotes, as JSON writes it, and of a number or a constant its text.
    is_string : bool
    is_whole : bool
        Whether all of it has come.
    """

    __slots__ = ("is_string", "is_whole", "members", "texts")

    def __init__(self, members: dict[str, Part] | list[Part] | None, *, is_string: bool = False) -> None:
        self.members, self.is_string, self.is_whole = members, is_string, False
        self.texts: list[str] = []

    @property
    def has_value(self) -> bool:
        """Whether anything is certain of it: of a number only when it is whole."""
        return self.is_whole or self.is_string or self.members is not None or self.is_constant

    @property
    def is_constant(self) -> bool:
        """Whether it is true, false or null, which its first letter tells."""
        return not self.is_string and bool(self.texts) and self.texts[0] in _CONSTANTS.values()

    def string(self) -> str:
        """The string so far. An escape that has begun is not in it, nor half a character."""
        text = "".join(self.texts)
        if not self.is_whole:
            text = _without_begun_escape(text)
        return str(json.loads(f'"{text}"', strict=False)) if "\\" in text else text


def plain_part(part: Part, scalar: Callable[[str], Any] = json_value) -> Any:
    """What has come of a part, as dicts, lists, strings, numbers and constants; ``scalar`` makes these of texts."""
    made: list[Any] = []
    pending: list[tuple[Callable[[Any], None], Part]] = [(made.append, part)]
    while pending:
        put, each = pending.pop()
        if each.is_string:
            put(each.string())
        elif each.members is None:
            put(scalar("".join(each.texts)))
        elif isinstance(each.members, dict):
            members: dict[str, Any] = {}
            put(members)
            inner = [(partial(members.__setitem__, name), one) for name, one in each.members.items() if one.has_value]
            pending += reversed(inner)
        else:
            items: list[Any] = []
            put(items)
            pending += [(items.append, one) for one in reversed(each.members) if one.has_value]
    return made[0]


class PartialInstance(SimpleNamespace):
    """An instance of a class as far as it has come: it has the attributes of which anything is certain.

    To a type checker it stands for whatever has come in part: it has any attribute, and can be indexed and iterated, as
    the lists and dicts can that hold such instances.
    """

    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        super().__init__(**attributes)
        self.__class_name = name

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if "__" not in name)
        return f"<so far {self.__class_name}({listed})>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartialInstance) and vars(self) == vars(other)

    __hash__ = None

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __len__(self) -> int: ...
        def __contains__(self, key: object) -> bool: ...


class PartialValue(Generic[Value]):
    """A value of JSON as far as its text has come; `Constraint.partial` and `AnswerReader.arguments` give one.

    Parameters
    ----------
    typed : callable, optional
        Makes what `value` gives of the outermost part; else it is plain JSON.
    """

    def __init__(self, typed: Callable[[Part], Any] = plain_part) -> None:
        self._typed = typed
        self._root: Part | None = None
        self._open: list[Part] = []  # objects and arrays that are not whole
        self._names: list[str] = []  # for each of them but the outermost, and what is in it, where it stands
        self._leaf: Part | None = None  # a string, a number or a constant that is not whole
        self._name: Part | None = None  # the name of a member that is not whole
        self._key: str | None = None  # the name of the member whose value comes next
        self._after_backslash = False

    def feed(self, text: str) -> None:
        """Read on. What is no beginning of JSON is not told: the constraint has seen to it.

        Raises
        ------
        TypeError
            It is no str.
        """
        require_instance("feed", "text", text, str, "a str")
        at = 0
        while at < len(text):
            string = self._name or (self._leaf if self._leaf is not None and self._leaf.is_string else None)
            if string is not None:
                at = self._string(string, text, at)
            elif self._leaf is not None:
                at = self._number(self._leaf, text, at)
            else:
                self._structure(text[at])
                at += 1

    def finish(self) -> None:
        """No more text comes: a number that is all of the value is whole then."""
        if self._leaf is not None and not self._leaf.is_string and not self._open:
            self._end_leaf()

    @property
    def is_whole(self) -> bool:
        """Whether all of the value has come."""
        return self._root is not None and self._root.is_whole

    @property
    def value(self) -> Value | PartialInstance | None:
        """What is certain so far; None if nothing is.

        Of a type: what is whole is an instance, and of what is not whole there are `PartialInstance`, dicts and lists.
        What would be of another type is left out: of ``date`` all but whole dates. A choice is there as soon as only
        one is possible, and of a union what the types that are still possible have in common.

        Raises
        ------
        RecursionError
            Of a type: it is nested some hundreds of levels deep.
        """
        if self._root is None or not self._root.has_value:
            return None
        value: Any = self._typed(self._root)
        return None if value is UNCERTAIN else value

    @property
    def pointer(self) -> str:
        """Where the text is within the value: the JSON pointer of the innermost value that is not whole."""
        return "".join(f"/{pointer_token(name)}" for name in self._names)

    def at(self, pointer: str) -> Any:
        """What is certain so far of the value at a JSON pointer, as plain JSON.

        Raises
        ------
        KeyError
            Nothing of it has come.
        """
        return plain_part(self._part(pointer))

    def is_whole_at(self, pointer: str) -> bool:
        """Whether all of the value at a JSON pointer has come."""
        try:
            return self._part(pointer).is_whole
        except KeyError:
            return False

    # How it is read

    def _part(self, pointer: str) -> Part:
        require_instance("at", "pointer", pointer, str, "a JSON pointer")
        part = self._root
        for name in pointer_names(pointer):
            members = None if part is None else part.members
            if isinstance(members, dict):
                part = members.get(name)
            elif isinstance(members, list) and name.isascii() and name.isdigit() and int(name) < len(members):
                part = members[int(name)]
            else:
                part = None
        if part is None or not part.has_value:
            raise KeyError(pointer)
        return part

    def _structure(self, character: str) -> None:
        if character in _BETWEEN:
            return
        if character in "}]":
            self._open.pop().is_whole = True
            self._leave()
        elif character == '"' and self._open and isinstance(self._open[-1].members, dict) and self._key is None:
            self._name = Part(None, is_string=True)
        elif character in '{["':
            part = Part({"{": {}, "[": []}.get(character), is_string=character == '"')  # type: ignore[arg-type]
            self._put(part)
            if part.is_string:
                self._leaf = part
            else:
                self._open.append(part)
        else:
            self._leaf = Part(None)
            self._leaf.texts.append(_CONSTANTS.get(character, character))
            self._put(self._leaf)

    def _put(self, part: Part) -> None:
        """A value begins where it stands in what it is in."""
        members = self._open[-1].members if self._open else None
        if members is None:
            self._root = part
        elif isinstance(members, list):
            self._names.append(str(len(members)))
            members.append(part)
        else:
            assert self._key is not None
            self._names.append(self._key)
            members[self._key] = part
            self._key = None

    def _leave(self) -> None:
        if self._names:
            self._names.pop()

    def _end_leaf(self) -> None:
        assert self._leaf is not None
        self._leaf.is_whole = True
        self._leaf = None
        self._leave()

    def _string(self, part: Part, text: str, at: int) -> int:
        """Read on in a string; where its text in this piece ends."""
        if self._after_backslash:
            self._after_backslash = False
            part.texts.append(text[at])
            return at + 1
        quote = text.find('"', at)
        end = len(text) if quote < 0 else quote
        backslash = text.find("\\", at, end)
        if backslash >= 0:
            self._after_backslash = True
            part.texts.append(text[at : backslash + 1])
            return backslash + 1
        part.texts.append(text[at:end])
        if quote < 0:
            return end
        if part is self._name:
            part.is_whole = True
            self._key, self._name = part.string(), None
        else:
            self._end_leaf()
        return end + 1

    def _number(self, part: Part, text: str, at: int) -> int:
        end = next((k for k in range(at, len(text)) if text[k] in _AFTER_SCALARS), None)
        if not part.is_constant:
            part.texts.append(text[at:end])
        if end is None:
            return len(text)
        self._end_leaf()
        return end


def _without_begun_escape(text: str) -> str:
    """The inside of a string without what may go on otherwise: an escape, or half of one that is written as two."""
    tail = _BEGUN_ESCAPE.search(text)
    if tail is not None and _backslashes_before(text, tail.start()) % 2 == 0:
        text = text[: tail.start()]
    half = _FIRST_HALF.search(text)
    if half is not None and _backslashes_before(text, half.start()) % 2 == 0:
        text = text[: half.start()]
    return text


def _backslashes_before(text: str, at: int) -> int:
    return at - len(text[:at].rstrip("\\"))
