"""Requests that are nearly right: none is a 500, and the server answers all others meanwhile and after them.

By default a slice of 150; ``--oracle-scale=10`` has all 1,500.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import httpx
import pytest
from serving.conftest import Running

from pdacon.base.limits import Limits
from pdacon.serving import ServerSettings

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "of a city",
        "parameters": {"type": "object", "properties": {"city": {"enum": ["Oslo", "Rome"]}}, "required": ["city"]},
    },
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}}, "required": ["a"]}
SAMPLING = {"temperature": 1.5, "top_k": 5, "top_p": 0.9, "seed": 3, "max_tokens": 4}
TAG = {"type": "tag", "begin": "<a>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</a>"}
RIGHT: list[tuple[str, dict[str, Any]]] = [
    (
        "/v1/chat/completions",
        {
            "model": "tiny",
            "messages": [
                {"role": "system", "content": "short"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            ],
            "response_format": {"type": "json_schema", "json_schema": {"name": "it", "strict": True, "schema": SCHEMA}},
            "n": 2,
            "logprobs": True,
            "top_logprobs": 2,
            "stop": ["zz"],
            "chat_template_kwargs": {"thinking": False},
            "metadata": {"a": "b"},
        }
        | SAMPLING,
    ),
    (
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": "hi"}], "tools": [WEATHER], "tool_choice": "auto"}
        | {"parallel_tool_calls": True, "stream": True, "stream_options": {"include_usage": True}},
    ),
    (
        "/v1/completions",
        {"prompt": ["a", "b"], "structured_outputs": {"grammar": 'start: "a" | "b"'}, "echo": True, "logprobs": 2}
        | {"complete": True, "soft": 2, "stream": False}
        | SAMPLING,
    ),
    ("/v1/completions", {"prompt": [5, 6, 7], "structured_outputs": {"regex": "[a-c]{2}"}, "stream": True}),
    ("/v1/completions", {"prompt": "x", "response_format": {"type": "choice", "choices": ["a", "b"]}} | SAMPLING),
    ("/v1/completions", {"prompt": "x", "response_format": {"type": "structural_tag", "format": TAG}}),
    ("/v1/completions", {"prompt": "x", "structured_outputs": {"grammar": 'root ::= "a" [b-d]*', "syntax": "gbnf"}}),
    (
        "/generate",
        {
            "inputs": "hi",
            "parameters": {
                "max_new_tokens": 4,
                "details": True,
                "return_k_alternatives": 2,
                "stop": ["zz"],
                "response_format": {"type": "json_object", "schema": SCHEMA},
            },
        },
    ),
    (
        "/v1/responses",
        {
            "model": "tiny",
            "instructions": "short",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "x"}]},
                {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "rain"},
            ],
            "tools": [
                {"type": "function", **WEATHER["function"]},
                {
                    "type": "custom",
                    "name": "f",
                    "format": {"type": "grammar", "syntax": "regex", "definition": "[a-c]{2}"},
                },
            ],
            "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "f"}]},
            "text": {"format": {"type": "json_schema", "name": "it", "schema": SCHEMA}},
            "reasoning": {"effort": "low"},
            "max_output_tokens": 4,
            "stream": True,
        },
    ),
    (
        "/v1/messages",
        {
            "model": "tiny",
            "max_tokens": 4,
            "system": [{"type": "text", "text": "short"}],
            "messages": [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "x", "signature": ""},
                        {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Oslo"}},
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "rain"}]},
            ],
            "tools": [{"name": "weather", "input_schema": SCHEMA}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            "thinking": {"type": "enabled", "budget_tokens": 2},
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"},
            "stop_sequences": ["zz"],
        },
    ),
    (
        "/v1/chat/completions",
        {
            "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "custom", "custom": {"name": "f", "format": {"type": "text"}}}],
            "tool_choice": {"type": "custom", "custom": {"name": "f"}},
            "logit_bias": {"5": 2},
            "stop_token_ids": [7],
            "presence_penalty": 1,
            "repetition_penalty": 1.1,
            "thinking_token_budget": 3,
            "max_tokens": 4,
        },
    ),
    ("/tokenize", {"messages": [{"role": "user", "content": "hi"}], "tools": [WEATHER]}),
    ("/generate_stream", {"inputs": "hi", "parameters": {"do_sample": True, "seed": 1, "temperature": 0.5}}),
]
ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2, 1.5, -0.0, 1e308, 1e-308, 5e-324, float("inf"), float("nan"), 2**31, 2**63, 2**64,
    10**400, -(10**400), "", " ", "0", "true", "null", "\x00", "\ud800", "\udfff\ud800", "\u2028", "\uffff", "é" * 50,
    "x" * 5_000, "{{ 7 * 7 }}", "%s%n", "../../etc/passwd", "(", "[", "(a*)*b", "a{1,99999}", "start: start", "::=",
    [], {}, [[]], [None], [0], [""], {"": None}, {"a": {"a": {"a": []}}}, [[[[[[[[]]]]]]]], {"$ref": "#"},
    {"type": "text"}, {"type": "regex"}, {"allOf": [{"$ref": "#"}]}, {"type": ["null", "x"]}, {"const": 1e300},
]  # fmt: skip
NAMES = (
    "model", "n", "stream", "stop", "tools", "logit_bias", "top_k", "response_format", "guided_json", "", "\x00",
    "$ref", "max_tokens", "type", "function", "prompt", "messages", "inputs", "é", "x" * 200, "schema",
    "__class__", "self",
)  # fmt: skip

STRANGE = (
    b"\xff", b"\x00", b'"', b"}", b"[" * 300, b'"n":1,"n":2,', b"9" * 5_000, rb"\ud800", b"\xed\xa0\x80"
)  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """The containers of a value, each with the keys of its parts."""
    waiting, found = [value], []
    while waiting:
        container = waiting.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        found += [(container, key) for key in keys]
        waiting += [container[key] for key in keys if isinstance(container[key], dict | list)]
    return found


def changed(value: Any, random: Random) -> Any:
    """The same with one or a few parts that are missing, odd, exchanged, or too many."""
    value = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        there = places(value)
        if not there:
            break
        container, key = random.choice(there)
        how = random.randrange(6)
        if how == 0:
            del container[key]
        elif how in (1, 2):
            container[key] = copy.deepcopy(random.choice(ODD))
        elif how == 3:
            other, name = random.choice(there)
            container[key] = copy.deepcopy(other[name])
        elif how == 4 and isinstance(container, dict):
            container[random.choice(NAMES)] = copy.deepcopy(random.choice(ODD))
        elif how == 5 and isinstance(container, list):
            container[:] = container * random.choice((2, 30))
    return value


def broken(text: bytes, random: Random) -> bytes:
    """The same with bytes that are missing, others, twice, or more."""
    at, size = random.randrange(len(text)), random.choice((1, 1, 2, 10, 1000))
    strange = random.choice(
        (b"\xff", b"\x00", b'"', b"}", b"[" * 300, b'"n":1,"n":2,', b"9" * 5_000, rb"\ud800", b"\xed\xa0\x80")
    )
    return random.choice(
        (
            text[:at],
            text[:at] + text[at + size :],
            text[:at] + strange + text[at:],
            text[:at] + strange + text[at + size :],
            text[:at] + text[at : at + size] * 2 + text[at + size :],
        )
    )


def mutations(count: int) -> Iterator[tuple[str, bytes]]:
    random = Random(39)
    for number in range(count):
        path, body = RIGHT[number % len(RIGHT)]
        text = json.dumps(changed(body, random) if random.random() < 0.75 else body).encode()
        yield path, broken(text, random) if random.random() < 0.3 else text


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    """A server with room for short answers only."""
    settings = ServerSettings(
        model_name="tiny", cache_tokens=64, max_tokens=4, limits=Limits(seconds=2.0), max_choices=4
    )
    running = Running(settings)
    yield running
    running.stop()


@pytest.mark.slow
def test_no_request_is_a_failure_of_the_server(
    small: Running, scaled: Callable[[int], int], tally: Any, caplog: pytest.LogCaptureFixture
) -> None:
    statuses: Counter[int] = Counter()

    def ask(case: tuple[str, bytes]) -> None:
        path, body = case
        answer = httpx.post(small.address + path, content=body, timeout=300)
        assert answer.status_code in (200, 400, 404, 413), (path, body, answer.text)
        assert "server_error" not in answer.text, (path, body, answer.text)  # an event of a stream
        if answer.status_code != 200:
            error = answer.json()["error"]
            assert isinstance(error["code"], str), (path, body)
            assert len(error["message"]) <= 2_000
        statuses[answer.status_code] += 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, mutations(scaled(150))))
    assert httpx.get(f"{small.address}/health").status_code == 200
    assert min(statuses[200], statuses[400]) > sum(statuses.values()) // 10
    assert not [record for record in caplog.records if record.exc_info]
    tally(mutations=sum(statuses.values()), refused=sum(statuses.values()) - statuses[200])


def test_the_right_requests_are_right(small: Running) -> None:
    for path, body in RIGHT:
        answer = httpx.post(small.address + path, json=body, timeout=300)
        assert answer.status_code == 200, (body, answer.text)
