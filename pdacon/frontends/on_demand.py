"""`OnDemand`: a grammar that can be read as texts are, without its rules.

In: what a front end knows of it. Out: what the core asks while texts are read (``json_schema.exploring``), and the data
of the whole; each is made when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pdacon.base.once import Once
from pdacon.frontends.json_schema.exploring import Explorer
from pdacon.frontends.json_schema.schema import Schema
from pdacon.grammar import GrammarData
from pdacon.grammar.model import SourceLanguage, Values


@dataclass(frozen=True, slots=True)
class OnDemand:
    """What may be read on demand, and nothing has to be said of it before.

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
    """

    key: tuple[str, ...]
    explorer: Callable[[], Explorer] = field(compare=False)
    data: Once[GrammarData] = field(compare=False)
    language: SourceLanguage
    values: Values | None = None


def schema_on_demand(schema: Schema) -> OnDemand | None:
    """A JSON Schema; None: it has to be read at once."""
    if not schema.may_be_read_on_demand():
        return None
    key = ("schema on demand", schema.source, repr(schema.spelling))
    return OnDemand(key, schema.explorer, Once(schema.grammar), "JSON Schema")
