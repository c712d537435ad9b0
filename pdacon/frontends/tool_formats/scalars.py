"""Which value a text stands for where strings have no quotes: one meaning for what is constrained and what is read."""

from __future__ import annotations

from collections.abc import Container

CONSTANTS = {"null": "null", "false": "false", "true": "true", "None": "null", "False": "false", "True": "true"}
"""The texts of constants in JSON and in Python, with the kind of value that each is."""
OPENINGS = {"{": "object", "[": "array"}
ALL_KINDS = frozenset({"null", "false", "true", "number", "string", "array", "object"})
NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"


def reads_as(text: str, kinds: Container[str], python_constants: bool) -> str:
    """The kind of value that a text is, of a parameter that takes some kinds: a string if it is none of the others."""
    constant = CONSTANTS.get(text)
    if constant in kinds and (python_constants or text == constant):
        return str(constant)
    if "number" in kinds and _is_number(text):
        return "number"
    container = OPENINGS.get(text[:1])
    return container if container is not None and container in kinds else "string"


def _is_number(text: str) -> bool:
    """Whether a text is a number as JSON writes it."""
    whole, _, exponent = text.lower().partition("e")
    digits, _, fraction = whole.removeprefix("-").partition(".")
    return (
        _all_digits(digits)
        and (digits[0] != "0" or digits == "0")
        and ("." not in whole or _all_digits(fraction))
        and ("e" not in text.lower() or _all_digits(exponent[exponent[:1] in ("+", "-") :]))
    )


def _all_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
