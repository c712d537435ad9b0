"""Programs against Python's ``re``: every small pattern, and random rich ones."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from graphlib import TopologicalSorter
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lexer.regexes import LETTERS, QUANTIFIERS, flag_sets, looping_regexes, regexes_of_size, rich_regexes, texts_over
from support.pike import Simulator, match_end
from support.scaling import scaled

from pdacon.regular.ordered import Program, compile_pattern
from pdacon.regular.ordered.program import BYTES, MATCH, SPLIT

TEXTS_OF_ABC = texts_over("abc", 4)


def disagreements(regexp: str, texts: Iterable[str], flags: int = 0) -> list[tuple[str, int | None, int | None]]:
    """(text, end of re's match in bytes, end of ours) wherever the two are not the same."""
    expected = re.compile(regexp, flags)
    simulator = Simulator(compile_pattern(regexp, flags))
    found = []
    for text in texts:
        match = expected.match(text)
        theirs = None if match is None else len(match.group().encode("utf-8", "surrogatepass"))
        ours = simulator.match_end(text.encode("utf-8", "surrogatepass"))
        if theirs != ours:
            found.append((text, theirs, ours))
    return found


@pytest.mark.parametrize(
    ("size", "quantifiers", "length"),
    [
        (1, QUANTIFIERS, 5),
        (2, QUANTIFIERS, 5),
        (3, QUANTIFIERS, 5),
        (4, QUANTIFIERS, 5),
        (5, ("*", "+?", "??", "{2,}", "{0,2}"), 4),
        (6, ("*", "*?", "??"), 3),
    ],
)
def test_all_small_patterns(size: int, quantifiers: tuple[str, ...], length: int) -> None:
    texts = texts_over("ab", length)
    wrong = {}
    for regexp in regexes_of_size(size, ("a", "b", ""), quantifiers):
        if "b" in regexp.partition("a")[0]:
            continue  # the same with the letters exchanged is another one
        found = disagreements(regexp, texts)
        if found:
            wrong[regexp] = found
    assert wrong == {}


@pytest.mark.parametrize(
    "loop",
    [
        "(|a)*",
        "(|a)+",
        "(a|b*)*",
        "(a*?)*",
        "(a*)*?",
        "(?:a??){2,}",
        "(?:a??){0,3}",
        "(|a|b)*",
        "(?:a?b??)*",
        "((a*)*|b)*",
        "((|a)*?|b)*",
        "(?:(|a){2,})+?",
        "(?:(?:|a)(?:b|))*?",
    ],
)
@pytest.mark.parametrize("tail", ["", "(b|abc)", "(c|bc|abc)", "(?:a??b)?", "|c"])
def test_order_behind_iterations_that_can_be_empty(loop: str, tail: str) -> None:
    assert disagreements(f"{loop}(?:{tail})", TEXTS_OF_ABC) == []


@pytest.mark.slow
@settings(max_examples=scaled(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(looping_regexes)
@example("(|a)*(b|abc)")
def test_random_loops(regexp: str) -> None:
    assert disagreements(regexp, TEXTS_OF_ABC) == []


@pytest.mark.slow
@settings(max_examples=scaled(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rich_regexes, flag_sets, st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=12))
@example("(?i:\U00010400|\U00010400)", 0, ["\U00010400", "\U00010428"])
@example("(?i:k)(?-i:k)", 0, ["\u212ak", "K\u212a", "kk"])
@example("(?i:[^s])", 0, ["\u017f", "S", "x"])
@example("(?a:(?i:k\\w))", 0, ["\u212aa", "Kk", "k\u212a"])
@example("(?i:(?a:k)k)", 0, ["\u212aK", "K\u212a", "kk"])
@example("(?x: a b # c\n)", 0, ["ab", "a b"])
def test_random_patterns(regexp: str, flags: int, texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # "possible nested set", from re's parser
        assert disagreements(regexp, texts, flags) == []


@pytest.mark.parametrize(
    ("regexp", "flags", "text", "end"),
    [
        (r'"""(.|\n)*?"""', 0, '"""a"""b"""', 7),
        ("(?s:.)", 0, "\n", 1),
        (".", re.DOTALL, "\n", 1),
        (".", 0, "\n", None),
        (".", 0, "\U0001f600", 4),
        ("(?P<name>a)(b)", 0, "ab", 2),
        ("(?i)select", 0, "SELECT", 6),
        ("(?i:if)", 0, "\u0130F", 3),
        ("a b  # comment", re.VERBOSE, "ab", 2),
        ("(?#comment)a", 0, "a", 1),
        (r"\N{DIGIT ONE}\x32\u0033", 0, "123", 3),
        ("a{,2}b", 0, "aab", 3),
        ("a{0}b", 0, "b", 1),
        (r"[^\s\S]", 0, "a", None),
        (r"a[^\s\S]|ab", 0, "ab", 2),
        (r"(?:[^\s\S]|a)*b", 0, "aab", 3),
        ("\ud800", 0, "a", None),
        ("[\ud7ff-\ue000]+", 0, "\ud7ff\ue000", 6),
    ],
)
def test_where_a_match_ends(regexp: str, flags: int, text: str, end: int | None) -> None:
    assert match_end(compile_pattern(regexp, flags), text.encode()) == end


def test_surrogates_match_nothing() -> None:
    program = compile_pattern("[\ud7ff-\ue000]|\ud801|(?i:[\ud800-\udfff\u0130])")
    assert match_end(program, "\ud800".encode("utf-8", "surrogatepass")) is None
    assert match_end(program, "\u0130".encode()) == 2


@pytest.mark.slow
@settings(max_examples=scaled(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rich_regexes | looping_regexes)
@example(r"[^\s\S]")
@example(r"(?:a|[^\s\S])*[^\s\S]|b")
@example(r"\w{2}(?:|\d)*")
def test_invariants_of_a_program(regexp: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        program = compile_pattern(regexp)
    successors = _successors(program)
    assert set(program.kind.tolist()) <= {BYTES, SPLIT, MATCH}
    assert not any(array.flags.writeable for array in (program.kind, program.offset, program.lo, program.target))
    assert _reachable(successors, program.entries.tolist()) == set(range(len(program)))
    final = [state for state, kind in enumerate(program.kind) if kind == MATCH]
    assert len(final) <= 1
    if final:
        predecessors = [
            [p for p, targets in enumerate(successors) if state in targets] for state in range(len(program))
        ]
        assert _reachable(predecessors, final) == set(range(len(program)))
    else:
        assert program.kind.tolist() == [BYTES]
        assert successors == [[]]
    for state, targets in enumerate(successors):
        first, last = program.offset[state], program.offset[state + 1]
        if program.kind[state] == BYTES:
            borders = [
                border for pair in zip(program.lo[first:last], program.hi[first:last], strict=True) for border in pair
            ]
            assert borders == sorted(borders)
            assert len(set(program.lo[first:last].tolist())) == len(targets)
        elif program.kind[state] == SPLIT:
            assert len(set(targets)) == len(targets) >= 2
    without_reading = {state: to for state, to in enumerate(successors) if program.kind[state] == SPLIT}
    TopologicalSorter(without_reading).prepare()  # raises if there is an epsilon cycle


def _successors(program: Program) -> list[list[int]]:
    return [program.target[first:last].tolist() for first, last in pairwise(program.offset.tolist())]


def _reachable(successors: list[list[int]], starts: list[int]) -> set[int]:
    reached = set(starts)
    pending = list(starts)
    while pending:
        new = set(successors[pending.pop()]) - reached
        reached |= new
        pending += new
    return reached
