"""The values of ``format``, as patterns that match the whole string.

Source: JSON Schema Validation, draft 2020-12, section 7.3, and what it names: RFC 3339 (dates and times), RFC 5321 and
RFC 6531 (e-mail), RFC 1123 (host names), RFC 2673 and RFC 4291 (addresses), RFC 3986 and RFC 3987 (URIs and IRIs),
RFC 6570 with its erratum 6937 (templates), RFC 4122 (UUIDs), RFC 6901 (pointers).
"""

from __future__ import annotations

from pdacon.frontends.json_schema.regex_format import REGEX

_LEAP = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = (
    r"(?:(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    rf"|02-(?:0[1-9]|1\d|2[0-8]))|(?!0000){_LEAP}-02-29)"
)
_OFFSET = r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"


def _leap_seconds() -> str:
    """Times of day that are 23:59:60 in UTC, by offsets of whole and half hours.

    With offsets of any minutes the automaton would have to know the minute of the day: 11,049 states in place of 507.
    """
    offsets: dict[int, list[str]] = {23 * 60 + 59: ["[Zz]"]}
    for minutes in range(0, 24 * 60, 30):
        for sign, local in (("[+]", minutes - 1), ("-", 23 * 60 + 59 - minutes)):
            offsets.setdefault(local % (24 * 60), []).append(f"{sign}{minutes // 60:02}:{minutes % 60:02}")
    return "|".join(
        rf"{local // 60:02}:{local % 60:02}:60(?:\.\d+)?(?:{'|'.join(some)})" for local, some in offsets.items()
    )


_TIME = rf"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?{_OFFSET}|{_leap_seconds()})"

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = "|".join(  # at most 253 characters in all: some long labels, or more of shorter ones
    rf"{label}(?:\.{label}){{0,{more}}}"
    for label, more in (
        (rf"(?!..--){_LABEL}", 2),
        (r"(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,29}[A-Za-z0-9])?", 6),
        (r"(?!..--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,13}[A-Za-z0-9])?", 14),
    )
)
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = r"[0-9A-Fa-f]{1,4}"
_TAIL = rf"(?:{_GROUP}:{_GROUP}|{_IPV4})"
_IPV6 = (
    rf"(?:(?:{_GROUP}:){{6}}{_TAIL}|::(?:{_GROUP}:){{5}}{_TAIL}|(?:{_GROUP})?::(?:{_GROUP}:){{4}}{_TAIL}"
    rf"|(?:(?:{_GROUP}:){{0,1}}{_GROUP})?::(?:{_GROUP}:){{3}}{_TAIL}"
    rf"|(?:(?:{_GROUP}:){{0,2}}{_GROUP})?::(?:{_GROUP}:){{2}}{_TAIL}"
    rf"|(?:(?:{_GROUP}:){{0,3}}{_GROUP})?::{_GROUP}:{_TAIL}|(?:(?:{_GROUP}:){{0,4}}{_GROUP})?::{_TAIL}"
    rf"|(?:(?:{_GROUP}:){{0,5}}{_GROUP})?::{_GROUP}|(?:(?:{_GROUP}:){{0,6}}{_GROUP})?::)"
)
_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_BEYOND_ASCII = r"\u0080-\ud7ff\ue000-\u{10ffff}"
_IATEXT = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~\-{_BEYOND_ASCII}]"
_ILETTER = rf"[A-Za-z0-9{_BEYOND_ASCII}]"
_ILABEL = rf"{_ILETTER}(?:[A-Za-z0-9\-{_BEYOND_ASCII}]*{_ILETTER})?"


def _uri(beyond: str, private: str) -> dict[str, str]:
    """The parts of RFC 3986, with further characters where RFC 3987 allows them: ``private`` in queries only."""
    escape = r"%[0-9A-Fa-f]{2}"
    char = rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@{beyond}-]|{escape})"
    first = rf"(?:[A-Za-z0-9._~!$&'()*+,;=@{beyond}-]|{escape})"  # without a colon
    name = rf"(?:[A-Za-z0-9._~!$&'()*+,;={beyond}-]|{escape})*"
    user = rf"(?:[A-Za-z0-9._~!$&'()*+,;=:{beyond}-]|{escape})*@"
    literal = rf"\[(?:{_IPV6}|[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\]"
    authority = rf"(?:{user})?(?:{literal}|{name})(?::\d*)?"
    absolute = rf"/(?:{char}+(?:/{char}*)*)?"
    below = rf"//{authority}(?:/{char}*)*"
    ending = rf"(?:\?(?:{char}|[/?{private}])*)?(?:#(?:{char}|[/?])*)?"
    scheme, paths = r"[A-Za-z][A-Za-z0-9+.-]*:", rf"{below}|{absolute}|"
    with_scheme, without = rf"{char}+(?:/{char}*)*", rf"{first}+(?:/{char}*)*"
    return {
        "whole": rf"{scheme}(?:{paths}|{with_scheme}){ending}",
        "reference": rf"(?:(?:{scheme})?(?:{paths})|{scheme}{with_scheme}|{without}){ending}",
    }


