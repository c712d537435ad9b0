"""`OnDemand`: a grammar whose automaton is made while texts are read, without its rules.

In: what a front end has read. Out: what the core asks while texts are read (``json_schema.exploring``), and the data of
the whole; each is made when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pdacon.base.languages import SourceLanguage
from pdacon.base.once import Once
from pdacon.frontends.json_schema.exploring import Explorer
from pdacon.frontends.json_schema.schema import Schema
from pdacon.grammar import GrammarData
from pdacon.grammar.model import Values


@dataclass(frozen=True, slots=True)
class OnDemand:
    """A grammar that may be read on demand: it is refused nowhere, and all warnings of it have been given.

    Attributes
    ----------
    key : tuple of str
        Says all that the texts depend on.
    explorer : callable
        What the core asks; each call makes another one.
    data : callable
        The data of the grammar, made once.
    language, values
        As the data has them.
    unenforced : tuple, optional
        As the data has it; None: the data has to be asked.
    schema : Schema, optional
        What the texts are the values of, where that is all.
    """

    key: tuple[str, ...]
    explorer: Callable[[], Explorer] = field(compare=False)
    data: Once[GrammarData] = field(compare=False)
    language: SourceLanguage
    values: Values | None = None
    unenforced: tuple[tuple[str, str, str], ...] | None = field(default=None, compare=False)
    schema: Schema | None = field(default=None, compare=False)


def schema_on_demand(schema: Schema) -> OnDemand | None:
    """A JSON Schema, of whose keywords the caller is warned as far as need be; None: it has to be read at once."""
    if not schema.may_be_read_on_demand():
        return None
    schema.warn()
    key = ("schema on demand", *schema.key)
    explorer, whole = schema.explorer, Once(schema.grammar)
    return OnDemand(key, explorer, whole, "JSON Schema", unenforced=schema.unenforced, schema=schema)
