"""Makes grammars of SQL that name only the tables and columns of a database.

In: tables and their columns, as a mapping or as a SQLite database. Out: `GrammarData`. ``schema_grammar`` has the call,
``rules`` the grammar of a form of statements, ``names`` how names are written, ``made_up_names`` those that a text may
make up, ``functions`` those of SQLite, ``sqlite_file`` reads a database.
"""
