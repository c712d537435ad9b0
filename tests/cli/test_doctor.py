"""``pdacon doctor``, and ``pdacon check --watch``."""

from __future__ import annotations

import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from pdacon.cli import doctor, main, watching
from pdacon.cli.failures import BadInput


def test_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["doctor"])
    out = capsys.readouterr().out
    assert "native core:" in out
    assert "it answers wrongly" not in out
    assert status == (1 if "pip install" in out else 0)
    assert out.startswith("pdacon:")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    versions = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "lark" else versions(name))
    assert main(["doctor"]) == 1
    assert "lark:               not installed  pip install 'lark" in capsys.readouterr().out


def test_versions_can_be_compared_with_the_extra_of_commands() -> None:
    project = Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8")
    (extra,) = [line for line in project.splitlines() if line.startswith("cli = ")]
    assert '"packaging' in extra


def test_what_is_not_compared_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    assert main(["doctor"]) == 1
    assert "versions are not compared  pip install packaging" in " ".join(capsys.readouterr().out.split("\n"))


def test_a_command_runs_again_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "my.lark"
    path.write_text("start: x\n", encoding="utf-8")
    seen: list[str] = []
    monkeypatch.setattr(watching, "_PAUSE", 0.01)

    def command() -> int:
        seen.append(path.read_text("utf-8"))
        if len(seen) == 1:
            threading.Thread(target=partial(_write_later, path)).start()
            raise BadInput("no grammar")
        return 0

    assert watching.run_again(command, [str(path)], changes=1) == 0
    assert seen == ["start: x\n", 'start: "xy"\n']


def _write_later(path: Path) -> None:
    time.sleep(0.05)
    path.with_suffix(".new").write_text('start: "xy"\n', encoding="utf-8")
    path.with_suffix(".new").replace(path)


def test_only_files_can_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "json", "--watch"]) == 2
    assert "--watch looks at files" in capsys.readouterr().err
