"""Every limit is met on purpose, in everything that has one: a limit by its name, or what was left undone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice

import pytest

import pdacon
from pdacon import Constraint, Grammar, LimitExceededError, Limits, Vocabulary, drawing
from pdacon.front.sampling import sample, sample_tokens
from pdacon.lalr import build_tables

BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
NESTED = 'start: "(" start ")" | "x"'
LARGE_LEXER = "start: A\nA: /[ab]*?a[ab]{20}c/"
LARGE_PATTERN = "start: A\nA: /\\w{1,1000}/"
LARGE_TABLES = "start: " + " | ".join(f'"{number:05}"' for number in range(12_000))
MANY_THREADS = "start: A\nA: /a(?!(?:[ab]{1,3}?a*){100}c)/"
DEEP = "start: " + "(" * 101 + '"a"' + ")" * 101


@cache
def read(text: str) -> Grammar:
    return Grammar.from_lark(text)


def compiled(text: str, **limits: float) -> Constraint:
    return pdacon.compile(read(text), BYTES, limits=Limits(**limits))  # type: ignore[arg-type]


def loaded(text: str, **limits: float) -> Constraint:
    return Constraint.from_bytes(compiled(text, **limits).to_bytes(), BYTES, verify=True)


MEETINGS: list[tuple[str, str, Callable[[], object]]] = [
    ("compile", "states", lambda: compiled(LARGE_LEXER, states=1000)),
    ("compile", "states", lambda: compiled(LARGE_PATTERN)),
    ("compile", "bytes", lambda: compiled(LARGE_LEXER, bytes=1 << 20)),
    ("compile", "bytes", lambda: compiled(LARGE_TABLES)),
    ("compile", "seconds", lambda: compiled(LARGE_LEXER, seconds=0.01)),
    ("compile", "seconds", lambda: compiled(MANY_THREADS, seconds=0.05)),
    ("accept", "depth", lambda: compiled(NESTED, depth=100).matcher().accept_bytes(b"(" * 200)),
    ("explain", "depth", lambda: compiled(NESTED, depth=100).matcher().explain(b"(" * 200)),
    ("sample", "depth", lambda: list(islice(sample(compiled(NESTED, depth=3), 1, size=200), 40))),
    ("accept", "depth", lambda: loaded(NESTED, depth=100).matcher().accept_bytes(b"(" * 200)),
    ("check", "states", lambda: pdacon.check(read(LARGE_PATTERN))),
    ("check", "bytes", lambda: pdacon.check(read(LARGE_TABLES))),
    ("draw", "states", lambda: drawing.draw_terminal(read(LARGE_PATTERN).data, "A")),
    ("build_tables", "bytes", lambda: build_tables(read(LARGE_TABLES).data)),
    ("from_lark", "levels of brackets", lambda: Grammar.from_lark(DEEP)),
    ("from_lark", "levels of groups", lambda: Grammar.from_lark(DEEP.replace('"', "").replace(": ", ": /") + "/")),
    ("from_lark", "alternatives", lambda: Grammar.from_lark("start: " + '"a"? ' * 30)),
]


@pytest.mark.parametrize(
    ("what", "meet"), [(what, meet) for _, what, meet in MEETINGS], ids=[f"{who}: {what}" for who, what, _ in MEETINGS]
)
def test_a_limit_is_met_by_name(what: str, meet: Callable[[], object]) -> None:
    with pytest.raises(LimitExceededError) as caught:
        meet()
    assert caught.value.what == what
    assert caught.value.given > caught.value.limit


@pytest.mark.slow
def test_check_says_what_it_had_no_time_for() -> None:
    grammar = Grammar.builtin("sql_select")
    assert pdacon.check(grammar, seconds=0).unfinished


def test_columns_have_a_bound_of_their_own() -> None:
    """What they bound is tested in composition/test_eager.py."""
    with pytest.raises(ValueError, match="columns"):
        Limits(columns=17)


def test_a_picture_that_is_too_large_is_refused() -> None:
    grammar = Grammar.from_lark("start: " + " ".join(f'"a{k}"' for k in range(300)))
    with pytest.raises(pdacon.DrawingError, match="more than 100 are not drawn"):
        drawing.draw_pda(grammar.data, build_tables(grammar.data), most=100)


def test_explain_keeps_the_depth_of_its_matcher() -> None:
    matcher = compiled(NESTED, depth=100).matcher()
    with pytest.raises(LimitExceededError):
        matcher.accept_bytes(b"(" * 200)
    assert str(matcher.explain(b")"))  # nothing was accepted, and it goes on


def doubling(levels: int) -> Constraint:
    """The only sentence has 2 to the power of the levels bytes."""
    rules = "".join(f"r{k}: r{k + 1} r{k + 1}\n" for k in range(levels))
    return compiled(f'start: r0\n{rules}r{levels}: "a"\n')


def test_a_sample_that_is_too_long_is_refused() -> None:
    with pytest.raises(pdacon.MatcherError, match="16777216 bytes"):
        next(sample(doubling(70), 1))


@pytest.mark.slow
def test_a_long_sample_is_finished_by_the_shortest_way_at_once() -> None:
    """Not step by step, with what lies between looked at each time."""
    constraint = doubling(15)
    assert len(next(sample(constraint, 1))) == 1 << 15
    assert len(next(sample_tokens(constraint, 1))) == (1 << 15) + 1
