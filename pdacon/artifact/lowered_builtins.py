"""The built-in grammars as they lie in the package: checked, lowered and composed with the 256 bytes.

In: the name of a built-in grammar. Out: its `LoweredBuiltin`, or nothing where the file is not for the texts that are
in the package, or not for this Python's Unicode: then the grammar is read and compiled like any other. A file is a
constraint's artifact without its vocabulary, compressed. ``tests/grammar/lower_builtins.py`` writes them, and a test
holds them against what the texts give.
"""

from __future__ import annotations

import json
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from pdacon._native import _core
from pdacon.composition.token_pda import TRIES, native_trie
from pdacon.detokenizer import Vocabulary
from pdacon.errors import ArtifactError
from pdacon.filters import FILTERS
from pdacon.grammar import GrammarData
from pdacon.grammar.builtin import builtin_digest, builtin_options, builtin_source, lowered_path
from pdacon.grammar.model import GrammarOptions

_WAY_OUT = "install pdacon again"


@dataclass(frozen=True, slots=True)
class LoweredBuiltin:
    """A built-in grammar, of which most is read when it is asked for, and its automata over the 256 bytes."""

    grammar: GrammarData
    pdas: tuple[_core.TokenPda, ...]


@cache
def lowered_builtin(name: str) -> LoweredBuiltin | None:
    """A built-in grammar as it lies in the package.

    Cost: `json` 0.2 ms, `sql` 3 ms, `python` 6 ms, most of it to decompress the file.

    Raises
    ------
    ArtifactError
        The file is damaged.
    """
    path = lowered_path(name)
    if not path.exists():
        return None
    try:
        content = decompressed(path.read_bytes())
    except zlib.error as error:
        raise ArtifactError(f"{path}: damaged ({error}); {_WAY_OUT}") from error
    trie = native_trie(Vocabulary.bytes())
    artifact = _core.load_artifact(content, False, TRIES, FILTERS, str(path), _WAY_OUT, trie)
    settings = json.loads(artifact.settings())
    versions = settings["unicode"]
    if settings["digest"] != builtin_digest(name) or (versions and unicodedata.unidata_version not in versions):
        return None
    text, source_path = builtin_source(name)

    def load() -> GrammarData:
        from pdacon.grammar.serialized import from_json

        return from_json(artifact.grammar())

    grammar = GrammarData.deferred(
        load,
        options=GrammarOptions(import_base=source_path, **builtin_options(name)),
        source=text,
        source_path=name,
        unenforced=(),
        language="Lark",
        labels=(),
        within=(),
        islands=(),
        values=None,
        parts=None,
        fingerprint=settings["fingerprint"],
    )
    return LoweredBuiltin(grammar, tuple(artifact.pdas()))


def encode_builtin(
    name: str, grammar: GrammarData, pdas: Sequence[_core.TokenPda], unicode_versions: Sequence[str]
) -> bytes:
    """The file of a built-in grammar, not compressed.

    Parameters
    ----------
    grammar : GrammarData
        As its text gives it, where the language of each start is not empty.
    pdas : sequence of TokenPda
        Of `Vocabulary.bytes`.
    unicode_versions : sequence of str
        Those of which the automata are; none: they are the same whatever the version.
    """
    from pdacon.grammar.serialized import to_json

    settings = {
        "digest": builtin_digest(name),
        "unicode": list(unicode_versions),
        "fingerprint": grammar.fingerprint,
    }
    bare = replace(grammar, source="", options=replace(grammar.options, import_base=None))
    return _core.save_artifact(json.dumps(settings).encode(), to_json(bare), list(pdas), with_tokens=False)


# Without zlib's own checksum, which takes a quarter of the time: the artifact has one for each of its sections.
_RAW_DEFLATE = -15


def compressed(content: bytes) -> bytes:
    """What is written: the size of the content, which saves copies when it is read, and the content."""
    deflate = zlib.compressobj(9, wbits=_RAW_DEFLATE)
    return len(content).to_bytes(8, "little") + deflate.compress(content) + deflate.flush()


def decompressed(stored: bytes) -> bytes:
    """What `compressed` was given. Raises zlib.error."""
    size = min(int.from_bytes(stored[:8], "little"), 1 << 24)
    return zlib.decompress(memoryview(stored)[8:], _RAW_DEFLATE, size)
