"""A grammar as callers may give it: a `Grammar`, the name of a built-in one, a path, a text, a type or a function.

A text and a name are told apart by their looks, and a str is never taken for a path: what comes from elsewhere, such as
a request to a server, must not decide which files are read.
"""

from __future__ import annotations

import os
import re
import types
from collections.abc import Callable, Sequence
from typing import Any, Protocol, get_origin, runtime_checkable

from pdacon.above import ask
from pdacon.grammar.grammar import Grammar
from pdacon.grammar.habits import is_json
from pdacon.grammar.settings import schema_advice


@runtime_checkable
class HasGrammar(Protocol):
    """What a front end makes a grammar of, such as a `pdacon.RegularSet`."""

    def to_grammar(self) -> Grammar:
        """The grammar of the texts that it stands for."""


GrammarSource = (
    Grammar | HasGrammar | str | os.PathLike[str] | type | types.UnionType | types.GenericAlias | Callable[..., Any]
)
"""A `Grammar`, a `RegularSet`, the name of a built-in one, a `pathlib.Path`, a text in Lark's language, a type or a
function."""

_ENDINGS = (".lark", ".gbnf", ".ebnf", ".json")
_NAME = re.compile(r"\s*[\w-]+\s*")


def grammar_of(caller: str, given: GrammarSource, start: str | Sequence[str] | None = None) -> Grammar:
    """Load what was given; a `Grammar` is returned as it is.

    Raises
    ------
    TypeError
        It is none of these.
    ValueError
        No built-in grammar has this name, a str looks like the path of a file, or ``start`` is given beside a
        `Grammar` that was loaded with another one.
    GrammarError, OSError
        See `Grammar.from_lark` and `Grammar.from_file`.
    """
    options: dict[str, Any] = {} if start is None else {"start": start}
    if isinstance(given, Grammar):
        return given
    if isinstance(given, HasGrammar):
        return given.to_grammar()
    if isinstance(given, os.PathLike):
        return Grammar.from_file(given, **options)  # whose ending says what it is written in
    if not isinstance(given, str) and (callable(given) or get_origin(given) is not None):
        return _of_type(given, options, caller)
    if not isinstance(given, str) and ask("is_outlines", given):
        return Grammar.from_outlines(given)
    if not isinstance(given, str):
        advice = schema_advice(given) or "; of a lark.Lark, make one with Grammar.from_lark"
        raise TypeError(
            f"{caller}: grammar must be a pdacon.Grammar, the name of a built-in one, a pathlib.Path or the text of a "
            f"grammar, not {type(given).__name__}{advice}"
        )
    if _NAME.fullmatch(given):
        return Grammar.builtin(given.strip(), **options)
    if is_json(given):
        raise ValueError(
            f"{caller}: this text is JSON, not a grammar; of a JSON Schema pdacon.Grammar.from_json_schema makes one"
        )
    is_path = ":" not in given or given.endswith(_ENDINGS)
    if given.strip() and "\n" not in given and "%" not in given and is_path:
        if given.endswith(".pda"):
            raise ValueError(
                f"{caller}: grammar={given!r} looks like the path of a saved constraint; load it with "
                f"pdacon.Constraint.load({given!r})"
            )
        raise ValueError(
            f"{caller}: grammar={given!r:.80} is neither the name of a built-in grammar nor the text of one; for a "
            f"file give pathlib.Path({given!r:.60}), for a regular expression pdacon.Grammar.from_regex({given!r:.60})"
        )
    return Grammar.from_lark(given, **options)


def _of_type(given: Any, options: dict[str, Any], caller: str) -> Grammar:
    """The grammar of a type, or of calls of a function."""
    if options:
        raise ValueError(
            f"{caller}: a type has no rules, so that start={options['start']!r} says nothing; leave it out"
        )
    if ask("is_type", given):
        return Grammar.from_type(given)
    if isinstance(given, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        return Grammar.from_function(given)
    advice = schema_advice(given) or "; of a function or a class, give that"
    raise TypeError(f"{caller}: grammar must not be an object of the class {type(given).__name__}{advice}")
