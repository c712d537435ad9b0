"""Automata over code points that the core makes, against ``re``, sets of texts and ``json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np
import pytest

from pdacon._native import _core
from pdacon.errors import LimitExceededError
from pdacon.regular import Dfa, Languages, combined, longer_than, parse_pattern

ALPHABET = 'ab\n"é\U0001f600'
PATTERNS = [
    "^[ab]*$",
    "^a",
    "b$",
    "é|a",
    "^(?:ab|é\U0001f600)+$",
    "^..$",
    "^[^a]*$",
    "^$",
    "\U0001f600",
    "^(?:a{2,4}|b)$",
]


def texts(length: int) -> Iterator[str]:
    for size in range(length + 1):
        yield from map("".join, product(ALPHABET, repeat=size))


def automaton(pattern: str) -> Dfa:
    languages = Languages()
    return languages.deterministic(languages.pattern(parse_pattern(pattern)), 1000)


def matches(pattern: str, text: str) -> bool:
    return re.search(pattern.replace("$", r"\Z").replace(".", "[^\\n\\r\u2028\u2029]"), text) is not None


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_least_automaton_has_as_many_states_as_there_are_residuals(pattern: str) -> None:
    dfa = automaton(pattern)
    endings = list(texts(3))
    accepted = {text: dfa.accepts(text) for text in texts(6 if pattern == PATTERNS[-1] else 5)}
    assert all(found == matches(pattern, text) for text, found in accepted.items())
    prefixes = texts(3 if pattern == PATTERNS[-1] else 2)
    residuals = {tuple(dfa.accepts(prefix + ending) for ending in endings) for prefix in prefixes}
    assert len(dfa) == len(residuals - {(False,) * len(endings)})


@pytest.mark.parametrize("seed", range(60))
def test_combinations_are_what_the_diagram_says(seed: int) -> None:
    random = Random(seed)
    chosen = random.sample(PATTERNS, random.randrange(1, 4))
    some = [automaton(pattern) for pattern in chosen]
    verdicts = [lambda text, pattern=pattern: matches(pattern, text) for pattern in chosen]
    if random.random() < 0.5:
        length = random.randrange(4)
        some.append(longer_than(length, 100))
        verdicts.append(lambda text: len(text) > length)
    diagram = [
        (random.randrange(len(some)), random.randrange(k + 2), random.randrange(k + 2))
        for k in range(random.randrange(1, 7))
    ]
    dfa = combined(some, diagram, 1000)

    def expected(text: str) -> bool:
        node = len(diagram) + 1
        while node > 1:
            which, then, otherwise = diagram[node - 2]
            node = then if verdicts[which](text) else otherwise
        return node == 1

    for text in texts(4):
        assert dfa.accepts(text) == expected(text), (chosen, diagram, text)
    assert not dfa.accepts("\ud800")


def test_what_is_decided_is_forgotten() -> None:
    """A count beside a pattern takes states only as long as both can still be wrong."""
    both = combined([automaton("^a"), longer_than(50, 100)], [(1, 1, 0), (0, 2, 0)], 1000)
    assert len(both) == 52
    either = combined([automaton("^a"), longer_than(50, 100)], [(1, 1, 0), (0, 1, 2)], 1000)
    assert len(either) == 52


def test_words() -> None:
    assert automaton("^(?:ab?|é{0,2})$").words(10) == ["", "a", "é", "ab", "éé"]
    assert automaton("^[a-j]{2}$").words(99) is None
    assert len(automaton("^[a-j]{2}$").words(100) or []) == 100
    assert automaton("^ab*$").words(50) is None
    assert automaton("^a{300}$").words(1) == ["a" * 300]
    assert automaton("a").words(50) is None
    assert automaton("^(?!a)a$").words(5) == []


def test_limits() -> None:
    with pytest.raises(LimitExceededError, match="states"):
        combined([automaton("^(?:aa)*$"), longer_than(90, 100)], [(1, 1, 0), (0, 2, 0)], 50)
    with pytest.raises(LimitExceededError, match="states"):
        longer_than(1000, 100)
    with pytest.raises(LimitExceededError):
        automaton("(?:a|b)*a(?:a|b){11}")


@pytest.mark.parametrize("escapes", ["needed", "ascii", "any"])
@pytest.mark.parametrize("pattern", [*PATTERNS, "^[^]*$", r"^[\u0000-\u00ff]*$", "^[\U00010000-\U0010ffff]$"])
def test_json_strings_are_what_json_reads(escapes: str, pattern: str) -> None:
    dfa = automaton(pattern)
    made = _core.json_strings(dfa.native, ["needed", "ascii", "any"].index(escapes), b'"', b'": ', 100_000, 0)
    offset, low, high, target = (array.tolist() for array in made)

    def accepts(text: bytes) -> bool:
        state = 0
        for byte in text:
            edges = range(offset[state], offset[state + 1])
            state = next((target[edge] for edge in edges if low[edge] <= byte <= high[edge]), -1)
            if state < 0:
                return False
        return offset[state] == offset[state + 1]

    random = Random(pattern)
    some = list(texts(2)) + [
        "".join(random.choices("ab\\/\x00\x1f\x7f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U0010ffff\t", k=3))
        for _ in range(200)
    ]
    for text in some:
        right = dfa.accepts(text)
        plain, ascii_only = json.dumps(text, ensure_ascii=False), json.dumps(text)
        assert accepts(plain.encode() + b": ") == (right and (escapes != "ascii" or plain == ascii_only)), text
        assert accepts(ascii_only.encode() + b": ") == (right and (escapes != "needed" or plain == ascii_only)), text
        units = np.frombuffer(text.encode("utf-16-le"), np.uint16).tolist()
        hexadecimal = '"' + "".join(f"\\u{unit:04{random.choice('xX')}}" for unit in units) + '"'
        if hexadecimal != ascii_only:
            assert accepts(hexadecimal.encode() + b": ") == (right and escapes == "any"), hexadecimal
        assert not accepts(plain.encode())
        assert not accepts(plain[:-1].encode() + b": ")
    slash = json.dumps("a/").replace("/", r"\/").encode() + b": "
    assert accepts(slash) == (dfa.accepts("a/") and escapes == "any")


@pytest.mark.parametrize("after", [b"", b"a", b"m", b"\\"])
def test_json_strings_end_with_a_byte_that_none_of_them_goes_on_with(after: bytes) -> None:
    letters = automaton(r"^[a-z\\]*$")
    with pytest.raises(ValueError, match="nothing says where they end"):
        _core.json_strings(letters.native, 0, b'"', after, 100_000, 0)


def test_lone_surrogates_and_wrong_bytes_are_no_json_strings() -> None:
    offset, low, high, target = _core.json_strings(automaton("").native, 2, b'"', b'"', 100_000, 0)
    assert len(target) == offset[-1]
    for text in (
        rb'"\ud800"',
        rb'"\udc00"',
        rb'"\ud800\u0041"',
        b'"\xff"',
        b'"\xc0\x80"',
        b'"\xed\xa0\x80"',
        b'"\n"',
        rb'"\x"',
    ):
        state = 0
        for byte in text:
            state = next(
                (int(target[e]) for e in range(offset[state], offset[state + 1]) if low[e] <= byte <= high[e]), -1
            )
            if state < 0:
                break
        assert state < 0, text


@pytest.mark.parametrize(
    "arrays",
    [
        ([0], [0], [0], [1, 1]),
        ([1], [0], [0], [1]),
        ([0, 0], [0, 0], [0], [1]),
        ([0], [1], [0], [1]),
        ([0], [0], [5], [1]),
        ([], [], [], []),
    ],
)
def test_what_is_no_automaton_is_refused(arrays: tuple[list[int], list[int], list[int], list[int]]) -> None:
    firsts, numbers, table, accepting = arrays
    with pytest.raises(ValueError, match="no automaton"):
        _core.CharacterDfa.make(
            *(np.array(one, np.int32) for one in (firsts, numbers, table)), np.array(accepting, np.uint8)
        )


def test_formulas_know_their_nodes() -> None:
    formulas = _core.Formulas(10)
    with pytest.raises(IndexError):
        formulas.choice(99, 0, 1)
    with pytest.raises(IndexError):
        formulas.variable(-1)
    for k in range(8):
        formulas.variable(k)
    with pytest.raises(LimitExceededError):
        formulas.variable(8)
    own = _core.Formulas(100)
    with pytest.raises(ValueError, match="no meaning"):
        _core.Substitution(own).apply(own.variable(3))


def test_what_constants_decide_needs_no_meaning() -> None:
    formulas = _core.Formulas(100)
    condition, then, otherwise = (formulas.variable(k) for k in range(3))
    choice = formulas.choice(condition, then, otherwise)
    for constant, left, other in ((1, 1, 2), (0, 2, 1)):
        given = _core.Substitution(formulas)
        given.give(0, constant)
        given.give(left, condition)
        assert given.apply(choice) == condition
        with pytest.raises(ValueError, match="no meaning"):
            given.apply(formulas.variable(other))


def test_long_formulas_need_no_stack() -> None:
    formulas = _core.Formulas(1_000_000)
    every = 1
    for k in reversed(range(100_000)):
        every = formulas.choice(formulas.variable(k), every, 0)
    assert formulas.support([every]) == list(range(100_000))
    assert formulas.choice(every, 0, 1) != every
    assert formulas.replaced([every], [99_999], 0) == [0]


@pytest.mark.parametrize("pattern", [*PATTERNS, "^(?:aa|b{5})*$", "^(?:a{3})*b(?:a{4})*$", "^(?!)"])
def test_lengths_are_those_of_strings(pattern: str) -> None:
    dfa = automaton(pattern)
    there = set[int]()
    states = {0} if len(dfa) else set[int]()
    edges, accepting = list(dfa.edges()), dfa.accepting()
    for length in range(40):
        if any(accepting[state] for state in states):
            there.add(length)
        states = {target for state in states for target in edges[state]}
    for least in range(20):
        for most in (*range(20), None):
            within = set(range(least, 40 if most is None else most + 1))
            assert dfa.lengths(least, most) == (bool(there & within), there <= within), (least, most)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("^$", 1), ("^(ab|b|abé)$", 3), ("^[a-c]{1,2}$", 12), ("^[0-9]{2}x?$", 200), ("^(a|b)*$", None), ("^(ab)*$", None),
     ("^.$", 0x110000 - 0x800 - 4), ("^x{0,9}$", 10), ("^(?!)", 0)],
)  # fmt: skip
def test_words_are_all_strings_if_they_are_few(pattern: str, count: int | None) -> None:
    dfa = automaton(pattern)
    for most in (0, 1, 2, 3, 9, 10, 11, 12, 13, 64, 199, 200, 201):
        words = dfa.words(most)
        if count is None or count > most:
            assert words is None
        else:
            assert words is not None
            assert len(set(words)) == len(words) == count
            assert all(map(dfa.accepts, words))
