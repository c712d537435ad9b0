"""Reads the body of a request: how long it may be and take, that it is JSON, and what it says.

JSON is read strictly (RFC 8259): no ``NaN``, no half of a surrogate pair, no name twice in an object. What a lenient
reader makes of these, one of two schemas of the same name among it, is not what its client asks for.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import math
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import Request

from pdacon.serving.advice import cut
from pdacon.serving.failures import RequestError, of_validation
from pdacon.serving.preparing import Preparer
from pdacon.serving.settings import ServerSettings

M = TypeVar("M", bound=BaseModel)
_SHORT = 16 << 10  # bytes that are read within a millisecond, whatever they are
# What is counted, by which signs, and up to how many: the reader holds Python's lock for some 20 ms then.
_MOST = (
    ("values", (b",",), 250_000),
    ("members of objects", (b":",), 100_000),
    ("arrays and objects", (b"[", b"{"), 50_000),
)
_LONGEST_NAME, _LONGEST_PLACE = 100, 200  # of what an error quotes
_AT_ONCE = 64  # bodies of the greatest length for which there is memory
_READ_ON = 16  # times the greatest length: what is read, and thrown away, of a body that is refused
_PAUSE = 1.0  # seconds that are waited for its next part
_CLOSE = {"Connection": "close"}  # what is left of the body is not read

_REASONS = (
    ("recursion limit exceeded", "it is nested more than 200 deep"),
    ("number out of range", "a number has more than 4,300 digits"),
    ("hex escape", "half of a surrogate pair stands alone"),
    ("lone", "half of a surrogate pair stands alone"),
    ("invalid unicode code point", "it is not UTF-8"),
)


class Bodies:
    """Reads bodies, of all requests of one server; safe to use from one event loop.

    ``preparer``: reads JSON that is long.
    """

    def __init__(self, settings: ServerSettings, preparer: Preparer) -> None:
        self._settings = settings
        self._preparer = preparer
        self._held = 0  # bytes of bodies that are not whole yet

    async def read(self, request: Request, kind: type[M]) -> M:
        """What a request says.

        Raises ClientDisconnect. RequestError: 400, 408, 413, 415 or 503, with the reason.
        """
        seconds = self._settings.read_seconds
        try:
            body = await asyncio.wait_for(self._whole(request), seconds)
        except asyncio.TimeoutError as error:
            raise RequestError(408, f"the request was not whole after {seconds:g} seconds", headers=_CLOSE) from error
        if len(body) <= _SHORT:
            return understood(body, kind)
        return await self._preparer.run(lambda: understood(body, kind))

    async def _whole(self, request: Request) -> bytes:
        """The bytes of a body.

        Many clients send all of a request before they read, and a connection that is closed before is an error to them,
        without its reason. So what is refused is read on to its end, if that is near, and not kept.

        Raises RequestError: it is no JSON by its head, or too long; if its client waits for leave to send it, or says
        beforehand that it is far too long, nothing of it is read. Or too much is being read.
        """
        most = self._settings.max_body_bytes
        announced = request.headers.get("content-length", "")
        length = int(announced[:20]) if announced.isdecimal() else 0
        refusal = _refused_by_head(request) or (_too_long(most) if length > most else None)
        if refusal is not None and (length > _READ_ON * most or "expect" in request.headers):
            raise refusal
        body = bytearray()
        parts = request.stream()
        try:
            while refusal is None:
                part = await anext(parts, None)
                if part is None:
                    return bytes(body)
                body += part
                self._held += len(part)
                refusal = self._refused(len(body))
        finally:
            self._held -= len(body)
        await _read_on(parts, _READ_ON * most)
        raise refusal

    def _refused(self, length: int) -> RequestError | None:
        """Why a body of which so many bytes were read is not read further."""
        most = self._settings.max_body_bytes
        if length > most:
            return _too_long(most)
        if self._held > _AT_ONCE * most:
            return RequestError(503, "too many requests are being read; try again soon", headers=_CLOSE)
        return None


def understood(body: bytes, kind: type[M]) -> M:
    """What the bytes of a request say.

    Raises RequestError.
    """
    body = body.removeprefix(codecs.BOM_UTF8)
    _require_few_values(body)
    is_large = False

    def number(text: str) -> float:
        nonlocal is_large
        value = float(text)
        is_large = is_large or math.isinf(value)
        return value

    try:
        from_json(body, allow_inf_nan=False)  # says where the text ends to be JSON
        value = json.loads(body, object_pairs_hook=_without_repeats, parse_float=number)
    except ValueError as error:
        reason = next((reason for word, reason in _REASONS if word in str(error)), None)
        place = str(error)[str(error).rfind(" at line ") :] if " at line " in str(error) else ""
        raise RequestError(400, f"the request is no JSON: {f'{reason}{place}' if reason else error}") from error
    if not isinstance(value, dict):
        raise RequestError(400, "the request is JSON, but no object")
    if is_large:
        _require_finite(value)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise of_validation(error) from error


async def _read_on(parts: AsyncGenerator[bytes, None], most: int) -> None:
    """Read what comes without longer pauses, up to so many bytes."""
    with suppress(asyncio.TimeoutError):
        while most > 0 and (part := await asyncio.wait_for(anext(parts, None), _PAUSE)) is not None:
            most -= len(part)


def _too_long(most: int) -> RequestError:
    return RequestError(413, f"the request has more than {most:,} bytes", headers=_CLOSE)


def _refused_by_head(request: Request) -> RequestError | None:
    """The refusal of what says of itself that it is something else, as what a form of another site sends does."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        return RequestError(
            415, f"the request is {kind!r:.80}; send it as Content-Type: application/json", headers=_CLOSE
        )
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        return RequestError(415, f"Content-Encoding is {coding!r:.80}; send the request as it is", headers=_CLOSE)
    return None


def _require_few_values(body: bytes) -> None:
    """Refuse JSON of so many values that reading it would hold Python's lock, and with it the event loop.

    Raises RequestError.
    """
    if all(sum(map(body.count, signs)) <= most for _, signs, most in _MOST):
        return
    # The signs within strings do not count: a prompt may be a long text with many of them.
    text = np.frombuffer(body.replace(rb"\\", b"").replace(rb"\"", b""), np.uint8)
    outside = ~np.logical_xor.accumulate(text == ord('"'))
    for what, signs, most in _MOST:
        number = sum(np.count_nonzero(outside & (text == ord(sign))) for sign in signs)
        if number > most:
            raise RequestError(413, f"the request has {number:,} {what}; at most {most:,} are taken")


def _require_finite(value: Any) -> None:
    """Refuse a number beyond doubles: it is read as one that is infinite, which JSON does not have.

    Raises RequestError.
    """
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, dict | list):
            inner = part.items() if isinstance(part, dict) else enumerate(part)
            before = f"{place}." if place else ""
            waiting += [(cut(f"{before}{cut(str(name), _LONGEST_NAME)}", _LONGEST_PLACE), one) for name, one in inner]
        elif isinstance(part, float) and math.isinf(part):
            raise RequestError(400, f"{place}: the number is beyond a double's range", param=place)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the name {name!r:.80} twice")
    return members
