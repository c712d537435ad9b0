"""A constraint that was saved and loaded is the one that was saved: the same masks, the same answers to all else."""

from __future__ import annotations

import os
import pickle
import random
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from composition.artifacts import layout
from lark.indenter import Indenter
from support.indented_grammars import INDENTED_GRAMMARS
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar
from support.vocabularies import tiny_vocabularies
from support.waiting_grammars import random_waiting_grammar, random_waiting_layout

import pdacon
from pdacon._native import _core
from pdacon.composition import native_trie

GRAMMAR, TOKEN_ORDER, MASK_BLOCKS = 2, 6, 45
"""Numbers of sections (Part in artifact.hpp)."""

LIMITS = pdacon.Limits(states=5_000)
_FUTURES = 51
"""The first of the eight sections of futures."""
BYTES = [bytes([byte]) for byte in range(256)]
GRAMMARS = (
    *SMALL_GRAMMARS,
    *INDENTED_GRAMMARS,
    *map(random_waiting_grammar, range(8)),
    *map(random_waiting_layout, range(8)),
)


def load(small: SmallGrammar) -> pdacon.Grammar:
    return pdacon.Grammar.from_lark(small.text, conflicts=small.conflicts, lookahead=small.lookahead, **small.options)


def answers(constraint: pdacon.Constraint, starts: tuple[str, ...], most: int) -> list[object]:
    """What a constraint says after each of some texts, short ones first."""
    vocabulary = constraint.vocabulary
    row = np.zeros((1, (vocabulary.size + 31) // 32), np.int32)
    said: list[object] = []
    for start in starts:
        pending = [constraint.matcher(start)]
        for matcher in pending:
            matcher.fill_bitmask(row)
            allowed = np.unpackbits(row.view(np.uint8), bitorder="little")[: vocabulary.size].astype(bool)
            assert [matcher.is_allowed(token) for token in range(vocabulary.size)] == allowed.tolist()
            said += [row.tobytes(), matcher.is_accepting(), matcher.shortest_completion(), matcher.forced_bytes()]
            for token in np.flatnonzero(allowed).tolist():
                if len(pending) < most:
                    pending.append(matcher.fork())
                    assert pending[-1].accept_token(token)
    return said


def begun_by(constraint: pdacon.Constraint, starts: tuple[str, ...]) -> tuple[str, ...]:
    """The starts that have a sentence."""
    found = []
    for start in starts:
        try:
            constraint.matcher(start)
        except pdacon.EmptyLanguageError:
            continue
        found.append(start)
    return tuple(found)


def compiled(small: SmallGrammar, count: int) -> list[pdacon.Constraint]:
    """A small grammar for so many of the tiny vocabularies that can spell it."""
    rng = random.Random(small.name)
    texts = [small.encode("".join(rng.choices(small.alphabet, k=5))) for _ in range(4)]
    vocabularies = tiny_vocabularies(small.letters, texts, rng)
    found = []
    for tiny in rng.sample(vocabularies, len(vocabularies)):
        try:
            found.append(pdacon.compile(load(small), tiny.vocabulary(), limits=LIMITS))
        except (pdacon.PdaconError, ValueError):  # refused, or the vocabulary cannot spell it
            continue
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("small", GRAMMARS, ids=lambda small: small.name)
def test_all_is_as_it_was(small: SmallGrammar, tally, scaled) -> None:
    """Saved before there is a mask, when there are some, and when there are all that are asked for."""
    most = scaled(7)
    for constraint in compiled(small, scaled(1)):
        starts = begun_by(constraint, small.starts)
        untouched = constraint.to_bytes()
        answers(constraint, starts, most // 3)
        begun = constraint.to_bytes()
        expected = answers(constraint, starts, most)
        finished = constraint.to_bytes()
        table = constraint.mask_table(start=starts[0])
        for data in (untouched, begun, finished):
            loaded = pdacon.Constraint.from_bytes(data)
            assert begun_by(loaded, small.starts) == starts
            known = loaded.mask_table(start=starts[0])
            assert np.array_equal(known, table[: len(known)])
            assert answers(loaded, starts, most) == expected
            tally(constraints=1, answers=len(expected))
            # With what was added: files share what is alike, and what is added to one place belongs to no other.
            again = pdacon.Constraint.from_bytes(loaded.to_bytes(), verify=True)
            assert answers(again, starts, most) == expected
            assert all(again.statistics(start)["masks_computed"] == 0 for start in starts)
        assert again.grammar == constraint.grammar
        assert again.vocabulary == constraint.vocabulary


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[pdacon.Constraint, Path]:
    """JSON with bytes and some words, after a text."""
    words = [b'"a', b'":', b"true", b'", "', b"  ", b"]]", b"12"]
    vocabulary = pdacon.Vocabulary.from_tokens([*BYTES, *words, None], eos_ids=[256 + len(words)])
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary)
    matcher = constraint.matcher()
    for byte in b'{"a": [1, "b"]}':
        matcher.mask_id()
        assert matcher.accept_token(byte)
    path = tmp_path_factory.mktemp("artifacts") / "json.pda"
    constraint.save(path)
    return constraint, path


@pytest.mark.slow
def test_another_process_maps_the_same_file(saved: tuple[pdacon.Constraint, Path]) -> None:
    path = saved[1]
    script = (
        "import sys, pdacon\n"
        "constraint = pdacon.Constraint.load(sys.argv[1])\n"
        "matcher = constraint.matcher()\n"
        "ids = []\n"
        'for byte in b\'{"a": [1, "b"]}\':\n'
        "    ids.append(matcher.mask_id())\n"
        "    assert matcher.accept_token(byte)\n"
        "print(ids, constraint.statistics()['masks_computed'])\n"
    )
    loaded = pdacon.Constraint.load(path)
    run = subprocess.run([sys.executable, "-P", "-c", script, path], capture_output=True, text=True, check=True)
    matcher = loaded.matcher()
    ids = []
    for byte in b'{"a": [1, "b"]}':
        ids.append(matcher.mask_id())
        assert matcher.accept_token(byte)
    assert run.stdout == f"{ids} 0\n"


def test_what_it_is_of_is_checked(saved: tuple[pdacon.Constraint, Path]) -> None:
    constraint, path = saved
    loaded = pdacon.Constraint.load(path, constraint.vocabulary, grammar=constraint.grammar)
    assert loaded.vocabulary is constraint.vocabulary
    assert loaded.grammar.data is constraint.grammar.data
    assert repr(loaded) == repr(constraint)
    other = pdacon.Vocabulary.from_tokens(BYTES)
    with pytest.raises(pdacon.ArtifactError, match=r"json\.pda: compiled for another vocabulary"):
        pdacon.Constraint.load(path, other)
    with pytest.raises(pdacon.ArtifactError, match="another grammar"):
        pdacon.Constraint.load(path, grammar=pdacon.Grammar.from_lark('start: "a"'))
    with pytest.raises(TypeError, match="Vocabulary"):
        pdacon.Constraint.load(path, b"tokens")  # type: ignore[arg-type]


def test_constraints_of_the_same_tokens_share_a_trie(saved: tuple[pdacon.Constraint, Path]) -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    tries = [native_trie(pdacon.Vocabulary.from_tokens([*tokens, last], eos_ids=[0])) for last in (b"ab", b"ab", b"ba")]
    assert tries[0] is tries[1]
    assert tries[0] is not tries[2]


def test_it_explains_and_reports_as_before(saved: tuple[pdacon.Constraint, Path]) -> None:
    constraint, path = saved
    loaded = pdacon.Constraint.load(path)
    assert loaded.report.to_dict() == constraint.report.to_dict()
    for text in (b"", b"[1", b'{"a'):
        before, after = constraint.matcher(), loaded.matcher()
        assert before.accept_bytes(text)
        assert after.accept_bytes(text)
        for asked in (b"]", b"}", b":", 5, 256):
            assert after.explain(asked) == before.explain(asked)


def test_it_pickles_as_its_bytes(saved: tuple[pdacon.Constraint, Path]) -> None:
    constraint, path = saved
    again = pickle.loads(pickle.dumps(constraint))
    assert again.to_bytes() == constraint.to_bytes()
    assert pdacon.Constraint.load(path).to_bytes() == path.read_bytes()


def test_only_a_file_is_replaced(saved: tuple[pdacon.Constraint, Path], tmp_path: Path) -> None:
    constraint, _ = saved
    path, link, pipe = tmp_path / "json.pda", tmp_path / "link.pda", tmp_path / "pipe"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    constraint.save(link)
    assert link.is_symlink()
    assert path.read_bytes() == constraint.to_bytes()
    assert path.stat().st_mode & 0o777 == 0o640
    os.mkfifo(pipe)
    wrong = {pipe: "not a regular file", tmp_path: "directory", tmp_path / "no" / "x": "no such folder"}
    for place, shown in wrong.items():
        with pytest.raises(OSError, match=shown):
            constraint.save(place)
    assert pipe.is_fifo()
    assert sorted(child.name for child in tmp_path.iterdir()) == ["json.pda", "link.pda", "pipe"]


def test_what_is_no_artifact_is_an_error(saved: tuple[pdacon.Constraint, Path], tmp_path: Path) -> None:
    data = saved[1].read_bytes()
    path = tmp_path / "some.pda"
    for content, says in [
        (b"", "is empty; compile the grammar again"),
        (b"start: 'a'", "does not begin like one"),
        (data[:20], "does not begin like one"),
        (data[:-64], "damaged: "),
        (data + b"\0" * 64, "damaged: "),
        (
            data[:8] + b"\2" + data[9:],
            f"format has version 2, and this pdacon reads version {_core.ARTIFACT_VERSION}; compile the grammar again",
        ),
    ]:
        path.write_bytes(content)
        with pytest.raises(pdacon.ArtifactError, match=says):
            pdacon.Constraint.load(path)
    with pytest.raises(pdacon.ArtifactError, match=r"not a file that can be mapped; .* Constraint\.from_bytes"):
        pdacon.Constraint.load("/dev/null")
    with pytest.raises(FileNotFoundError):
        pdacon.Constraint.load(tmp_path / "none.pda")
    with pytest.raises(TypeError, match="bytes"):
        pdacon.Constraint.from_bytes(path)  # type: ignore[arg-type]
    for load in (lambda: pdacon.Constraint.load(path, verify=1), lambda: pdacon.Constraint.from_bytes(data, verify=1)):
        with pytest.raises(TypeError, match="load: verify must be True or False, not int"):
            load()
    with pytest.raises(TypeError, match="not int"):
        pdacon.Constraint.load(3)  # type: ignore[arg-type]


def test_a_path_may_be_bytes(saved: tuple[pdacon.Constraint, Path], tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "named.pda")
    saved[0].save(path)
    assert pdacon.Constraint.load(path).to_bytes() == saved[0].to_bytes()
    Path(os.fsdecode(path)).write_bytes(b"")
    with pytest.raises(pdacon.ArtifactError, match=r"^.*named\.pda: not an artifact"):
        pdacon.Constraint.load(path)


def test_bytes_are_taken_from_any_memory(saved: tuple[pdacon.Constraint, Path]) -> None:
    data = saved[1].read_bytes()
    changing = bytearray(data)
    wanted = pdacon.Constraint.from_bytes(data).matcher().shortest_completion()
    others = [memoryview(data), changing, memoryview(bytes(2) + data)[2:], memoryview(data + data)[: len(data)]]
    others += [memoryview(changing).toreadonly(), memoryview(np.frombuffer(changing, np.uint8)).toreadonly()]
    loaded = [pdacon.Constraint.from_bytes(memory) for memory in others]
    changing[:] = bytes(len(changing))
    assert [constraint.matcher().shortest_completion() for constraint in loaded] == [wanted] * len(loaded)


def damaged(data: bytes, part: int, keep: int) -> bytes:
    """With the last bytes of a section changed, so many kept."""
    file = bytearray(data)
    for at in range(struct.unpack_from("<I", data, 12)[0]):
        number, _, offset, size = struct.unpack_from("<IiQQ", data, 32 + 32 * at)
        if number == part:
            file[offset + keep : offset + size] = b"\x55" * (size - keep)
    return bytes(file)


def test_damage_that_is_found_late_says_where(saved: tuple[pdacon.Constraint, Path], tmp_path: Path) -> None:
    """And in a batch, whose it is; the masks of the others are written."""
    says = r"late\.pda: .*; compile the grammar again and save that"
    path = tmp_path / "late.pda"
    path.write_bytes(damaged(damaged(saved[0].to_bytes(), GRAMMAR, 0), MASK_BLOCKS, 128))
    loaded = pdacon.Constraint.load(path)
    with pytest.raises(pdacon.ArtifactError, match=says):
        loaded.grammar  # noqa: B018
    with pytest.raises(pdacon.ArtifactError, match=says):
        loaded.matcher().mask_id()
    good = saved[0].matcher()
    bitmask = np.full((3, 9), 7, np.int32)
    with pytest.raises(pdacon.ArtifactError, match=rf"^matchers\[1\]: .*{says}.*; the rows of the others are written"):
        pdacon.fill_bitmasks([good, loaded.matcher(), good], bitmask)
    row = np.zeros(9, np.int32)
    good.fill_bitmask(row)
    assert bitmask.tolist() == [row.tolist(), [7] * 9, row.tolist()]
    with pytest.raises(pdacon.ArtifactError, match=r"^matchers\[0\] and 1 behind it: "):
        pdacon.matching.mask_ids([loaded.matcher(), loaded.matcher()])
    # The order of tokens that no trie in use has.
    unheard = pdacon.Vocabulary.from_tokens([*BYTES, b"late", None], eos_ids=[257])
    data = pdacon.compile(pdacon.Grammar.builtin("json"), unheard).to_bytes()
    del unheard
    path.write_bytes(damaged(data, TOKEN_ORDER, 0))
    with pytest.raises(pdacon.ArtifactError, match=says):
        pdacon.Constraint.load(path).matcher().forced_bytes()


def test_what_was_added_is_saved_with_what_was_loaded(saved: tuple[pdacon.Constraint, Path]) -> None:
    """A second file has the answers of both."""
    loaded = pdacon.Constraint.load(saved[1])
    matcher = loaded.matcher()
    text = b'[{"k": false}, -1.5e7]'
    for byte in text:
        matcher.mask_id()
        assert matcher.accept_token(byte)
    again = pdacon.Constraint.from_bytes(loaded.to_bytes())
    for sentence in (text, b'{"a": [1, "b"]}'):
        matcher = again.matcher()
        for byte in sentence:
            matcher.mask_id()
            assert matcher.accept_token(byte)
    assert again.statistics()["masks_computed"] == 0


@pytest.mark.parametrize("name", ["json", "sql_select", "json_pretty"])
def test_futures_are_as_they_were(name: str) -> None:
    """Whoever loads them has them, before a mask is computed and after."""
    vocabulary = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"ab", None], eos_ids=[257])

    def futures(constraint: pdacon.Constraint) -> dict[int, bytes]:
        parts = range(_FUTURES, _FUTURES + 8)
        return {part: data for part, _, data in layout.sections(constraint.to_bytes()) if part in parts}

    constraint = pdacon.compile(name, vocabulary)
    known = futures(constraint)
    assert len(known) == 8
    assert all(known[part] for part in (_FUTURES, _FUTURES + 2, _FUTURES + 3))
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes())
    assert futures(loaded) == known
    matcher = loaded.matcher()
    for _ in range(5):
        assert matcher.accept_token(next(token for token in matcher.allowed_tokens() if token < 257))
    assert futures(loaded)[_FUTURES] == known[_FUTURES]


