"""Methods that ask rooms above their own, such as `Grammar.accepts`, which compiles.

Data flows one way through the rooms, and no room imports one above it. For a user, though, what a grammar accepts is a
question to the grammar. Such a method calls a function of `pdacon.asking`, which lies above all rooms and is found by
name when it is called; nothing else of the room knows (docs/decisions/0017-questions-to-a-grammar.md).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def ask(question: str, /, *given: Any, **options: Any) -> Any:
    """Call the function of `pdacon.asking` that has this name."""
    return getattr(import_module("pdacon.asking"), question)(*given, **options)
