"""``pdacon compile``: a file that is loaded as the constraint of the grammar and the tokenizer."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

import pdacon
from pdacon.cli import main
from pdacon.cli.vocabularies import load_vocabulary


def test_a_grammar_is_compiled_with_its_masks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "json.pda"
    assert main(["compile", "json", "--eager", "--tokenizer", "bytes", "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(
        r".*json\.pda: \d+\.\d kB, for one token for each byte \(257 tokens\), \d+ masks, compiled in \d+\.\d\d s\n",
        err,
    )
    loaded = pdacon.Constraint.load(path, load_vocabulary("bytes").vocabulary, grammar=pdacon.Grammar.builtin("json"))
    matcher = loaded.matcher()
    for byte in b'{"a": [1.5e3, null]}':
        assert matcher.is_allowed(byte)
        matcher.mask_id()
        assert matcher.accept_token(byte)
    assert loaded.statistics()["masks_computed"] == 0


def test_what_was_compiled_is_told_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "json.pda"
    assert main(["compile", "json", "--eager", "-t", "bytes", "-o", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told = json.loads(out)
    assert (told["file"], told["bytes"], told["tokens"]) == (str(path), path.stat().st_size, 257)
    assert (told["situations_left"], told["findings"]) == (0, [])


def test_what_the_rules_alone_tell_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grammar = tmp_path / "some.lark"
    grammar.write_text('start: "a" | endless\nendless: "b" endless\nUNUSED: "c"\n')
    assert main(["compile", str(grammar), "--tokenizer", "bytes", "-o", str(tmp_path / "some.pda")]) == 0
    _, *said = capsys.readouterr().err.splitlines()
    assert said == [
        f"{grammar}:3:1: warning[PDA013]: never used: UNUSED",
        f"{grammar}:2:1: warning[PDA014]: rule that derives no text: endless",
        "`pdacon check` explains it, and looks for more.",
    ]


def test_masks_can_wait(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.pda"
    grammar = tmp_path / "two.lark"
    grammar.write_text('a: "a" b?\nb: "b"')
    options = ["--start", "a", "--start", "b", "--tokenizer", "bytes"]
    assert main(["compile", str(grammar), *options, "-o", str(path)]) == 0
    assert "others when they are needed" in capsys.readouterr().err
    loaded = pdacon.Constraint.load(path)
    assert [loaded.matcher(start).shortest_completion() for start in ("a", "b")] == [b"a", b"b"]


def test_what_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "no" / "json.pda"
    assert main(["compile", "json", "--tokenizer", "bytes", "-o", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("pdacon: ")
    assert err.count("\n") == 1
    assert main(["compile", "json"]) == 2


def test_what_is_no_compiled_grammar_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tea.lark"
    path.write_text('start: "tea"')
    assert main(["compile", str(path), "--tokenizer", "bytes", "-o", str(path)]) == 2
    assert "there is a file already" in capsys.readouterr().err
    assert path.read_text() == 'start: "tea"'
    for _ in range(2):
        assert main(["compile", str(path), "--tokenizer", "bytes", "-o", str(tmp_path / "tea.pda")]) == 0
    capsys.readouterr()
    assert main(["compile", str(path), "--tokenizer", "bytes", "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"pdacon: {tmp_path}: Is a directory\n"


@pytest.mark.slow
def test_commands_take_it_for_its_grammar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "orders.pda"
    grammar = tmp_path / "orders.lark"
    grammar.write_text('start: "tea" | "milk"')
    assert main(["compile", str(grammar), "--tokenizer", "bytes", "-o", str(path)]) == 0
    capsys.readouterr()
    for arguments in (["sample", "--seed", "1"], ["check"], ["mask", "t", "--tokenizer", "bytes"]):
        command, *options = arguments
        outputs = []
        for name in (grammar, path):
            assert main([command, str(name), *options]) == 0
            outputs.append(capsys.readouterr().out.replace("orders.pda", "orders.lark"))
        assert outputs[0] == outputs[1]
    assert main(["sample", str(path), "--conflicts", "shift"]) == 2
    assert "has its options" in capsys.readouterr().err


@pytest.fixture
def drinks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A compiled file with another vocabulary than any tokenizer's."""
    path = tmp_path / "drinks.pda"
    tokens = [b"tea", b"milk", *(bytes([byte]) for byte in range(256)), None]
    vocabulary = pdacon.Vocabulary.from_tokens(tokens, eos_ids=[258])
    pdacon.compile(pdacon.Grammar.from_lark('start: "tea" | "milk"'), vocabulary, eager=True).save(path)
    return path


