"""``pdacon init``: a grammar to begin with, and texts that it has to take and to refuse.

In: a folder, which is made. Out: files, none of which was there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pdacon.cli.failures import BadInput

_GRAMMAR = """\
// pdacon: --start start
// What stands behind "pdacon:" are options that commands, pytest, Grammar.from_file and editors read here.

start: order ("," order)* "."
order: COUNT DRINK

COUNT: /[1-9][0-9]?/
DRINK: "tea" | "coffee"

%ignore / {1,4}/
"""
_FILES = {
    "accept/one.txt": "2 tea.",
    "accept/several.txt": "1 tea, 12 coffee.",
    "reject/no_end.txt": "2 tea",
    "reject/none.txt": "0 tea.",
}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def write_beginning(folder: Path) -> int:
    """Write the files and say how to go on. BadInput if one of them is there already: nothing is written then."""
    name = folder.resolve().name
    if _NAME.fullmatch(name) is None:
        raise BadInput(f"{str(folder)!r}: the grammar is named like its folder, by letters, digits, _ and -")
    files = {folder / f"{name}.lark": _GRAMMAR, **{folder / path: text for path, text in _FILES.items()}}
    existing = [path for path in files if path.exists()]
    if existing:
        raise BadInput(f"{existing[0]} is there already; name another folder")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    grammar = next(iter(files))
    sys.stdout.write("".join(f"{path}\n" for path in files))
    sys.stderr.write(
        f"pdacon: go on with\n"
        f"  pdacon check {grammar}      # is it deterministic? --watch: while you write\n"
        f"  pdacon test {grammar}       # accept/ and reject/\n"
        f"  pdacon generate {grammar}   # a small model writes texts of it\n"
    )
    return 0
