"""Every stage of every door looks at the clock: counted with a clock that goes on by one at each look.

So no time is measured. A case is small; it has to look often enough that a large one like it could not run for long
between two looks, and to stop wherever the time ends. `tests/benchmarks/time_limits.py` measures large ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from functools import lru_cache, partial
from itertools import count
from typing import Any, Literal

import pytest

import pdacon
from pdacon import Grammar, LimitExceededError, Limits, RegularSet, Vocabulary
from pdacon.base.cancelling import Watch
from pdacon.grammar.builtin import builtin_source

WORDS = [f"{(number * 7_919) % 100_003:x}" for number in range(600)]
CHAIN = "\n".join(["root ::= r0", *(f'r{k} ::= "(" r{k + 1} ")" | "b"' for k in range(40)), 'r40 ::= root "c" | "."'])
RULES = "".join(f'r{k}: "a{k}" r{(7 * k + 1) % 300} "c" | "d{k}"\n' for k in range(300)) + "start: r0 //" + " " * 10_000
KNOT = """e ::= "" | [a] (root{2,} ) "a"
x1 ::= "aba" [^ab] | "b" "ba" | e "a" [b]{2} | root{0,3} e
root ::= "aa"{2,} [ab] (( x1{2,} x1 | [ab]{1,3} )? [b] | "aab" "a" ) | "b"? [^a]{0,4} root{1,4} x1{0,3} | [a-b] e{2,4}
"""


FORMS: tuple[Literal["json"], Literal["python"]] = ("json", "python")
VALUES: dict[str, tuple[Any, Any]] = {
    "a list": (list[int], list(range(1_000))),
    "a set": (set[int], set(range(1_000))),
    "a dict": (dict[str, int], {str(k): k for k in range(1_000)}),
    "any value": (Any, list(range(1_000))),
    "any dict": (Any, {str(k): k for k in range(1_000)}),
}


@lru_cache
def typed(name: str, form: Literal["json", "python"]) -> Grammar:
    return Grammar.from_type(VALUES[name][0], form=form)


def writes(name: str) -> None:
    """In both forms."""
    for form in FORMS:
        typed(name, form).write(VALUES[name][1])


@lru_cache
def written(name: str, form: Literal["json", "python"]) -> str:
    return typed(name, form).write(VALUES[name][1])


def parses(name: str) -> None:
    for form in FORMS:
        values = typed(name, form).data.values
        assert values is not None
        values.read(written(name, form))


def calls(count: int, separator: str) -> dict[str, Any]:
    """A structural tag of calls of so many tools, after thoughts; without a separator their borders are not found."""
    schemas = [{"type": "object", "properties": {f"a{k}": {"type": "integer"}}} for k in range(count)]
    contents = [{"type": "json_schema", "json_schema": schema} for schema in schemas]
    tags = [{"type": "tag", "begin": f"<{k}>", "content": one, "end": "</>"} for k, one in enumerate(contents)]
    thought = {"type": "tag", "begin": "<t>", "content": {"type": "any_text"}, "end": "</>"}
    thoughts = {"type": "plus", "content": thought}
    between = {"type": "const_string", "value": separator}
    return {"type": "sequence", "elements": [thoughts, between, {"type": "or", "elements": tags}]}


class Clock:
    """A clock that goes on by one at each look."""

    now = 0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def looks_of(work: Callable[[], object], most: float = 0) -> int:
    """How often some work looks at the clock, which ends it after so many looks; 0: not."""
    clock = Clock()
    with Watch(most or 1e9, clock=clock, patience=0):
        work()
    return clock.now


_numbers = count()


def unread(text: str) -> str:
    """A text in Lark's language of the same meaning that nobody has read yet: what was read once is kept."""
    return f"{text}\n// {next(_numbers)}"


CASES: dict[str, tuple[Callable[[], object], int]] = {
    "GBNF, a large repetition": (lambda: Grammar.from_gbnf('root ::= (("a" | "b"){0,40} "c"){0,40}'), 100),
    "GBNF, words": (lambda: Grammar.from_gbnf("root ::= " + " | ".join(f'"{word}"' for word in WORDS)), 600),
    "GBNF, rules that lead to rules": (lambda: Grammar.from_gbnf(CHAIN), 100),
    "llguidance": (lambda: Grammar.from_llguidance("start: T\nT: /(a|b)*a(a|b){8}/ & /(a|b)*b(a|b){6}/"), 3),
    "Lark, many rules": (lambda: Grammar.from_lark(unread(RULES)), 100),
    "Lark, optional parts": (
        lambda: Grammar.from_lark(unread("start: " + " ".join(f'"{k}"?' for k in range(10)))),
        100,
    ),
    "regex": (lambda: Grammar.from_regex("(a|b)*a(a|b){9}"), 5),
    "choices": (lambda: Grammar.from_choices(WORDS), 2),
    "types, two Literals": (lambda: Grammar.from_type(two_choices(1_000)), 40),
    "types, two Enums": (lambda: Grammar.from_type(two_enums(1_000)), 40),
    **{
        f"{what} {name}": (partial(work, name), 20)
        for name in VALUES
        for what, work in (("writes", writes), ("parses", parses))
    },
    "repeat": (lambda: RegularSet.from_regex("ab|c").repeat(300, 600), 30),
    "delimited_subsequence_of": (lambda: RegularSet.delimited_subsequence_of(WORDS[:60], ","), 200),
    "concatenation": (lambda: RegularSet.from_regex("a*b").concatenation(*[RegularSet.from_regex("c")] * 40), 40),
    "union": (lambda: RegularSet.from_regex("a*b").union(*[RegularSet.from_regex("c")] * 40), 40),
    "structural tag": (lambda: Grammar.from_structural_tag(calls(6, "-")).data, 300),
    "structural tag, its normal form": (lambda: Grammar.from_structural_tag(calls(6, "")).data, 500),
    "compile": (lambda: pdacon.compile(unread(builtin_source("json")[0]), Vocabulary.bytes()), 10),
    "check": (lambda: pdacon.check(Grammar.builtin("json"), seconds=1_000), 20),
    "sample": (lambda: Grammar.builtin("arithmetic").sample(20, seed=1), 20),
}


