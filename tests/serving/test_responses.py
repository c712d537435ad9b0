"""OpenAI's newer interface, by its own client: answers whole, streamed and parsed, and tools that take texts."""

from __future__ import annotations

import json
from typing import Any

import httpx
import openai
import pytest
from lark import Lark
from openai.types.responses import ResponseCustomToolCall, ResponseFunctionToolCall
from pydantic import BaseModel
from serving.conftest import KEY, Running, saying

from pdacon.frontends.tool_formats import FORMATS, AnswerEvent
from pdacon.serving.blocks import Blocks, InputText

HEADERS = {"Authorization": f"Bearer {KEY}"}
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
EDITS = r"""
start: head file+ tail
head: "*** Begin Patch" LF
tail: "*** End Patch" LF?
file: created | removed | changed
created: "*** Add File: " path LF ("+" rest LF)+
removed: "*** Delete File: " path LF
changed: "*** Update File: " path LF moved? (place | edit)+ last?
moved: "*** Move to: " path LF
place: ("@@" | "@@ " path) LF
edit: ("+" | "-" | " ") rest LF
last: "*** End of File" LF
path: /(.+)/
rest: /(.*)/
%import common.LF
"""
"""Patches as the documentation of Codex's `apply_patch` describes them, in rules of our own."""
PATCH: Any = {
    "type": "custom",
    "name": "patch",
    "format": {"type": "grammar", "syntax": "lark", "definition": EDITS},
}
EDIT = '*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    return "x"\n+    return "y\\n"\n*** End Patch\n'


