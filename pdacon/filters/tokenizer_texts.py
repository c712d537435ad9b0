"""Which texts a tokenizer gives back as they were, from what it does before it splits them.

A normalizer leaves some texts as they are, such as those in a normal form of Unicode, and no other text is ever
decoded. Added tokens are read before all else, wherever their text stands: no other tokens spell it.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdacon.base.limits import Limits
from pdacon.detokenizer.sentencepiece_model import SPACE, USER_DEFINED
from pdacon.errors import VocabularyError
from pdacon.filters.automata import without
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.filters.normal_forms import Form, normal_form, settled_characters, settled_texts
from pdacon.filters.normalizers import Changes, changes_of, changes_of_model
from pdacon.filters.spaces import Spaces, sentencepiece_of, spaces_of, without_marks
from pdacon.filters.word_pieces import is_word_piece
from pdacon.regular import RegularSet
from pdacon.regular.string_programs import utf8

_LIMITS = Limits(bytes=256 << 20)


def backend_of(tokenizer: Any) -> Any | None:
    """The `tokenizers.Tokenizer` in a tokenizer; None if there is none."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if isinstance(backend, type):
        return None
    return backend if hasattr(backend, "pre_tokenizer") and hasattr(backend, "to_str") else None


def ranked_of(tokenizer: Any) -> tuple[Any, int] | None:
    """The tiktoken encoding in a tokenizer, and the id of its first rank; None if there is none."""
    inside = getattr(getattr(tokenizer, "tokenizer", tokenizer), "instruct_tokenizer", None)
    inside = getattr(inside, "tokenizer", tokenizer)  # of a MistralTokenizer, or of transformers' wrapper of it
    if hasattr(inside, "id_to_byte_piece") and hasattr(inside, "num_special_tokens"):
        return inside._model, inside.num_special_tokens
    return (inside, 0) if hasattr(inside, "decode_single_token_bytes") else None


def changes_of_tokenizer(tokenizer: Any) -> Changes:
    """What a tokenizer changes in texts before it splits them, but for writing spaces as ▁ and putting one in front.

    Raises ValueError: a step is not known; the message names it. VocabularyError: it is no tokenizer, or one that does
    not say what it does.
    """
    if (model := sentencepiece_of(tokenizer)) is not None:
        return changes_of_model(model)
    backend = backend_of(tokenizer)
    if backend is None:
        if ranked_of(tokenizer) is None:
            raise VocabularyError(
                f"a {type(tokenizer).__name__} does not say what it does to texts; canonical, Normalized and "
                "unreachable take tokenizers of transformers (fast ones), tokenizers, tiktoken, sentencepiece and "
                "mistral-common"
            )
        return Changes()  # tiktoken and tekken read texts as they are
    normalizer, pre_tokenizer = _steps(backend)
    spaces = spaces_of(normalizer, pre_tokenizer)
    steps = [] if normalizer is None else [normalizer] if spaces is None else without_marks(normalizer)
    return changes_of(steps, single_spaces=spaces is not None and spaces.single)


def changes_or_refusal(caller: str, tokenizer: Any) -> Changes:
    """The same, or VocabularyError."""
    try:
        return changes_of_tokenizer(tokenizer)
    except ValueError as error:
        raise VocabularyError(f"{caller}: what the normalizer {error} does to texts is not known") from error


def form_of_tokenizer(tokenizer: Any) -> Form | None:
    """The normal form of a tokenizer that runs beside the grammar; None: there is none, or `texts_left` has it."""
    return changes_of_tokenizer(tokenizer).form if _keeps_form_beside(tokenizer) else None


def _keeps_form_beside(tokenizer: Any) -> bool:
    backend = backend_of(tokenizer)
    return backend is not None and not is_word_piece(backend) and spaces_of(*_steps(backend)) is None


def texts_left(tokenizer: Any) -> RegularSet | None:
    """The texts in which a tokenizer changes nothing and finds no added token that is not generated; None: all texts.

    Raises ValueError: see `changes_of_tokenizer`.
    """
    texts = texts_without_added_tokens(tokenizer)
    if (backend := backend_of(tokenizer)) is not None and is_word_piece(backend):
        return texts  # what it does to characters is asked when it is taken apart
    left = changes_of_tokenizer(tokenizer).texts(form=not _keeps_form_beside(tokenizer))
    if left is None or texts is None:
        return left if texts is None else texts
    return (left & texts).named(f"{left.name}, and {texts.name}")


def _steps(backend: Any) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    steps = (
        None if step is None else json.loads(step.__getstate__())
        for step in (backend.normalizer, backend.pre_tokenizer)
    )
    return next(steps), next(steps)


class AddedTokens(NamedTuple):
    """Tokens that the tokenizer reads before all else, wherever they stand."""

    # Those that may be generated where their text stands. The longest of the leftmost ones counts.
    emitted: dict[int, str]
    restarts: bool  # Whether they are read before texts are normalized, each piece between them by itself
    excluded: frozenset[str]  # What no text has: the others


