"""SentencePiece models: the bytes of any ids are what the sentencepiece package decodes them to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.small_tokenizers import SENTENCEPIECE, TEXT, train_sentencepiece

from pdacon.detokenizer import Vocabulary
from pdacon.detokenizer.sentencepiece_model import CONTROL, NORMAL, Model, parse, reading_of
from pdacon.errors import VocabularyError

sentencepiece = pytest.importorskip("sentencepiece")


def real_models() -> dict[str, Path]:
    pytest.importorskip("mistral_common")
    data = Path(str(files("mistral_common"))) / "data"
    return {path.name: path for path in sorted(data.glob("*.model.v*"))}


REAL = [
    "tokenizer.model.v1",
    "mistral_instruct_tokenizer_240216.model.v2",
    "mistral_instruct_tokenizer_240323.model.v3",
    "mistral_instruct_tokenizer_241114.model.v7",
]


@cache
def model(name: str) -> bytes:
    return train_sentencepiece(**SENTENCEPIECE[name]) if name in SENTENCEPIECE else real_models()[name].read_bytes()


def expected(processor: Any, vocab: Vocabulary, ids: list[int]) -> str:
    """Runs of byte pieces give whole characters, or U+FFFD for each byte that is part of none."""
    pieces: list[str] = []
    run = b""
    for i in [*ids, None]:
        if i is not None and processor.is_byte(i):
            run += vocab.tokens[i] or b""
            continue
        while run:
            for length in range(1, min(4, len(run)) + 1):
                try:
                    pieces.append(run[:length].decode())
                except UnicodeDecodeError:
                    continue
                run = run[length:]
                break
            else:
                pieces.append("\ufffd")
                run = run[1:]
        if i is not None:
            pieces.append((vocab.tokens[i] or b"").decode())
    text = "".join(pieces)
    stripped = vocab.strip_leading_space and not processor.is_byte(ids[0])
    return text.removeprefix(" ") if stripped else text


@pytest.mark.parametrize("name", [*SENTENCEPIECE, *REAL])
def test_random_ids_are_what_their_bytes_spell(
    name: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model(name))
    vocab = Vocabulary.from_sentencepiece(model(name))
    random = Random(name)
    ids = [i for i, text in enumerate(vocab.tokens) if text]
    exceptions = 0
    for round in range(scaled(400)):
        row = random.choices(ids if round % 3 else ids[:300], k=random.randint(1, 10))
        got, want = processor.decode(row), expected(processor, vocab, row)
        if got != want:
            # While nothing but single spaces was there, the next piece loses its space too; the notes say so.
            assert vocab.tokens[row[0]] == b" ", row
            assert got == want.lstrip(" "), row
            assert "extra white space" in "".join(vocab.notes)
            exceptions += 1
    tally(rows=scaled(400), rows_that_begin_with_several_spaces=exceptions)


def test_notes_speak_of_pieces_that_are_there() -> None:
    pieces = [("▁a", NORMAL), ("</s>", CONTROL)]
    assert reading_of(Model(pieces, "</s>", True, True, False), "it").notes == ()
    (note,) = reading_of(Model([*pieces, ("▁", NORMAL)], "</s>", True, True, False), "it").notes
    assert note.endswith("'▁'")


@pytest.mark.parametrize("name", [*SENTENCEPIECE, *REAL])
def test_types_of_pieces(name: str) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model(name))
    vocab = Vocabulary.from_sentencepiece(model(name))
    assert vocab.size == processor.get_piece_size()
    assert vocab.eos_ids == (processor.eos_id(),)
    for i in range(vocab.size):
        silent = processor.is_control(i) or processor.is_unknown(i) or processor.is_unused(i)
        assert (vocab.tokens[i] is None) == silent
        if processor.is_byte(i):
            assert len(vocab.tokens[i] or b"") == 1


@pytest.mark.parametrize(
    ("name", "strips"),
    [("Llama 2", True), ("Gemma", False), ("T5", True), ("no dummy prefix", True), (REAL[0], True)],
)
def test_which_strip_a_leading_space(name: str, strips: bool) -> None:
    vocab = Vocabulary.from_sentencepiece(model(name))
    assert vocab.strip_leading_space is strips


def test_user_defined_pieces_are_text() -> None:
    vocab = Vocabulary.from_sentencepiece(model("Llama 2"))
    assert {b"  ", b"    ", b"<tool>", b"a b"} <= set(vocab.tokens)
    assert b"[INST]" not in vocab.tokens


def test_unused_pieces_have_no_text() -> None:
    piece = parse(model("Llama 2"), "it").pieces[-1][0].encode()
    data = model("Llama 2")
    # The last piece, whose message is text, score and no type, gets the type UNUSED.
    at = data.rindex(b"\x0a" + bytes([len(piece)]) + piece)
    length = data[at - 1]
    changed = data[: at - 1] + bytes([length + 2]) + data[at : at + length] + b"\x18\x05" + data[at + length :]
    vocab = Vocabulary.from_sentencepiece(changed)
    assert vocab.tokens[-1] is None
    assert vocab.tokens[:-1] == Vocabulary.from_sentencepiece(data).tokens[:-1]


def test_a_file_its_bytes_and_a_processor_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(model("Llama 2"))
    vocab = Vocabulary.from_sentencepiece(path)
    assert vocab == Vocabulary.from_sentencepiece(str(path)) == Vocabulary.from_sentencepiece(model("Llama 2"))
    assert vocab == Vocabulary.from_sentencepiece(sentencepiece.SentencePieceProcessor(model_file=str(path)))


def test_padding_and_end_tokens() -> None:
    vocab = Vocabulary.from_sentencepiece(model("Llama 2"), size=512, eos_ids=[2, 5])
    assert vocab.size == 512
    assert vocab.eos_ids == (2, 5)
    with pytest.raises(VocabularyError, match="size=3 is too small"):
        Vocabulary.from_sentencepiece(model("Llama 2"), size=3)


def test_without_an_end_piece_one_has_to_be_given() -> None:
    data = train_sentencepiece(model_type="char", vocab_size=100, eos_id=-1)
    with pytest.raises(VocabularyError, match="no end token; give eos_ids"):
        Vocabulary.from_sentencepiece(data)
    assert Vocabulary.from_sentencepiece(data, eos_ids=0).eos_ids == (0,)


def test_a_denormalizer_is_refused(tmp_path: Path) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text("61\t62\n")
    data = train_sentencepiece(model_type="char", vocab_size=100, denormalization_rule_tsv=str(rules))
    with pytest.raises(VocabularyError, match=r"denormalizer.*from_tokens"):
        Vocabulary.from_sentencepiece(data)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"", "no pieces"),
        (b"{}", "not a SentencePiece model"),
        (b"\x0a\xff\xff\xff\xff\x7f", "cut off"),
        (b"\x0a\x02\x08\x01", "unknown type|number stands"),
        (b"\x0a" + b"\xff" * 11, "not a SentencePiece model"),
        (b"\x0a\x08\x0a\x04<0x4\x18\x06", "not a SentencePiece model"),
        (42, "a path, bytes or a SentencePieceProcessor is needed, not int"),
        ("/nowhere/tokenizer.model", "cannot read .*No such file"),
    ],
)
def test_what_is_no_model_is_refused(source: Any, words: str) -> None:
    with pytest.raises(VocabularyError, match=words):
        Vocabulary.from_sentencepiece(source)


def test_damaged_models_are_refused_or_read() -> None:
    """Nothing but a VocabularyError, whatever the bytes are."""
    data = bytearray(model("characters"))
    random = Random(1)
    for _ in range(300):
        damaged = bytearray(data[: random.choice([len(data), random.randrange(2000)])])
        for _ in range(random.randint(1, 4)):
            damaged[random.randrange(min(len(damaged), 2500) or 1) : 0] = bytes([random.randrange(256)])
        try:
            Vocabulary.from_sentencepiece(bytes(damaged), eos_ids=[])
        except VocabularyError:
            continue


def test_text_comes_back() -> None:
    for name in ("Llama 2", "Gemma"):
        processor = sentencepiece.SentencePieceProcessor(model_proto=model(name))
        vocab = Vocabulary.from_sentencepiece(model(name))
        for text in TEXT[:3]:
            spelt = vocab.decode(processor.encode(text))
            assert (spelt.removeprefix(b" ") if name == "Llama 2" else spelt).decode() == processor.decode(
                processor.encode(text)
            )
