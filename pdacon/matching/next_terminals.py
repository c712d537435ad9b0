"""Which terminals can come, if a sentence is to come of it: what the mask allows, in terminals."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from pdacon._native import _core
from pdacon.grammar import GrammarData
from pdacon.lexer import compile_terminal
from pdacon.lexer.contexts import lexing_order
from pdacon.matching.lexemes import shortest_texts
from pdacon.pda import Configuration, Expectation, LexemeReader, expect
from pdacon.regular.ordered import ANY_SIZE

_MOST_TRIED = 32  # texts of an ignored terminal
_DEEPEST = 10_000  # symbols on the stack of a text that is completed
_NOTHING = Expectation((), (), end=True)


class Following:
    """Says what can follow a text, for one grammar."""

    def __init__(self, grammar: GrammarData) -> None:
        self._grammar = grammar

    def expect(
        self, place: Configuration, text: bytes, matcher: _core.Matcher, reader: LexemeReader | None = None
    ) -> Expectation:
        """What may come where a matcher stands.

        ``place``: what the matcher's text leads to. ``text``: that text. ``matcher``: it can take back an accept.
        Returns: as `pdacon.pda.expect` has it, but only the terminals that some text leads on with, to the end of a
        sentence: with what the matcher's vocabulary can spell.
        Exact, but for terminals that are ignored, where there are several of them: they are all one to the lexer. Of
        these it is those of which some short text is read as such, and can come.
        """
        if matcher.is_terminated():
            return _NOTHING
        expected = expect(place)
        unfinished, following = (set(labels.tolist()) for labels in matcher._outlook(text))
        ignored = self._grammar.end + 1
        if ignored in unfinished:
            unfinished |= self._grammar.ignore
        if ignored in following:
            following.update(self._ignored_next(place, text, matcher, reader or LexemeReader()))
        following.discard(ignored)
        return Expectation(
            tuple(terminal for terminal in expected.unfinished if terminal in unfinished),
            (*(terminal for terminal in expected.next if terminal in following), *self._others(expected, following)),
            expected.end,
        )

    def _others(self, expected: Expectation, following: set[int]) -> list[int]:
        """What begins after lexemes of which a place has forgotten that they may have ended."""
        terminals = self._grammar.terminals
        return sorted(following.difference(expected.next), key=lambda terminal: lexing_order(terminals[terminal]))

    @cached_property
    def _ignored(self) -> dict[int, list[bytes]]:
        """The terminals that are ignored, each with texts that it matches."""
        terminals = [k for k in self._grammar.ignore if self._grammar.terminals[k].pattern is not None]
        programs = ((k, compile_terminal(self._grammar, self._grammar.terminals[k], ANY_SIZE)) for k in terminals)
        return {k: shortest_texts(program) for k, program in programs}

    def _ignored_next(
        self, place: Configuration, text: bytes, matcher: _core.Matcher, reader: LexemeReader
    ) -> Iterator[int]:
        """The ignored terminals of which a lexeme can begin after a text."""
        if len(self._grammar.ignore) == 1:
            yield from self._grammar.ignore
            return
        fresh = [at for at in place.alternatives() if at.fresh]
        for terminal, texts in self._ignored.items():
            taken = (more for more in texts if any(_match(at, more, reader) == terminal for at in fresh))
            if any(_begins(text, more, matcher) for more in islice(taken, _MOST_TRIED)):
                yield terminal


def _match(at: Configuration, lexeme: bytes, reader: LexemeReader) -> int | None:
    """The terminal that matches with the last byte of a text that is read from between two lexemes."""
    before = reader.read(at, lexeme[:-1])
    return None if before is None else before.match(lexeme[-1])


def _begins(text: bytes, more: bytes, matcher: _core.Matcher) -> bool:
    """Whether a lexeme begins between two texts, in a sentence that begins with both."""
    if not matcher.accept_bytes(more):
        return False
    # Mostly it is certain by now; if not, a sentence shows it.
    found = _is_cut(matcher, text + more, len(text))
    if not found and matcher._memory()[1] < _DEEPEST:
        found = _is_cut(matcher, text + more + matcher.shortest_completion(), len(text))
    matcher.rollback(1)
    return found


def _is_cut(matcher: _core.Matcher, text: bytes, place: int) -> bool:
    """Whether a lexeme of a text certainly begins at a place."""
    _, rows, begin, _, _ = matcher._trace(text, place, -1)
    return begin == place or place in rows.reshape(-1, 4)[:, 1]
