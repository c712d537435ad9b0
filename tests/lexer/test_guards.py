"""Look-around, anchors, word boundaries and atomic groups against Python's ``re``, from every start in a text."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lexer.regexes import LETTERS, flag_sets, guarded_regexes, regexes_of_size, rich_guarded_regexes, texts_over
from support.pike import Simulator
from support.scaling import every, scaled

from pdacon.errors import LimitExceededError
from pdacon.regular.ordered import compile_pattern
from pdacon.regular.ordered.program import PENDING, PENDING_OR_END

SINCE_3_11 = sys.version_info >= (3, 11)
NEEDS_3_11 = pytest.mark.skipif(not SINCE_3_11, reason="atomic groups are syntax errors in Python 3.10")

GUARDS = (
    "(?=a)",
    "(?!a)",
    "(?=ab)",
    "(?<=a)",
    "(?<!a)",
    "(?<!ab)",
    r"\b",
    r"\B",
    "^",
    "$",
    r"\A",
    r"\Z",
    "(?m:^)",
    "(?m:$)",
    "(?!a$)",
    "(?=a*b)",
    "(?!.*b)",
    "(?=(?!a)b)",
    "(?<=^a)",
    r"(?<!\n|a)",
    "(?=a(?<=a)b)",
    *(("a*+", "(?>a|ab)", "(?:ab|a)?+") if SINCE_3_11 else ()),
)


LOOKING_BOTH_WAYS = ("a", "b", "[ab]", ".", r"\b", r"\B", "$", "(?m:$)", "^", "(?=a)", "(?!b)", "(?=ab*a)", "(?=.b|a)")
LOOKING_BOTH_WAYS += ("(?!a.b)", "(?<=a(?=b))", "(?<!(?=ab)a)", r"(?=\B)", r"(?<=\b.)", "(?=a|$)", "(?!.*b)")


def disagreements(regexp: str, texts: Iterable[str], flags: int = 0) -> list[tuple[str, int, int | None, int | None]]:
    """(text, start, end of re's match in bytes, end of ours) wherever the two are not the same."""
    expected = re.compile(regexp, flags)
    simulator = Simulator(compile_pattern(regexp, flags))
    found = []
    for text in texts:
        for start in range(len(text) + (text != "")):
            match = expected.match(text, start)
            theirs = None if match is None else len(text[: match.end()].encode())
            ours = simulator.match_end(text.encode(), len(text[:start].encode()))
            if theirs != ours:
                found.append((text, start, theirs, ours))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "size", "length"),
    [
        ("{}", 1, 4),
        ("{}", 2, 3),
        ("{}", 3, 3),
        ("(?:{})a*b", 2, 3),
        pytest.param("(?>{})b?", 2, 3, marks=NEEDS_3_11),
        ("(?={})a", 2, 3),
        ("(?!{})[ab]", 2, 3),
    ],
)
def test_all_small_patterns(frame: str, size: int, length: int) -> None:
    texts = texts_over("ab\n", length)
    wrong = {}
    guards = GUARDS if size < 3 else GUARDS[::3]
    patterns = regexes_of_size(size, ("a", "b", *guards), ("*", "??"))
    for inner in every(3, patterns) if size == 3 else patterns:
        regexp = frame.format(inner)
        if not any(mark in regexp for mark in ("(?=", "(?!", "(?<", "\\", "^", "$", "+", "(?>")):
            continue
        found = disagreements(regexp, texts)
        if found:
            wrong[regexp] = found
    assert wrong == {}


@NEEDS_3_11
@pytest.mark.parametrize(
    "body", ["a?a", "a{0,2}a", "a|ab", "ab|a", "a*", "a?", "a??", "(?:a|b)?", "a+b?", "[ab]", "ab", "a*b|a"]
)
@pytest.mark.parametrize("count", ["{2}", "{3}", "{1,2}", "{2,}", "{0,2}", "+", "*", "?"])
@pytest.mark.parametrize("frame", ["{}", "{}b", "{}a", "(?:{}|a)b", "(?:{}|ab)+"])
def test_no_iteration_of_a_possessive_repetition_is_gone_back_into(body: str, count: str, frame: str) -> None:
    """``(?:a?a){2}+`` does not match ``aa``: an iteration that has matched is final, and not only all of them."""
    assert disagreements(frame.format(f"(?:{body}){count}+"), texts_over("ab", 6)) == []


