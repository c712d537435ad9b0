"""What clients are told: in words of HTTP and JSON, about the field that they wrote, with a code for programs."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving.conftest import KEY, Running

import pdacon
from pdacon.serving.advice import described, in_requests

HEADERS = {"Authorization": f"Bearer {KEY}"}
CHAT, COMPLETIONS, NATIVE = "/v1/chat/completions", "/v1/completions", "/generate"
BODIES: dict[str, dict[str, Any]] = {
    CHAT: {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2},
    COMPLETIONS: {"prompt": "hi", "max_tokens": 2},
    NATIVE: {"inputs": "hi", "parameters": {"max_new_tokens": 2}},
}

PYTHON = re.compile(
    r"pdacon\.|`pdacon|\b\w+=(?:True|False|\{|\[|\"|\.\.\.)|\b(?:import_paths|source_path|start|registry|spelling)=|print\("
    r"|\b(?:Grammar|RegularSet|Spelling|Limits|Vocabulary|Constraint)\b[.(]|lark\.Lark|pip install"
)


def refusal(server: Running, path: str, **fields: Any) -> dict[str, Any]:
    answer = httpx.post(server.address + path, json=BODIES[path] | fields, headers=HEADERS, timeout=60)
    assert answer.status_code == 400, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert isinstance(error["code"], str)
    return error


@pytest.mark.parametrize(
    ("path", "name", "value", "words"),
    [
        (CHAT, "guided_json", {}, 'structured_outputs: {"json": ...}'),
        (COMPLETIONS, "guided_regex", "a", 'structured_outputs: {"regex": ...}'),
        (CHAT, "guided_choice", ["a"], 'structured_outputs: {"choice": ...}'),
        (CHAT, "guided_grammar", "a", 'structured_outputs: {"grammar": ...}'),
        (CHAT, "format", "json", "response_format"),
        (CHAT, "functions", [], "give tools"),
        (CHAT, "function_call", "auto", "tool_choice"),
        (CHAT, "extra_body", {}, "OpenAI's client"),
        (COMPLETIONS, "max_completion_tokens", 3, "give max_tokens"),
        (COMPLETIONS, "messages", [], "/v1/chat/completions"),
        (CHAT, "prompt", "x", "/v1/completions"),
        (CHAT, "inputs", "x", "/generate"),
        (CHAT, "response_fromat", {"type": "json_object"}, "did you mean response_format"),
        (CHAT, "structured_output", {}, "did you mean structured_outputs"),
        (CHAT, "temprature", 1, "did you mean temperature"),
        (CHAT, "xyzzy", 1, "there is no such field"),
        (CHAT, "{reason}", 1, "there is no such field"),
        (CHAT, "x" * 50_000, 1, "there is no such field"),
        (CHAT, "no_repeat_ngram_size", 1, "does not support it; leave it out, or give 0"),
        (CHAT, "no_repeat_ngram_size", False, "does not support it"),
        (COMPLETIONS, "top_a", 0.5, "does not support it"),
        (CHAT, "bad_words", ["x"], "does not support it; leave it out, or give []"),
        (CHAT, "frequency_penalty", 3, "give a number of at most 2"),
        (COMPLETIONS, "presence_penalty", True, "give a number"),
        (CHAT, "repetition_penalty", 0, "give a number that is greater than 0"),
        (CHAT, "logit_bias", {str(token): 1 for token in range(5000)}, "at most 1024 ids"),
        (CHAT, "logit_bias", {"x": 1}, "give ids of tokens"),
        (CHAT, "logit_bias", {"5": 101}, "from -100 to 100"),
        (COMPLETIONS, "logit_bias", {"999999": 1}, "none of the model's"),
        (CHAT, "stop_token_ids", [1, "2"], "ids of tokens"),
        (CHAT, "stop_token_ids", [999999], "none of the model's"),
        (CHAT, "min_p", 1.1, "give a number of at most 1"),
        (CHAT, "thinking_token_budget", -1, "give a number of at least 0"),
        (CHAT, "ignore_eos", True, "or give false"),
        (CHAT, "skip_special_tokens", False, "or give true"),
        (CHAT, "modalities", ["audio"], 'or give ["text"]'),
        (COMPLETIONS, "reasoning_effort", "high", "does not support it; leave it out"),
        (CHAT, "chat_template", "{{ x }}", "does not support it; leave it out"),
        (COMPLETIONS, "suffix", "x", "does not support it"),
        (COMPLETIONS, "best_of", 2, "does not support it"),
        (CHAT, "stop", 5, "give a text or a list of texts"),
        (CHAT, "stop", ["a", 1], "give a text or a list of texts"),
        (CHAT, "stop", [str(number) for number in range(1000)], "at most 64"),
        (COMPLETIONS, "stop", "x" * 1000, "512 characters"),
        (CHAT, "top_k", 10**400, "top_k"),
        (CHAT, "n", 10**400, "n is 1000"),
        (CHAT, "soft", 10**40, "soft"),
    ],
)
def test_a_field_that_is_not_taken_says_what_is(server: Running, path: str, name: str, value: Any, words: str) -> None:
    error = refusal(server, path, **{name: value})
    assert words in error["message"]
    assert "less than or equal" not in error["message"] or name == "n"
    assert error["param"][:50] == name[:50]
    assert len(error["param"]) <= 200
    assert len(error["message"]) <= 2000


def test_fields_of_parts_are_named_with_their_place(server: Running) -> None:
    error = refusal(server, NATIVE, parameters={"max_tokens": 5})
    assert (error["param"], "did you mean max_new_tokens" in error["message"]) == ("parameters.max_tokens", True)
    error = refusal(server, NATIVE, parameters={"repetition_penalty": 1.2})
    assert error["param"] == "parameters.repetition_penalty"
    error = refusal(server, CHAT, stream=True, stream_options={"include_usge": True})
    assert (error["param"], "include_usage" in error["message"]) == ("stream_options.include_usge", True)
    error = refusal(server, CHAT, structured_outputs={"jsn": {}})
    assert "did you mean json" in error["message"]
    error = refusal(server, CHAT, response_format={"type": "json-schema"})
    assert (error["code"], "did you mean json_schema" in error["message"]) == ("unknown_format", True)


WORDS = re.compile(r"\bNone\b|\bTrue\b|dictionary|instance of|validation|[Ii]nput should|List should|\bclass\b|\bstr\b")
LONG = "y" * 50_000


@pytest.mark.parametrize(
    ("path", "fields", "param", "words"),
    [
        (CHAT, {"stream_options": 5}, "stream_options", "give an object"),
        (CHAT, {"response_format": 5}, "response_format", "give an object"),
        (CHAT, {"response_format": {}}, "response_format.type", "is missing; there are"),
        (CHAT, {"response_format": {"type": None}}, "response_format.type", "is missing; there are"),
        (CHAT, {"response_format": {"type": True}}, "response_format.type", "is true; there are"),
        (CHAT, {"messages": []}, "messages", "give at least 1"),
        (CHAT, {"messages": [{"role": "boss", "content": "x"}]}, "messages.0.role", "give system, developer, user"),
        (CHAT, {"messages": [{"role": "tool", "content": "x"}]}, "messages.0.tool_call_id", "it is missing"),
        (CHAT, {"reasoning_effort": "extreme"}, "reasoning_effort", "give 'none', 'minimal'"),
        (CHAT, {"messages": 5}, "messages", "give an array"),
        (CHAT, {"messages": [5]}, "messages.0", "give an object"),
        (CHAT, {"tools": 5}, "tools", "give an array"),
        (CHAT, {"tool_choice": 5}, "tool_choice", "give 'none', 'auto' or 'required'"),
        (CHAT, {"tool_choice": {"a": None}}, "tool_choice", '{"a": null}'),
        (CHAT, {"temperature": "hot"}, "temperature", "give a number"),
        (CHAT, {"temperature": -1}, "temperature", "at least 0"),
        (CHAT, {"top_p": 0}, "top_p", "greater than 0"),
        (CHAT, {"top_logprobs": 21, "logprobs": True}, "top_logprobs", "at most 20"),
        (CHAT, {"top_k": 2**31}, "top_k", "less than 2147483648"),
        (CHAT, {"n": 1.5}, "n", "a whole number"),
        (CHAT, {"n": "2"}, "n", "give a whole number"),
        (CHAT, {"n": True}, "n", "give a whole number"),
        (CHAT, {"temperature": "0.5"}, "temperature", "give a number"),
        (CHAT, {"top_p": True}, "top_p", "give a number"),
        (CHAT, {"max_tokens": "5"}, "max_tokens", "give a whole number"),
        (CHAT, {"seed": "7"}, "seed", "give a whole number"),
        (CHAT, {"top_logprobs": "2", "logprobs": True}, "top_logprobs", "give a whole number"),
        (CHAT, {"stream": "false"}, "stream", "give true or false"),
        (CHAT, {"logprobs": 1}, "logprobs", "give true or false"),
        (CHAT, {"parallel_tool_calls": "yes"}, "parallel_tool_calls", "give true or false"),
        (CHAT, {"stream_options": {"include_usage": 0}}, "stream_options.include_usage", "give true or false"),
        (NATIVE, {"parameters": {"max_new_tokens": "3"}}, "parameters.max_new_tokens", "give a whole number"),
        (NATIVE, {"parameters": {"do_sample": 1}}, "parameters.do_sample", "give true or false"),
        (CHAT, {"stream": "maybe"}, "stream", "true or false"),
        (CHAT, {"model": 5}, "model", "give a text"),
        (CHAT, {"structured_outputs": {"grammar": "x", "syntax": {"a": None}}}, None, '{"a": null}'),
        (CHAT, {"chat_template_kwargs": 5}, "chat_template_kwargs", "give an object"),
        (NATIVE, {"parameters": 5}, "parameters", "give an object"),
        (NATIVE, {"inputs": None}, "inputs", "give a text"),
    ]
    + [
        (CHAT, {"structured_outputs": {}}, "structured_outputs", kind)
        for kind in ("json, regex, choice, grammar, json_object, structural_tag", "says no things")
    ],
)
def test_messages_have_words_of_json(server: Running, path: str, fields: Any, param: str | None, words: str) -> None:
    error = refusal(server, path, **fields)
    assert words in error["message"]
    assert not WORDS.search(error["message"])
    assert param is None or error["param"] == param


def test_what_is_missing_is_said(server: Running) -> None:
    for path, name in ((CHAT, "messages"), (COMPLETIONS, "prompt"), (NATIVE, "inputs")):
        error = httpx.post(server.address + path, json={}, headers=HEADERS).json()["error"]
        assert (error["param"], error["message"]) == (name, f"{name}: it is missing")


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (CHAT, {LONG: 1}),
        (NATIVE, {"parameters": {LONG: 1}}),
        (CHAT, {"response_format": {"type": LONG}}),
        (CHAT, {"structured_outputs": {LONG: 1}}),
        (CHAT, {"structured_outputs": {"grammar": "x", "syntax": [LONG]}}),
        (CHAT, {"tool_choice": {LONG: 1}}),
        (NATIVE, {"parameters": {"adapter_id": LONG}}),
    ],
)
def test_what_errors_quote_is_short(server: Running, path: str, fields: Any) -> None:
    error = refusal(server, path, **fields)
    assert len(error["message"]) < 600
    assert len(error["param"] or "") < 200


def test_models_and_paths_are_quoted_in_short(server: Running) -> None:
    asked = httpx.post(server.address + CHAT, json=BODIES[CHAT] | {"model": LONG}, headers=HEADERS)
    assert (asked.status_code, len(asked.text) < 400) == (404, True)
    for method, path in (("GET", f"/{LONG}"), ("GET", f"/v1/models/{LONG}"), ("DELETE", f"/v1/models/{LONG}")):
        answer = httpx.request(method, server.address + path, headers=HEADERS)
        assert answer.status_code in (404, 405)
        assert len(answer.text) < 500


@pytest.mark.parametrize("number", ["1e400", "-1E+0400", "9" * 310 + ".0", "[0, 12.5e308]", "1" * 250 + "e99"])
def test_numbers_beyond_doubles_are_refused(server: Running, number: str) -> None:
    body = f'{{"prompt": "x", "structured_outputs": {{"json": {{"const": {number}}}}}}}'
    answer = httpx.post(server.address + COMPLETIONS, content=body, headers=HEADERS)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["param"].startswith("structured_outputs.json.const")
    assert "beyond a double's range" in error["message"]


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "place", "words"),
    [
        ({"content": "x"}, "role", "such as 'user'"),
        ({"role": None, "content": "x"}, "role", "such as 'user'"),
        ({"role": 5, "content": "x"}, "role", "give a text"),
        ({"role": "user"}, "content", "missing"),
        ({"role": "user", "content": None}, "content", "missing"),
        ({"role": "assistant", "content": None, "tool_calls": []}, "content", "missing"),
        ({"role": "user", "content": 5}, "content", "give a text"),
        ({"role": "user", "content": True}, "content", "give a text"),
        ({"role": "user", "content": "x", "name": 5}, "name", "give a text"),
        ({"role": "user", "content": "x", "tool_calls": 5}, "tool_calls", "give an array"),
        ({"role": "user", "content": "x", "tool_calls": [5]}, "tool_calls.0", "give an object"),
        ({"role": "user", "tool_calls": [CALL, {}]}, "tool_calls.1.function", "missing"),
        ({"role": "user", "tool_calls": [CALL | {"function": {}}]}, "tool_calls.0.function.name", "missing"),
        ({"role": "user", "tool_calls": [CALL | {"id": 5}]}, "tool_calls.0.id", "give a text"),
        ({"role": "user", "tool_calls": [CALL | {"idd": 5}]}, "tool_calls.0.idd", "no such field"),
        ({"role": "user", "function_call": {"nam": "f"}}, "function_call.nam", "no such field"),
        ({"role": "user", "content": "x", "foo": 1}, "foo", "no such field"),
        ({"role": "user", "contnt": "x"}, "contnt", "did you mean content"),
        ({"role": "user", "content": [{"type": "text", "text": "x", "foo": 1}]}, "content.0.foo", "no such field"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "content.0.text", "give a text"),
        ({"role": "user", "content": "x", "y" * 50_000: 1}, "yyy", "no such field"),
        ({"role": "user", "content": "x", "{reason}": 1}, "{reason}", "no such field"),
    ],
)
def test_messages_are_checked(server: Running, message: Any, place: str, words: str) -> None:
    good = {"role": "user", "content": "hi"}
    error = refusal(server, CHAT, messages=[good, message])
    assert error["param"].startswith(f"messages.1.{place}")
    assert words in error["message"]


@pytest.mark.parametrize(("field", "needed"), [("soft", "complete"), ("top_logprobs", "logprobs")])
def test_a_field_that_needs_another_is_named(server: Running, field: str, needed: str) -> None:
    error = refusal(server, CHAT, **{field: 2})
    assert (error["param"], error["message"]) == (field, f"{field} needs {needed}: true")


def test_messages_as_openai_has_them_are_taken(server: Running) -> None:
    empty = dict.fromkeys(("refusal", "annotations", "audio", "function_call", "name"))
    messages = [
        {"role": "developer", "content": "x", "name": "me"},
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL | {"index": 0}], **empty},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "content": "5", "tool_call_id": "c"},
        {"role": "assistant", "content": "", "tool_calls": None, "reasoning_content": "so"},
        {"role": "user", "content": "x"},
    ]
    body = BODIES[CHAT] | {"messages": messages}
    answer = httpx.post(server.address + CHAT, json=body, headers=HEADERS, timeout=60)
    assert answer.status_code == 200, answer.text
    again = body | {"messages": [messages[0], answer.json()["choices"][0]["message"], messages[0]]}
    assert httpx.post(server.address + CHAT, json=again, headers=HEADERS, timeout=60).status_code == 200


def test_values_that_change_nothing_are_taken(server: Running) -> None:
    nothing = {
        "frequency_penalty": 0, "presence_penalty": 0.0, "logit_bias": {}, "repetition_penalty": 1.0, "min_p": 0,
        "ignore_eos": False, "skip_special_tokens": True, "modalities": ["text"], "reasoning_effort": None,
        "stop": None, "top_k": 2**31 - 1, "best_of": 1, "suffix": None, "max_tokens": 10**400,
    }  # fmt: skip
    body = BODIES[COMPLETIONS] | nothing | {"response_format": {"type": "choice", "choices": ["a"]}}
    answer = httpx.post(server.address + COMPLETIONS, json=body, headers=HEADERS, timeout=60)
    assert answer.status_code == 200, answer.text


FORMATS: list[Any] = [
    {"json": {"$ref": "http://localhost/x.json"}},
    {"json": {"type": "string", "format": "idn-hostname"}},
    {"json": {"minProperties": 2}},
    {"json": {"type": "array", "uniqueItems": True}},
    {"grammar": 'start: x | y\nx: "a"\ny: "a"'},
    {"grammar": 'start: e\ne: e "+" e | "a"'},
    {"grammar": 'start: (A|B)+\nA: /[a-z]+/\nB: /[a-m]+/'},
    {"grammar": 'begin: "a"'},
    {"grammar": "start: x\n%import foo.bar"},
    {"grammar": "start: x\n%import .foo (bar)"},
    {"grammar": '{"type": "object"}'},
    {"grammar": "no grammar"},
    {"grammar": 'start: "a"\n%llguidance {}'},
    {"grammar": "%llguidance {}\nstart: @foo"},
    {"grammar": '%llguidance {}\nstart: %lark { start: "a" }'},
    {"grammar": "%llguidance {}\nstart: <[1]>"},
    {"grammar": '%llguidance {}\nstart[max_tokens=5]: "a"'},
    {"grammar": '%llguidance {}\nstart: <|foo|> "a"'},
    {"grammar": "start: start"},
    {"grammar": 'root ::= "a', "syntax": "gbnf"},
    {"regex": "(" * 300},
    {"regex": "(a{1,5000}){1,5000}"},
    {"structural_tag": {"format": {"type": "json_schema", "json_schema": {}, "any_order": True}}},
]  # fmt: skip


@pytest.mark.parametrize("format", FORMATS, ids=range(len(FORMATS)))
def test_grammars_are_refused_without_advice_for_python(server: Running, format: Any) -> None:
    error = refusal(server, COMPLETIONS, structured_outputs=format)
    assert not PYTHON.search(error["message"]), error["message"]
    assert error["code"] in ("bad_schema", "bad_grammar", "grammar_too_large", "bad_request")
    assert error["param"].startswith("structured_outputs")


def test_a_limit_of_the_server_is_not_the_clients_to_raise() -> None:
    for what in ("seconds", "states"):
        said = described(pdacon.errors.LimitExceededError(what, 2, 1))
        assert said.endswith("exceeds the limit of 1; make it smaller")


def test_conflicts_come_with_their_repairs(server: Running) -> None:
    error = refusal(server, COMPLETIONS, structured_outputs={"grammar": 'start: e\ne: e "+" e | "a"'})
    assert "\nRepair: " in error["message"]


def test_options_of_python_are_no_advice_for_a_dialect(server: Running) -> None:
    for grammar in ('start: e\ne: e "+" e | "a"', '%llguidance {}\nstart: e\ne: e "+" e | "a"'):
        message = refusal(server, COMPLETIONS, structured_outputs={"grammar": grammar})["message"]
        assert "conflicts=" not in message
        assert message.endswith("The rules derive the same texts as before.")
    collision = 'start: A | B\nA: "a"+\nB: /a|b/'
    message = refusal(server, COMPLETIONS, structured_outputs={"grammar": collision})["message"]
    assert "conflicts=" not in message
    assert ".." not in message


# What no request reaches: types, databases, files, and options that only Python or the command line has.
_ELSEWHERE = re.compile(
    r"/(?:types|sql)/|/tool_formats/(?:formats|answer_values)\.py|/(?:given|settings|lark_reading|schema_formulas|endings|questions|records|indentation"
    r"|outlines_terms|printing|schema|plain|escaping|checks|templates|patterns|printed_patterns|rendering|report"
    r"|declared|display|members|slips|survey)\.py"
)


def test_all_advice_for_python_is_replaced() -> None:
    """Of the rooms that requests reach: each text of the sources that advises what only Python can do."""
    left = []
    for room in ("grammar", "frontends", "determinism", "lexer", "lalr", "pda"):
        for file in (Path(pdacon.__file__).parent / room).rglob("*.py"):
            if _ELSEWHERE.search(file.as_posix()):
                continue
            left += [
                (file.name, text)
                for text in texts_of(ast.parse(file.read_text("utf-8")))
                if PYTHON.search(in_requests(text))
            ]
    assert left == []


def texts_of(tree: ast.AST) -> list[str]:
    """The texts with blanks in them that are no docstrings; what is filled in is X."""
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    within = {id(part) for node in joined for part in ast.walk(node) if part is not node}
    texts = []
    for node in ast.walk(tree):
        if id(node) in documented or id(node) in within:
            continue
        if isinstance(node, ast.JoinedStr):
            texts.append("".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
    return [text for text in texts if " " in text]


def test_a_range_of_ids_that_is_turned_round_is_told(server: Running) -> None:
    tag = {"type": "structural_tag", "format": {"type": "token", "token": "<[9-5]>"}}
    assert "there is no token from 9 to 5; write 5-9" in refusal(server, CHAT, response_format=tag)["message"]
