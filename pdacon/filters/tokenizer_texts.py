"""Which texts a tokenizer gives back as they were, from what it does before it splits them.

A normalizer that brings texts into a normal form of Unicode leaves those that are in that form as they are, and no
other text is ever decoded. Added tokens are read before all else, wherever their text stands: no other tokens spell it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from pdacon.filters.automata import without
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.filters.normal_forms import Form, normal_form, settled_characters, settled_texts
from pdacon.frontends.regular_sets import RegularSet
from pdacon.frontends.texts import utf8

_MOST_STATES = 100_000
_MOST_BYTES = 256 << 20


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


def form_of_tokenizer(tokenizer: Any) -> Form | None:
    """The normal form that a tokenizer brings texts into; see `form_of`."""
    backend = backend_of(tokenizer)
    normalizer = None if backend is None else backend.normalizer  # tiktoken and tekken read texts as they are
    return form_of(None if normalizer is None else json.loads(normalizer.__getstate__()))


def texts_without_added_tokens(tokenizer: Any) -> RegularSet | None:
    """The texts in which no added token is spelled; None: all texts."""
    backend = backend_of(tokenizer)
    words = [] if backend is None else sorted(_added_words(backend, form_of_tokenizer(tokenizer)))
    if not words:
        return None
    return RegularSet(without(words), f"texts without the tokenizer's added tokens, such as {words[0]!r:.40}")


def _added_words(backend: Any, form: Form | None) -> Iterator[str]:
    for token in backend.get_added_tokens_decoder().values():
        if token.special and backend.encode_special_tokens:
            continue
        yield unicodedata.normalize(form, token.content) if form is not None and token.normalized else token.content


class TextArrays(NamedTuple):
    """The texts that a normalizer leaves as they are, as the core takes them; all empty: every text.

    Attributes
    ----------
    classes : int32[0x110000]
        The class of each code point.
    next : int32[states, classes]
        The state behind a character, or -1.
    settled : uint8[0x110000]
        The characters in front of which it does not matter what stands there.
    star : offset, low, high, target, accepting
        The automaton over bytes of texts that stay as they are behind such a character.
    """

    classes: NDArray[np.int32]
    next: NDArray[np.int32]
    settled: NDArray[np.uint8]
    star: tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8]]


def text_arrays(form: Form | None) -> TextArrays:
    """The texts in a normal form; None: every text."""
    numbers, bytes_ = np.empty(0, np.int32), np.empty(0, np.uint8)
    if form is None:
        return TextArrays(numbers, numbers, bytes_, (numbers, bytes_, bytes_, numbers, bytes_))
    native = normal_form(form).native
    widths = np.diff(native.firsts, append=NUM_CODE_POINTS)
    classes = np.repeat(native.numbers, widths)
    classes[classes < 0] = native.num_classes  # of what no text has
    table = np.pad(native.table.reshape(-1, native.num_classes), ((0, 0), (0, 1)), constant_values=-1)
    settled = settled_texts(form)
    offset, low, high, target = utf8(settled, _MOST_STATES, _MOST_BYTES)
    accepting = np.zeros(len(offset) - 1, np.uint8)
    accepting[: len(settled)] = 1
    star = offset, low, high, target, accepting
    return TextArrays(classes, table.reshape(-1), settled_characters(form).astype(np.uint8), star)
