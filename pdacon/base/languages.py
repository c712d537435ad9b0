"""The languages that people write grammars in: how their files end, which way in reads them, what it can be asked for.

Grammars that are made of something else, such as types, have no language here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

SourceLanguage = Literal[
    "Lark",
    "JSON Schema",
    "YAML",
    "Python values",
    "regular expression",
    "choices",
    "regular set",
    "GBNF",
    "EBNF",
    "llguidance",
    "several grammars",
    "structural tag",
    "tool calls",
    "SQL schema",
]


@dataclass(frozen=True, slots=True)
class Language:
    """A language that grammars are written in.

    Attributes
    ----------
    way_in : str
        The method of `Grammar` that reads it.
    policies : tuple of str
        Which of the options ``conflicts`` and ``lookahead`` of `Grammar.from_lark` that has, too.
    ending : str
        How the name of a file in it ends; empty: as those in Lark's language do, which is any other ending.
    is_larks : bool
        Stock Lark reads it, so that what Lark does matters to its author, and rules may have priorities.
    defines : str
        What stands between the name of a rule and the rule; empty: it has no rules.
    """

    way_in: str
    policies: tuple[str, ...]
    ending: str = ""
    is_larks: bool = False
    defines: str = ":"


_POLICIES = ("conflicts", "lookahead")
LANGUAGES: Mapping[SourceLanguage, Language] = MappingProxyType(
    {
        "Lark": Language("from_lark", _POLICIES, is_larks=True),
        "several grammars": Language("compose", _POLICIES, is_larks=True),
        "llguidance": Language("from_llguidance", _POLICIES),
        "GBNF": Language("from_gbnf", ("conflicts",), ".gbnf", defines="::="),
        "EBNF": Language("from_ebnf", ("conflicts",), ".ebnf", defines="::="),
        "JSON Schema": Language("from_json_schema", (), ".json", defines=""),
    }
)
BY_ENDING: Mapping[str, Language] = MappingProxyType(
    {language.ending: language for language in LANGUAGES.values() if language.ending}
)
"""The languages of files with these endings; others are in Lark's, or in llguidance's if they say so."""
LLGUIDANCE = LANGUAGES["llguidance"]

_SAYS_LLGUIDANCE = re.compile(r"(?:\s|(?://|#)[^\n]*\n)*%llguidance\b")


def is_llguidance(text: str) -> bool:
    """Whether a text says that it is for llguidance: its first statement is ``%llguidance``."""
    return _SAYS_LLGUIDANCE.match(text) is not None


def has_bnf_rules(language: SourceLanguage) -> bool:
    """Whether rules are written ``name ::= ...`` there, with names that Lark need not take."""
    return language in LANGUAGES and LANGUAGES[language].defines == "::="
