"""What masks cost with ``canonical`` and without: JSON in eight scripts, in the tokens of tekken's ranks.

    PYTHONPATH=tests python tests/benchmarks/canonical_masks.py

With NFC as well: beside the grammar, where the tokenizer has that normalizer, and as a factor of the grammar.

Of each: CPU time of the compilation, the filter's first one, and of the first pass over all masks; and the clock's time
of a mask once all are known, the least median of seven passes.
"""

from __future__ import annotations

import base64
import json
import time
from importlib.resources import files
from statistics import median

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import pdacon

_RECORD = {
    "name": "Zoë Müller",
    "city": "Thành phố Hồ Chí Minh",
    "tags": ["हिन्दी में लिखा", "مَرْحَبًا بالعالم", 12.5e3, True, None],
    "text": "ภาษาไทยที่เขียน, with some words",
    "n": "עִבְרִית",
    "k": "日本語がぎ 한국어",
}


def tekken(normalizer: normalizers.Normalizer | None) -> Tokenizer:
    """A tokenizer with the ranks of tekken: each pair of its tokens that makes a third one is a merge."""
    model = json.loads((files("mistral_common") / "data" / "tekken_240911.json").read_text())
    size = model["config"]["default_vocab_size"] - model["config"]["default_num_special_tokens"]
    letters = dict(zip(range(256), _letters(), strict=True))
    words = ["".join(letters[byte] for byte in base64.b64decode(word["token_bytes"])) for word in model["vocab"][:size]]
    ranks = {word: rank for rank, word in enumerate(words)}
    merges = []
    for word in words:
        pairs = [(word[:at], word[at:]) for at in range(1, len(word))]
        known = [(ranks[left], ranks[right]) for left, right in pairs if left in ranks and right in ranks]
        merges += [(words[left], words[right]) for left, right in sorted(known)]
    made = Tokenizer(models.BPE({**ranks, "</s>": size}, merges))
    split = pre_tokenizers.Split(Regex(model["config"]["pattern"]), "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    made.decoder = decoders.ByteLevel()
    if normalizer is not None:
        made.normalizer = normalizer
    made.add_special_tokens(["</s>"])
    return made


def _letters() -> list[str]:
    """The character that ByteLevel writes for each byte."""
    shown = [byte for byte in range(256) if chr(byte).isprintable() and byte not in (0x20, 0xA0, 0xAD)]
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in shown else next(others)) for byte in range(256)]


def passes(constraint: pdacon.Constraint, tokens: list[int]) -> list[float]:
    """The seconds that each mask along the tokens takes."""
    matcher = constraint.matcher()
    words = np.zeros((1, -(-constraint.vocabulary.size // 32)), np.int32)
    taken = []
    for token in tokens:
        begin = time.perf_counter()
        matcher.fill_bitmask(words)
        taken.append(time.perf_counter() - begin)
        assert matcher.accept_token(token)
    return taken


def main() -> None:
    """Prints a row of a table for each kind."""
    print("| JSON | compile | all masks, first pass | p50 known |\n|---|---|---|---|")
    for name, normalizer, canonical, filters in (
        ("neither", None, False, []),
        ("`canonical`", None, True, []),
        ("`canonical` with NFC beside", normalizers.NFC(), True, []),
        ("`canonical` with NFC as a factor", None, True, [pdacon.filters.NormalForm("NFC")]),
        ("NFC as a factor, no `canonical`", None, False, [pdacon.filters.NormalForm("NFC")]),
    ):
        tokenizer = tekken(normalizer)
        vocabulary = pdacon.Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("</s>"))
        tokens = tokenizer.encode(json.dumps([_RECORD] * 3, ensure_ascii=False)).ids
        pdacon.compile("json", vocabulary)  # what a vocabulary costs once
        begin = time.process_time()
        constraint = pdacon.compile("json", vocabulary, canonical=tokenizer if canonical else False, filters=filters)
        compiled = time.process_time()
        passes(constraint, tokens)
        first = time.process_time()
        known = min(median(passes(constraint, tokens)) for _ in range(7))
        print(
            f"| {name}, {len(tokens)} tokens | {compiled - begin:.3f} s | {first - compiled:.3f} s "
            f"| {known * 1e6:.2f} µs |",
            flush=True,
        )


if __name__ == "__main__":
    main()
