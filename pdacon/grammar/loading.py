"""Lark's loader, with the places of what it loads. Everything Lark makes stays in here and in lark_rules.py."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from threading import Lock
from types import MappingProxyType
from typing import Any, cast

from lark import lexer, load_grammar
from lark.grammar import Rule, Symbol
from lark.lexer import TerminalDef, Token
from lark.load_grammar import GrammarBuilder
from lark.tree import Tree
from lark.utils import get_regexp_width, is_id_continue, is_id_start, small_factors

from pdacon.base.cancelling import every, look, within_other_code
from pdacon.errors import Span
from pdacon.grammar.alternatives import check_alternatives
from pdacon.grammar.labels import LabelTable
from pdacon.grammar.model import GrammarOptions
from pdacon.grammar.templates import check_templates

_preparing = Lock()
_larks_width = get_regexp_width
_kept_width = lru_cache(maxsize=1024)(get_regexp_width)
_LONGEST_KEPT = 10_000  # characters of a regular expression
_CHARACTERS = 3  # that Lark reads while it makes one alternative plain
_STATEMENT = re.compile(r"%(?P<keyword>[a-z]+)(?P<rest>[^\n]*)")
_WORD = re.compile(r"\w+")


class SourceText:
    """A text, and where its lines begin. Offsets count characters from 0.

    ``shown`` is what messages call names in it that are not the author's.
    """

    def __init__(self, text: str, path: str | None, shown: Mapping[str, str] = MappingProxyType({})) -> None:
        self.text = text
        self.path = path
        self.shown = shown

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def span(self, start: int, end: int) -> Span:
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        return Span(self.path, line, column, end_line, end_column)

    def token_span(self, token: Token) -> Span:
        start = token.start_pos or 0
        has_labels = token.type == "REGEXP" and token.end_pos is not None  # and so is not as long as it was written
        return self.span(start, token.end_pos if has_labels and token.end_pos else start + len(token))

    def statement_span(self, keyword: str, name: str) -> Span | None:
        """The place of ``name`` in the first ``%keyword`` statement that has it."""
        offset = self._in_statements.get((keyword, name))
        return None if offset is None else self.span(offset, offset + len(name))

    @cached_property
    def _in_statements(self) -> dict[tuple[str, str], int]:
        """Where each word stands first on the lines of statements, by the statement's keyword."""
        places: dict[tuple[str, str], int] = {}
        for statement in every(_STATEMENT.finditer(self.text)):
            keyword = statement["keyword"]
            for word in every(_WORD.finditer(self.text, *statement.span("rest"))):
                places.setdefault((keyword, word[0]), word.start())
        return places

    @cached_property
    def ignored(self) -> list[Span]:
        """The places of all ``%ignore``."""
        return [self.span(*match.span()) for match in every(re.finditer("%ignore", self.text))]

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


class ImportFailedError(Exception):
    """An ``%import`` went wrong; the cause is what Lark raised."""

    def __init__(self, dotted_path: tuple[str, ...], base_path: Any, site: Span | None) -> None:
        super().__init__(".".join(dotted_path))
        self.dotted_path, self.base_path, self.site = dotted_path, base_path, site


@dataclass(frozen=True, slots=True)
class ImportStatement:
    """Names from one file; ``aliases`` are those asked for, with what they are called here."""

    dotted_path: tuple[str, ...]
    base_path: Any
    aliases: Mapping[str, str]


