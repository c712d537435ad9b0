"""Requests that make no sense, come from elsewhere, are too large, or that a later one ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from pdacon import Grammar, Vocabulary
from pdacon.determinism import repaired_texts
from pdacon.errors import CancelledError, LimitExceededError
from pdacon.playground import create_app
from pdacon.playground.answers import Answers
from pdacon.playground.sources import KeptByContent, Source
from pdacon.playground.turns import Turns

ASKED = {"page": "p", "tokenizer": "words", "source": {"text": 'start: "a"'}}


@pytest.mark.parametrize(
    ("topic", "change"),
    [
        ("look", {"source": None}),
        ("look", {"source": {"text": 3}}),
        ("look", {"source": {"text": "", "path": "/etc/passwd"}}),
        ("look", {"source": {"text": "", "notation": "python"}}),
        ("look", {"source": {"text": "", "postlex": "os:system"}}),
        ("look", {"source": {"text": "", "builtin": "../secret"}}),
        ("look", {"source": {"text": "", "conflicts": "maybe"}}),
        ("look", {"source": {"text": "a" * 200_001}}),
        ("look", {"text": "a" * 100_001}),
        ("look", {"text": None}),
        ("look", {"tokenizer": "none"}),
        ("look", {"tokenizer": ["words"]}),
        ("look", {"most": -1}),
        ("look", {"most": 10**9}),
        ("look", {"most": True}),
        ("look", {"page": 5}),
        ("explain", {"token": 10**6}),
        ("explain", {"token": -1}),
        ("explain", {"token": "x"}),
        ("picture", {"kind": "all"}),
        ("samples", {"seed": -1}),
        ("samples", {"seed": "x"}),
    ],
)
def test_what_makes_no_sense_is_refused(client: TestClient, topic: str, change: dict[str, Any]) -> None:
    response = client.post(f"/api/{topic}", json={**ASKED, **change})
    assert response.status_code == 400
    assert response.json()["error"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 100_000, b'{"page": "' + b"a" * (1 << 20)])
def test_a_body_that_is_no_object_is_refused(client: TestClient, content: bytes) -> None:
    response = client.post("/api/look", content=content, headers={"content-type": "application/json"})
    assert response.status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "elsewhere.example"},
        {"host": "localhost.elsewhere.example:8765"},
        {"host": ""},
        {"origin": "http://elsewhere.example"},
        {"origin": "null"},
    ],
)
def test_pages_from_elsewhere_may_not_ask(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/look", json=ASKED, headers=headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 403


def test_a_form_of_another_site_cannot_ask(client: TestClient) -> None:
    response = client.post("/api/look", content=b"{}", headers={"content-type": "text/plain"})
    assert response.status_code == 400


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:1", "localhost", "127.0.0.1"])
def test_this_machine_may_ask(client: TestClient, host: str) -> None:
    headers = {"host": host, "origin": f"http://{host}"}
    assert client.post("/api/look", json=ASKED, headers=headers).status_code == 200


def test_a_later_turn_ends_the_earlier_ones() -> None:
    turns = Turns()
    first = turns.take("page", "look", "a grammar")
    check = turns.take("page", "check", "a grammar")
    other = turns.take("other page", "look", "a grammar")
    second = turns.take("page", "look", "a grammar")
    assert (first.is_set(), check.is_set(), other.is_set()) == (True, False, False)
    turns.take("page", "look", "another grammar")
    assert second.is_set()
    assert check.is_set(), "nobody waits for findings of what was typed before"
    turns.end_all()
    assert other.is_set()


def test_pages_that_are_forgotten_wait_for_nothing() -> None:
    turns = Turns()
    first = turns.take("page 0", "look", "")
    for number in range(1, 65):
        turns.take(f"page {number}", "look", "")
    assert first.is_set()


def test_errors_are_kept_unless_they_depend_on_time() -> None:
    kept: KeptByContent[int] = KeptByContent(2)
    calls: list[str] = []

    def failing(error: Exception) -> Callable[[], int]:
        def make() -> int:
            calls.append(str(error))
            raise error

        return make

    for error in (ValueError("kept"), CancelledError("not kept"), LimitExceededError("seconds", 2, 1)):
        for _ in range(2):
            with pytest.raises(type(error)):
                kept.get(str(error), failing(error))
    assert len(calls) == 1 + 2 + 2
    assert [kept.get(key, lambda: 7) for key in ("a", "b", "c")] == [7, 7, 7]
    assert kept.get("a", lambda: 8) == 8, "the least recently used goes first"


def test_a_later_request_stops_the_work_for_an_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one is held in the middle of its check until the second has come."""
    begun, released = threading.Event(), threading.Event()

    def slow(*given: Any, cancel: threading.Event, **more: Any) -> Any:
        begun.set()
        assert released.wait(60)
        assert cancel.wait(60)
        raise CancelledError("stopped")

    monkeypatch.setattr("pdacon.playground.sources.check", slow)
    with TestClient(create_app({"words": Vocabulary.bytes()}), base_url="http://localhost") as client:
        answers: list[int] = []
        first = threading.Thread(target=lambda: answers.append(client.post("/api/check", json=ASKED).status_code))
        first.start()
        assert begun.wait(60)
        released.set()
        later = {**ASKED, "source": {"text": 'start: "b"'}}
        assert client.post("/api/look", json=later).status_code == 200
        first.join(60)
        assert answers == [409]


def test_repairs_are_read_until_a_later_request_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = threading.Event()

    def later(*given: Any) -> Any:
        cancel.set()
        return repaired_texts(*given)

    monkeypatch.setattr("pdacon.playground.findings.repaired_texts", later)
    source = Source('start: sum\nsum: sum "+" sum | "1"', "lark")
    with pytest.raises(CancelledError):
        Answers({"bytes": Vocabulary.bytes()}).answer("check", {}, source, cancel)


def test_there_is_a_vocabulary() -> None:
    with pytest.raises(ValueError, match=r"^create_app: give at least one vocabulary$"):
        create_app({})


def test_many_pages_at_once(client: TestClient) -> None:
    """Threads that ask about different grammars get their own answers."""
    failures: list[str] = []

    def work(number: int) -> None:
        letter = "abcd"[number]
        for _ in range(5):
            asked = {
                "page": str(number),
                "tokenizer": "words",
                "source": {"text": f'start: "{letter}"+'},
                "text": letter,
            }
            answer = client.post("/api/look", json=asked).json()
            if not answer.get("text", {}).get("viable"):
                failures.append(str(answer))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_builtin_list_is_the_library_s(client: TestClient) -> None:
    assert [own["name"] for own in client.get("/api/start").json()["builtins"]] == list(Grammar.builtins())
