"""Patterns of which ``re`` warns: the same pattern in another spelling, and nothing of it reaches a user."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import pdacon
from pdacon.regular.brackets import unambiguous

BYTES = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
AMBIGUOUS = [
    "[[a]",
    "[^[a]",
    "[a--]",
    "[--a]",
    "[a&&b]",
    "[a||b]",
    "[a~~b]",
    r"[\w--\d]",
    r"[b[a--c]+",
    "(?x: [[a] # [[ \n)",
]
PIECES = [*re.findall(r"\S+", r"[ ] [[ ^ - -- & && ~~ || | a \] \[ b : (?#[[) \\ + \x2b #"), "\n"]


def tree(pattern: str, flags: int) -> tuple[str | None, bool]:
    """What ``re`` reads, None if it is no pattern, and whether it warns."""
    parser: Any = getattr(re, "_parser", None) or __import__("sre_parse")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            return str(parser.parse(pattern, flags)), bool(heard)
        except re.error:
            return None, False


@pytest.mark.parametrize("flags", [0, re.VERBOSE], ids=["plain", "verbose"])
def test_random_patterns_mean_the_same(flags: int, scaled: Callable[[int], int]) -> None:
    choose, ambiguous = random.Random(1), 0
    for _ in range(scaled(20_000)):
        pattern = "".join(choose.choice(PIECES) for _ in range(choose.randrange(2, 9)))
        meant, warned = tree(pattern, flags)
        assert tree(unambiguous(pattern, flags), flags) == (meant, False), pattern
        ambiguous += warned
    assert ambiguous > 100


DOORS: dict[str, Callable[[str], Any]] = {
    "from_regex": lambda pattern: pdacon.Grammar.from_regex(pattern).accepts("a"),
    "a set": lambda pattern: pdacon.RegularSet.from_regex(pattern).complement(),
    "from_lark": lambda pattern: pdacon.Grammar.from_lark(f"start: A\nA: /{pattern}/").sample(2),
    "bytes": lambda pattern: pdacon.Grammar.from_lark(f"start: /{pattern}/", use_bytes=True).accepts(b"a"),
    "check": lambda pattern: pdacon.check(f'start: A "a"?\nA: /{pattern}/').render(),
    "compile": lambda pattern: pdacon.compile(f"start: A+\nA: /{pattern}/", BYTES).matcher().explain("!"),
    "a file": lambda pattern: pdacon.Constraint.from_bytes(
        pdacon.compile(f"start: A+\nA: /{pattern}/", BYTES).to_bytes()
    ).matcher().explain("!"),
    "a schema": lambda pattern: pdacon.Grammar.from_json_schema({"type": "string", "pattern": pattern}),
    "llguidance": lambda pattern: pdacon.Grammar.from_llguidance(f"start: /{pattern}/"),
    "a structural tag": lambda pattern: pdacon.Grammar.from_structural_tag(
        {"type": "structural_tag", "format": {"type": "regex", "pattern": pattern}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_no_warning_of_python_leaves(door: str) -> None:
    for pattern in AMBIGUOUS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                DOORS[door](pattern)
            except pdacon.PdaconError:
                continue


@pytest.mark.parametrize("ask", [DOORS["from_regex"], DOORS["from_lark"]], ids=["from_regex", "from_lark"])
def test_a_class_of_posix_is_told(ask: Callable[[str], Any]) -> None:
    with pytest.warns(pdacon.GrammarWarning, match=r"\[\[:digit:\]\] is no class of characters") as heard:
        ask("[[:digit:]]")
    assert {warning.category for warning in heard} == {pdacon.GrammarWarning}
    assert {warning.filename for warning in heard} == {__file__}
