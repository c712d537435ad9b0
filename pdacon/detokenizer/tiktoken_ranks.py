"""tiktoken: an Encoding, or a ``.tiktoken`` file with a token in base64 and its rank in every line.

A rank is an id. Special tokens are not in the file; they have no text, but ids.

Source: openai/tiktoken, load.py (the format of the file) and core.py (the public face of Encoding).
"""

from __future__ import annotations

import base64
import operator
from collections.abc import Mapping
from typing import Any

from pdacon.detokenizer.raw_vocabulary import Reading, placed, require_ids
from pdacon.errors import VocabularyError

ENDS = ("<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|im_end|>")
"""Special tokens that end a text, if there are such: all of those that tiktoken's users name so."""


def read_encoding(encoding: Any, special_tokens: Mapping[str, int] | None = None) -> Reading:
    """Return what every id of a ``tiktoken.Encoding`` stands for.

    Raises VocabularyError: special tokens are given: an Encoding knows its own.
    """
    if special_tokens is not None:
        raise VocabularyError("an Encoding knows its special tokens; special_tokens go with a file")
    special = {name: encoding.encode_single_token(name) for name in encoding.special_tokens_set}
    silent = set(special.values())
    tokens: list[bytes | None] = [None] * encoding.n_vocab
    for i in range(encoding.n_vocab):
        if i not in silent:
            try:
                tokens[i] = encoding.decode_single_token_bytes(i)
            except KeyError:
                continue  # a gap between the ranks
    return Reading(tokens, _ends(special), special_tokens=special)


def parse(data: bytes, name: str) -> Reading:
    """Read the lines of a ``.tiktoken`` file.

    Raises VocabularyError: a line is no token and rank, or two tokens have the same rank. The message names the line.
    """
    ranks: dict[int, bytes] = {}
    lines = data.splitlines()
    try:
        for line in lines:
            if line:
                _add(ranks, line)
    except ValueError as error:
        raise VocabularyError(f"{name}, line {lines.index(line) + 1}: {error}") from error
    if not ranks:
        raise VocabularyError(f"{name} is not a .tiktoken file: it has no tokens")
    return Reading(placed(ranks.items(), require_ids(ranks, name)))


def _add(ranks: dict[int, bytes], line: bytes) -> None:
    try:
        token, rank = line.split()
        text, i = base64.b64decode(token, validate=True), int(rank)
    except ValueError:
        raise ValueError(f"{line!r:.60} is not a token in base64 and its rank") from None
    if ranks.setdefault(i, text) != text:
        raise ValueError(f"rank {i} is that of {ranks[i]!r:.40} already")


def with_special_tokens(reading: Reading, special_tokens: Mapping[str, int], name: str) -> Reading:
    """Give special tokens their ids.

    Raises VocabularyError: they are no mapping of names to ids, or an id is that of a token with text.
    """
    if not isinstance(special_tokens, Mapping):
        raise VocabularyError(f"special_tokens must be a mapping of names to ids, not {type(special_tokens).__name__}")
    if not special_tokens:
        return reading
    special_tokens = {special: _id_of(special, given) for special, given in special_tokens.items()}
    tokens = list(reading.tokens)
    width = require_ids(special_tokens.values(), "special_tokens")
    tokens.extend([None] * (width - len(tokens)))
    for special, i in special_tokens.items():
        if tokens[i] is not None:
            raise VocabularyError(f"{name} has {tokens[i]!r:.40} at id {i}, where special_tokens has {special!r}")
    return Reading(tokens, _ends(special_tokens), special_tokens=special_tokens)


def _id_of(special: str, given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise VocabularyError(f"special_tokens gives {special!r} the id {given!r}, which is not a number") from None


def _ends(special: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sorted(i for name, i in special.items() if name in ENDS))
