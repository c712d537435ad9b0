"""What an answer must be, as requests to servers and engines say it: a kind and a text -> a `Constraint`.

Requests come from strangers, so a grammar among them reads no file of this machine, and nothing is compiled twice.
"""

from __future__ import annotations

import json
import re
from typing import Literal

from pdacon.base.cancelling import CancelEvent
from pdacon.base.limits import Limits
from pdacon.detokenizer import Vocabulary
from pdacon.errors import GrammarSyntaxError, UnsupportedGrammarError
from pdacon.front.caching import CompileCache
from pdacon.front.constraint import Constraint
from pdacon.front.endings import is_llguidance
from pdacon.front.grammar import Grammar

Kind = Literal["json_object", "schema", "lark", "gbnf", "bnf", "regex", "choice", "structural_tag"]
"""What the text of a format is: nothing; a schema, list of choices or structural tag as JSON; a grammar; a pattern.

``bnf`` is a grammar whose rules have ``::=``: XGrammar's EBNF or, where it is none, llama.cpp's GBNF.
"""

# A backslash continues a line in Lark's notation.
_RELATIVE_IMPORT = re.compile(r"%import[\s\\]*\.")
_BEGINS_AS_BNF = re.compile(r"(?:\s|(?:#|//)[^\n]*\n)*[\w.-]+\s*::=")


def grammar_kind(text: str) -> Kind:
    """Which notation a grammar is in whose author does not say so: its first rule has ``::=``, or it is Lark's."""
    return "bnf" if _BEGINS_AS_BNF.match(text) else "lark"


def compile_format(
    cache: CompileCache,
    kind: Kind,
    text: str,
    vocabulary: Vocabulary,
    limits: Limits,
    cancel: CancelEvent | None = None,
) -> Constraint:
    """The constraint that holds an answer to a format; compiled once.

    Cost: some 0.1 ms where it is in memory, since a schema is written out once even then.

    Raises
    ------
    PdaconError
        It cannot be compiled; the message has the place and the reason.
    """
    if kind == "schema":
        return cache.compile_schema(text, vocabulary, limits=limits, cancel=cancel)
    return cache.compile_keyed(
        (kind, text), lambda: _grammar(kind, text, limits), vocabulary, limits=limits, cancel=cancel
    )


def format_name(cache: CompileCache, kind: Kind, text: str, vocabulary: Vocabulary, limits: Limits) -> str | None:
    """What the cache keeps the constraint of a format under; None: it keeps none, since the text is no JSON."""
    if kind == "schema":
        return cache.name_schema(text, vocabulary, limits)
    return cache.name_keyed((kind, text), vocabulary, limits)


def _grammar(kind: Kind, text: str, limits: Limits) -> Grammar:
    """The grammar of a format that is no schema."""
    if kind == "json_object":
        return Grammar.from_json_schema({"type": "object"})
    if kind == "regex":
        return Grammar.from_regex(text, limits=limits)
    if kind == "choice":
        return _choices(text, limits)
    if kind == "gbnf":
        return Grammar.from_gbnf(text)
    if kind == "bnf":
        return _bnf(text)
    if kind == "structural_tag":
        return Grammar.from_structural_tag(text)
    if _RELATIVE_IMPORT.search(text):
        raise UnsupportedGrammarError(
            "%import of a file beside the grammar: a request has no files; write its rules into the grammar",
            feature="import",
        )
    return Grammar.from_llguidance(text) if is_llguidance(text) else Grammar.from_lark(text)


def _choices(text: str, limits: Limits) -> Grammar:
    try:
        return Grammar.from_choices(json.loads(text), limits=limits)
    except (TypeError, ValueError) as error:
        raise UnsupportedGrammarError(str(error), feature="choice") from None


def _bnf(text: str) -> Grammar:
    try:
        return Grammar.from_ebnf(text)
    except GrammarSyntaxError as error:
        try:
            return Grammar.from_gbnf(text)
        except GrammarSyntaxError:
            raise error from None
