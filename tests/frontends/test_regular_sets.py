"""`RegularSet` against Python's sets and ``re`` over all short texts, and against interegular."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import interegular
import pytest
from interegular.fsm import FSM

import pdacon
from pdacon import RegularSet

ALPHABET = "ab\né"
TEXTS = ["".join(text) for size in range(5) for text in product(ALPHABET, repeat=size)]
PATTERNS = [
    "", "a|ab", "(?:a|ab)(?:b|bb)?", "(?:|a)*b", "(?:a*?b?)*", "(?i)A[^B]", "a{2,3}|b{0,1}", ".", "(?s).+", "(?m)^a$.*",
    "a$", "a$\n", r"a\Z", "^ab*", r"\w+", r"\W", r"\b[ab]+\b", r"(?!ab).*", r".*(?<=ab)", r"(?=.b)a.?", r"(a|b)\1",
    "(?x) a b # c", "[^é]*", r"(?a:\w)*", "(?P<q>a|b).*(?P=q)", "(?:(a)|b)(?(1)b|a)", "(?!)", "a(?=b)", "(?:ab)+?",
    "(?=a)|b", r"\Ba?", "(?:a|b)*é(?:a|b)", *(["(?>a|ab)b", "a++.", "(?:a|ab)?+b?", "(?>a*)*b", "(?>.*)b?"]
    if sys.version_info >= (3, 11) else []),
]  # fmt: skip


def members(regular_set: RegularSet) -> set[str]:
    return {text for text in TEXTS if text in regular_set}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_is_what_fullmatch_matches(pattern: str) -> None:
    assert members(RegularSet.from_regex(pattern)) == {text for text in TEXTS if re.fullmatch(pattern, text)}


def random_pattern(random: Random, depth: int) -> str:
    if depth == 0:
        return random.choice(["a", "b", "é", ".", r"\n", "[^a]", r"(?a:\w)", "[ab]", "", "$", "^", r"(?a:\b)"])
    one, other = (random_pattern(random, depth - 1) for _ in range(2))
    kinds = ["{0}{1}", "{0}{1}", "{0}|{1}", "(?:{0})*", "(?:{0}){{1,2}}", "(?:{0})??{1}", "(?:{0}|{1})+"]
    kinds += ["(?={0}){1}", "(?!{0}){1}", "(?:{0})+?{1}"]
    kinds += ["(?>{0}|{1})", "(?:{0})*+{1}"] if sys.version_info >= (3, 11) else []
    return f"(?:{random.choice(kinds).format(one, other)})"


def test_random_patterns(scaled: Callable[[int], int]) -> None:
    random = Random(4)
    compared = 0
    for _ in range(scaled(100)):
        pattern = random_pattern(random, random.randrange(1, 4))
        try:
            made = RegularSet.from_regex(pattern)
        except pdacon.UnsupportedGrammarError:
            continue
        compared += 1
        matched = re.compile(pattern)
        sample = random.sample(TEXTS, 120)
        assert {t for t in sample if t in made} == {t for t in sample if matched.fullmatch(t)}, pattern
    assert compared > scaled(80)


@pytest.mark.parametrize("seed", range(40))
def test_operations_are_those_of_sets(seed: int) -> None:
    random = Random(seed)
    universe = set(TEXTS)
    some = random.sample(PATTERNS, 2)
    one, other = map(RegularSet.from_regex, some)
    a, b = members(one), members(other)
    assert members(one | other) == a | b
    assert members(one & other) == a & b
    assert members(one - other) == a - b
    assert members(one ^ other) == a ^ b
    assert members(~one) == universe - a
    joined = {x + y for x in a for y in b}
    assert members(one + other) == joined & universe, some
    star, power = {""}, {""}
    for _ in range(4):
        power = {x + y for x in power for y in a if len(x + y) <= 4}
        star |= power
    assert members(one.repeat()) == star
    least, most = random.choice([(0, 2), (1, 1), (2, 3), (1, None), (0, 0)])
    powers = [{""}]
    for _ in range(6):
        powers.append({x + y for x in powers[-1] for y in a if len(x + y) <= 4})
    chosen = powers[least:] if most is None else powers[least : most + 1]
    assert members(one.repeat(least, most)) == set().union(*chosen)
    assert (~~one, one | one, one & ~one) == (one, one, RegularSet.from_choices([]))
    assert hash(~~one) == hash(one)
    assert pickle.loads(pickle.dumps(one)) == one
    assert (one <= other) == (not one - other)
    assert one - other <= one <= one | other
    assert (one < other) == (one <= other and one != other)
    assert one.isdisjoint(other) == (not one & other)
    if one <= other:
        assert a <= b


@pytest.mark.parametrize("pattern", ["a*b?", "(a|b){2,3}", "[^ab]+a", ".*", "é|\n", "(?:ab|a)*", r"\w{2}"])
def test_automata_of_interegular(pattern: str) -> None:
    fsm = interegular.parse_pattern(pattern).to_fsm()
    made = RegularSet.from_fsm(fsm)
    assert members(made) == {text for text in TEXTS if fsm.accepts(text)}
    assert ("\U0001f600a" in made) == fsm.accepts("\U0001f600a")


def test_anything_but_berlin() -> None:
    """Cognetta et al. (2025), appendix A.2: the automata of interegular and ours are combined alike."""
    anything, berlin = (interegular.parse_pattern(text).to_fsm() for text in ("[a-z]{1,8}", "berlin"))
    made = RegularSet.from_fsm(anything) - RegularSet.from_fsm(berlin)
    assert made == RegularSet.from_fsm(anything.difference(berlin))
    assert made == RegularSet.from_regex("[a-z]{1,8}") - RegularSet.from_choices(["berlin"])
    assert "berlin" not in made
    assert "berling" in made
    for sign, theirs in (("&", FSM.intersection), ("|", FSM.union), ("^", FSM.symmetric_difference)):
        left, right = (interegular.parse_pattern(text).to_fsm() for text in ("a[^b]*", "[ab]+"))
        ours = {"&": "__and__", "|": "__or__", "^": "__xor__"}[sign]
        both = getattr(RegularSet.from_fsm(left), ours)(RegularSet.from_fsm(right))
        assert both == RegularSet.from_fsm(theirs(left, right))


def test_finite_sets_are_enumerated() -> None:
    some = ["b", "", "ab", "a", "ab", "\U0001f600", "é\0", "\n"]
    made = RegularSet.from_strings(some)
    assert list(made) == sorted(set(some), key=lambda text: (len(text), text))
    assert (made.count(), made.is_finite(), made.shortest()) == (7, True, "")
    digits = RegularSet.from_regex("[0-9]{1,3}") - RegularSet.from_regex("0.+")
    assert list(digits) == [str(number) for number in range(1000)]
    for seed in range(20):
        pattern = random_pattern(Random(seed), 2)
        made = RegularSet.from_regex(pattern) & RegularSet.from_regex("(?s)[ab\né]{0,3}")
        assert list(made) == sorted((t for t in members(made) if len(t) < 4), key=lambda t: (len(t), t)), pattern


def test_infinite_sets() -> None:
    made = RegularSet.from_regex("(?:ab)+")
    assert made.count() is None
    assert not made.is_finite()
    assert made.strings(3) == ["ab", "abab", "ababab"]
    with pytest.raises(ValueError, match=r"no end of the strings.*strings\(most\)"):
        list(made)
    assert (RegularSet.from_choices([]).shortest(), bool(RegularSet.from_regex("(?!)"))) == (None, False)
    assert RegularSet.from_regex(".*a").shortest() == "a"


def test_names() -> None:
    made = RegularSet.from_regex("[a-z]+") - RegularSet.from_choices(["a"])
    assert repr(made) == """<RegularSet ('[a-z]+' - {"a"}): 3 states, no end of strings, such as 'b'>"""
    assert repr(made.named("words")).startswith("<RegularSet words: ")
    assert "some 10^3" in repr(RegularSet.from_regex("[a-z]{20,25}"))


def test_surrogates_are_in_no_set() -> None:
    assert "\ud800" not in ~RegularSet.from_choices([])
    with pytest.raises(ValueError, match=r"'a\\ud800' \(number 1\) has a lone surrogate"):
        RegularSet.from_choices(["b", "a\ud800"])


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match=r"3 \(number 1, a int\); write str"):
        RegularSet.from_choices(["b", 3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"list of strings, not one: give \['abc'\]"):
        RegularSet.from_choices("abc")
    with pytest.raises(TypeError, match="give its text, 'a'"):
        RegularSet.from_regex(re.compile("a"))  # type: ignore[arg-type]
    with pytest.raises(pdacon.UnsupportedGrammarError, match="column 2"):
        RegularSet.from_regex("a)")
    with pytest.raises(TypeError, match=r"interegular\.FSM, not a str"):
        RegularSet.from_fsm("a")
    with pytest.raises(TypeError):
        RegularSet.from_regex("a") | "a"  # type: ignore[operator]
    with pytest.raises(TypeError, match="not a str"):
        RegularSet.from_regex("a").union("a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no int can be in it"):
        3 in RegularSet.from_regex("a")  # noqa: B015
    with pytest.raises(ValueError, match="no 2 to 1"):
        RegularSet.from_regex("a").repeat(2, 1)


def test_limits() -> None:
    few = pdacon.Limits(states=100)
    with pytest.raises(pdacon.LimitExceededError, match="states"):
        RegularSet.from_regex("(?:a|b)*a(?:a|b){9}", limits=few)
    small = RegularSet.from_regex("(?:a{7})*", limits=few) & RegularSet.from_regex("(?:a{11})*", limits=few)
    with pytest.raises(pdacon.LimitExceededError, match="states"):
        small & RegularSet.from_regex("(?:a{13})*", limits=few)
    assert (small & RegularSet.from_regex("(?:a{13})*")).shortest() == ""


@pytest.mark.parametrize("pattern", ["(?s).*", 'a*"?', "[^a]+", r"(?:\\\n|é)*", "(?s)(?!.*aa).*", "", "(?!)"])
@pytest.mark.parametrize("escapes", ["needed", "ascii", "any"])
def test_escaped_strings_are_what_json_reads(pattern: str, escapes: Any) -> None:
    whole = RegularSet.from_regex(pattern)
    escaped = whole.escaped("json", escapes=escapes)
    alphabet = 'a"\\\n\x01\x1fé/\x7f\u2028\U0001f600'
    for text in ("".join(letters) for size in range(3) for letters in product(alphabet, repeat=size)):
        for ascii_only in (False, True):
            written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
            own = escapes == "any" or written == json.dumps(text, ensure_ascii=escapes == "ascii")[1:-1]
            assert (written in escaped) == (text in whole and own), (text, written)
    for text in escaped.strings(200):
        assert json.loads(f'"{text}"') in whole
    pieces = ["a", '"', "\\", "u", "0", "6", "1", "n", "\n", "/", "é"]
    for text in ("".join(letters) for size in range(4) for letters in product(pieces, repeat=size)):
        if text in escaped:
            assert json.loads(f'"{text}"') in whole, text
    for text in (r"\u0061", r"\u000A", r"\/", r"\ud83d\ude00"):
        assert (text in escaped) == (
            (escapes == "any" or (escapes, text) == ("ascii", r"\ud83d\ude00")) and json.loads(f'"{text}"') in whole
        )


def test_what_cannot_be_escaped() -> None:
    with pytest.raises(ValueError, match="notation"):
        RegularSet.from_regex("a").escaped("xml")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="escapes"):
        RegularSet.from_regex("a").escaped(escapes="none")  # type: ignore[arg-type]


def test_a_text_stands_for_itself_in_a_sum() -> None:
    number = RegularSet.from_regex("[0-9]{1,2}")
    price = "$" + number + ".00"
    assert [text in price for text in ("$7.00", "7.00", "$7", "$777.00")] == [True, False, False, False]
    assert price == RegularSet.from_regex(r"\$[0-9]{1,2}\.00")
    assert number + "" == number == "" + number
    for other in (7, None, b"$"):
        with pytest.raises(TypeError):
            _ = number + other  # type: ignore[operator]
        with pytest.raises(TypeError):
            _ = other + number  # type: ignore[operator]
