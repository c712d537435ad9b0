"""The decoder of a Hugging Face tokenizer as a rule per token: what a token adds to a text, wherever it stands.

A decoder of the `tokenizers` library is a pipeline over the list of all tokens of a text. A vocabulary needs what *one*
token adds, so only pipelines are read in which that does not depend on the neighbours, except that the first
token of a text may have its own rule. The shape that remains covers what models use:

    (Replace | Metaspace | WordPiece)*  [ByteLevel | ByteFallback]  Fuse*  [Strip one leading space]

After `read_decoder` there is no stage whose meaning is unknown: any other is refused by name.

Sources: the `tokenizers` library's documentation of its decoders, and their behaviour, which the tests probe.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pdacon.detokenizer.byte_level import bytes_of_all
from pdacon.errors import VocabularyError

WAY_OUT = "spell the tokens out with pdacon.Vocabulary.from_tokens"

Words = list[str]
_BYTE = re.compile(r"<0x(\+?[0-9A-Fa-f]+)>")


@dataclass(frozen=True, slots=True)
class Decoder:
    """What a decoder pipeline does to each token."""

    # The stages, by the names that they have in tokenizer.json; empty: there is no decoder.
    names: tuple[str, ...] = ()
    # From the tokens of a vocabulary to what each adds after another one, and at the start of a text. Before bytes are
    # made of them.
    inner: tuple[Callable[[Words], Words], ...] = ()
    first: tuple[Callable[[Words], Words], ...] = ()
    raw: str = ""  # How the rest becomes bytes: "" (UTF-8), "ByteLevel" or "ByteFallback"
    strips: bool = False  # Whether a space is taken away at the start of the text as a whole
    has_first_rule: bool = False  # Whether `first` is not `inner`

    def spell(self, words: Words, *, first: bool = False) -> list[bytes]:
        """Return what each word adds to a text that has begun, or (`first`) to an empty one.

        The space that `strips` takes away is still there.
        """
        for stage in self.first if first else self.inner:
            words = stage(words)
        return _RAW[self.raw](words)

    def is_raw(self, word: str) -> bool:
        """Whether a word stands for one byte that is no text of its own (``<0xE4>`` with byte fallback)."""
        return self.raw == "ByteFallback" and _fallback_byte(word) is not None

    def __str__(self) -> str:
        return " + ".join(self.names) or "no decoder"


def read_decoder(decoder: Any) -> Decoder:
    """Read the pipeline of a ``tokenizers.Tokenizer.decoder``, which may be None.

    Raises VocabularyError: a stage makes what a token adds depend on its neighbours, or is unknown.
    """
    if decoder is None:  # the tokens are joined by spaces
        return Decoder(inner=(lambda words: [" " + word for word in words],), has_first_rule=True)
    try:
        stages = list(flattened(json.loads(decoder.__getstate__()), "decoders"))
    except Exception as error:  # the library raises Exception itself for decoders written in Python
        raise VocabularyError(f"the decoder of this tokenizer cannot say what it does ({error}); {WAY_OUT}") from error
    state = _Pipeline(tuple(str(stage.get("type")) for stage in stages))
    for stage in stages:
        state.add(stage)
    return state.decoder()


def flattened(step: dict[str, Any] | None, parts: str) -> Iterator[dict[str, Any]]:
    """The steps of a decoder, normalizer or pre-tokenizer, and of sequences of them, whose ``parts`` are called so."""
    if step is not None and step.get("type") == "Sequence":
        for inner in step[parts]:
            yield from flattened(inner, parts)
    elif step is not None:
        yield step


@dataclass(slots=True)
class _Pipeline:
    """The stages read so far."""

    names: tuple[str, ...]
    inner: list[Callable[[Words], Words]] = field(default_factory=list)
    first: list[Callable[[Words], Words]] = field(default_factory=list)
    raw: str = ""
    fused: bool = False
    strips: bool = False
    has_first_rule: bool = False

    def add(self, stage: dict[str, Any]) -> None:
        readers: dict[str, Callable[[dict[str, Any]], None]] = {
            "Replace": self._replace,
            "Metaspace": self._metaspace,
            "WordPiece": self._word_piece,
            "ByteLevel": self._byte_level,
            "ByteFallback": self._byte_fallback,
            "Fuse": self._fuse,
            "Strip": self._strip,
        }
        name = str(stage.get("type"))
        if name not in readers:
            raise self.refusal(_REASONS.get(name, f"the stage {name} is unknown"))
        readers[name](stage)

    def decoder(self) -> Decoder:
        return Decoder(self.names, tuple(self.inner), tuple(self.first), self.raw, self.strips, self.has_first_rule)

    def refusal(self, reason: str) -> VocabularyError:
        return VocabularyError(f"the decoder {' + '.join(self.names)} is not supported: {reason}; {WAY_OUT}")

    def _before_bytes(self, stage: dict[str, Any]) -> None:
        if self.raw or self.fused:
            raise self.refusal(
                f"{stage['type']} comes after {self.raw or 'Fuse'}, so it acts on text that several tokens spell"
            )

    def _replace(self, stage: dict[str, Any]) -> None:
        self._before_bytes(stage)
        pattern, content = stage["pattern"].get("String"), stage["content"]
        if not pattern:
            raise self.refusal("Replace takes a regular expression")

        def replace(words: Words) -> Words:
            return [word.replace(pattern, content) for word in words]

        self.inner.append(replace)
        self.first.append(replace)

    def _metaspace(self, stage: dict[str, Any]) -> None:
        self._before_bytes(stage)
        mark = stage["replacement"]
        # tokenizer.json of old has add_prefix_space instead.
        scheme = stage.get("prepend_scheme") or ("always" if stage.get("add_prefix_space", True) else "never")
        self.inner.append(lambda words: [word.replace(mark, " ") for word in words])
        if scheme == "never":
            self.first.append(self.inner[-1])
        else:
            self.first.append(lambda words: [word.replace(mark, "") for word in words])
            self.has_first_rule = True

    def _word_piece(self, stage: dict[str, Any]) -> None:
        self._before_bytes(stage)
        prefix, clean = stage["prefix"], _clean_up if stage["cleanup"] else _as_it_is
        self.inner.append(
            lambda words: [
                clean(word.replace(prefix, "", 1) if word.startswith(prefix) else " " + word) for word in words
            ]
        )
        self.first.append(lambda words: [clean(word) for word in words])
        self.has_first_rule = True

    def _byte_level(self, stage: dict[str, Any]) -> None:
        self._before_bytes(stage)
        self.raw, self.fused = "ByteLevel", True

    def _byte_fallback(self, stage: dict[str, Any]) -> None:
        self._before_bytes(stage)
        self.raw = "ByteFallback"

    def _fuse(self, stage: dict[str, Any]) -> None:
        self.fused = True

    def _strip(self, stage: dict[str, Any]) -> None:
        if stage["start"] == stage["stop"] == 0:
            return
        once = stage["start"] == 1 and not stage["stop"] and stage["content"] == " "
        if not (once and self.fused) or self.strips or self.has_first_rule:
            raise self.refusal("Strip takes more away than one space at the start of the text")
        self.strips = True


_REASONS = {
    "BPEDecoder": "it drops the space after the last token, so what a token adds depends on whether another follows",
    "CTC": "it joins equal neighbours, so what a token adds depends on the one before",
}


def _as_it_is(word: str) -> str:
    return word


def _clean_up(word: str) -> str:
    """Take away the space before punctuation and English contractions, as the WordPiece and CTC decoders do."""
    if _DIRTY.search(word):  # hardly ever
        for dirty, clean in _CLEAN:
            word = word.replace(dirty, clean)
    return word


_CLEAN = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)
_DIRTY = re.compile("|".join(re.escape(dirty) for dirty, _ in _CLEAN))


def _fallback_byte(word: str) -> bytes | None:
    if len(word) != 6 or not word.isascii():
        return None
    found = _BYTE.fullmatch(word)
    return None if found is None else bytes([int(found[1], 16)])


def _with_fallback(words: Words) -> list[bytes]:
    return [(_fallback_byte(word) if word[:3] == "<0x" else None) or word.encode() for word in words]


def _as_utf8(words: Words) -> list[bytes]:
    return [word.encode() for word in words]


_RAW: dict[str, Callable[[Words], list[bytes]]] = {
    "": _as_utf8,
    "ByteLevel": bytes_of_all,
    "ByteFallback": _with_fallback,
}
