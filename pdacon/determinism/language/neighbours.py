"""Two terminals of which one is never read after the other: what becomes of their texts, and what to do about it."""

from __future__ import annotations

from pdacon.base.quoting import quote
from pdacon.determinism.lexical.texts import Lexeme, Texts
from pdacon.grammar import GrammarData


class Neighbours:
    """Words about terminals that the rules put one after the other, for one grammar."""

    def __init__(self, texts: Texts) -> None:
        self._grammar: GrammarData = texts.grammar
        self._texts = texts

    def parting(self, before: int, terminal: int, text: bytes | None) -> str:
        """How to have a text of the one terminal read after one of the other: only a pattern can leave something."""
        if not 0 <= before < self._grammar.end:
            return (
                f"change the terminals so that {self._grammar.describe_symbol(terminal)} can be read at the beginning."
            )
        first, second = self._grammar.describe_symbol(before), self._grammar.describe_symbol(terminal)
        separator = f"ask for a separator between {first} and {second}."
        lexeme = None if text is None else self._lexeme(before, text)
        other = lexeme is not None and lexeme.length == len(text or b"") and lexeme.label not in (before, terminal)
        if self._has_pattern(before) and not other:
            return (
                f"let {first} end before {second} can begin (leave what {second} begins with out of the pattern of "
                f"{first}), or {separator}"
            )
        if text is not None and lexeme is not None and lexeme.length == len(text):
            return f"change {self._texts.shown(lexeme.label)} so that it does not match {quote(text)}, or {separator}"
        return f"change the terminals so that {second} can be read there, or {separator}"

    def _has_pattern(self, terminal: int) -> bool:
        pattern = self._grammar.terminals[terminal].pattern if 0 <= terminal < self._grammar.end else None
        return pattern is not None and pattern.kind == "re"

    def reading(self, before: int, taken: bytes, text: bytes) -> str:
        """How a text of the one terminal and a text of the other are read."""
        lexeme = self._lexeme(before, taken + text)
        if lexeme is not None and lexeme.length > len(taken):
            whole = quote((taken + text)[: lexeme.length])
            return f"{whole} is read as one {self._texts.shown(lexeme.label)}."
        return "What could be read as it is read as something else, or as nothing, there."

    def _lexeme(self, before: int, text: bytes) -> Lexeme | None:
        """What a text is read as, where a terminal is looked for: the longest first lexeme."""
        lexemes = [
            lexeme
            for context in self._texts.entered
            if before in self._texts.looked_for(context)
            and (lexeme := self._texts.first_lexeme(context, text)) is not None
        ]
        return max(lexemes, key=lambda lexeme: lexeme.length, default=None)

    def item(self, production: int, dot: int) -> str:
        """``expr: expr "+" • expr``"""
        record = self._grammar.productions[production]
        rhs = [self._grammar.describe_symbol(symbol) for symbol in record.rhs]
        return f"{self._grammar.describe_symbol(record.lhs)}: {' '.join([*rhs[:dot], '•', *rhs[dot:]])}"
