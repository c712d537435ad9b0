"""The grammars that come with pdacon, as package data."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SUFFIX = ".lark"


def builtin_names() -> list[str]:
    """The names that :meth:`Grammar.builtin` accepts, sorted."""
    return sorted(entry.name.removesuffix(_SUFFIX) for entry in _folder().iterdir() if entry.name.endswith(_SUFFIX))


def builtin_source(name: str) -> tuple[str, str]:
    """The text of a built-in grammar, and its path.

    Raises
    ------
    ValueError
        If there is no such grammar.
    """
    if name not in (known := builtin_names()):
        near = get_close_matches(name, known)
        meant = f"did you mean {' or '.join(near)}? There" if near else "there"
        raise ValueError(f"no built-in grammar {name!r}; {meant} are {', '.join(known)}")
    resource = _folder() / (name + _SUFFIX)
    return resource.read_text(encoding="utf-8"), str(resource)


def _folder() -> Traversable:
    installed = files("pdacon") / "grammars"
    # In an editable install the package is the source tree, where the grammars lie beside it.
    return installed if installed.is_dir() else Path(__file__).parents[2] / "grammars"
