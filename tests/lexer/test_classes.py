"""Character classes against ``re`` for every code point, and their UTF-8 automata against ``str.encode``."""

from __future__ import annotations

import re
import unicodedata
from array import array
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pdacon.regular.ordered import compile_pattern, sre, unicode_sets
from pdacon.regular.ordered.classes import character_set
from pdacon.regular.ordered.unicode_sets import SetName, scan, unicode_set
from pdacon.regular.ordered.utf8 import FINAL, ByteTrie, Ranges, byte_trie

CLASSES = Path(__file__).with_name("classes.txt").read_text(encoding="utf-8").split()
"""One character each; the usual ones, and those where case folding is not one to one, or differs beyond the BMP."""
FLAGS = {"": 0, "i": re.I, "a": re.A, "ai": re.A | re.I}


@cache
def all_code_points() -> str:
    return array("I", range(0x110000)).tobytes().decode("utf-32", "surrogatepass")


def as_mask(ranges: Ranges) -> NDArray[np.bool_]:
    mask = np.zeros(0x110000, np.bool_)
    for first, last in ranges:
        assert not mask[first : last + 1].any()
        mask[first : last + 1] = True
    return mask


@pytest.mark.slow
@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS.keys())
def test_class_has_exactly_the_characters_that_re_matches(flags: int) -> None:
    wrong = []
    for regexp in CLASSES:
        tree, flags_in_force = sre.parse(regexp, flags)
        ours = as_mask(character_set(*tree.data[0], flags_in_force))
        theirs = np.zeros_like(ours)
        for match in re.finditer(f"(?:{regexp})+", all_code_points(), flags):
            theirs[match.start() : match.end()] = True
        theirs[0xD800:0xE000] = False
        if (ours != theirs).any():
            wrong.append((regexp, [hex(point) for point in np.flatnonzero(ours != theirs)[:5]]))
    assert wrong == []


@pytest.mark.parametrize("flags", [re.I, re.I | re.A], ids=["i", "ai"])
def test_ascii_letters_ignoring_case(flags: int) -> None:
    # The ASCII letters are folded without asking re.
    for letter in "abcdefghijklmnopqrstuvwxyz@[`{0":
        tree, flags_in_force = sre.parse(re.escape(letter), flags)
        ours = as_mask(character_set(*tree.data[0], flags_in_force))
        theirs = [match.start() for match in re.finditer(re.escape(letter), all_code_points(), flags)]
        assert np.flatnonzero(ours).tolist() == theirs


def test_no_other_character_has_case() -> None:
    cased = {point for first, last in unicode_set("cased") for point in range(first, last + 1)}
    text = all_code_points()
    # A class folds by lower(); whatever that leads to must be among the characters that re is asked about.
    lowered = {ord(lower) for point in cased if len(lower := text[point].lower()) == 1}
    assert lowered <= cased


@pytest.mark.parametrize("name", ["word", "digit", "space", "cased"])
def test_shipped_table_is_what_the_interpreter_says(name: SetName) -> None:
    assert unicode_set(name) == scan(name)


def test_a_table_is_shipped_for_this_version_of_unicode() -> None:
    table = Path(unicode_sets.__file__).with_name("unicode_data") / f"{unicodedata.unidata_version}.txt"
    if not table.exists():
        pytest.skip(f"Unicode {unicodedata.unidata_version} is scanned at run time; see unicode_sets.py")
    assert [line.split()[0] for line in table.read_text().splitlines()] == ["word", "digit", "space", "cased"]


@pytest.mark.parametrize("regexp", CLASSES)
def test_automaton_has_exactly_the_utf8_of_the_class(regexp: str) -> None:
    tree, flags = sre.parse(regexp, 0)
    ranges = character_set(*tree.data[0], flags)
    trie = byte_trie(ranges)
    for edges in trie.nodes:
        borders = [border for lo, hi, _ in edges for border in (lo, hi)]
        assert borders == sorted(borders)
        assert len({lo for lo, _, _ in edges}) == len(edges)
    assert len(set(trie.nodes)) == len(trie.nodes), "equal suffixes are one node"
    np.testing.assert_array_equal(spelled(trie), as_mask(ranges))


def spelled(trie: ByteTrie) -> NDArray[np.bool_]:
    """The characters whose UTF-8 the automaton accepts; every path is checked to be valid UTF-8."""
    mask = np.zeros(0x110000, np.bool_)
    pending = [(len(trie.nodes) - 1, b"")] if trie.nodes else []
    while pending:
        node, prefix = pending.pop()
        for lo, hi, target in trie.nodes[node]:
            if target == FINAL:
                first, last = (ord((prefix + bytes([end])).decode()) for end in (lo, hi))
                assert last - first == hi - lo
                assert not mask[first : last + 1].any()
                mask[first : last + 1] = True
            else:
                pending += [(target, prefix + bytes([byte])) for byte in range(lo, hi + 1)]
    return mask


@pytest.mark.parametrize(("regexp", "most"), [(r"\w", 330), (r"\d", 45), (r"\s", 8), (".", 8), ("[^a]", 8), ("é", 2)])
def test_suffixes_are_shared(regexp: str, most: int) -> None:
    assert len(compile_pattern(regexp)) <= most + 1
