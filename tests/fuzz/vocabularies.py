"""Random vocabularies: with a token for each byte and without, with tokens that span lexemes or cut a character."""

from __future__ import annotations

from random import Random

from fuzz.case import EVERY_BYTE


def vocabulary(
    rng: Random, texts: list[bytes], letters: bytes, features: set[str]
) -> tuple[list[bytes | None], list[int]]:
    """Tokens and end tokens for texts of a grammar."""
    chunks = sorted(random_chunks(rng, texts, rng.choice([0, 4, 12, 30])))
    singles = [bytes([byte]) for byte in sorted(set(letters))]
    roll = rng.random()
    tokens: list[bytes | None]
    if roll < 0.4:
        features.add("vocabulary: letters and more")
        # Bytes that no terminal has are tokens too: they must stay out of all masks.
        tokens = [*singles, b"\x80", b"~", *chunks]
    elif roll < 0.75:
        features.add("vocabulary: every byte")
        tokens = [*EVERY_BYTE, *chunks]
    elif roll < 0.9:
        features.add("vocabulary: some bytes missing")
        tokens = [
            *rng.sample(singles, max(1, len(singles) - rng.choice([1, 1, 2]))),
            *chunks,
            *random_chunks(rng, texts, 10),
        ]
    else:
        features.add("vocabulary: no single bytes")
        tokens = [*(chunk for chunk in random_chunks(rng, texts, 40) if len(chunk) > 1)] or [b"ab"]
    if rng.random() < 0.3:
        tokens += rng.choices(tokens, k=2)
    if rng.random() < 0.3:
        tokens.insert(rng.randrange(len(tokens)), rng.choice([None, b""]))
    if rng.random() < 0.3:
        tokens += [b" " + token for token in rng.sample(tokens, min(4, len(tokens))) if token]
    if rng.random() < 0.5:
        rng.shuffle(tokens)
    tokens.append(rng.choice([None, b"</s>"]))
    ends = [len(tokens) - 1]
    if rng.random() < 0.1:
        tokens.append(None)
        ends.append(len(tokens) - 1)
    if rng.random() < 0.2:
        tokens += [None] * rng.choice([1, 40])
    return tokens, ends


def random_chunks(rng: Random, texts: list[bytes], count: int) -> list[bytes]:
    """Pieces of texts, of two texts side by side, and of characters."""
    chunks = set()
    pool = [text for text in texts if text]
    if not pool:
        return []
    for _ in range(count):
        text = rng.choice(pool)
        if rng.random() < 0.2:
            text += rng.choice(pool)
        begin = rng.randrange(len(text))
        chunks.add(text[begin : begin + rng.choice([1, 2, 2, 3, 3, 4, 6, 12])])
    return sorted(chunks)
