"""The server, asked by OpenAI's own client: each answer is what its request demands, or the request is an error."""

from __future__ import annotations

import json
import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import httpx
import jsonschema
import openai
import pytest
from lark import Lark
from pydantic import BaseModel
from serving.conftest import KEY, Running, saying

ASKED: Any = [{"role": "user", "content": "Describe a person as JSON:"}]
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
SUM = 'start: N ("+" N)*\nN: /[0-9]{1,3}/'
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Oslo", "Rome"]}, "day": {"$ref": "#/$defs/day"}},
            "required": ["city", "day"],
            "additionalProperties": False,
            "$defs": {"day": {"enum": ["today", "tomorrow"]}},
        },
    },
}
ONE = {"properties": {"x": {"const": 1}}, "required": ["x"], "additionalProperties": False}
ADD = {"type": "function", "function": {"name": "add", "parameters": ONE}}
HEADERS = {"Authorization": f"Bearer {KEY}"}


def named(schema: Any) -> Any:
    return {"type": "json_schema", "json_schema": {"name": "it", "strict": True, "schema": schema}}


@pytest.mark.slow
def test_an_answer_is_an_instance_of_the_schema(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="tiny", messages=ASKED, response_format=named(PERSON), n=3, seed=1, temperature=1.5
    )
    assert len(answer.choices) == 3
    for choice in answer.choices:
        assert choice.finish_reason == "stop"
        jsonschema.validate(json.loads(choice.message.content or ""), PERSON)
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_pydantic_models_are_parsed(client: openai.OpenAI) -> None:
    class Order(BaseModel):
        kind: Literal["book", "pen"]
        gift: bool

    parsed = client.chat.completions.parse(model="tiny", messages=ASKED, response_format=Order)
    assert isinstance(parsed.choices[0].message.parsed, Order)


@pytest.mark.slow
def test_json_objects(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="tiny", messages=ASKED, response_format={"type": "json_object"}, temperature=0, max_tokens=400
    )
    assert isinstance(json.loads(answer.choices[0].message.content or ""), dict)


TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<call>"],
        "tags": [
            {"type": "tag", "begin": "<call>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</call>"}
        ],
        "at_least_one": True,
        "stop_after_first": True,
    },
}


@pytest.mark.parametrize(
    ("format", "fits"),
    [
        ({"type": "grammar", "grammar": SUM}, lambda text: Lark(SUM, parser="lalr").parse(text)),
        ({"type": "regex", "regex": "[a-c]{3}-[0-9]"}, lambda text: re.fullmatch("[a-c]{3}-[0-9]", text)),
        ({"type": "choice", "choices": ["left", "right"]}, lambda text: text in ("left", "right")),
        ({"type": "grammar", "syntax": "gbnf", "grammar": 'root ::= "a" | "b"'}, lambda text: text in "ab"),
        ({"type": "grammar", "grammar": 'root ::= "a" | "b"'}, lambda text: text in "ab"),
        (TAG, lambda text: re.fullmatch(r"<call>\d+</call>", text)),
    ],
)
def test_other_formats(client: openai.OpenAI, format: Any, fits: Any) -> None:
    for body in ({"response_format": format}, {"structured_outputs": as_vllm(format)}):
        answer = client.completions.create(model="tiny", prompt="", max_tokens=60, temperature=2, extra_body=body)
        if answer.choices[0].finish_reason == "stop":
            assert fits(answer.choices[0].text)


def as_vllm(format: dict[str, Any]) -> dict[str, Any]:
    if format["type"] == "structural_tag":
        return {"structural_tag": json.dumps(format)}
    said = dict(format)
    kind = said.pop("type")
    return {kind: said.get(kind, said.get("choices")), **({"syntax": said["syntax"]} if "syntax" in said else {})}


def test_a_stream_is_the_answer_in_pieces(client: openai.OpenAI) -> None:
    asked: Any = {"model": "tiny", "messages": ASKED, "response_format": named(PERSON), "seed": 7, "n": 2}
    whole = client.chat.completions.create(**asked)
    texts, endings, usage = ["", ""], ["", ""], None
    for chunk in client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
            endings[choice.index] = choice.finish_reason or endings[choice.index]
    assert texts == [choice.message.content for choice in whole.choices]
    assert endings == ["stop", "stop"]
    assert usage == whole.usage


