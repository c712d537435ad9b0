"""Pydantic's types whose values JSON writes as strings: which strings are taken.

In: a class of Pydantic's, known by its name, so that Pydantic need not be installed. Out: a JSON Schema of strings each
of which the class takes: all of them, or those that docs/types.md describes. What only narrows a type of Python's is
that type with `Metadata`.

Source: the validators of these classes, https://url.spec.whatwg.org for URLs, RFC 5321 and RFC 6761 for e-mail.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from pdacon.frontends.json_schema import PATTERNS
from pdacon.frontends.types import addresses, dates
from pdacon.frontends.types.constraints import Metadata

_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_LABEL = r"(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_RESERVED = ("arpa", "invalid", "local", "localhost", "onion", "test")
"""Top-level domains that email-validator refuses."""


def _email(ending: str) -> str:
    """Addresses of ASCII, with at most 63 characters after the ``@``, so that no label has to be counted."""
    reserved = "|".join("".join(f"[{letter.upper()}{letter}]" for letter in name) for name in _RESERVED)
    top = rf"(?!..--)(?!(?:{reserved}){ending})[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z])?"
    return rf"(?=[^@]{{1,64}}@[^@>]{{3,63}}{ending}){_ATEXT}+(?:\.{_ATEXT}+)*@(?:{_LABEL}\.)+{top}"


_WORD = r"[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+"
_NAMED_EMAIL = rf"(?:{_WORD}(?: {_WORD})* <{_email('>')}>|{_email('$')})"
_CHARACTER = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_USER = r"(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+"
_TOP = r"(?!..--)[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = rf"(?:(?:{_LABEL}\.)*{_TOP}|{PATTERNS['ipv4']}|\[{PATTERNS['ipv6']}\])"
_PORT = r"(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])"
_PLACE = rf"{_HOST}(?::{_PORT})?"
_PATH = rf"(?:/{_CHARACTER}*)*"
_ENDING = rf"(?:\?(?:{_CHARACTER}|[/?])*)?(?:#(?:{_CHARACTER}|[/?])*)?"
_OTHER_SCHEME = r"(?!file:)[a-z][a-z0-9+.-]*"
_UNITS = r"(?:[KMGTPE]i?)?(?:B|bit)"


def _base64(plus: str, slash: str, *, ascii_only: bool = False) -> str:
    """Base64 without spare bits, of any bytes or of texts of ASCII."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + plus + slash

    def having(no_bits: int) -> str:
        some = "".join(letter for value, letter in enumerate(letters) if not value & no_bits)
        return f"[{some}]".replace("-", r"\-")

    first, second, third = (0b100000, 0b001000, 0b000010) if ascii_only else (0, 0, 0)
    whole = having(first) + having(second) + having(third) + having(0)
    two = having(first) + having(second) + having(third | 0b11) + "="
    return f"(?:{whole})*(?:{having(first)}{having(second | 0b1111)}==|{two})?"


def _url(kind: Any, constraints: Any) -> dict[str, Any]:
    """URLs with ``//`` and a host of ASCII, or an address."""
    schemes = getattr(constraints, "allowed_schemes", None)
    several = any(base.__name__ == "_BaseMultiHostUrl" for base in kind.__mro__)
    place = rf"{_PLACE}(?:,{_PLACE})*" if several else _PLACE
    authority = rf"(?:{_USER}(?::{_USER})?@)?{place}"
    file_url = rf"file://(?:{_HOST})?/{_CHARACTER}*{_PATH}{_ENDING}"
    others = [scheme for scheme in schemes or () if scheme != "file"]
    named = "|".join(scheme.replace("+", r"\+").replace(".", r"\.") for scheme in others)
    patterns = [rf"(?:{named or _OTHER_SCHEME})://{authority}{_PATH}{_ENDING}"] if others or not schemes else []
    patterns += [file_url] if not others else []
    schema: dict[str, Any] = {"type": "string", "pattern": f"^(?:{'|'.join(patterns)})$"}
    most = getattr(constraints, "max_length", None)
    return schema if most is None else {**schema, "maxLength": most}


def _text(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


_STRINGS: dict[str, Callable[[], str]] = {
    "EmailStr": lambda: _email("$"),
    "NameEmail": lambda: _NAMED_EMAIL,
    "IPvAnyAddress": lambda: f"{PATTERNS['ipv4']}|{PATTERNS['ipv6']}",
    "IPvAnyInterface": lambda: f"{addresses.INTERFACE_4}|{addresses.INTERFACE_6}",
    "IPvAnyNetwork": lambda: f"{addresses.network_4()}|{addresses.network_6()}",
    "SecretStr": lambda: r"[^]*",
    "SecretBytes": lambda: r"[^]*",
}
_ENCODED = {"Base64Encoder": ("+", "/"), "Base64UrlEncoder": ("-", "_")}


def string_schema(kind: Any) -> dict[str, Any] | None:
    """Strings that a class of Pydantic's takes; None if that is not known."""
    if not str(getattr(kind, "__module__", "")).startswith("pydantic"):
        return None
    constraints = getattr(kind, "_constraints", None)
    if type(constraints).__name__ == "UrlConstraints":
        return _url(kind, constraints)
    if kind.__name__ == "PaymentCardNumber" and kind.__module__ == "pydantic.types":
        return {"type": "string", "format": "pdacon:payment-card-number"}
    if kind.__name__ == "ByteSize":
        return {"anyOf": [_text(rf"\d{{1,15}}(?:\.\d{{1,3}})? ?{_UNITS}"), {"type": "integer", "minimum": 0}]}
    pattern = _STRINGS.get(kind.__name__)
    return None if pattern is None else _text(pattern())


def beside_schema(hint: Any, item: Any) -> dict[str, Any] | None:
    """Strings that a type takes with what stands beside it, Base64 or what is asked of a URL; None if it is neither."""
    kind = type(item).__name__
    if kind == "UrlConstraints" and isinstance(hint, type):
        return _url(hint, item)
    letters = _ENCODED.get(getattr(getattr(item, "encoder", None), "__name__", ""))
    if letters is None:
        return None
    return _text(_base64(*letters, ascii_only=kind == "EncodedStr"))


def narrowed(kind: Any) -> tuple[Any, Metadata] | None:
    """The type of Python's that a class of Pydantic's narrows, and how; None if it is no such class."""
    if getattr(kind, "__module__", None) != "pydantic.types" or not hasattr(kind, "__name__"):
        return None
    name, three_days = kind.__name__, dt.timedelta(3)
    today = dt.date.today()
    kinds: dict[str, tuple[Any, Metadata]] = {
        "JsonValue": (Any, Metadata()),
        "AwareDatetime": (dt.datetime, Metadata(aware=True)),
        "NaiveDatetime": (dt.datetime, Metadata(aware=False)),
        "PastDate": (dt.date, Metadata(lt=today)),
        "FutureDate": (dt.date, Metadata(gt=today)),
        # Offsets and the zone of the process move an instant by less than two days.
        "PastDatetime": (dt.datetime, Metadata(patterns=(dates.days_until(today - three_days),))),
        "FutureDatetime": (dt.datetime, Metadata(patterns=(dates.days_from(today + three_days),))),
    }
    return kinds.get(name)
