"""API keys: who may ask."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from pdacon.serving.failures import RequestError


def require_key(keys: Sequence[str], headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Refuse a request that does not give one of the keys as ``Authorization: Bearer KEY``, or as ``x-api-key: KEY``.

    ``keys``: if there are none, everybody may ask. ``headers``: of the request, as ASGI has them. They are compared as
    bytes, so that a key may have any character.
    Raises RequestError: 401. The scheme is compared without regard to case (RFC 9110, section 11.1).
    """
    if not keys:
        return
    given = [value for name, value in headers if name.lower() == b"authorization"]
    if not given:  # as Anthropic's clients send it
        given = [b"Bearer " + value for name, value in headers if name.lower() == b"x-api-key"]
    scheme, _, key = (given[0] if len(given) == 1 else b"").partition(b" ")
    # Each key is compared, so that the time does not say which one it is like.
    equal = [hmac.compare_digest(key.strip(), one.encode()) for one in keys]
    if scheme.lower() != b"bearer" or not max(equal):
        raise RequestError(
            401,
            "the API key is missing or wrong; send it as: Authorization: Bearer KEY",
            headers={"WWW-Authenticate": "Bearer"},
        )
