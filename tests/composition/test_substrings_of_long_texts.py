"""All substrings of a long text, whose lexer is large: its states are laid out in the order of the text, and most of
them share their future, which is not looked for from each."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest

import pdacon
from pdacon import Grammar, RegularSet, Vocabulary

_BYTES = Vocabulary.bytes()


@lru_cache
def _text() -> str:
    """Long enough to be laid out as a large lexer; with repetitions, and with characters of each length in UTF-8."""
    source = random.Random(0)
    words = ["".join(source.choices("abcdeé日😀>", k=source.randint(1, 9))) for _ in range(900)]
    return " ".join(source.choices(words, k=8_000))


@lru_cache
def _prefixes() -> tuple[bytes, frozenset[int]]:
    return _text().encode(), frozenset(b for b in _text().encode() if b & 0xC0 != 0x80)


def _allowed(matcher: pdacon.Matcher) -> set[int]:
    return {token for token in range(256) if matcher.is_allowed(token)}


def _next_bytes(read: bytes) -> set[int]:
    """The bytes with which a substring that begins like this goes on, cut between characters of the text."""
    text, starts = _prefixes()
    if not read:
        return set(starts)
    found, at = set(), text.find(read)
    while at >= 0:
        if text[at] & 0xC0 != 0x80 and at + len(read) < len(text):
            found.add(text[at + len(read)])
        at = text.find(read, at + 1)
    return found


def _is_substring(read: bytes) -> bool:
    return len(read) > 0 and read in _prefixes()[0] and read.decode(errors="ignore").encode() == read


@pytest.mark.parametrize("seed", range(3))
def test_masks_are_those_of_the_text(seed: int) -> None:
    source = random.Random(seed)
    matcher = _alone().matcher()
    for _ in range(20):
        matcher.reset()
        read = b""
        for _ in range(source.randint(1, 60)):
            allowed = _next_bytes(read)
            assert _allowed(matcher) == allowed, read
            assert matcher.is_accepting() == _is_substring(read), read
            if not allowed:
                break
            byte = source.choice(sorted(allowed))
            assert matcher.accept_token(byte)
            read += bytes([byte])


@lru_cache
def _alone() -> pdacon.Constraint:
    constraint = pdacon.compile(RegularSet.substring_of(_text()), _BYTES)
    assert constraint.statistics()["lexer_states"] > 40_000
    return constraint


@lru_cache
def _quoted(rest: str) -> pdacon.Constraint:
    text = f'start: "<" {rest} ">"\nS: /(?P<OWN>)/\nN: "\\x00"'
    return pdacon.compile(
        Grammar.from_lark(text, extensions=True, sets={"OWN": RegularSet.substring_of(_text())}), _BYTES
    )


@pytest.mark.parametrize("seed", range(3))
def test_masks_do_not_depend_on_what_else_may_begin(seed: int) -> None:
    """Where the set is alone its states are laid out; beside other text they are numbered as they are reached."""
    source = random.Random(seed)
    alone, beside = _quoted("S").matcher(), _quoted("(S | N)").matcher()
    for _ in range(20):
        alone.reset()
        beside.reset()
        for step in range(source.randint(1, 60)):
            allowed = _allowed(alone)
            assert allowed == _allowed(beside) - {0}
            assert allowed or alone.is_accepting(), "a dead end"
            assert alone.is_accepting() == beside.is_accepting()
            if not allowed:
                break
            byte = source.choice(sorted(allowed - {ord(">")} or allowed) if step < 30 else sorted(allowed))
            assert alone.accept_token(byte)
            assert beside.accept_token(byte)


def test_the_longest_substring_is_read() -> None:
    """As in Lark: where `>` follows in the text, it belongs to the substring."""
    source, verdicts = random.Random(7), set()
    for _ in range(200):
        at = source.randrange(len(_text()))
        read = _text()[at : at + source.randint(0, 6)] + source.choice(["", "Q", ">", ">>"])
        longest = max((read[:end] for end in range(1, len(read) + 1) if read[:end] in _text()), key=len, default="")
        is_sentence = longest != "" and read[len(longest) :] == ">"
        matcher = _quoted("S").matcher()
        assert (matcher.accept_bytes(f"<{read}".encode()) and matcher.is_accepting()) == is_sentence, read
        verdicts.add((is_sentence, read.endswith(">")))
    assert verdicts == {(True, True), (False, True), (False, False)}


def test_a_file_of_it_answers_alike() -> None:
    constraint = _quoted("S")
    read = "<" + _text()[1_000:1_030]
    matcher, again = constraint.matcher(), pdacon.Constraint.from_bytes(constraint.to_bytes(), _BYTES).matcher()
    for byte in read.encode():
        assert _allowed(matcher) == _allowed(again)
        assert matcher.accept_token(byte)
        assert again.accept_token(byte)
