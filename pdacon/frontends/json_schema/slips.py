"""Texts that are nearly JSON: what is the matter with them, in JSON's terms.

In: the beginning of a text, and what is refused after it. Out: a sentence, where what is refused is a habit of YAML, of
Python or of JavaScript, or a blank too many or too few; else an empty text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pdacon.base.quoting import quoted
from pdacon.frontends.json_schema.positions import Open, open_values

_WORD = re.compile(r"[^\W\d][\w-]*")
_CONSTANTS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null", "NULL": "null"}
_NO_NUMBERS = frozenset({"NaN", "nan", "Infinity", "inf"})
_STRING_OF_OTHERS = re.compile(r"'((?:[^'\\]|\\.)*)'?")
_SHOWN = 40


def slip(read: str, refused: str, takes: Callable[[str], bool]) -> str:
    """What is the matter with what is refused, if JSON would have it otherwise.

    Parameters
    ----------
    read : str
        The beginning of a value.
    refused : str
        What was to come after it.
    takes : callable
        Whether a text is the beginning of a value.
    """
    opened = open_values(read)
    innermost = opened[-1] if opened else None
    if innermost is not None and innermost.expects in ("rest of a name", "rest of a value"):
        return ""
    if not opened and read.strip():
        return ""
    return _blanks(read, refused, takes) or _habit(innermost, read, refused)


def _habit(innermost: Open | None, read: str, refused: str) -> str:
    """What JSON writes in another way."""
    expects = "value" if innermost is None else innermost.expects
    after_comma = read.rstrip().endswith(",")
    if refused.startswith("```"):
        return "the text begins with a fence of Markdown, and JSON has none"
    if refused.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if after_comma and refused[:1] in ("}", "]"):
        return f"JSON has no comma before {quoted(refused[0])}"
    if expects == "colon" and refused.lstrip()[:1] == "=":
        return 'in JSON ":" stands between a name and its value'
    if expects == "comma" and refused[:1] == ";":
        return 'in JSON "," stands between members and items'
    if expects not in ("name", "value"):
        return ""
    what = "names stand" if expects == "name" else "strings stand"
    if refused[:1] == "'":
        match = _STRING_OF_OTHERS.match(refused)
        text = match[1] if match is not None else ""
        return f"{what} in double quotes in JSON: {_in_quotes(text)}"
    word = _WORD.match(refused)
    if word is None:
        return _of_numbers(refused) if expects == "value" else ""
    if expects == "value" and word[0] in _CONSTANTS:
        return f"JSON writes {_CONSTANTS[word[0]]}, not {word[0]}"
    if expects == "value" and word[0] in _NO_NUMBERS:
        return f"JSON has no {word[0]}"
    if innermost is None and re.match(r"\s*:(?:\s|\Z)", refused[word.end() :]):
        return f"JSON writes an object in braces and names in double quotes: {{{_in_quotes(word[0])}: ...}}"
    if word[0] in ("true", "false", "null"):
        return ""
    return f"{what} in double quotes in JSON: {_in_quotes(word[0])}"


def _of_numbers(refused: str) -> str:
    if re.match(r"[+][\d.]", refused):
        return "a number has no + before it in JSON"
    if re.match(r"-?\.\d", refused):
        return "a number has a digit before its point in JSON"
    return "JSON writes a list in brackets: [...]" if re.match(r"- ", refused) else ""


def _blanks(read: str, refused: str, takes: Callable[[str], bool]) -> str:
    """That blanks are there, or are missing, which the spelling has otherwise."""
    bare = refused.lstrip(" \t\r\n")
    first = bare[:1]
    if not first:
        return ""
    if bare != refused and takes(read + first):
        return f"no blank may come here; {_ANY_BLANKS}"
    for blank in (" ", "\n"):
        if takes(read + blank) and takes(read + blank + first):
            return f"{'a blank' if blank == ' ' else 'a new line'} has to come here; {_ANY_BLANKS}"
    return ""


_ANY_BLANKS = 'Spelling(whitespace="any") takes any blanks'


def _in_quotes(text: str) -> str:
    return quoted(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
