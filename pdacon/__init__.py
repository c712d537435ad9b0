"""Constrained decoding with grammars: the public names and nothing else.

Each name is loaded at its first use, so that ``import pdacon`` costs nothing and a command starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from pdacon.compiling import compile
    from pdacon.composition import Limits
    from pdacon.constraint import Constraint
    from pdacon.determinism import DeterminismReport, Finding, check
    from pdacon.detokenizer import Vocabulary
    from pdacon.errors import (
        ArtifactError,
        CancelledError,
        DrawingError,
        EmptyLanguageError,
        GrammarError,
        GrammarSyntaxError,
        LimitExceededError,
        MatcherError,
        NondeterministicGrammarError,
        PdaconError,
        SchemaError,
        UnsupportedGrammarError,
        VocabularyError,
    )
    from pdacon.grammar import Grammar
    from pdacon.grammar.indentation import FixedWidthIndenter
    from pdacon.matching import Explanation, Matcher, fill_bitmasks, mask_ids

__all__ = [
    "ArtifactError",
    "CancelledError",
    "Constraint",
    "DeterminismReport",
    "DrawingError",
    "EmptyLanguageError",
    "Explanation",
    "Finding",
    "FixedWidthIndenter",
    "Grammar",
    "GrammarError",
    "GrammarSyntaxError",
    "LimitExceededError",
    "Limits",
    "Matcher",
    "MatcherError",
    "NondeterministicGrammarError",
    "PdaconError",
    "SchemaError",
    "UnsupportedGrammarError",
    "Vocabulary",
    "VocabularyError",
    "check",
    "compile",
    "fill_bitmasks",
    "mask_ids",
]

_ROOMS = {
    "Constraint": "constraint",
    "DeterminismReport": "determinism",
    "Explanation": "matching",
    "Finding": "determinism",
    "FixedWidthIndenter": "grammar.indentation",
    "Grammar": "grammar",
    "Limits": "composition",
    "Matcher": "matching",
    "Vocabulary": "detokenizer",
    "check": "determinism",
    "compile": "compiling",
    "fill_bitmasks": "matching",
    "mask_ids": "matching",
}
# `pdacon.errors.GrammarError` and its like need no import of their own.
_MODULES = frozenset({*_ROOMS.values(), "drawing", "errors", "frontends", "lalr", "lexer", "pda"})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("pdacon")
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_ROOMS.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({name for name in globals() if name.startswith("__")}.union(__all__, _MODULES))
