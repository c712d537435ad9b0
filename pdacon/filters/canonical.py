"""The native filter of a tokenizer: all sequences of tokens that it produces itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pdacon._native import _core
from pdacon.detokenizer import Vocabulary
from pdacon.errors import VocabularyError
from pdacon.filters.spaces import Prefix
from pdacon.filters.tokenizer_parts import parts_of
from pdacon.filters.tokenizer_texts import added_tokens, form_of_tokenizer, text_arrays, texts_left
from pdacon.filters.values import Filter
from pdacon.regular import RegularSet

FILTERS = _core.Filters()
"""The filters of all constraints of this process, loaded ones included."""

_lock = threading.Lock()
_made: WeakKeyDictionary[Any, tuple[Vocabulary, TokenFilter]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Canonical:
    """Only the tokens that a tokenizer itself makes of a text: ``compile(..., canonical=tokenizer)`` is the same.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerBase, tokenizers.Tokenizer, tiktoken.Encoding or Tekkenizer
    """

    tokenizer: Any

    def texts(self) -> RegularSet | None:
        """The texts that the tokenizer's normalizer leaves, without added tokens that are not generated.

        A normal form of Unicode is not among them where it runs beside the grammar (0028). None: all texts.

        Raises
        ------
        VocabularyError
            Its normalizer does what is not known.
        """
        try:
            return texts_left(self.tokenizer)
        except ValueError as error:
            raise VocabularyError(
                f"canonical: the tokenizer changes texts with the normalizer {error}; compile without canonical"
            ) from error


@dataclass(frozen=True, eq=False)
class TokenFilter:
    """The automaton over tokens of what a tokenizer itself produces."""

    native: _core.CanonicalFilter
    prefix: Prefix  # When the tokenizer puts a space before a text
    texts: str  # What messages call the texts that the tokenizer gives back, where it changes some
    left: str  # The fingerprint of `Canonical.texts`, which are no part of the automaton; "" where they are all texts

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of what makes the tokenizer differ from others with the same tokens."""
        return sha256(json.dumps([self.prefix, self.left]).encode() + self.native.definition()).hexdigest()


def canonical_of(tokenizer: Any, vocabulary: Vocabulary, trie: _core.Trie) -> TokenFilter:
    """The automaton over tokens; made once for a tokenizer, and shared by all constraints of its vocabulary.

    Parameters
    ----------
    tokenizer
        See `Canonical`.
    vocabulary : Vocabulary
        What was read from it.
    trie : Trie
        Of the vocabulary.

    Raises
    ------
    VocabularyError
        The tokenizer is not BPE, WordPiece or Unigram, splits texts in a way that is not supported, or has other tokens
        than the vocabulary.
    """
    try:
        known = _made.get(tokenizer)
    except TypeError:  # a class without weak references or a hash
        return _make(tokenizer, vocabulary, trie)
    with _lock:
        if known is None or known[0] != vocabulary:
            known = vocabulary, _make(tokenizer, vocabulary, trie)
            _made[tokenizer] = known
    return known[1]


def _make(tokenizer: Any, vocabulary: Vocabulary, trie: _core.Trie) -> TokenFilter:
    parts = parts_of(tokenizer, vocabulary)
    spelled = {vocabulary.tokens[i] for i in np.flatnonzero(parts.roles)}
    missing = [byte for byte in (bytes([value]) for value in range(256)) if byte not in spelled]
    if missing and not parts.bytewise.size:
        raise VocabularyError(
            f"canonical: the tokenizer has no token for the byte {missing[0]!r}, and drops it from texts; compile "
            "without canonical"
        )
    added = added_tokens(tokenizer)
    for i, text in added.emitted.items():
        if i >= vocabulary.size or vocabulary.tokens[i] != text.encode():
            raise VocabularyError(
                f"canonical: the added token {i} is {text!r:.40}, and another one in the vocabulary; compile without "
                "canonical"
            )
    texts = text_arrays(form_of_tokenizer(tokenizer), trivial=bool(added.emitted))
    splits, words = parts.splits, parts.words
    star_offset, star_low, star_high, star_target, star_accepting = texts.star if words is None else words.star
    made = FILTERS.of(
        trie,
        pairs=parts.pairs.reshape(-1),
        ranks=parts.ranks,
        roles=parts.roles,
        classes=splits.classes,
        next=splits.next.reshape(-1),
        ends=splits.ends,
        free=splits.free,
        bytewise=parts.bytewise,
        text_classes=texts.classes,
        text_next=texts.next,
        settled=texts.settled,
        star_offset=star_offset,
        star_low=star_low,
        star_high=star_high,
        star_target=star_target,
        star_accepting=star_accepting,
        added=np.array(sorted(added.emitted), np.int32),
        restarts=added.restarts,
        words=np.empty(0, np.uint8) if words is None else words.kinds,
        most=0 if words is None else words.most,
        scores=np.empty(0) if words is None else words.scores,
        unknown=np.zeros(1) if words is None else words.unknown,
        prefixed=parts.prefix == "always",
        spaced=parts.prefix == "always" and (words is None or words.scores.size > 0),
    )
    unreachable = made.statistics()["unreachable"]
    if parts.whole and unreachable:
        raise VocabularyError(
            f"canonical: {unreachable} tokens of the tokenizer are made of whole words only, and not by its merges, "
            "which is not supported; compile without canonical"
        )
    form, given_back = "the normal form that the tokenizer brings texts into", "what the tokenizer gives back as it was"
    left = Canonical(tokenizer).texts()
    left_fingerprint = "" if left is None else left.fingerprint
    return TokenFilter(made, parts.prefix, form if words is None else given_back, left_fingerprint)


def require_filters(caller: str, filters: Any) -> list[Filter]:
    """The filters, if they are a list of such.

    Raises
    ------
    TypeError
        They are not; or one is `Canonical`, for which there is an option.
    """
    if isinstance(filters, Filter) or not isinstance(filters, Iterable):
        raise TypeError(f"{caller}: filters must be a list of filters, not {filters!r:.60}; write filters=[...]")
    listed = list(filters)
    for one in listed:
        if isinstance(one, Canonical):
            raise TypeError(
                f"{caller}: the tokenizer's own tokens are asked for by canonical=tokenizer, not by a filter"
            )
        if isinstance(one, type) or not isinstance(one, Filter):
            raise TypeError(f"{caller}: filters must be of pdacon.filters, not {one!r:.60}")
    return listed
