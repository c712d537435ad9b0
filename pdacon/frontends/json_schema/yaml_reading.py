"""Texts of YAML, as a `Spelling` has them written -> values.

In: a text that a grammar of YAML takes. Out: its value. This is no reader of YAML: it knows the one style, and what a
text of it cannot have is not looked for.
"""

from __future__ import annotations

import re
from typing import Any

from pdacon.frontends.long_integers import json_value

_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"\\]|\\.)*\"""")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))")
_MEANT = dict(zip('0abtnvfre"\\NLP', '\0\a\b\t\n\v\f\r\x1b"\\\x85\u2028\u2029', strict=True))
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?", re.ASCII)
_WORDS: dict[str, Any] = {"null": None, "true": True, "false": False}


def yaml_value(text: str) -> Any:
    """The value of a text that a grammar of YAML takes. Linear."""
    return _Reading(text).value()


class _Reading:
    """The lines of a text, and the arrays and objects that are open, each with its column."""

    def __init__(self, text: str) -> None:
        self._lines, self._at = text.split("\n")[:-1], 0
        self._open: list[tuple[int, Any]] = []
        self._name = ""  # of the member whose value comes next
        self._root: Any = None

    def value(self) -> Any:
        """The value of the whole text."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            content = line.lstrip(" ")
            self._entry(len(line) - len(content), content)
        return self._root

    def _entry(self, column: int, content: str) -> None:
        """Read a line from a column on: dashes, and then a member or a scalar."""
        is_item = content.startswith("- ")
        while self._open and (self._open[-1][0], isinstance(self._open[-1][1], list)) > (column, is_item):
            self._open.pop()
        while content.startswith("- "):
            self._container(column, [])
            column, content = column + 2, content[2:]
        member = _member(content)
        if member is None:
            self._place(self._scalar(content))
            return
        self._container(column, {})
        self._name, rest = member
        if rest:
            self._place(self._scalar(rest))

    def _container(self, column: int, empty: Any) -> None:
        """Go on with the array or object of a column, or begin it."""
        if not self._open or self._open[-1][0] != column or type(self._open[-1][1]) is not type(empty):
            self._place(empty)
            self._open.append((column, empty))

    def _place(self, value: Any) -> None:
        if not self._open:
            self._root = value
        elif isinstance(self._open[-1][1], list):
            self._open[-1][1].append(value)
        else:
            self._open[-1][1][self._name] = value

    def _scalar(self, text: str) -> Any:
        if text in _WORDS:
            return _WORDS[text]
        if text in ("[]", "{}"):
            return [] if text == "[]" else {}
        if text in ("|", "|-"):
            return self._in_lines() + ("\n" if text == "|" else "")
        if text[0] in "'\"":
            return _unquoted(text)
        return json_value(text) if _NUMBER.fullmatch(text) else text

    def _in_lines(self) -> str:
        """The lines that follow, as far as they are indented as the first one."""
        first = self._lines[self._at]
        indent = first[: len(first) - len(first.lstrip(" "))]
        begin = self._at
        while self._at < len(self._lines) and (not self._lines[self._at] or self._lines[self._at].startswith(indent)):
            self._at += 1
        return "\n".join(line[len(indent) :] for line in self._lines[begin : self._at])


def _member(content: str) -> tuple[str, str] | None:
    """The name, and what stands on the line behind its colon and the blank; None: it is no member."""
    quoted = _QUOTED.match(content)
    if quoted is not None:
        rest = content[quoted.end() :]
        return (_unquoted(quoted.group()), rest[2:]) if rest else None
    end = content.find(": ")
    if end >= 0:
        return content[:end], content[end + 2 :]
    return (content[:-1], "") if content.endswith(":") else None


def _unquoted(text: str) -> str:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    return _ESCAPE.sub(_meant, text[1:-1])


def _meant(match: re.Match[str]) -> str:
    byte, unit, short = match.groups()
    return _MEANT[short] if short is not None else chr(int(byte or unit, 16))
