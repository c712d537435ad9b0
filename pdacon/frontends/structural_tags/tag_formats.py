"""Formats of a structural tag, checked: their members, and where they stand."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from typing import Any

from pdacon.errors import UnsupportedGrammarError
from pdacon.frontends.names_once import NamesOnce

_MEMBERS: dict[str, tuple[str, ...]] = {
    "const_string": ("value",),
    "json_schema": ("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"),
    "grammar": ("grammar", "syntax"),
    "regex": ("pattern",),
    "any_text": ("excludes", "max_chars", "max_tokens"),
    "any_tokens": ("exclude_tokens", "max_tokens"),
    "exclude_token": ("exclude_tokens",),
    "token": ("token",),
    "qwen_xml_parameter": ("json_schema",),
    "sequence": ("elements",),
    "or": ("elements",),
    "optional": ("content",),
    "plus": ("content",),
    "star": ("content",),
    "repeat": ("content", "min", "max"),
    "tag": ("begin", "content", "end"),
    "triggered_tags": ("triggers", "tags", "at_least_one", "stop_after_first", "excludes"),
    "token_triggered_tags": ("trigger_tokens", "tags", "at_least_one", "stop_after_first", "exclude_tokens"),
    "tags_with_separator": ("tags", "separator", "at_least_one", "stop_after_first"),
    "dispatch": ("rules", "loop", "excludes"),
    "token_dispatch": ("rules", "loop", "exclude_tokens"),
}
"""What a format of each type may say besides its type."""

_OLD = '{"type": "structural_tag", "structures": [{"begin": ..., "schema": ..., "end": ...}], "triggers": [...]}'
_DEEPEST = 100
_CONSISTS_OF = ("elements", "rules", "tags", "triggers", "trigger_tokens")
"""Lists that a format has to have; others are empty if they are not there."""


@dataclass(frozen=True, slots=True)
class TagFormat:
    """One format.

    Attributes
    ----------
    place : str
        Its JSON pointer.
    type : str
    depth : int
        How many formats it lies in.
    """

    given: Mapping[str, Any]
    place: str
    type: str
    depth: int = 0

    def within(self, *steps: str | int) -> TagFormat:
        """The format that a member, or an element of one, is."""
        value: Any = self.given
        for step in steps:
            value = value[step] if isinstance(step, int) else value.get(step)
        return checked(value, "/".join([self.place, *map(str, steps)]), self.depth + 1)

    def list(self, key: str) -> list[Any]:
        """A member that is a list; if it is not there an empty one, but where a format consists of it."""
        value = self.given.get(key, None if key in _CONSISTS_OF else [])
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, list | tuple):
            raise malformed(f"{self.place}/{key}", "a list", value)
        return list(value)

    def formats(self, key: str, type: str | None = None) -> Iterator[TagFormat]:
        """A member that is a list of formats, which are not empty; where all are of one type, none has to say it."""
        for place, value in enumerate(self.list(key)):
            node = checked(value, f"{self.place}/{key}/{place}", self.depth + 1, type)
            if type is not None and node.type != type:
                raise malformed(node.place, f'a format of the type "{type}"', node.given)
            yield node

    def strings(self, key: str, *, may_be_empty: bool = False) -> tuple[str, ...]:
        """A member that is a list of texts, none of them empty if that is not said; each of them once."""
        values = self.list(key)
        for place, value in enumerate(values):
            if not checked_text(value, f"{self.place}/{key}/{place}") and not may_be_empty:
                raise malformed(f"{self.place}/{key}/{place}", "a text that is not empty", value)
        return tuple(dict.fromkeys(values))

    def string(self, key: str) -> str:
        return checked_text(self.given.get(key), f"{self.place}/{key}")

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.given.get(key, default)
        if not isinstance(value, bool):
            raise malformed(f"{self.place}/{key}", "true or false", value)
        return value

    def number(self, key: str, least: int = 0) -> int | None:
        """A member that is a whole number; None if it is not there."""
        value = self.given.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise malformed(f"{self.place}/{key}", f"a whole number from {least}", value)
        return value

    def refused(self, what: str) -> UnsupportedGrammarError:
        """The error that says why this format cannot be enforced, or what to write."""
        return UnsupportedGrammarError(f"{self.place} ({self.type}): {what}", feature="structural tag")


def root(given: Any) -> TagFormat:
    """The outermost format of a structural tag: as an object, as JSON, or as an object of XGrammar's.

    Raises
    ------
    TypeError
        It is nothing of these.
    UnsupportedGrammarError
        It is no format, or has members that nobody knows.
    """
    given = _plain(given)
    is_json = isinstance(given, str | bytes)
    if is_json:
        names = NamesOnce()
        try:
            given = json.loads(given, object_pairs_hook=names)
        except (ValueError, RecursionError) as error:
            raise UnsupportedGrammarError(
                f"the structural tag is no JSON: {error}", feature="structural tag"
            ) from error
        if twice := names.complaint(given):
            raise UnsupportedGrammarError(twice, feature="structural tag")
    if is_json and not isinstance(given, Mapping):
        raise malformed("#", 'an object, such as {"type": "structural_tag", "format": ...}', given)
    if not isinstance(given, Mapping):
        raise TypeError(f"a structural tag is a dict or its JSON, not a {type(given).__name__}")
    if "structures" in given and given.get("type", "structural_tag") == "structural_tag":
        return _old(given)
    if given.get("type") != "structural_tag":
        return checked(given, "#", 0)
    _only(given, ("type", "format"), "#")
    return checked(given.get("format"), "#/format", 0)


def checked(value: Any, place: str, depth: int, type_here: str | None = None) -> TagFormat:
    """A format, whose type and members are checked; ``type_here`` is its type if it names none."""
    value = _plain(value)
    if type_here is not None and isinstance(value, Mapping) and "type" not in value:
        value = {"type": type_here, **value}
    if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
        raise malformed(place, 'a format, such as {"type": "any_text"}', value)
    if depth > _DEEPEST:
        message = f"{place[:60]}...: there are more than {_DEEPEST} formats in one another"
        raise UnsupportedGrammarError(message, feature="structural tag")
    type = value["type"]
    if type not in _MEMBERS:
        members = ", ".join(_MEMBERS)
        message = f"{place}: there is no format of the type {type!r:.60} here; there are {members}"
        raise UnsupportedGrammarError(message, feature="structural tag")
    _only(value, ("type", *_MEMBERS[type]), place)
    return TagFormat(value, place, type, depth)


def _old(given: Mapping[str, Any]) -> TagFormat:
    """What vLLM, SGLang and earlier versions of XGrammar write."""
    _only(given, ("type", "structures", "triggers", "at_least_one"), "#")
    structures = given.get("structures")
    structures = list(map(_plain, structures)) if isinstance(structures, list | tuple) else structures
    if not isinstance(structures, list | tuple) or not all(isinstance(structure, Mapping) for structure in structures):
        raise malformed("#", _OLD, given)
    tags = []
    for place, structure in enumerate(structures):
        _only(structure, ("begin", "schema", "end"), f"#/structures/{place}")
        content = {"type": "json_schema", "json_schema": structure.get("schema", True)}
        tags.append({"type": "tag", "begin": structure.get("begin"), "content": content, "end": structure.get("end")})
    translated = {
        "type": "triggered_tags",
        "triggers": given.get("triggers", ()),
        "tags": tags,
        "at_least_one": given.get("at_least_one", False),  # only SGLang writes it
    }
    return checked(translated, "#", 0)


def _only(given: Mapping[str, Any], members: tuple[str, ...], place: str) -> None:
    for key in given:
        if key not in members:
            message = f"{place}: there is no {key!r:.60} here; there are {', '.join(members)}"
            raise UnsupportedGrammarError(message, feature="structural tag")


def malformed(place: str, expected: str, value: Any) -> UnsupportedGrammarError:
    """The error for a member that is something else, or not there."""
    if value is None:
        return UnsupportedGrammarError(f"{place} is missing; it must be {expected}", feature="structural tag")
    return UnsupportedGrammarError(f"{place} must be {expected}, not {shown(value):.60}", feature="structural tag")


def checked_text(value: Any, place: str) -> str:
    """A member that is a text, without half of a surrogate pair in it."""
    if not isinstance(value, str):
        raise malformed(place, "a text", value)
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise malformed(place, "a text without lone surrogates, which no text can have", value)
    return value


def special_names(caller: str, tokens: Collection[str]) -> tuple[str, ...]:
    """The names of special tokens, the longest first: of two that begin alike a text has the longer one."""
    if isinstance(tokens, str) or not all(isinstance(token, str) and token for token in tokens):
        raise TypeError(f"{caller}: tokens are names of special tokens, not {tokens!r:.60}")
    return tuple(sorted(set(tokens), key=lambda token: (-len(token), token)))


def _plain(given: Any) -> Any:
    """An object of XGrammar's classes as a dict."""
    return given.model_dump(by_alias=True) if hasattr(given, "model_dump") and not isinstance(given, type) else given
