"""Regular expressions for names that a text makes up -> parts of terminals, or what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.frontends.sql.made_up_names import lowered, shown
from pdacon.frontends.sql.names import NAME, never_names
from pdacon.regular.ordered.matched import Node, Way, texts
from pdacon.regular.ordered.patterns import compile_pattern
from pdacon.regular.ordered.sre import (
    ASCII,
    IGNORECASE,
    UNICODE,
    compile_character,
    first_of,
    is_sequence,
    parse,
    scoped_flags,
)

_FLAGS = ASCII | IGNORECASE
_NO_WORD = [chr(code) for code in range(128) if not NAME.fullmatch("x" + chr(code))]
_LIKELY = "xqZ_19\N{LATIN SMALL LETTER E WITH ACUTE}abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ023456789$"
_CHARACTERS, _TRIED, _STATES = 5, 20_000, 1 << 16

_REFUSED = {
    "anchor": "it is for whole names as it is; leave it out",
    "word_boundary": "it is for whole names as it is; leave it out",
    **dict.fromkeys(
        ("backreference", "numbered_backreference", "conditional_group", "numbered_conditional_group"),
        "groups of one terminal cannot be told from those of others; write the names out",
    ),
}


@lru_cache(maxsize=64)
def made_up(argument: str, regexp: str, tables: frozenset[str] = frozenset()) -> str:
    """What an argument describes, which is a regular expression for names.

    ``tables`` are names, without case, that none of those can be.

    Raises
    ------
    TypeError, ValueError
        It is no regular expression, or none for words, or none of its words can be a name.
    """
    if not isinstance(regexp, str):
        raise TypeError(f"{argument}: expected a regular expression, a str, not a {type(regexp).__name__}")
    try:
        compiled = re.compile(regexp)
    except (re.error, OverflowError, RecursionError) as error:
        raise _wrong(argument, regexp, f"it is no regular expression: {error}") from error
    if compiled.flags & ~UNICODE:
        raise _wrong(argument, regexp, "flags for all of it cannot stand in a grammar; letters have no case as it is")
    if compiled.groupindex:
        raise _wrong(argument, regexp, "names of groups could clash in the grammar; write (?:...)")
    refused = first_of(_REFUSED, regexp, 0)
    if refused:
        raise _wrong(argument, regexp, f"{refused[1]} at column {refused[2]}: {_REFUSED[refused[0]]}")
    try:
        tree, _ = parse(regexp, _FLAGS)
        compile_pattern(f"(?ai:{regexp})", 0, _STATES)
    except (UnsupportedGrammarError, LimitExceededError) as error:
        raise _wrong(argument, regexp, f"no terminal can have it: {error}") from error
    if tree.getwidth()[0] == 0:
        raise _wrong(argument, regexp, "it matches the empty text; let it match a character at least, as [a-z]+ does")
    for character in _no_words(tree, _FLAGS):
        raise _wrong(
            argument, regexp, f"it matches {character!r}, which no word has; write [a-z0-9_] for what names have"
        )
    if not any(_can_be(text, regexp, tables) for text in islice(_texts(tree, _FLAGS), _TRIED)):
        raise _wrong(argument, regexp, f"it matches no name; {_WHAT_IS_NONE}")
    return regexp


_WHAT_IS_NONE = "a name begins with a letter or _, and is neither a keyword nor, if it is an alias, a table"


def _wrong(argument: str, regexp: str, reason: str) -> ValueError:
    return ValueError(f"{argument}: {shown(regexp)} cannot describe names: {reason}")


def _can_be(text: str, regexp: str, tables: frozenset[str]) -> bool:
    name = lowered(text)
    return (
        name not in tables
        and name not in never_names()
        and NAME.fullmatch(text) is not None
        and re.fullmatch(regexp, text, re.ASCII | re.IGNORECASE) is not None
    )


def _no_words(tree: Any, flags: int) -> Iterator[str]:
    """Characters that it consumes and no word has."""
    for operator, argument in tree:
        if operator.name.startswith("ASSERT"):
            continue
        if operator.name in _OF_CHARACTERS:
            pattern = compile_character(operator, argument, flags)
            yield from (character for character in _NO_WORD if pattern.fullmatch(character))
        for part, inside in _parts(operator, argument, flags):
            yield from _no_words(part, inside)


_OF_CHARACTERS = frozenset({"LITERAL", "NOT_LITERAL", "IN", "ANY"})


def _parts(operator: Any, argument: Any, flags: int) -> list[tuple[Any, int]]:
    """The sequences that a node consists of, each with its flags."""
    if operator.name == "SUBPATTERN":
        _, added, removed, part = argument
        return [(part, scoped_flags(flags, added, removed))]
    if operator.name == "BRANCH":
        return [(part, flags) for part in argument[1]]
    if operator.name == "ATOMIC_GROUP":
        return [(argument, flags)]
    return [(part, flags) for part in argument if is_sequence(part)] if operator.name.endswith("REPEAT") else []


def _texts(tree: Any, flags: int) -> Iterator[str]:
    """Texts that it may match: all if they are few; of what repeats the first, and of many characters some."""
    return texts(tree.data, flags, _ways_past, "")


def _ways_past(node: Node, flags: int) -> Iterator[Way[str]]:
    operator, argument = node
    if operator.name in _OF_CHARACTERS:
        literal = [chr(argument)] if operator.name == "LITERAL" else []
        pattern = compile_character(operator, argument, flags)
        characters = literal or [c for c in _LIKELY if pattern.fullmatch(c)][:_CHARACTERS]
        yield from ((character, (), flags) for character in characters)
    elif operator.name.endswith("REPEAT"):
        least, most, part = argument
        for count in range(least, min(most, least + 2) + 1):
            yield "", list(part) * count, flags
    elif operator.name.startswith("ASSERT"):
        yield "", (), flags
    else:
        yield from (("", part.data, inside) for part, inside in _parts(operator, argument, flags))
