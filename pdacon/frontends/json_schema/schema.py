"""A schema and how it is written -> its grammar."""

from __future__ import annotations

import json
from typing import Any

from pdacon.errors import EmptyLanguageError, UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Documents
from pdacon.frontends.json_schema.lowering import lower
from pdacon.frontends.json_schema.reading import Reader
from pdacon.frontends.json_schema.spelling import Spelling
from pdacon.frontends.json_schema.writing import Writer
from pdacon.grammar import Grammar
from pdacon.grammar.model import GrammarOptions
from pdacon.regular import TooManyStates


def schema_grammar(
    schema: Any,
    *,
    spelling: Spelling | None = None,
    lax: bool = False,
    registry: Any = None,
    formats: bool = True,
) -> Grammar:
    """The grammar of the values that satisfy a schema; see `Grammar.from_json_schema`."""
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError as error:
            raise UnsupportedSchemaError("#", "", f"the text is no JSON: {error}") from None
    dropped: list[tuple[str, str, str]] = []

    def drop(error: UnsupportedSchemaError) -> None:
        if not lax:
            raise error
        dropped.append((error.pointer, error.keyword, error.why))

    spelling = Spelling() if spelling is None else spelling
    documents = Documents(schema, registry)
    reader = Reader(documents, formats, drop)
    writer = Writer(reader, spelling)
    try:
        source = json.dumps(schema, default=str)
        start = writer.write(reader.question(documents.root))
    except TooManyStates:
        raise UnsupportedSchemaError("#", "", "an automaton for names of members gets too large") from None
    except RecursionError:
        raise UnsupportedSchemaError("#", "", "it is nested too deeply") from None
    lowered = lower(writer.out, start)
    if lowered is None:
        raise EmptyLanguageError("no value satisfies the schema")
    base = len(lowered.terminals) + 1
    return Grammar(
        terminals=lowered.terminals,
        nonterminals=lowered.nonterminals,
        productions=lowered.productions,
        ignore=frozenset(),
        starts=(base,),
        options=GrammarOptions(),
        source=source,
        unenforced=tuple(dropped),
        language="JSON Schema",
    )
