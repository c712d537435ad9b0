"""However the masks of a constraint came about they are the same, and those of the bytes of each token."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from support.little_room import compile_with_little_room

import pdacon
from pdacon import Constraint, Vocabulary

ITEMS = 'item: T | NAME | "if"i | "in"i | "insert"i | "(" item* ")" | "[" [item ("," item)*] "]"\nNAME: /[a-z_]+/i\n'
TERMINALS = {
    "text of bounded length": r'/"[^"\n]{0,20}"/',
    "escapes": r'/"([^"\\]|\\.){2,9}"/',
    "groups that repeat": r"/(ab|c){2,30}x?/",
    "beyond ASCII": "/[é-ÿ]{2,20}/",
    "lazy": r"/<!--(.|\n)*?-->/",
    "words with a look-ahead": r"/(?!(in|if)\b)[A-Z]\w*\b/",
    "counted, and behind a sign": r"/(?<!-)[0-9]{1,9}(\.[0-9]{1,4})?/",
}
FINITE = ("escapes", "groups that repeat")
"""Those whose masks are all computed beforehand in no time."""
IGNORED = {"spaces": '" "', "comments": r"/#[^\n]{0,30}\n/"}
PIECES = [*'ab"(),[] #\n\\-<!>.7é€x', "if", "in", "insert", "<!--", "-->", '","', "ab", "cab", "Zé", "😀", ") ("]


def vocabulary(rng: random.Random) -> Vocabulary:
    """With duplicates, tokens without a text, long ones, and some that begin or end within a character."""
    texts: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    for _ in range(700):
        text = "".join(rng.choices(PIECES, k=rng.choice([1, 2, 2, 3, 5, 8]))).encode()
        cut = rng.choice([0, 0, 0, 1, 2])
        texts.append(text[cut:] if rng.random() < 0.5 else text[: len(text) - cut])
    texts += [rng.choice(PIECES).encode() * rng.choice([17, 60, 400]) for _ in range(20)]
    texts += [*rng.sample(texts, 9), b"", None, None]
    rng.shuffle(texts)
    return Vocabulary.from_tokens(texts, eos_ids=[texts.index(None)])


def row_of(matcher: pdacon.Matcher, words: int) -> np.ndarray:
    row = np.full((1, words), -1, np.int32)
    matcher.fill_bitmask(row)
    return row


@pytest.mark.parametrize("ignored", IGNORED)
@pytest.mark.parametrize("terminal", TERMINALS)
def test_they_are_the_same(terminal: str, ignored: str, scaled: Callable[[int], int], tally: Callable) -> None:
    rng = random.Random(terminal + ignored)
    text = f"start: item*\n{ITEMS}T: {TERMINALS[terminal]}\n%ignore {IGNORED[ignored]}\n"
    grammar = pdacon.Grammar.from_lark(text, conflicts="shift", lookahead="commit")
    known = vocabulary(rng)
    words = -(-known.size // 32)
    lazy = pdacon.compile(grammar, known)
    ways = {
        "lazy": lazy,
        "from a file": Constraint.from_bytes(lazy.to_bytes(), known),
        "with little room": compile_with_little_room(grammar, known, 6),
    }
    if terminal in FINITE:
        ways["eager"] = pdacon.compile(grammar, known, eager=True)
    for _ in range(scaled(3)):
        matchers = {way: constraint.matcher() for way, constraint in ways.items()}
        taken: list[int] = []
        for _ in range(12):
            rows = {way: row_of(matcher, words) for way, matcher in matchers.items()}
            for way, row in rows.items():
                assert (row == rows["lazy"]).all(), (way, matchers["lazy"]._text())
            allowed = np.unpackbits(rows["lazy"].view(np.uint8), bitorder="little")[: known.size].astype(bool)
            reader = rng.choice(list(matchers.values())).fork()
            for token, spelled in enumerate(known.tokens):
                if token in known.eos_ids:
                    meant = reader.is_accepting()
                elif meant := bool(spelled) and reader.accept_bytes(spelled or b""):
                    reader.rollback(1)
                assert meant == allowed[token], (matchers["lazy"]._text(), spelled)
            tally(masks=len(rows))
            allowed[list(known.eos_ids)] = False
            taken.append(int(rng.choice(np.flatnonzero(allowed))))
            assert all(matcher.accept_token(taken[-1]) for matcher in matchers.values())
        # What was added to a file is saved with it, and what is loaded and saved again stays.
        ways["filled and saved"] = Constraint.from_bytes(ways["from a file"].to_bytes(), known)
        ways["saved again"] = Constraint.from_bytes(ways["filled and saved"].to_bytes(), known)
        for way in ("filled and saved", "saved again"):
            matcher = ways[way].matcher()
            for token in taken:
                matcher.mask_id()
                assert matcher.accept_token(token)
            assert ways[way].statistics()["masks_computed"] == 0