_UCSCHAR = r"\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\u{10000}-\u{efffd}"
_NONCHARACTERS = "".join(rf"\u{{{plane:x}fffe}}-\u{{{plane:x}ffff}}" for plane in range(1, 0xE))
_ASSIGNED = rf"(?![^]*[{_NONCHARACTERS}\u{{e0000}}-\u{{e0fff}}])"  # said once, as it is true of the whole text
_PRIVATE = r"\ue000-\uf8ff\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}"
_PLAIN = _uri("", "")
_INTERNATIONAL = {name: f"{_ASSIGNED}(?:{pattern})" for name, pattern in _uri(_UCSCHAR, _PRIVATE).items()}
_VARIABLE = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?:\.(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+)*(?:\*|:[1-9]\d{0,3})?"
_POINTER = r"(?:/(?:[^/~]|~[01])*)*"
_DAYS = r"(?:\d+D|\d+M(?:\d+D)?|\d+Y(?:\d+M(?:\d+D)?)?)"
_CLOCK = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"

PATTERNS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": rf"{_DATE}[Tt]{_TIME}",
    "duration": rf"P(?:{_DAYS}(?:{_CLOCK})?|{_CLOCK}|\d+W)",
    "email": rf'(?:{_ATEXT}+(?:\.{_ATEXT}+)*|"(?:[^"\\\u0000-\u001f\u007f-\u{{10ffff}}]|\\[\u0020-\u007e])*")@'
    rf"(?:{_LABEL}(?:\.{_LABEL})*|\[(?:{_IPV4}|IPv6:{_IPV6})\])",
    "hostname": _HOST,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uuid": r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "uri": _PLAIN["whole"],
    "uri-reference": _PLAIN["reference"],
    "iri": _INTERNATIONAL["whole"],
    "iri-reference": _INTERNATIONAL["reference"],
    "uri-template": rf"{_ASSIGNED}(?:[!#$&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~{_UCSCHAR}{_PRIVATE}]|%[0-9A-Fa-f]{{2}}|"
    rf"\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}})*",
    "regex": REGEX,
    "json-pointer": _POINTER,
    "relative-json-pointer": rf"(?:0|[1-9]\d*)(?:#|{_POINTER})",
    "idn-email": rf'(?:{_IATEXT}+(?:\.{_IATEXT}+)*|"(?:[^"\\\u0000-\u001f\u007f]|\\[\u0020-\u007e])*")@'
    rf"(?:{_ILABEL}(?:\.{_ILABEL})*|\[(?:{_IPV4}|IPv6:{_IPV6})\])",
}

SINCE = {
    **dict.fromkeys(("json-pointer", "uri-reference", "uri-template"), 6),
    **dict.fromkeys(
        ("date", "idn-email", "idn-hostname", "iri", "iri-reference", "regex", "relative-json-pointer", "time"), 7
    ),
    **dict.fromkeys(("duration", "uuid"), 2019),
}
"""The first draft that has a format, where it is not the fourth."""

CARD_NUMBER = "pdacon:payment-card-number"
PATTERNS[CARD_NUMBER] = r"(?!)payment card number"
"""Not a format of JSON Schema, but of the types of Python that go through one. No pattern has its strings: this one,
which matches nothing, stands for an automaton of its own (``card_numbers``)."""

NAMES = {pattern: name for name, pattern in PATTERNS.items()}

NOT_REGULAR = {
    "idn-hostname": "which internationalized names are valid depends on tables that pdacon does not have; leave the "
    "keyword out, or allow it to be dropped with lax=True",
}
"""Formats that are defined but cannot be enforced, and why."""

NARROWER = {
    "regex": "of regular expressions those come that ECMA-262 and Python's re both take, with groups at most three "
    "deep, and without look-behind, back-references and names of groups",
}
"""Formats of which some strings are not taken, and which."""
