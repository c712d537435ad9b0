"""The page in a browser: a grammar is typed, a finding read, its repair taken, and the mask watched.

`support.browser` says what it needs.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
import uvicorn
from playwright.sync_api import expect
from support.browser import PATIENCE, opened_page, waits

from pdacon import Vocabulary
from pdacon.playground import create_app

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    words = [bytes([byte]) for byte in range(256)]
    vocabulary = Vocabulary.from_tokens([*words, b"tea", b"12", None], eos_ids=[258])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        app = create_app({"words": vocabulary, "bytes": Vocabulary.bytes()})
        server = uvicorn.Server(uvicorn.Config(app, ws="none", log_config=None, timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


@pytest.fixture
def page(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page at its start; no error may come while it is used, and nothing may be asked elsewhere."""
    own = (address, f"blob:{address}")
    options = getattr(request, "param", {})
    with opened_page(browser, address, lambda url: url.startswith(own), options, expected="409") as page:
        yield page


def write(page: Any, place: str, text: str) -> None:
    page.locator(f"{place} textarea").fill(text)


SUMS = 'start: sum\nsum: sum "+" sum | NUMBER\nNUMBER: /[0-9]+/\n'


def test_a_conflict_of_gbnf_is_settled(page: Any) -> None:
    page.locator("#notation").select_option("gbnf")
    write(page, "#grammar", 'root ::= "if " root (" else " root)? | "x"\n')
    waits(page, "#verdict", "refused (1 error)")
    waits(page, "#findings", "settle it by a shift")
    page.locator(".take").first.click()
    waits(page, "#verdict", "ok (1 note)")
    page.locator("#options summary").click()
    assert page.locator("#conflicts").is_checked()
    assert not page.locator("#start").is_visible()


def test_a_finding_a_repair_and_the_mask(page: Any) -> None:
    write(page, "#grammar", SUMS)
    write(page, "#text", "1")
    waits(page, "#verdict", "refused (1 error)")
    waits(page, "#findings", "shift/reduce conflict")
    assert page.locator("#grammar .m-error").all_inner_texts()[0].startswith("sum")
    page.locator(".take").first.click()
    waits(page, "#verdict", "ok (no findings)")
    assert "sum_2" in page.locator("#grammar textarea").input_value()
    waits(page, "#reading", "a whole text")
    before = page.locator("#allowed .chip").all_inner_texts()
    assert before == ["<end>", "+", *"0123456789", "12"]
    page.locator("#allowed .chip", has_text="+").click()
    waits(page, "#reading", "the beginning of a text")
    assert page.locator("#text textarea").input_value() == "1+"
    assert page.locator("#allowed .chip").all_inner_texts() == [*"0123456789", "12"]


def test_a_refused_token_is_explained(page: Any) -> None:
    write(page, "#text", "2 large ")
    waits(page, "#count", "Next tokens: 4 of 259")
    page.locator('#refused .chip[data-token="120"]').click()
    waits(page, "#why-title", "x is refused")
    waits(page, "#why-text", "is not listed here: DRINK is")
    page.locator("#find").fill("tee")
    page.locator("#find").press("Enter")
    waits(page, "#why-text", 'did you mean "tea"?')


def test_a_syntax_error_is_underlined_where_it_is(page: Any) -> None:
    write(page, "#grammar", 'start: "a"\nother: | | "b')
    waits(page, "#verdict", "line 2")
    assert page.locator("#grammar .m-error").count() >= 1
    assert page.locator("#tokens").is_hidden()


def test_the_next_tokens_come_before_what_takes_longer(page: Any) -> None:
    """What of an answer takes long is held back; the tokens of the new grammar are there, and can be clicked."""
    write(page, "#text", "2 ")
    waits(page, "#count", "Next tokens")
    held: list[Any] = []
    write(page, "#grammar", 'start: "2 " nothing')
    waits(page, "#findings", "nothing")
    page.route("**/api/look", lambda route: held.append(route))
    write(page, "#grammar", 'start: "2 " "a"+')
    waits(page, "#count", "Next tokens: 1 of 259")
    waits(page, "#verdict", "the checker is at work")
    assert page.locator("#findings li").count() == 0, "what was wrong is not any more"
    page.locator("#allowed .chip", has_text="a").click()
    waits(page, "#allowed", "<end>")
    assert page.locator("#text textarea").input_value() == "2 a"
    held[-1].continue_()  # the page has given up the earlier ones
    waits(page, "#reading", "a whole text")
    waits(page, "#verdict", "ok (no findings)")
    page.unroute_all(behavior="ignoreErrors")