@pytest.mark.slow
def test_a_seed_repeats_an_answer_beside_others(client: openai.OpenAI) -> None:
    def text(seed: int) -> str | None:
        answer = client.chat.completions.create(model="tiny", messages=ASKED, seed=seed, max_tokens=20)
        return answer.choices[0].message.content

    alone = [text(seed) for seed in range(4)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(text, [0, 1, 2, 3] * 2)) == alone * 2
    assert len(set(alone)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["required", "auto", {"type": "function", "function": {"name": "weather"}}])
def test_tools_are_called_with_their_own_arguments(client: openai.OpenAI, choice: Any) -> None:
    asked: Any = {"model": "tiny", "messages": ASKED, "tools": [WEATHER, ADD], "tool_choice": choice}
    for seed in range(3):
        asked.update(seed=seed, max_tokens=200, temperature=0.3)
        answer = client.chat.completions.create(**asked)
        message, ending = answer.choices[0].message, answer.choices[0].finish_reason
        if ending == "length":
            continue
        if choice == "auto" and message.content is not None:
            assert ending == "stop"
            continue
        assert ending == "tool_calls"
        assert message.tool_calls is not None
        called: Any = message.tool_calls[0]
        tool: Any = {"weather": WEATHER, "add": ADD}[called.function.name]
        jsonschema.validate(json.loads(called.function.arguments), tool["function"]["parameters"])
        stream = client.chat.completions.create(**asked, stream=True)
        pieces = [call.function for chunk in stream for call in chunk.choices[0].delta.tool_calls or ()]
        assert "".join(piece.arguments or "" for piece in pieces if piece) == called.function.arguments
        assert len(pieces) > 2


@pytest.mark.parametrize("parallel", [None, True, False])
def test_several_calls_in_one_answer(server: Running, client: openai.OpenAI, parallel: bool | None) -> None:
    asked: Any = {"model": "tiny", "messages": ASKED, "tools": [WEATHER, ADD], "tool_choice": "required"}
    asked |= {"max_tokens": 300} | ({} if parallel is None else {"parallel_tool_calls": parallel})
    weather, add = '{"city": "Oslo", "day": "today"}', '{"x": 1}'
    with saying(server, f'{{"name": "weather", "arguments": {weather}}}\n{{"name": "add", "arguments": {add}}}'):
        if parallel is False:
            with pytest.raises(openai.InternalServerError):  # the model is held to one
                client.chat.completions.create(**asked)
            return
        calls: Any = client.chat.completions.create(**asked).choices[0].message.tool_calls
    assert [(call.function.name, call.function.arguments) for call in calls] == [("weather", weather), ("add", add)]
    assert calls[0].id != calls[1].id


def test_stop_texts_do_not_belong_to_the_answer(client: openai.OpenAI) -> None:
    asked: Any = {"model": "tiny", "prompt": "", "temperature": 0, "max_tokens": 40}
    schema = {"response_format": named({"const": "one two three"})}
    answer = client.completions.create(**asked, stop=["two", "wo t"], extra_body=schema)
    assert (answer.choices[0].text, answer.choices[0].finish_reason) == ('"one ', "stop")
    pieces = client.completions.create(**asked, stop="two", stream=True, extra_body=schema)
    assert "".join(piece.choices[0].text for piece in pieces) == '"one '


def test_logprobs_are_those_of_the_constrained_choice(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="tiny", messages=ASKED, response_format=named({"enum": [7]}), logprobs=True, top_logprobs=3
    )
    assert answer.choices[0].logprobs is not None
    steps = answer.choices[0].logprobs.content or []
    assert "".join(step.token for step in steps[:-1]) == "7"
    assert [step.logprob for step in steps] == pytest.approx([0.0] * len(steps))  # nothing else was allowed
    assert all(len(step.top_logprobs) == 1 for step in steps)


