"""`pdacon generate`: texts that end within their tokens, and drafts."""

from __future__ import annotations

import json

import pytest

from pdacon.cli import main

pytest.importorskip("transformers")


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_no_text_is_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["generate", "json", "--seed", "1", "--max-tokens", "9", "-n", "3", "--temperature", "1", "--jsonl"]
    main(arguments)
    assert not all(row["complete"] for row in rows(capsys))
    assert main([*arguments, "--complete"]) == 0
    assert all(row["complete"] and row["tokens"] <= 9 for row in rows(capsys))
    assert main([*arguments, "--complete", "--soft", "2", "--batch-size", "3"]) == 0
    for row in rows(capsys):
        json.loads(str(row["text"]))


@pytest.mark.slow
def test_drafts_change_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["generate", "json", "--temperature", "0", "--jsonl"]
    assert main(arguments) == 0
    plain = rows(capsys)
    assert main([*arguments, "--draft"]) == 0
    assert [row["text"] for row in rows(capsys)] == [row["text"] for row in plain]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--soft", "3"], "it needs --complete"),
        (["--draft", "--beams", "2"], "one text at a time"),
        (["--draft", "--batch-size", "2"], "one text at a time"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "json", *options]) == 2
    assert message in capsys.readouterr().err
