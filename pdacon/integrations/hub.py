"""Names on the Hugging Face hub: loaded from there, or at once from its local cache where nobody answers.

In: a name, and the loader that takes it. Out: what the loader makes of it. The loaders of the hub and of transformers
ask again and again where there is no network, which takes a minute; here one question comes first, of at most
`_PATIENCE` seconds, or of as many as ``HF_HUB_ETAG_TIMEOUT`` says.

This module imports `huggingface_hub` when it is first asked, and nothing else of that family.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from textwrap import shorten
from threading import Thread
from typing import TypeVar
from urllib.parse import quote

_PATIENCE = 5.0
"""Seconds; names are looked up in them, too."""

_Loaded = TypeVar("_Loaded")


def load_named(what: str, name: str, load: Callable[..., _Loaded]) -> _Loaded:
    """``load(name)``; where the hub cannot be reached, ``load(name, local_files_only=True)``.

    Parameters
    ----------
    what : str
        What the name is of, for the message: ``"tokenizer"`` or ``"model"``.
    name : str
        A name on the hub, or a folder, for which nobody is asked.
    load : callable
        As transformers' ``from_pretrained``.

    Raises
    ------
    ConnectionError
        The hub does not answer, or ``HF_HUB_OFFLINE`` forbids to ask it, and its local cache has no such thing, or has
        files that do not load: then the message has what the loader says.
    OSError, ValueError
        As the loader.

    Notes
    -----
    Cost: one request without a body before the loader's own.
    """
    if os.path.exists(name) or (why := _unreachable(name)) is None:  # noqa: PTH110  # Path refuses long names
        return load(name)
    try:
        return load(name, local_files_only=True)
    except OSError as error:
        if cached_folder(name) is None:
            found = f"the files of this {what} are not in its local cache; give a local folder that has them"
        else:
            said = shorten(f"{type(error).__name__}: {error}", 300, placeholder=" ...")
            found = f"what its local cache has of this {what} does not load: {said}"
        raise ConnectionError(f"{why}, and {found}") from error


def cached_folder(name: str) -> str | None:
    """Where the hub's local cache has files of a name; None: it has none."""
    from huggingface_hub import snapshot_download

    try:
        return snapshot_download(name, local_files_only=True)
    except OSError:
        return None


def _unreachable(name: str) -> str | None:
    """Why the hub cannot be asked for a name; None: it answers."""
    from huggingface_hub import constants, get_session, is_offline_mode

    if is_offline_mode():
        return "HF_HUB_OFFLINE keeps from asking the Hugging Face hub"
    patience = float(constants.HF_HUB_ETAG_TIMEOUT if "HF_HUB_ETAG_TIMEOUT" in os.environ else _PATIENCE)
    problems: list[Exception] = []

    def ask() -> None:
        try:
            get_session().head(f"{constants.ENDPOINT}/{quote(name)}/resolve/main/config.json", timeout=patience)
        except Exception as error:  # the classes are those of the client, which the user may have chosen
            problems.append(error)

    # In a thread: the time limit of a client leaves out the search for the address, which can take longest of all.
    asking = Thread(target=ask, name="pdacon-hub", daemon=True)
    asking.start()
    asking.join(patience)
    if not (asking.is_alive() or problems):
        return None
    if asking.is_alive():
        return f"the Hugging Face hub does not answer within {patience:g} s (HF_HUB_ETAG_TIMEOUT gives it more)"
    return f"the Hugging Face hub does not answer ({shorten(str(problems[0]), 80, placeholder=' ...')})"
