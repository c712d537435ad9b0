"""Tools that a request offers, and which of them its answer may, or must, call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.tool_arguments import arguments_schema
from pdacon.frontends.tool_formats import INPUT
from pdacon.integrations.answer_formats import Format
from pdacon.serving.advice import shown
from pdacon.serving.failures import RequestError, malformed, only
from pdacon.serving.protocol import ChatRequest
from pdacon.serving.strict_schemas import is_strict, require_known_keywords

_TEXT = {
    "type": "object",
    "properties": {INPUT: {"type": "string"}},
    "required": [INPUT],
    "additionalProperties": False,
}
# Keywords beside an empty list of properties that let no other members in.
_ABOUT_NOTHING = frozenset({"$schema", "$id", "type", "title", "description", "properties", "required"})
_ALLOWED = '{"type": "allowed_tools", "allowed_tools": {"mode": "auto" or "required", "tools": [...]}}'


@dataclass(frozen=True, slots=True)
class RequestedTool:
    """A tool of a request.

    ``place``: the part of the request that describes its arguments, for errors. ``takes_text``: its only argument is a
    text, and `input` what that has to be, if anything.
    """

    name: str
    parameters: Mapping[str, Any] | None
    place: str
    takes_text: bool = False
    input: Format | None = None

    def described(self) -> dict[str, Any]:
        """As `Grammar.from_tools` takes it."""
        return {"name": self.name, "parameters": self.parameters}


@dataclass(frozen=True, slots=True)
class Calls:
    """What calls an answer may have: of these tools, and none, ``auto``, ``required`` or the name of one."""

    tools: tuple[RequestedTool, ...]
    choice: str


def calls_of(request: ChatRequest) -> Calls | None:
    """What ``tools`` and ``tool_choice`` say; None: there are no calls.

    Raises RequestError: a tool is none, two have one name, or the choice is none of them.
    """
    choice = request.tool_choice
    if not request.tools:
        if choice not in (None, "none", "auto"):
            raise RequestError(400, f"tool_choice is {shown(choice)}, but there are no tools", param="tool_choice")
        return None
    tools = [_tool(tool, f"tools.{index}") for index, tool in enumerate(request.tools)]
    names: set[str] = set()
    for index, tool in enumerate(tools):
        if tool.name in names:
            where = f"tools.{index}.function.name"
            raise RequestError(400, f"{where}: two tools are called {tool.name!r:.80}", param=where, code="bad_request")
        names.add(tool.name)
    if choice == "none":
        return None
    if isinstance(choice, Mapping):
        return _chosen(choice, tools)
    return Calls(tuple(tools), choice or "auto")


def shown_tools(tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Tools as chat templates know them: one that takes a text is a function with one argument."""
    shown_as = []
    for tool in tools:
        if tool.get("type") != "custom":
            shown_as.append(tool)
            continue
        custom = tool["custom"]
        definition = ((custom.get("format") or {}).get("grammar") or {}).get("definition")
        words = [custom.get("description"), f"The input is in this grammar:\n{definition}" if definition else None]
        described = {"name": custom["name"], "description": "\n".join(filter(None, words)), "parameters": _TEXT}
        shown_as.append({"type": "function", "function": described})
    return shown_as


def _tool(tool: Mapping[str, Any], place: str) -> RequestedTool:
    if tool.get("type") == "custom":
        return _custom(tool.get("custom"), f"{place}.custom")
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, Mapping):
        raise malformed(place, '{"type": "function", "function": {"name": ..., "parameters": {...}}}')
    only(function, ("name", "description", "parameters", "strict"), f"{place}.function")
    name, parameters = function.get("name"), function.get("parameters")
    if not isinstance(name, str) or not name:
        raise malformed(f"{place}.function.name", "a name that is not empty")
    # OpenAI has it within the function; some clients write it beside that.
    strict = [
        is_strict(function.get("strict"), f"{place}.function.strict"),
        is_strict(tool.get("strict"), f"{place}.strict"),
    ]
    where = f"{place}.function.parameters"
    try:
        arguments_schema(parameters, "pdacon:tool")
    except UnsupportedSchemaError as error:
        raise RequestError(400, f"{where}: {error.why}", param=where, code="bad_request") from error
    if any(strict):
        require_known_keywords(parameters, where)
    return RequestedTool(name, _without_others(parameters), where)


def _without_others(parameters: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The schema of arguments, closed if it lists no property: so tools without arguments are described."""
    if parameters is None or parameters.get("properties") != {} or not parameters.keys() <= _ABOUT_NOTHING:
        return parameters
    return {**parameters, "additionalProperties": False}


def _custom(given: Any, place: str) -> RequestedTool:
    """A tool that takes a text, perhaps one of a grammar."""
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str) or not given["name"]:
        raise malformed(place, '{"name": ..., "format": {...}}')
    only(given, ("name", "description", "format"), place)
    format, where = given.get("format"), f"{place}.format"
    if format is None or (isinstance(format, Mapping) and format.get("type") == "text"):
        return RequestedTool(given["name"], _TEXT, where, takes_text=True)
    grammar = format.get("grammar") if isinstance(format, Mapping) and format.get("type") == "grammar" else None
    if not isinstance(grammar, Mapping) or not isinstance(grammar.get("definition"), str):
        raise malformed(where, '{"type": "grammar", "grammar": {"syntax": "lark" or "regex", "definition": ...}}')
    only(grammar, ("syntax", "definition"), f"{where}.grammar")
    syntax, text = grammar.get("syntax"), grammar["definition"]
    if syntax not in ("lark", "regex"):
        raise malformed(f"{where}.grammar.syntax", "'lark' or 'regex'")
    rules = text if syntax == "lark" else f"start: /{_within_slashes(text)}/\n"
    return RequestedTool(given["name"], _TEXT, where, takes_text=True, input=Format.of("llguidance", rules))


def _within_slashes(pattern: str) -> str:
    """A pattern as it stands between slashes in a grammar."""
    return re.sub(
        r"\\.|[/\n]", lambda match: {"/": r"\/", "\n": r"\n"}.get(match[0], match[0]), pattern, flags=re.DOTALL
    )


def _chosen(choice: Mapping[str, Any], tools: Sequence[RequestedTool]) -> Calls:
    """The tools that a choice names: one, which is called, or those that are allowed."""
    if choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools")
        allowed = allowed if isinstance(allowed, Mapping) else {}
        mode, listed = allowed.get("mode"), allowed.get("tools")
        if mode not in ("auto", "required") or not isinstance(listed, list) or not listed:
            raise malformed("tool_choice", _ALLOWED)
        names = {_name_in(one, "tool_choice") for one in listed}
        _require_there(names, tools)
        return Calls(tuple(tool for tool in tools if tool.name in names), mode)
    name = _name_in(choice, "tool_choice")
    _require_there({name}, tools)
    return Calls(tuple(tool for tool in tools if tool.name == name), name)


def _require_there(names: set[str], tools: Sequence[RequestedTool]) -> None:
    missing = sorted(names - {tool.name for tool in tools})
    if missing:
        raise RequestError(
            400, f"tool_choice names {missing[0]!r:.80}, which is none of the tools", param="tool_choice"
        )


def _name_in(choice: Any, place: str) -> str:
    kind = choice.get("type") if isinstance(choice, Mapping) else None
    named = choice.get(kind) if kind in ("function", "custom") else None
    name = named.get("name") if isinstance(named, Mapping) else None
    if not isinstance(name, str):
        raise malformed(place, f'{{"type": "function", "function": {{"name": ...}}}}, or {_ALLOWED}')
    return name
