"""A limit that is met leaves nothing half done in the core: asked again, it is met again, or the answer is right."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pdacon import Grammar, LimitExceededError, Vocabulary
from pdacon._native import _core
from pdacon.composition import native_trie
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer

LONG = 'start: "x" start "y" | WORD\nWORD: /[a-z]{3,9}!/\n%ignore /[ \\n]+/'
GRAMMARS = [
    'start: "alpha" NUMBER "omega"\nNUMBER: /[0-9]+/\n%ignore " "',
    "start: (A | B)+\nA: /a(bcd1om!xy)?/\nB: /[b-d]/",
    LONG,
]
# Between two letters that are only spelled together there are states of the vocabulary too.
PAIRS = Vocabulary.from_tokens(
    [b"al", b"ph", b"a", b"1", b"om", b"eg", b"bc", b"d", b"x", b"y", b"!", b" ", None], eos_ids=[12]
)
MOST_STATES = 60
MOST_BYTES = 40_000

Emissions = list[tuple[int, int]]


VOCABULARIES = pytest.mark.parametrize("vocabulary", [Vocabulary.bytes(), PAIRS], ids=["bytes", "pairs"])


class Asked:
    """The lexemes of a grammar, to be followed within some limits."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        grammar = Grammar.from_lark(text)
        self.lexer = build_lexer(grammar.data, build_tables(grammar.data)).automaton
        self.trie = native_trie(vocabulary)
        self.labels = [{label for label, _ in answer or ()} for answer in self.answers(self.make())]

    def make(self, max_states: int = 0, max_bytes: int = 0) -> _core.NextLexemes:
        return _core.NextLexemes.make(self.lexer, self.trie, max_states, max_bytes)

    def answers(self, lexemes: _core.NextLexemes) -> list[Emissions | None]:
        """From the start of each context; None: the limit was met."""
        found: list[Emissions | None] = []
        for context in range(len(self.lexer.entries)):
            found.append(None)
            with suppress(LimitExceededError):
                found[-1] = lexemes.after(context, lexemes.beginning())
        return found

    def are_right(self, answers: list[Emissions | None]) -> bool:
        return all(
            answer is None or {label for label, _ in answer} == expected
            for answer, expected in zip(answers, self.labels, strict=True)
        )


@VOCABULARIES
@pytest.mark.parametrize("text", GRAMMARS)
def test_next_lexemes_within_a_limit_on_states(text: str, vocabulary: Vocabulary) -> None:
    asked = Asked(text, vocabulary)
    refused = 0
    for max_states in range(1, MOST_STATES):
        try:
            lexemes = asked.make(max_states)
        except LimitExceededError:
            continue
        first = asked.answers(lexemes)
        refused += first.count(None)
        assert asked.answers(lexemes) == first
        assert asked.answers(lexemes) == first
        assert asked.are_right(first)
    assert refused > 0


@VOCABULARIES
def test_next_lexemes_within_a_limit_on_memory(vocabulary: Vocabulary) -> None:
    """What is known already takes less memory the second time, so that more may be answered then."""
    asked = Asked(LONG, vocabulary)
    refused = answered = 0
    for max_bytes in range(1000, MOST_BYTES, 37):
        try:
            lexemes = asked.make(max_bytes=max_bytes)
        except LimitExceededError:
            continue
        for _ in range(3):
            answers = asked.answers(lexemes)
            assert asked.are_right(answers)
            refused += answers.count(None)
            answered += len(answers) - answers.count(None)
    assert refused > 0
    assert answered > 0
