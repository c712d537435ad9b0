"""``pdacon sample``: as many different sentences as were asked for, in the formats that were asked for."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.lark_oracle import accepts

import pdacon
from pdacon.cli import main, sampling
from pdacon.cli.sampling import Sample
from pdacon.cli.vocabularies import load_vocabulary


@pytest.fixture
def sample(capsys: pytest.CaptureFixture[str]):
    def sample(*arguments: str) -> tuple[int, str, str]:
        return main(["sample", *arguments]), *capsys.readouterr()

    return sample


def test_one_text_a_line(sample) -> None:
    status, out, err = sample("arithmetic", "-n", "7", "--seed", "1")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert len(set(lines)) == 7
    assert all(accepts(pdacon.Grammar.builtin("arithmetic"), line) for line in lines)


def test_a_seed_is_named_and_repeats(sample) -> None:
    _, out, err = sample("json", "-n", "3")
    seed = re.fullmatch(r"--seed (\d+) repeats this\n", err)
    assert seed is not None
    assert sample("json", "-n", "3", "--seed", seed[1]) == (0, out, "")


def test_json_lines(sample) -> None:
    _, out, _ = sample("json", "-n", "5", "--seed", "1", "--jsonl", "--size", "200")
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 5
    for row in rows:
        assert list(row) == ["text"]
        json.loads(row["text"])


def test_by_tokens(sample) -> None:
    tokens = load_vocabulary(None)
    from pdacon.cli.vocabularies import tiny_folder

    _, out, _ = sample("json", "-n", "5", "--seed", "1", "--jsonl", "--tokenizer", str(tiny_folder()))
    for row in map(json.loads, out.splitlines()):
        assert tokens.vocabulary.decode(row["tokens"]).decode() == row["text"]
        assert row["tokens"][-1] in tokens.vocabulary.eos_ids
        json.loads(row["text"])


def test_a_small_language_is_seen_to_be_one(sample, tmp_path) -> None:
    grammar = tmp_path / "two.lark"
    grammar.write_text('start: "yes" | "no"\n')
    status, out, err = sample(str(grammar), "--seed", "1")
    assert status == 0
    assert sorted(out.split()) == ["no", "yes"]
    assert err == "no more than 2 different texts found\n"


def test_texts_of_several_lines_are_kept_apart(sample, tmp_path) -> None:
    grammar = tmp_path / "lines.lark"
    grammar.write_text("start: WORD /\\n+/ WORD\nWORD: /[a-z]+/\n")
    texts = re.split(r"\n--- \d ---\n", sample(str(grammar), "-n", "3", "--seed", "1")[1].removesuffix("\n"))
    assert len(texts) == 3
    assert all(accepts(pdacon.Grammar.from_file(grammar), text) for text in texts)


def test_a_nul_behind_each_text(sample, tmp_path) -> None:
    grammar = tmp_path / "lines.lark"
    grammar.write_text("start: WORD /\\n+/ WORD?\nWORD: /[a-z]+/\n")
    arguments = (str(grammar), "-n", "5", "--seed", "1")
    status, out, _ = sample(*arguments, "--null")
    assert status == 0
    rows = [json.loads(line)["text"] for line in sample(*arguments, "--jsonl")[1].splitlines()]
    assert out == "".join(f"{text}\0" for text in rows)
    status, out, err = sample(*arguments, "-0", "--json")
    assert (status, out) == (2, "")
    assert "give one of them" in err


@pytest.mark.parametrize("form", [[], ["--jsonl"]])
def test_texts_are_printed_as_they_come(
    form: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watched(*_: object) -> Iterator[Sample]:
        for text in ("a", "b", "c\nd\n", "e"):
            seen.append(capsys.readouterr().out)
            yield Sample(text)

    monkeypatch.setattr(sampling, "draw", watched)
    assert main(["sample", "json", "-n", "4", "--seed", "1", *form]) == 0
    seen.append(capsys.readouterr().out)
    if form:
        assert [json.loads(line)["text"] for line in seen[1:]] == ["a", "b", "c\nd\n", "e"]
    else:
        assert seen[1:] == ["a\n", "b\n", "--- 3 ---\nc\nd\n", "--- 4 ---\ne\n"]


@pytest.mark.parametrize(
    "arguments",
    [["json", "-n", "0"], ["json", "--size", "0"], ["nosuch"], ["json", "--start", "object", "--start", "array"]],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], sample) -> None:
    status, out, err = sample(*arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("pdacon: ")
    assert err.count("\n") == 1


def test_texts_that_cannot_be_ended_are_no_samples(sample, tmp_path: Path) -> None:
    path = tmp_path / "bytes.tiktoken"
    path.write_bytes(b"".join(b64encode(bytes([i])) + b" %d\n" % i for i in range(256)))
    status, out, err = sample("json", "-n", "1", "--tokenizer", str(path))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert f"{path} names no end token" in err
