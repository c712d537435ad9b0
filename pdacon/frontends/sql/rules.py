"""SQL in which names are of kinds: what of sql.lark is another rule once tables and columns are given.

The patterns of the terminals that stand for names come later: neither the rules nor the LALR tables depend on them, so
that one grammar per form is built, and kept for the process.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from pdacon.base.graphs import reachable
from pdacon.frontends.builder import Alternative, Builder, Expression, Unnamed, optional
from pdacon.frontends.sql.names import lexeme
from pdacon.frontends.sql.source import sql_parts
from pdacon.grammar import GrammarData, GrammarOptions, Pattern, Terminal
from pdacon.grammar.definitions import Expression as Written
from pdacon.grammar.definitions import Name
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, leaves_of

_Rule: TypeAlias = OneOf[str | Unnamed]
_QUOTES = ("DOUBLE", "BACK", "BRACKET")

# What is listed in the schema comes before names that the text makes up, and names with a dot before those that they
# begin with. After a name in quotes another one would be a part of it, so that only bare ones stand there without AS.
_PRIORITIES = {
    **{"ALIAS": -3, "BARE_ALIAS": -3, "ALIAS_DOT": -1, "ALIAS_BACK_DOT": -1, "ALIAS_BRACKET_DOT": -1},
    **{"LABEL": -3, "BARE_LABEL": -3, "ALL_COLUMNS": -1, "BOOLEAN": -2, "CHANGED_TABLE": -2, "COLUMN_NAME": -2},
    **{"COLUMN_OR_FUNCTION": -2, "FUNCTION": -2, "QUALIFIED_COLUMN": -1, "QUOTED_COLUMN": -2, "TABLE_NAME": -2},
    "DOUBLE_QUOTED": -4,
}


@dataclass(frozen=True, slots=True)
class Form:
    """What the rules depend on.

    Attributes
    ----------
    changes : bool
        Whether INSERT, UPDATE and DELETE are statements, beside queries.
    texts : bool
        Whether what is in double quotes and no name is a text.
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
    texts: bool
    any_result: bool
    comments: bool
    with_clause: bool
    kinds: frozenset[str]
    regexp: bool


@lru_cache(maxsize=32)
def load(form: Form) -> GrammarData:
    """The grammar of a form, in which terminals for names have only themselves as texts."""
    parts, builder = sql_parts(), Builder()
    rules = _used({**{name: _rule(tree, form) for name, tree in parts.rules.items()}, **_names(form)})
    for name, alternatives in rules.items():
        builder.rule(name, [Alternative((item,)) for item in alternatives.items])
    ignored = [name for name in parts.ignore if form.comments or "COMMENT" not in name]
    used = set(ignored).union(*map(_names_in, rules.values()))
    terminals = [parts.terminal(name) for name in parts.terminals if name in used]
    terminals += [Terminal(name, Pattern.of_text(name), priority, None) for name, priority in _PRIORITIES.items()]
    if not form.comments:
        terminals.append(Terminal("MINUS", lexeme("-(?!-)"), 0, None))
    for terminal in sorted(terminals, key=lambda terminal: terminal.literal is not None):
        builder.terminal(terminal)
    return builder.built("", ignore=ignored, options=GrammarOptions())


def _used(rules: Mapping[str, _Rule]) -> dict[str, _Rule]:
    """The rules that the start leads to, in their order."""
    used = set(reachable(["start"], lambda name: _names_in(rules[name]) & rules.keys()))
    return {name: rule for name, rule in rules.items() if name in used}


def _names_in(tree: Expression) -> set[str]:
    return {leaf for leaf in leaves_of(tree) if isinstance(leaf, str)}


def _rule(tree: Written, form: Form) -> _Rule:
    """What a rule is in a form."""
    assert isinstance(tree, OneOf)
    return OneOf(tuple(_expression(item, form) for item in tree.items))


def _expression(tree: Written, form: Form) -> Expression:
    """What a part of a rule is in a form."""
    if isinstance(tree, Name):
        if tree.kind != "literal":
            return tree.text
        # SQLite begins a comment at two minus signs, whatever a grammar makes of them. "/" needs no such care, since no
        # operand begins with "*".
        if tree.text == '"-"' and not form.comments:
            return "MINUS"
        return Unnamed(Pattern.of_text(literal_eval(tree.text)), tree.text)
    if isinstance(tree, Repeated):
        item = _expression(tree.item, form)
        return optional(item) if tree.most == 1 else Repeated(item, tree.least, tree.most)
    if isinstance(tree, OneOf):
        return _rule(tree, form)
    return InOrder(tuple(_expression(item, form) for item in tree.items if form.with_clause or item != _WITH))


_WITH: Written = OneOf((InOrder((Repeated(OneOf((InOrder((Name("with", "rule", "with"),)),)), 0, 1),)),))
"""``[with]``"""


def _names(form: Form) -> dict[str, _Rule]:
    """Where names stand, each in the ways that it can be written; and what a form begins with.

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
    statements = ["query", *(["insert", "update", "delete"] if form.changes else [])]
    results = ["_name"] if form.any_result else ["_value", *text]
    statement = statements[0] if len(statements) == 1 else _any_of(statements)
    rules: dict[str, Sequence[str]] = {
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
        "_literal": [
            *("NULL", "NUMBER", "STRING", *text, "BLOB", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"),
            *(kind for kind in ("BOOLEAN",) if kind in form.kinds),
        ],
        "_like": ["LIKE", "GLOB", "MATCH", *(["REGEXP"] if form.regexp else [])],
    }
    return {
        "start": OneOf((InOrder((statement, optional(Unnamed(Pattern.of_text(";"), '";"')))),)),
        **{rule: _any_of(alternatives) for rule, alternatives in rules.items()},
        "_result_alias": OneOf((InOrder(("AS", _any_of(results))), InOrder(("BARE_LABEL",)))),
    }


def _any_of(alternatives: Sequence[str]) -> _Rule:
    return OneOf(tuple(InOrder(tuple(names.split())) for names in alternatives))


def _quoted(name: str, quotes: Sequence[str]) -> list[str]:
    return [f"OPEN_{quote} {name} CLOSE_{quote}" for quote in quotes]