@pytest.fixture
def used(server: Running, monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(name: str) -> None:
        monkeypatch.setattr(server.application, "tool_format", FORMATS[name])

    return use


SAID = (
    '<think>\nHm.\n</think>\n\nI look.\n<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
)


def test_items_of_an_answer_streamed_and_not(server: Running, client: openai.OpenAI, used: Any) -> None:
    used("qwen3")
    asked: Any = {"model": "tiny", "input": "hi", "tools": [WEATHER], "max_output_tokens": 200}
    with saying(server, SAID):
        whole = client.responses.create(**asked)
        with client.responses.stream(**asked) as stream:
            events = list(stream)
            streamed = stream.get_final_response()
    for response in (whole, streamed):
        thought, message, call = response.output
        assert thought.type == "reasoning"
        assert [part.text for part in thought.content or ()] == ["Hm."]
        assert response.output_text == "I look."
        assert message.type == "message"
        assert isinstance(call, ResponseFunctionToolCall)
        assert (call.name, call.arguments, call.status) == ("weather", '{"city": "Oslo"}', "completed")
        assert response.status == "completed"
        assert response.usage is not None
        assert 0 < response.usage.output_tokens_details.reasoning_tokens < response.usage.output_tokens
    numbers = [event.sequence_number for event in events]
    assert numbers == list(range(len(numbers)))
    pieces = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
    assert "".join(pieces) == '{"city": "Oslo"}'
    assert len(pieces) > 2
    assert [event.type for event in events][:2] == ["response.created", "response.in_progress"]


def test_a_cut_answer_is_incomplete(server: Running, client: openai.OpenAI, used: Any) -> None:
    used("qwen3")
    asked: Any = {"model": "tiny", "input": "hi", "tools": [WEATHER], "max_output_tokens": 45}
    with saying(server, SAID):
        whole = client.responses.create(**asked)
        *_, last = client.responses.create(**asked, stream=True)
    assert last.type == "response.incomplete"
    for response in (whole, last.response):
        assert response.status == "incomplete"
        assert response.incomplete_details is not None
        assert response.incomplete_details.reason == "max_output_tokens"
        assert response.output[-1].status == "incomplete"  # type: ignore[union-attr]


def test_values_are_parsed(server: Running, client: openai.OpenAI, used: Any) -> None:
    class Person(BaseModel):
        name: str

    used("json")
    with saying(server, '{"name": "Bob"}'):
        response = client.responses.parse(model="tiny", input="hi", text_format=Person, max_output_tokens=50)
    assert response.output_parsed == Person(name="Bob")


@pytest.mark.parametrize("name", ["json", "hermes", "qwen3_coder", "deepseek_v3"])
def test_a_tool_that_takes_a_text_of_a_grammar(server: Running, client: openai.OpenAI, used: Any, name: str) -> None:
    """The text comes as it is, whatever quotes the format puts around it."""
    used(name)
    format = FORMATS[name]
    said = format.begin + format.write_call(0, "patch", {"input": json.dumps(EDIT)}) + format.end
    asked: Any = {"model": "tiny", "input": "hi", "tools": [PATCH, WEATHER], "max_output_tokens": 400}
    asked["tool_choice"] = {"type": "custom", "name": "patch"}
    with saying(server, said):
        (call,) = client.responses.create(**asked).output
        events = list(client.responses.create(**asked, stream=True))
    assert isinstance(call, ResponseCustomToolCall)
    assert (call.name, call.input) == ("patch", EDIT)
    pieces = [event.delta for event in events if event.type == "response.custom_tool_call_input.delta"]
    assert "".join(pieces) == EDIT
    assert len(pieces) > 20


def test_a_text_of_a_regular_expression_in_a_chat(server: Running, client: openai.OpenAI, used: Any) -> None:
    used("json")
    grammar = {"syntax": "regex", "definition": r"[0-9]{2}/[a-z]{3}\n"}
    tool: Any = {"type": "custom", "custom": {"name": "f", "format": {"type": "grammar", "grammar": grammar}}}
    asked: Any = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
    asked |= {"tool_choice": "required", "parallel_tool_calls": False, "max_tokens": 60, "temperature": 0}
    (call,) = client.chat.completions.create(**asked).choices[0].message.tool_calls or ()
    assert call.type == "custom"
    assert call.custom.name == "f"
    digits, _, letters = call.custom.input.partition("/")
    assert (len(digits), letters[-1], letters[:-1].isalpha()) == (2, "\n", True)
    text = ""
    for chunk in client.chat.completions.create(**asked, stream=True):
        for delta in chunk.choices[0].delta.model_dump()["tool_calls"] or ():
            text += (delta.get("custom") or {}).get("input", "")
    assert text == call.custom.input


def test_the_grammar_of_patches_is_what_it_says() -> None:
    """Stock Lark takes the same, where an empty rest of a line is written as Lark wants it."""
    stock = Lark(EDITS.replace("/(.*)/", "/.+/?"), parser="lalr", lexer="contextual")
    assert stock.parse(EDIT)


def test_what_was_said_before(server: Running, client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items become the messages that a chat would have."""
    template = (
        "{% for m in messages %}[{{ m.role }}|{{ m.reasoning_content }}|{{ m.content }}|"
        "{{ (m.tool_calls or []) | tojson }}]{% endfor %}"
    )
    seen: list[str] = []
    of_rendered = server.application.prompts.of_rendered
    monkeypatch.setattr(server.application.engine.tokenizer, "chat_template", template)
    monkeypatch.setattr(server.application.prompts, "of_rendered", lambda text: seen.append(text) or of_rendered("x"))
    items: Any = [
        {"role": "developer", "content": [{"type": "input_text", "text": "Be good."}]},
        {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "c", "name": "weather", "arguments": '{"city": "Oslo"}'},
        {"type": "function_call_output", "call_id": "c", "output": "rain"},
        {"type": "custom_tool_call", "call_id": "d", "name": "patch", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "d", "output": [{"type": "input_text", "text": "ok"}]},
        {"role": "user", "content": "And?"},
    ]
    client.responses.create(model="tiny", input=items, max_output_tokens=1)
    (text,) = seen
    roles = [part.partition("|")[0] for part in text.strip("[]").split("][")]
    assert roles == ["system", "assistant", "tool", "assistant", "tool", "user"]
    assert "[assistant|Hm.||" in text
    assert '"city": "Oslo"' in text


UNIQUE = {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True}}}
SCHEMA = {"type": "json_schema", "name": "n", "schema": UNIQUE}


def grammar_tool(syntax: str, definition: str) -> Any:
    return {"type": "custom", "name": "f", "format": {"type": "grammar", "syntax": syntax, "definition": definition}}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0.type"),
        ({"input": [{"role": "owner", "content": "x"}]}, "input.0.role"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input.0.content.0"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools.0"),
        ({"tools": [grammar_tool("ebnf", "")]}, "tools.0.format.syntax"),
        ({"text": {"format": {"type": "json_schema", "name": "x"}}}, "text.format"),
        ({"text": {"formt": {}}}, "text"),
        ({"tool_choice": {"type": "function", "name": "x"}, "tools": [WEATHER]}, "tool_choice"),
        ({"max_tokens": 5}, "max_tokens"),
        ({"tools": [grammar_tool("lark", "start: x")]}, "tools.0.format"),
        ({"tools": [{"type": "function", "name": "a", "parameters": UNIQUE}]}, "tools.0.parameters/properties/x"),
        ({"tools": [WEATHER, WEATHER]}, "tools.1.name"),
        ({"reasoning": {"effort": "extreme"}}, "reasoning.effort"),
        ({"text": {"format": SCHEMA}}, "text.format.schema/properties/x"),
        ({"text": {"format": {"type": "choice", "choices": []}}}, "text.format.choices"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(server: Running, fields: Any, param: str) -> None:
    asked = {"model": "tiny", "input": "hi", "max_output_tokens": 5, **fields}
    answer = httpx.post(f"{server.address}/v1/responses", json=asked, headers=HEADERS, timeout=60)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (400, param)
    assert not any(name in error["message"] for name in (".function", ".custom", "response_format"))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_texts_are_read_out_of_their_json(size: int) -> None:
    for text in ("", 'a"b\\c\n\t', "Größe \U0001f600 \x7f", "\\u00e9", '}"}'):
        for written in (json.dumps({"input": text}), json.dumps({"input": text}, ensure_ascii=False)):
            reader = InputText()
            assert "".join(reader.feed(written[k : k + size]) for k in range(0, len(written), size)) == text


def test_blocks_follow_one_another() -> None:
    events = [
        AnswerEvent("text", "a"),
        AnswerEvent("text", "b"),
        AnswerEvent("name", "f", 0),
        AnswerEvent("arguments", "{", 0),
        AnswerEvent("arguments", "}", 0),
        AnswerEvent("end", "", 0),
        AnswerEvent("text", "c"),
        AnswerEvent("name", "f", 1),
    ]
    blocks = Blocks()
    steps = [step.what for step in blocks.add(events)] + [step.what for step in blocks.end(cut=True)]
    begun, text, ended = "begin", "text", "end"
    assert steps == [begun, text, text, ended, begun, text, text, ended, begun, text, ended, begun, ended]
    assert [(block.kind, block.text, block.is_whole) for block in blocks.all] == [
        ("text", "ab", True), ("call", "{}", True), ("text", "c", True), ("call", "", False)
    ]  # fmt: skip


def test_an_earlier_response_is_given_again(server: Running) -> None:
    """What was said with other requests is not kept; the error says what to do."""
    asked = {"model": "tiny", "input": "x", "previous_response_id": "resp_1"}
    answer = httpx.post(f"{server.address}/v1/responses", json=asked, headers={"Authorization": f"Bearer {KEY}"})
    assert "leave it out: nothing is kept here" in answer.json()["error"]["message"]
