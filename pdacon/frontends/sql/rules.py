"""SQL in which names are of kinds: what of sql.lark is another rule once tables and columns are known.

The patterns of the terminals that stand for names of a schema come later: neither the rules nor the LALR tables depend
on them, so that one grammar per form is loaded, and kept for the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pdacon.frontends.definitions import definitions, grammar_text, ignored
from pdacon.grammar import GrammarData, GrammarOptions
from pdacon.grammar.builtin import builtin_source
from pdacon.grammar.reading import read_text

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
      | _alias_dot "*"

common_table: _alias ["(" _label ("," _label)* ")"] AS [[NOT] MATERIALIZED] "(" query ")"

_sources: source
        | _sources _join source [ON expression | USING "(" _columns ")"]
source: (_source_name | "(" query ")" | "(" _sources ")") [AS _alias | BARE_ALIAS]

windows: WINDOW named_window ("," named_window)*
named_window: _alias AS "(" window ")"
window: [_alias] [PARTITION BY _expressions] [order_by] [frame]
_over: OVER (_over_name | "(" window ")")

?collated: signed | collated COLLATE COLLATION

_set: "(" [_expressions] ")"
    | "(" query ")"
    | _set_name

_operand: primary

_columns: _column ("," _column)*
_listed_columns: _listed_column ("," _listed_column)*
call: _function "(" ("*" | [DISTINCT | ALL] [_expressions]) ")" [_filter] [_over]

insert: [with] _insert INTO _target ["(" _listed_columns ")"] _rows
update: [with] UPDATE [_or] _target _set_clause [from] [where] [returning]
delete: [with] DELETE FROM _target [where] [returning]
assignment: (_listed_column | "(" _listed_columns ")") "=" expression

_target: _changed_table [AS _alias]

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

# SQLite begins a comment at two minus signs, whatever a grammar makes of them. "/" needs no such care, since no operand
# begins with "*".
_MINUS = """\
MINUS: /-(?!-)/
"""

# SQLite takes what is in double quotes for a text where it is no name. Every table has its ROWID.
_DOUBLE_QUOTED = """\
DOUBLE_QUOTED.-4: /"{no_text}([^"\\x00]|"")*"/
"""

# What is known of the schema comes before names that the text makes up, and names with a dot before those that they
# begin with. No name that is made up is FILTER, which ends a call, or RAISE, which begins one in a trigger. After
# a name in quotes another one would be a part of it, so that only bare ones stand there without AS.
_MADE_UP = """\
ALIAS.-3: {alias}
BARE_ALIAS.-3: ALIAS_WORD
ALIAS_DOT.-1: (ALIAS_WORD | /"/ ALIAS_WORD /"/) /\\./
ALIAS_BACK_DOT.-1: ALIAS_WORD /`\\./
ALIAS_BRACKET_DOT.-1: ALIAS_WORD /\\]\\./
LABEL.-3: {label}
BARE_LABEL.-3: LABEL_WORD
ALIAS_WORD: {not_tables} MADE_UP /(?ai:{aliases})/ W
LABEL_WORD: MADE_UP /(?ai:{labels})/ W
MADE_UP: NAME_BEGINS NOT_RESERVED /(?!(?ai:filter|raise)(?![^\\x00-#%-\\/:-@\\[-^`{{-\\x7f]))/
"""

_QUOTES = ("DOUBLE", "BACK", "BRACKET")
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
    texts : bool
        Whether what is in double quotes and no name is a text.
    row_ids : tuple of str
        Names that every table has for its ROWID, less those that the schema lists: these are no texts.
    any_result : bool
        Whether any name may stand after AS in a result, or only one that can be named again.
    comments : bool
        Whether there are comments.
    with_clause : bool
        Whether WITH defines tables, which aliases name.
    kinds : frozenset of str
        The terminals for names that there are any of, and ``BOOLEAN`` where TRUE or FALSE is none.
    regexp : bool
        Whether there is a function of that name, which SQLite itself has not, and the operator calls.
    """

    changes: bool
    aliases: str
    labels: str
    not_tables: str
    texts: bool
    row_ids: tuple[str, ...]
    any_result: bool
    comments: bool
    with_clause: bool
    kinds: frozenset[str]
    regexp: bool


