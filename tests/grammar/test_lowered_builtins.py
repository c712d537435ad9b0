"""The built-in grammars as they lie in the package are what their texts give, and are used only where they are."""

from __future__ import annotations

import copy
import pickle
import random
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from grammar.lower_builtins import content

import pdacon
from pdacon.artifact import lowered_builtins
from pdacon.artifact.lowered_builtins import compressed, decompressed, lowered_builtin
from pdacon.base.cancelling import Watch
from pdacon.front.compiled import Compiled
from pdacon.front.grammar import _builtin
from pdacon.front.stages import composed
from pdacon.grammar import GrammarData
from pdacon.grammar.builtin import builtin_names, builtin_options, builtin_source, lowered_path

WORDS = pdacon.Vocabulary.from_tokens(
    [
        *(bytes([byte]) for byte in range(256)),
        b"  ",
        b"\n    ",
        b"select",
        b" from",
        b"def ",
        b'{"',
        b'":',
        b"12",
        None,
    ],
    eos_ids=[263],
)


def from_text(name: str) -> GrammarData:
    text, path = builtin_source(name)
    return pdacon.Grammar.from_lark(text, source_path=path, **builtin_options(name)).data


@pytest.mark.parametrize("name", builtin_names())
def test_files_are_what_the_texts_give(name: str) -> None:
    lowered = lowered_builtin(name)
    if lowered is None:
        assert name == "json5"
        assert unicodedata.unidata_version != "14.0.0", "python tests/grammar/lower_builtins.py"
        pytest.skip(f"{name} depends on Unicode, and is not written for {unicodedata.unidata_version}")
    stored = decompressed(lowered_path(name).read_bytes())
    versions = ("14.0.0", "15.0.0", "15.1.0") if name == "json5" else ()
    assert stored == content(name, versions), f"python tests/grammar/lower_builtins.py {name}"


@pytest.mark.parametrize("name", ["json", "json_pretty4", "python_spaces", "sql_select"])
def test_data_are_those_of_the_text(name: str) -> None:
    lowered, read = lowered_builtin(name), from_text(name)
    assert lowered is not None
    assert lowered.grammar.fingerprint == read.fingerprint
    # One that nothing has been asked of yet, each time.
    assert pickle.loads(pickle.dumps(_unread(name))) == read
    assert copy.copy(_unread(name)).terminals == read.terminals
    assert _unread(name).layout == read.layout
    assert _unread(name) == read


def _unread(name: str) -> GrammarData:
    lowered = lowered_builtin.__wrapped__(name)
    assert lowered is not None
    assert "terminals" not in vars(lowered.grammar)
    return lowered.grammar


@pytest.mark.parametrize("name", ["json", "sql", "python", "csv", "json_pretty"])
@pytest.mark.parametrize("vocabulary", [WORDS, pdacon.Vocabulary.bytes()], ids=["words", "bytes"])
def test_masks_are_those_of_the_text(name: str, vocabulary: pdacon.Vocabulary) -> None:
    compiled = pdacon.compile(name, vocabulary)
    assert "terminals" not in vars(_unread(name))
    grammar = from_text(name)
    with Watch(0) as watch:
        pdas = composed(grammar, vocabulary, pdacon.Limits(), watch)
    other = Compiled(
        lambda: grammar,
        lambda: vocabulary,
        lambda: pdacon.check(name),
        lambda: pdas,
        starts=("start",),
        empty=frozenset(),
        name=name,
        size=vocabulary.size,
    )
    choose = random.Random(7)
    for _ in range(6):
        one, two = compiled.matcher(), other.matcher()
        for _ in range(40):
            allowed = one.allowed_tokens()
            assert allowed == two.allowed_tokens()
            token = choose.choice(allowed)
            assert one.accept_token(token)
            assert two.accept_token(token)
            if one.is_terminated():
                break


@pytest.fixture
def fresh() -> Iterator[None]:
    """No built-in grammar is known, before and after."""
    for known in (lowered_builtin, _builtin):
        known.cache_clear()
    yield
    for known in (lowered_builtin, _builtin):
        known.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_a_file_of_another_text_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowered_builtins, "builtin_digest", lambda name: "another")
    assert lowered_builtin("json") is None
    assert pdacon.Grammar.builtin("json").data == from_text("json")
    assert pdacon.compile("json", WORDS).accepts("[1]")


@pytest.mark.usefixtures("fresh")
def test_a_file_for_other_unicode_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unicodedata, "unidata_version", "99.0.0")
    assert lowered_builtin("json5") is None
    assert lowered_builtin("json") is not None


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("damage", ["cut", "bits", "compressed"])
def test_damage_is_named(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = lowered_path("json").read_bytes()
    path = tmp_path / "json.pda.z"
    if damage == "compressed":
        inside = bytearray(decompressed(stored))
        inside[2000] ^= 255
        path.write_bytes(compressed(bytes(inside)))
    else:
        path.write_bytes(stored[:-100] if damage == "cut" else stored[:300] + b"\0\0\0\0" + stored[304:])
    monkeypatch.setattr(lowered_builtins, "lowered_path", lambda name: path)
    with pytest.raises(pdacon.ArtifactError, match=r"json\.pda\.z: .*install pdacon again"):
        pdacon.compile("json", WORDS)


def test_lower_limits_are_met_as_by_the_text() -> None:
    with pytest.raises(pdacon.LimitExceededError, match="states"):
        pdacon.compile("sql", WORDS, limits=pdacon.Limits(states=500))


def test_a_vocabulary_that_spells_less_gets_its_own_masks() -> None:
    letters = pdacon.Vocabulary.from_tokens(
        [*(bytes([byte]) for byte in b'{}[]":,0123abc \n'), b"\xc3\xa9", None], [17]
    )
    constraint = pdacon.compile("json", letters)
    assert constraint.matcher().allowed_tokens() == [0, 2, 4, *range(7, 11), 14, 15]


@pytest.mark.usefixtures("fresh")
def test_threads_that_ask_at_once() -> None:
    def mask(_: int) -> list[int]:
        return pdacon.compile("sql", WORDS).matcher().allowed_tokens()

    with ThreadPoolExecutor(4) as pool:
        masks = list(pool.map(mask, range(8)))
    assert all(one == masks[0] for one in masks)
