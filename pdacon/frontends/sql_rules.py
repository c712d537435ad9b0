"""SQL in which names are of kinds: what of sql.lark is another rule once tables and columns are known.

The patterns of the terminals that stand for names of a schema come later: neither the rules nor the LALR tables depend
on them, so that one grammar per form is loaded, and kept for the process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pdacon.frontends.definitions import definitions, grammar_text, ignored
from pdacon.grammar import Grammar
from pdacon.grammar.builtin import builtin_source

_QUERY = """\
start: query ";"?
"""

_CHANGES = """\
start: (query | insert | update | delete) ";"?
"""

_RULES = """\
result: expression [_result_alias]
      | "*"
      | ALL_COLUMNS
      | ALIAS_DOT "*"
_result_alias: AS _name | LABEL

common_table: ALIAS ["(" LABEL ("," LABEL)* ")"] AS [[NOT] MATERIALIZED] "(" query ")"

_sources: source
        | _sources _join source [ON expression | USING "(" _columns ")"]
source: (TABLE_NAME | ALIAS | "(" query ")" | "(" _sources ")") [[AS] ALIAS]

named_window: ALIAS AS "(" window ")"
window: [ALIAS] [PARTITION BY _expressions] [order_by] [frame]
_over: OVER (ALIAS | "(" window ")")

?collated: signed | collated COLLATE COLLATION

_set: "(" [_expressions] ")"
    | "(" query ")"
    | TABLE_NAME
    | ALIAS

_operand: primary

_literal: NULL | NUMBER | STRING | DOUBLE_QUOTED | BLOB | CURRENT_DATE | CURRENT_TIME | CURRENT_TIMESTAMP
_columns: _column ("," _column)*
call: _function "(" ("*" | [DISTINCT | ALL] [_expressions]) ")" [_filter] [_over]

insert: [with] _insert INTO _target ["(" _columns ")"] _rows
update: [with] UPDATE [_or] _target _set_clause [from] [where] [returning]
delete: [with] DELETE FROM _target [where] [returning]
_target: TABLE_NAME [AS ALIAS]
assignment: (_column | "(" _columns ")") "=" expression

// A column of that name needs quotes; there is no other use for the word in a query.
NOT_RAISE: /(?!(?ai:raise)(?![^\\x00-#%-\\/:-@\\[-^`{-\\x7f]))/

// SQLite takes what is in double quotes for a text where it is no name.
DOUBLE_QUOTED.-4: /"([^"\\x00]|"")*"/
COLLATION.-1: /(?ai:binary|nocase|rtrim)/ W
"""

# What is known of the schema comes before names that the text makes up, and names with a dot before those that they
# begin with.
_MADE_UP = """\
ALIAS.-3: {not_tables} NOT_RESERVED /(?ai:{aliases})/ W
ALIAS_DOT.-1: {not_tables} NOT_RESERVED /(?ai:{aliases})/ W /\\./
LABEL.-3: NOT_RESERVED NOT_RAISE /(?ai:{labels})/ W
"""


_WITH_A_DOT = frozenset({"QUALIFIED_COLUMN", "ALL_COLUMNS"})


@dataclass(frozen=True, slots=True)
class Form:
    """What the rules depend on.

    Attributes
    ----------
    changes : bool
        Whether INSERT, UPDATE and DELETE are statements, beside queries.
    aliases, labels : str
        What names that the text makes up for tables and for columns look like, as in a terminal of Lark.
    not_tables : str
        A look-ahead that keeps names of tables from being aliases; empty if none looks like one.
    kinds : frozenset of str
        The terminals for names that there are any of.
    regexp : bool
        Whether there is a function of that name, which SQLite itself has not, and the operator calls.
    """

    changes: bool
    aliases: str
    labels: str
    not_tables: str
    kinds: frozenset[str]
    regexp: bool


@lru_cache(maxsize=32)
def load(form: Form) -> Grammar:
    """The grammar of a form, in which every name is still the name of its terminal; see `placeholder`."""
    text, _ = builtin_source("sql")
    names = "\n".join(map(placeholder, sorted(form.kinds)))
    # SQLite's own alias, for the row that an upsert did not insert.
    aliases = f"{form.aliases}|excluded" if form.changes else form.aliases
    made_up = _MADE_UP.format(aliases=aliases, labels=form.labels, not_tables=form.not_tables)
    like = f"_like: LIKE | GLOB | MATCH{' | REGEXP' if form.regexp else ''}\n"
    rules = (_CHANGES if form.changes else _QUERY) + _RULES + _columns(form.kinds) + like + made_up + names
    known = {"start": "", **definitions(text), **definitions(rules)}
    return Grammar.from_lark(grammar_text(known, ["start"], ignored(text)))


def placeholder(name: str, pattern: str = "") -> str:
    """The definition of a terminal for names of the schema, with its pattern, or without, as `load` has it."""
    return f"{name}.{-1 if name in _WITH_A_DOT else -2}: /{pattern or name}/"


def _columns(kinds: frozenset[str]) -> str:
    rules = {
        "column": ["_column", "ALIAS_DOT _column", "QUALIFIED_COLUMN"],
        "_column": ["LABEL", "COLUMN_NAME", "COLUMN_OR_FUNCTION"],
        "_function": ["FUNCTION", "COLUMN_OR_FUNCTION"],
    }
    always = ("LABEL", "_column", "ALIAS_DOT _column")
    return "".join(
        f"{rule}: {' | '.join(kind for kind in alternatives if kind in always or kind in kinds)}\n"
        for rule, alternatives in rules.items()
    )
