"""The rules of a dialect as their author wrote them, regular ones too, which are parts of terminals once lowered."""

from __future__ import annotations

from pdacon.base.quoting import quoted
from pdacon.frontends.dialects.gbnf import EBNF, GBNF, read_rules
from pdacon.frontends.dialects.tree import Reference, Rules, Text, Tree, WrittenCharacters
from pdacon.grammar import GrammarData
from pdacon.grammar.definitions import Definition, Expression, Name
from pdacon.grammar.expressions import InOrder, OneOf, Repeated

_NOTATIONS = {"GBNF": GBNF, "EBNF": EBNF}


def written_definitions(grammar: GrammarData) -> tuple[Definition, ...]:
    """The definitions of all rules, in the order of the text; none if the grammar is of no dialect.

    Cost: the text is read once more.
    """
    rules = rules_of(grammar)
    if rules is None:
        return ()
    return tuple(Definition(rule.name, (), _expression(rule.body), False) for rule in rules.rules.values())


def rules_of(grammar: GrammarData) -> Rules | None:
    """The rules that a grammar was made of; None if it is of no dialect."""
    notation = _NOTATIONS.get(grammar.language)
    return None if notation is None else read_rules(grammar.source, notation, start_of(grammar), grammar.source_path)


def start_of(grammar: GrammarData) -> str:
    """The rule that a text is derived from, by its author's name."""
    return next(production.rule for production in grammar.productions if production.lhs == grammar.starts[0])


def _expression(tree: Tree) -> Expression:
    if isinstance(tree, WrittenCharacters):
        return Name(tree.written, "literal")
    if isinstance(tree, Text):
        return Name(quoted(tree.value), "literal") if tree.value else InOrder(())
    if isinstance(tree, Reference):
        return Name(tree.name, "rule", tree.name)
    if isinstance(tree, Repeated):
        return Repeated(_expression(tree.item), tree.least, tree.most)
    parts = tuple(map(_expression, tree.items))
    if len(parts) == 1:
        return parts[0]
    return OneOf(parts) if isinstance(tree, OneOf) else InOrder(parts)
