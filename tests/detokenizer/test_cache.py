"""The cache on disk: it changes nothing but the time, and believes nobody."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pytest
from support.small_tokenizers import train_byte_level

from pdacon.detokenizer import Vocabulary, cache, huggingface
from pdacon.detokenizer.cache import KEPT, cache_folder, cached, fingerprint_of, load, store
from pdacon.detokenizer.raw_vocabulary import Reading

READING = Reading([b"a", None, b"bc", b"\xff" * 300, None], (1, 4), True, ("one", "zwei ß"))
CONTENT = bytes(cache.WORTH_KEEPING)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PDACON_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def never() -> NoReturn:
    raise AssertionError("it should have been in the cache")


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_what_was_read_is_found_again(folder: Path) -> None:
    assert cached("kind", CONTENT, lambda: READING) == READING
    assert cached("kind", CONTENT, never) == READING
    (file,) = files(folder)
    assert file.suffix == ".vocabulary"


def test_other_content_and_other_readers_are_not_found(folder: Path) -> None:
    other = Reading([b"x"])
    cached("kind", CONTENT, lambda: READING)
    assert cached("kind", CONTENT + b"x", lambda: other) == other
    assert cached("other kind", CONTENT, lambda: other) == other
    assert cached("kind", [CONTENT[:5], CONTENT[5:]], lambda: other) == other
    assert len(files(folder)) == 4


def test_a_new_version_finds_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached("kind", CONTENT, lambda: READING)
    monkeypatch.setattr(cache, "VERSION", cache.VERSION + 1)
    assert cached("kind", CONTENT, lambda: Reading([b"x"])) == Reading([b"x"])


def test_small_files_are_not_worth_it(folder: Path) -> None:
    cached("kind", b"small", lambda: READING)
    assert files(folder) == []


@pytest.mark.parametrize("value", ["", "off", "none", "0", " OFF "])
def test_it_can_be_switched_off(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDACON_CACHE_DIR", value)
    assert cache_folder() is None
    assert cached("kind", CONTENT, lambda: READING) is READING


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PDACON_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform.startswith("linux"):
        assert cache_folder() == tmp_path / "pdacon"
    monkeypatch.setenv("PDACON_CACHE_DIR", "~/here")
    assert cache_folder() == Path.home() / "here"


def test_damage_is_noticed(folder: Path) -> None:
    key = fingerprint_of("kind", CONTENT)
    path = folder / "x.vocabulary"
    store(path, key, READING)
    data = path.read_bytes()
    random = Random(0)
    variants = [data[:n] for n in range(0, len(data), 7)] + [data + b"x", b"", pickle.dumps(READING.notes)]
    for _ in range(300):
        damaged = bytearray(data)
        damaged[random.randrange(len(data))] ^= 1 << random.randrange(8)
        variants.append(bytes(damaged))
    for variant in variants:
        path.write_bytes(variant)
        assert load(path, key) is None
    path.write_bytes(data)
    assert load(path, key) == READING
    assert load(path, bytes(32)) is None


def test_counts_are_checked_before_they_are_believed(folder: Path) -> None:
    """With a checksum that is right: whoever can write the folder can compute one."""
    import hashlib
    import struct

    key = fingerprint_of("kind", CONTENT)
    path = folder / "x.vocabulary"
    folder.mkdir()
    for counts in [
        (1 << 31, 0, 0, 0),
        (0, 1 << 31, 0, 0),
        (0, 0, 1 << 31, 0),
        (1, 0, 0, 0),
        (0, 0, 2, 7),
        (0, 0, 2, 0),
    ]:
        checked = key + struct.pack("<IIIB", *counts) + b"{}"
        path.write_bytes(b"pdavoc\x00\x01" + hashlib.sha256(checked).digest() + checked)
        assert load(path, key) is None


@pytest.mark.parametrize(
    ("counts", "body"),
    [
        ((0, 0, 2, 0), b"[]"),  # no token
        ((1, 1, 2, 0), bytes(4) + b"\x01\0\0\0[]"),  # an end that is no token
        ((1, 0, 200_000, 0), bytes(4) + b"[" * 100_000 + b"]" * 100_000),
    ],
)
def test_senseless_content_is_not_believed(counts: tuple[int, ...], body: bytes, folder: Path) -> None:
    import hashlib
    import struct

    key = fingerprint_of("kind", CONTENT)
    path = folder / "x.vocabulary"
    folder.mkdir()
    checked = key + struct.pack("<IIIB", *counts) + body
    path.write_bytes(b"pdavoc\x00\x01" + hashlib.sha256(checked).digest() + checked)
    assert load(path, key) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    folder.mkdir()
    path = folder / f"{fingerprint_of('kind', CONTENT).hex()}.vocabulary"
    os.mkfifo(path)
    assert cached("kind", CONTENT, lambda: READING) == READING
    assert cached("kind", CONTENT, never) == READING


def test_damaged_files_are_written_anew(folder: Path) -> None:
    cached("kind", CONTENT, lambda: READING)
    (file,) = files(folder)
    file.write_bytes(b"damage")
    assert cached("kind", CONTENT, lambda: READING) == READING
    assert cached("kind", CONTENT, never) == READING


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_files_of_others_are_not_believed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached("kind", CONTENT, lambda: READING)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert cached("kind", CONTENT, lambda: Reading([b"x"])) == Reading([b"x"])


def test_a_folder_that_cannot_be_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PDACON_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert cached("kind", CONTENT, lambda: READING) is READING
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("PDACON_CACHE_DIR", str(tmp_path / "folder"))

    def full(*_: Any) -> NoReturn:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert cached("kind", CONTENT, lambda: READING) is READING
    assert files(tmp_path / "folder") == []  # nothing half-written stays


def test_old_files_go(folder: Path) -> None:
    for number in range(KEPT + 3):
        path = folder / f"{number:064x}.vocabulary"
        store(path, bytes(32), READING)
        os.utime(path, (number, number))
    for name in ("mine.vocabulary", ".writing-killed", ".writing-now"):
        (folder / name).write_text("")
    for name in ("mine.vocabulary", ".writing-killed"):
        os.utime(folder / name, (0, 0))
    store(folder / f"{'f' * 64}.vocabulary", bytes(32), READING)
    names = {file.stem for file in files(folder)}
    assert names > {"mine", ".writing-now", "f" * 64}
    assert len(names) == KEPT + 2
    assert f"{0:064x}" not in names


WRITER = """
from pdacon.detokenizer.cache import WORTH_KEEPING, cached
from pdacon.detokenizer.raw_vocabulary import Reading
for n in range(60):
    reading = Reading([bytes([n % 4])] * 5000)
    assert cached("kind", bytes([n % 4]) * WORTH_KEEPING, lambda: reading) == reading
"""


@pytest.mark.slow
def test_many_writers(folder: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-I", "-c", WRITER]) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert {file.suffix for file in files(folder)} == {".vocabulary"}
    assert len(files(folder)) == 4


def test_tokenizers_of_hugging_face(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface, "WORTH_KEEPING", 10)
    tokenizer = train_byte_level("gpt2", ["<|endoftext|>"])
    vocab = Vocabulary.from_huggingface(tokenizer, eos_ids=[0])
    assert len(files(folder)) == 1
    again = Vocabulary.from_huggingface(tokenizer, eos_ids=[0])
    assert len(files(folder)) == 1
    assert again == vocab
    # Whatever changes bytes changes the fingerprint.
    tokenizer.add_tokens(["<new>"])
    assert Vocabulary.from_huggingface(tokenizer, eos_ids=[0]).tokens[-1] == b"<new>"
    tokenizer.add_special_tokens(["<new>"])
    assert Vocabulary.from_huggingface(tokenizer, eos_ids=[0]).tokens[-1] is None
    from tokenizers import decoders

    tokenizer.decoder = decoders.Fuse()
    assert Vocabulary.from_huggingface(tokenizer, eos_ids=[0]).tokens != vocab.tokens
    assert len(files(folder)) == 4
