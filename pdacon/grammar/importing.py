"""Where imported names are defined.

Lark reads imported files with builders of its own, which keep no places. So the files are found again, as Lark finds
them, and the definitions are looked for in their text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lark.load_grammar import EXT, PackageResource, stdlib_loader

from pdacon.base.quoting import did_you_mean
from pdacon.errors import Span
from pdacon.grammar.builtin import shown_path
from pdacon.grammar.loading import ImportStatement, RecordingBuilder, SourceText
from pdacon.grammar.model import Import

_STATEMENT = re.compile(
    r"^[ \t]*%import[ \t]+(?P<dot>\.?)(?P<path>\w+(?:\.\w+)*)"
    r"(?:[ \t]*\((?P<names>[^)]*)\)|[ \t]*->[ \t]*(?P<alias>\w+))?",
    re.MULTILINE,
)
_DEFINITION = (
    r"^[ \t]*(?:%(?:override|extend)[ \t]+)?[?!]*(?P<name>{})(?!\w)"
    r"(?:\{{[^}}\n]*\}})?(?:[ \t]*\.[ \t]*-?\d+)?[ \t]*:"
)
_LARKS_OWN = ("common", "lark", "python", "unicode")
_DEEPEST = 8  # files that import from each other


@dataclass(frozen=True, slots=True)
class Imports:
    """The imported names of one grammar, and the texts of the files that define them, by their path."""

    names: tuple[Import, ...]
    files: tuple[tuple[str, str], ...]


def find_imports(builder: RecordingBuilder) -> Imports:
    """Where the names that a main text has from other files are defined; left out where that is not found.

    Cost: each file is read once more, and searched for each name.
    """
    reader = _ImportReader(builder.import_paths)
    found = []
    for statement, names in builder.imports:
        for name in names:
            place, site = reader.place(name, statement), builder.spans.get(name)
            if place is not None and site is not None:
                own = name in statement.aliases.values()
                definition = place.definition
                found.append(Import(name, definition, place.packaged, site, None if own else place.original))
    return Imports(tuple(found), tuple(reader.used.items()))


def find_file(wanted: str, base_path: Any, import_paths: Sequence[Any]) -> tuple[Any, str] | None:
    """Lark's search: import_paths, then the folder of the importing file, then Lark's own grammars."""
    sources: list[Any] = [*import_paths, *([] if base_path is None else [base_path]), stdlib_loader]
    for source in sources:
        with suppress(OSError):
            if callable(source):
                path, text = source(base_path, wanted)
                return path, text
            joined = os.path.join(source, wanted)  # noqa: PTH118 (Lark's import paths are strings)
            return joined, Path(joined).read_text(encoding="utf-8")
    return None


def similar_file(wanted: str, import_paths: Sequence[Any], base_path: Any) -> str:
    """What may have been meant by the name of a file that there is none of."""
    folders = [*import_paths, *([] if base_path is None else [base_path])]
    files = [path.stem for folder in folders if isinstance(folder, str) for path in Path(folder or ".").glob(f"*{EXT}")]
    return did_you_mean(wanted.removesuffix(EXT), list(dict.fromkeys([*files, *_LARKS_OWN])))


def missing_import(name: str, builder: RecordingBuilder) -> tuple[str, str, list[str]] | None:
    """What a text imports to have a name, and the file does not define: Lark passes over such an import in silence.

    Returns: the name that is not there, the file as ``%import`` calls it, and the names that it does define.
    """
    defined = {str(one) for one in builder._definitions}
    for statement in statements_in(builder.source.text, builder.source.path or ""):
        for own, alias in statement.aliases.items():
            if not statement.dotted_path or alias in defined or not (alias == name or did_you_mean(name, [alias])):
                continue
            file = find_file(os.path.join(*statement.dotted_path) + EXT, statement.base_path, builder.import_paths)  # noqa: PTH118
            known = re.findall(_DEFINITION.format(r"\w+"), "" if file is None else file[1], re.MULTILINE)
            if file is not None and own not in known:
                return own, ".".join(statement.dotted_path), known
    return None


def import_of(name: str) -> str:
    """How to import a terminal that is in Lark's own library; empty for any other."""
    found = find_file("common" + EXT, None, ())
    if found is None or re.search(_DEFINITION.format(re.escape(name)), found[1], re.MULTILINE) is None:
        return ""
    return f"import it, on a line of its own: %import common.{name}"


def path_of(base: Any) -> str:
    """The path to show for a file: a string, or a resource of a package."""
    return shown_path(base) if isinstance(base, str) else "/".join(map(str, base))


def grammar_name(path: str) -> str:
    """What ``%import`` calls a file."""
    return os.path.basename(path).removesuffix(EXT)  # noqa: PTH119


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a definition's name stands, whether its file is part of a package, and the name as it stands there."""

    definition: Span
    packaged: bool
    original: str


class _ImportReader:
    def __init__(self, import_paths: Sequence[Any]) -> None:
        self._import_paths = import_paths
        self._files: dict[tuple[Any, ...], tuple[Any, SourceText] | None] = {}
        self.used: dict[str, str] = {}

    def place(self, name: str, statement: ImportStatement, depth: int = 0) -> _Place | None:
        original = _original(name, statement)
        file = self._read(statement)
        if original is None or file is None:
            return None
        base, source = file
        match = re.search(_DEFINITION.format(re.escape(original)), source.text, re.MULTILINE)
        if match is not None:
            self.used[path_of(base)] = source.text
            return _Place(source.span(*match.span("name")), not isinstance(base, str), original)
        inner = (self.place(original, other, depth + 1) for other in statements_in(source.text, base))
        return next(filter(None, inner), None) if depth < _DEEPEST else None

    def _read(self, statement: ImportStatement) -> tuple[Any, SourceText] | None:
        key = statement.dotted_path, statement.base_path
        if key not in self._files:
            wanted = os.path.join(*statement.dotted_path) + EXT  # noqa: PTH118
            found = find_file(wanted, statement.base_path, self._import_paths)
            self._files[key] = None if found is None else (found[0], SourceText(found[1], path_of(found[0])))
        return self._files[key]


def _original(name: str, statement: ImportStatement) -> str | None:
    """A name as the imported file has it. What was not asked for by name has the file's before it."""
    for own, alias in statement.aliases.items():
        if alias == name:
            return own
    hidden = "_" if name.startswith("_") else ""
    prefix = f"{hidden}{'__'.join(statement.dotted_path)}__"
    return hidden + name.removeprefix(prefix) if name.startswith(prefix) else None


def statements_in(text: str, base: Any) -> Iterator[ImportStatement]:
    """The ``%import`` statements of a text by their looks; ``base`` is its path."""
    for match in _STATEMENT.finditer(text):
        path = tuple(match["path"].split("."))
        aliases: Mapping[str, str]
        if match["names"] is None:
            *folder, own = path
            path, aliases = tuple(folder), {own: match["alias"] or own}
        else:
            names = [name.strip() for name in match["names"].split(",")]
            aliases = dict(zip(names, names, strict=True))
        if path:
            yield ImportStatement(path, _folder(base) if match["dot"] else None, aliases)


def _folder(base: Any) -> Any:
    if isinstance(base, str):
        return os.path.dirname(base)  # noqa: PTH120
    return PackageResource(base.pkg_name, os.path.dirname(base.path))  # noqa: PTH120
