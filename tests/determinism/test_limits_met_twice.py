"""A limit that is met leaves nothing half done in the core: asked again, it is met again, or the answer is right."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pdacon import Grammar, LimitExceededError, Vocabulary
from pdacon._native import _core
from pdacon.composition import native_trie
from pdacon.determinism.language.emptiness import every_byte
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer

GRAMMARS = [
    'start: "alpha" NUMBER "omega"\nNUMBER: /[0-9]+/\n%ignore " "',
    "start: (A | B)+\nA: /a(bcd1om!xy)?/\nB: /[b-d]/",
    'start: "x" start "y" | WORD\nWORD: /[a-z]{3,9}!/\n%ignore /[ \\n]+/',
]
# Between two letters that are only spelled together there are states of the vocabulary too.
PAIRS = Vocabulary.from_tokens(
    [b"al", b"ph", b"a", b"1", b"om", b"eg", b"bc", b"d", b"x", b"y", b"!", b" ", None], eos_ids=[12]
)
MOST_STATES = 60

Emissions = list[tuple[int, int]]


@pytest.mark.parametrize("vocabulary", [every_byte(), PAIRS], ids=["bytes", "pairs"])
@pytest.mark.parametrize("text", GRAMMARS)
def test_next_lexemes_can_be_asked_again(text: str, vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_lark(text)
    lexer = build_lexer(grammar, build_tables(grammar))
    trie = native_trie(vocabulary)
    contexts = range(len(lexer.automaton.entries))

    def make(max_states: int) -> _core.NextLexemes:
        return _core.NextLexemes.make(lexer.automaton, trie, max_states, 0.0)

    def answers(lexemes: _core.NextLexemes) -> list[Emissions | None]:
        """From the start of each context; None: the limit was met."""
        found: list[Emissions | None] = []
        for context in contexts:
            found.append(None)
            with suppress(LimitExceededError):
                found[-1] = lexemes.after(context, lexemes.beginning())
        return found

    free = make(0)
    labels = [{label for label, _ in free.after(context, free.beginning())} for context in contexts]
    refused = 0
    for max_states in range(1, MOST_STATES):
        try:
            limited = make(max_states)
        except LimitExceededError:
            continue
        first = answers(limited)
        refused += first.count(None)
        assert answers(limited) == first
        assert answers(limited) == first
        for answer, expected in zip(first, labels, strict=True):
            assert answer is None or {label for label, _ in answer} == expected
    assert refused > 0
