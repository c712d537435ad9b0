"""Refuses, by name, grammars that cannot be put into one another."""

from __future__ import annotations

from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import GrammarData

_MADE = ("Lark", "GBNF", "EBNF", "llguidance", "several grammars", "structural tag", "SQL schema")
"""Languages of grammars that can have conflicts."""


def check_outer(outer: GrammarData) -> None:
    """Refuse a grammar that others cannot be put into.

    Raises
    ------
    UnsupportedGrammarError
    """
    _check_either("the outer grammar", outer)
    if outer.layout is not None:
        raise UnsupportedGrammarError(
            "the outer grammar has a postlexer, and newlines and columns of what is put into it would count as well; "
            "use one without indentation",
            feature="postlex",
        )
    if outer.islands:
        raise UnsupportedGrammarError(
            f"the outer grammar has {outer.islands[0].name} in it already, which ignores other text; put all grammars "
            "in at once, and those within an inner grammar first",
            feature="compose",
        )


def check_fits(outer: GrammarData, name: str, inner: GrammarData) -> None:
    """Refuse an inner grammar that cannot be put into an outer one.

    Raises
    ------
    UnsupportedGrammarError
    ValueError
        It has several start rules.
    """
    _check_either(name, inner)
    if inner.layout is not None and not inner.layout.closers and outer.ignored_outside:
        raise UnsupportedGrammarError(
            f"{name}: around a grammar with indentation nothing can be ignored, since blanks count in it; put it into "
            "one that ignores nothing first, with what stands before it and after it, and then that into this one",
            feature="postlex",
        )
    if len(inner.starts) != 1:
        starts = ", ".join(inner.options.start)
        raise ValueError(f"compose: {name} has several start rules ({starts}); load it with one of them: start=...")
    if outer.ignored_outside and any(
        (pattern := inner.terminals[k].pattern) is not None and pattern.meant is not None for k in inner.ignored_outside
    ):
        raise UnsupportedGrammarError(
            f"{name}: around it the outer grammar ignores text, which would get into the string that it is escaped "
            "for; let the quotes belong to it: escaped(quotes=True)",
            feature="compose",
        )
    if inner.labels:
        raise UnsupportedGrammarError(
            f"{name}: {inner.labels[0]} is a label, and only the outer grammar may have labels; write it there",
            feature="token labels",
        )
    if inner.within:
        raise UnsupportedGrammarError(
            f"{name}: it is a grammar within {inner.within[0].name}, which says something of a whole text and not of a "
            "part of one; leave `& regular_set` out, or give a RegularSet in its place",
            feature="regular-set",
        )
    if inner.options.use_bytes != outer.options.use_bytes:
        raise UnsupportedGrammarError(
            f"{name}: of it and the outer grammar one is over bytes and one over characters; load both with the same "
            "use_bytes",
            feature="use_bytes",
        )
    for option in ("conflicts", "lookahead"):
        own, around = getattr(inner.options, option), getattr(outer.options, option)
        if own != around and (inner.language in _MADE or own not in ("error", "reject")):
            raise UnsupportedGrammarError(
                f"{name}: it has {option}={own!r}, and the outer grammar {option}={around!r}; load both with the same",
                feature=option,
            )


def _check_either(name: str, grammar: GrammarData) -> None:
    if grammar.options.lexer != "contextual":
        raise UnsupportedGrammarError(
            f'{name}: lexer="basic" looks for all terminals everywhere, those of other grammars included; load it with '
            'lexer="contextual"',
            feature="lexer",
        )
    if grammar.options.g_regex_flags:
        raise UnsupportedGrammarError(
            f"{name}: g_regex_flags would hold for the other grammar, too; write the flags into its terminals",
            feature="g_regex_flags",
        )