def test_the_interface_of_lorax(server: Running) -> None:
    parameters = {"max_new_tokens": 60, "details": True, "response_format": {"type": "json_object", "schema": PERSON}}
    asked = {"inputs": "Describe a person as JSON:", "parameters": parameters}
    answer = httpx.post(f"{server.address}/generate", json=asked, headers=HEADERS, timeout=60).json()
    jsonschema.validate(json.loads(answer["generated_text"]), PERSON)
    assert answer["details"]["finish_reason"] == "eos_token"
    with httpx.stream("POST", f"{server.address}/generate_stream", json=asked, headers=HEADERS, timeout=60) as response:
        events = [json.loads(line.removeprefix("data: ")) for line in response.iter_lines() if line]
    assert events[-1]["generated_text"] == answer["generated_text"]  # greedily, so it is the same
    shown = "".join(event["token"]["text"] for event in events if not event["token"]["special"])
    assert shown == answer["generated_text"]
    asked["parameters"] = {**parameters, "adapter_id": "somebody/adapter"}
    refused = httpx.post(f"{server.address}/generate", json=asked, headers=HEADERS)
    assert refused.status_code == 400
    assert "no adapter" in refused.json()["error"]["message"]


FORMAT = "response_format"
SCHEMA = "response_format.json_schema.schema"
GRAMMAR = "response_format.grammar"


def lark(text: str) -> Any:
    return {"type": "grammar", "grammar": text}


