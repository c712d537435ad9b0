"""Hold the bytes that were read against what the tokenizer itself decodes.

All tokens are decoded one after the other, in long texts; one that is part of a character is put between bytes that
complete it. Every token of a small vocabulary, and a sample of a large one, is decoded at the start of a text too. A
decoder that does something else than it says is found here, when the vocabulary is built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from pdacon.detokenizer.decoders import WAY_OUT, Decoder
from pdacon.errors import VocabularyError

Decode = Callable[[list[int]], str]

CHUNK = 4096
"""Tokens in one decoded text."""

AT_THE_START = 1024
"""Most tokens that are tried as the first of a text."""


def check_backend(
    backend: Any,
    decoder: Decoder,
    ids: Sequence[int],
    tokens: Sequence[bytes | None],
    first: Sequence[bytes],
    raw: frozenset[int],
) -> None:
    """Compare with ``tokenizers.Tokenizer.decode``.

    ``ids``: the ids that stand for text. ``tokens``: the bytes of every id after another one. ``first``: the bytes of
    each of `ids` at the start of a text. ``raw``: the ids that stand for a single byte which no text around it can
    complete.
    Raises VocabularyError: with the id, what it was taken for and what it is decoded to.
    """
    if not ids:
        return
    Comparison(
        lambda row: backend.decode(row, skip_special_tokens=False), decoder.strips, ids, tokens, first, raw
    ).check()


class Comparison:
    """One tokenizer's decoding beside the bytes that were read.

    `inside`: tokens are compared between others only, since the tokenizer does what it likes at the ends of a text.
    """

    def __init__(
        self,
        decode: Decode,
        strips: bool,
        ids: Sequence[int],
        tokens: Sequence[bytes | None],
        first: Sequence[bytes],
        raw: frozenset[int] = frozenset(),
        inside: bool = False,
    ) -> None:
        self.decode = decode
        self.inside = inside
        self.strips = strips
        self.ids = ids
        self.tokens = tokens
        self.first = dict(zip(ids, first, strict=True))
        self.raw = raw
        # What comes before the tokens that are tried after another one: whole characters, no space at either end.
        solid = [i for i in ids if _is_solid(self.first[i])]
        self.anchor = min(solid, key=lambda i: i in raw, default=None)

    def check(self) -> None:
        if not self.inside:
            self.check_start()
        if self.anchor is None:
            raise VocabularyError(
                f"no token of this tokenizer spells a whole character, so its decoding cannot be checked; {WAY_OUT}"
            )
        whole = [i for i in self.ids if i not in self.raw]
        for begin in range(0, len(whole), CHUNK):
            self.check_row(whole[begin : begin + CHUNK])
        contexts = self.completed()
        for begin in range(0, len(contexts), CHUNK):
            self.check_contexts(contexts[begin : begin + CHUNK])

    def check_start(self) -> None:
        step = -(-len(self.ids) // AT_THE_START)
        for i in self.ids[::step]:
            self.compare(i, [i], self.expected([i]))

    def check_row(self, row: list[int]) -> None:
        """Decode tokens one after the other. If that is not what was expected, find out which of them it is."""
        assert self.anchor is not None
        texts = [self.anchor, *row, self.anchor]
        if self.decode(texts) == self.expected(texts):
            return
        for i in row:
            around = [self.anchor, i, self.anchor] if self.inside else [self.anchor, i]
            self.compare(i, around, self.expected(around))
        for i, j in pairwise(row):  # it takes neighbours
            around = [self.anchor, i, j, self.anchor]
            self.compare(j, around, self.expected(around))
        self.compare(row[0], texts, self.expected(texts))

    def completed(self) -> list[tuple[int, list[int]]]:
        """Each token that is no whole characters, with the tokens before and after which complete it."""
        single = {text: i for i, text in enumerate(self.tokens) if text and len(text) == 1}
        found = []
        for i in [i for i in self.ids if i in self.raw or not (self.tokens[i] or b"").isascii()]:
            text = self.tokens[i] or b""
            if _is_utf8(text):
                if i in self.raw:
                    found.append((i, [i]))
                continue
            before, after = completing(text)
            around = [single.get(bytes([byte]), -1) for byte in before + after]
            if -1 not in around and _is_utf8(before + text + after):  # some bytes are in no character
                found.append((i, [*around[: len(before)], i, *around[len(before) :]]))
        return found

    def check_contexts(self, contexts: list[tuple[int, list[int]]]) -> None:
        assert self.anchor is not None
        row = [self.anchor]
        for _, context in contexts:
            row += [*context, self.anchor]
        text = b"".join(self.tokens[i] or b"" for i in row[1:])
        if self.decode(row) == self.expected(row[:1]) + text.decode("utf-8", "replace"):
            return
        for i, context in contexts:
            whole = b"".join(self.tokens[j] or b"" for j in context)
            end = self.tokens[self.anchor] or b""
            expected = self.expected([self.anchor]) + (whole + end).decode("utf-8", "replace")
            self.compare(i, [self.anchor, *context, self.anchor], expected)
        raise VocabularyError(f"the tokenizer decodes tokens that are parts of characters in no known way; {WAY_OUT}")

    def expected(self, row: list[int]) -> str:
        text = self.first[row[0]]
        if self.strips:
            text = text.removeprefix(b" ")
        return (text + b"".join([self.tokens[i] or b"" for i in row[1:]])).decode("utf-8", "replace")

    def compare(self, i: int, row: list[int], expected: str) -> None:
        got = self.decode(row)
        if got == expected:
            return
        where = "" if row == [i] else f" in the tokens {row}" if len(row) < 16 else f" in {len(row)} tokens"
        raise VocabularyError(
            f"token {i} stands for {self.tokens[i]!r}, which reads {expected!r:.60}{where}, but the tokenizer decodes "
            f"it to {got!r:.60}; give its true text with pdacon.Vocabulary.from_tokens"
        )


def check_wrapper(tokenizer: Any, backend: Any, ids: Sequence[int]) -> None:
    """Compare what a transformers tokenizer decodes with what the `tokenizers.Tokenizer` inside decodes.

    Raises VocabularyError: the wrapper has a decoding of its own.
    """
    random = Random(0)
    for _ in range(4 if ids else 0):
        row = random.choices(ids, k=32)
        inside = backend.decode(row, skip_special_tokens=True)
        outside = tokenizer.decode(row, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        if inside != outside:
            raise VocabularyError(
                f"{type(tokenizer).__name__} decodes tokens in a way of its own ({outside!r:.60}, where its decoder "
                f"gives {inside!r:.60}), which cannot be read; {WAY_OUT}"
            )


def completing(text: bytes) -> tuple[bytes, bytes]:
    """Return bytes before and after which make whole characters of `text`, if any do.

    Any three-byte lead does for two continuation bytes, so the character need not be the one that was cut.
    """
    leading = len(text) - len(text.lstrip(_CONTINUATION))
    before = (b"", b"\xc3", b"\xe1", b"\xf1")[leading] if leading <= 3 else b""
    trailing = len(text) - len(text.rstrip(_CONTINUATION))
    start = len(text) - trailing - 1
    if start < 0:  # continuation bytes only: `before` has started a character of exactly this length
        return before, b""
    lead = text[start]
    needed = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
    missing = needed - 1 - trailing
    if missing <= 0:
        return before, b""
    # The second byte of E0 and F0 must not spell a shorter form.
    second = {0xE0: b"\xa0", 0xF0: b"\x90"}.get(lead, b"\x80")
    return before, b"\x80" * missing if trailing else second + b"\x80" * (missing - 1)


_CONTINUATION = bytes(range(0x80, 0xC0))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_solid(text: bytes) -> bool:
    return text != b"" and text == text.strip() and _is_utf8(text)
