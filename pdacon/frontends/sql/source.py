"""The rules and terminals of SQL that names only what a database has, but those that depend on its names.

In: the built-in grammar of SQL, and here the rules that take the place of some of its own where names are of kinds.
Out: both, read once for the process.
"""

from __future__ import annotations

from functools import cache

from pdacon.grammar.builtin import builtin_source
from pdacon.grammar.definitions import Parts, read_parts

_RULES = """\
%override result: expression [_result_alias]
                | "*"
                | ALL_COLUMNS
                | _alias_dot "*"

%override common_table: _alias ["(" _label ("," _label)* ")"] AS [[NOT] MATERIALIZED] "(" query ")"

%override _sources: source
                  | _sources _join source [ON expression | USING "(" _columns ")"]
%override source: (_source_name | "(" query ")" | "(" _sources ")") [AS _alias | BARE_ALIAS]

%override windows: WINDOW named_window ("," named_window)*
%override named_window: _alias AS "(" window ")"
%override window: [_alias] [PARTITION BY _expressions] [order_by] [frame]
%override _over: OVER (_over_name | "(" window ")")

%override collated: signed | collated COLLATE COLLATION

%override _set: "(" [_expressions] ")"
              | "(" query ")"
              | _set_name

%override _operand: primary

_columns: _column ("," _column)*
_listed_columns: _listed_column ("," _listed_column)*
%override call: _function "(" ("*" | [DISTINCT | ALL] [_expressions]) ")" [_filter] [_over]

%override insert: [with] _insert INTO _target ["(" _listed_columns ")"] _rows
%override update: [with] UPDATE [_or] _target _set_clause [from] [where] [returning]
%override delete: [with] DELETE FROM _target [where] [returning]
%override assignment: (_listed_column | "(" _listed_columns ")") "=" expression

%override _target: _changed_table [AS _alias]

COLLATION.-1: /(?ai:binary|nocase|rtrim)/ W

// A plain name in quotes, with nothing between them and the name.
OPEN_DOUBLE.-3: /"/ NAME_BEGINS
CLOSE_DOUBLE: NAME_ENDS /"/
OPEN_BACK.-3: /`/ NAME_BEGINS
CLOSE_BACK: NAME_ENDS /`/
OPEN_BRACKET.-3: /\\[/ NAME_BEGINS
CLOSE_BRACKET: NAME_ENDS /\\]/
NAME_BEGINS: /(?=[^\\x00-@\\[-^`{-\\x7f\\ufeff])/
NAME_ENDS: /(?<![\\x00-#%-\\/:-@\\[-^`{-\\x7f])/
"""


@cache
def sql_parts() -> Parts:
    """The rules and terminals; the rules for names are not defined, nor are the terminals that stand for some."""
    text, _ = builtin_source("sql")
    return read_parts(f"{text}\n{_RULES}")
