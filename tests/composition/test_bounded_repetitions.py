"""Masks where lexer states count characters, against partial matches of the `regex` module and stepping."""

from __future__ import annotations

import random

import pytest
from support.definition import mask_of

import pdacon

regex = pytest.importorskip("regex", reason="partial matches are those of the regex module, which tiktoken brings")

PATTERNS = {
    "up to 40 letters": "[a-z]{1,40}",
    "20 or more": '[^"<>]{20,}',
    "between, all of Unicode": '[^"<>]{3,25}',
    "ASCII alone": r"[ -;=?-~]{2,30}",
    "beyond ASCII alone": r"[\u0080-\U0010ffff]{1,18}",
    "sets that change": "[a-z0-9é中]{6}[a-z中]{0,12}[0-9]{0,9}",
    "one set within the other": "[a-z]{5}[0-9a-zé]*",
    "groups of lengths": "([a-z0-9]{8})(-[0-9a-z]{4}){3}",
    "exits on the way": r'([^"<>\\]|\\["\\]){1,12}',
    "words": "([A-Z][a-z]{1,9} ){1,4}[a-z]{2,20}[.]",
    "possessive": "[a-zé]{2,17}+[0-9]",
}
PIECES = [
    "a",
    "b",
    "z",
    "ab",
    "xyz",
    "0",
    "17",
    "Z",
    " ",
    "-",
    ".",
    '"',
    "\\",
    "<",
    ">",
    "é",
    "中",
    "😀",
    "q-",
    "word ",
]


@pytest.fixture(scope="module")
def vocabulary() -> pdacon.Vocabulary:
    rng = random.Random(4)
    tokens = {bytes([byte]) for byte in range(256)}
    while len(tokens) < 2_500:
        alphabet = rng.sample(PIECES, rng.randint(1, 4))
        token = "".join(rng.choices(alphabet, k=rng.choice([1, 2, 3, 5, 9, 16, 17, 18, 33]))).encode()
        cut = rng.choice([0, 0, 0, 1, 2])  # some begin or end within a character
        tokens.add(token[cut:] if rng.random() < 0.5 else token[: len(token) - cut])
    ordered = sorted(tokens - {b""})
    rng.shuffle(ordered)
    return pdacon.Vocabulary.from_tokens([*ordered, None], eos_ids=[len(ordered)])


@pytest.mark.parametrize("name", PATTERNS)
def test_masks_are_those_of_partial_matches(name: str, vocabulary: pdacon.Vocabulary, scaled, tally) -> None:
    pattern, size = PATTERNS[name], len(vocabulary)
    whole = regex.compile(f"<(?:{pattern})>")
    constraint = pdacon.compile(pdacon.Grammar.from_lark(f'start: "<" TEXT ">"\nTEXT: /{pattern}/\n'), vocabulary)
    rng = random.Random(name)
    for _ in range(scaled(3)):
        matcher, text = constraint.matcher(), b""
        while not matcher.is_terminated():
            allowed = mask_of(matcher, size)
            for token, piece in enumerate(vocabulary.tokens):
                if piece is None:
                    continue
                try:
                    meant = whole.fullmatch((text + piece).decode(), partial=True) is not None
                except UnicodeDecodeError:
                    meant = matcher.is_allowed(token)
                assert (token in allowed) == meant, (text, piece)
            tally(masks=1)
            # Short steps, so that many states are seen.
            token = min(
                rng.sample(sorted(allowed), min(len(allowed), 3)), key=lambda t: len(vocabulary.tokens[t] or b"")
            )
            assert matcher.accept_token(token)
            text += vocabulary.tokens[token] or b""


@pytest.mark.parametrize("bound", [3, 4, 7, 8, 15, 16, 17, 31, 33, 100])
def test_bytes_and_bounds(bound: int, vocabulary: pdacon.Vocabulary) -> None:
    """Of bytes, where a token of n bytes is n characters."""
    text = f'start: "(" TEXT ")"\nTEXT: /[^()]{{1,{bound}}}/\n'
    constraint = pdacon.compile(pdacon.Grammar.from_lark(text, use_bytes=True), vocabulary)
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b"(")
    for taken in range(bound):
        allowed = mask_of(matcher, len(vocabulary))
        for token, piece in enumerate(vocabulary.tokens):
            inside, closed, _ = (piece or b"").partition(b")")
            fits = b"(" not in inside and taken + len(inside) <= bound
            whole = piece is not None and (not closed or (piece.endswith(b")") and piece.count(b")") == 1))
            at_all = taken + len(inside) > 0
            assert (token in allowed) == (fits and whole and at_all), (taken, piece)
        assert matcher.accept_bytes(b"\xff")
    assert matcher.accept_bytes(b")")
