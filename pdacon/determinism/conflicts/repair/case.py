"""A conflict with all that advice on it is made from, and the advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pdacon.determinism.conflicts.causes import Cause
from pdacon.determinism.conflicts.explanations import Explanation
from pdacon.determinism.conflicts.items import Items
from pdacon.grammar import GrammarData
from pdacon.lalr import Conflict

SHARE_A_RULE = "write the rules so that both ways share one rule up to this point and part only after it."


@dataclass(frozen=True, slots=True)
class Advice:
    """Sentences about one finding."""

    message: str  # What is wrong
    repair: str  # What to write instead; lines of a grammar are indented
    settled: str = ""  # What Lark's choice, to shift, means; empty if nothing can be shifted


class Case:
    """A conflict and its cause, in the names to use."""

    def __init__(
        self,
        items: Items,
        cause: Cause,
        conflict: Conflict,
        lookaheads: str,
        explanation: Explanation | None,
        named: GrammarData,
    ) -> None:
        self.items = items
        self.grammar = named  # What has the names
        self.cause = cause
        self.conflict = conflict
        self.next = lookaheads  # The lookaheads of the conflict, by their names
        # The example that is shown, if there is one.
        self.explanation = explanation
        self.example = None if explanation is None else explanation.example
        self.reduced = conflict.productions[0]  # The production that the conflict may reduce by; of two the first
        self.rule = self.name(items.sides[self.reduced][0])  # The name of its left side

    def name(self, symbol: int) -> str:
        return self.grammar.describe_symbol(symbol)

    def words(self, symbols: Sequence[int]) -> list[str]:
        return [self.name(symbol) for symbol in symbols]

    def sequence(self, symbols: Sequence[int]) -> str:
        return " ".join(self.words(symbols))

    def rule_of(self, production: int) -> str:
        """The author's rule that a production comes from."""
        return self.grammar.describe_name(self.grammar.productions[production].rule)

    def bodies(self, symbol: int) -> list[tuple[int, ...]]:
        """The right sides of a symbol's productions."""
        return [self.items.sides[k][1] for k in self.items.expansions[symbol]]

    def ambiguity(self) -> str:
        """That a text has two readings, as a sentence."""
        root = None if self.example is None else self.example.first.symbol
        where = "" if root is None else f" of {self.name(root)}"
        return f"the same text{where} has two readings."
