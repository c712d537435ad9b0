"""The bytes of a constraint's file -> settings, automata, grammar and vocabulary; and back."""

from __future__ import annotations

import contextlib
import json
import mmap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast, get_args

from pdacon._native import _core
from pdacon.artifact.mapped_files import WAY_OUT
from pdacon.composition.token_pda import TRIES
from pdacon.detokenizer import Vocabulary
from pdacon.errors import ArtifactError, VocabularyError
from pdacon.filters import FILTERS, Prefix, TokenFilter
from pdacon.grammar import GrammarData


@dataclass(frozen=True)
class StoredSettings:
    """What a loaded constraint knows without a look at the arrays."""

    starts: tuple[str, ...]  # The grammar's start rules
    empty: frozenset[int]  # Which of them have no sentence
    name: str  # Where the grammar comes from
    size: int  # Tokens of the vocabulary
    # Fingerprints.
    grammar: str
    vocabulary: str
    # As in the `Vocabulary`.
    eos_ids: tuple[int, ...]
    strip_leading_space: bool
    notes: tuple[str, ...]
    pdacon: str  # The version that wrote it
    unicode: str  # The version of Unicode that ``\\w`` and its like followed when the grammar was compiled
    canonical: tuple[str, ...]  # ``prefix``, ``texts`` and ``left`` of the `TokenFilter`; empty: there is no filter


class StoredConstraint:
    """What was read from a file or from bytes; all but the settings on demand."""

    def __init__(
        self, memory: bytes | memoryview | mmap.mmap, name: str, verify: bool, trie: _core.Trie | None = None
    ) -> None:
        """Check as much as `Constraint.load` says. Raises ArtifactError, now and later with the name and a way out.

        ``trie``: of the vocabulary, where the memory is without.
        """
        self._name = name
        self._artifact = _core.load_artifact(memory, verify, TRIES, FILTERS, name, WAY_OUT, trie)
        text = self._artifact.settings()
        self.pdas = tuple(self._artifact.pdas())
        with self._named():
            self.settings = _read_settings(text)
            if len(self.pdas) != len(self.settings.starts):
                raise ArtifactError("the artifact is damaged: it has tables for other start rules")
            self.filter = self._filter()
        if verify:
            self.grammar()
            self.vocabulary()

    def _filter(self) -> TokenFilter | None:
        native, settings = self._artifact.filter(), self.settings.canonical
        if (native is None) != (not settings):
            raise ArtifactError("the artifact is damaged: its settings are for another filter")
        if native is None:
            return None
        prefix, texts, left = settings
        return TokenFilter(native, cast(Prefix, prefix), texts, left)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (ArtifactError, VocabularyError) as error:
            what = "" if isinstance(error, ArtifactError) else "the artifact is damaged: "
            raise ArtifactError(f"{self._name}: {what}{error}; {WAY_OUT}") from error

    def grammar(self) -> GrammarData:
        """The grammar, as it was compiled. Raises ArtifactError."""
        from pdacon.grammar.serialized import from_json

        text = self._artifact.grammar()
        with self._named():
            grammar = from_json(text)
            if grammar.options.start != self.settings.starts:
                raise ArtifactError("the artifact is damaged: its grammar has other start rules")
        return grammar

    def vocabulary(self) -> Vocabulary:
        """The vocabulary. Cost: some 10 ms for 131,072 tokens. Raises ArtifactError."""
        settings = self.settings
        tokens = tuple(self._artifact.tokens())
        with self._named():
            return Vocabulary(tokens, settings.eos_ids, settings.strip_leading_space, settings.notes)


@cache
def own_version() -> str:
    """The version of pdacon that runs, which is not that of a package installed over it meanwhile."""
    from importlib.metadata import version

    return version("pdacon")


def encode(
    grammar: GrammarData,
    vocabulary: Vocabulary,
    pdas: Sequence[_core.TokenPda],
    empty: frozenset[int],
    filter: TokenFilter | None,
    with_vocabulary: bool = True,
) -> bytes:
    """The file of a constraint. Raises ArtifactError."""
    from pdacon.grammar.serialized import to_json

    settings = {
        "pdacon": own_version(),
        "starts": grammar.options.start,
        "empty": sorted(empty),
        "name": grammar.source_path or "a grammar",
        "size": vocabulary.size,
        "grammar": grammar.fingerprint,
        "vocabulary": vocabulary.fingerprint,
        "eos_ids": vocabulary.eos_ids,
        "strip_leading_space": vocabulary.strip_leading_space,
        "notes": vocabulary.notes,
        "unicode": unicodedata.unidata_version,
        "canonical": [] if filter is None else [filter.prefix, filter.texts, filter.left],
    }
    if grammar.labels and not with_vocabulary:
        raise ArtifactError("a constraint of a grammar with labels is saved with its vocabulary, to which they belong")
    return _core.save_artifact(json.dumps(settings).encode(), to_json(grammar), list(pdas), with_vocabulary)


def _read_settings(text: bytes) -> StoredSettings:
    def texts(values: Any) -> tuple[str, ...]:
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise ValueError("not texts")
        return tuple(values)

    def numbers(values: Any) -> tuple[int, ...]:
        if not isinstance(values, list) or not all(type(value) is int for value in values):
            raise ValueError("not numbers")
        return tuple(values)

    try:
        given = json.loads(text)
        if type(given["size"]) is not int or type(given["strip_leading_space"]) is not bool:
            raise ValueError("size")
        name, grammar, vocabulary, pdacon, unicode = texts(
            [given[key] for key in ("name", "grammar", "vocabulary", "pdacon", "unicode")]
        )
        starts = texts(given["starts"])
        if not starts:
            raise ValueError("starts")
        canonical = texts(given["canonical"])
        if canonical and (len(canonical) != 3 or canonical[0] not in get_args(Prefix)):
            raise ValueError("canonical")
        return StoredSettings(
            starts=starts,
            empty=frozenset(numbers(given["empty"])),
            name=name,
            size=given["size"],
            grammar=grammar,
            vocabulary=vocabulary,
            eos_ids=numbers(given["eos_ids"]),
            strip_leading_space=given["strip_leading_space"],
            notes=texts(given["notes"]),
            pdacon=pdacon,
            unicode=unicode,
            canonical=canonical,
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ArtifactError(f"the artifact is damaged: its settings cannot be read ({error})") from error
