"""The grammars that come with pdacon, as package data."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdacon.base.quoting import did_you_mean
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.model import Indentation

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SUFFIX = ".lark"
_LOWERED = ".pda.z"
_FROM_FILES = re.compile(r"%import\s+\.(\w+)?")

# Beside brackets and braces those that end or begin the text of a formatted string, in its four kinds of quotes.
_OPENING = ("FIELD", "FIELD_", "LONG_FIELD", "LONG_FIELD_")
_RAW = ("RAW_FIELD", "RAW_FIELD_", "LONG_RAW_FIELD", "LONG_RAW_FIELD_")
_NESTED = ("NESTED_FIELD", "NESTED_FIELD_", "LONG_NESTED_FIELD", "LONG_NESTED_FIELD_")
_CLOSING = ("END_FIELD", "END_FIELD_", "LONG_END_FIELD", "LONG_END_FIELD_")
_PYTHON = Indentation(
    NL_type="_NEWLINE",
    OPEN_PAREN_types=tuple(sorted(("LBRACE", "LPAR", "LSQB", *_OPENING, *_RAW, *_NESTED))),
    CLOSE_PAREN_types=tuple(sorted(("RBRACE", "RPAR", "RSQB", *_CLOSING))),
    INDENT_type="_INDENT",
    DEDENT_type="_DEDENT",
    tab_len=8,
)
# What is in brackets is a block, so that they are no parentheses.
_JSON = Indentation(
    NL_type="_NL",
    OPEN_PAREN_types=(),
    CLOSE_PAREN_types=(),
    INDENT_type="_INDENT",
    DEDENT_type="_DEDENT",
    tab_len=8,
    indent_len=2,
)
_OPTIONS: dict[str, dict[str, Any]] = {
    "json_pretty": {"postlex": _JSON},
    "json_pretty4": {"postlex": replace(_JSON, indent_len=4)},
    "python": {"postlex": _PYTHON},
    "python_expression": {"postlex": _PYTHON},
    "python_function": {"postlex": _PYTHON},
    "python_spaces": {"postlex": replace(_PYTHON, indent_len=4)},
}


def builtin_names() -> list[str]:
    """The names that :meth:`Grammar.builtin` accepts, sorted; files with a ``_`` first are imported only."""
    return list(_names())


def builtin_descriptions() -> dict[str, str]:
    """What each of them is, in the sentence that its file begins with."""
    return {name: _first_sentence(_text(name)) for name in builtin_names()}


def builtin_source(name: str) -> tuple[str, str]:
    """The text of a built-in grammar, and its path.

    Raises ValueError: if there is no such grammar. TypeError: if the name is no str.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a built-in grammar must be a str such as 'json', not {type(name).__name__}")
    if name not in (known := builtin_names()):
        raise ValueError(f"no built-in grammar {name!r}; {did_you_mean(name, known)}there are {', '.join(known)}")
    return _text(name), str(_folder() / (name + _SUFFIX))


def builtin_options(name: str) -> dict[str, Any]:
    """The options of :meth:`Grammar.from_lark` that a built-in grammar is made for."""
    return dict(_OPTIONS.get(name, {}))


def imports_files(text: str) -> bool:
    """Whether a text in Lark's language may import from other files than Lark's own, if it has no ``import_paths``."""
    return _FROM_FILES.search(text) is not None


def builtin_digest(name: str) -> str:
    """SHA-256 (hex) of all that a built-in grammar is made of: its text, what that imports, and its options."""
    names = [name]
    for one in names:  # grows
        names += [other for other in _FROM_FILES.findall(_text(one)) if other not in names]
    parts = [repr(builtin_options(name)), *map(_text, names)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def lowered_path(name: str) -> Path:
    """Where a built-in grammar lies lowered; see `pdacon.composition.lowered_builtins`."""
    return Path(str(_folder() / (name + _LOWERED)))


def builtin_name(grammar: GrammarData) -> str | None:
    """The name of the built-in grammar that this one is, with whatever options; None if it is none of them."""
    name = grammar.source_path
    return name if name in _names() and grammar.source == _text(name) else None


def is_packaged(path: object) -> bool:
    """Whether a file lies where the built-in grammars do."""
    return isinstance(path, str) and os.path.dirname(path) == str(_folder())  # noqa: PTH120 (paths are strings here)


def shown_path(path: str) -> str:
    """How a file is called in reports: by its path, or a built-in grammar by its name."""
    name = os.path.basename(path)  # noqa: PTH119
    return name.removesuffix(_SUFFIX) if is_packaged(path) and name.endswith(_SUFFIX) else path


def _first_sentence(text: str) -> str:
    comment = re.match(r"(?://.+\n)+", text)
    assert comment is not None, "each of these files begins with a comment that says what it is"
    paragraph = " ".join(re.sub(r"(?m)^//", "", comment.group()).split())
    return re.split(r"\.(?:\s|$)", paragraph)[0].rstrip(":")


@cache
def _names() -> tuple[str, ...]:
    folder = _folder()  # a path, unless the package is in an archive; a list of names costs a tenth of one of paths
    names = os.listdir(folder) if isinstance(folder, Path) else [entry.name for entry in folder.iterdir()]  # noqa: PTH208
    listed = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX) and not name.startswith("_"))
    return tuple(sorted(listed))


@cache
def _text(name: str) -> str:
    return (_folder() / (name + _SUFFIX)).read_text(encoding="utf-8")


@cache
def _folder() -> Traversable:
    package = Path(__file__).parents[1]
    # In an editable install the package is the source tree, where the grammars lie beside it.
    for folder in (package / "grammars", package.parent / "grammars"):
        if folder.is_dir():
            return folder
    from importlib.resources import files  # half a millisecond, where the package is in an archive

    return files("pdacon") / "grammars"
