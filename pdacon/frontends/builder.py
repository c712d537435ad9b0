"""Rules with alternatives and repetitions over symbols -> `GrammarData`, as Lark's loader makes it of the same rules.

In: terminals with their patterns, and rules whose right sides are trees of names, literals and labels, each with its
place. Out: the grammar in plain productions. Symbols have the order and the helpers the names that they have after
Lark's loader, since Lark's lexer goes by that order and messages show those names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import TypeAlias

from pdacon.base.cancelling import every, look
from pdacon.base.graphs import reachable
from pdacon.errors import LimitExceededError, Span
from pdacon.grammar import GrammarData
from pdacon.grammar.alternatives import MOST_ALTERNATIVES
from pdacon.grammar.expressions import InOrder, OneOf, Repeated, Tree, leaves_of, parts_of
from pdacon.grammar.labels import Label
from pdacon.grammar.loading import loose_names, name_of_literal, parts_of_repetition
from pdacon.grammar.model import Definition, GrammarOptions, Nonterminal, Pattern, Production, Terminal
from pdacon.grammar.patterns import width_of
from pdacon.regular import RegularSet
from pdacon.regular.ordered import compile_with_sets
from pdacon.regular.ordered.labels import FIRST_SYMBOL, MOST_LABELS
from pdacon.regular.ordered.program import to_automaton

_EXTENSIONS = GrammarOptions(extensions=True)
_AT_ONCE = 50
"""From so many times on a repetition is broken up into helpers."""


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A terminal that has no name where it is used; ``written`` is what its author wrote there.

    A label comes at least once, and ``most`` times at most; None: any number of times.
    """

    pattern: Pattern | Label
    written: str
    span: Span | None = None
    most: int | None = 1


Expression: TypeAlias = Tree[str | Unnamed]
"""A symbol by its name, or what has none; what consists of these."""
_Lowered: TypeAlias = Tree[str]
_Side: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative of a rule: what it consists of, the name after ``->``, and its place."""

    items: tuple[Expression, ...]
    alias: str | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    alternatives: Sequence[Alternative]
    span: Span | None


def set_pattern(texts: RegularSet, never: RegularSet | None = None) -> Pattern:
    """The pattern of a set of texts, of which none is empty, where none of ``never`` follows."""
    program = texts.program()
    behind = None if never is None else never.program()
    assert program is not None
    if behind is not None:
        program = compile_with_sets(r"(?:\udc00+)(?!\udc01+)", 0, [program, behind])
    return Pattern("automaton", "", frozenset(), "", *width_of("(?s:.+)"), to_automaton(program))


def token(name: str, span: Span | None = None) -> Unnamed:
    """A special token."""
    label = Label(name, is_token=True)
    return Unnamed(label, f"/{label}/", span)


def tokens(label: Label, most: int | None) -> Unnamed:
    """One token of a set, or more; ``most``: so many at most."""
    return Unnamed(label, f"/{label}{_times(most)}/", None, most)


def _times(most: int | None) -> str:
    """How often something comes, as a quantifier."""
    return "" if most == 1 else "+" if most is None else f"{{1,{most}}}"


def optional(node: Expression) -> Expression:
    """Something, or nothing."""
    return OneOf((node, InOrder(())))


def written(node: Expression | Alternative) -> str:
    """An alternative, or a part of one, in Lark's language."""
    if isinstance(node, Alternative):
        return " ".join(map(written, node.items)) + ("" if node.alias is None else f" -> {node.alias}")
    if isinstance(node, str):
        return node
    if isinstance(node, Unnamed):
        return node.written
    if isinstance(node, InOrder):
        return " ".join(map(written, node.items))
    if isinstance(node, OneOf):
        return f"({' | '.join(map(written, node.items))})"
    item = f"({written(node.item)})" if isinstance(node.item, InOrder | Repeated) else written(node.item)
    sign = "+" if node.least else "*"
    return f"{item}{sign if node.most is None else f'~{node.least}..{node.most}'}"


