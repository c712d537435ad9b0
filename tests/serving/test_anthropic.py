"""Anthropic's interface: by its own client where that is there, and as it is sent."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from serving.conftest import KEY, Running, saying

from pdacon.frontends.tool_formats import FORMATS

HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
WEATHER: Any = {
    "name": "weather",
    "description": "Of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "x": {"type": "number"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
UNIQUE = {"type": "object", "properties": {"x": {"type": "array", "uniqueItems": True}}}
SCHEMA = {"type": "json_schema", "schema": UNIQUE}
ASKED: Any = {"model": "tiny", "max_tokens": 200, "messages": [{"role": "user", "content": "hi"}], "tools": [WEATHER]}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo", "x": 1e500}}\n</tool_call>'
SAID = f"<think>\nHm.\n</think>\n\nI look.\n{CALL}"


@pytest.fixture(autouse=True)
def _format(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server.application, "tool_format", FORMATS["hermes"])


def post(server: Running, path: str = "", headers: Any = None, **fields: Any) -> httpx.Response:
    address = f"{server.address}/v1/messages{path}"
    return httpx.post(address, json=fields, headers=headers or HEADERS, timeout=60)


def streamed(server: Running, **fields: Any) -> list[dict[str, Any]]:
    """The events of a stream; each is called what its type is."""
    events = []
    for part in post(server, **fields, stream=True).text.strip().split("\n\n"):
        name, data = part.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    return events


def test_blocks_of_an_answer(server: Running) -> None:
    """Numbers stay as the model writes them."""
    with saying(server, SAID):
        answer = post(server, **ASKED)
        events = streamed(server, **ASKED)
    assert '"input":{"city": "Oslo", "x": 1e500}' in answer.text
    message = answer.json()
    thought, text, call = message["content"]
    assert (thought["type"], thought["thinking"]) == ("thinking", "Hm.")
    assert (text["type"], text["text"]) == ("text", "I look.")
    assert (call["type"], call["name"]) == ("tool_use", "weather")
    assert (message["stop_reason"], message["stop_sequence"]) == ("tool_use", None)
    kinds = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    assert kinds == ["thinking", "text", "tool_use"]
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(delta.get("thinking", "") for delta in deltas) == "Hm."
    assert "".join(delta.get("text", "") for delta in deltas) == "I look."
    assert "".join(delta.get("partial_json", "") for delta in deltas) == '{"city": "Oslo", "x": 1e500}'
    assert (events[0]["type"], events[-1]["type"]) == ("message_start", "message_stop")
    assert events[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert events[-2]["usage"] == message["usage"]


def test_why_an_answer_ended(server: Running) -> None:
    with saying(server, SAID):
        cut = post(server, **ASKED | {"max_tokens": 30}).json()
        stopped = post(server, **ASKED, stop_sequences=["loo"]).json()
    with saying(server, "Hm."):
        ended = post(server, **ASKED).json()
    assert cut["stop_reason"] == "max_tokens"
    assert all(block["type"] != "tool_use" for block in cut["content"])  # it would not be an object
    assert (stopped["stop_reason"], stopped["stop_sequence"]) == ("stop_sequence", "loo")
    assert stopped["content"][-1]["text"] == "I "
    assert ended["stop_reason"] == "end_turn"


@pytest.mark.parametrize(
    ("choice", "allowed", "refused"),
    [
        ({"type": "any"}, CALL, "Hm."),
        ({"type": "tool", "name": "weather"}, CALL, "Hm."),
        ({"type": "none"}, "Hm.", "Hm.<tool_call>"),
        ({"type": "auto", "disable_parallel_tool_use": True}, CALL, f"{CALL}\n{CALL}"),
    ],
)
def test_choices(server: Running, choice: Any, allowed: str, refused: str) -> None:
    with saying(server, allowed):
        assert post(server, **ASKED, tool_choice=choice).status_code == 200
    with saying(server, refused):
        assert post(server, **ASKED, tool_choice=choice).status_code == 500  # the model is held to it


def test_a_schema_of_the_answer(server: Running) -> None:
    format = {"type": "json_schema", "schema": {"enum": ["a"]}}
    for fields in ({"output_format": format}, {"output_config": {"format": format}}):
        with saying(server, '<think>\nx</think>"a"'):
            answer = post(server, **ASKED | {"tools": []}, **fields).json()
        assert answer["content"][-1] == {"type": "text", "text": '"a"'}


def test_what_was_said_before(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    template = (
        "{% for m in messages %}[{{ m.role }}|{{ m.reasoning_content }}|{{ m.content }}|"
        "{{ (m.tool_calls or []) | tojson }}]{% endfor %}"
    )
    monkeypatch.setattr(server.application.engine.tokenizer, "chat_template", template)
    seen: list[str] = []
    of_rendered = server.application.prompts.of_rendered
    monkeypatch.setattr(server.application.prompts, "of_rendered", lambda text: seen.append(text) or of_rendered("x"))
    use = {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Oslo"}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": ""}, use]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "rain"}]},
                {"type": "text", "text": "And?"},
            ],
        },
    ]
    assert post(server, **ASKED | {"messages": messages, "max_tokens": 1}, system="Be good.").status_code == 200
    (text,) = seen
    roles = [part.partition("|")[0] for part in text.strip("[]").split("][")]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assert '"arguments": {"city": "Oslo"}' in text


def test_tokens_are_counted(server: Running) -> None:
    asked = {name: value for name, value in ASKED.items() if name != "max_tokens"}
    counted = post(server, "/count_tokens", **asked).json()
    with saying(server, "Hm."):
        assert post(server, **ASKED).json()["usage"]["input_tokens"] == counted["input_tokens"] > 0


def test_tokens_of_past_calls_are_counted(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is wrong with tools or a choice is an error, as it is where the answer is written."""
    template = "{% for m in messages %}{{ m.role }}{{ m.content }}{{ (m.tool_calls or []) | tojson }}{% endfor %}"
    monkeypatch.setattr(server.application.engine.tokenizer, "chat_template", template)
    use = {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Oslo"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "rain"}
    past = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    asked = {"model": "tiny", "tools": [WEATHER], "messages": [*ASKED["messages"], *past]}
    counted = post(server, "/count_tokens", **asked).json()["input_tokens"]
    with saying(server, "Hm."):
        assert post(server, **asked, max_tokens=20).json()["usage"]["input_tokens"] == counted
    assert counted > post(server, "/count_tokens", **asked | {"messages": ASKED["messages"]}).json()["input_tokens"]
    for fields in ({"tools": [WEATHER, WEATHER]}, {"tool_choice": {"type": "tool", "name": "time"}}):
        errors = [post(server, path, **asked | {**fields, **most}) for path, most in (
            ("", {"max_tokens": 20}), ("/count_tokens", {}),
        )]  # fmt: skip
        assert [error.status_code for error in errors] == [400, 400]
        assert errors[0].json() == errors[1].json()


@pytest.mark.parametrize(
    "fields",
    [
        {"cache_control": {"type": "ephemeral"}},
        {"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}},
        {"context_management": {"edits": []}, "mcp_servers": []},
        {"tools": [{**WEATHER, "eager_input_streaming": True}]},
    ],
)
def test_fields_that_say_nothing_here_are_taken(server: Running, fields: Any) -> None:
    assert post(server, **ASKED | fields).status_code == 200


def test_paths_that_there_are_not_have_an_error_of_anthropics(server: Running) -> None:
    for answer in (post(server, "/batches", **ASKED), httpx.get(f"{server.address}/v1/messages", headers=HEADERS)):
        assert answer.status_code in (404, 405)
        assert answer.json()["type"] == "error"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages.0.content.0"),
        ({"messages": [{"role": "owner", "content": "x"}]}, "messages.0.role"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools.0"),
        ({"tool_choice": {"type": "some"}}, "tool_choice"),
        ({"thinking": {"type": "on"}}, "thinking"),
        ({"thinking": {"type": "enabled"}}, "thinking.budget_tokens"),
        ({"thinking": {"type": "enabled", "budget_tokens": 20}, "max_tokens": 20}, "thinking.budget_tokens"),
        ({"thinking": {"type": "disabled", "budget_tokens": 2}}, "thinking"),
        ({"tools": [{"name": "a"}]}, "tools.0.input_schema"),
        ({"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}, "context_management"),
        ({"mcp_servers": [{"type": "url", "url": "https://x", "name": "x"}]}, "mcp_servers"),
        ({"tools": [{"name": "a", "strict": True, "input_schema": {"propertys": {}}}]}, "tools.0.input_schema"),
        ({"output_format": {"type": "text"}}, "output_format"),
        ({"temperatur": 1}, "temperatur"),
        ({"tools": [{"name": "a", "input_schema": UNIQUE}]}, "tools.0.input_schema/properties/x"),
        ({"tools": [{"name": 'a b"', "input_schema": {}}]}, "tools.0.name"),
        ({"tools": [WEATHER, WEATHER]}, "tools.1.name"),
        ({"tools": [], "tool_choice": {"type": "any"}}, "tool_choice"),
        ({"output_config": {"effort": "extreme"}}, "output_config.effort"),
        ({"output_config": {"format": SCHEMA}}, "output_config.format.schema/properties/x"),
        ({"output_format": SCHEMA}, "output_format.schema/properties/x"),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "thinking"}, {"type": "text"}]}]},
            "messages.0.content.1",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": 1}]}]},
            "messages.0.content.1",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(server: Running, fields: Any, param: str) -> None:
    answer = post(server, **ASKED | fields)
    error = answer.json()
    assert (answer.status_code, error["type"], error["error"]["type"]) == (400, "error", "invalid_request_error")
    assert error["error"]["param"] == param
    assert not any(name in error["error"]["message"] for name in (".function", "response_format"))


def test_keys_come_by_either_header(server: Running) -> None:
    for headers, status in (({"x-api-key": "wrong"}, 401), ({"authorization": f"Bearer {KEY}"}, 400)):
        assert post(server, headers=headers, **ASKED | {"max_tokens": 0}).status_code == status


def test_the_client_of_anthropic(server: Running) -> None:
    anthropic = pytest.importorskip("anthropic", reason="the package is not there")
    client = anthropic.Anthropic(base_url=server.address, api_key=KEY, max_retries=0)
    said = SAID.replace(', "x": 1e500', "")
    with client, saying(server, said):
        whole = client.messages.create(**ASKED)
        with client.messages.stream(**ASKED) as stream:
            streamed = stream.get_final_message()
        with pytest.raises(anthropic.BadRequestError, match="tool_choice"):
            client.messages.create(**ASKED, tool_choice={"type": "some"})
    for message in (whole, streamed):
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
        assert message.content[2].input == {"city": "Oslo"}
        assert message.stop_reason == "tool_use"
