"""Counterexamples as texts: a sentence of terminals, spelled so that the lexer cuts it into these terminals again.

A derivation tree says which shifts and reductions the parser makes, those of the reading that it does not take too, and
so in which LR state, and thus in which context, each terminal is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from pdacon.determinism.examples import SPELL_OUT, Yields, shortest_yields
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import Derivation, Finding
from pdacon.lalr import Tables

_LONGEST = 60  # terminals: a longer sentence shows nothing as a text


@dataclass(frozen=True, slots=True)
class _Piece:
    """A terminal of a sentence, and the LR state in which the lexer looks for it."""

    terminal: int
    state: int
    text: bytes


class _NoTextError(Exception):
    """A sentence that cannot be spelled."""


class Sentences:
    """Texts for the counterexamples of one grammar, which has a lexer."""

    def __init__(self, tables: Tables, texts: WitnessTexts) -> None:
        self._tables = tables
        self._texts = texts
        self._grammar = texts.grammar

    def with_texts(self, finding: Finding) -> Finding:
        """The finding; its counterexample has the texts that could be found. Linear in the two sentences."""
        shown = finding.counterexample
        if shown is None or self._grammar.layout is not None:
            return finding
        first = self.text(shown.first)
        second = first if shown.unifying else self.text(shown.second)
        return replace(finding, counterexample=replace(shown, first_text=first, second_text=second))

    def text(self, tree: Derivation) -> bytes | None:
        """A text that is cut into the leaves of a derivation; None if none was found."""
        try:
            pieces = self._pieces(tree)
        except _NoTextError:
            return None
        candidates = (self._joined(pieces, gaps) for gaps in self._gaps(pieces))
        return next((text for text in candidates if self._is_cut_so(text, pieces)), None)

    @cached_property
    def _symbols(self) -> dict[str, int]:
        count = self._grammar.end + 1 + len(self._grammar.nonterminals)
        return {self._grammar.describe_symbol(symbol): symbol for symbol in range(count)}

    def _pieces(self, tree: Derivation) -> list[_Piece]:
        start = self._state_before(self._symbol(tree.symbol))
        pieces: list[_Piece] = []
        stack, looked = [start], start
        for symbol, popped in self._moves(tree):
            if popped >= 0:
                del stack[len(stack) - popped :]
                stack.append(self._after(stack[-1], symbol))
                continue
            text = self._texts.shortest(symbol)
            if text is None or len(pieces) == _LONGEST:
                raise _NoTextError
            pieces.append(_Piece(symbol, looked, text))
            looked = self._after(stack[-1], symbol)
            stack.append(looked)
        return pieces

    def _moves(self, tree: Derivation) -> Iterator[tuple[int, int]]:
        """What the parser does: (terminal, -1) for a shift, (nonterminal, how many it pops) for a reduction."""
        pending: list[Derivation | tuple[int, int]] = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, tuple):
                yield node
                continue
            symbol = self._symbol(node.symbol)
            if node.children is not None:
                pending += [(symbol, len(node.children)), *reversed(node.children)]
            elif symbol < self._grammar.end:
                yield symbol, -1
            else:
                yield from self._shortest_moves(symbol)

    def _shortest_moves(self, nonterminal: int) -> Iterator[tuple[int, int]]:
        first = self._grammar.end + 1
        if not 0 <= self._yields.length[nonterminal - first] <= SPELL_OUT:
            raise _NoTextError
        pending: list[int | tuple[int, int]] = [nonterminal]
        for _ in range(100 * SPELL_OUT):  # empty yields can have trees that are exponentially large
            if not pending:
                return
            top = pending.pop()
            if isinstance(top, tuple):
                yield top
            elif top < first:
                yield top, -1
            else:
                rhs = self._grammar.productions[self._yields.production[top - first]].rhs
                pending += [(top, len(rhs)), *reversed(rhs)]
        raise _NoTextError

    @cached_property
    def _yields(self) -> Yields:
        return shortest_yields(self._grammar)

    def _symbol(self, name: str) -> int:
        if name not in self._symbols:
            raise _NoTextError
        return self._symbols[name]

    def _state_before(self, nonterminal: int) -> int:
        """A state in which the nonterminal can begin."""
        if nonterminal <= self._grammar.end:
            raise _NoTextError
        if nonterminal in self._grammar.starts:
            return self._tables.start_states[self._grammar.starts.index(nonterminal)]
        states = self._tables.goto.states_of(nonterminal - self._grammar.end - 1)
        if not states:
            raise _NoTextError
        return states[0]

    def _after(self, state: int, symbol: int) -> int:
        first = self._grammar.end + 1
        if symbol < first:
            target = int(self._tables.action[state, symbol]) - 1
        else:
            target = self._tables.goto[state, symbol - first]
        if target < 0:
            raise _NoTextError
        return target

    def _gaps(self, pieces: Sequence[_Piece]) -> Iterator[list[bytes]]:
        """What to write between the pieces: blanks between words, blanks everywhere, nothing."""
        between = list(pairwise(pieces))
        blank = self._texts.blank
        if blank is not None:
            yield [blank if _is_word(a.text[-1:]) and _is_word(b.text[:1]) else b"" for a, b in between]
            yield [blank] * len(between)
        yield [b""] * len(between)

    def _joined(self, pieces: Sequence[_Piece], gaps: Sequence[bytes]) -> bytes:
        return b"".join(piece.text + gap for piece, gap in zip(pieces, [*gaps, b""], strict=bool(pieces)))

    def _is_cut_so(self, text: bytes, pieces: Sequence[_Piece]) -> bool:
        """Whether the lexer makes the pieces of a text, and nothing else but ignored text."""
        for piece in pieces:
            rest = self._without(piece, text)
            if rest is None:
                return False
            text = rest
        return not text

    def _without(self, piece: _Piece, text: bytes) -> bytes | None:
        """What is left of a text when the piece has been read from its beginning; None if it is not what is read."""
        context = int(self._texts.lexer.context_of_state[piece.state])
        if piece.terminal not in self._texts.looked_for(context):
            # A conflict between reductions that nothing settles leaves its lookaheads out of the row.
            text = text.removeprefix(self._texts.blank or b"")
            return text[len(piece.text) :] if text.startswith(piece.text) else None
        while (lexeme := self._texts.first_lexeme(context, text)) is not None and lexeme.length > 0:
            found, text = text[: lexeme.length], text[lexeme.length :]
            if lexeme.label != self._grammar.end + 1:
                return text if (lexeme.label, found) == (piece.terminal, piece.text) else None
        return None


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or character >= b"\x80"
