"""What an answer must be, as a request says it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pdacon.base.quoting import did_you_mean
from pdacon.errors import PdaconError, UnsupportedTypeError
from pdacon.frontends.tool_formats import FORMATS, AnswerValues, Reasoning, ToolFormat, refuse_name
from pdacon.integrations.answer_formats import AnswerFormat, Format, Kind, grammar_kind
from pdacon.integrations.json_reading import OPTIONS, said_options, with_reading
from pdacon.serving.advice import shown
from pdacon.serving.failures import RequestError, malformed, of_grammar, only
from pdacon.serving.protocol import ChatRequest, Common
from pdacon.serving.requested_tools import Calls, RequestedTool, calls_of
from pdacon.serving.strict_schemas import is_strict, require_known_keywords

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
    """What an answer must be, where the request says so, and how it is read."""

    format: Format
    param: str  # the part of the request that says so, for errors
    values: AnswerValues | None = None  # what reads the answer; None: it is a text
    tools: Mapping[str, str] = field(default_factory=dict)  # by name, the part of the request that describes it
    texts: frozenset[str] = frozenset()  # the names of those that take a text


def requested_format(request: Common, tool_format: ToolFormat | None = None, prompt: str = "") -> Wanted | None:
    """What the answers to a request must be; None: any text.

    Parameters
    ----------
    tool_format : ToolFormat, optional
        How the model writes what it thinks and calls. None: the request is for what follows a text.
    prompt : str
        What the model goes on with.

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
    calls = calls_of(request) if isinstance(request, ChatRequest) else None
    if own is None and calls is None and request.complete:
        raise RequestError(
            400,
            "complete needs a format: free text ends where the model ends it, or is cut; give a response_format, or "
            "leave complete out",
            param="complete",
        )
    if tool_format is None:
        return own
    reasoning = _reasoning(tool_format, prompt)
    if calls is None and not reasoning:
        return own
    return _answer(own, calls, tool_format, reasoning, getattr(request, "parallel_tool_calls", None) is not False)


def _answer(
    own: Wanted | None, calls: Calls | None, tool_format: ToolFormat, reasoning: Reasoning, parallel: bool
) -> Wanted:
    """An answer in the model's own format: calls, or a text that may have to be something, perhaps after a thought."""
    choice = "none" if calls is None else calls.choice
    tools = () if calls is None else calls.tools
    content = own if choice in ("none", "auto") else None
    if content is not None and calls is not None and tool_format.name == "json":
        tool_format = FORMATS["hermes"]  # a call has to be told from a value by its beginning
    asked = AnswerFormat(
        tuple(tool.described() for tool in tools),
        tool_format,
        choice,
        parallel,
        reasoning,
        None if content is None else content.format,
        {tool.name: tool.input for tool in tools if tool.input is not None},
    )
    param = content.param if content is not None and calls is None else "tools" if calls is not None else "messages"
    places = {tool.name: tool.place for tool in tools}
    if asked.inputs:  # what is wrong with a schema names its tool, so that this is about a grammar
        param = next(tool.place for tool in tools if tool.input is not None)
    for tool in tools:
        _require_name(tool, tool_format)
    try:
        values = asked.values()
    except PdaconError as error:
        raise of_grammar(error, param, places) from error
    texts = frozenset(tool.name for tool in tools if tool.takes_text)
    return Wanted(asked.said(), param if content is None else content.param, values, places, texts)


def _require_name(tool: RequestedTool, tool_format: ToolFormat) -> None:
    """Refuse a tool whose name the format cannot write. Raises RequestError."""
    try:
        refuse_name(tool_format, tool.name)
    except UnsupportedTypeError as error:
        where = f"{tool.place.rpartition('.')[0]}.name"
        raise RequestError(400, f"{where}: {error.why}", param=where, page=error.page) from error


def _reasoning(tool_format: ToolFormat, prompt: str) -> Reasoning:
    """Whether the model may think first, or goes on with a thought that the prompt has begun.

    A prompt that ends with the end of a thought says that there is none.
    """
    thought, text = tool_format.thought, prompt.rstrip()
    if thought is None or text.endswith(thought.end.strip()):
        return False
    return "begun" if text.endswith(thought.begin.strip()) else True


def _name_in(given: Mapping[str, Any], name: str, other: str) -> str:
    """Which of two names of a member stands in an object; the first one if neither does."""
    return other if name not in given and other in given else name


