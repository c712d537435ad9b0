"""Two terminals of which one is never read after the other: what becomes of their texts, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pdacon.base.quoting import quote
from pdacon.determinism.lexical.witness_texts import Lexeme, WitnessTexts
from pdacon.determinism.report.findings import TITLES, Finding, Level, Witness
from pdacon.errors import Span
from pdacon.grammar import GrammarData

_SHOWN = 6  # terminals


class Neighbours:
    """Findings about terminals that the rules put one after the other, for one grammar."""

    def __init__(self, texts: WitnessTexts) -> None:
        self._grammar: GrammarData = texts.grammar
        self._texts = texts

    def unread(
        self,
        level: Level,
        before: int,
        terminals: Sequence[int],
        prefix: Sequence[str],
        places: Sequence[str],
        span: Span | None,
        rules: Iterable[str],
        too: str = "",
    ) -> Finding:
        """PDA015: of terminals that the rules put after one, or at the beginning, none is ever read there.

        ``prefix``: terminals that lead there. ``places``: lines about where the rules have it so.
        """
        grammar, describe = self._grammar, self._grammar.describe_symbol
        after, name, taken = "the beginning", [], None
        if 0 <= before < grammar.end:
            after, name, taken = describe(before), [grammar.terminals[before].name], self._texts.shortest(before)
        shown = ", ".join(map(describe, terminals[:_SHOWN])) + (" and others" if len(terminals) > _SHOWN else "")
        lines = [f"After {after} the rules go on with {shown}{too}, but no text is ever read so."]
        text, whole = self._texts.shortest(terminals[0]), None
        if text is not None and taken is not None:
            whole = taken + text
            lines.append(self._reading(before, taken, text))
        return Finding(
            id="PDA015",
            level=level,
            title=f"{TITLES['PDA015']}: {shown} after {after}",
            message="\n".join([*lines, *places]),
            span=span,
            symbols=(*name, *(grammar.terminals[k].name for k in terminals), *rules),
            witness=Witness((*prefix, describe(terminals[0])), len(prefix), whole),
            repair=self._parting(before, terminals[0], whole),
        )

    def _parting(self, before: int, terminal: int, text: bytes | None) -> str:
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

    def _reading(self, before: int, taken: bytes, text: bytes) -> str:
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
