"""Types whose values JSON writes as strings: dates and times, UUIDs, paths, bytes, addresses.

In: a type. Out: its strings as a pattern, and what makes a value of one and one of a value. The patterns have what the
type takes and no more: no year 0000, no leap second, at most microseconds.

Source: RFC 3339 for dates and times, ISO 8601 for durations, RFC 4648 for bytes.
"""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pdacon.frontends.json_schema import PATTERNS
from pdacon.frontends.types import addresses

_DATE = PATTERNS["date"]
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?"
_OFFSET = r"(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_DURATION = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?")
_NETWORKS: dict[Any, Callable[[], str]] = {
    ipaddress.IPv4Network: addresses.network_4,
    ipaddress.IPv6Network: addresses.network_6,
    ipaddress.IPv4Interface: lambda: addresses.INTERFACE_4,
    ipaddress.IPv6Interface: lambda: addresses.INTERFACE_6,
}


_WORDS = {
    "datetime": "date and time", "timedelta": "duration", "IPv4Address": "IPv4 address", "IPv6Address": "IPv6 address",
    "bytes": "string of bytes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the values of a type are written as strings.

    Attributes
    ----------
    pattern : str
        As ECMA-262 writes it; it matches the whole string.
    head : str
        What Python calls with the string to make a value.
    read : callable
        A value of a string; ValueError if it stands for none.
    write : callable
        The string of a value; ValueError if none stands for it.
    """

    kind: Any
    pattern: str
    head: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]

    @property
    def words(self) -> str:
        """What it is called where a text is no such value."""
        name: str = self.kind.__name__
        return _WORDS.get(name, name)

    @property
    def whole(self) -> str:
        """The pattern with its anchors."""
        return f"^(?:{self.pattern})$"


def spelling_of(kind: Any, python: bool, aware: bool | None) -> Spelling | None:
    """How a type's values are written as strings; None if they are not. ``aware``: only with an offset, or without."""
    if kind is dt.date:
        return Spelling(kind, _DATE, "date.fromisoformat", dt.date.fromisoformat, _of_date)
    offset = {None: f"{_OFFSET}?", True: _OFFSET, False: ""}[aware]
    if kind is dt.datetime:
        pattern = f"{_DATE}T{_CLOCK}{offset}"
        return Spelling(kind, pattern, "datetime.fromisoformat", _datetime, _of_clock)
    if kind is dt.time:
        return Spelling(kind, f"{_CLOCK}{offset}", "time.fromisoformat", _time, _of_clock)
    if kind is dt.timedelta:
        days, clock = r"\d{1,8}D", r"T(?=\d)(?:\d{1,9}H)?(?:\d{1,9}M)?(?:\d{1,9}(?:\.\d{1,6})?S)?"
        pattern = f"-?P(?:{days}(?:{clock})?|{clock})"
        return Spelling(kind, pattern, "timedelta", _duration, _of_duration)
    if kind is uuid.UUID:
        return Spelling(kind, PATTERNS["uuid"], "UUID", uuid.UUID, str)
    if kind in (pathlib.Path, pathlib.PurePath, pathlib.PurePosixPath, pathlib.PosixPath):
        return Spelling(kind, r"[^\u0000]+", kind.__name__, kind, _of_path)
    if kind in (ipaddress.IPv4Address, ipaddress.IPv6Address):
        version = "ipv4" if kind is ipaddress.IPv4Address else "ipv6"
        return Spelling(kind, PATTERNS[version], kind.__name__, kind, str)
    if kind in _NETWORKS:
        return Spelling(kind, _NETWORKS[kind](), kind.__name__, kind, str)
    if kind in (bytes, bytearray):
        return _bytes(kind, python)
    return None


def days_until(last: dt.date) -> str:
    """A pattern of what begins with a day, written as ISO 8601 has it, up to one: such texts are in order."""
    return _days(last, up=False)


def days_from(first: dt.date) -> str:
    """The same from one day on."""
    return _days(first, up=True)


def _days(bound: dt.date, *, up: bool) -> str:
    text = bound.isoformat()
    beginnings = [text]
    for place, digit in enumerate(text):
        if digit.isdigit() and digit != ("9" if up else "0"):
            span = f"{int(digit) + 1}-9" if up else f"0-{int(digit) - 1}"
            beginnings.append(f"{text[:place]}[{span}]")
    return f"^(?:{'|'.join(beginnings)})"


def counted_base64(least: int, most: int | None) -> str:
    """A pattern of Base64 of so many bytes."""
    letter, ends = "[A-Za-z0-9+/]", ("", "[A-Za-z0-9+/][AQgw]==", "[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=")
    options = []
    for rest, end in enumerate(ends):
        low, high = max(0, -(-(least - rest) // 3)), None if most is None else (most - rest) // 3
        if high is None or low <= high:
            options.append(f"(?:{letter}{{4}}){{{low},{'' if high is None else high}}}{end}")
    return f"^(?:{'|'.join(options)})$" if options else "^(?!)$"


def _bytes(kind: Any, python: bool) -> Spelling:
    if python:
        return Spelling(kind, r"(?:[0-9a-f]{2})*", f"{kind.__name__}.fromhex", kind.fromhex, lambda value: value.hex())
    whole = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"

    def read(text: str) -> Any:
        return kind(base64.b64decode(text, validate=True))

    return Spelling(kind, whole, kind.__name__, read, lambda value: base64.b64encode(value).decode())


def _datetime(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(_iso(text))


def _time(text: str) -> dt.time:
    return dt.time.fromisoformat(_iso(text))


def _iso(text: str) -> str:
    """The same as Python 3.10 reads it: an offset in place of Z, and six digits of a second."""
    text = f"{text[:-1]}+00:00" if text.endswith("Z") else text
    return re.sub(r"\.(\d{1,6})", lambda match: f".{match[1]:0<6}", text)


def _of_date(value: dt.date) -> str:
    if isinstance(value, dt.datetime):
        raise ValueError("it is a datetime, not a date")
    return value.isoformat()


def _of_clock(value: dt.datetime | dt.time) -> str:
    text = value.isoformat()
    if re.search(r"[+-]\d\d:\d\d:\d\d(?:\.\d+)?$", text):
        raise ValueError("its offset has seconds")
    return text


def _of_path(value: pathlib.PurePath) -> str:
    if "\0" in str(value):
        raise ValueError("it has a NUL character")
    return str(value)


def _duration(text: str) -> dt.timedelta:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError("it is no duration")
    sign, days, hours, minutes, seconds, fraction = match.groups(default="")
    value = dt.timedelta(
        days=int(days or 0),
        hours=int(hours or 0),
        minutes=int(minutes or 0),
        seconds=int(seconds or 0),
        microseconds=int(f"{fraction:0<6}"),
    )
    return -value if sign else value


def _of_duration(value: dt.timedelta) -> str:
    sign, value = ("-", -value) if value < dt.timedelta() else ("", value)
    if value.days >= 10**8:
        raise ValueError("it has more than 99,999,999 days")
    hours, rest = divmod(value.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{value.microseconds:06d}" if value.microseconds else ""
    parts = [f"{hours}H" if hours else "", f"{minutes}M" if minutes else "", f"{seconds}{fraction}S"]
    parts[2] = parts[2] if seconds or fraction else ""
    clock = "".join(parts)
    days = f"{value.days}D" if value.days else ""
    return f"{sign}P{days}{f'T{clock}' if clock else ''}" if days or clock else "PT0S"
