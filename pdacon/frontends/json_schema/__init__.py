"""JSON Schema -> Grammar, straight to productions and automata.

In: a schema as Python objects, a spelling and a registry of other documents. Out: a `Grammar` whose sentences are the
texts, in that spelling, of exactly the values that satisfy the schema. A schema denotes a set of values, and sets are
combined: nothing is dropped without being named.

The rooms within, in the order in which data goes through them: ``documents`` (references), ``facts`` and
``schema_formulas`` (schemas as Boolean formulas), with ``closing`` (where closing objects makes a difference),
``steps`` (what is left of a formula when a member or an item has been read), ``strings``, ``numbers`` and ``spelling``
(formulas as automata), ``writing`` (formulas as productions),
``numbering`` (productions as a grammar). ``survey`` and ``plainness`` look whether a schema may be read on demand, and
``exploring`` answers what the core then asks, in place of ``writing``. For explanations are ``positions`` (what is open
at the end of a text), ``places`` (which schemas speak of the value there) and ``members`` (why a member is refused
there). ``notation`` is how another front end has values written that are not JSON. ``yaml_writing`` writes the same
formulas as YAML, with ``yaml_scalars``, ``yaml_strings`` and ``yaml_numbers``; ``yaml_reading`` makes values of such
texts.
"""

from pdacon.frontends.json_schema.asserting import ASSERTED
from pdacon.frontends.json_schema.documents import canonical, read_canonical
from pdacon.frontends.json_schema.drafts import draft_of
from pdacon.frontends.json_schema.keywords import is_assertion, misspelled_keywords
from pdacon.frontends.json_schema.members import why_refused
from pdacon.frontends.json_schema.notation import Marks, Notation
from pdacon.frontends.json_schema.numbers import any_integer, has_few_digits
from pdacon.frontends.json_schema.places import schema_lines, value_at
from pdacon.frontends.json_schema.plain import PlainSchema, plain
from pdacon.frontends.json_schema.positions import is_in_value
from pdacon.frontends.json_schema.profiles import PROFILES
from pdacon.frontends.json_schema.schema import Schema, bounded_json, schema_grammar
from pdacon.frontends.json_schema.spelling import Spelling, require_json
from pdacon.frontends.json_schema.string_formats import PATTERNS
from pdacon.frontends.json_schema.value_words import digits_title
from pdacon.frontends.json_schema.yaml_reading import yaml_value

__all__ = [
    "ASSERTED",
    "PATTERNS",
    "PROFILES",
    "Marks",
    "Notation",
    "PlainSchema",
    "Schema",
    "Spelling",
    "any_integer",
    "bounded_json",
    "canonical",
    "digits_title",
    "draft_of",
    "has_few_digits",
    "is_assertion",
    "is_in_value",
    "misspelled_keywords",
    "plain",
    "read_canonical",
    "require_json",
    "schema_grammar",
    "schema_lines",
    "value_at",
    "why_refused",
    "yaml_value",
]
