"""Says with which option a finding is accepted as it is, where the way to the grammar has such an option.

In: a grammar. Out: part of a sentence; nothing for a schema, a type and the like, which have no such option. The
command line and the editor put their own spelling in the place of the argument.
"""

from __future__ import annotations

from pdacon.grammar import GrammarData

_LARKS = frozenset({"Lark", "several grammars"})
_WITH_CONFLICTS = _LARKS | {"GBNF", "EBNF", "llguidance"}
_WITH_LOOKAHEAD = _LARKS | {"llguidance"}


def is_larks(grammar: GrammarData) -> bool:
    """Whether stock Lark would read the grammar, so that what Lark does matters to its author."""
    return grammar.language in _LARKS


def has_priorities(grammar: GrammarData) -> bool:
    """Whether a rule of the language that the author writes can have a priority."""
    return grammar.language in _LARKS


def accepting_choice(grammar: GrammarData) -> str | None:
    """How the author has a choice made that the grammar leaves open; None if there is no such option."""
    if grammar.language not in _WITH_CONFLICTS:
        return None
    return 'accept Lark\'s choice with conflicts="shift"' if is_larks(grammar) else 'settle it with conflicts="shift"'


def accepting_loss(grammar: GrammarData) -> str | None:
    """How the author gives up the texts whose lexemes end too late; None if there is no such option."""
    return 'accept the loss with lookahead="commit"' if grammar.language in _WITH_LOOKAHEAD else None
