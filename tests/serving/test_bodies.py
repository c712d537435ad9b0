"""Bodies of requests: what is no JSON, what is too much, what never ends. Each is refused with its reason."""

from __future__ import annotations

import asyncio
import json
import select
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Any

import httpx
import pytest
from serving.conftest import KEY, Running
from starlette.requests import Request

from pdacon.serving import ServerSettings
from pdacon.serving.bodies import Bodies, understood
from pdacon.serving.failures import RequestError
from pdacon.serving.preparing import Preparer, TimeIsUp, within
from pdacon.serving.protocol import ChatRequest, CompletionRequest, NativeRequest

HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
PATHS = ("/v1/chat/completions", "/v1/completions", "/generate", "/generate_stream")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"[]", "no object"),
        (b"null", "no object"),
        (b"\xff", "no JSON"),
        (b'{"prompt": "\xff"}', "not UTF-8"),
        (b'{"prompt": "\xed\xa0\x80"}', "not UTF-8"),
        (rb'{"prompt": "\ud800"}', "surrogate"),
        (rb'{"prompt": "\udc00 x"}', "surrogate"),
        (rb'{"\udc00": 1}', "surrogate"),
        (rb'{"prompt": "x", "stop": ["\ud83d"]}', "surrogate"),
        (b'{"prompt": "x", "temperature": NaN}', "line 1 column 32"),
        (b'{"prompt": "x", "temperature": -Infinity}', "no JSON"),
        (b'{"prompt": "x", "temperature": 1e999}', "temperature"),
        (b'{"prompt": "x", "max_tokens": ' + b"9" * 5000 + b"}", "4,300 digits"),
        (b'{"prompt": "x", "prompt": "y"}', "'prompt' twice"),
        (b'{"prompt": "x", "response_format": {"type": "regex", "type": "text"}}', "'type' twice"),
        (b'{"prompt": ' + b"[" * 1000, "200 deep"),
        (b'{"metadata": ' + b'{"a": ' * 300 + b"0" + b"}" * 301, "200 deep"),
        (b'{"prompt": "x",}', "trailing comma"),
        ('{"prompt": "x"}'.encode("utf-16"), "no JSON"),
    ],
)
def test_what_is_no_json_is_refused(server: Running, body: bytes, reason: str) -> None:
    answer = httpx.post(f"{server.address}/v1/completions", content=body, headers=HEADERS)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert reason in error["message"]
    assert "sys.set_int" not in error["message"]
    assert error["code"] == "bad_request"


def test_pairs_of_surrogates_and_a_byte_order_mark_are_read() -> None:
    body = b'\xef\xbb\xbf{"prompt": "\\ud83d\\ude00 \\\\ud800"}'
    assert understood(body, CompletionRequest).prompt == "\U0001f600 \\ud800"


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 400),
        ("application/json; charset=utf-8", 400),
        ("APPLICATION/JSON", 400),
        ("application/vnd.api+json", 400),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("", 415),
        ("x" * 5_000, 415),
    ],
)
def test_what_says_that_it_is_no_json_is_refused(server: Running, kind: str, status: int) -> None:
    for path in PATHS:
        answer = httpx.post(server.address + path, content=b"{}", headers={**HEADERS, "Content-Type": kind})
        assert answer.status_code == status
        assert status != 415 or answer.json()["error"]["code"] == "unsupported_media_type"


def test_compressed_bodies_are_refused(server: Running) -> None:
    headers = {**HEADERS, "Content-Encoding": "gzip"}
    answer = httpx.post(f"{server.address}/v1/completions", content=b"\x1f\x8b", headers=headers)
    assert (answer.status_code, "gzip" in answer.text) == (415, True)


def test_too_many_values_are_refused_and_signs_in_texts_are_none() -> None:
    text = json.dumps({"prompt": '[{,\\"' * 100_000}).encode()
    assert understood(text, CompletionRequest).prompt == '[{,\\"' * 100_000
    for many in (b"[" * 60_000, b"[" + b"[]," * 60_000, b"{}," * 60_000, b"0," * 300_000, b"0:" * 101_000):
        with pytest.raises(RequestError, match="at most") as refusal:
            understood(b'{"metadata": {"\\\\": ' + many, CompletionRequest)
        assert refusal.value.code == "request_too_large"


