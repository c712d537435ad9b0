"""Stock Lark as the oracle: a text is a sentence if and only if Lark parses it without an exception."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from lark import Lark, Transformer, Tree

from support.lexemes import Lexeme, lexemes_of_lark
from support.small_grammars import SmallGrammar

MOST_REDUCES = 5_000
"""So many reduces are endless: cycles of reduces that priority settles make Lark reduce for ever."""


class EndlessParseError(Exception):
    """Lark was stopped; it would never have returned."""


class _Counter(Transformer[Any, Any]):
    """Builds the tree as Lark does, and counts."""

    reduces = 0

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Tree[Any]:
        self.reduces += 1
        if self.reduces > MOST_REDUCES:
            raise EndlessParseError
        return Tree(data, children)


class StockLark:
    """What Lark says about texts of one small grammar; answers are remembered.

    Raises
    ------
    lark.exceptions.LarkError
        If Lark does not load the grammar.
    """

    def __init__(self, grammar: SmallGrammar) -> None:
        self.grammar = grammar
        self._counter = _Counter()
        self._lark = Lark(grammar.text, parser="lalr", transformer=self._counter, **grammar.options)
        self._answers: dict[tuple[str, str], bool] = {}

    @property
    def ignored(self) -> list[str]:
        """The names of the terminals that are ignored."""
        return self._lark.ignore_tokens

    def accepts(self, text: str | bytes, start: str | None = None) -> bool:
        """Whether a text, or the text that bytes spell, is a sentence."""
        if isinstance(text, bytes):
            decoded = self.grammar.decode(text)
            if decoded is None:
                return False
            text = decoded
        start = start or self.grammar.starts[0]
        answer = self._answers.get((text, start))
        if answer is None:
            answer = self._answers[text, start] = self._parses(text, start)
        return answer

    def _parses(self, text: str, start: str) -> bool:
        self._counter.reduces = 0
        try:
            self._lark.parse(self.grammar.encode(text) if self.grammar.options.get("use_bytes") else text, start=start)
        except Exception:  # Whatever Lark raises, the text is no sentence.
            return False
        return True

    def lexemes(self, text: str, start: str) -> tuple[list[Lexeme], bool]:
        """See `lexemes_of_lark`."""
        self._counter.reduces = 0
        asked = self.grammar.encode(text) if self.grammar.options.get("use_bytes") else text
        return lexemes_of_lark(self._lark, asked, start)

    def sentences(self, length: int, start: str | None = None) -> Iterator[str]:
        """The sentences of up to ``length`` characters over the grammar's alphabet, short ones first."""
        return (text for text in texts(self.grammar.alphabet, length) if self.accepts(text, start))


_SHARED: dict[str, StockLark] = {}


def shared_lark(grammar: SmallGrammar) -> StockLark:
    """The oracle of a curated grammar, one for all tests of a process: what it has answered is not parsed again."""
    oracle = _SHARED.get(grammar.name)
    if oracle is None or oracle.grammar is not grammar:
        oracle = _SHARED[grammar.name] = StockLark(grammar)
    return oracle


def texts(alphabet: str, length: int) -> Iterator[str]:
    """All texts over an alphabet, short ones first, then in the alphabet's order."""
    for n in range(length + 1):
        yield from map("".join, product(alphabet, repeat=n))


def affordable_length(alphabet: str, budget: int) -> int:
    """The greatest length (at most 12) for which there are no more than ``budget`` texts over the alphabet."""
    total = length = 1
    while length <= 12 and (total := total + len(alphabet) ** length) <= budget:
        length += 1
    return length - 1
