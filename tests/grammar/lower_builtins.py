"""Write the built-in grammars into the package as they are when they are lowered.

    python tests/grammar/lower_builtins.py [NAME ...]

Run it in the source tree, with that version installed, after a text in ``grammars/`` has changed, or what the core
makes of one: a test says when. Without names all are written.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from hashlib import sha256
from pathlib import Path

from pdacon import Grammar, Limits, Vocabulary
from pdacon.artifact.lowered_builtins import compressed, encode_builtin
from pdacon.base.cancelling import Watch
from pdacon.base.cautions import held
from pdacon.front.stages import composed
from pdacon.grammar.builtin import builtin_names, builtin_options, builtin_source, lowered_path
from pdacon.regular.ordered import unicode_sets

_AS = "UNICODE_VERSION"


def content(name: str, unicode_versions: tuple[str, ...] = ()) -> bytes:
    """What the file of a grammar has to hold, made of the grammar's text."""
    text, path = builtin_source(name)
    grammar = Grammar.from_lark(text, source_path=path, **builtin_options(name)).data
    with Watch(0) as watch, held() as cautions:
        pdas = composed(grammar, Vocabulary.bytes(), Limits(), watch)
    if cautions or any(pda.empty_language() for pda in pdas):
        raise ValueError(f"{name}: a start without sentences, or warnings: {cautions}")
    return encode_builtin(name, grammar, pdas, unicode_versions)


def main(names: list[str]) -> None:
    by_version = {version: _digests(version, names) for version in _shipped_versions()}
    own = unicodedata.unidata_version
    for name in names:
        alike = [version for version in by_version if by_version[version][name] == by_version[own][name]]
        versions = () if len(alike) == len(by_version) else tuple(alike)
        lowered = compressed(content(name, versions))
        lowered_path(name).write_bytes(lowered)
        print(f"{name}: {len(lowered):,} bytes{', of Unicode ' + ', '.join(versions) if versions else ''}")


def _shipped_versions() -> list[str]:
    folder = Path(unicode_sets.__file__).with_name("unicode_data")
    return sorted({path.stem for path in folder.glob("*.txt")} | {unicodedata.unidata_version})


def _digests(version: str, names: list[str]) -> dict[str, str]:
    """What the contents would be with another version of Unicode, in a process of its own."""
    environment = {**os.environ, _AS: version}
    command = [sys.executable, __file__, *names]
    digests: dict[str, str] = json.loads(subprocess.run(command, env=environment, stdout=-1, check=True).stdout)
    return digests


if __name__ == "__main__":
    chosen = sys.argv[1:] or builtin_names()
    if _AS in os.environ:
        unicodedata.unidata_version = os.environ[_AS]  # type: ignore[misc]
        print(json.dumps({name: sha256(content(name)).hexdigest() for name in chosen}))
    else:
        main(chosen)
