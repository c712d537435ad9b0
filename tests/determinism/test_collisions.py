"""Which terminals collide: beside `re` on all short texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

import pytest
from conftest import Tally
from lexer.regexes import conditional_regex, texts_over

from pdacon.base.limits import Limits
from pdacon.errors import GrammarError, LimitExceededError
from pdacon.front.grammar import Grammar
from pdacon.lalr import build_tables
from pdacon.lexer import Collision, build_lexer, find_collisions

LENGTH = 6


def lexer_of(text: str) -> list[Collision]:
    grammar = Grammar.from_lark(text)
    return find_collisions(build_lexer(grammar.data, build_tables(grammar.data)))


def readable(patterns: list[re.Pattern[str]], text: str, at: int) -> bool:
    """Whether some sequence of lexemes leads from here to the end."""
    ends = {match.end() for p in patterns if (match := p.match(text, at)) and match.end() > at}
    return at == len(text) or any(readable(patterns, text, end) for end in ends)


def shared(patterns: list[re.Pattern[str]], text: str) -> bool:
    """Whether the first two match the same part of a text, and the rest can be read."""
    first, second = (p.match(text) for p in patterns[:2])
    return bool(first and second and first.end() == second.end() > 0 and readable(patterns, text, first.end()))


def grammars(number: int) -> Iterator[list[str]]:
    random = Random(5)
    for _ in range(number):
        yield [conditional_regex(random) for _ in range(random.randint(2, 3))]


@pytest.mark.slow
def test_random_patterns(scaled: Callable[[int], int], tally: Tally) -> None:
    texts = texts_over("ab", LENGTH)
    for patterns in grammars(scaled(60)):
        names = "ABC"[: len(patterns)]
        text = f"start: ({'|'.join(names)})*\n" + "".join(
            f"{name}: /{p}/\n" for name, p in zip(names, patterns, strict=True)
        )
        try:
            grammar = Grammar.from_lark(text)
            lexer = build_lexer(grammar.data, build_tables(grammar.data), Limits(states=20_000))
        except (GrammarError, LimitExceededError):
            continue
        found = {frozenset((c.first, c.second)): c for c in find_collisions(lexer)}
        terminals = [t for t in grammar.data.terminals if t.pattern is not None]
        compiled = [re.compile(t.pattern.regexp) for t in terminals if t.pattern]
        for first, second in ((a, b) for a in range(len(compiled)) for b in range(a)):
            order = [compiled[first], compiled[second], *compiled]
            example = next((t for t in texts if shared(order, t)), None)
            collision = found.get(frozenset((first, second)))
            tally(pairs=1, collisions=collision is not None)
            if collision is None:
                assert example is None, text
                continue
            whole = (collision.witness + collision.following).decode()
            ends = [match.end() for p in order[:2] if (match := p.match(whole))]
            assert ends == [len(collision.witness)] * 2, (text, whole)
            assert example is None or len(whole) >= len(collision.witness)


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        # Where b follows, A ends after a; its other alternative never gets to match ab.
        ("start: (A | B)*\nA: /a(?=b)|ab/\nB: /ab/\n", None),
        ("start: (A | B)*\nA: /a(?=bc)|ab/\nB: /ab/\nC: /c/\n", b""),
        ("start: (A | B)*\nA: /a(?=b)/\nB: /a/\n", None),
        ("start: (A | B) B*\nA: /a(?=b)/\nB: /[ab]/\n", b"b"),
        ("start: A | B | A C\nA: /a(?=b)/\nB: /a/\nC: /c/\n", None),
        ("start: A | B | A C\nA: /a(?=b)/\nB: /a/\nC: /b+/\n", b"b"),
        ("start: A | B\nA: /a(?=b)/\nB: /a/\nC: /b+/\n%ignore C\n", b"b"),
        ("start: (NAME | LAMBDA)+\nNAME: /(?!lambda\\b)[a-z]+/\nLAMBDA: /lambda/\n%ignore / /\n", None),
        ("start: (NAME | LAMBDA | NUMBER)+\nNAME: /(?!lambda\\b)[a-z]+/\nLAMBDA: /lambda/\nNUMBER: /[0-9]+/\n", b"0"),
        # What has been read as a keyword is followed by what follows the keyword.
        ('start: NAME | FIRST | "if" NUMBER\nNAME: /[a-z]+(?=[0-9])/\nFIRST: /if/\nNUMBER: /[0-9]+/\n', b"0"),
    ],
)
def test_what_has_to_follow_must_be_something_that_can(text: str, follows: bytes | None) -> None:
    """Only where all texts after a match begin with what the terminals there do."""
    found = lexer_of(text)
    assert [collision.following for collision in found] == ([] if follows is None else [follows])
