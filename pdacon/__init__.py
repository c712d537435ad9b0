"""Constrained decoding with grammars: the public names and nothing else.

Each name is loaded at its first use, so that ``import pdacon`` costs nothing and a command starts at once. Type
checkers see the names as imports, so that one that there is not is an error for them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdacon.base.cancelling import time_limit
    from pdacon.base.limits import Limits
    from pdacon.decoding.pipeline import Pipeline
    from pdacon.detokenizer import Vocabulary
    from pdacon.errors import (
        ArtifactError,
        CancelledError,
        DrawingError,
        EmptyLanguageError,
        GrammarError,
        GrammarSyntaxError,
        GrammarWarning,
        IncompleteWarning,
        LimitExceededError,
        MatcherError,
        NondeterministicGrammarError,
        PdaconError,
        SchemaError,
        UnsupportedGrammarError,
        UnsupportedSchemaError,
        UnsupportedTypeError,
        VocabularyError,
    )
    from pdacon.front.caching import CompileCache
    from pdacon.front.checking import check
    from pdacon.front.compiling import compile
    from pdacon.front.constraint import Constraint
    from pdacon.front.grammar import Grammar
    from pdacon.front.report import DeterminismReport
    from pdacon.frontends.json_schema import Spelling
    from pdacon.frontends.partial_values import PartialInstance
    from pdacon.frontends.tool_formats import Answer, AnswerReader
    from pdacon.frontends.types import Call
    from pdacon.grammar.indentation import FixedWidthIndenter
    from pdacon.integrations.huggingface.generation import generate
    from pdacon.integrations.huggingface.generator import Generator
    from pdacon.integrations.huggingface.results import Generation
    from pdacon.matching import Budget, Matcher, fill_bitmasks
    from pdacon.regular import RegularSet

    __version__: str

__all__ = [
    "Answer",
    "AnswerReader",
    "ArtifactError",
    "Budget",
    "Call",
    "CancelledError",
    "CompileCache",
    "Constraint",
    "DeterminismReport",
    "DrawingError",
    "EmptyLanguageError",
    "FixedWidthIndenter",
    "Generation",
    "Generator",
    "Grammar",
    "GrammarError",
    "GrammarSyntaxError",
    "GrammarWarning",
    "IncompleteWarning",
    "LimitExceededError",
    "Limits",
    "Matcher",
    "MatcherError",
    "NondeterministicGrammarError",
    "PartialInstance",
    "PdaconError",
    "Pipeline",
    "RegularSet",
    "SchemaError",
    "Spelling",
    "UnsupportedGrammarError",
    "UnsupportedSchemaError",
    "UnsupportedTypeError",
    "Vocabulary",
    "VocabularyError",
    "check",
    "compile",
    "fill_bitmasks",
    "generate",
    "time_limit",
]

_ROOMS = {
    "Answer": "frontends.tool_formats",
    "AnswerReader": "frontends.tool_formats",
    "Budget": "matching",
    "Call": "frontends.types",
    "CompileCache": "front.caching",
    "Constraint": "front.constraint",
    "DeterminismReport": "front.report",
    "FixedWidthIndenter": "grammar.indentation",
    "Generation": "integrations.huggingface",
    "Generator": "integrations.huggingface",
    "Grammar": "front.grammar",
    "Limits": "base.limits",
    "Matcher": "matching",
    "PartialInstance": "frontends.partial_values",
    "Pipeline": "decoding",
    "RegularSet": "regular",
    "Spelling": "frontends.json_schema",
    "Vocabulary": "detokenizer",
    "check": "front.checking",
    "compile": "front.compiling",
    "fill_bitmasks": "matching",
    "generate": "integrations.huggingface",
    "time_limit": "base.cancelling",
}
# `pdacon.errors.GrammarError` and its like need no import of their own.
_MODULES = frozenset(
    {
        *_ROOMS.values(),
        *("determinism", "drawing", "errors", "filters", "frontends", "grammar"),
        *("integrations", "lalr", "lexer", "matching", "pda"),
    }
)

if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

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
    return sorted([*__all__, "__version__"])
