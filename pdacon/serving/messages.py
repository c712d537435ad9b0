"""Messages of a chat: which fields they may have, and what these are. What nobody knows is refused, as everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from pdacon.serving.fields import no_such, refuse


class _Field(NamedTuple):
    """What a field is, beside null, and how that is said."""

    kinds: tuple[type, ...]
    said: str


_TEXT = _Field((str,), "give a text")
_OBJECT = _Field((dict,), "give an object")
_ARRAY = _Field((list,), "give an array")
# OpenAI's, those that its answers have included, and what models think, which some templates read.
_FIELDS = MappingProxyType(
    {
        "role": _TEXT,
        "content": _Field((str, list), "give a text, or an array of parts of type 'text'"),
        "name": _TEXT,
        "refusal": _TEXT,
        "tool_call_id": _TEXT,
        "tool_calls": _ARRAY,
        "function_call": _OBJECT,
        "audio": _OBJECT,
        "annotations": _ARRAY,
        "reasoning_content": _TEXT,
    }
)
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_PART = MappingProxyType({"type": _TEXT, "text": _TEXT})
_CALL = MappingProxyType(
    {"id": _TEXT, "type": _TEXT, "function": _OBJECT, "custom": _OBJECT, "index": _Field((int,), "give a whole number")}
)
# Some templates want the arguments as an object.
_FUNCTION = MappingProxyType({"name": _TEXT, "arguments": _Field((str, dict), "give a text that is JSON")})


def checked(messages: Sequence[Mapping[str, Any]]) -> None:
    """Refuse messages that are none.

    Raises PydanticCustomError: the first thing that is wrong, with its place.
    """
    for index, message in enumerate(messages):
        place = f"{index}"
        _check(message, _FIELDS, place)
        if not message.get("role"):
            refuse(f"{place}.role", "each message has a role, such as 'user'")
        if message["role"] not in _ROLES:
            refuse(f"{place}.role", f"give {', '.join(_ROLES[:-1])} or {_ROLES[-1]}")
        if message["role"] == "tool" and message.get("tool_call_id") is None:
            refuse(f"{place}.tool_call_id", "it is missing; give the id of the call that this is the result of")
        if message.get("content") is None and not message.get("tool_calls") and not message.get("function_call"):
            refuse(f"{place}.content", "it is missing; only a message with tool_calls may be without it")
        content = message.get("content")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            # Parts of other types are refused where the prompt is written.
            if isinstance(part, dict) and part.get("type") == "text":
                _check(part, _PART, f"{place}.content.{number}")
        for number, call in enumerate(message.get("tool_calls") or ()):
            _check_call(call, f"{place}.tool_calls.{number}")
        if message.get("function_call"):
            _check(message["function_call"], _FUNCTION, f"{place}.function_call")


def _check_call(call: Any, place: str) -> None:
    if not isinstance(call, dict):
        refuse(place, _OBJECT.said)
    _check(call, _CALL, place)
    if call.get("function") is None and call.get("custom") is None:
        refuse(f"{place}.function", 'it is missing; give {"name": ..., "arguments": ...}')
    if call.get("function") is not None:
        _check(call["function"], _FUNCTION, f"{place}.function")
        if call["function"].get("name") is None:
            refuse(f"{place}.function.name", "it is missing")


def _check(given: Mapping[str, Any], fields: Mapping[str, _Field], place: str) -> None:
    for name, value in given.items():
        field = fields.get(name)
        if field is None:
            refuse(f"{place}.{name}", no_such(name, fields))
        elif value is not None and (not isinstance(value, field.kinds) or isinstance(value, bool)):
            refuse(f"{place}.{name}", field.said)
