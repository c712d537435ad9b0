"""Files that somebody has made, with the checksums right: an error, or some constraint; the process lives."""

from __future__ import annotations

import contextlib
import random
import struct
from collections.abc import Callable

import numpy as np
import pytest
from composition.artifacts.sample import written
from support.hostile_files import checksum, require_no_harm, sections, sign
from support.indented_grammars import INDENTED_GRAMMARS

import pdacon

_BYTES = [bytes([byte]) for byte in range(256)]
_WORDS = """
start: (NUMBER | WORD | TEXT)+
NUMBER: /\\d+(\\.\\d+)?([eE][+-]?\\d+)?/
WORD: /[a-z]+\\b(?!!)/
TEXT: /"[^"]*"/
%ignore " "
"""


def changed(data: bytes, rng: random.Random) -> bytes:
    """With one to three numbers changed, and checksums that fit again."""
    file = bytearray(data)
    found = sections(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        number, (offset, size) = rng.choice([entry for entry in enumerate(found) if entry[1][1] >= 4])
        at = offset + rng.randrange(size // 4) * 4
        old = struct.unpack_from("<i", file, at)[0]
        new = rng.choice([-1, 0, 1, 3, 100, 2**31 - 1, -(2**31), old + 1, old - 1, old ^ 1 << rng.randrange(31)])
        struct.pack_into("<i", file, at, max(-(2**31), min(2**31 - 1, new)))
        sign(file, number)
    return bytes(file)


def walk(constraint: pdacon.Constraint) -> None:
    """A text of random tokens that are allowed."""
    row = np.zeros((1, 9), np.int32)
    rng = random.Random(1)
    matcher = constraint.matcher(max_rollback=0)
    for _ in range(10):
        matcher.fill_bitmask(row)
        allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")[:261])
        if not allowed.size:
            break
        matcher.forced_bytes(20)
        matcher.accept_token(int(rng.choice(allowed)))
    matcher.is_accepting()
    matcher.shortest_completion()


def ask_with_leading_space(constraint: pdacon.Constraint) -> None:
    leading = constraint.matcher(strip_leading_space=True)
    for token in range(261):
        leading.is_allowed(token)


QUESTIONS: dict[str, Callable[[pdacon.Constraint], object]] = {
    "walk": walk,
    "leading_space": ask_with_leading_space,
    "shortest_completion": lambda constraint: constraint.matcher().shortest_completion(),
    "forced_tokens": lambda constraint: constraint.matcher().forced_tokens(),
    "mask_table": lambda constraint: constraint.mask_table(),
    "saved_again": lambda constraint: walk(pdacon.Constraint.from_bytes(constraint.to_bytes())),
}
"""What there is to ask for; each may be the first, which begins with what is made on demand."""


def failure(ask: Callable[[pdacon.Constraint], object], constraint: pdacon.Constraint) -> pdacon.PdaconError | None:
    """What a question raises, if it does; the same again does not count."""
    try:
        ask(constraint)
    except pdacon.PdaconError as error:
        return error
    except RuntimeError as error:
        if "failed before" not in str(error):
            raise
    return None


def use(constraint: pdacon.Constraint, rng: random.Random) -> None:
    """Ask for all there is, in some order. What one question finds damaged the others must still survive."""
    questions = rng.sample(list(QUESTIONS.values()), len(QUESTIONS))
    for error in [failure(ask, constraint) for ask in questions]:
        if error is not None:
            raise error


def loaded_grammar(name: str) -> pdacon.Grammar:
    if name in ("json", "sql_select"):
        return pdacon.Grammar.builtin(name)
    if name == "words":
        return pdacon.Grammar.from_lark(_WORDS)
    blocks = next(small for small in INDENTED_GRAMMARS if small.name == name)
    return pdacon.Grammar.from_lark(blocks.text, conflicts=blocks.conflicts, **blocks.options)


@pytest.mark.parametrize("name", ["json", "words", "blocks"])
def test_wrong_numbers_do_no_harm(name: str, tally, scaled) -> None:
    vocabulary = pdacon.Vocabulary.from_tokens([*_BYTES, b"ab", b"a ", b"\n  ", b'":', None], eos_ids=[260])
    constraint = pdacon.compile(loaded_grammar(name), vocabulary)
    untouched = constraint.to_bytes()
    rng = random.Random(name)
    use(constraint, rng)
    for data in (untouched, constraint.to_bytes()):
        assert pdacon.Constraint.from_bytes(changed_not_at_all(data), verify=True)
        for _ in range(scaled(60)):
            try:
                loaded = pdacon.Constraint.from_bytes(changed(data, rng))
            except pdacon.ArtifactError:
                tally(refused=1)
                continue
            try:
                use(loaded, rng)
                tally(wrong_or_harmless=1)
            except pdacon.PdaconError:
                tally(refused_when_used=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["json", "blocks"])
def test_no_number_of_the_sizes_is_believed(name: str, tally) -> None:
    vocabulary = pdacon.Vocabulary.from_tokens([*_BYTES, b"ab", b"a ", b"\n  ", b'":', None], eos_ids=[260])
    data = pdacon.compile(loaded_grammar(name), vocabulary).to_bytes()
    rng = random.Random(name)
    small = [entry for entry in enumerate(sections(data)) if 24 <= entry[1][1] <= 48]
    for number, (offset, size) in small:
        for at in range(offset, offset + size // 4 * 4, 4):
            for new in (-1, 1, 1 << 27, 1 << 28, 2**31 - 1, -(2**31)):
                file = bytearray(data)
                struct.pack_into("<i", file, at, new)
                sign(file, number)
                require_no_harm(file, lambda constraint: use(constraint, rng), tally)


_LEAST_READ, _LEAST_DEPTH = 18, 30
"""Sections: bytes read at least in each lexer state, LR states at least below each."""


@pytest.mark.parametrize("name", ["json", "words", "blocks", "sql_select"])
@pytest.mark.parametrize("part", [_LEAST_READ, _LEAST_DEPTH])
def test_no_state_is_further_on_than_its_transitions_lead(name: str, part: int) -> None:
    """Whoever believed that would read beyond the stack, or lex the same bytes again for ever."""
    vocabulary = pdacon.Vocabulary.from_tokens([*_BYTES, b"ab", None], eos_ids=[257])
    data = pdacon.compile(loaded_grammar(name), vocabulary).to_bytes()
    number = next(at for at in range(len(sections(data))) if struct.unpack_from("<I", data, 32 + 32 * at)[0] == part)
    offset, size = sections(data)[number]
    least = np.frombuffer(data, np.int32, size // 4, offset).copy()
    # More than the longest text that is lexed again need not have been read.
    reachable = least < 2**31 - 1 if part == _LEAST_DEPTH else least <= 1
    places = np.flatnonzero(reachable)

    def loads(numbers: np.ndarray) -> bool:
        file = bytearray(data)
        file[offset : offset + size] = numbers.astype(np.int32).tobytes()
        sign(file, number)
        try:
            pdacon.Constraint.from_bytes(bytes(file))
        except pdacon.ArtifactError:
            return False
        return True

    assert loads(least)
    assert not loads(np.zeros_like(least))
    for place in places[:: max(1, len(places) // 60)]:
        raised = least.copy()
        raised[place] += 1
        assert not loads(raised), place


TOKEN_PDA = 42
"""Number of a section (Part in artifact.hpp): it begins with the most states that may be made."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_limit_that_is_too_low_is_an_error(question: str) -> None:
    """What is made on demand does not fit into it, whichever question comes first, and however often."""
    vocabulary = pdacon.Vocabulary.from_tokens([*_BYTES, b"ab", b"a ", b"\n  ", b'":', None], eos_ids=[260])
    file = bytearray(pdacon.compile(loaded_grammar("json"), vocabulary).to_bytes())
    parts = [struct.unpack_from("<I", file, 32 + 32 * number)[0] for number in range(len(sections(file)))]
    number = parts.index(TOKEN_PDA)
    struct.pack_into("<q", file, sections(file)[number][0], 1)
    sign(file, number)
    loaded = pdacon.Constraint.from_bytes(bytes(file))
    with contextlib.suppress(pdacon.LimitExceededError):
        QUESTIONS[question](loaded)
    with contextlib.suppress(pdacon.LimitExceededError):
        use(loaded, random.Random(question))


_OPENED = 29
"""Number of a section: by LR state and block, the LR state that an INDENT leads to."""


def test_a_search_for_a_column_without_an_end_meets_the_limit_of_states() -> None:
    """Where an INDENT leads elsewhere, lines may follow each other for ever, and no column ends one."""
    data = written()
    number = next(at for at in range(len(sections(data))) if struct.unpack_from("<I", data, 32 + 32 * at)[0] == _OPENED)
    offset, size = sections(data)[number]
    opened = np.frombuffer(data, np.int32, size // 4, offset)
    met = []
    for place in np.flatnonzero(opened >= 0).tolist():
        for state in range(len(opened)):
            file = bytearray(data)
            struct.pack_into("<i", file, offset + 4 * place, state)
            sign(file, number)
            try:
                pdacon.Constraint.from_bytes(bytes(file)).matcher().shortest_completion()
            except pdacon.ArtifactError:
                continue
            except pdacon.LimitExceededError as error:
                met.append(error.what)
    assert met
    assert set(met) == {"states"}


def changed_not_at_all(data: bytes) -> bytes:
    """The same file with checksums of our own: they have to be those that it has."""
    for number, (offset, size) in enumerate(sections(data)):
        assert struct.unpack_from("<Q", data, 32 + 32 * number + 24)[0] == checksum(data[offset : offset + size])
    return data
