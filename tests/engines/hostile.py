"""Requests of clients that mean no good, for a server under load: each is refused with a reason, or abandoned."""

from __future__ import annotations

import json
import socket
import time
from random import Random
from typing import Any

import httpx
from asked import HOSTILE

_LOOPS = "{% for a in range(10**9) %}{% for b in range(10**9) %}{% endfor %}{% endfor %}"
_CHAT: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "x"}], "max_tokens": 20}
_TEXT: dict[str, Any] = {"model": "tiny", "prompt": "x", "max_tokens": 20}
_RULES = "start: " + " ".join(f"r{i}" for i in range(5000)) + "".join(f'\nr{i}: "{i}"' for i in range(5000))
_LONG = {"structured_outputs": {"regex": "[a-c]{900}"}, "max_tokens": 900}


def _bodies() -> list[tuple[str, bytes]]:
    chats: list[dict[str, Any]] = [
        {"chat_template_kwargs": {"chat_template": _LOOPS}},
        {"messages": [{"role": "user", "content": "word " * 700_000}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
        {"messages": [{"role": "user", "content": "x"}] * 20_000},
        {"n": 10_000},
        {"response_fromat": {"type": "json_object"}},
        {"tools": [{"type": "function", "function": {"name": "f"}}] * 2, "tool_choice": "required"},
        {"logit_bias": {"1": 100}},
        {"seed": 2**70},
    ]
    texts: list[dict[str, Any]] = [
        {"prompt": "word " * 750_000},
        {"prompt": [1] * 500_000},
        {"prompt": [10**9]},
        {"prompt": ["x"] * 5000},
        {"response_format": {"type": "grammar", "grammar": _RULES + "x"}},
        {"response_format": {"type": "grammar", "grammar": 'root ::= (("a" | "b"){0,400}){0,400}'}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {"enum": [*range(10**5)]}}}},
        {"max_tokens": -1},
        *(body for _, body in HOSTILE),
    ]
    bodies = [("/v1/chat/completions", json.dumps({**_CHAT, **more}).encode()) for more in chats]
    bodies += [("/v1/completions", json.dumps({**_TEXT, **more}).encode()) for more in texts]
    for broken in (
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 50_000,
        b"[]",
        b'{"prompt": NaN}',
        b'{"prompt": "\\ud800"}',
        b"x" * (5 << 20),
    ):
        bodies.append(("/v1/completions", broken))
    bodies += [("/nowhere", b"{}"), ("/health", b"{}"), ("/generate", b'{"inputs": 1}')]
    return bodies


_BODIES = _bodies()


def ask(address: str, random: Random) -> str:
    """Ask in a bad way: ``refused``, ``left``, ``answered`` or ``stopping``, else what is wrong with the answer."""
    kind = random.choice([_refused] * 6 + [_left, _left_stream, _half, _nonsense, _idle])
    return kind(address, random)


def _refused(address: str, random: Random) -> str:
    path, body = random.choice(_BODIES)
    try:
        answer = httpx.post(f"{address}{path}", content=body, headers={"X-Request-Id": "hostile"}, timeout=300)
    except (httpx.WriteError, httpx.ReadError):
        if len(body) > 4 << 20:
            return "refused"  # the server closes before all of it was sent
        raise
    if answer.status_code == 200 and path.startswith("/v1/"):
        return "answered"
    if answer.status_code == 503 and '"stopping"' in answer.text:
        return "stopping"
    return complaint(answer) or (
        "refused" if answer.status_code < 500 else f"status {answer.status_code}: {answer.text}"
    )


def complaint(answer: httpx.Response) -> str | None:
    """What is wrong with how a request is refused: anything but an error of OpenAI's shape, with a code."""
    try:
        error = answer.json()["error"]
        good = all(isinstance(error[name], str) and error[name] for name in ("message", "type", "code"))
    except (ValueError, KeyError, TypeError):
        good = False
    return None if good and "x-request-id" in answer.headers else f"no error: {answer.status_code}: {answer.text:.80}"


def _left(address: str, random: Random) -> str:
    try:
        httpx.post(f"{address}/v1/completions", json={**_TEXT, **_LONG, "n": random.randrange(1, 9)}, timeout=0.3)
    except httpx.TimeoutException:
        return "left"
    return "answered"


def _left_stream(address: str, random: Random) -> str:
    body = {**_TEXT, **_LONG, "stream": True}
    with httpx.stream("POST", f"{address}/v1/completions", json=body, timeout=300) as answer:
        for _ in zip(range(random.randrange(20)), answer.iter_lines(), strict=False):
            pass
    return "left"


def _by_hand(address: str, sent: bytes, seconds: float) -> str:
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(sent)
        time.sleep(seconds)
    return "left"


def _half(address: str, random: Random) -> str:
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    return _by_hand(address, head + b'{"prompt": "', random.random() * 3)


def _nonsense(address: str, random: Random) -> str:
    return _by_hand(address, random.randbytes(200) + b"\r\n\r\n", 0.1)


def _idle(address: str, random: Random) -> str:
    return _by_hand(address, b"GET /health HTTP/1.1\r\n", random.random() * 3)
