"""Many texts against their own tokenizations: what a tokenizer makes of a text is allowed, and what it does not is not.

    PYTHONPATH=tests python tests/filters/canonical_texts.py 2000

For each of the tokenizers so many texts at random, of several scripts, code, JSON, blanks and emoji. Those that the
tokenizer gives back as they were must be accepted token by token, with the end; and with one token cut in two, which is
another spelling of the same text, they must be refused, but for unigram models whose sums are rounded: of these it is
counted how many are let in. Prints a line for each tokenizer.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from support.real_vocabularies import coded
from test_canonical import TOKENIZERS as BYTE_LEVEL
from test_canonical import with_normalizer
from test_canonical_sentencepiece import ROUNDED, real
from test_canonical_sentencepiece import TOKENIZERS as PIECES
from test_canonical_word_pieces import TOKENIZERS as WORDS
from test_canonical_word_pieces import vocabulary_of

import pdacon

PARTS = [
    *"abcdefghijklmnopqrstuvwxyzABCXYZ0123456789",
    *" .,:;!?'\"()[]{}<>=+-*/_\\\n\t\r",
    *["  ", "    ", "\n\n", "\r\n", "\n    ", "the ", " quick", "Amazon", "don't", "'ll", "123", "1234", "SELECT "],
    *['{"a": ', '", "', "]}", "true", "null", "0.5e-3"],
    *"éüßñçøåœ日本語漢字かなカナ한국어русскийελληνικάعربيעבריתहिन्दीไทย",
    *["e\u0301", "🙂", "👩‍👩‍👧", "🇩🇪", "\u200b", "\u00a0", "½", "²", "Ⅳ", "ﬁ"],
]
LETS_IN = ("T5", "over spaces", "tokenizers")
Encode = Callable[[str], list[int]]


def tokenizers() -> dict[str, tuple[Any, pdacon.Vocabulary, Encode, bool]]:
    """By name: tokenizer, vocabulary, what encodes, and whether a text loses a space at its start."""
    found: dict[str, tuple[Any, pdacon.Vocabulary, Encode, bool]] = {}
    for name, (tokenizer, vocabulary, encode) in BYTE_LEVEL.items():
        found[name] = tokenizer, vocabulary, encode, False
    made, vocabulary = with_normalizer(*BYTE_LEVEL["qwen"][:2])
    found["qwen, NFC"] = made, vocabulary, lambda text: list(made.encode(text).ids), False
    for name, (tokenizer, vocabulary, encode) in PIECES.items():
        found[name] = tokenizer, vocabulary, encode, False
    for name in LETS_IN:
        tokenizer, vocabulary, encode = ROUNDED[name]()
        found[f"Unigram, {name}"] = tokenizer, vocabulary, encode, False
    for name in ("cleaned", "normalizer"):
        words = WORDS[name]
        found[f"WordPiece, {name}"] = words, vocabulary_of(words), _encoder(words), True
    processor, known = real()
    found["Mistral, 32,768"] = processor, known.vocabulary, known.encode_inside, False
    known = coded("tekken")
    data = files("mistral_common") / "data" / "tekken_240911.json"
    found["tekken, 131,072"] = Tekkenizer.from_file(str(data)), known.vocabulary, known.encode, False
    return found


def _encoder(tokenizer: Any) -> Encode:
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)


def cut(ids: list[int], vocabulary: pdacon.Vocabulary, rng: random.Random, known: dict[bytes, int]) -> list[int] | None:
    """The same text with one token as two others; None: no token can be cut."""
    for at in rng.sample(range(len(ids)), len(ids)):
        text = vocabulary.tokens[ids[at]] or b""
        for middle in rng.sample(range(1, len(text)), max(0, len(text) - 1)):
            if text[:middle] in known and text[middle:] in known:
                return [*ids[:at], known[text[:middle]], known[text[middle:]], *ids[at + 1 :]]
    return None


def given_back(text: str, ids: list[int], vocabulary: pdacon.Vocabulary, strips: bool) -> bool:
    """Whether the tokens of a text spell it."""
    spelled = b"".join(vocabulary.tokens[i] or b"\xff" for i in ids)
    return (spelled.removeprefix(b" ") if strips else spelled) == text.encode()


def main() -> None:
    """For as many texts as the argument says."""
    count = int(sys.argv[1])
    total = 0
    for name, (tokenizer, vocabulary, encode, strips) in tokenizers().items():
        rng = random.Random(7)
        since = time.process_time()
        known = {text: i for i, text in enumerate(vocabulary.tokens) if text}
        constraint = pdacon.compile(pdacon.Grammar.from_regex("(?s).*"), vocabulary, canonical=tokenizer)
        parts = [part for part in PARTS if given_back(f"a{part}a", encode(f"a{part}a"), vocabulary, strips)]
        allowed = refused = let_in = 0
        for _ in range(count):
            text = "".join(rng.choices(parts, k=rng.randint(1, 12)))
            ids = encode(text)
            if not given_back(text, ids, vocabulary, strips):
                continue
            allowed += 1
            ended = [*ids, vocabulary.eos_ids[0]]
            matcher = constraint.matcher(strip_leading_space=strips)
            assert matcher.validate_tokens(ended) == len(ended), (name, text, ids)
            other = cut(ids, vocabulary, rng, known)
            if other is not None and other != ids:
                is_refused = matcher.validate_tokens([*other, ended[-1]]) < len(other) + 1
                assert is_refused or name.removeprefix("Unigram, ") in LETS_IN, (name, text, other)
                refused += is_refused
                let_in += not is_refused
        assert constraint.statistics()["canonical_searches_cut"] == 0, name
        total += allowed
        seconds = time.process_time() - since
        print(
            f"{name}: of {count:,} texts {allowed:,} are allowed, {refused:,} other spellings refused, "
            f"{let_in:,} let in; {seconds:.1f} s"
        )
    print(f"{total:,} texts")


if __name__ == "__main__":
    main()
