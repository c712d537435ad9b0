"""`Vocabulary`: what each token id stands for, as bytes."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np

from pdacon.base.html import preformatted
from pdacon.base.quoting import did_you_mean
from pdacon.detokenizer.cache import cached
from pdacon.detokenizer.labelled import TEXT_LABELS, checked_labels, checked_names, text_labels
from pdacon.detokenizer.raw_vocabulary import MOST_IDS, Reading
from pdacon.errors import VocabularyError

_SHOWN = 12  # special tokens, in a notebook
Text = bytes  # `bytes` is a name of the class, too


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """The tokens of a language model: the text of every id, and which ids end a text.

    Build one with `from_huggingface`, `from_sentencepiece`, `from_tiktoken`, `from_tekken` or `from_tokens`. Two
    vocabularies are equal if they mean the same. Frozen and picklable.

    Attributes
    ----------
    tokens : tuple of (bytes or None)
        The text of token id ``i`` at index ``i``; None for an id that stands for no text. Ids without text
        are never allowed, end tokens excepted. Several ids may have the same text.
    eos_ids : tuple of int
        The ids of the end tokens, ascending, without duplicates. An end token has no text.
    strip_leading_space : bool
        Whether the tokenizer takes one space away where a decoded text begins, as SentencePiece does: the tokens of
        ``"a b"`` are then ``b" a"`` and ``b" b"``. It matters where a text starts with nothing before it; see
        ``Constraint.matcher(strip_leading_space=...)``. What is decoded together with a prompt keeps its space.
    notes : tuple of str
        Where the tokenizer's own decoding differs from the concatenation of these bytes, a sentence for each; see
        docs/vocabularies.md.
    special_tokens : mapping of str to int
        The names of special tokens, which a grammar may ask for by ``(?P<TOKEN>name)``; as far as they are known.
    labels : mapping of str to tuple of int
        Sets of tokens that a grammar may ask for by their name; see `with_labels`.

    Raises
    ------
    VocabularyError
        There is no token at all, a token is neither bytes nor None, or an end id is not an id. The message
        names the index.
    """

    tokens: tuple[Text | None, ...]
    eos_ids: tuple[int, ...] = ()
    strip_leading_space: bool = False
    notes: tuple[str, ...] = ()
    special_tokens: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    labels: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))

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
        object.__setattr__(self, "notes", tuple(self.notes))
        object.__setattr__(self, "special_tokens", checked_names(self.special_tokens, len(tokens)))
        object.__setattr__(self, "labels", checked_labels(self.labels, len(tokens), ends))

    @classmethod
    def bytes(cls) -> Vocabulary:
        """A token for each byte, id 0 to 255, and an end token, id 256: for questions about texts and not about tokens.

        The same object in each call.
        """
        return _bytes()

    @classmethod
    def from_tokens(cls, tokens: Iterable[Text | None], eos_ids: Iterable[int] = ()) -> Vocabulary:
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
        """Read a tokenizer of Hugging Face: byte-level BPE, SentencePiece with and without byte fallback, WordPiece.

        The decoder of the tokenizer decides what a token adds to a text, not the name of a class. What was read is
        compared with what the tokenizer itself decodes. Added tokens that are not special stand for their literal
        text; special tokens, the unknown token and unused ids stand for none.

        Parameters
        ----------
        tokenizer : transformers.PreTrainedTokenizerBase or tokenizers.Tokenizer
            A fast tokenizer, or one that wraps a SentencePiece model or mistral-common.
        size : int, optional
            The number of ids, if more than the tokenizer knows: the width of the model's logits, which is
            often padded (``model.config.vocab_size``). The ids added have no text.
        eos_ids : int or iterable of int, optional
            Exactly the ids that end a text, as in ``model.generation_config.eos_token_id``. Default: the
            tokenizer's ``eos_token_id``.

        Returns
        -------
        Vocabulary
            Cost: about 0.3 s for 131,072 tokens.

        Raises
        ------
        VocabularyError
            The decoder makes the text of a token depend on its neighbours, or decodes an id to something else than
            its bytes; the tokenizer knows ids from `size` on, or no end token is known.
        """
        from pdacon.detokenizer.huggingface import read_tokenizer

        return cls._of(read_tokenizer(tokenizer), size, eos_ids, type(tokenizer).__name__)

    @classmethod
    def from_sentencepiece(
        cls, source: Any, size: int | None = None, eos_ids: int | Iterable[int] | None = None
    ) -> Vocabulary:
        """Read a SentencePiece model: BPE, Unigram, words or characters, with and without byte fallback.

        Normal and user-defined pieces stand for their text, with spaces for ``▁``, and byte pieces for their byte;
        control, unknown and unused pieces stand for none. The sentencepiece package is not needed.

        Parameters
        ----------
        source : path, bytes or sentencepiece.SentencePieceProcessor
            A ``.model`` file, what it contains, or what was made of it.
        size, eos_ids
            As in `from_huggingface`. Default for `eos_ids`: the end piece that the model names.

        Returns
        -------
        Vocabulary
            Cost: about 0.1 s for 32,768 pieces the first time, 10 ms from the cache on disk.

        Raises
        ------
        VocabularyError
            It cannot be read, is no SentencePiece model, or has a denormalizer; or as in `from_huggingface`.
        """
        from pdacon.detokenizer.sentencepiece_model import model_bytes, parse, reading_of

        data, name = model_bytes(source)
        reading = cached("sentencepiece", data, lambda: reading_of(parse(data, name), name))
        return cls._of(reading, size, eos_ids, name)

    @classmethod
    def from_tiktoken(
        cls,
        source: Any,
        special_tokens: Mapping[str, int] | None = None,
        size: int | None = None,
        eos_ids: int | Iterable[int] | None = None,
    ) -> Vocabulary:
        """Read a tiktoken encoding, or a ``.tiktoken`` file of ranks.

        Parameters
        ----------
        source : path or tiktoken.Encoding
        special_tokens : mapping of str to int, optional
            The special tokens that go with a file, and their ids; they have no text. An Encoding knows its own.
        size, eos_ids
            As in `from_huggingface`. Default for `eos_ids`: the special tokens named ``<|endoftext|>``,
            ``<|end_of_text|>``, ``<|eot_id|>`` or ``<|im_end|>``.

        Returns
        -------
        Vocabulary
            Cost: about 0.2 s for 131,072 tokens; a file comes from the cache on disk from the second time on.

        Raises
        ------
        VocabularyError
            It cannot be read or is damaged, a special token has the id of another one, or as in `from_huggingface`.
        """
        from pdacon.detokenizer.raw_vocabulary import read_file
        from pdacon.detokenizer.tiktoken_ranks import parse, read_encoding, with_special_tokens

        if hasattr(source, "decode_single_token_bytes"):
            return cls._of(read_encoding(source, special_tokens), size, eos_ids, "this Encoding")
        data, name = read_file(source, "the path of a .tiktoken file or a tiktoken.Encoding"), str(source)
        reading = cached("tiktoken", data, lambda: parse(data, name))
        return cls._of(
            with_special_tokens(reading, {} if special_tokens is None else special_tokens, name), size, eos_ids, name
        )

    @classmethod
    def from_tekken(
        cls, source: Any, size: int | None = None, eos_ids: int | Iterable[int] | None = None
    ) -> Vocabulary:
        """Read a tekken tokenizer of Mistral: ``tekken.json``, or the Tekkenizer that mistral-common makes of it.

        Parameters
        ----------
        source : path, mistral_common.tokens.tokenizers.tekken.Tekkenizer or a MistralTokenizer with one
        size, eos_ids
            As in `from_huggingface`. Default for `eos_ids`: ``</s>``.

        Returns
        -------
        Vocabulary
            Cost: about 0.3 s for 131,072 tokens; a file takes 0.05 s from the second time on (cache on disk).

        Raises
        ------
        VocabularyError
            It cannot be read or is damaged, or as in `from_huggingface`.
        """
        from pdacon.detokenizer.raw_vocabulary import read_file
        from pdacon.detokenizer.tekken_file import parse, read_tekkenizer

        source = getattr(getattr(source, "instruct_tokenizer", None), "tokenizer", source)  # of a MistralTokenizer
        if hasattr(source, "id_to_byte_piece"):
            return cls._of(read_tekkenizer(source), size, eos_ids, "this Tekkenizer")
        data, name = read_file(source, "the path of a tekken.json or a Tekkenizer"), str(source)
        return cls._of(cached("tekken", data, lambda: parse(data, name)), size, eos_ids, name)

    @classmethod
    def _of(cls, reading: Reading, size: int | None, eos_ids: int | Iterable[int] | None, name: str) -> Vocabulary:
        tokens = list(reading.tokens)
        if size is not None:
            size = _checked_size(size)
            if size < len(tokens):
                raise VocabularyError(
                    f"size={size} is too small: the tokenizer knows id {len(tokens) - 1}; "
                    f"give the width of the logits, at least {len(tokens)}, or resize the model's embeddings"
                )
            tokens.extend([None] * (size - len(tokens)))
        if eos_ids is None:
            if not reading.eos_ids:
                raise VocabularyError(
                    f"{name} names no end token; give eos_ids, as in eos_ids=model.generation_config.eos_token_id, or, "
                    "where there is no such argument, set tokenizer.eos_token or model.generation_config.eos_token_id"
                )
            eos_ids = reading.eos_ids
        if isinstance(eos_ids, (str, bytes, bytearray)):
            raise VocabularyError(f"eos_ids must be an id or a sequence of ids, such as [2], not {eos_ids!r}")
        ends = tuple(eos_ids) if isinstance(eos_ids, Iterable) else (eos_ids,)
        return cls(tuple(tokens), ends, reading.strip_leading_space, reading.notes, reading.special_tokens)

    def with_labels(self, labels: Mapping[str, Iterable[int]] | None = None, /, **more: Iterable[int]) -> Vocabulary:
        """The same vocabulary, with sets of tokens that a grammar may ask for: ``vocabulary.with_labels(IMAGE=ids)``.

        ``(?P<IMAGE>)`` in a pattern of a grammar with ``extensions=True`` is then any one of these tokens, whatever
        text they have, if any. Those named before stay, but for equal names. ``TEXT_TOKEN`` and ``PARAGRAPH_TOKEN``
        need not be given: they are the tokens whose text is whole characters, and of those the ones without a newline.

        Parameters
        ----------
        labels, **more : mapping of str to iterable of int
            The ids of each set, at least one; no end tokens.

        Raises
        ------
        VocabularyError
            An id is none, or an end token's; a name is none that a pattern can have.
        """
        joined = {**self.labels, **({} if labels is None else labels), **more}
        return replace(self, labels=MappingProxyType({name: tuple(ids) for name, ids in joined.items()}))

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> Vocabulary:
        """The same vocabulary, with names of special tokens beside those that it knows.

        Raises
        ------
        VocabularyError
            A name is no str, or an id is none.
        """
        return replace(self, special_tokens=MappingProxyType({**self.special_tokens, **special_tokens}))

    def ids_of(self, label: str) -> tuple[int, ...]:
        """The tokens of a label, ascending: one of `labels`, ``TEXT_TOKEN`` or ``PARAGRAPH_TOKEN``.

        Cost: of the latter some 20 ms for 131,072 tokens, the first time.

        Raises
        ------
        VocabularyError
            There is no such label.
        """
        if label in self.labels:
            return self.labels[label]
        if label in TEXT_LABELS:
            return self._text_labels[label]
        from pdacon.regular.groups import TEXT_GROUPS  # brings lark along, which no vocabulary needs

        known = sorted({*self.labels, *TEXT_LABELS})
        raise VocabularyError(
            f"this vocabulary has no label {label}; {did_you_mean(label, [*known, *TEXT_GROUPS])}give it one, as in "
            f"vocabulary.with_labels({label}=ids) (it has {', '.join(known)})"
        )

    @cached_property
    def _text_labels(self) -> dict[str, tuple[int, ...]]:
        return text_labels(self.tokens)

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

    @cached_property
    def full_fingerprint(self) -> str:
        """The SHA-256, in hexadecimal, of all that a constraint can depend on: names and the leading space, too."""
        names = (self.strip_leading_space, sorted(self.labels.items()), sorted(self.special_tokens.items()))
        return hashlib.sha256(f"{self.fingerprint} {names!r}".encode("utf-8", "surrogatepass")).hexdigest()

    def decode(self, ids: Iterable[int]) -> Text:
        """Concatenate the bytes of the given ids; ids without text add nothing.

        Raises
        ------
        VocabularyError
            An id is negative, not below `size`, or no integer.
        """
        pieces = []
        for i in ids:
            try:
                known = 0 <= operator.index(i) < self.size
            except TypeError:
                raise VocabularyError(f"{i!r:.40} is not the id of a token") from None
            if not known:
                raise VocabularyError(
                    f"token {i} is not in this vocabulary of {self.size} tokens (0 to {self.size - 1})"
                )
            pieces.append(self.tokens[i] or b"")
        return b"".join(pieces)

    def __len__(self) -> int:
        """As `size`."""
        return self.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (
            self.eos_ids == other.eos_ids
            and self.strip_leading_space == other.strip_leading_space
            and self.labels == other.labels
            and self.tokens == other.tokens
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"<Vocabulary: {self.size} tokens, eos_ids={list(self.eos_ids)}, fingerprint {self.fingerprint[:12]}>"

    def _repr_html_(self) -> str:
        """What it is, its special tokens, and what is said of it."""
        lines = [repr(self)]
        special = [f"{name} {token}" for name, token in islice(self.special_tokens.items(), _SHOWN)]
        more = ", ..." if len(self.special_tokens) > _SHOWN else ""
        lines += [f"special tokens: {', '.join(special)}{more}"] if special else []
        return preformatted("\n".join([*lines, *self.notes]))

    def __reduce__(self) -> tuple[Any, ...]:
        # What is derived (the fingerprint, the native trie) is not pickled.
        own = (self.tokens, self.eos_ids, self.strip_leading_space, self.notes)
        return _restored, (type(self), own, dict(self.special_tokens), dict(self.labels))


def _restored(kind: type[Vocabulary], own: tuple[Any, ...], names: dict[str, int], labels: Any) -> Vocabulary:
    tokens, eos_ids, strip_leading_space, notes = own
    return kind(tokens, eos_ids, strip_leading_space, notes, names, labels)


@cache
def _bytes() -> Vocabulary:
    return Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,))


def _wrong_token(tokens: list[Any]) -> VocabularyError:
    index, token = next((i, t) for i, t in enumerate(tokens) if type(t) not in (bytes, type(None)))
    advice = "; encode it, as in token.encode()" if isinstance(token, str) else ""
    return VocabularyError(f"token {index} is {type(token).__name__} {token!r:.40}, not bytes or None{advice}")


def _checked_size(given: Any) -> int:
    try:
        size = operator.index(given)
    except TypeError:
        raise VocabularyError(f"size must be a number of ids, not {given!r:.40}") from None
    if size > MOST_IDS:
        raise VocabularyError(f"size={size} is too large; a vocabulary has at most {MOST_IDS} ids")
    return size


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