class RecordingBuilder(GrammarBuilder):
    """Lark's grammar builder; it remembers where each rule and terminal of the main text is defined.

    Imported names get the place of their ``%import``: Lark builds imported grammars with builders of its own.
    """

    def __init__(self, source: SourceText, options: GrammarOptions, sets: Mapping[str, Any] | None = None) -> None:
        super().__init__(False, list(options.import_paths))
        self.source = source
        self.name_tokens: dict[str, Token] = {}
        self.spans: dict[str, Span] = {}
        self._sites: dict[tuple[str, ...], dict[str, Token]] = {}
        self.imports: list[tuple[ImportStatement, list[str]]] = []
        # The names in each definition; in Lark's trees terminals are written out where others name them.
        self.leads: dict[str, set[str]] = {}
        self.labels = LabelTable(sets or {}) if options.extensions else None
        self.current: Token | None = None  # The name of the definition at work, for errors that do not tell

    def _unpack_definition(self, tree: Any, mangle: Any) -> Any:
        look()  # in an editor most texts are out of date before they are read
        self.current = tree.children[1 if tree.data == "rule" else 0]
        self._read_labels(tree)
        return super()._unpack_definition(tree, mangle)  # type: ignore[no-untyped-call]

    def _define(self, name: str, is_term: bool, exp: Any, *args: Any, **kwargs: Any) -> None:
        if exp is not None and self.current is not None:
            self.name_tokens[str(name)] = self.current
            self.spans[str(name)] = self.source.token_span(self.current)
            self.leads[str(name)] = set(_names(exp))
        super()._define(name, is_term, exp, *args, **kwargs)  # type: ignore[no-untyped-call]

    def _extend(self, name: str, is_term: bool, exp: Any, *args: Any, **kwargs: Any) -> None:
        self.leads.setdefault(str(name), set()).update(_names(exp))
        super()._extend(name, is_term, exp, *args, **kwargs)  # type: ignore[no-untyped-call]

    def _unpack_import(self, stmt: Any, grammar_name: Any) -> Any:
        dotted_path, base_path, aliases = super()._unpack_import(stmt, grammar_name)  # type: ignore[no-untyped-call]
        path, *named = stmt.children
        several = bool(named) and isinstance(named[0], Tree)
        tokens: list[Token] = named[0].children if several else named or path.children[-1:]
        self._sites.setdefault(tuple(dotted_path), {}).update((str(token), token) for token in tokens)
        return dotted_path, base_path, aliases

    @property
    def imported(self) -> dict[str, Token]:
        """The names that the main text imports, each with its place in the ``%import``."""
        return {name: token for sites in self._sites.values() for name, token in sites.items()}

    def _read_labels(self, tree: Any) -> None:
        """Put symbols in the place of labels, before Lark parses any pattern."""
        if self.labels is None or not isinstance(tree, Tree):
            return
        for node in tree.iter_subtrees():
            for place, child in enumerate(node.children):
                if isinstance(child, Token) and child.type == "REGEXP":
                    symbols = self.labels.symbols_for(str(child), self.source.token_span(child))
                    if symbols != child:
                        node.children[place] = child.update(value=symbols)

    def _ignore(self, exp_or_name: Any) -> None:
        self._read_labels(exp_or_name)
        names = set(_names(exp_or_name))
        super()._ignore(exp_or_name)  # type: ignore[no-untyped-call]
        if self._ignore_names[-1].startswith("__"):
            self.leads[self._ignore_names[-1]] = names
            first = next(literals(exp_or_name), None)
            if first is not None:
                self.spans[self._ignore_names[-1]] = self.source.token_span(first[1])
            elif places := self.source.ignored[: len(self._ignore_names)]:
                self.spans[self._ignore_names[-1]] = places[-1]

    def do_import(self, dotted_path: Any, base_path: Any, aliases: Any, base_mangle: Any = None) -> None:
        known = set(self._definitions)
        sites = {name: self.source.token_span(token) for name, token in self._sites.get(dotted_path, {}).items()}
        site = next(iter(sites.values()), None)
        try:
            super().do_import(dotted_path, base_path, aliases, base_mangle)
        except Exception as error:
            raise ImportFailedError(tuple(map(str, dotted_path)), base_path, site) from error
        path, aliases = tuple(map(str, dotted_path)), {str(own): str(name) for own, name in aliases.items()}
        new = {str(name) for name in self._definitions.keys() - known}
        self.imports.append((ImportStatement(path, base_path, aliases), sorted(new)))
        for name in new:
            self.leads.setdefault(name, set()).update(_names(self._definitions[name].tree))
        # Lark joins all imports from one file; what a name needs has its place, and what two need that of the first.
        for asked, span in sites.items():
            pending = [asked]
            while pending:
                name = pending.pop()
                if name == asked or (name in new and name not in sites and name not in self.spans):
                    self.spans[name] = span
                    pending += self.leads.get(name, set()) - self.spans.keys()
        for name in new - self.spans.keys():
            if site is not None:
                self.spans[name] = site


