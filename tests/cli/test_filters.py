"""Filters on the command line: they go with every grammar, in every command that takes one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdacon.cli import main

RECORD = r"""
start: "{\"name\": \"" NAME "\", \"is_member\": " BOOL "}"
NAME: /[^\W\d_]{2,8}/
BOOL: "true" | "false"
"""


@pytest.fixture
def record(tmp_path: Path) -> str:
    path = tmp_path / "record.lark"
    path.write_text(RECORD)
    return str(path)


def test_mask_names_the_filter_that_refuses(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", record, '{"name": "한', "--script", "Latin", "--characters", "ascii"]) == 1
    assert "ASCII and the script Latin" in capsys.readouterr().out
    assert main(["mask", record, '{"name": "한', "--script", "Latin", "--script", "Hangul"]) == 0


def test_sentences_are_drawn_within_filters(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", record, "-n", "20", "--seed", "1", "--characters", 'abc{}": ,_nameistrulf']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 20
    assert all(set(line) <= set('abc{}": ,_nameistrulf') for line in lines)


@pytest.mark.slow
def test_a_compiled_grammar_has_its_filters(record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = str(tmp_path / "record.pda")
    assert main(["compile", record, "-o", made, "--tokenizer", "bytes", "--normal-form", "NFC"]) == 0
    assert main(["mask", made, '{"name": "e\u0301']) == 1
    capsys.readouterr()
    assert main(["mask", made, "", "--characters", "ascii"]) == 2
    assert "has its filters" in capsys.readouterr().err


def test_scripts_that_there_are_not(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", record, "", "--script", "Hangull"]) == 2
    assert "Hangul" in capsys.readouterr().err


@pytest.mark.slow
def test_records_in_canonical_tokens_that_need_no_model(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    arguments = ["generate", record, "--canonical", "--skip-forced", "--script", "Latin", "--seed", "1"]
    assert main([*arguments, "--jsonl"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["complete"]
    assert row["tokens"] * 0.6 < row["skipped"] < row["tokens"]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == row["text"]
    assert f"the model was asked for {row['tokens'] - row['skipped']}" in shown.err
    assert main([*arguments, "--beams", "2"]) == 2
    assert "one text at a time" in capsys.readouterr().err


@pytest.mark.slow
def test_a_compiled_file_of_canonical_tokens(record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    made = str(tmp_path / "record.pda")
    assert main(["compile", record, "-o", made, "--tokenizer", "tiny", "--canonical"]) == 0
    assert main(["show", made]) == 0
    assert "only those that the tokenizer itself makes" in capsys.readouterr().out
    counts = []
    for arguments in ([made], [record, "--tokenizer", "tiny", "--canonical"]):
        assert main(["mask", *arguments, "", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        counts.append(told.get("canonical_tokens", told["tokens"]))
    assert counts[0] == counts[1]
    assert main(["mask", made, "", "--tokenizer", "bytes"]) == 0
    assert "with all tokens that spell its texts" in capsys.readouterr().err
    assert main(["compile", record, "-o", made, "--tokenizer", "tiny", "--canonical", "--eager"]) == 2
    assert main(["compile", record, "-o", made, "--tokenizer", "bytes", "--canonical"]) == 2
    assert "--canonical asks the tokenizer" in capsys.readouterr().err


def test_a_word_is_no_name_of_characters(capsys: pytest.CaptureFixture[str]) -> None:
    main(["mask", "json", "--characters", "klingon", ""])
    assert "the one word that it knows is ascii, and --script takes the name of a script" in capsys.readouterr().err
    assert main(["mask", "json", "--characters", "", ""]) == 2
    assert capsys.readouterr().err == "pdacon: --characters is empty; give characters, such as 0123456789, or ascii\n"
    assert main(["mask", "json", "--script", "Klingon", ""]) == 2
    assert "Unicode has no script 'Klingon'; there are Latin, Greek" in capsys.readouterr().err
    assert main(["mask", "json", "--characters", "0123456789", ""]) == 0
    assert "letters" not in capsys.readouterr().err
