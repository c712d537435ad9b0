"""Backreferences and conditional groups against ``re``, where they are taken; and what is said where they are not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from random import Random

import pytest
from lexer.regexes import texts_over
from support.pike import Simulator

from pdacon import Grammar
from pdacon.errors import UnsupportedGrammarError
from pdacon.lexer.terminals import compile_terminal
from pdacon.regular.ordered import compile_pattern

TEXTS = texts_over("abc", 5)


def disagreements(regexp: str, texts: list[str], flags: int = 0) -> list[tuple[str, int | None, int | None]]:
    expected, simulator = re.compile(regexp, flags), Simulator(compile_pattern(regexp, flags))
    found = []
    for text in texts:
        match = expected.match(text)
        theirs = None if match is None else len(match.group().encode())
        ours = simulator.match_end(text.encode())
        if theirs != ours:
            found.append((text, theirs, ours))
    return found


@pytest.mark.parametrize(
    "regexp",
    [
        r"(?P<q>[ab])c*(?P=q)",
        r"(?P<q>a|ab)c*(?P=q)",
        r"(?P<q>ab|a)c*?(?P=q)b?",
        r"(a|b)(b|c)\2\1",
        r"(a)?b(?(1)c|a)",
        r"(a)??b(?(1)c|a)",
        r"(a)?b(?(1)c)",
        r"(?:(a)|b)c(?(1)a|b)",
        r"(?:(a|ab)|(b))c(?(1)\1|\2)",
        r"(a+)?b(?(1)c|a)",
        r"(a{0,2})b\1",
        r"(a{0,2}?)b\1",
        r"(a|)b\1c",
        r"((?:a|b){2})c?\1",
        r"(?:(a|b)c\1)+",
        r"(?:(a|b)c\1)*?c",
        r"(?:(a)b(?(1)c|b))*",
        r"(?=(a|b))(?:ab)*",
        r"(?>(a|ab)c*\1)b?",
        r"(?!(a|b)\1)[abc]+",
        r"(?:(?:(a|b)))\1",
        r"(?:(a)(b)?)c(?(2)\2|\1)",
        r"((a|b)c)a",
        r"(a|b)(?:\1|c)*",
        r"(a|b)(?=\1)[ab]c*",
        r"(a|b)(?<=\1)c",
        r"(a)?(?(1)(b)|(c))(?(2)a|b)",
        r"(a|b)(\1?c)\2",
    ],
)
def test_what_is_regular(regexp: str) -> None:
    assert disagreements(regexp, TEXTS) == []


REFUSED = {
    r"(a+)b\1": "a few texts only",
    r"(\w)\1": "a few texts only",
    r"([a-j]{3})\1": "a few texts only",
    r"(a*)\1": "a few texts only",
    r"(?:(a)|b)*(?(1)c|b)": "in the same alternative",
    r"(?:(a)?b(?(1)c|a))*": "in the same alternative",
    r"(?=(a|ab))\1": "in the same alternative",
    r"(?>(a|ab))\1": "in the same alternative",
    r"(?:(a)|b){2}\1": "in the same alternative",
    r"(?i:(a|b)\1)": "leave the flag i out",
    r"(a(?=b)|b)\1": "a few texts only",
}


@pytest.mark.parametrize("regexp", REFUSED)
def test_what_is_refused(regexp: str) -> None:
    re.compile(regexp)
    with pytest.raises(UnsupportedGrammarError, match=REFUSED[regexp]) as raised:
        compile_pattern(regexp)
    assert raised.value.feature in ("backreference", "conditional-group")


@pytest.mark.parametrize(
    ("regexp", "rewritten"),
    [
        (r"(a+)b\1", r"(a{1,3})b\1"),
        (r"(?i:(a|b)\1)", "aa|aA|Aa|AA|bb|bB|Bb|BB"),
        (r"(?=(a|ab))\1", "(a|ab)"),
        (r"(?:(a)|b){2}\1", r"(?:a|b)(a)\1"),
    ],
)
def test_the_rewrites_that_are_named_work(regexp: str, rewritten: str) -> None:
    """They mean something narrower, but they are taken."""
    with pytest.raises(UnsupportedGrammarError):
        compile_pattern(regexp)
    assert disagreements(rewritten, TEXTS) == []


def test_letters_without_case_may_be_repeated_ignoring_it() -> None:
    assert disagreements(r"(['\"])[a-c]*\1", ["'A'", '"aB"', "'a\"", "''"], re.IGNORECASE) == []


@pytest.mark.slow
def test_random_patterns(scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    random = Random(9)
    taken = refused = 0
    while taken < scaled(400):
        regexp = random_pattern(random, [])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                re.compile(regexp)
        except re.error:  # a group that does not exist, or is open
            continue
        if not re.search(r"\\\d|\(\?\(", regexp):
            continue
        try:
            assert disagreements(regexp, TEXTS) == [], regexp
            taken += 1
        except UnsupportedGrammarError:
            refused += 1
    tally(patterns=taken, refused=refused)


def random_pattern(random: Random, groups: list[int], depth: int = 3) -> str:
    """A pattern over a, b and c; ``groups`` are those that have been opened."""
    kind = random.random()
    if depth == 0 or kind < 0.15:
        return random.choice("abc")
    if kind < 0.3 and groups:
        return rf"(?:\{random.choice(groups)})"
    if kind < 0.4 and groups:
        number = random.choice(groups)
        then, otherwise = (random_pattern(random, groups, depth - 1) for _ in range(2))
        return f"(?({number})(?:{then})|(?:{otherwise}))"
    if kind < 0.6:
        groups.append(len(groups) + 1)
        return f"({random_pattern(random, groups, depth - 1)})" + random.choice(["", "", "?", "??"])
    if kind < 0.85:
        return "".join(random_pattern(random, groups, depth - 1) for _ in range(random.randint(2, 4)))
    if kind < 0.95:
        return f"(?:{random_pattern(random, groups, depth - 1)}|{random_pattern(random, groups, depth - 1)})"
    quantifier = random.choice(["?", "*", "+", "??", "*?", "{1,2}"])
    return f"(?:{random_pattern(random, groups, depth - 1)}){quantifier}"


@pytest.mark.parametrize(("pattern", "text"), [(r"(['\"])a\1", r"\1"), ("(<)?a(?(1)>|;)", "(?(1)...)")])
def test_numbers_count_the_groups_of_all_terminals_in_larks_lexer(pattern: str, text: str) -> None:
    grammar = Grammar.from_lark(f"start: A\nA: /{pattern}/")
    with pytest.raises(UnsupportedGrammarError, match=r"name the group, \(\?P<q>") as raised:
        compile_terminal(grammar.data, grammar.data.terminals[0])
    assert str(raised.value).startswith(f"{text} at column ")
    assert raised.value.feature == "group-numbers"