@dataclass(frozen=True, slots=True)
class Loaded:
    """What Lark's loader and ``Grammar.compile`` give, after ``priority=``: its parser and lexer are built from this.

    ``rule_trees`` are the author's rules and templates before EBNF was expanded; ``written`` maps each literal in the
    rules of the main text to its first use. ``unused``: see `_unused`.
    """

    terminals: list[TerminalDef]
    rules: list[Rule]
    ignore: list[str]
    builder: RecordingBuilder
    named_terminals: frozenset[str]
    rule_trees: dict[str, Tree[Any]]
    written: dict[str, Span] = field(default_factory=dict)
    unused: tuple[str, ...] = ()


def prepare_lark() -> None:
    """Have Lark build the parser for its own language, which it keeps for the process.

    With interegular installed Lark compares the 30 terminals of that language pairwise, each time anew: nine tenths of
    the first load. They are known not to collide, so that its lexer is built without the comparison.
    """
    loader: Any = load_grammar
    with _preparing:
        if not hasattr(loader._get_parser, "cache"):
            whole = loader.LexerConf
            loader.LexerConf = partial(whole, skip_validation=True)
            try:
                loader._get_parser()
            finally:
                loader.LexerConf = whole


def _width(expression: str) -> Any:
    """Lark's least and greatest length of what a regular expression matches, from before if it was asked for lately."""
    return _kept_width(expression) if len(expression) <= _LONGEST_KEPT else _larks_width(expression)


@contextmanager
def _widths_kept() -> Iterator[None]:
    """Have Lark parse no regular expression twice for its width, by which it sorts alternatives.

    For the terminals of a large grammar that is a sixth of the time to load it, and between two keys in an editor few
    of them change. What it is depends on the text alone, so that other threads may see either function.
    """
    module: Any = lexer
    module.get_regexp_width = _width
    try:
        yield
    finally:
        module.get_regexp_width = _larks_width


def parts_of_repetition(times: int) -> list[tuple[int, int]]:
    """Factors and summands that make a number of 1 (``n = n * a + b``): the helpers in which Lark counts so far."""
    return small_factors(times, load_grammar.SMALL_FACTOR_THRESHOLD)


def name_of_literal(text: str) -> str | None:
    """What Lark calls the terminal of a literal that has no name, such as LBRACE or IF; None: it gets a number."""
    if text in load_grammar._TERMINAL_NAMES:
        return load_grammar._TERMINAL_NAMES[text]
    is_word = is_id_continue(text) and is_id_start(text[0])
    return text.upper() if is_word else None


def base_of(options: GrammarOptions) -> Any:
    """What Lark calls the main text: relative imports start there, and at the main script if it has no file."""
    return "<string>" if options.import_base is None else options.import_base


