"""``pdacon generate``: what reaches standard output is allowed by the grammar, comes as it is made, and can be

repeated.
"""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import sysconfig
from functools import partial
from pathlib import Path

import pytest
import torch
import transformers
from lark import Lark
from support.scaling import scaled
from support.small_tokenizers import train_byte_level

import pdacon
from pdacon.cli import main

COMMAND = Path(sysconfig.get_path("scripts")) / "pdacon"
# Every text is short, so that a model without sense finishes it.
ABOUT = 'start: "[" WORD ("," WORD)? "]"\nWORD: /[a-z]{1,3}/\n'


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that knows nothing, with more logits than its tokenizer has tokens."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=train_byte_level("llama3", ["<s>", "</s>"], 400), bos_token="<s>", eos_token="</s>"
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer) + 7,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture
def about(tmp_path: Path) -> str:
    path = tmp_path / "about.lark"
    path.write_text(ABOUT)
    return str(path)


@pytest.fixture
def generate(model: str, capsys: pytest.CaptureFixture[str]):
    def generate(*arguments: str) -> tuple[int, str, str]:
        status = main(["generate", "--model", model, *arguments])
        return status, *capsys.readouterr()

    return generate


def test_every_text_is_a_sentence(generate, about: str) -> None:
    status, out, err = generate("--grammar", about, "-n", "5", "--seed", "1")
    assert status == 0
    parser = Lark(ABOUT, parser="lalr")
    assert len(out.splitlines()) == 5
    for line in out.splitlines():
        parser.parse(line)
    assert len(re.findall(r"tokens/s\); complete; --seed \d+\n", err)) == 5


def test_a_seed_repeats_a_text_and_the_next_seeds_follow(generate, about: str) -> None:
    out = [generate("--grammar", about, "--seed", str(seed))[1] for seed in (7, 8, 9)]
    assert generate("--grammar", about, "--seed", "7", "-n", "3")[1] == "".join(out)


def test_without_a_seed_the_summary_names_one_that_repeats_the_text(generate, about: str) -> None:
    _, out, err = generate("--grammar", about)
    seed = re.search(r"--seed (\d+)", err)
    assert seed is not None
    assert generate("--grammar", about, "--seed", seed[1])[1] == out


def test_temperature_0_needs_no_seed(generate, about: str) -> None:
    _, out, err = generate("--grammar", about, "--temperature", "0")
    assert "--seed" not in err
    assert generate("--grammar", about, "--temperature", "0")[1] == out


def test_a_text_that_is_cut_off_is_said_to_be(generate) -> None:
    status, out, err = generate("--grammar", "json", "--max-tokens", "3", "--seed", "1", "--prompt", "{")
    assert status == 0
    assert "cut off by --max-tokens 3" in err
    constraint = pdacon.compile(
        pdacon.Grammar.builtin("json"), pdacon.Vocabulary.from_tokens([bytes([i]) for i in range(256)] + [None], [256])
    )
    assert constraint.matcher().accept_bytes(out.removesuffix("\n").encode())


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--batch-size", "2"], ["--jsonl"]])
def test_of_several_texts_it_is_said_which_are_cut_off(generate, options: list[str], tmp_path: Path) -> None:
    grammar = tmp_path / "lines.lark"
    grammar.write_text('start: "a\\n" | "b" /[c-z]{9}/\n')
    for number in range(scaled(6)):
        status, out, err = generate(str(grammar), "-n", "4", "--max-tokens", "4", "--seed", str(number), *options)
        assert status == 0
        if options == ["--jsonl"]:
            texts = [json.loads(line)["text"] for line in out.splitlines()]
        else:
            heads = [int(head) for head in re.findall(r"^--- (\d) ---$", out, re.MULTILINE)]
            bare = re.sub(r"^--- \d ---\n", "", out, flags=re.MULTILINE)
            texts = [text.removesuffix("\n") for text in re.findall(r"a\n\n|.+\n", bare)]
            long = next((at for at, text in enumerate(texts, 1) if "\n" in text), 5)
            assert heads == list(range(max(2, long), 5))
        whole = [re.fullmatch(r"a\n|b[c-z]{9}", text) is not None for text in texts]
        said = [int(found) - 1 for found in re.findall(r"^text (\d): .*cut off by --max-tokens 4", err, re.MULTILINE)]
        assert said == [index for index, complete in enumerate(whole) if not complete]
        assert len(texts) == 4


