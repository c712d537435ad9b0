"""Tiny vocabularies for small grammars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import AnyStr

from pdacon import Vocabulary


@dataclass(frozen=True)
class TinyVocabulary:
    """Tokens by id, None or b"" for those without text, and the ids that end a text.

    `strips`: one leading space of the first token is not part of the text.
    """

    kind: str
    tokens: tuple[bytes | None, ...]
    ends: tuple[int, ...]
    strips: bool = False

    @property
    def size(self) -> int:
        return len(self.tokens)

    def text(self, token: int) -> bytes:
        """What a token spells; an end token and one without text spell nothing."""
        return b"" if token in self.ends else self.tokens[token] or b""

    def texts(self) -> tuple[bytes, ...]:
        """What the tokens spell, by id."""
        return tuple(map(self.text, range(self.size)))

    def vocabulary(self) -> Vocabulary:
        return Vocabulary.from_tokens(self.tokens, eos_ids=self.ends)

    def permuted(self, order: Sequence[int]) -> TinyVocabulary:
        """The vocabulary in which token ``order[i]`` has id i."""
        place = {old: new for new, old in enumerate(order)}
        ends = tuple(sorted(place[end] for end in self.ends))
        return TinyVocabulary(self.kind, tuple(self.tokens[old] for old in order), ends)


def tiny_vocabularies(single: Sequence[bytes], sentences: Sequence[bytes], random: Random) -> list[TinyVocabulary]:
    """One vocabulary of each kind, over single bytes; ``sentences`` lend their pieces to the longer tokens."""
    every_byte = [bytes([byte]) for byte in range(256)]
    return [
        TinyVocabulary("alphabet", (*single, b"</s>"), (len(single),)),
        TinyVocabulary("all bytes", (b"<end>", *every_byte, *pieces_of(sentences, random, 6, 5)), (0,)),
        _mixed("mixed", [*single, *_noise(single, random, 5), *pieces_of(sentences, random, 6, 5)], random),
        _mixed("long tokens", [*_noise(single, random, 4), *pieces_of(sentences, random, 8, 5)], random),
        _mixed(
            "without a byte", [*single[1:], *_noise(single, random, 3), *pieces_of(sentences, random, 4, 5)], random
        ),
    ]


def _mixed(kind: str, texts: list[bytes], random: Random) -> TinyVocabulary:
    """With a duplicate, tokens without text and two end tokens, one of them with text that means nothing."""
    tokens: list[bytes | None] = [*texts, random.choice(texts), None, b"", b"</s>", random.choice(texts)]
    ends = {len(tokens) - 1, len(tokens) - 2}
    order = random.sample(range(len(tokens)), len(tokens))
    return TinyVocabulary(
        kind, tuple(tokens[old] for old in order), tuple(new for new, old in enumerate(order) if old in ends)
    )


def _noise(single: Sequence[bytes], random: Random, number: int) -> list[bytes]:
    return [b"".join(random.choices(single, k=random.randint(2, 4))) for _ in range(number)]


def pieces_of(texts: Sequence[AnyStr], random: Random, number: int, longest: int) -> list[AnyStr]:
    """Random substrings of texts, none without a text; of bytes characters cut apart or not."""
    whole = [text for text in texts if text]
    pieces = []
    for _ in range(number if whole else 0):
        text = random.choice(whole)
        begin = random.randrange(len(text))
        pieces.append(text[begin : begin + random.randint(1, longest)])
    return pieces


def letters_and_short_texts(alphabet: str, texts: Sequence[str], random: Random) -> tuple[list[str], Vocabulary]:
    """An alphabet and some texts of two and three letters, and their vocabulary, whose last token is the end."""
    tokens = [*alphabet, *random.sample([text for text in texts if 2 <= len(text) <= 3], 8)]
    return tokens, Vocabulary.from_tokens([*(token.encode() for token in tokens), None], eos_ids=[len(tokens)])
