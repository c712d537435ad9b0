"""How a server stops: it says so, takes nothing new, ends what is being written, and what does not end with an error.

First ``/ready`` says no, and for `ServerSettings.shutdown_delay_seconds` nothing else changes, so that a load balancer
can look elsewhere. Then requests that wait get 503 and ``stopping``, as do those that come. Answers that are being
written may take `ServerSettings.shutdown_seconds`; after that each ends with an error.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from pdacon.serving.accounts import Accounts, Line
from pdacon.serving.engine import Engine
from pdacon.serving.failures import stopping
from pdacon.serving.settings import ServerSettings

log = logging.getLogger("pdacon.serving")
_LOOK_SECONDS = 0.05  # between two looks at what is still open
_LAST_SECONDS = 2.0  # for errors to reach their clients


class Draining:
    """Brings a server from running to stopped.

    Parameters
    ----------
    engine : Engine
    accounts : Accounts
        Has the requests that are open.
    settings : ServerSettings

    Attributes
    ----------
    is_ready : bool
        Whether ``/ready`` says yes.
    is_hurried : bool
        Somebody wants an end now: what waits for a time does not any more.
    """

    def __init__(self, engine: Engine, accounts: Accounts, settings: ServerSettings) -> None:
        self.is_ready = True
        self.is_hurried = False
        self._engine = engine
        self._accounts = accounts
        self._settings = settings

    def require_open(self) -> None:
        """Refuse a request that comes too late.

        Raises RequestError.
        """
        if self._accounts.is_closing:
            raise stopping()

    async def drain(self) -> None:
        """End all requests; returns when none is open, or when nothing more can be done about those that are."""
        began = time.monotonic()
        self.is_ready = False
        await self._wait(self._settings.shutdown_delay_seconds, lambda: False)
        waiting = [record for record in self._accounts.open if not self._engine.is_writing(record)]
        writing = len(self._accounts.open) - len(waiting)
        log.info(Line(message="stopping", answering=writing, refused=len(waiting)))
        self._accounts.close(waiting)
        await self._wait(self._settings.shutdown_seconds, self._accounts.is_idle)
        cut = len(self._accounts.open)
        self._engine.fail(stopping())
        self.is_hurried = False
        await self._wait(_LAST_SECONDS, self._accounts.is_idle)
        self._accounts.close(list(self._accounts.open))
        log.info(Line(message="stopped", cut=cut, seconds=round(time.monotonic() - began, 3)))

    async def _wait(self, seconds: float, is_over: Callable[[], bool]) -> None:
        until = time.monotonic() + seconds
        while not is_over() and not self.is_hurried and time.monotonic() < until:
            await asyncio.sleep(_LOOK_SECONDS)
