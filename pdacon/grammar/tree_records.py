"""Texts -> the trees that stock Lark makes of them.

In: the data of a grammar, and sentences of it. Out: trees as frozen records, rendered as lines and as plain values.
What shapes a tree is in the grammar: aliases, ``?rule``, ``!rule``, ``_rule``, and ``[]`` for what may be missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import lark

from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.indentation import lark_options
from pdacon.grammar.printing import to_lark


@dataclass(frozen=True, slots=True)
class Leaf:
    """A lexeme. Line and column are those of its first character, from 1."""

    terminal: str
    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Tree:
    """What a rule, or an alias, has matched; None stands for what may be missing and is."""

    rule: str
    children: tuple[Tree | Leaf | None, ...]

    def render(self) -> str:
        """A line for each rule and each lexeme, indented by its depth."""
        return "\n".join(f"{'  ' * depth}{_line(part)}" for part, depth in _walk(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them."""
        made: dict[int, dict[str, Any]] = {}
        for part, _ in reversed([*_walk(self)]):  # what is within comes first
            if isinstance(part, Tree):
                children = [_plain(child, made) for child in part.children]
                made[id(part)] = {"rule": part.rule, "children": children}
        return made[id(self)]


def tree_reader(grammar: GrammarData, *, all_tokens: bool = False) -> Callable[[str, str | None], Tree]:
    """What makes trees of sentences; ``all_tokens``: with the texts that Lark leaves out, such as ``","``.

    Raises
    ------
    UnsupportedGrammarError
        The grammar has no text in Lark's language.
    """
    options = {**lark_options(grammar), **({"keep_all_tokens": True} if all_tokens else {})}
    parser = lark.Lark(to_lark(grammar), **options)
    encoding = "latin-1" if grammar.options.use_bytes else None

    def read(text: str, start: str | None = None) -> Tree:
        given: Any = text.encode() if encoding else text
        return _tree(parser.parse(given, start=start or grammar.options.start[0]))

    return read


def _tree(parsed: Any) -> Tree:
    """Lark's tree as records, from the leaves up: a tree may be deeper than Python's stack."""
    if not isinstance(parsed, lark.Tree):
        return Tree("start", (_leaf(parsed),))
    order, pending = [], [parsed]
    while pending:
        node = pending.pop()
        order.append(node)
        pending += [child for child in node.children if isinstance(child, lark.Tree)]
    made: dict[int, Tree] = {}
    for node in reversed(order):
        children = tuple(made[id(child)] if isinstance(child, lark.Tree) else _leaf(child) for child in node.children)
        made[id(node)] = Tree(str(node.data), children)
    return made[id(parsed)]


def _leaf(token: Any) -> Leaf | None:
    if token is None:
        return None
    text = token.value if isinstance(token.value, str) else bytes(token.value).decode("latin-1")
    return Leaf(str(token.type), text, token.line or 0, token.column or 0)


def _walk(tree: Tree) -> Iterator[tuple[Tree | Leaf | None, int]]:
    """Each part before what is in it."""
    pending: list[tuple[Tree | Leaf | None, int]] = [(tree, 0)]
    while pending:
        part, depth = pending.pop()
        yield part, depth
        if isinstance(part, Tree):
            pending += [(child, depth + 1) for child in reversed(part.children)]


def _line(part: Tree | Leaf | None) -> str:
    if part is None:
        return "-"
    return part.rule if isinstance(part, Tree) else f"{part.terminal} {json.dumps(part.text, ensure_ascii=False)}"


def _plain(part: Tree | Leaf | None, made: dict[int, dict[str, Any]]) -> dict[str, Any] | None:
    if part is None:
        return None
    if isinstance(part, Tree):
        return made[id(part)]
    return {"terminal": part.terminal, "text": part.text, "line": part.line, "column": part.column}
