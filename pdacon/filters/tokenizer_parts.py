"""What a tokenizer is made of: the pairs that it merges, and the regexes with which it splits texts beforehand.

Byte-level BPE only. Each other family, and each part that changes texts or that is unknown, is refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdacon.detokenizer import Vocabulary
from pdacon.detokenizer.byte_level import bytes_of_all
from pdacon.errors import VocabularyError
from pdacon.filters.tokenizer_texts import backend_of, form_of

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The regex of the pre-tokenizer ByteLevel of tokenizers."""

_WAY_OUT = "compile without canonical"


@dataclass(frozen=True, slots=True)
class Parts:
    """Of a byte-level BPE.

    Attributes
    ----------
    patterns : tuple of str
        Regexes that split a text, each the pieces of those before it.
    dollar_is_end : bool
        Whether ``$`` is the end of the text in them.
    pairs : int32[n, 4]
        Left token, right token, rank, and what they become; empty where ``ranks`` say it.
    ranks : int32[V]
        The rank of each token, -1 for others; any two tokens become the one that spells both. Empty where ``pairs`` say
        it.
    used : bool[V]
        The tokens that it makes of texts at all.
    whole : bool
        Whether a pretoken that is a token is that token, whatever its pairs make of it.
    """

    patterns: tuple[str, ...]
    dollar_is_end: bool
    pairs: NDArray[np.int32]
    ranks: NDArray[np.int32]
    used: NDArray[np.bool_]
    whole: bool


def parts_of(tokenizer: Any, vocabulary: Vocabulary) -> Parts:
    """Take a tokenizer apart.

    Raises
    ------
    VocabularyError
        It is of another family than byte-level BPE, or changes texts before it splits them.
    """
    inside = getattr(getattr(tokenizer, "tokenizer", tokenizer), "instruct_tokenizer", None)
    tokenizer = getattr(inside, "tokenizer", tokenizer)  # of a MistralTokenizer, or of transformers' wrapper of it
    if hasattr(tokenizer, "id_to_byte_piece") and hasattr(tokenizer, "num_special_tokens"):
        return _of_ranks(tokenizer._model, vocabulary, tokenizer.num_special_tokens)
    if hasattr(tokenizer, "decode_single_token_bytes"):
        return _of_ranks(tokenizer, vocabulary, 0)
    if (backend := backend_of(tokenizer)) is not None:
        return _of_json(json.loads(backend.to_str()), vocabulary)
    if hasattr(tokenizer, "serialized_model_proto") or hasattr(tokenizer, "sp_model"):
        raise _refusal("it is a SentencePiece model")
    raise _refusal(f"a {type(tokenizer).__name__} does not say what it is made of")


def _refusal(what: str) -> VocabularyError:
    return VocabularyError(f"canonical is for byte-level BPE tokenizers; of this one, {what}; {_WAY_OUT}")


def _of_ranks(encoding: Any, vocabulary: Vocabulary, offset: int) -> Parts:
    try:
        pattern, texts = encoding._pat_str, encoding._mergeable_ranks
    except AttributeError as error:
        raise _refusal(f"this version of tiktoken does not show its {error.name}") from error
    ranks = np.full(vocabulary.size, -1, np.int32)
    for text, rank in texts.items():
        if rank + offset >= vocabulary.size or vocabulary.tokens[rank + offset] != text:
            raise _refusal(f"token {rank + offset} is {text!r:.40}, and another one in the vocabulary")
        ranks[rank + offset] = rank
    return Parts((pattern,), True, np.empty((0, 4), np.int32), ranks, ranks >= 0, True)


def _of_json(state: dict[str, Any], vocabulary: Vocabulary) -> Parts:
    model = state["model"]
    kind = model.get("type", "BPE")
    if kind != "BPE":
        raise _refusal(f"the model is {kind}")
    for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"):
        if model.get(option):
            raise _refusal(f"the model has {option}")
    try:
        form_of(state["normalizer"])
    except ValueError as error:
        raise _refusal(f"texts are changed by the normalizer {error}") from error
    steps = list(_flattened(state["pre_tokenizer"]))
    if "ByteLevel" not in [step["type"] for step in steps]:
        raise _refusal("texts do not become bytes: there is no pre-tokenizer ByteLevel")
    patterns = tuple(pattern for step in steps for pattern in _patterns(step))
    words: dict[str, int] = model["vocab"]
    added = {token["id"] for token in state["added_tokens"]}
    used = np.zeros(vocabulary.size, np.bool_)
    for (word, i), text in zip(words.items(), bytes_of_all(list(words)), strict=True):
        if i in added:
            continue
        if i >= vocabulary.size or vocabulary.tokens[i] != text:
            raise _refusal(f"token {i} is {word!r:.40}, and another one in the vocabulary")
        used[i] = True
    pairs = np.empty((len(model["merges"]), 4), np.int32)
    for rank, merge in enumerate(model["merges"]):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        pairs[rank] = words[left], words[right], rank, words[left + right]
    return Parts(patterns, False, pairs, np.empty(0, np.int32), used, bool(model.get("ignore_merges")))


def _flattened(step: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    if step is None:
        return
    if step["type"] == "Sequence":
        for inner in step["pretokenizers"]:
            yield from _flattened(inner)
    else:
        yield step


def _patterns(step: dict[str, Any]) -> Iterator[str]:
    kind = step["type"]
    if kind == "ByteLevel":
        if step.get("add_prefix_space"):
            raise _refusal("a space is put before texts: add_prefix_space")
        if step.get("use_regex", True):
            yield GPT2
    elif kind == "Digits":
        yield r"\p{N}" if step.get("individual_digits") else r"\p{N}+"
    elif kind == "Split" and step["behavior"] == "Isolated" and not step["invert"]:
        pattern = step["pattern"]
        yield pattern["Regex"] if "Regex" in pattern else re.escape(pattern["String"])
    else:
        how = f" ({step['behavior']}{', inverted' if step['invert'] else ''})" if kind == "Split" else ""
        raise _refusal(f"texts are split by the pre-tokenizer {kind}{how}")