def response_format(given: Mapping[str, Any] | None, param: str = "response_format") -> Wanted | None:
    """What OpenAI's ``response_format`` says, with ``grammar``, ``regex`` and ``choice`` beside its own types."""
    if given is None or given.get("type") == "text":
        only(given or {}, ("type",), param)
        return None
    kind = given.get("type")
    if kind == "json_object":
        only(given, ("type", "schema"), param)  # LoRAX and llama.cpp give the schema here
        if given.get("schema") is None:
            return Wanted(Format.of("json_object", ""), param)
        return _schema(given["schema"], f"{param}.schema")
    if kind == "json_schema":
        only(given, ("type", "json_schema"), param)
        named = given.get("json_schema")
        place = f"{param}.json_schema"
        if not isinstance(named, Mapping) or "schema" not in named:
            raise malformed(place, _ONE_LINE["json_schema"])
        only(named, ("name", "schema", "strict", "description"), place)
        strict = is_strict(named.get("strict"), f"{place}.strict")
        if strict:
            require_known_keywords(named["schema"], f"{place}.schema")
        return _schema(named["schema"], f"{place}.schema", {"closed": True} if strict else {})
    if kind == "grammar":
        only(given, ("type", "grammar", "syntax"), param)
        return _grammar(given.get("grammar"), given.get("syntax"), f"{param}.grammar")
    if kind == "regex":
        only(given, ("type", "regex", "pattern"), param)
        name = _name_in(given, "regex", "pattern")
        return _regex(given.get(name), f"{param}.{name}")
    if kind == "choice":
        only(given, ("type", "choice", "choices"), param)
        name = _name_in(given, "choice", "choices")
        return _choice(given.get(name), f"{param}.{name}")
    if kind == "structural_tag":
        only(given, ("type", "format", "structures", "triggers"), param)
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
    only(said, (*_KINDS, "syntax", *OPTIONS), param)
    try:
        options = said_options({name: said.pop(name) for name in OPTIONS if name in said})
    except ValueError as error:
        raise RequestError(400, f"{param}: {error}", param=param) from None
    if options and not said.keys() & {"json", "json_object"}:
        raise RequestError(400, f"{param}: {', '.join(OPTIONS)} are about json and json_object", param=param)
    if (count := len(said) - ("syntax" in said)) != 1:
        raise RequestError(400, f"{param} says {count or 'no'} things; give one of {', '.join(_KINDS)}", param=param)
    if "json" in said:
        return _schema(said["json"], f"{param}.json", options, may_be_text=True)
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
    if options:
        return _schema({"type": "object"}, f"{param}.json_object", options)
    return Wanted(Format.of("json_object", ""), f"{param}.json_object")


def _grammar(text: Any, syntax: Any, param: str) -> Wanted:
    if syntax not in (None, "lark", "gbnf"):
        raise RequestError(
            400, f"syntax is {shown(syntax)}; there are 'lark' and 'gbnf'", param=param, code="unknown_format"
        )
    if not isinstance(text, str):
        raise malformed(param, _ONE_LINE["grammar"])
    kind: Kind = grammar_kind(text) if syntax is None else "lark" if syntax == "lark" else "gbnf"
    return Wanted(Format.of(kind, text), param)


def _regex(pattern: Any, param: str) -> Wanted:
    if not isinstance(pattern, str):
        raise malformed(param, _ONE_LINE["regex"])
    return Wanted(Format.of("regex", pattern), param)


def _choice(choices: Any, param: str) -> Wanted:
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise malformed(param, _ONE_LINE["choice"])
    if not all(isinstance(one, str) for one in choices):
        raise malformed(param, _ONE_LINE["choice"])
    return Wanted(Format.of("choice", json.dumps(list(choices))), param)


def _schema(
    schema: Any, param: str, options: Mapping[str, Any] = MappingProxyType({}), *, may_be_text: bool = False
) -> Wanted:
    """A schema; ``options``: what is said beside it of how it is read."""
    try:
        if may_be_text and isinstance(schema, str):
            if not options:
                return Wanted(Format.of("schema", schema), param)
            schema = json.loads(schema)
        if not isinstance(schema, Mapping | bool):
            raise malformed(param, "a JSON Schema: an object or a Boolean")
        schema = with_reading(schema, options) if options else schema
    except (ValueError, RecursionError) as error:
        raise RequestError(400, f"{param}: {error}", param=param, code="bad_schema") from None
    return Wanted(Format.of_schema(schema), param)
