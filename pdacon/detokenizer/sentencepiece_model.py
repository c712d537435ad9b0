"""SentencePiece models: the pieces of a ``.model`` file and what its decoder makes of them.

The file is one protobuf message, of which a handful of fields matter here, so it is read as it stands: the
sentencepiece package is not needed.

Source: sentencepiece_model.proto and the decoder of google/sentencepiece 0.2 (ids of types, defaults of options);
https://protobuf.dev/programming-guides/encoding (the wire format).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pdacon.detokenizer.raw_vocabulary import MOST_IDS, Reading, read_file, some
from pdacon.errors import VocabularyError

SPACE = "▁"

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE = 1, 2


@dataclass(frozen=True, slots=True)
class Model:
    """What matters of a ModelProto."""

    pieces: list[tuple[str, int]]  # Text and type of every id
    eos_piece: str  # The piece that ends a text
    # Options of the normalizer, by which the decoder decides what to strip.
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    denormalizes: bool  # Whether the decoder rewrites its text by a table
    scores: list[float] = field(default_factory=list)  # Of every id
    kind: int = UNIGRAM  # How texts are cut into pieces: `UNIGRAM`, `BPE`, or in another way
    charsmap: bytes = b""  # The table by which texts are rewritten before they are cut; empty: they are not
    space_is_suffix: bool = False  # Whether the space that is added to a text stands behind it


def model_bytes(source: Any) -> tuple[bytes, str]:
    """Return the serialised model of a path, bytes or SentencePieceProcessor, and a name for it.

    Raises VocabularyError: the file cannot be read, or it is something else.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), "the SentencePiece model"
    if hasattr(source, "serialized_model_proto"):
        return source.serialized_model_proto(), "the SentencePieceProcessor"
    return read_file(source, "a path, bytes or a SentencePieceProcessor"), str(source)


def reading_of(model: Model, name: str) -> Reading:
    """Return what every id of a model stands for.

    Raises VocabularyError: its decoder rewrites text.
    """
    if model.denormalizes:
        raise VocabularyError(
            f"{name} has a denormalizer, which rewrites the decoded text as a whole; "
            "spell the tokens out with pdacon.Vocabulary.from_tokens"
        )
    strips = model.add_dummy_prefix or model.remove_extra_whitespaces
    tokens = [_text(piece, kind) for piece, kind in model.pieces]
    ends = tuple(i for i, (piece, kind) in enumerate(model.pieces) if kind == CONTROL and piece == model.eos_piece)
    return Reading(tokens, ends, strips, tuple(_notes(model, tokens, strips)))


def _text(piece: str, kind: int) -> bytes | None:
    if kind in (NORMAL, USER_DEFINED):
        return piece.replace(SPACE, " ").encode()
    if kind == BYTE:
        return bytes([int(piece[3:5], 16)])
    return None


def _notes(model: Model, tokens: list[bytes | None], strips: bool) -> Iterator[str]:
    if not strips:
        return
    if any(kind == BYTE and text == b" " for (_, kind), text in zip(model.pieces, tokens, strict=True)):
        yield (
            "at the start of a text SentencePiece takes the space of a piece with ▁ away, but not the byte piece <0x20>"
        )
    bare = [piece for piece, _ in model.pieces if piece and not piece.strip(SPACE)]
    if model.remove_extra_whitespaces and bare:
        yield (
            "the model removes extra white space: after pieces that are a single space the next piece loses its "
            f"leading space too, while the text is empty: {some(bare)}"
        )


_KINDS = frozenset(range(NORMAL, BYTE + 1))
BYTE_PIECE = re.compile(r"<0x[0-9A-F]{2}>")


def parse(data: bytes, name: str) -> Model:
    """Read a serialised ModelProto.

    Raises VocabularyError: it is none. Nothing in it is trusted: lengths are checked before they are used.
    """
    try:
        model = _model(data)
    except (ValueError, IndexError, KeyError, struct.error) as error:
        raise VocabularyError(f"{name} is not a SentencePiece model: {error}") from error
    if not model.pieces:
        raise VocabularyError(f"{name} is not a SentencePiece model: it has no pieces")
    return model


def _model(data: bytes) -> Model:
    pieces: list[tuple[str, int]] = []
    scores: list[float] = []
    options: dict[int, dict[int, Any]] = {2: {}, 3: {}, 5: {}}  # trainer, normalizer, denormalizer
    for number, value in _fields(data):
        if number == 1:
            text, kind, score = _piece(value)
            pieces.append((text, kind))
            scores.append(score)
            if len(pieces) > MOST_IDS:
                raise ValueError(f"it has more than {MOST_IDS} pieces")
        elif number in options:
            options[number].update(_fields(_text_of(value)))
    trainer, normalizer, denormalizer = options.values()
    return Model(
        pieces,
        _text_of(trainer.get(47, b"</s>")).decode(),
        bool(normalizer.get(3, 1)),
        bool(normalizer.get(4, 1)),
        bool(denormalizer.get(2)),
        scores,
        int(trainer.get(3, UNIGRAM)),
        bytes(_text_of(normalizer.get(2, b""))),
        bool(trainer.get(24)),
    )


def _piece(message: Any) -> tuple[str, int, float]:
    text, kind, score = "", NORMAL, 0.0
    for number, value in _fields(_text_of(message)):
        if number == 1:
            text = _text_of(value).decode()
        elif number == 2:
            score = struct.unpack("<f", _text_of(value))[0]
        elif number == 3:
            kind = value
    if kind not in _KINDS:
        raise ValueError(f"the piece {text!r:.40} has the unknown type {kind}")
    if kind == BYTE and not BYTE_PIECE.fullmatch(text):
        raise ValueError(f"the byte piece {text!r:.40} names no byte")
    return text, kind, score


def _text_of(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a number stands where a text or a message should be")
    return value


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field of a protobuf message: int, or the bytes of what has a length."""
    at, end = 0, len(message)
    while at < end:
        tag = message[at]
        at += 1
        if tag >= 0x80:
            tag, at = _varint(message, at - 1)
        wire = tag & 7
        if wire == 5:
            length = 4
        elif wire == 1:
            length = 8
        elif wire in (0, 2):
            length = message[at]
            at += 1
            if length >= 0x80:
                length, at = _varint(message, at - 1)
            if wire == 0:
                yield tag >> 3, length
                continue
        else:
            raise ValueError(f"at byte {at} there is no protobuf field")
        if length > end - at:
            raise ValueError(f"it is cut off: a field at byte {at} has {length} bytes, and {end - at} are left")
        yield tag >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError(f"at byte {at} a number does not end")
