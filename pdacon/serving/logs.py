"""The log of a server's process: each line is one JSON object, whoever writes it.

Libraries bring handlers of their own, Python prints what nobody has caught, and warnings go past the log. All of that
goes to one handler here.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
from types import TracebackType
from typing import Any, TextIO

from pythonjsonlogger.json import JsonFormatter

from pdacon.serving.accounts import current

log = logging.getLogger("pdacon.serving")
_QUIET = ("uvicorn.error", "ContinuousBatchingLogger", "httpx")  # their information is of no use to who serves


def write_json(stream: TextIO | None = None) -> None:
    """Make every line of this process's log a JSON object, until it ends.

    What a library has set up before is undone. So call it again once libraries are imported. What libraries in C print
    when the process ends, such as Triton of what has leaked, is in no log: it cannot be made an object.

    Parameters
    ----------
    stream : text file, optional
        Where the lines go; the standard error stream by default.
    """
    if stream is None:
        atexit.unregister(_end)
        atexit.register(_end)
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(_Lines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for logger in list(logging.Logger.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger):
            logger.handlers[:] = [one for one in logger.handlers if not _writes(one)]
            logger.propagate = True
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    sys.unraisablehook = _unraisable
    threading.excepthook = _uncaught_in_thread


def _end() -> None:
    """Let nothing more be written to the standard error stream: called before the interpreter takes itself down."""
    logging.shutdown()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


class _Lines(JsonFormatter):
    """One object for a line, with the id of the request that it is about."""

    def __init__(self) -> None:
        super().__init__(
            "%(levelname)s %(name)s %(message)s",
            rename_fields={"levelname": "level", "name": "logger", "exc_info": "traceback"},
            timestamp="time",
        )

    def format(self, record: logging.LogRecord) -> str:
        """The line; what cannot be formatted is shown as it was given."""
        try:
            return super().format(record)
        except Exception as error:
            broken = logging.LogRecord(record.name, record.levelno, "", 0, "%s", (repr(record.msg),), None)
            broken.reason = f"this line could not be written: {error}"
            return super().format(broken)

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        """Leave out what is empty; say which request it is about."""
        said = {key: value for key, value in log_data.items() if value not in (None, "")}
        if request_id := current().request_id:
            said.setdefault("request_id", request_id)
        return said


def _writes(handler: logging.Handler) -> bool:
    """Whether a handler writes lines to a terminal, and not to a file or nowhere."""
    return isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler)


def _uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    log.critical("the process fails", exc_info=(kind, error, traceback))


def _unraisable(said: Any) -> None:
    log.error("%s: %r", said.err_msg or "an exception was ignored", said.object, exc_info=said.exc_value)


def _uncaught_in_thread(said: threading.ExceptHookArgs) -> None:
    if said.exc_value is not None:
        name = None if said.thread is None else said.thread.name
        log.error("the thread %s fails", name, exc_info=said.exc_value)
