"""Lark's loader, with the places of what it loads. Everything Lark makes stays in here and in lowering.py."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from lark.grammar import Rule
from lark.lexer import TerminalDef, Token
from lark.load_grammar import GrammarBuilder
from lark.tree import Tree

from pdacon.grammar.model import GrammarOptions, Span


class SourceText:
    """A text, and where its lines begin. Offsets count characters from 0."""

    def __init__(self, text: str, path: str | None) -> None:
        self.text = text
        self.path = path

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def span(self, start: int, end: int) -> Span:
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        return Span(self.path, line, column, end_line, end_column)

    def token_span(self, token: Token) -> Span:
        start = token.start_pos or 0
        return self.span(start, start + len(token))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


class ImportFailedError(Exception):
    """An ``%import`` went wrong; the cause is what Lark raised."""

    def __init__(self, dotted_path: tuple[str, ...], base_path: Any, site: Span | None) -> None:
        super().__init__(".".join(dotted_path))
        self.dotted_path, self.base_path, self.site = dotted_path, base_path, site


class RecordingBuilder(GrammarBuilder):
    """Lark's grammar builder; it remembers where each rule and terminal of the main text is defined.

    Imported names get the place of their ``%import``: Lark builds imported grammars with builders of its own.
    """

    def __init__(self, source: SourceText, options: GrammarOptions) -> None:
        super().__init__(False, list(options.import_paths))
        self.source = source
        self.name_tokens: dict[str, Token] = {}
        self.spans: dict[str, Span] = {}
        self._sites: dict[tuple[str, ...], dict[str, Token]] = {}
        self._current: Token | None = None

    def _unpack_definition(self, tree: Any, mangle: Any) -> Any:
        self._current = tree.children[1 if tree.data == "rule" else 0]
        return super()._unpack_definition(tree, mangle)  # type: ignore[no-untyped-call]

    def _define(self, name: str, is_term: bool, exp: Any, *args: Any, **kwargs: Any) -> None:
        if exp is not None and self._current is not None:
            self.name_tokens[str(name)] = self._current
            self.spans[str(name)] = self.source.token_span(self._current)
        super()._define(name, is_term, exp, *args, **kwargs)  # type: ignore[no-untyped-call]

    def _unpack_import(self, stmt: Any, grammar_name: Any) -> Any:
        dotted_path, base_path, aliases = super()._unpack_import(stmt, grammar_name)  # type: ignore[no-untyped-call]
        path, *named = stmt.children
        several = bool(named) and isinstance(named[0], Tree)
        tokens: list[Token] = named[0].children if several else named or path.children[-1:]
        self._sites.setdefault(tuple(dotted_path), {}).update((str(token), token) for token in tokens)
        return dotted_path, base_path, aliases

    def do_import(self, dotted_path: Any, base_path: Any, aliases: Any, base_mangle: Any = None) -> None:
        known = set(self._definitions)
        sites = {name: self.source.token_span(token) for name, token in self._sites.get(dotted_path, {}).items()}
        site = next(iter(sites.values()), None)
        try:
            super().do_import(dotted_path, base_path, aliases, base_mangle)
        except Exception as error:
            raise ImportFailedError(tuple(map(str, dotted_path)), base_path, site) from error
        for name in self._definitions.keys() - known:
            span = sites.get(str(name), site)
            if span is not None:
                self.spans[str(name)] = span


@dataclass(frozen=True, slots=True)
class Loaded:
    """What Lark's loader and ``Grammar.compile`` give, after ``priority=``: its parser and lexer are built from this.

    ``rule_trees`` are the author's rules and templates before EBNF was expanded; ``written`` maps each literal in the
    rules of the main text to its first use.
    """

    terminals: list[TerminalDef]
    rules: list[Rule]
    ignore: list[str]
    builder: RecordingBuilder
    named_terminals: frozenset[str]
    rule_trees: dict[str, Tree[Any]]
    written: dict[str, Span] = field(default_factory=dict)


def load(builder: RecordingBuilder, options: GrammarOptions) -> Loaded:
    """Run Lark's loader as ``lark.Lark.__init__`` does, up to where it would build the parser and the lexer."""
    source = builder.source
    # "<string>" is Lark's own name for a text without a file; relative imports then start at the main script.
    base = "<string>" if options.import_base is None else options.import_base
    builder.load_grammar(source.text, base)
    grammar = builder.build()
    rule_trees = {str(name): tree for name, _, tree, _ in grammar.rule_defs}
    written = {
        str(token): source.token_span(token)
        for name, tree in reversed(rule_trees.items())
        if name in builder.name_tokens
        for token in reversed(list(_literals(tree)))
    }
    terminals, rules, ignore = grammar.compile(list(options.start), set())
    _apply_priority(terminals, rules, options.priority)
    named = frozenset(str(name) for name, _ in grammar.term_defs)
    return Loaded(terminals, rules, ignore, builder, named, rule_trees, written)


def _apply_priority(terminals: list[TerminalDef], rules: list[Rule], policy: str | None) -> None:
    # The alternatives of a rule share one RuleOptions, and Lark negates it once for each of them: with "invert" the
    # priority of a rule with an even number of productions stays as it was. That is Lark's meaning, so it is ours.
    # All these objects are fresh from this load, nobody else sees the change.
    if policy == "invert":
        for rule in rules:
            if rule.options.priority is not None:
                rule.options.priority = -rule.options.priority
        for terminal in terminals:
            terminal.priority = -terminal.priority
    elif policy is None:
        for rule in rules:
            rule.options.priority = None
        for terminal in terminals:
            terminal.priority = 0


def _literals(tree: Any) -> Iterator[Token]:
    """The STRING and REGEXP tokens of a rule's tree in the order of the text; no recursion."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Tree):
            if node.data == "literal":
                yield cast(Token, node.children[0])
            else:
                stack.extend(reversed(node.children))
