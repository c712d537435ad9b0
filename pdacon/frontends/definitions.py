"""Grammars that come with pdacon, as definitions to put together anew.

The texts are pdacon's own, and of one form: a definition begins at the left margin, and its other lines are indented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_DEFINITION = re.compile(r"^[?!]?(\w+)(?:\.-?\d+)?:.*(?:\n[ \t]+\S.*)*", re.MULTILINE)
_IGNORED = re.compile(r"^%ignore .*", re.MULTILINE)
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|/(?!/)(?:\\.|[^/\\])+/')
_COMMENT = re.compile(r"//.*")
_NAME = re.compile(r"(?<![%\w])_?[A-Za-z]\w*")


def definitions(text: str) -> dict[str, str]:
    """The text of each definition, by name."""
    return {match[1]: match[0] for match in _DEFINITION.finditer(text)}


def ignored(text: str) -> list[str]:
    """The ``%ignore`` statements."""
    return _IGNORED.findall(text)


def grammar_text(known: Mapping[str, str], starts: Iterable[str], statements: Iterable[str]) -> str:
    """The definitions that the starts and the statements lead to, in the order in which they are known."""
    statements = list(statements)
    pending = [*starts, *(name for statement in statements for name in _names(statement))]
    used: set[str] = set()
    while pending:
        name = pending.pop()
        if name in known and name not in used:
            used.add(name)
            pending += _names(known[name])
    return "\n".join([*(text for name, text in known.items() if name in used), "", *statements, ""])


def _names(text: str) -> list[str]:
    return _NAME.findall(_COMMENT.sub("", _LITERAL.sub("", text)))
