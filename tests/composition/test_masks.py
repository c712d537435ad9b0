"""Masks come from token classes, `is_allowed` from stepping the bytes of one token: two ways that must agree."""

from __future__ import annotations

import itertools
import random
import re

import numpy as np
import pytest

import pdacon

# Loops of every kind: strings, names, spaces, `.`, non-ASCII classes, lazy ends, several bytes of lookahead.
GRAMMARS = {
    "string": 'start: /"[^"\\\\\\x00-\\x1f]*"/ (/,/ /"[^"\\\\]*"/)*',
    "words": "start: W+\nW: /\\w+/\n%ignore /\\s+/",
    "letters": "start: (A | B)+\nA: /[a-zé-ü]+/\nB: /[0-9一-鿿]+/\n%ignore / /",
    "comment": "start: (C | X)*\nC: /\\/\\*(.|\\n)*?\\*\\//\nX: /[a-z]/",
    "dot": 'start: LINE ("\\n" LINE)*\nLINE: /.+/',
    "call": 'start: NAME "(" [arg ("," arg)*] ")"\n?arg: NAME | NUMBER | start\n'
    "NAME: /[a-z_][a-z_0-9]*/i\nNUMBER: /\\d+(\\.\\d+)?([eE][+-]?\\d+)?/\n%ignore / +/",
    "keywords": 'start: ("ab" | "abe"i | "xy" | "z_Z" | NAME | STRING)+\nSTRING: /"[^"\\\\\\n]*"/\n'
    "NAME: /[a-zé-ü_][a-zé-ü_0-9]*/i\n%ignore / +/",
    "bytes": 'start: (A | B | "ab")+\nA: /[a-z\\xc3]+/\nB: /[^a-z\\xc3]+/',
    "ascii only": 'start: "<" /[^>]{1,20}/ ">"',
    "not ascii": "start: /[^\\x00-\\x7f]+/ /[a-z]*!/",
}


def texts() -> list[bytes]:
    """Multi-byte tokens as byte-level tokenizers have them: words, punctuation, whole and broken characters."""
    rng = random.Random(5)
    pieces = [*'abexyzAZ_019"\\/*(),.<>!+-\n\t \x00\x1f\x7f', "é", "ß", "ſ", "K", "中", "文", "😀", "\u2028", "İ"]
    found = {bytes([b]) for b in range(256)}
    while len(found) < 6000:
        text = "".join(rng.choices(pieces, k=rng.randint(1, 6))).encode()
        begin = rng.randint(0, 2) if rng.random() < 0.3 else 0
        end = len(text) - (rng.randint(0, 2) if rng.random() < 0.3 else 0)
        found.add(text[begin:end] or b" ")
    ordered = sorted(found)
    rng.shuffle(ordered)
    return ordered


@pytest.fixture(scope="module")
def vocabulary() -> pdacon.Vocabulary:
    return pdacon.Vocabulary.from_tokens([*texts(), None, b"</s>", b"a", b"a"], eos_ids=[6001])


def mask_of(matcher: pdacon.Matcher, size: int) -> np.ndarray:
    words = np.zeros((size + 31) // 32, np.int32)
    matcher.fill_bitmask(words)
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:size].astype(bool)


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_agree_with_stepping(name: str, vocabulary: pdacon.Vocabulary, scaled, tally) -> None:
    grammar = pdacon.Grammar.from_lark(GRAMMARS[name], use_bytes=name == "bytes")
    constraint = pdacon.compile(grammar, vocabulary)
    rng = random.Random(name)
    size = len(vocabulary)
    for _ in range(scaled(6)):
        matcher = constraint.matcher()
        for _ in range(rng.randint(3, 8)):
            mask = mask_of(matcher, size)
            allowed = [matcher.is_allowed(token) for token in range(size)]
            assert mask.tolist() == allowed, matcher.shortest_completion()
            tally(masks=1)
            choices = np.flatnonzero(mask)
            assert matcher.accept_token(int(rng.choice(choices)))
            if matcher.is_terminated():
                break


def test_the_first_mask_is_there_when_compile_is_done(vocabulary: pdacon.Vocabulary) -> None:
    constraint = pdacon.compile(pdacon.Grammar.from_lark(GRAMMARS["call"]), vocabulary)
    assert constraint.statistics()["masks_computed"] == 1
    matcher = constraint.matcher()
    matcher.mask_id()
    assert constraint.statistics()["masks_computed"] == 1
    assert matcher.accept_bytes(b"f(")
    matcher.mask_id()
    assert constraint.statistics()["masks_computed"] == 2


def test_a_mask_does_not_depend_on_what_was_computed_before(vocabulary: pdacon.Vocabulary) -> None:
    """A cached answer is that of a fresh constraint, in whatever order positions were seen."""
    grammar = pdacon.Grammar.from_lark(GRAMMARS["call"])
    shared = pdacon.compile(grammar, vocabulary)
    prefixes = [b"", b"f", b"f(", b"f(1", b"f(1.5,", b"f(g(h(x", b"f(g(h(x)", b"f(g(1),h(2)", b"f(g(h(x)))", b"f (1e"]
    for order in (prefixes, prefixes[::-1], prefixes):
        for prefix in order:
            fresh = pdacon.compile(grammar, vocabulary).matcher()
            known = shared.matcher()
            assert fresh.accept_bytes(prefix)
            assert known.accept_bytes(prefix)
            assert (mask_of(fresh, len(vocabulary)) == mask_of(known, len(vocabulary))).all(), prefix
    table = shared.mask_table()
    assert table.shape == (shared.statistics()["distinct_masks"], (len(vocabulary) + 31) // 32)
    known.reset()
    row = np.zeros(table.shape[1], np.int32)
    known.fill_bitmask(row)
    assert (table[known.mask_id()] == row).all()


@pytest.mark.parametrize("size", [4095, 4096, 4097, 8192, 17832])
def test_large_sets_of_tokens(size: int) -> None:
    """Sets with most of a block of 4,096 tokens, or little of it; the last block is full, or not, or has one token."""
    names = "[a-m][a-y]*|n[a-e]*"
    texts = [*(bytes([byte]) for byte in range(256)), *map(bytes, itertools.product(range(97, 123), repeat=3))][:size]
    random.Random(size).shuffle(texts)
    vocabulary = pdacon.Vocabulary.from_tokens([*texts, None], eos_ids=[size])
    constraint = pdacon.compile(pdacon.Grammar.from_lark(f"start: /{names}/"), vocabulary)
    for text in (b"", b"a", b"nb"):
        matcher = constraint.matcher()
        assert matcher.accept_bytes(text)
        allowed = [re.fullmatch(names.encode(), text + token) is not None for token in texts]
        assert mask_of(matcher, size + 1)[:size].tolist() == allowed
