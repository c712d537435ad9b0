"""Random decoder pipelines: either refused, or every text is what the bytes say."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError

# Words that some stage or other treats in a way of its own.
WORDS = [
    *("a", "b", "ab", "é", "日", " ", "  ", " x", "x ", "\n", "_", "_a", "#a", "'", " ' ", "do", "not", "do not"),
    *("▁", "▁a", "▁▁", "a▁b", "▁ a", " ▁", "▁.", "##a", "##", "##.", ".", ",", "!", "n't", "'s", "'m"),
    *("Ġb", "Ã", "©", "Ġ", "Ċ", "</w>", "a</w>", "<0x41>", "<0x20>", "<0xC3>", "<0xA9>", "<0xE4>", "<0xB8>", "<0x80>"),
    *("<0x+A>", "<0xzz>", "<0x4>", "<0xé>", "<0x▁A>"),
]


def stage(random: Random) -> Any:
    return random.choice(
        [
            lambda: decoders.Replace(
                random.choice(["▁", "_", "a", "ab", "##", "</w>"]), random.choice([" ", "", "b", "▁", " .", "<0x41>"])
            ),
            lambda: decoders.Metaspace(random.choice("▁_"), random.choice(["always", "first", "never"])),
            lambda: decoders.WordPiece(random.choice(["##", "▁"]), random.random() < 0.5),
            decoders.ByteLevel,
            decoders.ByteFallback,
            decoders.Fuse,
            lambda: decoders.Strip(random.choice(" a▁"), random.choice([0, 1, 1, 2]), random.choice([0, 0, 1])),
            decoders.BPEDecoder,
            decoders.CTC,
        ]
    )()


def tokenizer(random: Random) -> Tokenizer:
    words = [*random.sample(WORDS, random.randint(5, 25)), "q"]
    ids = {word: i for i, word in enumerate(words)}
    made = Tokenizer(models.BPE(ids, []) if random.random() < 0.7 else models.WordPiece(ids, unk_token="q"))
    number = random.choice([0, 1, 1, 2, 3, 4])
    if number:
        made.decoder = stage(random) if number == 1 else decoders.Sequence([stage(random) for _ in range(number)])
    if random.random() < 0.3:
        made.normalizer = random.choice(
            [normalizers.Prepend("▁"), normalizers.Lowercase(), normalizers.Replace(" ", "▁")]
        )
    if random.random() < 0.4:
        content = random.choice(["T ool", "<t>", "▁t", "É", "A a"])
        made.add_tokens([AddedToken(content, special=False, normalized=random.random() < 0.5)])
    return made


def valid(vocab: Vocabulary, row: list[int]) -> str | None:
    try:
        return vocab.decode(row).decode()
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("chunk", range(4))
def test_random_pipelines(chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    for seed in range(scaled(250)):
        random = Random(1_000_000 * chunk + seed)
        it = tokenizer(random)
        try:
            vocab = Vocabulary.from_huggingface(it, eos_ids=[])
        except VocabularyError:
            tally(pipelines_refused=1)
            continue
        tally(pipelines_read=1)
        ids = [i for i, text in enumerate(vocab.tokens) if text]
        for _ in range(40):
            row = random.choices(ids, k=random.randint(1, 7))
            spelt, rest, got = valid(vocab, row), valid(vocab, row[1:]), it.decode(row)
            if spelt is None or rest is None:
                continue
            if got != (spelt.removeprefix(" ") if vocab.strip_leading_space else spelt):
                assert vocab.notes, (seed, it.decoder, row)
                assert got == it.decode(row[:1]) + rest, (seed, it.decoder, row)
                tally(rows_with_an_odd_first_token=1)
            tally(rows=1)
