"""Connections: heads and bodies that do not come to their end, and what is no HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from serving.conftest import Running

from pdacon.serving.connections import connections

OK = b"HTTP/1.1 200 "


async def slow(scope: Any, receive: Any, send: Any) -> None:
    """An application that takes longer than a head may."""
    await asyncio.sleep(0.6)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    config = uvicorn.Config(slow, port=0, http=connections(0.3), lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield int(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    thread.join()


def answers_to(port: int, *parts: bytes) -> bytes:
    """All that is answered until the server closes the connection; each part is sent after an answer to the last."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for number, part in enumerate(parts):
            connection.sendall(part)
            while answer.count(b"\r\n\r\nok") <= number:
                piece = connection.recv(1 << 16)
                if not piece:
                    return answer
                answer += piece
        while piece := connection.recv(1 << 16):
            answer += piece
    return answer


WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("head", [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 1000])
def test_a_head_that_does_not_end_is_cut_off(port: int, head: bytes) -> None:
    assert answers_to(port, head) == b""


@pytest.mark.parametrize("rest", [b"", b"GET / HTTP"])
def test_an_answer_may_take_longer_and_the_next_head_may_not(port: int, rest: bytes) -> None:
    answer = answers_to(port, WHOLE, WHOLE, rest)
    assert answer.count(OK) == 2


def test_a_body_that_does_not_end_does_not_hold_an_answered_connection(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{"
    assert answers_to(port, head, b"").count(OK) == 1


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTX/1.1\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: " + b"Bearer " + b"x" * 200_000,
        b"GET /" + b"a" * 200_000,
        b"GET /health HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
    ],
)
def test_what_is_no_http_is_an_error_like_all_others(server: Running, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        answer = b""
        try:
            connection.sendall(sent)
            while piece := connection.recv(1 << 16):
                answer += piece
        except ConnectionError:  # what was not read of a long head resets the connection
            pass
    head, _, body = answer.partition(b"\r\n\r\n")
    if len(sent) < 1000:
        assert head.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 501 "))
    if body:
        assert json.loads(body)["error"]["code"] == "bad_request"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTX/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    ],
)
def test_strangers_do_not_fill_the_log(server: Running, caplog: pytest.LogCaptureFixture, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(sent)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 ")
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []
