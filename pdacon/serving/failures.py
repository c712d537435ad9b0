"""What goes wrong with a request, as its client is told."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError
from starlette.responses import JSONResponse

from pdacon.errors import LimitExceededError, PdaconError, UnsupportedSchemaError

RETRY_SECONDS = 1


class RequestError(Exception):
    """A request that is refused: OpenAI's shape of an error.

    Attributes
    ----------
    status : int
        The HTTP status.
    message : str
        One clear line.
    param : str or None
        Which part of the request it is about.
    code : str or None
        A word for programs.
    """

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code

    def body(self) -> dict[str, Any]:
        """What is sent: OpenAI's error object."""
        kinds = {401: "authentication_error", 404: "not_found_error"}
        kind = kinds.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> JSONResponse:
        """The response, with when to come again where there is no room now."""
        headers = {"Retry-After": str(RETRY_SECONDS)} if self.status == 503 else None
        return JSONResponse(self.body(), self.status, headers)


def of_grammar(error: PdaconError, param: str) -> RequestError:
    """A grammar or schema that cannot be compiled: 400 with the place and the reason."""
    if isinstance(error, UnsupportedSchemaError):
        return RequestError(400, str(error), param=f"{param}{error.pointer.removeprefix('#')}", code="bad_schema")
    if isinstance(error, LimitExceededError):
        return RequestError(400, str(error), param=param, code="grammar_too_large")
    return RequestError(400, str(error), param=param, code="bad_grammar")


def of_validation(error: ValidationError) -> RequestError:
    """A request whose parts are not what they have to be: the first of them."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"] if not _is_branch(part)) or None
    reason = "there is no such field" if first["type"] == "extra_forbidden" else first["msg"]
    return RequestError(400, f"{place}: {reason}" if place else reason, param=place, code="bad_request")


def _is_branch(part: int | str) -> bool:
    """Whether a part of the place is pydantic's word for a branch of a union, and no name of the request."""
    return isinstance(part, str) and re.fullmatch(r"[a-z_0-9]+", part) is None
