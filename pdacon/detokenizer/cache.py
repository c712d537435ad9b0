"""What was read from a tokenizer, kept on disk under the fingerprint of the tokenizer's content.

Parsing a tokenizer file of 131,072 tokens takes some tenths of a second, hashing it some hundredths. So the file is
hashed, and what it says is stored under the hash: lengths and bytes, nothing that could run. A file in the cache is
believed only if it is ours, its checksum is right, and it was stored under this very fingerprint; else it is
as if it were not there. Writing is atomic: many processes may read and write one folder.

The folder is ``PDACON_CACHE_DIR``, or the place that the platform has for such things (``~/.cache/pdacon``,
``~/Library/Caches/pdacon``, ``%LOCALAPPDATA%\\pdacon``). ``PDACON_CACHE_DIR=off`` switches the cache off. A folder that
cannot be written is no error: the cache is then without effect.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from pdacon.detokenizer.raw_vocabulary import MOST_IDS, Reading

VERSION = 3
"""To be raised whenever a reader learns to read something differently: what was stored before is then not found."""

KEPT = 64
"""Files that stay in the folder; those that were not used for longest go first. One is 1 to 3 MB."""

WORTH_KEEPING = 100_000
"""Smaller files, in bytes, are read faster than they are found in the cache."""

_MAGIC = b"pdavoc\x00\x01"
_HEADER = struct.Struct("<8s32s32sIIIB")  # magic, checksum of the rest, key, tokens, ends, bytes of notes, flags
_CHECKED_FROM = 8 + 32
_SUFFIX = ".vocabulary"
_OURS = re.compile(r"[0-9a-f]{64}\.vocabulary")
_WRITING = ".writing-"


def cached(kind: str, content: bytes | Iterable[bytes], read: Callable[[], Reading]) -> Reading:
    """Return what `read` returns, from the cache if it is there.

    ``kind``: which reader it is. ``content``: everything that `read` depends on. ``read``: without arguments.
    """
    folder = cache_folder()
    if folder is None or (isinstance(content, bytes) and len(content) < WORTH_KEEPING):
        return read()
    key = fingerprint_of(kind, content)
    path = folder / f"{key.hex()}{_SUFFIX}"
    reading = load(path, key)
    if reading is None:
        reading = read()
        store(path, key, reading)
    return reading


def cache_folder() -> Path | None:
    """Return the folder of the cache, None if it is switched off. Nothing is created."""
    given = os.environ.get("PDACON_CACHE_DIR")
    try:
        if given is not None:
            return None if given.strip().lower() in ("", "off", "none", "0") else Path(given).expanduser()
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "pdacon"
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "pdacon" / "Cache"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pdacon"
    except RuntimeError:  # there is no home
        return None


def fingerprint_of(kind: str, content: bytes | Iterable[bytes]) -> bytes:
    """Return the SHA-256 of what a reader depends on, its own version included."""
    digest = hashlib.sha256(f"pdacon vocabulary {VERSION} {kind}\n".encode())
    for part in (content,) if isinstance(content, bytes) else content:
        digest.update(struct.pack("<Q", len(part)))
        digest.update(part)
    return digest.digest()


def load(path: Path, key: bytes) -> Reading | None:
    """Return what was stored under a key; None if it is not there, not ours, damaged or of another version."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or (hasattr(os, "geteuid") and status.st_uid != os.geteuid()):
                return None
            data = file.read()
        reading = _decode(data, key)
        os.utime(path)  # used just now: not the first to go
    except (OSError, ValueError, RecursionError, struct.error):
        return None
    return reading


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for somebody who writes into it


def store(path: Path, key: bytes, reading: Reading) -> None:
    """Write a file of the cache, whole or not at all; without effect if that cannot be done."""
    temporary = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_WRITING)
        with os.fdopen(handle, "wb") as file:
            file.write(_encode(key, reading))
        Path(temporary).replace(path)
        temporary = None
        _forget_old(path.parent)
    except OSError:  # full, read-only, gone: what was read is good without the cache
        pass
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def _forget_old(folder: Path) -> None:
    """Remove what was not used for longest, and what writers that were killed left behind; nothing that is not ours."""
    files = [(file.stat().st_mtime, file) for file in folder.iterdir() if _OURS.fullmatch(file.name)]
    kept = sorted(files, reverse=True)
    for _, file in kept[KEPT:]:
        file.unlink(missing_ok=True)
    for file in folder.glob(f"{_WRITING}*"):
        if file.stat().st_mtime < time.time() - 3600:
            file.unlink(missing_ok=True)


def _encode(key: bytes, reading: Reading) -> bytes:
    texts = [text or b"" for text in reading.tokens]
    notes = json.dumps([reading.notes, dict(reading.special_tokens)]).encode()
    body = b"".join(
        (
            np.fromiter(map(len, texts), "<u4", len(texts)).tobytes(),
            np.array(reading.eos_ids, "<u4").tobytes(),
            notes,
            *texts,
        )
    )
    counts = len(texts), len(reading.eos_ids), len(notes), int(reading.strip_leading_space)
    checked = _HEADER.pack(_MAGIC, b"", key, *counts)[_CHECKED_FROM:] + body
    return _MAGIC + hashlib.sha256(checked).digest() + checked


def _decode(data: bytes, key: bytes) -> Reading:
    """Read a file of the cache. Its counts are held against its length before anything is made of them."""
    magic, checksum, stored, tokens, ends, notes, flags = _HEADER.unpack_from(data)
    if magic != _MAGIC or stored != key or not 0 < tokens <= MOST_IDS or flags > 1:
        raise ValueError("another version, another key or no cache file")
    if hashlib.sha256(memoryview(data)[_CHECKED_FROM:]).digest() != checksum:
        raise ValueError("damaged")
    at = _HEADER.size
    lengths = np.frombuffer(data, "<u4", tokens, at).tolist()
    eos_ids = tuple(np.frombuffer(data, "<u4", ends, at + 4 * tokens).tolist())
    if any(i >= tokens for i in eos_ids):
        raise ValueError("an end token is none of the tokens")
    at += 4 * (tokens + ends)
    sentences, special = json.loads(data[at : at + notes])
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise ValueError("notes are sentences")
    if not isinstance(special, dict) or not all(type(i) is int and 0 <= i < tokens for i in special.values()):
        raise ValueError("special tokens are names with ids")
    offsets = list(accumulate(lengths, initial=at + notes))
    if offsets[-1] != len(data):
        raise ValueError("lengths do not add up")
    texts = [data[begin:end] or None for begin, end in pairwise(offsets)]
    return Reading(texts, eos_ids, bool(flags), tuple(sentences), special)
