"""``pdacon playground``: a page in the browser on which grammars are tried."""

from __future__ import annotations

import errno
import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from pdacon.cli.failures import BadInput
from pdacon.cli.listening import listen
from pdacon.cli.models import TINY, require
from pdacon.cli.vocabularies import BYTES, load_vocabulary
from pdacon.cli.waiting import waiting
from pdacon.detokenizer import Vocabulary


def export_playground(tokenizers: Sequence[str], path: Path) -> int:
    """Write the page with its examples into a file; exit status 0.

    Whether it can be written is found out before the work, which takes a minute; its folder is made if need be.

    Raises BadInput: a tokenizer cannot be loaded, or a package is missing. Raises OSError: the file cannot be written.
    """
    require("starlette", "uvicorn", extra="serve")
    if path.is_dir():
        raise BadInput(f"--export {path}: a folder, not a file; name a file in it, such as {path / 'page.html'}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    name = [*tokenizers, TINY][0]
    with waiting(f"loading the tokenizer {name}"):
        vocabulary = load_vocabulary(name).vocabulary
    with waiting("answering what the page may ask") as tell:
        from pdacon.playground import export_page

        page = export_page({name: vocabulary}, tell=tell)
    path.write_text(page, encoding="utf-8")
    return 0


def show_playground(tokenizers: Sequence[str], host: str, port: int, *, open_browser: bool) -> int:
    """Serve the page until Ctrl-C; exit status 0.

    Raises BadInput: a tokenizer cannot be loaded, the port is taken, or a package is missing.
    """
    require("starlette", "uvicorn", extra="serve")
    if not host.strip():
        raise BadInput("--host is empty; leave it out, or give an address")
    vocabularies: dict[str, Vocabulary] = {}
    for name in dict.fromkeys([*tokenizers, TINY, BYTES]):
        with waiting(f"loading the tokenizer {name}"):
            vocabularies[name] = load_vocabulary(name).vocabulary
    with waiting("loading the server"):
        from pdacon.playground import serve
    with listen(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/"
        sys.stderr.write(f"{address} (stop: Ctrl-C)\n")
        sys.stderr.flush()
        if open_browser:
            webbrowser.open(address)
        serve(vocabularies, listening, host)
    return 0
