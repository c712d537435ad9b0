"""The TEXT argument: itself, a file, or standard input. Taken byte for byte, a file's last newline included."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def read_text(argument: str | None) -> bytes:
    """The bytes meant by TEXT.

    ``@PATH`` is a file, ``@@...`` a text that begins with one @, ``-`` standard input. Without a text it is standard
    input if that is piped, else the empty text.

    Raises OSError: if the file cannot be read.
    """
    if argument is None and (sys.stdin is None or sys.stdin.isatty()):
        return b""
    if argument is None or argument == "-":
        return sys.stdin.buffer.read()
    if argument.startswith("@") and not argument.startswith("@@"):
        return Path(argument[1:]).read_bytes()
    return os.fsencode(argument.removeprefix("@") if argument.startswith("@@") else argument)


def name_of_text(argument: str | None) -> str:
    """What messages call the text."""
    if argument is None or argument == "-":
        return "<stdin>"
    return argument[1:] if argument.startswith("@") and not argument.startswith("@@") else "<text>"
