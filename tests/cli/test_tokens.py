"""``pdacon tokens``: a vocabulary is read as transformers reads it, and what is said of it is so."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest
from support.small_tokenizers import train_byte_level
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from pdacon import Vocabulary
from pdacon.cli import main
from pdacon.cli.vocabularies import load_vocabulary, tiny_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer whose special tokens are partly plain ones to the file, for a model with wider logits."""
    folder = tmp_path_factory.mktemp("tokenizer")
    trained = train_byte_level("llama3", ["<s>", "</s>"], 400)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=trained, bos_token="<s>", eos_token="</s>", pad_token="fox", sep_token="[sep]"
    )
    tokenizer.add_tokens(["<tool>"])
    tokenizer.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": len(tokenizer) + 5}))
    return folder


@pytest.fixture
def tokens(capsys: pytest.CaptureFixture[str]):
    def tokens(*arguments: str) -> tuple[int, str, str]:
        return main(["tokens", *arguments]), *capsys.readouterr()

    return tokens


def test_what_transformers_reads_without_transformers(folder: Path) -> None:
    for place in (folder, tiny_folder()):
        tokenizer = AutoTokenizer.from_pretrained(place)
        read = load_vocabulary(str(place)).vocabulary
        assert read == Vocabulary.from_huggingface(tokenizer, size=read.size)
    assert load_vocabulary(None).vocabulary == load_vocabulary(str(tiny_folder())).vocabulary


def test_a_file_alone_knows_no_end(folder: Path, tokens) -> None:
    assert load_vocabulary(str(folder / "tokenizer.json")).vocabulary.eos_ids == ()
    assert "a text cannot be ended" in tokens("-t", str(folder / "tokenizer.json"))[1]


def test_the_ends_are_those_of_generate(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 7]}))
    assert load_vocabulary(str(tmp_path)).vocabulary.eos_ids == (1, 7)


def test_the_inventory(folder: Path, tokens) -> None:
    status, out, err = tokens("-t", str(folder), "--json")
    shown = json.loads(out)
    vocabulary = load_vocabulary(str(folder)).vocabulary
    assert (status, err) == (0, "")
    assert shown["size"] == vocabulary.size
    assert shown["eos_ids"] == [1]
    assert shown["without_text"]["0"] == "<s>"
    assert shown["unused"] == list(range(vocabulary.size - 5, vocabulary.size))
    assert shown["missing_bytes"] == []
    assert shown["fingerprint"] == vocabulary.fingerprint
    assert shown["duplicates"] == []
    longest = max(len(text) for text in vocabulary.tokens if text)
    assert len(vocabulary.tokens[shown["longest"][0]]) == longest
    text = tokens("-t", str(folder))[1]
    assert "</s>" in text
    assert "every text can be spelled" in text


def test_what_bytes_cannot_be_spelled(capsys: pytest.CaptureFixture[str]) -> None:
    from pdacon.cli.inventory import show_tokens, take_inventory
    from pdacon.cli.vocabularies import Tokens

    lacking = Tokens(Vocabulary.from_tokens([b"a", b"bc", b"a", None], [3]), "a list")
    inventory = take_inventory(lacking)
    assert len(inventory.missing_bytes) == 256 - 13 - 1
    assert ord("b") in inventory.missing_bytes
    assert inventory.duplicates == ((0, 2),)
    assert show_tokens(lacking, [], json_format=False) == 0
    out = capsys.readouterr().out
    assert "242 bytes have no token" in out
    assert '0, 2 "a"' in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "size", "family"),
    [("tokenizer.model.v1", 32_000, "from_sentencepiece"), ("tekken_240911.json", 131_072, "from_tekken")],
)
def test_files_of_other_families(file: str, size: int, family: str, tmp_path: Path) -> None:
    data = Path(pytest.importorskip("mistral_common").__file__).parent / "data" / file
    read = load_vocabulary(str(data)).vocabulary
    assert read.size == size
    assert read == getattr(Vocabulary, family)(data)
    link = tmp_path / ("tekken.json" if data.suffix == ".json" else "tokenizer.model")
    link.symlink_to(data)
    assert load_vocabulary(str(tmp_path)).vocabulary == read


def test_a_tiktoken_file_whatever_its_name(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.model"
    file.write_text("".join(f"{b64encode(bytes([i])).decode()} {i}\n" for i in range(256)))
    assert load_vocabulary(str(file)).vocabulary.tokens == tuple(bytes([i]) for i in range(256))


def test_a_token_by_id_and_by_text(tokens) -> None:
    for wanted in ("#50", "P"):
        assert tokens(wanted)[:2] == (0, '50  "P"  1 byte: 50\n')
    assert json.loads(tokens("P", "--json")[1])["id"] == 50
    assert "an end token" in tokens("#1")[1]
    assert json.loads(tokens("##", "--json")[1])["text"] == "#"


def test_a_text_that_is_no_token(tokens) -> None:
    status, out, _ = tokens("descr")
    assert status == 1
    assert "is not one token" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["#"],
        ["#99999"],
        ["#x"],
        ["#-1"],
        ["-t", "./nosuch"],
        ["-t", "nosuch.json"],
        ["-t", "broken.json"],
        ["-t", "empty"],
        ["--nosuch"],
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str], tokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "empty").mkdir()
    status, out, err = tokens(*arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("pdacon: ")
    assert err.count("\n") == 1


def test_a_model_without_an_end_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.model"
    pieces = b"".join(b"\x0a\x03\x0a\x01" + bytes([i]) for i in b"ab")  # two normal pieces
    path.write_bytes(pieces)
    assert main(["tokens", "--tokenizer", str(path)]) == 0
    assert "none known" in capsys.readouterr().out
    path.write_bytes(pieces[:-1])
    assert main(["tokens", "--tokenizer", str(path)]) == 2
    assert "is not a SentencePiece model" in capsys.readouterr().err


def test_special_tokens_of_a_tekken_file_without_ids_have_no_name(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    content = {
        "config": {"default_vocab_size": 4, "default_num_special_tokens": 3},
        "vocab": [{"rank": 0, "token_bytes": b64encode(b"a").decode()}],
        "special_tokens": [{"rank": 2, "token_str": "</s>"}, {"token_str": "<x>"}, {"rank": [], "token_str": "<y>"}],
    }
    path.write_text(json.dumps(content))
    assert load_vocabulary(str(path)).names == {2: "</s>"}
