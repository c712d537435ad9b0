"""Where the C interface lies: a header and a library with which programs without Python run saved constraints.

The folders come with the package. docs/embedding.md has a program.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

__all__ = ["include_folder", "library"]


def include_folder() -> Path:
    """The folder with ``pdacon.h``, for a compiler's ``-I``."""
    return _native() / "include"


def library() -> Path:
    """The shared library, ``libpdacon`` (``pdacon.dll`` on Windows): to link with, or to load."""
    names = {"win32": "pdacon.dll", "darwin": "libpdacon.dylib"}
    return _native() / "lib" / names.get(sys.platform, "libpdacon.so")


def _native() -> Path:
    return Path(str(files("pdacon") / "_native"))
