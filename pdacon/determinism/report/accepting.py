"""Says with which option a finding is accepted as it is, where the way to the grammar has such an option.

In: a grammar. Out: part of a sentence; nothing for a schema, a type and the like, which have no such option. The
command line and the editor put their own spelling in the place of the argument.
"""

from __future__ import annotations

from pdacon.base.languages import LANGUAGES
from pdacon.grammar import GrammarData


def is_larks(grammar: GrammarData) -> bool:
    """Whether stock Lark would read the grammar, so that what Lark does matters to its author."""
    return grammar.language in LANGUAGES and LANGUAGES[grammar.language].is_larks


def accepting_choice(grammar: GrammarData) -> str | None:
    """How the author has a choice made that the grammar leaves open; None if there is no such option."""
    if not _has(grammar, "conflicts"):
        return None
    return 'accept Lark\'s choice with conflicts="shift"' if is_larks(grammar) else 'settle it with conflicts="shift"'


def accepting_loss(grammar: GrammarData) -> str | None:
    """How the author gives up the texts whose lexemes end too late; None if there is no such option."""
    return 'accept the loss with lookahead="commit"' if _has(grammar, "lookahead") else None


def _has(grammar: GrammarData, policy: str) -> bool:
    return grammar.language in LANGUAGES and policy in LANGUAGES[grammar.language].policies