def test_keys(page: Any) -> None:
    write(page, "#grammar", SUMS)
    waits(page, "#findings .error", "Take it")
    page.keyboard.press("F8")
    assert page.evaluate("document.activeElement.selectionStart") == SUMS.index('sum "+"')
    page.keyboard.press("Control+.")
    waits(page, "#verdict", "ok (no findings)")
    page.locator("#grammar textarea").press("Control+z")
    waits(page, "#verdict", "refused (1 error)")
    write(page, "#grammar", 'start: "abc" "d"')
    write(page, "#text", "a")
    waits(page, "#place", "bcd")
    page.keyboard.press("Control+Enter")
    waits(page, "#reading", "a whole text")
    page.locator("#tab-next").press("ArrowRight")
    expect(page.locator("#tab-rules")).to_be_focused()
    expect(page.locator("#canvas img")).to_be_visible(timeout=PATIENCE)


def presses(page: Any, key: str, place: str, text: str) -> None:
    """Press a key on the strip until a place says something: an answer that comes later draws the strip anew."""
    end = time.monotonic() + PATIENCE / 1000
    while text not in (page.locator(place).text_content() or "") and time.monotonic() < end:
        page.locator("#strip").press(key)
        page.wait_for_timeout(200)
    waits(page, place, text)


def test_the_strip_goes_through_the_vocabulary(page: Any) -> None:
    write(page, "#text", "2 ")
    waits(page, "#count", "of 259")
    presses(page, "Home", "#strip-caption", "token 0: refused")
    presses(page, "End", "#why-title", "token 258 <end> is refused")


IN_ADDRESS = """async () => {
    const { unpacked } = await import("/state.js");
    return location.hash !== "" && (await unpacked(location.hash.slice(1))).k === "bytes";
}"""


def test_a_link_brings_all_of_it_back(page: Any) -> None:
    write(page, "#grammar", 'start: "é𝛼"+ NUMBER\nNUMBER: /[0-9]/')
    write(page, "#text", "é𝛼é")
    waits(page, "#reading", "the beginning of a text")
    page.select_option("#tokenizer", "bytes")
    waits(page, "#count", "of 257")
    while not page.evaluate(IN_ADDRESS):  # it is written once nothing has been typed for a moment
        page.wait_for_timeout(100)
    other = page.context.new_page()
    other.goto(page.url)
    waits(other, "#reading", "the beginning of a text")
    waits(other, "#count", "of 257")
    assert other.locator("#grammar textarea").input_value() == 'start: "é𝛼"+ NUMBER\nNUMBER: /[0-9]/'
    assert other.locator("#text textarea").input_value() == "é𝛼é"


def test_the_views(page: Any) -> None:
    for view in ("rules", "automaton", "parser"):
        page.locator(f"#tab-{view}").click()
        expect(page.locator("#canvas img")).to_be_visible(timeout=PATIENCE)
    page.locator("#tab-samples").click()
    page.locator("#samples button").first.click()
    waits(page, "#reading", "a whole text")


@pytest.mark.parametrize(
    "page", [{"bypass_csp": True}, {"bypass_csp": True, "color_scheme": "dark"}], indirect=True, ids=str
)
def test_axe_finds_nothing(page: Any) -> None:
    """Contrast, names, roles, order; with a finding, its repair, and a token that is explained."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page.locator("#refused .chip").first.click()
    waits(page, "#why-title", "is refused")
    assert axe.Axe().run(page).response["violations"] == []
    write(page, "#grammar", SUMS)
    waits(page, "#findings .error", "Take it")
    assert axe.Axe().run(page).response["violations"] == []


@pytest.mark.parametrize(
    "page", [{"viewport": {"width": 360, "height": 700}}, {"color_scheme": "dark"}], indirect=True, ids=str
)
def test_it_fits_a_telephone_and_the_dark(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert contrast(ink, paper) > 7, (ink, paper)


def contrast(first: str, second: str) -> float:
    """WCAG's contrast of two colours as a browser names them: rgb(1, 2, 3)."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted([luminance(first), luminance(second)])
    return (light + 0.05) / (dark + 0.05)
