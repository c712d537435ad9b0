"""Files of tokenizers, read with an error that says what is wrong."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from pdacon.errors import VocabularyError


def read_file(source: Any, wanted: str) -> bytes:
    """Return the bytes of a file.

    ``wanted``: what a caller may give, for the error.
    Raises VocabularyError: there is no such file, it cannot be read, or `source` is no path.
    """
    if not isinstance(source, (str, PathLike)):
        raise VocabularyError(f"{wanted} is needed, not {type(source).__name__}")
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise VocabularyError(f"cannot read {Path(source)}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in it
        raise VocabularyError(f"{str(source)!r} cannot be a path: {error}") from error
