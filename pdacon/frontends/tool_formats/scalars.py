"""Which value a text stands for where strings have no quotes: one meaning for what is constrained and what is read."""

from __future__ import annotations

import re
from collections.abc import Container

from pdacon.frontends.json_schema.facts import TYPES
from pdacon.frontends.json_schema.numbers import any_number

CONSTANTS = {"null": "null", "false": "false", "true": "true", "None": "null", "False": "false", "True": "true"}
"""The texts of constants in JSON and in Python, with the kind of value that each is."""
OPENINGS = {"{": "object", "[": "array"}
ALL_KINDS: frozenset[str] = frozenset(TYPES)
NUMBER = any_number(None)
"""A pattern of the texts that are numbers."""
_IS_NUMBER = re.compile(NUMBER).fullmatch


def reads_as(text: str, kinds: Container[str], python_constants: bool) -> str:
    """The kind of value that a text is, of a parameter that takes some kinds: a string if it is none of the others."""
    constant = CONSTANTS.get(text)
    if constant in kinds and (python_constants or text == constant):
        return str(constant)
    if "number" in kinds and _IS_NUMBER(text):
        return "number"
    container = OPENINGS.get(text[:1])
    return container if container is not None and container in kinds else "string"