@pytest.mark.parametrize("options", [[], ["--batch-size", "2"]])
def test_a_nul_behind_each_text(generate, options: list[str], tmp_path: Path) -> None:
    grammar = tmp_path / "lines.lark"
    grammar.write_text('start: "a\\n" | "b" /[c-z]{9}/\n')
    arguments = (str(grammar), "-n", "4", "--seed", "3", *options)
    rows = [json.loads(line)["text"] for line in generate(*arguments, "--jsonl", "--batch-size", "1")[1].splitlines()]
    status, out, _ = generate(*arguments, "--null")
    assert status == 0
    texts = out.split("\0")
    assert len(texts) == 5
    assert texts[-1] == ""
    assert options or texts[:-1] == rows


def test_on_a_terminal_a_line_stands_before_each_of_several_texts(
    generate, about: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    out = generate(about, "-n", "3", "--seed", "1")[1]
    assert re.findall(r"^--- (\d) ---$", out, re.MULTILINE) == ["1", "2", "3"]
    assert "---" not in generate(about, "--seed", "1")[1]


@pytest.mark.slow
def test_several_prompts_in_json_lines(generate, about: str, tmp_path: Path) -> None:
    rows = [{"prompt": "one", "id": 7}, {"prompt": "two"}]
    source = tmp_path / "prompts.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)) + '\n\n"three"\n')
    arguments = ("--input", str(source), "-p", "zero", "-n", "2", "--seed", "1", "--jsonl")
    parser = Lark(ABOUT, parser="lalr")
    for batch in ("1", "3", "100"):
        status, out, err = generate(about, *arguments, "--batch-size", batch)
        answers = [json.loads(line) for line in out.splitlines()]
        assert status == 0
        assert [answer["prompt"] for answer in answers] == [w for w in ("zero", "one", "two", "three") for _ in "12"]
        assert [answer.get("id") for answer in answers] == [None, None, 7, 7, None, None, None, None]
        assert all(answer["complete"] for answer in answers)
        for answer in answers:
            parser.parse(answer["text"])
        assert re.match(r"8 texts, 8 complete: \d+ tokens in", err)


def test_json_lines_and_streams_have_the_same_texts(generate, about: str) -> None:
    streamed = generate(about, "-n", "4", "--seed", "5")[1].splitlines()
    rows = map(json.loads, generate(about, "-n", "4", "--seed", "5", "--jsonl")[1].splitlines())
    assert [row["text"] for row in rows] == streamed


def test_beams(generate, about: str) -> None:
    status, out, err = generate(about, "-p", "a", "-p", "b", "--beams", "4", "-n", "2", "--batch-size", "2")
    assert status == 0
    assert "--seed" not in err
    for line in out.splitlines():
        Lark(ABOUT, parser="lalr").parse(line)
    assert len(out.splitlines()) == 4


@pytest.mark.slow
def test_what_the_constraint_did_to_the_model(generate, about: str) -> None:
    """A table on standard error, or logarithms of probabilities in each object; texts are the same."""
    _, plain, _ = generate(about, "--seed", "1", "-n", "2")
    status, out, err = generate(about, "--seed", "1", "-n", "2", "--diagnose")
    assert (status, out) == (0, plain)
    assert err.count("wanted") == 2
    status, out, err = generate(about, "--seed", "1", "-n", "2", "--diagnose", "--jsonl")
    assert (status, "wanted" in err) == (0, False)
    for row in map(json.loads, out.splitlines()):
        assert row["log_prob"] <= row["constrained_log_prob"] <= 0
        assert all(0 <= number < row["tokens"] for number in row["diverged"])


def test_a_prefix_is_part_of_the_text(generate, about: str) -> None:
    for extra in ((), ("--jsonl",)):
        out = generate(about, "--prefix", "[ab", "--seed", "1", *extra)[1]
        text = json.loads(out)["text"] if extra else out.rstrip("\n")
        assert text.startswith("[ab")
        Lark(ABOUT, parser="lalr").parse(text)


def test_prompts_from_a_pipe(generate, about: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"prompt": "x"}')))
    assert json.loads(generate(about, "-i", "-", "--jsonl")[1])["prompt"] == "x"


@pytest.mark.slow
def test_the_embedded_model_writes_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--grammar", "json", "--seed", "1"]) == 0
    out, err = capsys.readouterr()
    assert "complete" in err
    assert "prompt: Describe a person as JSON:" in err
    assert isinstance(json.loads(out), dict)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--grammar", "nosuch"],
        ["--grammar", "conflict.lark"],
        ["--grammar", "json", "--max-tokens", "0"],
        ["--grammar", "json", "--max-tokens", "many"],
        ["--grammar", "json", "--temperature", "-1"],
        ["--grammar", "json", "--temperature", "nan"],
        ["--grammar", "json", "-n", "0"],
        ["--grammar", "json", "-n", "2", "--temperature", "0"],
        ["--grammar", "json", "--seed", "-1"],
        ["--grammar", "json", "--seed", "99999999999999999999"],
        ["--grammar", "json", "--model", "./nosuch"],
        ["--grammar", "json", "--model", "."],
        ["json", "--grammar", "json"],
        ["json", "--temperature", "inf"],
        ["json", "--top-p", "2"],
        ["json", "--beams", "2", "-n", "3"],
        ["json", "--prefix", "x"],
        ["json", "--chat"],
        ["json", "--input", "nosuch"],
        ["json", "--input", "conflict.lark"],
        ["json", "--input", "wrong.jsonl"],
        ["json", "--input", "empty.jsonl"],
        ["-", "--input", "-"],
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str], generate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conflict.lark").write_text('start: start "+" start | "1"\n')
    (tmp_path / "wrong.jsonl").write_text('{"question": "?"}\n')
    (tmp_path / "empty.jsonl").write_text("\n")
    status, out, err = generate(*arguments)
    assert status == 2
    assert out == ""
    assert err.removeprefix("prompt: Describe a person as JSON:\n").startswith("pdacon: ")
    assert err.count("\n") == 1 + err.count("\nsee: pdacon check --explain ")


