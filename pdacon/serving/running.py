"""A server that runs until it is told to stop."""

from __future__ import annotations

import gc
import logging
import socket
import sys
from types import FrameType
from typing import Any

import uvicorn

from pdacon.serving.accounts import Line
from pdacon.serving.application import create_app
from pdacon.serving.connections import connections
from pdacon.serving.draining import Draining
from pdacon.serving.settings import ServerSettings

log = logging.getLogger("pdacon.serving")
_SWITCH_SECONDS = 0.0005
_GARBAGE = (20_000, 10, 10)
_LAST_SECONDS = 3  # for connections to close once all is drained


def serve(
    model: Any, tokenizer: Any, *, host: str = "127.0.0.1", port: int = 8000, settings: ServerSettings | None = None
) -> None:
    """Serve a model until SIGINT or SIGTERM; answers that are being written are finished first
    (see `ServerSettings`).

    Parameters
    ----------
    model : transformers.PreTrainedModel
    tokenizer : transformers.PreTrainedTokenizerFast
    host : str
        The address to listen on; this machine only by default.
    port : int
    settings : ServerSettings, optional

    Raises
    ------
    OSError
        The port is taken.
    VocabularyError
        See `create_app`.
    """
    settings = settings or ServerSettings()
    # What reads requests runs Python for some milliseconds at a time, and the model's thread asks for its lock often in
    # a step.
    sys.setswitchinterval(_SWITCH_SECONDS)
    app = create_app(model, tokenizer, settings)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=connections(settings.read_seconds),
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    app.state.compiler.warm()
    # Nothing else runs while garbage is collected. The model and what is imported stay, and need not be looked
    # at; what a large grammar leaves is looked at once, and not each time that it has grown by a quarter.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    Server(config, app.state.draining, settings.model_name).run()


class Server(uvicorn.Server):
    """A server that keeps its port open, and drains, before it stops.

    A second signal ends what is being written at once, with an error; a third one ends the server without a word.

    ``draining``: of the application. ``name``: what requests call its model.
    """

    def __init__(self, config: uvicorn.Config, draining: Draining, name: str) -> None:
        super().__init__(config)
        self._draining = draining
        self._name = name
        self._hurried = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal."""
        if not self.should_exit:
            self.should_exit = True
        elif not self._hurried:
            self._hurried = self._draining.is_hurried = True
        else:
            self.force_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say where."""
        await super().startup(sockets)
        if self.started:
            host, port, *_ = self.servers[0].sockets[0].getsockname()
            host = f"[{host}]" if ":" in host else host
            log.info(Line(message=f"{self._name} at http://{host}:{port}/v1 (stop: Ctrl-C)"))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, and stop."""
        await self._draining.drain()
        await super().shutdown(sockets)
