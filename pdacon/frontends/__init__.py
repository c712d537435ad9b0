"""Other descriptions of a language -> Grammar.

In: the tables and columns of a database, as a mapping or as a SQLite database. Out: a :class:`~pdacon.Grammar` that
prints itself as Lark: ``grammar.to_lark()`` is one text, and stock Lark gives it the same meaning.

This room writes grammars and never reads what a user wrote in Lark's language: that is the room ``grammar``. Of
``lexer`` it uses the reader of regular expressions. It knows nothing of LALR tables, automata, vocabularies or masks.
"""

from pdacon.frontends.sql_functions import SQL_FUNCTIONS
from pdacon.frontends.sqlite_file import sql_schema_of

__all__ = ["SQL_FUNCTIONS", "sql_schema_of"]