@pytest.mark.parametrize(
    ("body", "param", "said"),
    [
        ({FORMAT: named({"properties": {"a": {"uniqueItems": True}}})}, f"{SCHEMA}/properties/a", "uniqueItems"),
        ({FORMAT: named({"type": "strin"})}, None, "strin"),
        ({FORMAT: named({"$ref": "http://localhost/x.json"})}, None, "x.json"),
        ({FORMAT: named(False)}, None, ""),
        ({FORMAT: {"type": "json_schema"}}, "response_format.json_schema", "schema"),
        ({FORMAT: {"type": "jsn"}}, "response_format.type", "json_object"),
        ({FORMAT: {"type": "structural_tag"}}, FORMAT, "#/format"),
        ({FORMAT: {"type": "structural_tag", "format": {"type": "any_txt"}}}, FORMAT, "any_text"),
        ({FORMAT: {"type": "regex", "regex": "(a"}}, "response_format.regex", ""),
        ({FORMAT: {"type": "choice", "choices": []}}, "response_format.choices", "list"),
        ({FORMAT: lark('start: x | y\nx: "a"\ny: "a"')}, GRAMMAR, "reduce/reduce"),
        ({FORMAT: lark("start: x\n%import .secret (x)")}, GRAMMAR, "%import"),
        ({FORMAT: lark("start: x\n%import \\\n .secret (x)")}, GRAMMAR, "%import"),
        ({FORMAT: lark("x" * 30_000)}, GRAMMAR, "bytes"),
        ({"response_fromat": {"type": "json_object"}}, "response_fromat", "no such field"),
        ({FORMAT: {"type": "json_object", "shcema": {}}}, FORMAT, "shcema"),
        ({"structured_outputs": {"json": {}, "regex": "a"}}, "structured_outputs", "2 things"),
        ({"structured_outputs": {"jsn": {}}}, "structured_outputs", "jsn"),
        ({"structured_outputs": {"json": {}}, FORMAT: {"type": "json_object"}}, FORMAT, "give one"),
        (
            {"tools": [WEATHER], "tool_choice": {"type": "allowed_tools", "mode": "auto"}},
            "tool_choice",
            "allowed_tools",
        ),
        ({"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice", "'x'"),
        ({"tools": [{"type": "web_search"}]}, "tools.0", "function"),
        ({"n": 1000}, "n", "at most"),
        ({"temperature": -1}, "temperature", ""),
        ({"frequency_penalty": 3}, "frequency_penalty", ""),
        ({"top_logprobs": 2}, None, "logprobs"),
        ({"complete": True}, "complete", "needs a format"),
        ({"complete": True, FORMAT: {"type": "text"}}, "complete", "needs a format"),
        ({"complete": True, "soft": 1, "tools": [WEATHER], "tool_choice": "none"}, "complete", "needs a format"),
        ({"messages": []}, "messages", ""),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages", "text"),
        ({"messages": [{"role": "user", "content": "x " * 3000}]}, "messages", "context"),
    ],
)
def test_what_cannot_be_done_is_refused(client: openai.OpenAI, body: Any, param: str | None, said: str) -> None:
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(model="tiny", messages=ASKED, max_tokens=5, extra_body=body)
    error: Any = refusal.value.body
    assert said in error["message"]
    if param is not None:
        assert error["param"] == param


@pytest.mark.slow
def test_models_keys_paths_and_sizes(server: Running, client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").id == "tiny"
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="other", messages=ASKED)
    with pytest.raises(openai.AuthenticationError), server.client("wrong") as stranger:
        stranger.models.list()
    assert httpx.get(f"{server.address}/health").json() == {"status": "ok"}
    assert httpx.get(f"{server.address}/v2/models").status_code == 404
    large = httpx.post(f"{server.address}/v1/completions", content=b'"' + b"x" * 100_000, headers=HEADERS)
    assert large.status_code == 413
    for content in (b"", b"{", b"\xff", b"[" * 50_000, b"[]"):
        broken = httpx.post(f"{server.address}/v1/completions", content=content, headers=HEADERS)
        assert broken.status_code == 400, content[:10]
    figures = server.figures()
    assert "pdacon_generated_tokens_total" in figures
    for name in ("pdacon_constraint_step_seconds_count", "pdacon_constraint_step_cpu_seconds_count"):
        assert figures[name] > 0


@pytest.mark.slow
def test_clients_that_leave_free_their_place(server: Running) -> None:
    asked: Any = {"model": "tiny", "prompt": "x", "max_tokens": 900, "temperature": 2.0}
    asked["response_format"] = named({"type": "array", "items": {"type": "integer"}, "minItems": 400})
    asked["n"] = 8
    address = f"{server.address}/v1/completions"
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(address, json=asked, headers=HEADERS, timeout=0.3)
    with httpx.stream("POST", address, json={**asked, "stream": True}, headers=HEADERS, timeout=60) as response:
        assert next(response.iter_lines()).startswith("data: ")
    until = time.monotonic() + 20
    while any(server.figures()[f"pdacon_answers_{what}"] for what in ("running", "waiting")):
        assert time.monotonic() < until, "answers go on that nobody waits for"
        time.sleep(0.05)


@pytest.mark.slow
def test_many_at_once_good_and_bad(server: Running) -> None:
    draw = random.Random(3)
    schemas = [
        PERSON,
        {"enum": [1, "two", None]},
        {"type": "array", "items": {"type": "boolean"}, "maxItems": 4},
        {"type": "strin"},
    ]

    def ask(number: int) -> None:
        schema: Any = draw.choice(schemas)
        with server.client() as client:
            try:
                answer = client.chat.completions.create(
                    model="tiny", messages=ASKED, response_format=named(schema), seed=number, max_tokens=80
                )
            except openai.BadRequestError:
                assert schema == schemas[-1]
                return
        if answer.choices[0].finish_reason == "stop":
            jsonschema.validate(json.loads(answer.choices[0].message.content or ""), schema)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(48)))


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_no_complete_answer_is_cut_by_its_length(client: openai.OpenAI, stream: bool) -> None:
    json_object: Any = {"type": "json_object"}
    for soft in (None, 3):
        asked: Any = {"complete": True} | ({} if soft is None else {"soft": soft})
        for seed in range(4):
            answer: Any = client.chat.completions.create(
                model="tiny", messages=ASKED, response_format=json_object, max_tokens=6, seed=seed, temperature=1.5,
                stream=stream, extra_body=asked,
            )  # fmt: skip
            if stream:
                chunks = [chunk.choices[0] for chunk in answer]
                text, ending = "".join(chunk.delta.content or "" for chunk in chunks), chunks[-1].finish_reason
            else:
                text, ending = answer.choices[0].message.content or "", answer.choices[0].finish_reason
                assert answer.usage.completion_tokens <= 6
            assert ending == "stop"
            assert isinstance(json.loads(text), dict)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"max_tokens": 3, "extra_body": {"complete": True}},
            "a budget of 3 tokens is too small: the nearest",
        ),
        ({"max_tokens": 3, "extra_body": {"soft": 1}}, "soft needs complete"),
        ({"max_tokens": 3, "extra_body": {"complete": "often"}}, "complete"),
    ],
)
def test_budgets_that_cannot_be_kept(client: openai.OpenAI, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(openai.BadRequestError, match=message):
        client.chat.completions.create(model="tiny", messages=ASKED, response_format=named(PERSON), **asked)
