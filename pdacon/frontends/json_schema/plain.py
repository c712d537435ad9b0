"""A schema, or its text, as plain values of JSON, in which numbers are exact."""

from __future__ import annotations

import json
import math
import numbers
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdacon.base.cancelling import look
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.names_once import TWICE, NamesOnce

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST_DIGITS = 1000
_DEEPEST = 200  # levels, where something is unusual
_JSON = json.JSONEncoder(allow_nan=False)
_HALF_OF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_DEEP = "it is nested too deeply"


class _Written:
    """A number that remembers its text."""

    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)  # type: ignore[call-arg]  # that of the number it is mixed into
        number.text = text
        return number

    def __repr__(self) -> str:
        return self.text


class WrittenFloat(_Written, float):
    """A float that a text writes in another way than Python does: ``1.50``, ``1E2``."""


class WrittenDecimal(_Written, Decimal):
    """A number that no float is equal to, with its text."""


@dataclass(frozen=True, slots=True)
class PlainSchema:
    """A schema that was read: its plain values, as `plain` gives them, and what ``json.dumps`` writes for them."""

    value: Any
    text: str


def plain(schema: Any, document: str = "#") -> tuple[Any, str]:
    """A copy of a schema with the types that ``json.loads`` gives; a number that no float is equal to is a Decimal.

    Numbers that a text writes in another way than Python does remember how: `WrittenFloat`, `WrittenDecimal`. Beside
    it what ``json.dumps`` writes for it, with floats for decimals.

    Parameters
    ----------
    schema : Any
        Text, also as UTF-8 bytes, the path of a file, or Python objects: beside those that ``json.loads`` gives also
        tuples, decimals, subclasses of ``str`` and numbers of other libraries.
    document : str
        Its URI and ``#``, for messages.

    Raises
    ------
    OSError
        The file cannot be read.
    UnsupportedSchemaError
        It is no JSON, or has a number that is not finite or too long, or half of a pair of surrogates, or the
        same name twice in an object.
    """
    if isinstance(schema, os.PathLike):
        schema = Path(schema).read_bytes()
    if isinstance(schema, bytes):
        schema = schema.decode("utf-8-sig", "replace")
    if isinstance(schema, type):
        raise UnsupportedSchemaError(
            document, "", f"it is a class; pdacon.Grammar.from_type({schema.__name__}) takes it"
        )
    text = ""
    names = NamesOnce()
    try:
        if isinstance(schema, str):
            copy = json.loads(schema, parse_float=_exact, parse_constant=_no_constant, object_pairs_hook=names)
        else:
            text = _JSON.encode(schema)
            copy = json.loads(text)
            if copy != schema:  # unless all names are strings, two may be written alike
                copy = json.loads(text, object_pairs_hook=names)
    except RecursionError:
        raise UnsupportedSchemaError(document, "", _DEEP) from None
    except (TypeError, ValueError) as error:
        if isinstance(schema, str):
            file = " (to read a file, give a pathlib.Path)" if schema.endswith(".json") else ""
            raise UnsupportedSchemaError(document, "", f"the text is no JSON: {error}{file}") from None
        copy = _copied(schema, document, 0)
    if (twice := names.repeated(copy, document)) is not None:
        raise UnsupportedSchemaError(*twice, f"it {TWICE}")
    if not text:
        text = _text_of(copy, document)
    if (not text.isascii() or "\\u" in text) and _HALF_OF_A_PAIR.search(text):
        _check_texts(copy, document)
    return copy, text


def read_usual(text: str) -> Any:
    """The plain values of a text of JSON. Raises ValueError or RecursionError if `plain` would not take all that it is.

    A number can be written in another way than Python does, a name stand twice in an object, or half of a pair of
    surrogates in a text.
    """
    names = NamesOnce()
    value = json.loads(text, parse_float=_usual, parse_constant=_no_constant, object_pairs_hook=names)
    if not names.hold or _HALF_OF_A_PAIR.search(text):
        raise ValueError
    return value


def _usual(text: str) -> float:
    if repr(rounded := float(text)) != text:
        raise ValueError
    return rounded


def _text_of(copy: Any, document: str) -> str:
    try:
        return json.dumps(copy, default=float)
    except RecursionError:
        raise UnsupportedSchemaError(document, "", _DEEP) from None


def _exact(text: str) -> float | Decimal:
    rounded, exact = float(text), Decimal(text)
    if math.isfinite(rounded) and Decimal(repr(rounded)) == exact:
        return rounded if repr(rounded) == text else WrittenFloat(text)
    if len(text) > _MOST_DIGITS or abs(exact.adjusted()) > _MOST_DIGITS:
        raise ValueError(f"the number {text[:20]}... has more than {_MOST_DIGITS:,} digits")
    return WrittenDecimal(text)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _copied(node: Any, pointer: str, depth: int) -> Any:
    """The same with a place in the message; it is only asked where something is unusual."""
    if depth > _DEEPEST:
        raise UnsupportedSchemaError(pointer[:40], "", _DEEP)
    if node is None or isinstance(node, bool):
        return node
    if isinstance(node, str):
        return str.__str__(node)
    look()
    if isinstance(node, Mapping):
        return {_name(name, pointer): _copied(value, f"{pointer}/{name}", depth + 1) for name, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [_copied(value, f"{pointer}/{k}", depth + 1) for k, value in enumerate(node)]
    if isinstance(node, numbers.Integral):
        whole = int(node)
        if whole.bit_length() > 3 * _MOST_DIGITS:
            raise UnsupportedSchemaError(pointer, "", f"the number has more than {_MOST_DIGITS:,} digits")
        return whole
    if isinstance(node, (Decimal, numbers.Real)) and not isinstance(node, Fraction) and math.isfinite(node):
        return _exact(str(node))
    raise UnsupportedSchemaError(pointer, "", f"it is no value of JSON: {type(node).__name__} {node!r:.40}")


def _name(name: Any, pointer: str) -> str:
    if not isinstance(name, str):
        raise UnsupportedSchemaError(pointer, "", f"names are strings, not {type(name).__name__} {name!r:.40}")
    return str.__str__(name)


def _check_texts(root: Any, document: str) -> None:
    pending = [(root, document)]
    while pending:
        look()
        node, pointer = pending.pop()
        if isinstance(node, dict):
            pending += ((name, pointer) for name in node)
            pending += ((value, f"{pointer}/{name}") for name, value in node.items())
        elif isinstance(node, list):
            pending += ((value, f"{pointer}/{k}") for k, value in enumerate(node))
        elif isinstance(node, str) and any("\ud800" <= character <= "\udfff" for character in node):
            raise UnsupportedSchemaError(
                ascii(pointer)[1:-1], "", f"{node!a} has half of a pair of surrogates, which no text in UTF-8 has"
            )
