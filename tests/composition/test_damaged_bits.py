"""Files with a changed bit, or a changed grammar, in Python: an error of pdacon's, or some constraint; nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.hostile_files import sections, sign

import pdacon

NESTED = 'start: "(" start ")" | A\nA: /[ab]+/\n%ignore " "\n%ignore /#[ab]/'
VOCABULARY = pdacon.Vocabulary.from_tokens([b"a", b"b", b"(", b")", b"ab", b" ", None], eos_ids=[6])


@pytest.fixture(scope="module")
def whole() -> bytes:
    return pdacon.compile(pdacon.Grammar.from_lark(NESTED), VOCABULARY).to_bytes()


def walk(constraint: pdacon.Constraint) -> list[Any]:
    row, answers, matcher = np.zeros(1, np.int32), [], constraint.matcher()
    for step in range(6):
        matcher.fill_bitmask(row)
        answers += [row.tolist(), matcher.forced_bytes(), matcher.is_accepting()]
        allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")[:7])
        if not allowed.size:
            break
        matcher.accept_token(int(allowed[step % len(allowed)]))
    return [*answers, matcher.shortest_completion()]


def explain(constraint: pdacon.Constraint) -> list[str]:
    matcher = constraint.matcher()
    matcher.accept_bytes(b"(a")
    return [str(matcher.explain(token)) for token in (0, 3, 6)]


QUESTIONS: list[Callable[[pdacon.Constraint], Any]] = [
    walk,
    explain,
    lambda constraint: constraint.matcher().shortest_completion(),
    lambda constraint: constraint.matcher().forced_tokens(),
    lambda constraint: constraint.matcher(budget=pdacon.Budget(tokens=9)).least_tokens(),
    lambda constraint: walk(pdacon.Constraint.from_bytes(constraint.to_bytes())),
    lambda constraint: constraint.grammar.to_lark(),
    lambda constraint: constraint.vocabulary.tokens,
    lambda constraint: constraint.matcher().validate_tokens([2, 0, 3]),
]


def answers(file: bytes, first: int) -> list[Any]:
    """All answers, of which any may be the first; None for an error of pdacon's."""
    try:
        constraint = pdacon.Constraint.from_bytes(file, verify=False)
    except pdacon.ArtifactError:
        return [None] * len(QUESTIONS)
    given: list[Any] = [None] * len(QUESTIONS)
    for at in range(len(QUESTIONS)):
        number = (first + at) % len(QUESTIONS)
        try:
            given[number] = QUESTIONS[number](constraint)
        except pdacon.PdaconError:
            continue
    return given


def test_a_changed_bit_is_an_error_or_changes_nothing(whole: bytes, tally) -> None:
    expected = answers(whole, 0)
    for bit in range(0, len(whole) * 8, 331):
        file = bytearray(whole)
        file[bit // 8] ^= 1 << bit % 8
        for right, given in zip(expected, answers(bytes(file), bit), strict=True):
            assert given is None or given == right, bit
            tally(**{"refused" if given is None else "as_before": 1})


def test_a_changed_bit_that_checksums_do_not_tell_is_an_error_or_another_constraint(whole: bytes, tally) -> None:
    for number, (offset, size) in enumerate(sections(whole)):
        for bit in range(offset * 8, (offset + size) * 8, 331):
            file = bytearray(whole)
            file[bit // 8] ^= 1 << bit % 8
            sign(file, number)
            for given in answers(bytes(file), bit):
                tally(**{"refused" if given is None else "answered": 1})


def with_text(whole: bytes, old: bytes, new: bytes) -> bytes:
    """With another text of the same size in its grammar, and the right checksums."""
    assert len(old) == len(new)
    number, (offset, size) = next(
        entry for entry in enumerate(sections(whole)) if old in whole[entry[1][0] : sum(entry[1])]
    )
    file = bytearray(whole)
    file[offset : offset + size] = file[offset : offset + size].replace(old, new)
    sign(file, number)
    return bytes(file)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"[ab]+", b"[ab+)", "its grammar cannot be read"),
        (b"[ab]+", b"[cd]+", "not those of its grammar"),
        (b"[ab]+", b"[a-]+", "not those of its grammar"),
    ],
)
def test_a_grammar_of_other_patterns_is_damage(whole: bytes, old: bytes, new: bytes, message: str) -> None:
    matcher = pdacon.Constraint.from_bytes(with_text(whole, old, new)).matcher()
    assert matcher.accept_bytes(b"(b")
    with pytest.raises(pdacon.ArtifactError, match=message):
        matcher.explain(0)
