"""`Vocabulary`: what each token id stands for, as bytes."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pdacon.detokenizer.byte_level import read_tokens
from pdacon.errors import VocabularyError


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """The tokens of a language model: the text of every id, and which ids end a text.

    Build one with `from_tokens` or `from_huggingface`. Two vocabularies are equal if they mean the same.
    Frozen and picklable.

    Attributes
    ----------
    tokens : tuple of (bytes or None)
        The text of token id ``i`` at index ``i``; None for an id that stands for no text. Ids without text
        are never allowed, end tokens excepted. Several ids may have the same text.
    eos_ids : tuple of int
        The ids of the end tokens, ascending, without duplicates. An end token has no text.

    Raises
    ------
    VocabularyError
        There is no token at all, a token is neither bytes nor None, or an end id is not an id. The message
        names the index.
    """

    tokens: tuple[bytes | None, ...]
    eos_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        tokens = list(self.tokens)
        if not tokens:
            raise VocabularyError("a vocabulary needs at least one token; none was given")
        if not {bytes, type(None)}.issuperset(map(type, tokens)):
            raise _wrong_token(tokens)
        ends = _checked_ends(self.eos_ids, len(tokens))
        for i in ends:
            tokens[i] = None
        object.__setattr__(self, "tokens", tuple([text or None for text in tokens]))
        object.__setattr__(self, "eos_ids", ends)

    @classmethod
    def from_tokens(cls, tokens: Iterable[bytes | None], eos_ids: Iterable[int] = ()) -> Vocabulary:
        """Take the text of every id as given.

        Parameters
        ----------
        tokens : iterable of (bytes or None)
            The text of id 0, 1, 2, ... None or ``b""``: no text; such an id is never allowed.
        eos_ids : iterable of int
            The ids that end a text. They have no text, even if bytes are given for them.

        Returns
        -------
        Vocabulary
            Cost: linear in the number of tokens, about 10 ms for 131,072.

        Raises
        ------
        VocabularyError
            See the class.
        """
        if isinstance(tokens, (str, bytes, dict)) or not isinstance(tokens, Iterable):
            raise VocabularyError(
                f"tokens must be a sequence with the bytes of id 0, 1, 2, ..., not {type(tokens).__name__}"
            )
        if not isinstance(eos_ids, Iterable) or isinstance(eos_ids, (str, bytes)):
            raise VocabularyError(f"eos_ids must be a sequence of ids, such as [2], not {eos_ids!r}")
        return cls(tuple(tokens), tuple(eos_ids))

    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, size: int | None = None, eos_ids: int | Iterable[int] | None = None
    ) -> Vocabulary:
        """Read a byte-level BPE tokenizer of Hugging Face (GPT-2, Llama 3, Qwen, tekken and their like).

        The text of every id is compared with what the tokenizer itself decodes; a token that is part of a
        character is decoded in the middle of a whole one. Added tokens that are not special stand for their
        literal text; special tokens and unused ids stand for none.

        Parameters
        ----------
        tokenizer : transformers.PreTrainedTokenizerFast or tokenizers.Tokenizer
            A fast tokenizer with a BPE model and a ByteLevel decoder.
        size : int, optional
            The number of ids, if more than the tokenizer knows: the width of the model's logits, which is
            often padded (``model.config.vocab_size``). The ids added have no text.
        eos_ids : int or iterable of int, optional
            Exactly the ids that end a text, as in ``model.generation_config.eos_token_id``. Default: the
            tokenizer's ``eos_token_id``.

        Returns
        -------
        Vocabulary
            Cost: one decoding of every id, about 0.4 s for 131,072.

        Raises
        ------
        VocabularyError
            The tokenizer is of another family, it decodes an id to something else than its bytes, it knows
            ids from `size` on, or no end token is known.
        """
        tokens = read_tokens(tokenizer)
        if size is not None:
            size = operator.index(size)
            if size < len(tokens):
                raise VocabularyError(
                    f"size={size} is too small: the tokenizer knows id {len(tokens) - 1}; "
                    f"give the width of the logits, at least {len(tokens)}, or resize the model's embeddings"
                )
            tokens.extend([None] * (size - len(tokens)))
        return cls.from_tokens(tokens, _ends_of(tokenizer) if eos_ids is None else _as_ids(eos_ids))

    @property
    def size(self) -> int:
        """The number of ids, those without text included: the V of masks with ceil(V/32) words."""
        return len(self.tokens)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256, in hexadecimal, of the lengths and bytes of all tokens and of the end ids.

        Equal fingerprints mean that a mask for one vocabulary is a mask for the other. Cost: about 15 ms for
        131,072 tokens, once.
        """
        lengths = np.fromiter((len(text or b"") for text in self.tokens), dtype="<u4", count=self.size)
        digest = hashlib.sha256(np.array([self.size, len(self.eos_ids)], dtype="<u8").tobytes())
        digest.update(lengths.tobytes())
        digest.update(b"".join(text for text in self.tokens if text))
        digest.update(np.array(self.eos_ids, dtype="<u4").tobytes())
        return digest.hexdigest()

    def decode(self, ids: Iterable[int]) -> bytes:
        """Concatenate the bytes of the given ids; ids without text add nothing.

        Raises
        ------
        VocabularyError
            An id is negative or not below `size`.
        """
        pieces = []
        for i in ids:
            if not 0 <= i < self.size:
                raise VocabularyError(
                    f"token {i} is not in this vocabulary of {self.size} tokens (0 to {self.size - 1})"
                )
            pieces.append(self.tokens[i] or b"")
        return b"".join(pieces)

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (self.eos_ids == other.eos_ids and self.tokens == other.tokens)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<Vocabulary: {self.size} tokens, eos_ids={list(self.eos_ids)}, fingerprint {self.fingerprint[:12]}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # What is derived (the fingerprint, the native trie) stays behind.
        return type(self), (self.tokens, self.eos_ids)


def _wrong_token(tokens: list[Any]) -> VocabularyError:
    index, token = next((i, t) for i, t in enumerate(tokens) if type(t) not in (bytes, type(None)))
    advice = "; encode it, as in token.encode()" if isinstance(token, str) else ""
    return VocabularyError(f"token {index} is {type(token).__name__} {token!r:.40}, not bytes or None{advice}")


def _checked_ends(eos_ids: Iterable[Any], size: int) -> tuple[int, ...]:
    ends = set()
    for index, given in enumerate(eos_ids):
        try:
            i = operator.index(given)
        except TypeError:
            raise VocabularyError(f"eos_ids[{index}] is {given!r}, not an id") from None
        if isinstance(given, bool) or not 0 <= i < size:
            raise VocabularyError(
                f"eos_ids[{index}] is {given!r}, not the id of one of the {size} tokens (0 to {size - 1})"
            )
        ends.add(i)
    return tuple(sorted(ends))


def _as_ids(eos_ids: int | Iterable[int]) -> Iterable[int]:
    return eos_ids if isinstance(eos_ids, Iterable) else (eos_ids,)


def _ends_of(tokenizer: Any) -> Iterable[int]:
    eos = getattr(tokenizer, "eos_token_id", None)
    if eos is None:
        raise VocabularyError(
            f"{type(tokenizer).__name__} names no end token; give eos_ids, as in "
            "eos_ids=model.generation_config.eos_token_id"
        )
    return _as_ids(eos)
