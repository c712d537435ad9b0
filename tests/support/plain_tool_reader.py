"""Reads whole answers in the formats of tool calls, written from what is published about each format alone.

In: the name of a format, the schemas of the tools by name, a text. Out: what it thinks, says and calls, or None where
it is no answer in the format. It is lenient where documents are silent: blanks may stand between marks. Whatever a
constraint lets through has to be read here, to the same calls; `tests/frontends/tool_formats/test_plain_reader.py`
holds the two together. It shares no line with `pdacon.frontends.tool_formats`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from support.text_cursor import BLANKS, Cursor, NoAnswerError

Schemas = Mapping[str, Any]


class Reading(NamedTuple):
    """What an answer has; texts without the blanks at their ends."""

    thought: str
    text: str
    calls: list[tuple[str, Any]]


# Values in tags


def _kinds(schema: Any) -> set[str]:
    """The types that a schema of the tests takes."""
    if not isinstance(schema, dict):
        return {"string", "integer", "number", "boolean", "null", "array", "object"}
    if "anyOf" in schema:
        return set().union(*(_kinds(choice) for choice in schema["anyOf"]))
    if "type" in schema:
        return {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])
    if "enum" in schema or "const" in schema:
        return {_kind(value) for value in schema.get("enum", [schema.get("const")])}
    return _kinds(True)


def _kind(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _typed(schema: Any, text: str, python: bool = False) -> Any:
    """A value in tags: JSON of a type that the parameter takes, or else a string as it is."""
    kinds = _kinds(schema)
    if "string" in kinds and text != text.strip(BLANKS):
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        constants = {"True": True, "False": False, "None": None} if python else {}
        value = constants.get(text.strip(BLANKS), "")
    kind = _kind(value)
    if value != "" and kind != "string" and (kind in kinds or (kind == "integer" and "number" in kinds)):
        return value
    if "string" not in kinds:
        raise NoAnswerError(f"{text!r} is no value of {schema}")
    return text


def _member(schema: Any, key: str) -> Any:
    """The schema of a member: what is listed of it, and of its name's patterns, or what others may be."""
    if not isinstance(schema, dict):
        return True
    own = [schema["properties"][key]] if key in schema.get("properties", {}) else []
    own += [inner for pattern, inner in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
    own = own or [schema.get("additionalProperties", True)]
    if own[0] is False:
        raise NoAnswerError(f"there is no argument {key}")
    return own[0] if len(own) == 1 else {"type": sorted(set.intersection(*map(_kinds, own)))}


def _put(arguments: dict[str, Any], key: str, value: Any) -> None:
    if key in arguments:
        raise NoAnswerError(f"{key} comes twice")
    arguments[key] = value


def _tagged(
    at: Cursor, schema: Any, begin: str, middle: str, end: str, stop: str, strip: str = "", python: bool = False
) -> dict[str, Any]:
    """Parameters in tags up to the mark that ends the call."""
    arguments: dict[str, Any] = {}
    while at.blanks() or not at.take(stop):
        at.need(begin)
        key = at.until(middle)
        at.need(middle)
        value = at.until(end)
        at.need(end)
        if strip and value.startswith(strip):
            value = value[len(strip) :]
        if strip and value.endswith(strip):
            value = value[: -len(strip)]
        _put(arguments, key, _typed(_member(schema, key), value, python))
    return arguments


# Calls, each from its first mark on


def _json_object(at: Cursor, schemas: Schemas, arguments: str = "arguments") -> tuple[str, Any]:
    call = at.json()
    if not isinstance(call, dict) or set(call) != {"name", arguments}:
        raise NoAnswerError("a call has a name and arguments")
    return call["name"], call[arguments]


def _hermes(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
    at.need("<tool_call>")
    call = _json_object(at, schemas)
    at.blanks()
    at.need("</tool_call>")
    return call


def _functions(outer: str, strip: str, python: bool = False) -> Callable[[Cursor, Schemas], tuple[str, Any]]:
    def read(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
        at.need(f"<{outer}>")
        at.blanks()
        at.need("<function=")
        name = at.until(">")
        at.need(">")
        marks = ("<parameter=", ">", "</parameter>", "</function>")
        arguments = _tagged(at, schemas.get(name, {}), *marks, strip=strip, python=python)
        at.blanks()
        at.need(f"</{outer}>")
        return name, arguments

    return read


def _glm(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
    at.need("<tool_call>")
    name = at.until("<arg_key>", "</tool_call>").strip(BLANKS)
    arguments: dict[str, Any] = {}
    while at.blanks() or not at.take("</tool_call>"):
        at.need("<arg_key>")
        key = at.until("</arg_key>")
        at.need("</arg_key>")
        at.blanks()
        at.need("<arg_value>")
        schema = _member(schemas.get(name, {}), key)
        _put(arguments, key, _typed(schema, at.until("</arg_value>")))
        at.need("</arg_value>")
    return name, arguments


def _invoke(mark: str, space: str, typed: bool) -> Callable[[Cursor, Schemas], tuple[str, Any]]:
    """``<invoke name="f">`` with parameters; ``typed``: these say whether they are strings."""

    def read(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
        at.need(f'<{mark}{space}invoke name="')
        name = at.until('">')
        at.need('">')
        end = f"</{mark}{space}parameter>"
        if not typed:
            close = f"</{mark}{space}invoke>"
            return name, _tagged(at, schemas.get(name, {}), f'<{mark}{space}parameter name="', '">', end, close)
        arguments: dict[str, Any] = {}
        while at.blanks() or not at.take(f"</{mark}{space}invoke>"):
            at.need(f'<{mark}{space}parameter name="')
            key = at.until('" string="')
            string = at.match('" string="(true|false)">') == "true"
            text = at.until(end)
            at.need(end)
            value = text if string else Cursor(text).json()
            if not string and isinstance(value, str):
                raise NoAnswerError("a string that is said to be none")
            _put(arguments, key, value)
        return name, arguments

    return read


def _named(begin: str, name: str, end: str) -> Callable[[Cursor, Schemas], tuple[str, Any]]:
    """Calls of a name, of which a pattern reads all up to the arguments, and arguments in JSON."""

    def read(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
        at.need(begin)
        called = at.match(name)
        arguments = at.json()
        at.need(end)
        return called, arguments

    return read


_deepseek_v3 = _named("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", r"([^\n]*)\n```json\n", "\n```<｜tool▁call▁end｜>")
_deepseek_v3_1 = _named("<｜tool▁call▁begin｜>", r"((?s:.*?))<｜tool▁sep｜>", "<｜tool▁call▁end｜>")
_kimi_k2 = _named("<|tool_call_begin|>functions.", r"([^<]*):\d+<\|tool_call_argument_begin\|>", "<|tool_call_end|>")


def _attribute(text: str) -> str:
    return text.replace("&quot;", '"').replace("&amp;", "&")


def _kimi_k3(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
    at.need('<|open|>call tool="')
    name = _attribute(at.until('" index="'))
    at.match(r'" index="\d+"<\|sep\|>')
    arguments: dict[str, Any] = {}
    while not at.take("<|close|>call<|sep|>"):
        at.need('<|open|>argument key="')
        key = _attribute(at.until('" type="'))
        kind = at.match(r'" type="([a-z]+)"<\|sep\|>')
        text = at.until("<|close|>argument<|sep|>")
        at.need("<|close|>argument<|sep|>")
        value = text if kind == "string" else Cursor(text).json()
        if kind != ("number" if _kind(value) == "integer" else _kind(value)):
            raise NoAnswerError(f"{text!r} is said to be of type {kind}")
        _put(arguments, key, value)
    return name, arguments


def _mistral(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
    at.need("[TOOL_CALLS]")
    name = at.until("[ARGS]")
    at.need("[ARGS]")
    return name, at.json()


def _gemma4(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
    at.need("<|tool_call>call:")
    name = at.until("{")
    arguments = _gemma4_value(at)
    at.need("<tool_call|>")
    return name, arguments


def _gemma4_value(at: Cursor) -> Any:
    """A value in Gemma's notation: strings in marks of their own, keys without any."""
    at.blanks()
    if at.take('<|"|>'):
        text = at.until('<|"|>')
        at.need('<|"|>')
        return text
    if not (at.sees("{") or at.sees("[")):
        return at.json()
    close = {"{": "}", "[": "]"}[at.text[at.at]]
    at.at += 1
    members: dict[str, Any] = {}
    items: list[Any] = []
    at.blanks()
    if at.take(close):
        return members if close == "}" else items
    while True:
        at.blanks()
        if close == "}":
            key = at.until(":")
            at.need(":")
            _put(members, key, _gemma4_value(at))
        else:
            items.append(_gemma4_value(at))
        at.blanks()
        if at.take(close):
            return members if close == "}" else items
        at.need(",")


def _minimax_m3(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
    at.need(f'{NAMESPACE}<invoke name="')
    name = at.until('">')
    at.need('">')
    arguments = _elements(at, schemas.get(name, {"type": "object"}))
    at.need(f"{NAMESPACE}</invoke>")
    return name, arguments


NAMESPACE = "]<]minimax[>["


def _elements(at: Cursor, schema: Any) -> Any:
    """What stands in an element: elements of an object or an array, or a text."""
    kinds = _kinds(schema)
    start = at.at
    at.blanks()
    if not at.sees(f"{NAMESPACE}<") or at.sees(f"{NAMESPACE}</"):
        at.at = start
        text = at.until(NAMESPACE)
        empty = not text.strip(BLANKS) and "string" not in kinds
        return {} if empty and "object" in kinds else [] if empty and "array" in kinds else _typed(schema, text)
    members: dict[str, Any] = {}
    items: list[Any] = []
    array = "array" in kinds
    while at.blanks() or not at.sees(f"{NAMESPACE}</"):
        at.need(f"{NAMESPACE}<")
        key = at.until(">")
        at.need(">")
        if array and key != "item":
            raise NoAnswerError("an array has items")
        known = schema if isinstance(schema, dict) else {}
        inner = known.get("items", True) if array else _member(known, key)
        value = _elements(at, inner)
        at.need(f"{NAMESPACE}</{key}>")
        items.append(value) if array else _put(members, key, value)
    return items if array else members


def _cohere(at: Cursor, schemas: Schemas) -> tuple[str, Any]:
    at.match(r'<cofl:tool_call id="\d+" name="')
    name = at.until('">')
    at.need('">')
    arguments = _cohere_value(at, "dict")
    at.need("</cofl:tool_call>")
    return name, arguments


def _cohere_value(at: Cursor, kind: str) -> Any:
    if kind == "raw":
        return at.until("</cofl:value>")
    if kind == "json":
        value = at.json()
        if isinstance(value, str | list | dict):
            raise NoAnswerError("strings are raw, and what has parts is no JSON")
        at.blanks()
        return value
    members: dict[str, Any] = {}
    items: list[Any] = []
    while at.blanks() or not at.sees("</"):
        at.need("<cofl:value")
        key = at.match(' name="([^"]*)"') if kind == "dict" else ""
        value = _cohere_value(at, at.match(' type="(raw|json|dict|list)">'))
        at.need("</cofl:value>")
        for spelled, letter in (("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
            key = key.replace(spelled, letter)
        items.append(value) if kind == "list" else _put(members, key, value)
    return items if kind == "list" else members


# Calls together


class Form(NamedTuple):
    """What stands around calls, a thought and a text; ``after``: text may follow calls."""

    call: Callable[[Cursor, Schemas], tuple[str, Any]]
    trigger: str
    begin: str = ""
    end: str = ""
    think: tuple[str, str] | None = None
    response: tuple[str, str] | None = None
    after: bool = False
    comma: bool = False
    close: str = ""


THINK = ("<think>", "</think>")
DSML = "｜DSML｜"
FORMS: dict[str, Form] = {
    "hermes": Form(_hermes, "<tool_call>", think=THINK, after=True),
    "qwen3": Form(_hermes, "<tool_call>", think=THINK, after=True),
    "exaone": Form(_hermes, "<tool_call>", think=THINK, after=True),
    "qwen3_coder": Form(_functions("tool_call", "\n", python=True), "<tool_call>", think=THINK, after=True),
    "mimo": Form(_functions("tool_call", ""), "<tool_call>", think=THINK, after=True),
    "seed_oss": Form(
        _functions("seed:tool_call", "", python=True),
        "<seed:tool_call>",
        think=("<seed:think>", "</seed:think>"),
        after=True,
    ),
    "glm4_5": Form(_glm, "<tool_call>", think=THINK, after=True),
    "glm4_7": Form(_glm, "<tool_call>", think=THINK, after=True),
    "minimax_m2": Form(
        _invoke("", "", False), "<minimax:tool_call>", "<minimax:tool_call>", "</minimax:tool_call>", think=THINK
    ),
    "deepseek_v3_2": Form(
        _invoke(DSML, "", True),
        f"<{DSML}function_calls>",
        f"<{DSML}function_calls>",
        f"</{DSML}function_calls>",
        think=THINK,
    ),
    "deepseek_v4": Form(
        _invoke(DSML, "", True), f"<{DSML}tool_calls>", f"<{DSML}tool_calls>", f"</{DSML}tool_calls>", think=THINK
    ),
    "deepseek_v4_1": Form(
        _invoke(DSML, " ", True), f"<{DSML} calls>", f"<{DSML} calls>", f"</{DSML} calls>", think=THINK
    ),
    "deepseek_v3": Form(
        _deepseek_v3, "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", think=THINK
    ),
    "deepseek_v3_1": Form(
        _deepseek_v3_1, "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", think=THINK
    ),
    "kimi_k2": Form(
        _kimi_k2,
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        think=THINK,
    ),
    "kimi_k3": Form(
        _kimi_k3,
        "<|open|>tools<|sep|>",
        "<|open|>tools<|sep|>",
        "<|close|>tools<|sep|>",
        think=("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        response=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
        close="<|close|>message<|sep|>",
    ),
    "mistral": Form(_mistral, "[TOOL_CALLS]", think=("[THINK]", "[/THINK]")),
    "gemma4": Form(_gemma4, "<|tool_call>", think=("<|channel>thought\n", "<channel|>"), after=True),
    "minimax_m3": Form(
        _minimax_m3,
        f"{NAMESPACE}<tool_call>",
        f"{NAMESPACE}<tool_call>",
        f"{NAMESPACE}</tool_call>",
        think=("<mm:think>", "</mm:think>"),
    ),
    "cohere": Form(
        _cohere,
        "<cofl:tool_calls>",
        "<cofl:tool_calls>",
        "</cofl:tool_calls>",
        think=("<|START_THINKING|>", "<|END_THINKING|>"),
        after=True,
    ),
}


def read(name: str, schemas: Schemas, text: str, thinking: bool = True) -> Reading | None:
    """What an answer in a format has, or None.

    ``thinking``: it begins with a thought if it has the mark of one.
    """
    at = Cursor(text)
    try:
        reading = WHOLE[name](at, schemas) if name in WHOLE else _formed(FORMS[name], at, schemas, thinking)
    except NoAnswerError:
        return None
    return reading if all(call in schemas for call, _ in reading.calls) else None


def _formed(form: Form, at: Cursor, schemas: Schemas, thinking: bool) -> Reading:
    thought, texts, calls = "", [], []
    if form.think is not None and thinking:
        start = at.at
        at.blanks()
        if at.take(form.think[0]):
            thought = at.until(form.think[1])
            at.need(form.think[1])
        else:
            at.at = start
    if form.response is not None:
        at.need(form.response[0])
        texts.append(at.until(form.response[1]))
        at.need(form.response[1])
    else:
        texts.append(at.until(form.trigger, or_end=True))
    while at.blanks() or at.sees(form.trigger):
        at.need(form.begin)
        at.blanks()
        calls.append(form.call(at, schemas))
        while at.blanks() or (form.begin and not at.sees(form.end)):
            calls.append(form.call(at, schemas))
        at.need(form.end)
        if form.after:
            texts.append(at.until(form.trigger, or_end=True))
    at.need(form.close)
    at.blanks()
    if not at.ended:
        raise NoAnswerError(f"more follows at {at.at}")
    said = "".join(texts).strip(BLANKS)
    if any(mark in said for mark in (form.trigger, *(form.think or ()))):
        raise NoAnswerError("a mark in a text")
    return Reading(thought.strip(BLANKS), said, calls)


# Formats of other shapes


def _llama3(at: Cursor, schemas: Schemas) -> Reading:
    """A text, then calls with semicolons between them."""
    text = at.until('{"name": "', or_end=True)
    calls = []
    while at.sees('{"name": "'):
        calls.append(_json_object(at, schemas, "parameters"))
        at.take("; ")
    _end(at)
    return Reading("", text.strip(BLANKS), calls)


def _end(at: Cursor) -> None:
    at.blanks()
    if not at.ended:
        raise NoAnswerError(f"more follows at {at.at}")


def _array(at: Cursor, name: str, arguments: str, others: frozenset[str] = frozenset()) -> list[tuple[str, Any]]:
    calls = at.json()
    members = {name, arguments} | others
    if not isinstance(calls, list) or not all(isinstance(call, dict) and set(call) == members for call in calls):
        raise NoAnswerError("no array of calls")
    return [(call[name], call[arguments]) for call in calls]


def _mistral_v3(at: Cursor, schemas: Schemas) -> Reading:
    text = at.until("[TOOL_CALLS]", or_end=True)
    calls = _array(at, "name", "arguments") if at.take("[TOOL_CALLS]") else []
    _end(at)
    return Reading("", text.strip(BLANKS), calls)


def _phi4_mini(at: Cursor, schemas: Schemas) -> Reading:
    text = at.until("<|tool_call|>", or_end=True)
    calls = []
    while at.take("<|tool_call|>"):
        calls += _array(at, "name", "arguments") if at.sees("[") else [_json_object(at, schemas)]
        at.blanks()
        at.need("<|/tool_call|>")
    _end(at)
    return Reading("", text.strip(BLANKS), calls)


def _command_r7b(at: Cursor, schemas: Schemas) -> Reading:
    thought, text, calls = "", "", []
    if at.take("<|START_THINKING|>"):
        thought = at.until("<|END_THINKING|>")
        at.need("<|END_THINKING|>")
    if at.take("<|START_ACTION|>"):
        calls = _array(at, "tool_name", "parameters", frozenset({"tool_call_id"}))
        at.blanks()
        at.need("<|END_ACTION|>")
    else:
        at.need("<|START_RESPONSE|>")
        text = at.until("<|END_RESPONSE|>")
        at.need("<|END_RESPONSE|>")
    _end(at)
    return Reading(thought.strip(BLANKS), text.strip(BLANKS), calls)


def _harmony(at: Cursor, schemas: Schemas) -> Reading:
    """Messages: thoughts in ``analysis``, texts in ``commentary`` and ``final``, a call as the last one."""
    thoughts, texts = [], []
    while True:
        header = at.until("<|message|>")
        at.need("<|message|>")
        if "to=" in header:
            found = re.fullmatch(
                r"(?: to=functions\.(\S+?))?<\|channel\|>(?:commentary|analysis)(?: to=functions\.(\S+))?"
                r"(?: ?<\|constrain\|>json| json)?",
                header,
            )
            if found is None or (found[1] is None) == (found[2] is None):
                raise NoAnswerError(f"the header {header!r}")
            arguments = at.json()
            _end(at)
            return Reading("".join(thoughts), "".join(texts), [(found[1] or found[2], arguments)])
        text = at.until("<|end|>", or_end=True)
        if header not in ("<|channel|>analysis", "<|channel|>commentary", "<|channel|>final"):
            raise NoAnswerError(f"the header {header!r}")
        (thoughts if header.endswith("analysis") else texts).append(text)
        if at.ended:
            return Reading("".join(thoughts), "".join(texts), [])
        at.need("<|end|>")
        at.need("<|start|>assistant")


def _llama4(at: Cursor, schemas: Schemas) -> Reading:
    """A list of calls as Python writes them, or a text."""
    start = re.compile(r"\[[A-Za-z_][\w.]*\(").match(at.text)
    if start is None:
        return Reading("", at.text.strip(BLANKS), [])
    try:
        tree = ast.parse(at.text.strip(BLANKS), mode="eval").body
        if not isinstance(tree, ast.List):
            raise NoAnswerError("no list")
        calls = []
        for call in tree.elts:
            if not isinstance(call, ast.Call) or call.args:
                raise NoAnswerError("no call")
            arguments: dict[str, Any] = {}
            for keyword in call.keywords:
                _put(arguments, keyword.arg or "**", ast.literal_eval(keyword.value))
            calls.append((ast.unparse(call.func), arguments))
    except (SyntaxError, ValueError) as error:
        raise NoAnswerError(str(error)) from None
    return Reading("", "", calls)


WHOLE: dict[str, Callable[[Cursor, Schemas], Reading]] = {
    "llama3": _llama3,
    "mistral_v3": _mistral_v3,
    "phi4_mini": _phi4_mini,
    "command_r7b": _command_r7b,
    "harmony": _harmony,
    "llama4": _llama4,
}
