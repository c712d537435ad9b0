"""A text in a dialect -> Grammar."""

from __future__ import annotations

from pdacon.frontends.dialects.gbnf import EBNF, GBNF, read_rules
from pdacon.frontends.dialects.largest_terminals import lower
from pdacon.grammar import GrammarData


def gbnf_grammar(text: str, path: str | None) -> GrammarData:
    """See `Grammar.from_gbnf`."""
    return lower(read_rules(text, GBNF, "root", path))


def ebnf_grammar(text: str, start: str, path: str | None) -> GrammarData:
    """See `Grammar.from_ebnf`."""
    return lower(read_rules(text, EBNF, start, path))
