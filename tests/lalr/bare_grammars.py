"""Grammars as bare productions: random ones, and those that stock Lark makes from text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import lark
from lark.grammar import NonTerminal, Rule, RuleOptions, Terminal


@dataclass(frozen=True)
class Production:
    lhs: int
    rhs: tuple[int, ...]
    priority: int


@dataclass(frozen=True)
class BareGrammar:
    """What build_tables reads of a Grammar, with symbols numbered the same way."""

    terminals: tuple[str, ...]
    nonterminals: tuple[str, ...]
    productions: tuple[Production, ...]
    starts: tuple[int, ...]

    @property
    def end(self) -> int:
        return len(self.terminals)

    def symbol(self, symbol: int) -> Terminal | NonTerminal:
        names = (*self.terminals, "$END", *self.nonterminals)
        return (Terminal if symbol <= len(self.terminals) else NonTerminal)(names[symbol])

    def rules(self) -> list[Rule]:
        return [
            Rule(
                self.symbol(p.lhs),
                [self.symbol(s) for s in p.rhs],
                order,
                options=RuleOptions(priority=p.priority),
            )
            for order, p in enumerate(self.productions)
        ]

    @staticmethod
    def of_rules(rules: list[Rule], starts: list[str]) -> BareGrammar:
        symbols = {s for rule in rules for s in (rule.origin, *rule.expansion)}
        terminals = sorted(s.name for s in symbols if s.is_term)
        nonterminals = sorted(s.name for s in symbols if not s.is_term)
        number = {name: k for k, name in enumerate((*terminals, "$END", *nonterminals))}
        return BareGrammar(
            tuple(terminals),
            tuple(nonterminals),
            tuple(
                Production(
                    number[rule.origin.name], tuple(number[s.name] for s in rule.expansion), rule.options.priority or 0
                )
                for rule in rules
            ),
            tuple(number[start] for start in starts),
        )


def load(
    text: str, starts: list[str] | None = None, source_path: str | None = None, parser: str = "earley"
) -> BareGrammar:
    """The productions of a grammar text, by Lark's loader. Earley refuses no grammar for its conflicts."""
    starts = starts or ["start"]
    loaded = lark.Lark(text, parser=parser, lexer="basic", start=starts, source_path=source_path)
    return BareGrammar.of_rules(loaded.rules, starts)


def all_small_grammars() -> Iterator[BareGrammar]:
    """Every grammar of one or two productions for each of two nonterminals, with at most two symbols on the right.

    One terminal, the first nonterminal is the start. There are 8,281.
    """
    symbols = (0, 2, 3)
    bodies = [(), *product(symbols), *product(symbols, symbols)]
    alternatives = [*combinations(bodies, 1), *combinations(bodies, 2)]
    for first, second in product(alternatives, alternatives):
        productions = [Production(2, rhs, 0) for rhs in first] + [Production(3, rhs, 0) for rhs in second]
        yield BareGrammar(("A",), ("v", "w"), tuple(productions), (2,))


def random_grammar(seed: int) -> BareGrammar:
    """A small grammar; empty, recursive and unit productions are common, unreachable nonterminals occur."""
    rng = random.Random(seed)
    num_terminals = rng.randint(1, 4)
    num_nonterminals = rng.randint(1, 5)
    first = num_terminals + 1
    terminal_share = rng.choice([0.35, 0.55, 0.75])
    empty_share = rng.choice([0.0, 0.1, 0.3])
    with_priorities = rng.random() < 0.4

    def symbol() -> int:
        if rng.random() < terminal_share:
            return rng.randrange(num_terminals)
        return first + rng.randrange(num_nonterminals)

    productions = {}
    for lhs in range(first, first + num_nonterminals):
        for _ in range(rng.choice([1, 1, 2, 2, 3])):
            length = 0 if rng.random() < empty_share else rng.choice([1, 1, 2, 2, 3, 4])
            rhs = tuple(symbol() for _ in range(length))
            productions[lhs, rhs] = Production(lhs, rhs, rng.randint(-1, 2) if with_priorities else 0)
    starts = [first, first + num_nonterminals - 1] if num_nonterminals > 1 and rng.random() < 0.2 else [first]
    return BareGrammar(
        tuple("ABCD"[:num_terminals]),
        tuple("vwxyz"[:num_nonterminals]),
        tuple(productions.values()),
        tuple(starts),
    )
