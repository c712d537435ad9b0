"""A vocabulary as callers may give it: as a `Vocabulary`, or as the tokenizer and the model that it is of.

Tokenizers of transformers, tokenizers, tiktoken, sentencepiece and mistral-common are told apart by what they can do,
so none of these packages is imported. What was read is kept as long as the tokenizer is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pdacon.detokenizer.vocabulary import Vocabulary
from pdacon.errors import VocabularyError

_read: WeakKeyDictionary[Any, dict[object, Vocabulary]] = WeakKeyDictionary()
_KEPT = 2  # vocabularies of a tokenizer: the model's own, and one with other ends


def vocabulary_of(
    caller: str,
    vocabulary: Vocabulary | None = None,
    tokenizer: Any = None,
    model: Any = None,
    eos_ids: Sequence[int] | None = None,
    size: int | None = None,
) -> Vocabulary:
    """The vocabulary that the arguments of a call mean.

    Parameters
    ----------
    caller : str
        What errors name.
    vocabulary : Vocabulary, optional
        Taken as it is; beside it neither of the others may be given.
    tokenizer : optional
        Of transformers, tokenizers, tiktoken, sentencepiece or mistral-common.
    model : transformers.PreTrainedModel, optional
        How wide its logits are, and with which ids ``generate`` ends. Without it: as the tokenizer says.
    eos_ids : sequence of int, optional
        Exactly the ids that end a text, whatever model and tokenizer say.
    size : int, optional
        How wide the logits are, where no model is at hand to say so.

    Raises
    ------
    TypeError
        None of them is given, or too many, or something that is none of them.
    VocabularyError
        See `Vocabulary.from_huggingface` and its like.
    """
    if vocabulary is not None:
        if tokenizer is not None or model is not None:
            raise TypeError(f"{caller}: give vocabulary, or tokenizer and model, and not both")
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(
                f"{caller}: vocabulary must be a pdacon.Vocabulary, not {type(vocabulary).__name__}; a tokenizer is "
                "given as tokenizer="
            )
        return vocabulary
    if tokenizer is None:
        beside = " beside model=: a model does not know what its ids spell" if model is not None else ""
        raise TypeError(f"{caller}: give a vocabulary or tokenizer={beside}")
    if isinstance(tokenizer, str | os.PathLike):
        name = os.fspath(tokenizer)
        if Path(name).is_file():
            raise TypeError(
                f"{caller}: tokenizer={name!r} is a file; give vocabulary=, read with pdacon.Vocabulary.from_tekken, "
                "from_sentencepiece or from_tiktoken"
            )
        raise TypeError(
            f"{caller}: tokenizer={name!r} is a name; load it first, for example with "
            "transformers.AutoTokenizer.from_pretrained"
        )
    width = size if model is None else logits_width(model)
    ends = None if model is None else model.generation_config.eos_token_id
    if eos_ids is not None:
        ends = list(eos_ids)
    # Tokens can be added to a tokenizer, and words that it has can be made special.
    has_length = hasattr(tokenizer, "__len__")
    key = (width, repr(ends), len(tokenizer) if has_length else 0, tuple(getattr(tokenizer, "all_special_ids", ())))
    try:
        known = _read.get(tokenizer)
    except TypeError:  # a class without weak references or a hash
        return _read_with(tokenizer, width, ends)
    if known is None or key not in known:
        read = _read_with(tokenizer, width, ends)
        latest = list((known or {}).items())[1 - _KEPT :]
        _read[tokenizer] = known = {**dict(latest), key: read}  # a new one: other threads may be reading the old
    return known[key]


def logits_width(model: Any) -> int:
    """How many columns the scores of a transformers model have.

    Raises
    ------
    TypeError
        It is no such model.
    """
    config: Any = getattr(model, "config", None)
    if not hasattr(config, "get_text_config") or not hasattr(model, "generation_config"):
        raise TypeError(f"model must be a model of transformers, not {type(model).__name__}")
    width: int = config.get_text_config(decoder=True).vocab_size
    return width


def _read_with(tokenizer: Any, width: int | None, ends: Any) -> Vocabulary:
    if hasattr(tokenizer, "decode_single_token_bytes"):
        return Vocabulary.from_tiktoken(tokenizer, size=width, eos_ids=ends)
    if hasattr(tokenizer, "id_to_byte_piece") or hasattr(getattr(tokenizer, "instruct_tokenizer", None), "tokenizer"):
        return Vocabulary.from_tekken(tokenizer, size=width, eos_ids=ends)
    if hasattr(tokenizer, "id_to_piece") and hasattr(tokenizer, "serialized_model_proto"):
        return Vocabulary.from_sentencepiece(tokenizer, size=width, eos_ids=ends)
    if not hasattr(tokenizer, "decode"):
        raise VocabularyError(
            f"a {type(tokenizer).__name__} is no tokenizer that pdacon knows; Vocabulary.from_tokens takes the bytes "
            "of each id"
        )
    return Vocabulary.from_huggingface(tokenizer, size=width, eos_ids=ends)