def sent(server: Running, *parts: bytes) -> bytes:
    """What the server answers to bytes that it is sent, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        for part in parts:
            connection.sendall(part)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
        return answer


HEAD = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a key\r\n"


def test_a_length_that_is_too_great_is_refused_before_the_body(server: Running) -> None:
    answer = sent(server, HEAD + b"Content-Length: 99999999999\r\n\r\n{")
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code": "request_too_large"' in answer


def test_chunks_are_a_body_and_too_many_are_refused(server: Running) -> None:
    chunked = HEAD + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    whole = b'2\r\n{"\r\n5;x=y\r\nn":1}\r\n0\r\n\r\n'
    assert b"prompt" in sent(server, chunked, whole)
    assert sent(server, chunked, b"8000\r\n" + b" " * 0x8000 + b"\r\n", b"8000\r\n" + b" " * 0x8000).startswith(
        b"HTTP/1.1 413 "
    )
    assert sent(server, chunked, b"not a length\r\n").startswith((b"HTTP/1.1 400", b""))


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [(b"application/json", 413, "request_too_large"), (b"text/plain", 415, "unsupported_media_type")],
)
def test_who_sends_all_before_reading_gets_the_refusal(
    server: Running, kind: bytes, status: int, code: str, chunked: bool
) -> None:
    """A connection that was closed with something unread is reset, and the answer is lost with it."""
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 500000"
    head = HEAD + b"Connection: close\r\nContent-Type: " + kind + b"\r\n" + length + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(head)
        for _ in range(5):
            connection.sendall((b"186A0\r\n%b\r\n" if chunked else b"%b") % (b" " * 100_000))
            select.select([connection], [], [], 0.1)  # where it is refused at once, that is now
        connection.sendall(b"0\r\n\r\n" if chunked else b"")
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert f'"code": "{code}"'.encode() in answer


def test_nothing_is_read_of_a_refused_body_that_waits_for_leave(server: Running) -> None:
    length = b"Content-Length: 500000\r\nExpect: 100-continue\r\n\r\n"
    assert sent(server, HEAD + length).startswith(b"HTTP/1.1 413 ")


def bodies(**settings: Any) -> Bodies:
    return Bodies(ServerSettings(**settings), Preparer(1, 8))


def request_of(*parts: bytes, then: float = 0.0, headers: Any = ()) -> Request:
    """A request whose parts come one after the other, and then nothing for so many seconds."""
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]

    async def receive() -> Any:
        if messages:
            return messages.pop(0)
        await asyncio.sleep(then)
        return {"type": "http.request", "body": b"", "more_body": False}

    return Request({"type": "http", "method": "POST", "headers": list(headers)}, receive)


def test_a_body_that_does_not_come_to_its_end_is_refused() -> None:
    with pytest.raises(RequestError, match="not whole") as refusal:
        asyncio.run(bodies(read_seconds=0.01).read(request_of(b'{"inputs": ', then=60), NativeRequest))
    assert (refusal.value.status, refusal.value.code) == (408, "request_timeout")
    assert refusal.value.headers == {"Connection": "close"}


def test_bodies_have_room_together() -> None:
    reader = bodies(max_body_bytes=100)

    async def many() -> list[Any]:
        requests = [request_of(b" " * 100, then=0.05) for _ in range(80)]
        return await asyncio.gather(*(reader.read(one, NativeRequest) for one in requests), return_exceptions=True)

    statuses = [error.status for error in asyncio.run(many())]
    assert statuses.count(503) == 16
    assert statuses.count(400) == 64
    assert reader._held == 0


def sum_of(size: int) -> int:
    total = 0
    for number in range(size):
        total += number
    return total


def test_work_is_stopped_in_its_midst_and_what_follows_is_not() -> None:
    def forever() -> None:
        while True:
            pass

    for seconds in (0.0, 0.001, 0.01):
        with pytest.raises(TimeIsUp):
            within(seconds, forever, [__file__])
    for size in range(0, 6000, 20):  # the time is up about when the work ends
        with suppress(TimeIsUp):
            assert within(0.0002, partial(sum_of, size), [__file__]) == sum(range(size))
    assert within(60.0, partial(sum_of, 50), [__file__]) == 1225


def test_a_time_limit_leaves_no_trace_function() -> None:
    before = sys.gettrace()
    with suppress(TimeIsUp):
        within(0.0, partial(sum_of, 50), [__file__])
    assert sys.gettrace() is before


def test_a_pool_that_is_full_says_so() -> None:
    preparer, go = Preparer(1, 2), threading.Event()

    async def fill() -> None:
        tasks = [asyncio.ensure_future(preparer.run(go.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="too many"):
            await preparer.run(go.wait)
        go.set()
        assert await asyncio.gather(*tasks) == [True, True]
        assert await preparer.run(lambda: 7) == 7

    asyncio.run(fill())
    preparer.close()


def test_requests_of_every_kind_are_read() -> None:
    for kind in (ChatRequest, CompletionRequest, NativeRequest):
        with pytest.raises(RequestError, match=r"messages|prompt|inputs"):
            asyncio.run(bodies().read(request_of(b"{}"), kind))
