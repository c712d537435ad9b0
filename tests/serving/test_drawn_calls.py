"""Calls that random models draw, in every format, whole and streamed: each is one of its tool.

``--oracle-scale=N`` draws more of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import httpx
import jsonschema
import pytest
from serving.conftest import Running
from support.scaling import every, scaled

from pdacon.frontends.tool_formats import FORMATS, ToolFormat
from pdacon.integrations.huggingface import load_tiny
from pdacon.serving import ServerSettings

torch = pytest.importorskip("torch")
TEXT = {"type": "string", "maxLength": 8}
NOTE = {"type": ["string", "null"], "maxLength": 5}
DAYS = {"type": "integer", "minimum": 1, "maximum": 14}
SCHEMAS: dict[str, dict[str, Any]] = {
    "get_weather": {"properties": {"city": TEXT, "days": DAYS}, "required": ["city"]},
    "set_unit": {"properties": {"unit": {"enum": ["c", "K°"]}, "again": {"type": "boolean"}}, "required": ["again"]},
    "tag": {"properties": {"tags": {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 2}}},
    "note": {"properties": {"note": NOTE, "n": {"const": 7}}, "required": ["note"]},
    "pick": {"properties": {"code": {"type": "string", "pattern": "^[a-z]{2}-[0-9]{2}$"}}, "required": ["code"]},
    "find": {
        "properties": {
            "where": {
                "type": "object",
                "properties": {"x": {"type": "integer", "minimum": -9, "maximum": 9}, "kind": {"enum": ["in", "<b>"]}},
                "required": ["x"],
            }
        },
        "required": ["where"],
    },
    "now": {"properties": {}},
}  # fmt: skip
TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", **schema}}}
    for name, schema in SCHEMAS.items()
]


def closed(schema: Any) -> Any:
    """A schema whose objects have nothing but what is listed, as those of arguments are."""
    if isinstance(schema, dict):
        inner = {name: closed(value) for name, value in schema.items()}
        return inner | ({"additionalProperties": False} if "properties" in schema else {})
    return schema


@pytest.fixture(scope="module")
def speaker(request: pytest.FixtureRequest) -> Iterator[Running]:
    """A model that writes JSON, and another that draws any token; both have all special tokens of all formats."""
    model, _ = load_tiny()
    special = sorted({token for format in FORMATS.values() for token in format.tokens})
    if request.param == "random":
        torch.manual_seed(7)
        model.config.num_hidden_layers = 1
        model = type(model)(model.config).eval()
    model.resize_token_embeddings(model.config.vocab_size + len(special), mean_resizing=False)
    running = Running(ServerSettings(model_name="tiny"), model, special_tokens=special)
    yield running
    running.stop()


@dataclass
class Drawn:
    """What came of a request: the message, why it ended, and how many tokens after they began the arguments came."""

    message: dict[str, Any]
    ending: str
    late: int | None = None


def ask(address: str, asked: dict[str, Any], format: ToolFormat) -> Drawn:
    if not asked["stream"]:
        answer = httpx.post(f"{address}/v1/chat/completions", json=asked, timeout=120)
        assert answer.status_code == 200, answer.text
        (choice,) = answer.json()["choices"]
        return Drawn(choice["message"], choice["finish_reason"])
    message: dict[str, Any] = {"content": "", "tool_calls": []}
    written, ending, told = [b""], None, None
    with httpx.stream("POST", f"{address}/v1/chat/completions", json=asked, timeout=120) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if not line.startswith("data: {"):
                continue
            (choice,) = json.loads(line.removeprefix("data: "))["choices"]
            ending = choice["finish_reason"] or ending
            for token in (choice["logprobs"] or {}).get("content", ()):
                written.append(written[-1] + bytes(token["bytes"]))
            message["content"] += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls", ()):
                if call["index"] == len(message["tool_calls"]):
                    message["tool_calls"].append({"function": {"name": call["function"]["name"], "arguments": ""}})
                piece = call["function"].get("arguments", "")
                message["tool_calls"][call["index"]]["function"]["arguments"] += piece
                if piece and told is None:
                    told = len(written) - 1
    late = None
    if told is not None:
        call = message["tool_calls"][0]["function"]
        is_measured = call["arguments"] not in ("", "{}") and format.value_marks is None
        late = told - begun(format, written, call["name"]) if is_measured else None
    return Drawn(message, str(ending), late)


def begun(format: ToolFormat, written: list[bytes], name: str) -> int:
    """With which token the arguments of the first call began, or the value of the first one where they are tagged.

    Not of formats that write values in marks of their own: what an array begins with there is its first item's mark.
    """
    calls = (format.call, *(() if format.messages is None else format.messages.calls))
    before = [call.partition("$arguments")[0] + format.argument.partition("$value")[0] for call in calls]
    slots = {"name": re.escape(name), "index": "[0-9]+"}
    if format.messages is not None:
        slots["header"] = f"(?:{'|'.join(map(re.escape, format.messages.headers))})"
        slots["channel"] = f"(?:{'|'.join(map(re.escape, format.messages.channels))})"
    patterns = [re.sub(r"\\\$(\w+)", lambda slot: slots.get(slot[1], ".*?"), re.escape(text)) for text in before]
    for token in map(re.escape, format.tokens):  # they may be no text
        patterns = [pattern.replace(token, f"(?:{token})?") for pattern in patterns]
    text = written[-1]
    found = [match.end() for one in patterns if (match := re.search(one.encode(), text))]
    place = min(found) if found else text.index(name.encode())
    return next(k for k, so_far in enumerate(written) if len(so_far) > place or k == len(written) - 1)


def checked(drawn: Drawn, format: ToolFormat, asked: dict[str, Any]) -> int:
    """How many whole calls an answer has; each is one of the tools that may be called."""
    calls = list(drawn.message.get("tool_calls") or ())
    content = drawn.message["content"] or ""
    assert len(format.trigger) == 1 or format.trigger not in content, content  # a bracket is no mark by itself
    if drawn.ending == "length" and calls:
        calls.pop()  # it was cut
    choice = asked["tool_choice"]
    for call in calls:
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        jsonschema.validate(arguments, closed({"type": "object", **SCHEMAS[name]}))
        assert isinstance(choice, str) or choice["function"]["name"] == name
    if drawn.ending != "length":
        assert drawn.ending == ("tool_calls" if calls else "stop")
        assert calls or choice == "auto"
        assert choice == "auto" or not content
        assert asked["parallel_tool_calls"] or len(calls) <= 1
    assert drawn.late is None or drawn.late <= 2
    return len(calls)


def requests(name: str, count: int) -> Iterator[dict[str, Any]]:
    random = Random(name)
    for seed in range(count):
        strict = random.random() < 0.5
        tools = [{**tool, "function": tool["function"] | {"strict": strict}} for tool in TOOLS]
        named = {"type": "function", "function": {"name": random.choice(list(SCHEMAS))}}
        yield {
            "model": "tiny", "messages": [{"role": "user", "content": "Describe a person as JSON:"}], "tools": tools,
            "tool_choice": random.choice(["auto", "required", "required", named]), "seed": seed, "max_tokens": 200,
            "parallel_tool_calls": random.random() < 0.5, "stream": (stream := seed % 2 == 0), "logprobs": stream,
            "thinking_token_budget": random.randrange(6),
        }  # fmt: skip


MODELS = ("tiny", "random")
CASES = [(MODELS[(k + other) % 2], name) for k, name in enumerate(FORMATS) for other in range(2)]


@pytest.mark.slow
@pytest.mark.parametrize(("speaker", "name"), sorted(every(2, CASES)), indirect=["speaker"])
def test_drawn_calls_are_calls(speaker: Running, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    format = FORMATS[name]
    if name == "harmony":  # the name of one of its marks is that of the tiny model's end
        format = replace(format, tokens=())
    monkeypatch.setattr(speaker.application, "tool_format", format)
    asked = list(requests(name, scaled(2)))
    with ThreadPoolExecutor(8) as pool:
        drawn = pool.map(lambda one: ask(speaker.address, one, format), asked)
        counted = [checked(one, format, of) for one, of in zip(drawn, asked, strict=True)]
    print(name, len(asked), "requests,", sum(counted), "whole calls")