@lru_cache(maxsize=32)
def load(form: Form) -> GrammarData:
    """The grammar of a form, in which every name is still the name of its terminal; see `placeholder`."""
    text, _ = builtin_source("sql")
    # SQLite's own alias, for the row that an upsert did not insert.
    aliases = f"{form.aliases}|excluded" if form.changes else form.aliases
    rules = [
        _CHANGES if form.changes else _QUERY,
        _RULES,
        _names(form),
        f"_like: LIKE | GLOB | MATCH{' | REGEXP' if form.regexp else ''}\n",
        _MADE_UP.format(
            alias="ALIAS_WORD" if form.texts else 'ALIAS_WORD | /"/ ALIAS_WORD /"/',
            label="LABEL_WORD" if form.texts else 'LABEL_WORD | /"/ LABEL_WORD /"/',
            aliases=aliases,
            labels=form.labels,
            not_tables=form.not_tables,
        ),
        *(placeholder(name) + "\n" for name in sorted(form.kinds)),
    ]
    if form.texts:
        no_text = f'(?!(?ai:{"|".join(form.row_ids)})")' if form.row_ids else ""
        rules.append(_DOUBLE_QUOTED.format(no_text=no_text))
    known = {"start": "", **definitions(text), **definitions("".join(rules))}
    if not form.with_clause:
        known = {name: definition.replace("[with] ", "") for name, definition in known.items()}
    statements = ignored(text)
    if not form.comments:
        statements = [statement for statement in statements if "COMMENT" not in statement]
        known = {name: definition.replace('"-"', "MINUS") for name, definition in known.items()} | definitions(_MINUS)
    return read_text(grammar_text(known, ["start"], statements), GrammarOptions())


def placeholder(name: str, pattern: str = "") -> str:
    """The definition of a terminal for names of the schema, with its pattern, or without, as `load` has it."""
    return f"{name}.{-1 if name in _WITH_A_DOT else -2}: /{pattern or name}/"


def _names(form: Form) -> str:
    """Where names stand, each in the ways that it can be written.

    A rule for each place: what may follow a name in one place would be tried after it in the others as well.

    Quotes are terminals of their own, so that each list of names is there once. Not so double quotes where a text may
    stand, since only what follows says which it is: there a name is a text, too, or else has them in its pattern.
    """
    listed: list[str] = [kind for kind in ("COLUMN_NAME", "COLUMN_OR_FUNCTION") if kind in form.kinds]
    columns = ["LABEL", *listed]
    in_double_quotes = [kind for kind in ("QUOTED_COLUMN",) if kind in form.kinds]
    text, quotes = (["DOUBLE_QUOTED"], _QUOTES) if form.texts else ([], _QUOTES[1:])
    of_table = [kind for kind in ("QUALIFIED_COLUMN",) if kind in form.kinds]
    changed = "CHANGED_TABLE" if "CHANGED_TABLE" in form.kinds else "TABLE_NAME"
    tables = ["TABLE_NAME", "ALIAS"] if form.with_clause else ["TABLE_NAME"]
    rules: dict[str, list[str]] = {
        "_table_or_alias": tables,
        "_source_name": [*tables, *_quoted("_table_or_alias", quotes)],
        "_set_name": [*tables, *_quoted("_table_or_alias", quotes)],
        "_changed_table": [changed, *_quoted(changed, quotes)],
        "_alias": ["ALIAS", *_quoted("ALIAS", quotes)],
        "_over_name": ["ALIAS", *_quoted("ALIAS", quotes)],
        "_alias_dot": ["ALIAS_DOT", *(f"OPEN_{quote} ALIAS_{quote}_DOT" for quote in _QUOTES[1:])],
        "_label": ["LABEL", *_quoted("LABEL", quotes)],
        "_in_quotes": columns,
        "_column": [*columns, *in_double_quotes, *_quoted("_in_quotes", quotes)],
        "_value": [*columns, *in_double_quotes, *_quoted("_in_quotes", _QUOTES[1:])],
        "column": ["_value", "_alias_dot _column", *of_table],
        "_listed_in_quotes": listed or columns,
        "_listed_column": [*(listed or columns), *in_double_quotes, *_quoted("_listed_in_quotes", quotes)],
        "_function": [kind for kind in ("FUNCTION", "COLUMN_OR_FUNCTION") if kind in form.kinds],
        "_result_alias": [f"AS ({' | '.join(['_name'] if form.any_result else ['_value', *text])})", "BARE_LABEL"],
        "_literal": [
            *("NULL", "NUMBER", "STRING", *text, "BLOB", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"),
            *(kind for kind in ("BOOLEAN",) if kind in form.kinds),
        ],
    }
    return "".join(f"{rule}: {' | '.join(alternatives)}\n" for rule, alternatives in rules.items())


def _quoted(name: str, quotes: Sequence[str]) -> list[str]:
    return [f"OPEN_{quote} {name} CLOSE_{quote}" for quote in quotes]
