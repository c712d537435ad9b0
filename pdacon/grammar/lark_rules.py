"""Lark's terminals and rules -> Grammar, with the checks that Lark makes when it builds its parser and lexer.

After this pass every symbol is defined, every pattern compiles alone and inside Lark's alternation, none is
zero-width, and no object of Lark's is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lark.grammar import Rule
from lark.lexer import TerminalDef

from pdacon.base.cancelling import every
from pdacon.base.graphs import reachable
from pdacon.base.quoting import near_names
from pdacon.errors import GrammarSyntaxError, Span
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.group_names import check_group_names
from pdacon.grammar.indentation import lower_indentation
from pdacon.grammar.loading import Loaded
from pdacon.grammar.model import Definition, GrammarOptions, Nonterminal, Production, Terminal
from pdacon.grammar.patterns import PatternSets, lower_pattern
from pdacon.grammar.places import Places, owner


class UndefinedStartError(GrammarSyntaxError):
    """No rule has the name of a start rule that was asked for: ``start``."""

    def __init__(self, message: str, span: Span | None, start: str) -> None:
        super().__init__(message, span)
        self.start = start
        self._arguments = (message, span, start)


def lower(
    loaded: Loaded, options: GrammarOptions, text: str, path: str | None, sets: PatternSets | None = None
) -> GrammarData:
    """Build the grammar.

    Raises
    ------
    GrammarSyntaxError, UnsupportedGrammarError
        If stock Lark would refuse to build a parser or a lexer, or would build one that can never parse.
    """
    nonterminal_names = list(dict.fromkeys(rule.origin.name for rule in loaded.rules))
    places = Places(loaded)
    _check_defined(loaded, options, set(nonterminal_names), places)
    terminals = _terminals(loaded, options, places, sets)
    if options.lexer == "basic":
        check_group_names(terminals)
    else:  # of several terminals, those that one context looks for are known when there are tables
        for terminal in terminals:
            check_group_names([terminal])
    ids = {terminal.name: k for k, terminal in enumerate(terminals)}
    nonterminals = tuple(
        Nonterminal(str(name), places.rule(name), repeats=name.startswith("__")) for name in nonterminal_names
    )
    layout = None if options.postlex is None else lower_indentation(options.postlex, ids, terminals)
    ids.update((n.name, len(terminals) + 1 + k) for k, n in enumerate(nonterminals))
    return GrammarData(
        terminals=terminals,
        nonterminals=nonterminals,
        productions=_productions(loaded.rules, ids, places),
        ignore=frozenset(ids[name] for name in loaded.ignore),
        starts=tuple(ids[name] for name in options.start),
        options=options,
        source=text,
        source_path=path,
        layout=layout,
        unused=tuple(Definition(name, loaded.builder.spans.get(name)) for name in loaded.unused),
        imports=places.imports.names,
        imported_files=places.imports.files,
        labels=() if loaded.builder.labels is None else loaded.builder.labels.labels,
    )


def _productions(rules: Sequence[Rule], ids: dict[str, int], places: Places) -> tuple[Production, ...]:
    spans = places.productions(rules)
    return tuple(
        Production(
            lhs=ids[rule.origin.name],
            rhs=tuple(ids[symbol.name] for symbol in rule.expansion),
            priority=rule.options.priority or 0,
            rule=owner(rule.origin.name),
            alias=None if rule.alias is None else str(rule.alias),
            order=rule.order,
            span=span,
        )
        for rule, span in every(zip(rules, spans, strict=True))
    )


def _terminals(
    loaded: Loaded, options: GrammarOptions, places: Places, sets: PatternSets | None
) -> tuple[Terminal, ...]:
    validated = _lexed(loaded, options)
    lowered = [
        _terminal(definition, loaded, options, places, sets, definition.name in validated)
        for definition in every(loaded.terminals, 1)
    ]
    defined = {terminal.name for terminal in lowered}
    used = [symbol.name for rule in loaded.rules for symbol in rule.expansion if symbol.is_term]
    if options.postlex is not None:
        # An Indenter gives them to the parser whether a rule wants them or not.
        made = (options.postlex.NL_type, options.postlex.INDENT_type, options.postlex.DEDENT_type)
        used += [name for name in made if name in loaded.named_terminals]
    declared = [name for name in dict.fromkeys(used) if name not in defined]
    return (*lowered, *(Terminal(str(name), None, 0, places.declaration(name)) for name in declared))


def _terminal(
    definition: TerminalDef,
    loaded: Loaded,
    options: GrammarOptions,
    places: Places,
    sets: PatternSets | None,
    validate: bool,
) -> Terminal:
    name, raw = str(definition.name), definition.pattern.raw
    made_up = name not in loaded.named_terminals or name.startswith("__")
    literal = (raw or f"/{definition.pattern.value}/") if made_up else None
    span, labels = places.terminal(name, literal), loaded.builder.labels
    pattern = lower_pattern(definition, options, span, labels, sets, validate=validate)
    if labels is not None and literal is not None:
        literal = labels.written(literal)
    return Terminal(name, pattern, definition.priority, span, literal)


def _lexed(loaded: Loaded, options: GrammarOptions) -> set[str]:
    """The terminals that Lark validates: all in the basic lexer, in the contextual one those of some LR state."""
    if options.lexer == "basic":
        return {terminal.name for terminal in loaded.terminals}
    by_origin: dict[str, list[Rule]] = {}
    for rule in loaded.rules:
        by_origin.setdefault(rule.origin.name, []).append(rule)

    def rules_in(origin: str) -> Iterator[str]:
        return (symbol.name for rule in by_origin[origin] for symbol in rule.expansion if not symbol.is_term)

    reached = (rule for origin in reachable(options.start, rules_in) for rule in by_origin[origin])
    lexed = {symbol.name for rule in reached for symbol in rule.expansion if symbol.is_term}
    newlines = set() if options.postlex is None else {options.postlex.NL_type}
    return lexed.union(loaded.ignore, newlines)


def _check_defined(loaded: Loaded, options: GrammarOptions, rules: set[str], places: Places) -> None:
    for name in options.start:
        if name not in rules:
            if next(iter(places.rule_names()), None) is None:
                nothing = f'the grammar has no rules; write one, such as {name}: "hello"'
                raise UndefinedStartError(nothing, places.beginning(), name)
            raise UndefinedStartError(
                f"start rule {name!r} is not defined; {_meant(name, places)}define it, or give start= one of the "
                f"rules: {_possible_starts(loaded, places)}",
                places.beginning(),
                name,
            )
    for rule in loaded.rules:
        for symbol in rule.expansion:
            if not symbol.is_term and symbol.name not in rules:
                raise GrammarSyntaxError(
                    f"rule {symbol.name!r} is used in {owner(rule.origin.name)!r} but has no definition; define it",
                    places.rule(rule.origin.name),
                )
    patterns = {terminal.name for terminal in loaded.terminals}
    for name in loaded.ignore:
        if name not in patterns:
            raise GrammarSyntaxError(
                f"terminal {name} is ignored but only declared, so nothing can match it; define it or drop the %ignore",
                places.declaration(name),
            )


_SHOWN = 8


def _meant(name: str, places: Places) -> str:
    near = near_names(name, places.rule_names(), 1)
    return f"did you mean {near[0]!r}? Or " if near else ""


def _possible_starts(loaded: Loaded, places: Places) -> str:
    """Those that are likely, and then others, in the order of the file."""
    likely = _likely_starts(loaded, places)
    others = [name for name in places.rule_names() if name not in likely and not name.startswith("_")]
    return _listed(sorted(likely)) + (f", or what they use: {_listed(others)}" if others else "")


def _likely_starts(loaded: Loaded, places: Places) -> list[str]:
    """The rules that no other one needs, but for those whose name says that they are no part of the tree; else all."""
    rules = list(places.rule_names())
    needed = {used for name, uses in loaded.builder.leads.items() for used in uses - {name}}
    return [name for name in rules if name not in needed and not name.startswith("_")] or rules


def _listed(known: Sequence[str]) -> str:
    return ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "") if known else "(there are none)"