def load(builder: RecordingBuilder, options: GrammarOptions) -> Loaded:
    """Run Lark's loader as ``lark.Lark.__init__`` does, up to where it would build the parser and the lexer."""
    prepare_lark()
    source = builder.source
    with within_other_code(len(source.text) // _CHARACTERS):
        builder.load_grammar(source.text, base_of(options))
        builder.current = None
        grammar = builder.build()
    rule_trees = {str(name): tree for name, _, tree, _ in grammar.rule_defs}
    written = {
        literal: source.token_span(token)
        for name, tree in reversed(rule_trees.items())
        if name in builder.name_tokens
        for literal, token in reversed(list(literals(tree)))
    }
    check_templates([(str(name), parameters, tree) for name, parameters, tree, _ in grammar.rule_defs], builder.spans)
    alternatives = sum(
        check_alternatives(name, tree, builder.spans.get(name)) for name, tree in every(rule_trees.items())
    )
    # An Indenter's newlines are lexed everywhere, even if no rule names them.
    kept = {options.postlex.NL_type} if options.postlex else set()
    with within_other_code(10 * alternatives), _widths_kept():
        terminals, rules, ignore = grammar.compile(list(options.start), kept)
    _apply_priority(terminals, rules, options.priority)
    unused = _unused(builder, options, {str(terminal.name) for terminal in terminals})
    named = frozenset(str(name) for name, _ in grammar.term_defs)
    return Loaded(terminals, rules, ignore, builder, named, rule_trees, written, unused)


def load_terminals(builder: RecordingBuilder, options: GrammarOptions) -> tuple[list[TerminalDef], tuple[str, ...]]:
    """Read a text up to where its rules would be made plain; its terminals, each of one pattern, and the ignored."""
    prepare_lark()
    builder.load_grammar(builder.source.text, base_of(options))
    trees = [(name, (one.tree, one.options)) for name, one in builder._definitions.items() if one.is_term]
    with _widths_kept():
        terminals, _, _ = load_grammar.Grammar([], trees, []).compile([], "*")
    return terminals, tuple(map(str, builder._ignore_names))


def _unused(builder: RecordingBuilder, options: GrammarOptions, kept: set[str]) -> tuple[str, ...]:
    """The names of the main text that nothing leads to: no start, nothing ignored, no other name of these.

    ``kept`` are the terminals that Lark keeps: a literal in the rules is a use of the terminal defined like it.
    """
    leads = builder.leads
    used = kept | {str(name) for name in (*options.start, *builder._ignore_names)}
    if options.postlex is not None:
        made = options.postlex
        used |= {made.NL_type, made.INDENT_type, made.DEDENT_type, *made.OPEN_PAREN_types, *made.CLOSE_PAREN_types}
    pending = list(used)
    while pending:
        more = leads.get(pending.pop(), set()) - used
        used |= more
        pending += more
    named = {**builder.name_tokens, **builder.imported}
    return loose_names(sorted(named.keys() - used, key=lambda name: named[name].start_pos or 0), leads)


def loose_names(written: Sequence[str], leads: Mapping[str, AbstractSet[str]]) -> tuple[str, ...]:
    """Of names that nothing uses those that no other one of them needs; ``leads`` are the names that each one has."""
    needed = {other for name in written for other in leads.get(name, set()) - {name}}
    loose = [name for name in written if name not in needed]
    covered: set[str] = set()
    for name in (*loose, *written):  # those that lead to each other in a circle are known by the first
        if name in covered:
            continue
        if name not in loose:
            loose.append(name)
        pending = [name]
        while pending:
            at = pending.pop()
            if at not in covered:
                covered.add(at)
                pending += leads.get(at, ())
    return tuple(name for name in written if name in loose and not name.startswith("__"))


def _names(tree: Any) -> Iterator[str]:
    """The rules, templates and terminals that a definition's tree names; no recursion."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Tree):
            pending += node.children
        elif isinstance(node, Symbol):
            yield node.name
        elif isinstance(node, Token) and node.type in ("RULE", "TERMINAL"):
            yield str(node)


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


def literals(tree: Any) -> Iterator[tuple[str, Token]]:
    """The literals of a definition's tree in the order of the text, each with its (first) token; no recursion."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, Tree):
            continue
        if node.data == "literal":
            token = cast(Token, node.children[0])
            yield str(token), token
        elif node.data == "range":
            first, last = cast("list[Token]", node.children)
            yield f"/[{first[1:-1]}-{last[1:-1]}]/", first
        else:
            stack.extend(reversed(node.children))
