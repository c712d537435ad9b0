"""What an answer must be, as a request says it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pdacon.base.quoting import did_you_mean
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.tool_arguments import arguments_schema, call_schema
from pdacon.integrations.answer_formats import Format, Kind, grammar_kind
from pdacon.serving.advice import shown
from pdacon.serving.failures import RequestError
from pdacon.serving.protocol import ChatRequest, Common

Reading = Literal["text", "call", "call_or_text"]
CONTENT = "content"  # the member of an answer that may be a call, and is a text

_KINDS = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")  # of `structured_outputs`
_ONE_LINE = {
    "json_object": "any JSON object",
    "json_schema": '{"name": ..., "schema": {...}}',
    "regex": "a regular expression of Python's re, that the whole answer matches",
    "choice": "a list of texts",
    "grammar": "a grammar of Lark, or of EBNF or GBNF, whose rules have ::=",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer must be, where the request says so, and how it is told."""

    format: Format
    param: str  # the part of the request that says so, for errors
    reading: Reading = "text"  # what the answer is to its client: its text, the call of a function, or one of them


def format_of(request: Common) -> Wanted | None:
    """What the answers to a request must be; None: any text.

    Raises RequestError: it is said twice, unknown, or malformed; or there is none, and the answer is to be complete.
    """
    if request.response_format is not None and request.structured_outputs is not None:
        raise RequestError(
            400, "response_format and structured_outputs say the same; give one", param="response_format"
        )
    own = (
        response_format(request.response_format)
        if request.structured_outputs is None
        else structured_outputs(request.structured_outputs)
    )
    called = tools_format(request) if isinstance(request, ChatRequest) else None
    if own is not None and called is not None:
        raise RequestError(
            400,
            "an answer cannot be the call of a tool and of a response_format; say tool_choice: 'none'",
            param="tools",
        )
    wanted = own if called is None else called
    if wanted is None and request.complete:
        raise RequestError(
            400,
            "complete needs a format: free text ends where the model ends it, or is cut; give a response_format, or "
            "leave complete out",
            param="complete",
        )
    return wanted


def response_format(given: Mapping[str, Any] | None, param: str = "response_format") -> Wanted | None:
    """What OpenAI's ``response_format`` says, with ``grammar``, ``regex`` and ``choice`` beside its own types."""
    if given is None or given.get("type") == "text":
        _only(given or {}, ("type",), param)
        return None
    kind = given.get("type")
    if kind == "json_object":
        _only(given, ("type", "schema"), param)  # LoRAX and llama.cpp give the schema here
        if given.get("schema") is None:
            return Wanted(Format.of("json_object", ""), param)
        return _schema(given["schema"], f"{param}.schema")
    if kind == "json_schema":
        _only(given, ("type", "json_schema"), param)
        named = given.get("json_schema")
        place = f"{param}.json_schema"
        if not isinstance(named, Mapping) or "schema" not in named:
            raise _malformed(place, _ONE_LINE["json_schema"])
        _only(named, ("name", "schema", "strict", "description"), place)
        return _schema(named["schema"], f"{place}.schema")
    if kind == "grammar":
        _only(given, ("type", "grammar", "syntax"), param)
        return _grammar(given.get("grammar"), given.get("syntax"), f"{param}.grammar")
    if kind == "regex":
        _only(given, ("type", "regex", "pattern"), param)
        return _regex(given.get("regex", given.get("pattern")), f"{param}.regex")
    if kind == "choice":
        _only(given, ("type", "choice", "choices"), param)
        return _choice(given.get("choice", given.get("choices")), f"{param}.choice")
    if kind == "structural_tag":
        _only(given, ("type", "format", "structures", "triggers"), param)
        return Wanted(Format.of("structural_tag", json.dumps(given)), param)
    known = ("text", "json_object", "json_schema", "grammar", "regex", "choice", "structural_tag")
    near = did_you_mean(kind[:60], known) if isinstance(kind, str) else ""
    raise RequestError(
        400,
        f"{param}.type is {'missing' if kind is None else shown(kind)}; {near}there are {', '.join(known)}",
        param=f"{param}.type",
        code="unknown_format",
    )


def structured_outputs(given: Mapping[str, Any], param: str = "structured_outputs") -> Wanted | None:
    """What vLLM's ``structured_outputs`` says: one of json, regex, choice, grammar, json_object, structural_tag."""
    said = {key: value for key, value in given.items() if value is not None and value is not False}
    _only(said, (*_KINDS, "syntax"), param)
    if (count := len(said) - ("syntax" in said)) != 1:
        raise RequestError(400, f"{param} says {count or 'no'} things; give one of {', '.join(_KINDS)}", param=param)
    if "json" in said:
        return _schema(said["json"], f"{param}.json", may_be_text=True)
    if "regex" in said:
        return _regex(said["regex"], f"{param}.regex")
    if "choice" in said:
        return _choice(said["choice"], f"{param}.choice")
    if "structural_tag" in said:
        tag = said["structural_tag"]
        text = tag if isinstance(tag, str) else json.dumps(tag)
        return Wanted(Format.of("structural_tag", text), f"{param}.structural_tag")
    if "grammar" in said:
        return _grammar(said["grammar"], said.get("syntax"), f"{param}.grammar")
    return Wanted(Format.of("json_object", ""), f"{param}.json_object")


