"""Chromium, as Playwright drives it, and a page of the playground in it that nothing may go wrong on.

It needs Playwright (`pip install 'pdacon[browser]'`) and a Chromium, whose path ``PDACON_CHROMIUM`` may say; tests are
skipped, with the reason, where one of them is not there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PATIENCE = 60_000  # milliseconds, which a loaded machine may need


@contextmanager
def launched_browser() -> Iterator[Any]:
    """Chromium, until the end of the block."""
    chromium = os.environ.get("PDACON_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("the browser tests need Chromium; PDACON_CHROMIUM says where it is")
    driving = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
    with driving.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()


@contextmanager
def opened_page(
    browser: Any, address: str, may_ask: Callable[[str], bool], options: dict[str, Any], expected: str | None = None
) -> Iterator[Any]:
    """The playground's page at its start; at the end of the block no error has come, and nothing was asked elsewhere.

    ``may_ask`` says whether the page may ask for a URL, ``options`` are those of the browser's context. Errors that
    have ``expected`` in them are none.
    """
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: None if may_ask(request.url) else troubles.append(request.url))
    page.goto(address)
    waits(page, "#verdict", "ok")
    yield page
    context.close()
    assert [trouble for trouble in troubles if expected is None or expected not in trouble] == []


def waits(page: Any, place: str, text: str) -> None:
    """Wait until a place of the page has a text in it."""
    from playwright.sync_api import expect

    expect(page.locator(place)).to_contain_text(text, timeout=PATIENCE)
