"""The TEXT argument: itself, a file, or standard input. Taken byte for byte, a file's last newline included."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pdacon.cli.failures import BadInput


def read_text(argument: str | None, file: Path | None) -> bytes:
    """The bytes meant by TEXT and ``--file``.

    ``@PATH`` is a file, ``@@...`` a text that begins with one @, ``-`` standard input. With neither text nor file it
    is standard input if that is piped, else the empty text.

    Raises
    ------
    BadInput
        If both were given.
    OSError
        If the file cannot be read.
    """
    if argument is not None and file is not None:
        raise BadInput("give either TEXT or --file, not both")
    if argument is not None and argument.startswith("@") and not argument.startswith("@@"):
        file = Path(argument[1:])
    if file is not None:
        return file.read_bytes()
    if argument is not None and argument != "-":
        return os.fsencode(argument.removeprefix("@") if argument.startswith("@@") else argument)
    if argument is None and (sys.stdin is None or sys.stdin.isatty()):
        return b""
    return sys.stdin.buffer.read()
