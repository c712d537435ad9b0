"""Repairs of rules as text that can be pasted: with what stands before a rule, its aliases and its priority."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from pdacon.base.graphs import reachable
from pdacon.determinism.conflicts.causes import repeats
from pdacon.determinism.conflicts.items import Items
from pdacon.determinism.conflicts.repair.rewrites import Ladder
from pdacon.grammar import GrammarData

_PRIORITY = re.compile(r"[ \t]*\.[ \t]*(-?\d+)")


def ladder_lines(items: Items, ladder: Ladder, named: GrammarData) -> list[str]:
    """One rule for each level; none if they cannot be written down."""
    if not is_written(items, {symbol for k in sum(ladder.origins, ()) for symbol in items.sides[k][1]}):
        return []
    names = dict(zip(ladder.symbols, ladder.names, strict=True))
    before, priority = _heading(named, ladder.symbols[0] - items.nonterminal)
    lines = []
    for level, (alternatives, origins) in enumerate(zip(ladder.alternatives, ladder.origins, strict=True)):
        by_alias: dict[str | None, list[list[str]]] = {}
        for rhs, k in zip(alternatives, origins, strict=True):
            words = [names.get(symbol) or named.describe_symbol(symbol) for symbol in rhs]
            by_alias.setdefault(named.productions[k].alias, []).append(words)
        shown = [
            f"{text}{f' -> {alias}' if alias else ''}"
            for alias, each in by_alias.items()
            for text in together(each, ladder.names)
        ]
        shown += ladder.names[level + 1 : level + 2]
        lines.append(f"  {before}{ladder.names[level]}{priority}: {' | '.join(shown)}")
    return lines


def together(alternatives: Sequence[list[str]], operands: Collection[str]) -> list[str]:
    """Alternatives that differ in the operator between two operands as one: ``e ("+" | "-") e_2``."""
    joined: dict[tuple[str, ...], list[str]] = {}
    for words in alternatives:
        infix = len(words) == 3 and words[0] in operands and words[2] in operands
        key, shown = ((words[0], words[2]), words[1]) if infix else (tuple(words), " ".join(words))
        joined.setdefault(key, []).append(shown)
    texts = []
    for key, each in joined.items():
        operator = each[0] if len(each) == 1 else f"({' | '.join(each)})"
        texts.append(f"{key[0]} {operator} {key[1]}" if len(key) == 2 and each[0] != " ".join(key) else each[0])
    return texts


def is_written(items: Items, symbols: Collection[int]) -> bool:
    """Whether symbols have names that a grammar can have: a template's use with Lark's names in it is none."""

    def within(symbol: int) -> Iterator[int]:
        productions = items.expansions.get(symbol, ()) if repeats(items, symbol) else ()
        return (inner for k in productions for inner in items.sides[k][1])

    rules = (symbol for symbol in reachable(symbols, within) if symbol >= items.nonterminal)
    names = ((items.grammar.nonterminals[k - items.nonterminal].name, items.grammar.describe_symbol(k)) for k in rules)
    return not any("{" in name or "(...)" in shown for name, shown in names)


def _heading(grammar: GrammarData, index: int) -> tuple[str, str]:
    """What the author has written right before a rule's name, ``?`` and ``!``, and its priority."""
    span = grammar.nonterminals[index].span
    if span is None:
        return "", ""
    text = dict(grammar.imported_files).get(span.path or "", grammar.source)
    line = text.split("\n")[span.line - 1]
    begin = span.column - 1
    before = line[len(line[:begin].rstrip("?!")) : begin]
    priority = _PRIORITY.match(line, span.end_column - 1)
    return before, f".{priority.group(1)}" if priority else ""
