"""``pdacon playground``: it says where it is, serves the page, and says in one line why it cannot."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from pdacon import Vocabulary
from pdacon.cli import main

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from pdacon.playground import export_page
from pdacon.playground.examples import EXAMPLES


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a signal ends it")
def test_it_serves_until_ctrl_c() -> None:
    command = [sys.executable, "-P", "-m", "pdacon", "playground", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = re.fullmatch(r"(http://127\.0\.0\.1:\d+/) \(stop: Ctrl-C\)\n", line)
        assert address is not None, line
        with urllib.request.urlopen(address[1]) as answer:
            assert b"pdacon playground" in answer.read()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (out, err, process.returncode) == ("", "", 130)


def test_a_port_that_is_taken_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["playground", "--port", str(port)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"pdacon: cannot listen on 127.0.0.1:{port}: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("options", [["--host", ""], ["--tokenizer", "./nowhere"], ["--host", "no such host"]])
def test_what_makes_no_sense_gets_one_line(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["playground", *options]) == 2
    err = capsys.readouterr().err
    assert err.startswith("pdacon: ")
    assert err.count("\n") == 1


def test_the_folder_of_an_exported_page_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def export_one(vocabularies: dict[str, Vocabulary], tell: Callable[[str], None]) -> str:
        return export_page({"bytes": Vocabulary.bytes()}, EXAMPLES[-1:], told.append)

    monkeypatch.setattr("pdacon.playground.export_page", export_one)
    page = tmp_path / "new" / "folders" / "page.html"
    assert main(["playground", "--export", str(page)]) == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert told == ["Dates, 1 of 1"]


def test_a_page_that_cannot_be_written_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def not_asked(*given: object, **options: object) -> str:
        raise AssertionError("the work came before the check")

    monkeypatch.setattr("pdacon.playground.export_page", not_asked)
    (tmp_path / "file").touch()
    cases = {"": "a folder, not a file; name a file in it", "file/page.html": "file: a file, not a folder"}
    for name, says in cases.items():
        assert main(["playground", "--export", str(tmp_path / name)]) == 2
        err = capsys.readouterr().err
        assert says in err
        assert err.count("\n") == 1