def tools_format(request: ChatRequest) -> Wanted | None:
    """What ``tools`` and ``tool_choice`` say: an answer that is a call, or may be one; None: neither.

    With ``auto`` the answer is a call, or an object with a text: either way it is known from its first member what it
    is, whatever format the model was trained on. With ``parallel_tool_calls`` an array of calls is in a call's place.
    """
    choice = request.tool_choice
    if not request.tools:
        if choice not in (None, "none", "auto"):
            raise RequestError(400, f"tool_choice is {shown(choice)}, but there are no tools", param="tool_choice")
        return None
    calls = [_call(tool, index) for index, tool in enumerate(request.tools)]
    names: set[str] = set()
    for index, call in enumerate(calls):
        name = call["properties"]["name"]["const"]
        if name in names:
            where = f"tools.{index}.function.name"
            raise RequestError(400, f"{where}: two tools are called {name!r:.80}", param=where, code="bad_request")
        names.add(name)
    if choice == "none":
        return None
    if isinstance(choice, Mapping):
        name = _chosen(choice)
        calls = [call for call in calls if call["properties"]["name"]["const"] == name]
        if not calls:
            raise RequestError(400, f"tool_choice names {name!r:.80}, which is none of the tools", param="tool_choice")
        choice = "required"
    if request.parallel_tool_calls:
        calls = [{"type": "array", "items": {"anyOf": calls}, "minItems": 1}]
    if choice == "required":
        return Wanted(Format.of_schema({"anyOf": calls}), "tools", "call")
    text = {"type": "object", "properties": {CONTENT: {"type": "string"}}, "required": [CONTENT]}
    said = {"anyOf": [*calls, {**text, "additionalProperties": False}]}
    return Wanted(Format.of_schema(said), "tools", "call_or_text")


def _call(tool: Mapping[str, Any], index: int) -> dict[str, Any]:
    """The schema of a call of one tool: its name, and arguments that depend on it."""
    place = f"tools.{index}"
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, Mapping):
        raise _malformed(place, '{"type": "function", "function": {"name": ..., "parameters": {...}}}')
    _only(function, ("name", "description", "parameters", "strict"), f"{place}.function")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise _malformed(f"{place}.function.name", "a name that is not empty")
    try:
        arguments = arguments_schema(function.get("parameters"), f"pdacon:tool/{index}")
    except UnsupportedSchemaError as error:
        where = f"{place}.function.parameters"
        raise RequestError(400, f"{where}: {error.why}", param=where, code="bad_request") from error
    return call_schema(name, arguments)


def _chosen(choice: Mapping[str, Any]) -> str:
    function = choice.get("function")
    name = function.get("name") if isinstance(function, Mapping) else None
    if choice.get("type") != "function" or not isinstance(name, str):
        raise _malformed("tool_choice", '{"type": "function", "function": {"name": ...}}')
    return name


def _grammar(text: Any, syntax: Any, param: str) -> Wanted:
    if syntax not in (None, "lark", "gbnf"):
        raise RequestError(
            400, f"syntax is {shown(syntax)}; there are 'lark' and 'gbnf'", param=param, code="unknown_format"
        )
    if not isinstance(text, str):
        raise _malformed(param, _ONE_LINE["grammar"])
    kind: Kind = grammar_kind(text) if syntax is None else "lark" if syntax == "lark" else "gbnf"
    return Wanted(Format.of(kind, text), param)


def _regex(pattern: Any, param: str) -> Wanted:
    if not isinstance(pattern, str):
        raise _malformed(param, _ONE_LINE["regex"])
    return Wanted(Format.of("regex", pattern), param)


def _choice(choices: Any, param: str) -> Wanted:
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise _malformed(param, _ONE_LINE["choice"])
    if not all(isinstance(one, str) for one in choices):
        raise _malformed(param, _ONE_LINE["choice"])
    return Wanted(Format.of("choice", json.dumps(list(choices))), param)


def _schema(schema: Any, param: str, *, may_be_text: bool = False) -> Wanted:
    if may_be_text and isinstance(schema, str):
        return Wanted(Format.of("schema", schema), param)
    if not isinstance(schema, Mapping | bool):
        raise _malformed(param, "a JSON Schema: an object or a Boolean")
    return Wanted(Format.of_schema(schema), param)


def _only(given: Mapping[str, Any], known: Sequence[str], param: str) -> None:
    """Refuse members that nobody knows: a misspelled one would be left out in silence."""
    for key in given:
        if key not in known:
            near = did_you_mean(key[:60], known)
            listed = f"there is no {key!r:.80}; {near}there are {', '.join(known)}"
            raise RequestError(400, f"{param}: {listed}", param=param)


def _malformed(param: str, wanted: str) -> RequestError:
    return RequestError(400, f"{param} must be {wanted}", param=param, code="bad_request")
