"""The grammars that come with pdacon, as package data."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdacon.grammar.model import Indentation

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SUFFIX = ".lark"

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
    names = (entry.name for entry in _folder().iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX) and not name.startswith("_"))


def builtin_source(name: str) -> tuple[str, str]:
    """The text of a built-in grammar, and its path.

    Raises
    ------
    ValueError
        If there is no such grammar.
    TypeError
        If the name is no str.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a built-in grammar must be a str such as 'json', not {type(name).__name__}")
    if name not in (known := builtin_names()):
        near = get_close_matches(name, known)
        meant = f"did you mean {' or '.join(near)}? There" if near else "there"
        raise ValueError(f"no built-in grammar {name!r}; {meant} are {', '.join(known)}")
    resource = _folder() / (name + _SUFFIX)
    return resource.read_text(encoding="utf-8"), str(resource)


def builtin_options(name: str) -> dict[str, Any]:
    """The options of :meth:`Grammar.from_lark` that a built-in grammar is made for."""
    return dict(_OPTIONS.get(name, {}))


def _folder() -> Traversable:
    installed = files("pdacon") / "grammars"
    # In an editable install the package is the source tree, where the grammars lie beside it.
    return installed if installed.is_dir() else Path(__file__).parents[2] / "grammars"
