"""A page's view of the playground: its requests, asked in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")
from starlette.testclient import TestClient
from support.browser import launched_browser

from pdacon import Vocabulary
from pdacon.playground import create_app

WORDS = [b"te", b"tea", b" tea", b" ", b"2", b"large", b" large", b"\xc3\xa9", b"\xc3", b"+", b"1"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """Each byte, some words, and an end token, whose id is the last."""
    tokens = [bytes([byte]) for byte in range(256)] + WORDS
    return Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)])


@pytest.fixture(scope="session")
def client(vocabulary: Vocabulary) -> TestClient:
    return TestClient(create_app({"words": vocabulary, "bytes": Vocabulary.bytes()}), base_url="http://localhost:8765")


@pytest.fixture(scope="session")
def ask(client: TestClient) -> Callable[..., Any]:
    """Ask about a grammar as a page does; 200 is expected."""

    def ask(topic: str, grammar: str | dict[str, str], **more: Any) -> Any:
        source = {"text": grammar} if isinstance(grammar, str) else grammar
        body = {"page": "p", "tokenizer": "words", "source": source, **more}
        # As JavaScript writes it: halves of surrogate pairs are escaped.
        headers = {"content-type": "application/json"}
        response = client.post(f"/api/{topic}", content=json.dumps(body), headers=headers)
        assert response.status_code == 200, response.text
        return response.json()

    return ask