def added_tokens(tokenizer: Any) -> AddedTokens:
    """The added tokens of a tokenizer.

    Special tokens have no text in a vocabulary, and texts that spell one are excluded. So are texts that spell what is
    read only as a whole word or with the blanks beside it, and, where some are read before the normalizer and some
    after it, the latter.
    """
    backend = backend_of(tokenizer)
    if backend is None:
        return _of_sentencepiece(tokenizer)
    if (spaces := spaces_of(*_steps(backend))) is not None:
        return _after_spaces(tokenizer, backend, spaces)
    if is_word_piece(backend):
        return _beside_words(backend)
    changes = changes_of_tokenizer(tokenizer)
    plain: dict[bool, dict[int, str]] = {False: {}, True: {}}
    excluded = set()
    silent = set(getattr(tokenizer, "all_special_ids", ()))
    for i, token in backend.get_added_tokens_decoder().items():
        if token.special and backend.encode_special_tokens:
            continue
        text = token.content
        if token.normalized and backend.normalizer is not None:
            text = backend.normalizer.normalize_str(text)
        blanks = token.lstrip or token.rstrip or changes.ends is not None
        if token.special or i in silent or token.single_word or blanks:
            excluded.add(text)
        else:
            plain[token.normalized][i] = text
    first = not plain[False]
    excluded.update(plain[not first].values())
    return AddedTokens(plain[first], not first, frozenset(excluded))


def _of_sentencepiece(tokenizer: Any) -> AddedTokens:
    model = sentencepiece_of(tokenizer)
    if model is None:
        return AddedTokens({}, False, frozenset())
    own = {i: word for i, (word, kind) in enumerate(model.pieces) if kind == USER_DEFINED}
    # They are looked for when spaces are ▁ already, so that one with a space is never found.
    found = {i: word.replace(SPACE, " ") for i, word in own.items() if " " not in word}
    return AddedTokens(found, False, frozenset([SPACE]))


def _beside_words(backend: Any) -> AddedTokens:
    """Of a WordPiece: after an added token a space is written, so no text that has one is given back."""
    excluded = set()
    for token in backend.get_added_tokens_decoder().values():
        normalizes = token.normalized and backend.normalizer is not None
        excluded.add(backend.normalizer.normalize_str(token.content) if normalizes else token.content)
    return AddedTokens({}, False, frozenset(excluded))


def _after_spaces(tokenizer: Any, backend: Any, spaces: Spaces) -> AddedTokens:
    """Of a tokenizer that writes spaces as ▁: no text has that character itself, since it would become a space.

    The best paths of a unigram model are of whole texts, so texts with added tokens are left out.
    """
    plain, excluded = {}, {SPACE}
    silent = set(getattr(tokenizer, "all_special_ids", ()))
    trims = changes_of_tokenizer(tokenizer).ends is not None
    is_unigram = type(backend.model).__name__ == "Unigram"
    for i, token in backend.get_added_tokens_decoder().items():
        if token.special and backend.encode_special_tokens:
            continue
        text = token.content
        if token.normalized and backend.normalizer is not None:
            text = backend.normalizer.normalize_str(text).replace(SPACE, " ")
        given_back = not (is_unigram or spaces.everywhere or token.special or i in silent or trims)
        if given_back and not (token.normalized or token.single_word or token.lstrip or token.rstrip):
            plain[i] = text
        else:
            excluded.add(text)
    return AddedTokens({i: text for i, text in plain.items() if SPACE not in text}, True, frozenset(excluded))


def texts_without_added_tokens(tokenizer: Any) -> RegularSet | None:
    """The texts in which no added token is spelled that is not generated; None: all texts."""
    excluded = added_tokens(tokenizer).excluded
    if not excluded:
        return None
    backend = backend_of(tokenizer)
    tokens = () if backend is None else backend.get_added_tokens_decoder().values()
    expected = {SPACE, *(token.content for token in tokens if token.special)}  # named last
    words = sorted(excluded, key=lambda word: (word in expected, word))
    return RegularSet(without(words), f"texts without the tokenizer's added tokens, such as {words[0]!r:.40}")


class TextArrays(NamedTuple):
    """The texts that a normalizer leaves as they are, as the core takes them; all empty: every text."""

    classes: NDArray[np.int32]  # int32[0x110000]: the class of each code point
    next: NDArray[np.int32]  # int32[states, classes]: the state after a character, or -1
    # uint8[0x110000]: the characters in front of which it does not matter what stands there.
    settled: NDArray[np.uint8]
    # offset, low, high, target, accepting: the automaton over bytes of texts that stay as they are after such a
    # character.
    star: tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32], NDArray[np.uint8]]


def text_arrays(form: Form | None, *, trivial: bool) -> TextArrays:
    """The texts in a normal form; None: every text, with an automaton that says so if it is to be ``trivial``."""
    numbers, bytes_ = np.empty(0, np.int32), np.empty(0, np.uint8)
    if form is None:
        star = (numbers, bytes_, bytes_, numbers, bytes_)
        classes, table = np.zeros(NUM_CODE_POINTS, np.int32), np.zeros(1, np.int32)
        return TextArrays(classes, table, bytes_, star) if trivial else TextArrays(numbers, numbers, bytes_, star)
    native = normal_form(form).native
    widths = np.diff(native.firsts, append=NUM_CODE_POINTS)
    classes = np.repeat(native.numbers, widths)
    classes[classes < 0] = native.num_classes  # of what no text has
    table = np.pad(native.table.reshape(-1, native.num_classes), ((0, 0), (0, 1)), constant_values=-1)
    settled = settled_texts(form)
    offset, low, high, target = utf8(settled, _LIMITS)
    accepting = np.zeros(len(offset) - 1, np.uint8)
    accepting[: len(settled)] = 1
    arrays = offset, low, high, target, accepting
    return TextArrays(classes, table.reshape(-1), settled_characters(form).astype(np.uint8), arrays)
