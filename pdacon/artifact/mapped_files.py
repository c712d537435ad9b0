"""Files that are written whole or not at all, and mapped into memory."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import stat
from pathlib import Path
from secrets import token_hex

from pdacon.errors import ArtifactError

WAY_OUT = "compile the grammar again and save that (Constraint.save, or pdacon compile)"
"""What to do about a file that is not to be used."""


def require_place(path: Path) -> Path:
    """Where a file of that name is written: what a link leads to. OSError if there can be none."""
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"no such folder: {path.parent}", os.fspath(path))
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, "not a regular file, so nothing is written there", os.fspath(path))
    return place


def write(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all: who has the old one mapped keeps that. Raises OSError.

    A link is followed, an old file's permissions stay, and nothing but a file is replaced.
    """
    path = require_place(path)
    temporary = path.with_name(f".{path.name}.{token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def map_file(path: str | os.PathLike[str]) -> mmap.mmap:
    """A file's content, mapped read-only. Raises OSError, ArtifactError."""
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ArtifactError(
                f"{os.fspath(path)}: not a file that can be mapped; give its bytes to Constraint.from_bytes"
            )
        if status.st_size == 0:
            raise ArtifactError(f"{os.fspath(path)}: not an artifact: the file is empty; {WAY_OUT}")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for somebody who writes into it
