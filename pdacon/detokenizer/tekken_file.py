"""Tekken tokenizers: the file tekken.json, or the object that mistral-common makes of it.

The first ids are special tokens; after them come the tokens in the order of their ranks, as many as make the
vocabulary `default_vocab_size` wide. A special token is nobody's text, whether or not the file calls it a control
token.

Source: mistral-common, tokens/tokenizers/tekken.py (the format of the file).
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterable
from typing import Any

from pdacon.detokenizer.raw_vocabulary import MOST_IDS, Reading
from pdacon.errors import VocabularyError

END = "</s>"
END_OF_OLD_FILES = 2
"""Where END is in files that do not list their special tokens."""


def read_tekkenizer(tokenizer: Any) -> Reading:
    """Return what every id of a ``mistral_common.tokens.tokenizers.tekken.Tekkenizer`` stands for."""
    tokens = [tokenizer.id_to_byte_piece(i) or None for i in range(tokenizer.n_words)]
    return Reading(tokens, (int(tokenizer.eos_id),))


def parse(data: bytes, name: str) -> Reading:
    """Read the text of a tekken.json.

    Raises VocabularyError: it is none.
    """
    try:
        file = json.loads(data)
        config = file["config"]
        size, special = int(config["default_vocab_size"]), int(config["default_num_special_tokens"])
        entries, listed = file["vocab"], file.get("special_tokens")
        if not isinstance(entries, list):
            raise TypeError(f"its vocab is {type(entries).__name__}, not a list")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise VocabularyError(f"{name} is not a tekken.json: {_what(error)}") from error
    if not 0 <= special <= size <= MOST_IDS or size - special > len(entries):
        raise VocabularyError(
            f"{name} is not a tekken.json: {size} ids, {special} of them special, do not go with {len(entries)} tokens"
        )
    tokens: list[bytes | None] = [None] * special
    try:
        for rank, entry in enumerate(entries[: size - special]):
            if entry["rank"] != rank:
                raise ValueError(f"it has the rank {entry['rank']!r}")
            tokens.append(binascii.a2b_base64(entry["token_bytes"]))
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise VocabularyError(f"{name}: entry {len(tokens) - special} of vocab is damaged: {_what(error)}") from error
    ends = _ends(listed, special, name)  # checks the list
    return Reading(tokens, ends, special_tokens=_named(listed or (), special))


def _named(listed: Iterable[Any], special: int) -> dict[str, int]:
    """The special tokens that have a name and an id; entries without either are left out."""
    pairs = [(entry.get("token_str"), entry.get("rank")) for entry in listed]
    return {
        text: rank
        for text, rank in pairs
        if isinstance(text, str) and text and isinstance(rank, int) and 0 <= rank < special
    }


def _ends(listed: Any, special: int, name: str) -> tuple[int, ...]:
    if listed is None:
        return (END_OF_OLD_FILES,) if special > END_OF_OLD_FILES else ()
    try:
        ends = tuple(int(entry["rank"]) for entry in listed if entry["token_str"] == END)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise VocabularyError(f"{name}: its special_tokens are damaged: {_what(error)}") from error
    for i in ends:
        if not 0 <= i < special:
            raise VocabularyError(f"{name}: {END} has the id {i}, but special tokens have the ids below {special}")
    return ends


def _what(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)
