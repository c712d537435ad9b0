"""Makes grammars of other descriptions of a language than Lark's.

In: JSON Schemas, Python types, functions and tools, GBNF, EBNF, llguidance's dialect, structural tags, terms of
Outlines, regular sets, choices, the tables and columns of a database, grammars with holes. Out: `GrammarData`.

    json_schema, types, dialects, structural_tags   front ends, each with a charter of its own
    tool_formats                                    models' own formats of tool calls, and readers of answers
    sql                                             SQL over the tables of a database
    insertion                                       grammars in the holes of others, and in strings of JSON
    builder                                         what builds rules and terminals for several of them
    texts, narrowing, pattern_sets                  regular sets as grammars, beside grammars, and in patterns

This room does not read what a user wrote in Lark's language: that is the room ``grammar``. Of ``lexer`` and ``lalr`` it
asks whether borders between terminals can be found. It knows nothing of vocabularies and masks.
"""

from pdacon.frontends.sql.functions import SQL_FUNCTIONS
from pdacon.frontends.sql.sqlite_file import sql_schema_of

__all__ = ["SQL_FUNCTIONS", "sql_schema_of"]