def test_commands_use_the_vocabulary_that_is_in_it(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", str(drinks), "", "--json"]) == 0
    assert {0, 1} < set(json.loads(capsys.readouterr().out)["tokens"])
    assert main(["explain", str(drinks), "", "#1"]) == 0
    assert "milk" in capsys.readouterr().out
    assert main(["sample", str(drinks), "-n", "1", "--tokenizer", str(drinks), "--jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"][-1] == 258
    assert main(["tokens", "--tokenizer", str(drinks), "#0"]) == 0
    assert "tea" in capsys.readouterr().out
    capsys.readouterr()


def test_a_file_for_another_vocabulary_is_compiled_again_and_that_is_said(
    drinks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mask", str(drinks), "", "--tokenizer", "bytes", "--json"]) == 0
    out, err = capsys.readouterr()
    assert 256 not in json.loads(out)["tokens"]
    assert "drinks.pda is for another vocabulary (259 tokens) than the one that is used (257 tokens)" in err
    assert err.count("\n") == 1
    for quiet in (["sample", str(drinks), "-n", "1"], ["explain", str(drinks), "tea"], ["mask", str(drinks), ""]):
        assert main(quiet) == 0
        assert "another vocabulary" not in capsys.readouterr().err


def test_eager_compilation_has_an_end_and_says_what_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arithmetic.pda"
    arguments = ["compile", "arithmetic", "--tokenizer", "bytes", "-o", str(path)]
    assert main([*arguments, "--eager", "--seconds", "600"]) == 0
    said = re.search(
        r"and others when they are needed \(([\d,]+) situations have theirs, [\d,]+ or more have not\)",
        capsys.readouterr().err,
    )
    assert said
    assert int(said[1].replace(",", "")) > 0
    assert main([*arguments, "--seconds", "1"]) == 2
    assert "--seconds goes with --eager" in capsys.readouterr().err
    assert main([*arguments, "--eager", "--seconds", "0"]) == 2
    assert "--seconds" in capsys.readouterr().err


@pytest.mark.slow
def test_too_little_time_says_which_option_gives_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arithmetic.pda"
    limit = ["--eager", "--seconds", "0.001"]
    assert main(["compile", "python", "--tokenizer", "bytes", *limit, "-o", str(path)]) == 2
    error = capsys.readouterr().err
    assert "exceeds the limit of 0.001" in error
    assert "; give more --seconds\n" in error
    assert error.endswith("\nsee: pdacon check --explain LimitExceededError\n")
    assert not path.exists()


def test_standard_output_is_no_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "json", "--tokenizer", "bytes", "-o", "-"]) == 2
    assert "name one with --output" in capsys.readouterr().err
    assert not Path("-").exists()


def test_it_can_be_looked_at(drinks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(drinks)]) == 0
    out = capsys.readouterr().out
    assert "259 tokens, end tokens 258" in out
    assert re.search(r"start start: \d masks; \d+ lexer states", out)
    assert main(["show", str(drinks), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["bytes"] == drinks.stat().st_size
    assert facts["starts"]["start"]["situations_left"] == 0
    drinks.write_bytes(drinks.read_bytes()[:-64])
    assert main(["show", str(drinks)]) == 2
    assert "drinks.pda: the artifact is damaged" in capsys.readouterr().err


def test_a_tokenizer_has_to_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "json", "-o", str(tmp_path / "json.pda")]) == 2
    assert "--tokenizer" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b'{"type": "integer"}', b"\x89PD", b"\x89PDA"])
@pytest.mark.parametrize("command", [["show"], ["check"], ["mask"], ["sample"]])
def test_what_is_no_compiled_file_is_said_in_one_line(
    content: bytes, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "drinks.pda"
    file.write_bytes(content)
    assert main([*command, str(file)]) == 2
    line, address = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pdacon: {file}: ")
    assert "compile the grammar again" in line
    assert address == "see: pdacon check --explain ArtifactError"


def test_a_vocabulary_without_an_end_token_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranks = tmp_path / "some.tiktoken"
    lines = [f"{base64.b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)]
    ranks.write_text("".join(lines))
    assert main(["compile", "json", "-t", str(ranks), "-o", str(tmp_path / "json.pda")]) == 0
    assert "names no end token: no mask has one" in capsys.readouterr().err
    assert main(["compile", "json", "-t", "bytes", "-o", str(tmp_path / "json.pda")]) == 0
    assert "no end token" not in capsys.readouterr().err


def test_bench_names_a_text_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.bin"
    text.write_bytes(b'["\xff"]')
    assert main(["bench", "json", "--text", f"@{text}"]) == 2
    assert f"{text}:1:3: not UTF-8 at byte 2" in capsys.readouterr().err