class Builder:
    """Rules and terminals of a grammar, in the order in which they are defined.

    Of equal alternatives the first counts, where Lark refuses those that differ in their aliases.
    """

    def __init__(self) -> None:
        self._rules: dict[str, _Rule] = {}
        self._helpers: dict[str, tuple[str, _Lowered]] = {}  # with the rules that they were made for
        self._helper_names: dict[tuple[str, _Lowered, _Lowered], str] = {}
        self._terminals: dict[str, Terminal] = {}
        self._names: dict[Pattern, str] = {}
        self._places: dict[str, Span | None] = {}  # of what is written in place of names
        self._unnamed = 0
        self._labels: dict[Label, int] = {}
        self._leads: defaultdict[str, set[str]] = defaultdict(set)  # the names in each rule

    def terminal(self, terminal: Terminal) -> None:
        """Define a terminal; one without a pattern is declared."""
        self._terminals[terminal.name] = terminal
        if terminal.pattern is not None:
            self._names[terminal.pattern] = terminal.name

    def rule(self, name: str, alternatives: Sequence[Alternative], span: Span | None = None) -> None:
        """Define a rule."""
        self._rules[name] = _Rule(alternatives, span)
        leaves: Iterable[str | Unnamed] = chain.from_iterable(
            leaves_of(InOrder(alternative.items)) for alternative in alternatives
        )
        for leaf in leaves:
            if isinstance(leaf, str):
                self._leads[name].add(leaf)
            else:
                self._places.setdefault(leaf.written, leaf.span)

    def built(
        self,
        source: str,
        path: str | None = None,
        ignore: Collection[str] = (),
        options: GrammarOptions = _EXTENSIONS,
    ) -> GrammarData:
        """The grammar of what the rule ``start`` derives, without the symbols that nothing uses.

        Raises
        ------
        LimitExceededError
            "alternatives": a rule has too many once its optional parts are written out; "labels".
        """
        lowered = {name: self._lowered_rule(name, rule) for name, rule in every(self._rules.items(), 1)}
        written = [(name, name, rule) for name, rule in lowered.items()]
        for name, (owner, tree) in self._helpers.items():
            written.append((name, owner, [(tree, Alternative((), None, self._rules[owner].span))]))
        productions = self._used(
            [production for parts in every(written, 1) for production in self._productions(*parts)]
        )
        symbols = {symbol for production in productions for symbol in production.rhs}
        defined = [terminal for terminal in self._terminals.values() if terminal.pattern is not None]
        terminals = [terminal for terminal in defined if terminal.name in symbols or terminal.name in ignore]
        declared = {symbol: self._terminals.get(symbol) for production in productions for symbol in production.rhs}
        terminals += [terminal for terminal in declared.values() if terminal is not None and terminal.pattern is None]
        nonterminals = list(dict.fromkeys(production.lhs for production in productions))
        number = {terminal.name: k for k, terminal in enumerate(terminals)}
        number |= {name: len(terminals) + 1 + k for k, name in enumerate(nonterminals)}
        return GrammarData(
            terminals=tuple(terminals),
            nonterminals=tuple(map(self._nonterminal, nonterminals)),
            productions=tuple(production.numbered(number) for production in every(productions)),
            ignore=frozenset(map(number.__getitem__, ignore)),
            starts=(number["start"],),
            options=replace(options, import_base=path),
            source=source,
            source_path=path,
            unused=tuple(Definition(name, self._rules[name].span) for name in self._unused()),
            labels=tuple(self._labels),
        )

    def _nonterminal(self, name: str) -> Nonterminal:
        owner = self._helpers[name][0] if name in self._helpers else name
        return Nonterminal(name, self._rules[owner].span, repeats=name in self._helpers)

    def _used(self, productions: list[_Production]) -> list[_Production]:
        """The productions without the rules that no other rule has, and what only these have."""
        while True:
            used = {symbol for production in productions for symbol in production.rhs if symbol != production.lhs} | {
                "start"
            }
            kept = [production for production in productions if production.lhs in used]
            if len(kept) == len(productions):
                return kept
            productions = kept

    # Names for what has none, and helpers for what is repeated

    def _lowered_rule(self, name: str, rule: _Rule) -> list[tuple[_Lowered, Alternative]]:
        sides: list[Expression] = [
            InOrder(alternative.items) if alternative.alias is None else OneOf((InOrder(alternative.items),))
            for alternative in rule.alternatives
        ]
        lowered = self._lowered(name, OneOf(tuple(sides)))
        return [(lowered[id(side)], alternative) for side, alternative in zip(sides, rule.alternatives, strict=True)]

    def _lowered(self, rule: str, tree: Expression) -> dict[int, _Lowered]:
        """What each part of a tree becomes. The deepest come first, and of these the left ones: so Lark counts them."""
        order = [tree]
        for node in order:  # grows
            order += reversed(parts_of(node))
        lowered: dict[int, _Lowered] = {}
        for node in every(reversed(order)):
            if id(node) not in lowered:
                lowered[id(node)] = self._lowered_node(rule, node, lowered)
        return lowered

    def _lowered_node(self, rule: str, node: Expression, lowered: Mapping[int, _Lowered]) -> _Lowered:
        parts = [lowered[id(part)] for part in parts_of(node)]
        if isinstance(node, str):
            return node
        if isinstance(node, Unnamed):
            return self._named(node)
        if isinstance(node, InOrder):
            return InOrder(tuple(parts))
        if isinstance(node, OneOf):
            return OneOf(tuple(parts))
        return self._repeated(rule, parts[0], node.least, node.most)

    def _named(self, leaf: Unnamed) -> str:
        """The name of the terminal with the same pattern, or one that says what it is, or a number."""
        pattern = self._label_pattern(leaf.pattern, leaf.most) if isinstance(leaf.pattern, Label) else leaf.pattern
        name = self._names.get(pattern)
        if name is not None:
            return name
        name = name_of_literal(pattern.value) if pattern.kind == "str" else None
        if name is None or name in self._terminals:
            name = f"__ANON_{self._unnamed}"
            self._unnamed += 1
        self.terminal(Terminal(name, pattern, 0, self._places[leaf.written], leaf.written))
        return name

    def _label_pattern(self, label: Label, most: int | None) -> Pattern:
        number = self._labels.setdefault(label, len(self._labels))
        if number >= MOST_LABELS:
            raise LimitExceededError("labels", number + 1, MOST_LABELS)
        times, symbol = _times(most), f"(?:\\u{FIRST_SYMBOL + number:04x})"
        return Pattern("re", f"{label}{times}", frozenset(), f"{symbol}{times}", *width_of(f"(?:x){times}"))

    def _unused(self) -> tuple[str, ...]:
        """The rules that ``start`` does not lead to, but for those that only these need."""
        used = set(reachable(["start"], self._leads.__getitem__))
        return loose_names([name for name in self._rules if name not in used], self._leads)

    def _repeated(self, rule: str, item: _Lowered, least: int, most: int | None) -> _Lowered:
        nothing: _Lowered = InOrder(())
        if most is None:  # at least once, or any number of times
            again = self._again(rule, "plus" if least else "star", item)
            return again if least else OneOf((again, nothing))
        if most < _AT_ONCE:
            return OneOf(tuple(InOrder((item,) * times) for times in range(least, most + 1)))
        so_many = item
        for factor, rest in parts_of_repetition(least):
            so_many = self._times(rule, factor, rest, so_many, item)
        if least == most:
            return so_many
        times, fewer = item, nothing
        *factors, (factor, rest) = parts_of_repetition(most - least + 1)
        for own_factor, own_rest in factors:
            fewer = self._up_to(rule, own_factor, own_rest, times, fewer, item)
            times = self._times(rule, own_factor, own_rest, times, item)
        return OneOf((InOrder((so_many, self._up_to(rule, factor, rest, times, fewer, item))),))

    def _times(self, rule: str, factor: int, rest: int, many: _Lowered, item: _Lowered) -> _Lowered:
        """``many`` times a factor, and the item some times more."""
        return self._helper(rule, f"repeat_a{factor}_b{rest}", item, OneOf((_in_order(many, factor, item, rest),)))

    def _up_to(self, rule: str, factor: int, rest: int, many: _Lowered, fewer: _Lowered, item: _Lowered) -> _Lowered:
        """Less than a factor of ``many`` and then ``fewer``, or just so many and less than ``rest`` of the item."""
        sides = [_in_order(many, times, fewer, 1) for times in range(factor)]
        sides += [_in_order(many, factor, item, times) for times in range(rest)]
        return self._helper(rule, f"repeat_a{factor}_b{rest}_opt", item, OneOf(tuple(sides)))

    def _again(self, rule: str, kind: str, item: _Lowered) -> str:
        """The helper that has an item once, or itself and the item."""
        name = self._helper_name(rule, kind, ("", item, item))
        self._helpers.setdefault(name, (rule, OneOf((item, InOrder((name, item))))))
        return name

    def _helper(self, rule: str, kind: str, item: _Lowered, tree: _Lowered) -> str:
        """The helper of a kind for an item, with some alternatives."""
        name = self._helper_name(rule, kind, (kind, item, tree))
        self._helpers.setdefault(name, (rule, tree))
        return name

    def _helper_name(self, rule: str, kind: str, key: tuple[str, _Lowered, _Lowered]) -> str:
        name = self._helper_names.get(key, f"__{rule}_{kind}_{len(self._helpers)}")
        while name in self._rules:
            name += "_"
        return self._helper_names.setdefault(key, name)

    # Productions

    def _productions(
        self, name: str, owner: str, rule: Iterable[tuple[_Lowered, Alternative]]
    ) -> Iterator[_Production]:
        sides: dict[_Side, Alternative] = {}
        for tree, alternative in rule:
            for side in self._sides(owner, tree):
                sides.setdefault(side, alternative)
        for order, (side, alternative) in enumerate(sides.items()):
            yield _Production(name, side, owner, alternative.alias, order, alternative.span)

    def _sides(self, rule: str, tree: _Lowered) -> list[_Side]:
        """The alternatives without any within them, each once."""
        if isinstance(tree, str):
            return [(tree,)]
        look()
        assert not isinstance(tree, Repeated)
        parts = [self._sides(rule, item) for item in tree.items]
        count = sum(map(len, parts)) if isinstance(tree, OneOf) else prod(map(len, parts))
        if count > MOST_ALTERNATIVES:
            span = self._rules[rule].span
            place = "" if span is None else f" at {span}"
            why = f"rule {rule}{place}: each optional part or group of alternatives multiplies them; give groups names"
            raise LimitExceededError("alternatives", count, MOST_ALTERNATIVES, why, fixed=True)
        if isinstance(tree, OneOf):
            return list(dict.fromkeys(chain.from_iterable(parts)))
        sides: list[_Side] = [()]
        for part in parts:
            sides = [(*begun, *side) for begun in sides for side in part]
        return sides


@dataclass(frozen=True, slots=True)
class _Production:
    """A `Production` over names."""

    lhs: str
    rhs: _Side
    rule: str
    alias: str | None
    order: int
    span: Span | None

    def numbered(self, number: Mapping[str, int]) -> Production:
        side = tuple(map(number.__getitem__, self.rhs))
        return Production(number[self.lhs], side, 0, self.rule, self.alias, self.order, self.span)


def _in_order(first: _Lowered, times: int, other: _Lowered, more: int) -> _Lowered:
    return InOrder((first,) * times + (other,) * more)
