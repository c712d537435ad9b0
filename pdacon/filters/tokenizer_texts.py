"""Which texts a tokenizer gives back as they were, from what it does before it splits them.

A normalizer that brings texts into a normal form of Unicode leaves those that are in that form as they are, and no
other text is ever decoded. Added tokens are read before all else, wherever their text stands: no other tokens spell it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any, cast, get_args

from pdacon.filters.automata import without
from pdacon.filters.normal_forms import Form, normal_form
from pdacon.frontends.regular_sets import RegularSet


def backend_of(tokenizer: Any) -> Any | None:
    """The `tokenizers.Tokenizer` in a tokenizer; None if there is none."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    return backend if hasattr(backend, "pre_tokenizer") and hasattr(backend, "to_str") else None


def form_of(normalizer: dict[str, Any] | None) -> Form | None:
    """The normal form that a normalizer makes; None if there is no normalizer.

    Raises
    ------
    ValueError
        It does something else; the message says which one.
    """
    if normalizer is None:
        return None
    kind = normalizer["type"]
    if kind == "Sequence" and len(normalizer["normalizers"]) == 1:
        return form_of(normalizer["normalizers"][0])
    if kind not in get_args(Form):
        raise ValueError(kind)
    return cast(Form, kind)


def plain_texts(tokenizer: Any) -> RegularSet | None:
    """The texts that the tokenizer neither normalizes nor reads added tokens in; None: all texts.

    Raises
    ------
    ValueError
        The normalizer is of another kind.
    """
    backend = backend_of(tokenizer)
    if backend is None:  # tiktoken and tekken read texts as they are
        return None
    form = form_of(None if backend.normalizer is None else json.loads(backend.normalizer.__getstate__()))
    words = sorted(_added_words(backend, form))
    sets = []
    if form is not None:
        sets.append(RegularSet(normal_form(form), f"{form} of Unicode {unicodedata.unidata_version}"))
    if words:
        sets.append(RegularSet(without(words), f"texts without the tokenizer's added tokens, such as {words[0]!r:.40}"))
    if not sets:
        return None
    return sets[0] if len(sets) == 1 else (sets[0] & sets[1]).named(f"{sets[0].name} and {sets[1].name}")


def _added_words(backend: Any, form: Form | None) -> Iterator[str]:
    for token in backend.get_added_tokens_decoder().values():
        if token.special and backend.encode_special_tokens:
            continue
        yield unicodedata.normalize(form, token.content) if form is not None and token.normalized else token.content