def test_every_changed_byte_is_noticed(saved: tuple[pdacon.Constraint, Path], scaled) -> None:
    """At once if all is verified; else at once, or when what was changed is used."""
    data = bytearray(saved[1].read_bytes())
    rng = random.Random(7)
    for at in [*range(64), *rng.sample(range(len(data)), scaled(2000))]:
        bit = 1 << rng.randrange(8)
        data[at] ^= bit
        with pytest.raises(pdacon.ArtifactError):
            pdacon.Constraint.from_bytes(bytes(data), verify=True)
        data[at] ^= bit
    pdacon.Constraint.from_bytes(bytes(data), verify=True)


@pytest.mark.slow
def test_what_is_saved_close_to_the_limit_of_memory_is_whole() -> None:
    """To save can meet the limit, after which what earlier work left is dropped and it begins again."""

    class Blocks(Indenter):
        NL_type = "_NL"
        OPEN_PAREN_types: ClassVar[list[str]] = []
        CLOSE_PAREN_types: ClassVar[list[str]] = []
        INDENT_type = "_INDENT"
        DEDENT_type = "_DEDENT"
        tab_len = 2

    text = """
        start: stmt
        stmt: atom+ _NL [_INDENT stmt+ _DEDENT]
        atom: "ab" | "aa"
        _NL: /(\\r?\\n[\\t ]*)+/
        %declare _INDENT _DEDENT
    """
    grammar = pdacon.Grammar.from_lark(text, postlex=Blocks())
    vocabulary = pdacon.Vocabulary.from_tokens([*BYTES, None], eos_ids=[256])
    whole = 0
    for size in range(60_000, 160_000, 10_000):
        with suppress(pdacon.LimitExceededError):
            constraint = pdacon.compile(grammar, vocabulary, limits=pdacon.Limits(bytes=size))
            for sentence in (b"aa\n  aaab\n", b"ab\n\taa\n  \n\tab\n"):
                matcher = constraint.matcher()
                for byte in sentence:
                    assert matcher.accept_bytes(bytes([byte]))
                    matcher.mask_id()
                    matcher.shortest_completion()
                    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes(), verify=True)
                    whole += loaded.matcher().accept_bytes(sentence)
    assert whole
