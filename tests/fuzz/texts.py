"""Texts for a grammar: derivations of Lark's own rules, all short texts over its letters, and mutations of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from random import Random
from typing import Any

import lark
from fuzz.case import Case
from fuzz.patterns import TextMaker, sre_parser
from lark.grammar import NonTerminal


class Derivations:
    """Random derivations, by the rules and terminals that stock Lark has made of a grammar."""

    def __init__(self, parser: lark.Lark, case: Case, rng: Random) -> None:
        self.rng = rng
        self.encode = case.encode
        self.indenter = case.indenter
        self.patterns = {terminal.name: terminal.pattern.to_regexp() for terminal in parser.terminals}
        self.flags = case.options.get("g_regex_flags", 0)
        self.ignored = [name for name in parser.ignore_tokens if name in self.patterns]
        self.rules: dict[str, list[list[Any]]] = {}
        for rule in parser.rules:
            self.rules.setdefault(rule.origin.name, []).append(list(rule.expansion))
        self.letters = "".join(sorted(self._letters()))
        self.maker = TextMaker(rng, self.letters)
        self.heights = self._heights()

    def _letters(self) -> set[str]:
        """The letters that patterns name, and a few that classes have."""
        letters: set[str] = set()
        for pattern in self.patterns.values():
            self._letters_of(sre_parser.parse(pattern, self.flags), letters)
        return letters or set("a")

    def _letters_of(self, tree: Any, letters: set[str]) -> None:
        if isinstance(tree, (list, tuple, sre_parser.SubPattern)):
            if len(tree) == 2 and str(tree[0]) in ("LITERAL", "NOT_LITERAL"):
                letters.add(chr(tree[1]))
            elif len(tree) == 2 and str(tree[0]) == "RANGE":
                letters.add(chr(tree[1][0]))
                letters.add(chr(tree[1][1]))
            elif len(tree) == 2 and str(tree[0]) == "CATEGORY":
                letters.add({"W": "a", "D": "1", "S": " "}[str(tree[1]).rpartition("_")[2][0]])
            else:
                for part in tree:
                    self._letters_of(part, letters)

    def _heights(self) -> dict[str, int]:
        """The least height of a derivation of each rule; rules that have none are left out."""
        heights: dict[str, int] = {}
        changed = True
        while changed:
            changed = False
            for name, expansions in self.rules.items():
                best = min((self._height(expansion, heights) for expansion in expansions), default=10**9) + 1
                if best < heights.get(name, 10**9):
                    heights[name] = best
                    changed = True
        return heights

    def _height(self, expansion: list[Any], heights: dict[str, int]) -> int:
        return max(
            (
                heights.get(symbol.name, 10**9)
                if isinstance(symbol, NonTerminal)
                else 0
                if symbol.name in self.patterns or self._is_layout(symbol.name)
                else 10**9
                for symbol in expansion
            ),
            default=0,
        )

    def _is_layout(self, name: str) -> bool:
        return self.indenter is not None and name in (self.indenter["INDENT_type"], self.indenter["DEDENT_type"])

    def sentence(self, start: str, room: int) -> bytes | None:
        """A text that the rules derive, as far as terminals go; None where there is none, or it is too large."""
        if self.heights.get(start, 10**9) >= 10**9:
            return None
        names: list[str] = []
        pending: list[tuple[Any, int]] = [(start, room)]
        for _ in range(4000):
            if not pending:
                return self._spelt(names)
            symbol, depth = pending.pop()
            if symbol not in self.rules:
                names.append(symbol)
                if len(names) > 400:
                    return None
                continue
            expansions = [rule for rule in self.rules[symbol] if self._height(rule, self.heights) < 10**9]
            if depth <= 0:
                least = min(self._height(rule, self.heights) for rule in expansions)
                expansions = [rule for rule in expansions if self._height(rule, self.heights) == least]
            chosen = self.rng.choice(expansions)
            pending.extend((part.name, depth - 1) for part in reversed(chosen))
        return None

    def _spelt(self, names: list[str]) -> bytes:
        rng = self.rng
        gap = rng.choice([0.0, 0.0, 0.15, 0.5])
        pieces: list[str] = []
        layout = self.indenter
        columns = [0]
        for index, name in enumerate(names):
            if self.ignored and rng.random() < gap:
                pieces.append(self._lexeme(rng.choice(self.ignored)))
            if layout is None or (name in self.patterns and name != layout["NL_type"]):
                pieces.append(self._lexeme(name))
            elif name == layout["NL_type"]:
                self._column(names[index + 1 :], columns)
                text = self._lexeme(name)
                pieces.append(text.rstrip(" \t") + " " * columns[-1] if rng.random() < 0.9 else text)
        return self.encode("".join(pieces))

    def _column(self, following: list[str], columns: list[int]) -> None:
        """Open and close the blocks that come after a newline."""
        assert self.indenter is not None
        for name in following:
            if name == self.indenter["INDENT_type"]:
                columns.append(columns[-1] + self.indenter.get("indent_len", self.rng.choice([1, 2, 4])))
            elif name == self.indenter["DEDENT_type"]:
                if len(columns) > 1:
                    columns.pop()
            else:
                break

    def _lexeme(self, name: str) -> str:
        return self.maker.text(self.patterns[name], self.flags)


def enumerated(rng: Random, letters: str, budget: int) -> Iterator[str]:
    """All short texts over some letters, as long as there is room."""
    chosen = "".join(rng.sample(letters, min(len(letters), rng.choice([2, 3, 3, 4, 5]))))
    texts = ("".join(parts) for length in range(40) for parts in product(chosen, repeat=length))
    return islice(texts, budget)


def mutated(rng: Random, text: bytes, others: list[bytes], letters: bytes) -> bytes:
    """A text with something left out, put in, changed, moved or joined."""
    roll = rng.random()
    place = rng.randrange(len(text) + 1)
    end = min(len(text), place + rng.choice([1, 1, 2, 3]))
    if roll < 0.25:
        return text[:place] + text[end:]
    if roll < 0.5:
        return text[:place] + bytes(rng.choices(letters, k=rng.choice([1, 1, 2]))) + text[place:]
    if roll < 0.65:
        return text[:place] + bytes([rng.choice(letters)]) + text[end:]
    if roll < 0.75:
        return text[:place] + text[place:end] * 2 + text[end:]
    other = rng.choice(others)
    if roll < 0.85:
        return text + other
    cut = rng.randrange(len(other) + 1)
    return text[:place] + other[cut:]