@pytest.mark.parametrize("name", CASES)
def test_work_looks_at_the_clock(name: str) -> None:
    work, least = CASES[name]
    work()  # what is made once, such as tables of characters, is not what is counted
    assert looks_of(work) >= least


@pytest.mark.parametrize("name", [name for name in CASES if name != "check"])
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_work_ends_where_the_time_does(name: str, share: float) -> None:
    work, _ = CASES[name]
    work()
    with pytest.raises(LimitExceededError) as caught:
        looks_of(work, 1 + share * max(looks_of(work) - 4, 0))
    assert caught.value.what == "seconds"


def test_a_knot_of_rules_ends_with_its_time() -> None:
    """Three lines whose machines grow and grow."""
    with pytest.raises(LimitExceededError) as caught:
        looks_of(lambda: Grammar.from_ebnf(KNOT), 2_000)
    assert caught.value.what == "seconds"


def test_large_repetitions_are_by_squaring() -> None:
    """Twice as many times are one step more; 10**9 meet the limit of states."""
    texts = RegularSet.from_regex("ab|c")
    few, many = looks_of(lambda: texts.repeat(500, 500)), looks_of(lambda: texts.repeat(1_000, 1_000))
    assert many < few + 100
    for counts in [(10**9,), (0, 10**9), (10**9, 2 * 10**9)]:
        with pytest.raises(LimitExceededError) as caught:
            texts.repeat(*counts)
        assert caught.value.what == "states"


@pytest.mark.parametrize("pattern", ["a|ab|b", "a?", "ab|c", "a*b", "(a|b)*a(a|b)", "[^\\w\\W]"])
@pytest.mark.parametrize("counts", [(0, 0), (0, 1), (0, 3), (0, 6), (1, 1), (2, 2), (3, 7), (5, 5), (4, None)])
def test_repetitions_are_what_patterns_have(pattern: str, counts: tuple[int, int | None]) -> None:
    least, most = counts
    written = f"({pattern}){{{least},{'' if most is None else most}}}"
    assert RegularSet.from_regex(pattern).repeat(least, most) == RegularSet.from_regex(written)


def test_nested_repetitions_are_one_automaton() -> None:
    """Also where they are large; what is too large says so, and is not refused for what single characters become."""
    nested = Grammar.from_gbnf('root ::= (("a" | "b"){0,40}){0,40}')
    assert len(nested.data.terminals) == 1
    assert nested.accepts("ab" * 800)
    assert not nested.accepts("ab" * 800 + "a")
    with pytest.raises(LimitExceededError, match=r"states: .* repetitions are counted") as caught:
        Grammar.from_gbnf('root ::= (("a" | "b"){0,700}){0,700}')
    assert caught.value.what == "states"


def chained(count: int) -> str:
    rules = [f'r{k} ::= "a" r{k + 1} | "b"' for k in range(count)]
    return "\n".join(['root ::= r0 "."', *rules, f'r{count} ::= "c"'])


def test_chained_rules_are_one_machine() -> None:
    """Twice as many take twice as many looks, and not four times: no rule has a machine of its own."""
    grammar = Grammar.from_gbnf(chained(60))
    texts = {"a" * before + "b." for before in range(60)} | {"a" * 60 + "c."}
    assert len(grammar.data.terminals) == 1
    assert set(grammar.sample(len(texts), seed=1)) <= texts
    assert all(grammar.accepts(text) for text in texts)
    few, many = (looks_of(partial(Grammar.from_gbnf, chained(count))) for count in (400, 800))
    assert many < 2.5 * few


def test_limits_of_a_pattern_hold() -> None:
    with pytest.raises(LimitExceededError) as caught:
        RegularSet.from_regex("(a|b)*a(a|b){20}", limits=Limits(seconds=1e-9))
    assert caught.value.what == "seconds"


def function_calls(work: Callable[[], object]) -> int:
    """How many functions some work calls."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def two_choices(count: int) -> Any:
    return Literal[tuple(f"x{k}" for k in range(count))] | Literal[tuple(range(count))]


def two_enums(count: int) -> Any:
    enum: Any = Enum  # whose members are computed
    return enum("Some", [f"a{k}" for k in range(count)]) | enum("Others", {f"b{k}": f"b{k}" for k in range(count)})


@pytest.mark.parametrize("union", [two_choices, two_enums])
def test_unions_of_many_constants_are_linear(union: Callable[[int], Any]) -> None:
    """Twice as many take about twice as many steps, and not four times: what is equal is looked up."""
    few, many = (function_calls(partial(Grammar.from_type, union(count))) for count in (300, 600))
    assert many < 2.5 * few