def test_a_grammar_is_refused_before_a_model_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sum.lark"
    path.write_text('start: start "+" start | "1"\n')
    monkeypatch.setattr("pdacon.cli.generating.load_model", lambda _: pytest.fail("the model is loaded"))
    assert main(["generate", str(path)]) == 2
    assert "shift/reduce conflict" in capsys.readouterr().err


def test_a_missing_model_is_named_by_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "json", "--model", "/nonexistent"]) == 2
    assert "/nonexistent: no such folder; --model takes" in capsys.readouterr().err


@pytest.mark.slow
def test_text_comes_as_it_is_made_and_control_c_is_quiet(model: str, tmp_path: Path) -> None:
    grammar = tmp_path / "long.lark"
    grammar.write_text("start: LONG\nLONG: /x{3000}/\n")
    arguments = ["generate", "--grammar", grammar, "--model", model, "--max-tokens", "20000"]
    # Where the tests run in the background, SIGINT is ignored, and a child would inherit that.
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipe = subprocess.PIPE
    with subprocess.Popen([COMMAND, *arguments], stdout=pipe, stderr=pipe, preexec_fn=listening) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1) == b"x"
        process.send_signal(signal.SIGINT)
        assert set(process.stdout.read()) <= set(b"x\n")
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 130


@pytest.mark.parametrize("option", ["--prompt", "--prefix"])
def test_arguments_that_are_not_utf_8_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "json", option, "a\udcff"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == f"pdacon: {option} is not Unicode text: there is byte 0xff in it"


@pytest.mark.parametrize(
    "line", ['"\\ud800"', '{"prompt": "\\ud800"}', '{"messages": [{"role": "user", "content": "\\ud800"}]}']
)
def test_half_characters_of_an_input_are_refused(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f'{{"prompt": "fine", "note": "\\ud800"}}\n{line}\n')
    assert main(["generate", "json", "-i", str(path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"pdacon: {path}, line 2 is not Unicode text: there is the lone surrogate U+D800 in it\n")
