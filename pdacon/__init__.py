"""Constrained decoding with grammars: the public names and nothing else."""

from pdacon.composition import Limits
from pdacon.constraint import Constraint, compile
from pdacon.determinism import DeterminismReport, Finding, check
from pdacon.detokenizer import Vocabulary
from pdacon.errors import (
    ArtifactError,
    CancelledError,
    EmptyLanguageError,
    GrammarError,
    GrammarSyntaxError,
    LimitExceededError,
    MatcherError,
    NondeterministicGrammarError,
    PdaconError,
    UnsupportedGrammarError,
    VocabularyError,
)
from pdacon.grammar import Grammar
from pdacon.matching import Matcher

__all__ = [
    "ArtifactError",
    "CancelledError",
    "Constraint",
    "DeterminismReport",
    "EmptyLanguageError",
    "Finding",
    "Grammar",
    "GrammarError",
    "GrammarSyntaxError",
    "LimitExceededError",
    "Limits",
    "Matcher",
    "MatcherError",
    "NondeterministicGrammarError",
    "PdaconError",
    "UnsupportedGrammarError",
    "Vocabulary",
    "VocabularyError",
    "check",
    "compile",
]
