"""What goes wrong with a request, as its client is told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

from pdacon.base.quoting import did_you_mean
from pdacon.errors import SITE, LimitExceededError, PdaconError, UnsupportedSchemaError, UnsupportedTypeError
from pdacon.serving.advice import LONGEST, cut, described
from pdacon.serving.fields import REFUSED

RETRY_SECONDS = 1
_LONGEST_PARAM = 500
_LONGEST_PART = 120  # of a name in it

# Pydantic's kinds of errors in words of JSON; its own are those of Python.
_WORDINGS = MappingProxyType(
    {
        "missing": "it is missing",
        "none_required": "leave it out: nothing is kept here, so that what came before is given again",
        **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "give an object"),
        "list_type": "give an array",
        "string_type": "give a text",
        **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "give a whole number"),
        **dict.fromkeys(("float_type", "float_parsing"), "give a number"),
        **dict.fromkeys(("bool_type", "bool_parsing"), "give true or false"),
        "too_short": "give at least {min_length}",
        "literal_error": "give {expected}",
        "greater_than": "give a number that is greater than {gt}",
        "greater_than_equal": "give a number of at least {ge}",
        "less_than": "give a number that is less than {lt}",
        "less_than_equal": "give a number of at most {le}",
    }
)

# The word for programs where the refusal has none of its own.
_CODES = MappingProxyType(
    {
        400: "bad_request",
        401: "invalid_api_key",
        404: "not_found",
        405: "method_not_allowed",
        408: "request_timeout",
        413: "request_too_large",
        415: "unsupported_media_type",
        500: "failed",
        503: "busy",
    }
)
_TYPES = MappingProxyType({401: "authentication_error", 404: "not_found_error"})


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
    code : str
        A word for programs; the status has one where no other is given.
    page : str or None
        The page about it: that of an error of the library. None: what the server takes.
    headers : mapping of str to str
        What the response has beside its own.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        page: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = cut(message, LONGEST)
        self.param = None if param is None else cut(param, _LONGEST_PARAM)
        self.code = _CODES.get(status, "failed" if status >= 500 else "bad_request") if code is None else code
        self.page = page
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """What is sent: OpenAI's error object, which ends with where more is read, on this server or on the site."""
        kind = _TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        see = "/docs" if self.page is None else f"{SITE}findings/{self.page}.html" if SITE else f"/docs/{self.page}"
        error = {"message": self.message, "type": kind, "param": self.param, "code": self.code, "see": see}
        return {"error": error}

    def response(self, body: Mapping[str, Any] | None = None) -> Response:
        """The response, with when to come again where there is no room now. ``body``: in place of OpenAI's error.

        It is written in ASCII, since a message may quote what has no UTF-8.
        """
        headers = {"Retry-After": str(RETRY_SECONDS)} if self.status == 503 else {}
        return Response(
            json.dumps(self.body() if body is None else body), self.status, headers | self.headers, "application/json"
        )


def stopping() -> RequestError:
    """What is said to a request that the server has no time left for."""
    return RequestError(503, "the server is stopping; ask again soon, or another one", code="stopping")


def unexpected() -> RequestError:
    """What is said where the server is at fault: nothing of what went wrong, which is in the log."""
    return RequestError(500, "the server failed; its log says why", code="failed")


def malformed(param: str, wanted: str) -> RequestError:
    """What is said of a part of a request that is none."""
    return RequestError(400, f"{param} must be {wanted}", param=param, code="bad_request")


def renamed(error: RequestError, names: Sequence[tuple[str, str]]) -> RequestError:
    """An error about a request as that of a chat, with the names of the interface that it came by.

    ``names``: regular expressions of the beginnings of chats' names, and what stands there instead; the first counts.
    """
    if error.param is None:
        return error
    for pattern, name in names:
        param, count = re.subn(rf"\A{pattern}(?![^./])", name, error.param)
        if count:
            rest = error.message.removeprefix(error.param)
            message = error.message if rest == error.message else f"{param}{rest}"
            return RequestError(
                error.status, message, param=param, code=error.code, page=error.page, headers=error.headers
            )
    return error


def only(given: Mapping[str, Any], known: Sequence[str], param: str) -> None:
    """Refuse members that nobody knows: a misspelled one would be left out in silence."""
    for key in given:
        if key not in known:
            near = did_you_mean(key[:60], known)
            listed = f"there is no {key!r:.80}; {near}there are {', '.join(known)}"
            raise RequestError(400, f"{param}: {listed}", param=param)


def of_grammar(error: PdaconError, param: str, tools: Mapping[str, str] = MappingProxyType({})) -> RequestError:
    """A grammar or schema that cannot be compiled: 400 with the place and the reason.

    ``tools``: by the names of tools, the parts of the request that describe their arguments.
    """
    message, code = described(error), "bad_grammar"
    if isinstance(error, UnsupportedTypeError):
        # A path has the name of the tool, or that of its definition, in which there are no hyphens.
        spelled = [(name, name) for name in tools] + [(name, re.sub(r"\W", "_", name)) for name in tools]
        tool = next((name for name, text in spelled if re.match(rf"{re.escape(text)}(?![\w-])", error.path)), None)
        within = re.sub(r"\A#(?:/\$defs/[^/]+)?", "", error.pointer)  # the tool's schema is a definition of all
        place = param if tool is None else f"{tools[tool]}{within}"
        return RequestError(400, message, param=place, code="bad_schema", page=error.page)
    if isinstance(error, UnsupportedSchemaError):
        return RequestError(
            400, message, param=f"{param}{error.pointer.removeprefix('#')}", code="bad_schema", page=error.page
        )
    if isinstance(error, LimitExceededError):
        code = "grammar_too_large"
    return RequestError(400, message, param=param, code=code, page=error.page)


def of_validation(error: ValidationError) -> RequestError:
    """A request whose parts are not what they have to be: the first of them."""
    first = error.errors(include_url=False, include_input=False)[0]
    parts = [str(part) for part in first["loc"] if not _is_branch(part)]
    if first["type"] == REFUSED:
        parts.append(first["ctx"]["field"])
    place = cut(".".join(cut(part, _LONGEST_PART) for part in parts), _LONGEST_PARAM)
    wording = _WORDINGS.get(first["type"])
    reason = wording.format(**first.get("ctx", {})) if wording else first["msg"].removeprefix("Value error, ")
    named = not place or reason.startswith(f"{place} ")  # some reasons say themselves what they are about
    return RequestError(400, reason if named else f"{place}: {reason}", param=place or None)


def _is_branch(part: int | str) -> bool:
    """Whether a part of the place is pydantic's word for a branch of a union, and no name of the request."""
    return isinstance(part, str) and re.fullmatch(r"[a-z_0-9]+", part) is None
