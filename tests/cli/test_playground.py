"""``pdacon playground``: it says where it is, serves the page, and says in one line why it cannot."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from pdacon.cli import main

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


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
