"""Types of JSON values as bits of a number, so that sets of them are numbers.

In: names of types, or values. Out: bits.
"""

from __future__ import annotations

from typing import Any

NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT = 1, 2, 4, 8, 16, 32
ALL = 63
BITS = {
    "null": NULL, "boolean": BOOLEAN, "number": NUMBER, "integer": NUMBER, "string": STRING, "array": ARRAY,
    "object": OBJECT,
}  # fmt: skip
"""The names of types, as bits of a set."""
_OF_VALUES = {type(None): NULL, bool: BOOLEAN, str: STRING, list: ARRAY, dict: OBJECT}


def types_in(said: Any) -> int:
    """The types that ``type`` allows, as bits; 0 if it is no type or list of types."""
    if isinstance(said, str):
        return BITS.get(said, 0)
    if not isinstance(said, list) or not all(isinstance(name, str) and name in BITS for name in said):
        return 0
    bits = 0
    for name in said:
        bits |= BITS[name]
    return bits


def type_of(value: Any) -> int:
    """The type of a value of JSON, as a bit."""
    return _OF_VALUES.get(type(value), NUMBER)


def types_of_values(values: Any) -> int:
    """The types of values of JSON, as bits."""
    types = 0
    for kind in set(map(type, values)):
        types |= _OF_VALUES.get(kind, NUMBER)
    return types
