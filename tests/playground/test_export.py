"""The page as a file: its examples are answered without a server, and what was not asked beforehand says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
from playwright.sync_api import expect
from support.browser import PATIENCE, opened_page, waits

from pdacon import Vocabulary
from pdacon.playground import export_page
from pdacon.playground.examples import EXAMPLES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def exported(vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    some = [example for example in EXAMPLES if example.name in ("Orders", "Sums", "Tools")]
    path = tmp_path_factory.mktemp("exported") / "page.html"
    path.write_text(export_page({"words": vocabulary}, some), encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Any, exported: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page from the disk; nothing is asked of anybody, and no error comes."""
    options = getattr(request, "param", {})
    with opened_page(browser, exported.as_uri(), lambda url: not url.startswith("http"), options) as page:
        yield page


def test_masks_reasons_and_the_stack(page: Any) -> None:
    waits(page, "#reading", '1:11: "tee" is not listed here')
    page.locator("#text textarea").fill("2 large ")
    waits(page, "#count", "Next tokens: 5 of")
    waits(page, "#place", "stack")
    page.locator("#refused .chip").first.click()
    waits(page, "#why-title", "is refused")


def test_a_finding_its_repair_and_both_readings(page: Any) -> None:
    page.locator("#example").select_option("e:Sums")
    waits(page, "#findings .error", "Take it")
    page.locator("#findings button", has_text="Draw both readings").click()
    expect(page.locator("#canvas img")).to_be_visible(timeout=PATIENCE)
    page.locator(".take").first.click()
    waits(page, "#verdict", "ok (no findings)")
    page.locator("#tab-next").click()
    waits(page, "#reading", "a whole text")


def test_what_was_not_asked_beforehand(page: Any) -> None:
    page.locator("#text textarea").fill("3 teas")
    waits(page, "#trouble", "`pdacon playground` on your machine has all others")
    page.locator("#text textarea").fill("2 ")
    expect(page.locator("#trouble")).to_be_hidden(timeout=PATIENCE)


def test_the_views(page: Any) -> None:
    for view in ("rules", "automaton", "parser"):
        page.locator(f"#tab-{view}").click()
        expect(page.locator("#canvas img")).to_be_visible(timeout=PATIENCE)
    page.locator("#tab-samples").click()
    expect(page.locator("#samples button").first).to_be_visible(timeout=PATIENCE)
    page.locator("#example").select_option("e:Tools")
    waits(page, "#place", "schema")


@pytest.mark.parametrize(
    "page", [{"viewport": {"width": 360, "height": 700}}, {"color_scheme": "dark"}], indirect=True, ids=str
)
def test_it_fits_and_axe_finds_nothing(page: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe.Axe().run(page).response["violations"] == []


def test_it_needs_a_vocabulary() -> None:
    with pytest.raises(ValueError, match=r"^export_page: give at least one vocabulary$"):
        export_page({})
