"""From an entry of the corpus to its text, out of what is installed; no package is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import lark
from corpus.registry import Entry


class NotInstalledError(Exception):
    """The package of an entry is not there."""


@dataclass(frozen=True)
class Source:
    """A grammar's text, and the options that both stock Lark and pdacon take."""

    text: str
    options: dict[str, Any]
    version: str
    texts: tuple[Path, ...]

    @cached_property
    def parser(self) -> lark.Lark:
        """Stock Lark's LALR parser, made once; raises what Lark raises."""
        return lark.Lark(self.text, parser="lalr", **self.options)


def read(entry: Entry) -> Source:
    """The grammar of an entry as it is installed."""
    try:
        package = distribution(entry.distribution)
    except PackageNotFoundError:
        raise NotInstalledError(f"{entry.distribution} is not installed") from None
    path = Path(str(package.locate_file(entry.file)))
    text = path.read_text(encoding="utf-8")
    options: dict[str, Any] = {"start": list(_starts(entry)), **entry.options}
    if entry.constants:
        strings = dict(_strings(text))
        text = "".join(strings[constant] for constant in entry.constants)
    else:
        options["source_path"] = str(path)
    if entry.import_paths:
        options["import_paths"] = [str(package.locate_file(folder)) for folder in entry.import_paths]
    folder = Path(str(package.locate_file("")))
    texts = tuple(sorted(path for pattern in entry.texts for path in folder.glob(pattern)))
    return Source(text, options, package.version, texts)


def _starts(entry: Entry) -> tuple[str, ...]:
    return (entry.start,) if isinstance(entry.start, str) else entry.start


def _strings(module: str) -> Iterator[tuple[str, str]]:
    """The strings that a module assigns, or gives to the call whose result it assigns, by target."""
    for statement in ast.parse(module).body:
        if not isinstance(statement, ast.Assign):
            continue
        value = statement.value
        if isinstance(value, ast.Call) and value.args:
            value = value.args[0]
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            for target in statement.targets:
                yield ast.unparse(target), value.value
