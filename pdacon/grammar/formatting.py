"""Lark grammars laid out in one way: `formatted`.

In: the text of a grammar. Out: the same tokens and comments, with the blanks that this module gives them. Lines end
where their author ended them: whether alternatives stand below or beside each other is left to him.

Source: lark 1.3.1, ``load_grammar.py``, whose terminals are asked where a token ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from lark.load_grammar import TERMINALS

from pdacon.base.cancelling import look
from pdacon.errors import GrammarSyntaxError, Span
from pdacon.grammar.open_literals import OPEN_REGEXP, OPEN_STRING

_INDENT = 4
_OWN = {  # where what Lark reads has blanks and line ends in it
    "COMMENT": r"//[^\n]*|#[^\n]*",
    "BACKSLASH": r"\\[ ]*(?=\r?\n)",
    "_NL": r"\r?\n",
    "WS": r"[ \t\f]+",
}
_LITERALS = {"STRING": OPEN_STRING + '"i?', "REGEXP": OPEN_REGEXP + "/[imslux]*"}
_LARKS = {name: _LITERALS.get(name, pattern) for name, pattern in TERMINALS.items() if name not in (*_OWN, "_NL_OR")}
# A number may begin with a plus, which else is an operator.
_PATTERNS = _OWN | {"NUMBER": _LARKS["NUMBER"]} | _LARKS
_PIECE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS.items()))
_OPENING, _CLOSING = ("_LPAR", "_LBRA", "_LBRACE"), ("_RPAR", "_RBRA", "_RBRACE")
_TIGHT_BEFORE = frozenset({*_CLOSING, "_LBRACE", "_COLON", "_COMMA", "_DOT", "_DOTDOT", "OP", "TILDE"})
_TIGHT_BEHIND = frozenset({*_OPENING, "_DOT", "_DOTDOT", "TILDE", "RULE_MODIFIERS"})
_STATEMENTS = frozenset({"_IMPORT", "_IGNORE", "_DECLARE", "_OVERRIDE", "_EXTEND"})
STATEMENTS = tuple(sorted(TERMINALS[name] for name in _STATEMENTS))
"""The words that statements other than definitions begin with."""


class _Piece(NamedTuple):
    kind: str
    text: str


@dataclass
class _Line:
    pieces: list[_Piece]
    comment: str = ""

    def is_blank(self) -> bool:
        return not self.pieces and not self.comment


def formatted(text: str, path: str | None = None) -> str:
    """The grammar laid out: one blank between tokens that want one, alternatives below their colon, single blank lines.

    Laid out twice, it is the same. GrammarSyntaxError with the place where no token of Lark's language begins.
    """
    lines = list(_lines(text, path))
    shown: list[str] = []
    for line, one in zip(lines, _aligned(lines, _indents(lines)), strict=True):
        if not line.is_blank():
            shown.append(one)
        elif shown and shown[-1]:
            shown.append("")
    while shown and not shown[-1]:
        shown.pop()
    return "".join(f"{line}\n" for line in shown)


def split_comment(line: str) -> tuple[str, str]:
    """What a line has before its comment, and the comment; the second is empty if there is none.

    Raises GrammarSyntaxError.
    """
    line = line.rstrip()
    *_, read = _lines(line, None)
    return line.removesuffix(read.comment).rstrip(), read.comment


def split_alternatives(body: str) -> list[str]:
    """What stands between the bars of a definition's body, laid out; bars within brackets part nothing.

    Raises GrammarSyntaxError.
    """
    parts: list[list[_Piece]] = [[]]
    depth = 0
    for piece in (piece for line in _lines(body, None) for piece in line.pieces):
        depth += (piece.kind in _OPENING) - (piece.kind in _CLOSING)
        if piece.kind == "_OR" and not depth:
            parts.append([])
        else:
            parts[-1].append(piece)
    return [_joined(part) for part in parts]


def _lines(text: str, path: str | None) -> Iterator[_Line]:
    line, at = _Line([]), 0
    while at < len(text):
        look()
        found = _PIECE.match(text, at)
        if found is None:
            number, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
            place = Span(path, number, column, number, column + 1)
            raise GrammarSyntaxError(f"no token of Lark's language begins with {text[at]!r}", place)
        kind = found.lastgroup or ""
        if kind == "_NL":
            yield line
            line = _Line([])
        elif kind == "COMMENT":
            line.comment = found[0].rstrip()
        elif kind != "WS":
            line.pieces.append(_Piece(kind, found[0].rstrip() if kind == "BACKSLASH" else found[0]))
        at = found.end()
    yield line


def _indents(lines: list[_Line]) -> list[int]:
    """How many blanks each line begins with; a comment of its own as many as the next line with tokens.

    Alternatives stand below the colon of their definition, one that ends its line excepted, and further in within
    brackets.
    """
    indents, depth, goes_on, colon = [], 0, False, _INDENT
    for line in lines:
        opens = bool(line.pieces) and line.pieces[0].kind == "_OR"
        indents.append((colon if opens else _INDENT) + _INDENT * depth if opens or goes_on else 0)
        kinds = [kind for kind, _ in line.pieces]
        if "_COLON" in kinds and not (opens or goes_on):
            at = kinds.index("_COLON")
            colon = _INDENT if at + 1 == len(kinds) else len(_joined(line.pieces[:at]))
        for kind in kinds:
            depth = max(0, depth + (kind in _OPENING) - (kind in _CLOSING))
        goes_on = bool(kinds) and kinds[-1] == "BACKSLASH"
    for number in range(len(lines) - 2, -1, -1):
        if not lines[number].pieces:
            indents[number] = indents[number + 1]
    return indents


def _aligned(lines: list[_Line], indents: list[int]) -> Iterator[str]:
    """The lines; those beside each other that name an alternative have their arrows in one column."""

    def has_arrow(number: int) -> bool:
        return len(lines[number].pieces) > 2 and lines[number].pieces[-2].kind == "_TO"

    for together, numbers in groupby(range(len(lines)), has_arrow):
        group = list(numbers)
        heads = [" " * indents[number] + _joined(lines[number].pieces[: -2 if together else None]) for number in group]
        width = max(map(len, heads))
        for number, head in zip(group, heads, strict=True):
            line = lines[number]
            whole = f"{head:{width}} {_joined(line.pieces[-2:])}" if together else head
            yield f"{whole}  {line.comment}" if line.pieces and line.comment else f"{whole}{line.comment}"


def _joined(pieces: list[_Piece]) -> str:
    parts: list[str] = []
    before = ""
    for kind, text in pieces:
        is_tight = kind in _TIGHT_BEFORE or before in _TIGHT_BEHIND
        if before and (not is_tight or before in _STATEMENTS or kind == "BACKSLASH"):
            parts.append(" ")
        parts.append(text)
        before = kind
    return "".join(parts)