@pytest.mark.slow
@settings(max_examples=scaled(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(guarded_regexes(atomic=SINCE_3_11))
def test_random_nests(regexp: str) -> None:
    assert disagreements(regexp, texts_over("ab\n", 3)) == []


@pytest.mark.slow
@settings(max_examples=scaled(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rich_guarded_regexes, flag_sets, st.lists(st.text(LETTERS, max_size=5), min_size=1, max_size=8))
@example(r"\b\w", 0, ["a\u0130", "\u0669 \ud55c"])
@example(r"(?a:\b)\w", 0, ["\u0130a", "\u0669a"])
@example(r"(?i:(?<=k)s)", 0, ["\u212a\u017f", "kS"])
def test_random_patterns_with_unicode(regexp: str, flags: int, texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        assert disagreements(regexp, texts, flags) == []


@pytest.mark.parametrize(
    ("regexp", "texts"),
    [
        (r'"(?!"").*?(?<!\\)(\\\\)*?"', ['""', '"""', '"a"', r'"\""', r'"\\"', r'"\\\""', '"a\n"', '"a"b"']),
        (r"\/(?!\/)(\\\/|\\\\|[^\/])*?\/[imslux]*", ["//", "/a/", r"/\//i", "/a/x/", r"/\\/"]),
        (r"[+*]|[?](?![a-z])", ["?", "?a", "?A", "+a", "*"]),
        (r"0(?:_?0)*(?![1-9])", ["0", "00", "01", "0_0", "0_1", "0_"]),
        (r"/\*(?:[^*]|\*(?!/))*\*/", ["/**/", "/* * */", "/*/", "/***/x*/"]),
        (r"\bfoo\b", ["foo", "foobar", "foo bar", "foo\u0130", "foo-"]),
        (r"(?m)^#.*$", ["#a\n#b", "#", "a#"]),
    ],
)
def test_patterns_of_real_grammars(regexp: str, texts: list[str]) -> None:
    assert disagreements(regexp, texts) == []


MORE = [*texts_over("ab\n", 4), "\u00e9a", "a\u00e9", "Aa", "aB", " a", "\u0660a", "aA\n", "[a", "]a", *"kKsSiI"]


@pytest.mark.parametrize(
    ("regexp", "flags"),
    [
        ("a{,2}b", 0),
        ("a{,}b", 0),
        (r"(?u:\w)\w", re.A),
        (r"(?a:\w)(?u:\w)\w", 0),
        ("(?s-i:.a)b", re.I),
        ("(?i-s:A.)", re.S),
        ("(?-x: )a", re.X),
        ("(?x) a b # x", 0),
        ("a(?#c)b", 0),
        ("[[a]", 0),
        ("[]a]", 0),
        ("(?i:\u212a|\u017f|\u0130|\u0131)", 0),
        *(("a++b", 0), ("a{1,2}+ab", 0), ("(?:a|ab)++b", 0), ("(?>a*?)b", 0)) * SINCE_3_11,
    ],
)
def test_syntax(regexp: str, flags: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        assert disagreements(regexp, MORE, flags) == []


@pytest.mark.parametrize(
    ("regexp", "entries"),
    [("a(?<!b)", 1), ("(?<!b)a", 2), ("^a", 2), ("(?m:^)a", 2), (r"(?a:\b)a", 2), ('"(?<!x)a', 1), ("(?<!ab)c", 3)],
)
def test_entries_are_as_few_as_what_lies_behind_needs(regexp: str, entries: int) -> None:
    assert len(compile_pattern(regexp).entries) == entries


@pytest.mark.parametrize("regexp", ["a(?!b)c", r'".*?(?<!\\)(\\\\)*?"', "a(?=b)b*b", r"\ba"])
def test_what_is_decided_within_the_lexeme_waits_for_nothing(regexp: str) -> None:
    kinds = set(compile_pattern(regexp).kind.tolist())
    assert not kinds & {PENDING, PENDING_OR_END}


@pytest.mark.parametrize(
    "regexp",
    [
        r"a+(?![^\x00-\x7f])",
        r"a+(?=[^\x00-\x7f])",
        r"(?!(?:ab|b)(?![^\x00-`{-\x7f]))[^\x00-`{-\x7f]+(?![^\x00-`{-\x7f])",
        r"a(?![\x80-\u07ff])",
        r"a(?![\u0800-\U0010ffff])",
        r"a(?![\u0800-\ud7ff\ue001-\uffff])",
    ],
)
def test_characters_that_look_ahead_tells_by_their_first_byte(regexp: str) -> None:
    characters = ["a", "b", " ", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ue001", "\U00010000", "\U0010ffff"]
    texts = ["".join(letters) for length in range(3) for letters in product(characters, repeat=length)]
    assert not disagreements(regexp, texts)


def test_characters_that_are_told_by_their_first_byte_cost_no_states() -> None:
    """Nothing waits for the end of a character of which any end decides alike."""
    assert len(compile_pattern(r"a(?![^\x00-\x7f])")) < len(compile_pattern(r"a(?![\x80-\ud7ff\ue001-\U0010ffff])"))


@pytest.mark.parametrize(
    "regexp",
    [
        r"(?<=a\b)b",
        r"(?<=\Ba)b",
        r"(?<=\ba)b",
        r"(?<!\ba)b",
        r"(?<!a\b)[b\n]",
        r"(?<=\n\b)[ab]+",
        r"(?<=\ba\b\n)a",
        "(?<=a(?=b))b",
        "(?<=a(?=ba*b))b",
        "(?<!a(?=b*a))b",
        "(?<=(?=ab)a)b",
        "(?<=(?=aba)a)b",
        "(?<=(?!ab)a)[ab]",
        "(?<!a(?!b))b|a",
        "(?<!a$)b|a",
        "(?<=a$)\n",
        "(?<=(?m:a$)\n)a",
        "(?<=(?=a(?<=a(?=b))b)a)b",
        "(?<=(?=ab|b)[ab])(?<!(?=aa)a)[ab]",
        "(?:(?<=a(?=b*a))b)*a",
        "(?=(?<=a(?=b))b)b|a",
        "(?!(?<=a(?=ba))b)b|a",
        r"(?<=(?a:\bas) )a",
        *(("(?<=a(?=(?>b|ba)b))b", "(?<=a(?=a*+b))a*", "(?>(?<=a(?=b))b|a)b?", "(?<=a(?=b))(?:a|b)*+") * SINCE_3_11),
    ],
)
def test_look_behind_that_looks_ahead(regexp: str) -> None:
    assert disagreements(regexp, texts_over("ab\n", 5)) == []
    assert disagreements(regexp, ["as a", "bas a", " as a", "a as", "\u00e9as a", "as  a", "a\u00e9b", "\u00e9b"]) == []


@pytest.mark.slow
@settings(max_examples=scaled(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["(?<=", "(?<!"]),
    st.lists(st.sampled_from(LOOKING_BOTH_WAYS), min_size=1, max_size=4),
    st.sampled_from(["[ab]+", "[ab]", ".", "b*a", "a??b|.", "b?", "(?:a|$)"]),
)
def test_random_look_behind_that_looks_ahead(opening: str, parts: list[str], rest: str) -> None:
    for regexp in (f"{opening}{''.join(parts)}){rest}", f"a?{opening}{''.join(parts)}){rest}"):
        assert disagreements(regexp, texts_over("ab\n", 4), re.ASCII) == []


def nested(opening: str, closing: str, depth: int, core: str = "b") -> str:
    return opening * depth + core + closing * depth


@pytest.mark.slow
@NEEDS_3_11
@pytest.mark.parametrize(
    ("opening", "closing"), [("(?:b", ")?+"), ("(?>b", "c?)"), ("(?>a|b", "c*)"), ("(?:b(?!c", ")c?)?+")]
)
def test_guards_that_are_nested(opening: str, closing: str) -> None:
    """Each has some states for each level; the threads that they come of are in one another, twice at each level."""
    assert disagreements(nested(opening, closing, 4), texts_over("abc", 6)) == []
    regexp = nested(opening, closing, 12)
    assert disagreements(regexp, [letter * count for letter in ("b", "bc", "a") for count in range(1, 16)]) == []
    sizes = [len(compile_pattern(nested(opening, closing, depth))) for depth in (5, 10, 20)]
    assert sizes[2] <= 3 * sizes[1] <= 9 * sizes[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "regexp",
    [
        r"a(?!(?:[ab]{1,3}?a*){100}c)",
        *((nested("(?:b", ")*+", 6), nested("(?:b(?![ac]", ")c?)*+", 30), nested("(?:b", ")?+", 90)) * SINCE_3_11),
    ],
)
def test_threads_without_end_are_a_limit(regexp: str) -> None:
    """Few states, or few so far, come of millions of threads."""
    with pytest.raises(LimitExceededError, match="nested or repeated multiply them") as caught:
        compile_pattern(regexp, limit=50_000)
    assert (caught.value.what, caught.value.limit) == ("states", 50_000)


def test_bytes_need_not_make_characters() -> None:
    regexp = rb"a(?!\xc3[\x80-\xbf])"
    simulator = Simulator(compile_pattern(regexp.decode("latin-1"), use_bytes=True))
    for text in (b"a", b"a\xc3", b"a\xc3(", b"a\xc3\x80", b"a\xc3\xc3"):
        match = re.match(regexp, text)
        assert simulator.match_end(text) == (match and match.end()), text
