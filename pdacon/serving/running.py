"""A server that runs until it is told to stop."""

from __future__ import annotations

import sys
from typing import Any

import uvicorn

from pdacon.serving.application import create_app
from pdacon.serving.settings import Settings

_SWITCH_SECONDS = 0.0005


def serve(
    model: Any, tokenizer: Any, *, host: str = "127.0.0.1", port: int = 8000, settings: Settings | None = None
) -> None:
    """Serve a model until SIGINT or SIGTERM; answers that are being written are finished first.

    Parameters
    ----------
    model : transformers.PreTrainedModel
    tokenizer : transformers.PreTrainedTokenizerFast
    host : str
        The address to listen on; this machine only by default.
    port : int
    settings : Settings, optional

    Raises
    ------
    OSError
        The port is taken.
    VocabularyError
        See `create_app`.
    """
    settings = settings or Settings()
    # Compilers run Python for some milliseconds at a time, and the model's thread asks for its lock often in a step.
    sys.setswitchinterval(_SWITCH_SECONDS)
    config = uvicorn.Config(
        create_app(model, tokenizer, settings),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=int(settings.shutdown_seconds),
    )
    uvicorn.Server(config).run()
