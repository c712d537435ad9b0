"""A server with the tiny model, in a thread of the test process; it is asked over HTTP."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

pytest.importorskip("torch")
import torch
import uvicorn

from pdacon.base.limits import Limits
from pdacon.integrations.huggingface import load_tiny
from pdacon.serving import ServerSettings, create_app, token_choice
from pdacon.serving.connections import connections
from pdacon.serving.running import Server
from pdacon.serving.token_choice import Sampling

KEY = "a key"


class Running:
    """A server on this machine, and clients of it."""

    def __init__(
        self,
        settings: ServerSettings,
        model: Any = None,
        template: str | None = None,
        special_tokens: Sequence[str] = (),
    ) -> None:
        torch.set_num_threads(1)
        tiny, tokenizer = load_tiny()
        if special_tokens:
            tokenizer.add_special_tokens({"additional_special_tokens": list(special_tokens)})
            tiny.resize_token_embeddings(len(tokenizer))
        tokenizer.chat_template = template
        app = create_app(model or tiny, tokenizer, settings)
        self.application: Any = app.state.application
        http = connections(settings.read_seconds)
        config = uvicorn.Config(
            app, port=0, http=http, ws="none", log_config=None, access_log=False, timeout_graceful_shutdown=5
        )
        self._server = Server(config, app.state.draining, settings.model_name)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        until = time.monotonic() + 60
        while not self._server.started:
            assert time.monotonic() < until, "the server does not start"
            assert self._thread.is_alive(), "the server ended while it started"
            time.sleep(0.01)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        async def run() -> None:
            self.loop = asyncio.get_running_loop()
            await self._server.serve()

        asyncio.run(run())

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """Those of the requests that are open."""
        return list(self._server.server_state.tasks)

    def client(self, key: str = KEY, **options: Any) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.address}/v1", api_key=key, max_retries=0, **options)

    def figures(self) -> dict[str, float]:
        """What the server has counted: by a figure's name and its labels, but for the model and the bounds."""
        text = httpx.get(f"{self.address}/metrics").text
        return {
            " ".join((one.name, *(value for key, value in sorted(one.labels.items()) if key != "model"))): one.value
            for family in text_string_to_metric_families(text)
            for one in family.samples
        }

    def signal(self) -> None:
        """What a signal does, without waiting for the end."""
        self._server.handle_exit(signal.SIGTERM, None)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=60)
        assert not self._thread.is_alive(), "the server does not stop"


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    running = Running(
        ServerSettings(
            model_name="tiny",
            api_keys=("another", KEY),
            max_grammar_bytes=20_000,
            limits=Limits(seconds=5.0),
            max_body_bytes=60_000,
        )
    )
    yield running
    running.stop()


@contextmanager
def saying(server: Running, *texts: str) -> Iterator[None]:
    """The model says these texts in all answers to requests within the block, the next one in each further answer.

    A token that the constraint does not allow is an error of the answer.
    """
    tokenizer = server.application.engine.tokenizer
    ends = [tokenizer.eos_token_id]
    scripts = [[*tokenizer(text, add_special_tokens=False)["input_ids"], *ends] for text in texts]
    running: dict[int, Iterator[int]] = {}
    kept: list[Sampling] = []  # so that no two have one id

    def scripted(scores: torch.Tensor, rows: Sequence[Sampling]) -> torch.Tensor:
        tokens = []
        for row in rows:
            if id(row) not in running:
                running[id(row)] = iter(scripts[len(running) % len(scripts)])
                kept.append(row)
            tokens.append(next(running[id(row)], *ends))
        return torch.tensor(tokens)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_choice, "chosen", scripted)
        yield


@pytest.fixture
def client(server: Running) -> Iterator[openai.OpenAI]:
    with server.client() as client:
        yield client
