"""A server of the playground that runs until it is told to stop."""

from __future__ import annotations

import gc
import socket
from collections.abc import Mapping

import uvicorn

from pdacon import Vocabulary
from pdacon.playground.application import create_app

_LAST_SECONDS = 1  # for connections to close


def serve(vocabularies: Mapping[str, Vocabulary], listening: socket.socket, host: str = "127.0.0.1") -> None:
    """Serve the playground until SIGINT or SIGTERM.

    Parameters
    ----------
    vocabularies : mapping of str to Vocabulary
        As for `create_app`.
    listening : socket.socket
        A socket that listens; its port is that of the page.
    host : str
        The address, as it was asked for: requests have to name it, or this machine.
    """
    gc.freeze()  # What is here stays: collecting garbage among it took a third of the time for a key.
    app = create_app(vocabularies, ("127.0.0.1", "localhost", "::1", host))
    config = uvicorn.Config(app, ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=_LAST_SECONDS)
    uvicorn.Server(config).run(sockets=[listening])
