"""Regular expressions for tests: all small ones, and random rich ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from hypothesis import strategies as st

QUANTIFIERS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?", "{2,}", "{2,}?")


def texts_over(letters: str, length: int) -> list[str]:
    """All texts up to a length, the empty one included."""
    return ["".join(text) for size in range(length + 1) for text in product(letters, repeat=size)]


def regexes_of_size(size: int, atoms: Sequence[str], quantifiers: Sequence[str] = QUANTIFIERS) -> Iterator[str]:
    """Every regular expression with that many nodes: atoms, quantified ones, ``xy`` and ``x|y``."""
    if size == 1:
        yield from atoms
        return
    for inner in regexes_of_size(size - 1, atoms, quantifiers):
        yield from (f"(?:{inner}){quantifier}" for quantifier in quantifiers)
    for left_size in range(1, size - 1):
        for left in regexes_of_size(left_size, atoms, quantifiers):
            for right in regexes_of_size(size - 1 - left_size, atoms, quantifiers):
                yield f"(?:{left})(?:{right})"
                yield f"{left}|{right}"


LETTERS = (
    "aAbBiIkKsS_0-]^\\# \n\r\t\x1c\x85"
    "\u0130\u0131\u017f\u212a\u00df\u1e9e\u03c3\u03c2\u03a3\u0669\u20ac\ud55c\U00010400\U00010428"
)
"""Characters among which case, categories and every length of UTF-8 make a difference."""

_CLASSES = (".", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"[^\W\d]", "[a-k]", "[^a-z\n]", "[\u0100-\uffff]")
_classes = st.one_of(
    st.sampled_from(_CLASSES),
    st.builds(
        "[{}{}{}]".format,
        st.sampled_from(["", "^"]),
        st.text(LETTERS, min_size=1, max_size=3).map(re.escape),
        st.sampled_from(["", r"\w", r"\D", "A-Z", "\U00010400-\U00010427"]),
    ),
)
_atoms = st.one_of(st.text(LETTERS, max_size=3).map(re.escape), st.sampled_from(["a", "b", ""]), _classes)


def _larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    openings = st.sampled_from(["(?:", "(?:", "(", "(?i:", "(?s:", "(?-i:", "(?a:", "(?x:"])
    return st.one_of(
        st.lists(smaller, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
        st.lists(smaller, min_size=2, max_size=4).map("".join),
        st.builds("{}{}){}".format, openings, smaller, st.sampled_from(["", *QUANTIFIERS])),
    )


rich_regexes = st.recursive(_atoms, _larger, max_leaves=8)
"""Patterns with classes, scoped flags and every quantifier, in characters where Unicode matters."""

looping_regexes = st.recursive(
    st.sampled_from(["a", "b", "c", "", "ab", "[ab]", "."]),
    lambda smaller: st.one_of(
        st.builds("(?:{}){}".format, smaller, st.sampled_from(QUANTIFIERS)),
        st.lists(smaller, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
        st.lists(smaller, min_size=2, max_size=3).map("".join),
    ),
    max_leaves=7,
)
"""Patterns whose loops nest and can be empty."""

flag_sets = st.sampled_from([0, re.I, re.S, re.M, re.A, re.A | re.I, re.I | re.S, re.X])


def guarded_regexes(*, atomic: bool) -> st.SearchStrategy[str]:
    """Patterns over a, b and newline in which look-around, anchors and, if wanted, atomic groups nest."""
    marks = ["^", "$", r"\b", r"\B", r"\A", r"\Z", "(?<=a)", "(?<!b)", "(?<=ab|ba)", "(?m:^)", "(?m:$)"]
    wraps = ["(?={})", "(?!{})", "(?:{})*", "(?:{})??", "(?:{}){{0,2}}", "(?:{})+?"]
    wraps += ["(?>{})", "(?:{})*+", "(?:{})?+"] if atomic else []
    return st.recursive(
        st.sampled_from(["a", "b", "ab", "", "[ab]", ".", r"\n", *marks]),
        lambda smaller: st.one_of(
            st.builds(str.format, st.sampled_from(wraps), smaller),
            st.lists(smaller, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
            st.lists(smaller, min_size=2, max_size=3).map("".join),
        ),
        max_leaves=7,
    )


rich_guarded_regexes = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", r"\b", r"\B", "^", r"(?<!\w)", r"(?<=[^\W\d])", "(?i:(?<=k))", "(?<!\u20ac)"]),
    rich_regexes,
    st.sampled_from(["", r"\b", r"\B", "$", r"(?!\w)", r"(?=[^\W\d])", "(?!\\s)", "(?=\u20ac|\ud55c)"]),
)
"""Patterns with Unicode classes between look-around."""

_PIECES = ("a", "b", "ab", "ba", "aa", "a+", "b*", "a+?", "[ab]", "[ab]+?", "(?:ab|a)", "(?:a|ab)", "a?", "a??")
_CONDITIONS = ("", "(?=b)", "(?=a)", "(?!a)", "(?!b)", "(?=ab)", "(?!ab)", "$", r"\b", "(?=a$)", "(?=b*a)", "(?!a*b)")


def conditional_regex(random: Random) -> str:
    """Alternatives over a and b with look-ahead before, within or after them."""
    parts = [
        "".join(random.choices(_PIECES, k=random.randint(1, 2))) + random.choice(_CONDITIONS)
        for _ in range(random.randint(1, 3))
    ]
    return random.choice(("", "", "(?!ab)", "(?!b)")) + "|".join(parts)
