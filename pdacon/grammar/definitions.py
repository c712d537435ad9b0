"""The rules as their author wrote them: repetitions, options, templates, before Lark makes plain productions of them.

A `Grammar` keeps productions only, so the text is loaded once more. What changes the language alone is here: aliases,
`?` and `!` before a rule and priorities, which shape trees or settle conflicts, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from lark.lexer import TerminalDef, Token
from lark.tree import Tree as LarkTree

from pdacon.grammar.diagnosis import explain
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, Tree, simplified
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.labels import LabelTable
from pdacon.grammar.loading import Loaded, RecordingBuilder, SourceText, load, load_terminals
from pdacon.grammar.model import GrammarOptions, Terminal
from pdacon.grammar.patterns import lower_pattern


@dataclass(frozen=True, slots=True)
class Name:
    """A use of a rule, of a terminal, of a template's parameter, or a literal.

    ``text`` is as written: ``value``, ``NUMBER``, ``"true"i``, ``/[0-9]+/``, ``"a".."z"``, ``_separated{pair, ","}``.
    ``rule`` is the name of the rule or template that is used, None for anything else.
    """

    text: str
    kind: Literal["rule", "terminal", "literal", "parameter"]
    rule: str | None = None


Expression: TypeAlias = Tree[Name]


@dataclass(frozen=True, slots=True)
class Definition:
    """A rule, or a template with its parameters.

    ``imported`` is True for what another grammar defines; its names have that grammar's before them, as in Lark.
    """

    name: str
    parameters: tuple[str, ...]
    expression: Expression
    imported: bool


def read_definitions(grammar: GrammarData, text: str | None = None) -> tuple[Definition, ...]:
    """The definitions of all rules and templates, those of the text first and in its order, then the imported ones.

    The text is the grammar's in Lark's language, where it was made from another one.

    Rules that nothing uses are here too.

    Raises GrammarSyntaxError: a grammar that it imports has gone, or is no longer what it was.
    Cost: Lark's loader, as for `Grammar.from_lark`.
    """
    builder = RecordingBuilder(
        SourceText(grammar.source if text is None else text, grammar.source_path), grammar.options
    )
    try:
        loaded = load(builder, grammar.options)
    except Exception as error:
        raise explain(error, builder) from error
    if builder.labels is not None:
        for tree in loaded.rule_trees.values():
            _restore_patterns(tree, builder.labels)
    definitions = [_definition(loaded, name, tree) for name, tree in loaded.rule_trees.items()]
    return tuple(sorted(definitions, key=lambda definition: definition.imported))


@dataclass(frozen=True)
class Parts:
    """Rules and terminals of a text, to put others together with."""

    # As they are written, each pair of parentheses and brackets included. Names may be undefined.
    rules: Mapping[str, Expression]
    terminals: Mapping[str, TerminalDef]  # As Lark has them, each of one pattern, in the order of the text
    ignore: tuple[str, ...]  # The terminals that are ignored

    def regexp(self, name: str) -> str:
        """What a terminal matches, or a part of terminals."""
        return self.terminals[name].pattern.to_regexp()

    def terminal(self, name: str) -> Terminal:
        """A terminal that can be a lexeme."""
        one = self.terminals[name]
        pattern = lower_pattern(one, GrammarOptions(), None, validate=True)
        return Terminal(name, pattern, one.priority, None, one.pattern.raw if name.startswith("__") else None)


def read_parts(text: str) -> Parts:
    """The rules and terminals of a text that is pdacon's own, and so is not checked."""
    options = GrammarOptions()
    builder = RecordingBuilder(SourceText(text, None), options)
    terminals, ignore = load_terminals(builder, options)
    rules = {str(name): _expression(one.tree, ()) for name, one in builder._definitions.items() if not one.is_term}
    return Parts(rules, {str(one.name): one for one in terminals}, ignore)


def _restore_patterns(tree: LarkTree[Any], labels: LabelTable) -> None:
    """Put labels and sets of texts back into patterns as their author wrote them."""
    for node in tree.iter_subtrees():
        for place, child in enumerate(node.children):
            if isinstance(child, Token) and child.type == "REGEXP":
                node.children[place] = child.update(value=labels.written(str(child)))


def _definition(loaded: Loaded, name: str, tree: LarkTree[Any]) -> Definition:
    parameters = tuple(map(str, loaded.builder._definitions[name].params))
    return Definition(
        name, parameters, simplified(_expression(tree, parameters)), name not in loaded.builder.name_tokens
    )


def _expression(node: Any, parameters: Sequence[str]) -> Expression:
    if not isinstance(node, LarkTree):
        return _name(node, parameters)
    children = node.children
    if node.data == "expansions":
        return OneOf(tuple(_expression(child, parameters) for child in children))
    if node.data == "expansion":
        return InOrder(tuple(_expression(child, parameters) for child in children))
    if node.data in ("alias", "value"):
        return _expression(children[0], parameters)
    if node.data == "maybe":
        return OneOf((InOrder((Repeated(_expression(children[0], parameters), 0, 1),)),))
    if node.data == "expr":
        return _repeated(_expression(children[0], parameters), *map(str, children[1:]))
    if node.data == "template_usage":
        template, *arguments = children
        name = str(template.name)  # type: ignore[union-attr]
        listed = ", ".join(written(simplified(_expression(argument, parameters))) for argument in arguments)
        return Name(f"{name}{{{listed}}}", "rule", name)
    if node.data == "range":
        return Name(f"{children[0]}..{children[1]}", "literal")
    return Name(str(children[0]), "literal")


def _name(symbol: Any, parameters: Sequence[str]) -> Name:
    name = str(symbol.name)
    if name in parameters:
        return Name(name, "parameter")
    return Name(name, "terminal") if symbol.is_term else Name(name, "rule", name)


def _repeated(item: Expression, operator: str, *bounds: str) -> Expression:
    if operator == "~":
        return Repeated(item, int(bounds[0]), int(bounds[-1]))
    least = 1 if operator == "+" else 0
    return Repeated(item, least, 1 if operator == "?" else None)


def written(expression: Expression, literals: Mapping[str, str] = MappingProxyType({})) -> str:
    """The expression in Lark's language; ``literals``: by a terminal's name what stands in its place."""
    if isinstance(expression, Name):
        return literals.get(expression.text, expression.text)
    if isinstance(expression, OneOf):
        return f"({' | '.join(written(item, literals) for item in expression.items)})"
    if isinstance(expression, InOrder):
        return f"({' '.join(written(item, literals) for item in expression.items)})"
    sign = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get((expression.least, expression.most))
    return f"{written(expression.item, literals)}{sign or f'~{expression.least}..{expression.most}'}"
