"""What is said never to happen never happens: the advice on small grammars, beside stock Lark on all short texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import lark
import pytest
from support.lark_traces import Trace, trace
from support.lowering import load
from support.random_grammars import loadable_grammars, random_indented_grammar
from support.small_grammars import SmallGrammar
from support.stock_lark import affordable_length, texts

from pdacon.determinism import Finding
from pdacon.determinism.advice import advise
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import Examples
from pdacon.determinism.language.reachability import Follower
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.errors import PdaconError
from pdacon.front.grammar import Grammar
from pdacon.lalr import Tables, build_tables, split_parentheses
from pdacon.lexer import Lexer, build_lexer

GRAMMARS = 60
TEXTS = 400
SECONDS = 60.0  # more than any of them takes


@dataclass
class Case:
    small: SmallGrammar
    grammar: Grammar
    tables: Tables
    lexer: Lexer
    traces: list[Trace]

    def findings(self) -> list[Finding]:
        texts, examples = WitnessTexts(self.grammar.data, self.lexer), Examples(self.grammar.data, self.tables)
        return list(advise(self.tables, texts, examples, deadline=Deadline(SECONDS)).findings)

    def of(self, id: str) -> list[Finding]:
        return [finding for finding in self.findings() if finding.id == id]


def cases(number: int, make: Callable[[int], SmallGrammar] | None = None, first_seed: int = 0) -> Iterator[Case]:
    for small, _ in loadable_grammars(number, first_seed, make):
        try:
            grammar = load(small)
            tables = split_parentheses(grammar.data, build_tables(grammar.data))
            lexer = build_lexer(grammar.data, tables)
        except PdaconError:
            continue
        if lexer.automaton.unbounded:
            continue  # what lookahead="commit" gives up is not followed
        parser = lark.Lark(small.text, parser="lalr", **small.options)
        length = small.length or affordable_length(small.alphabet, TEXTS)
        asked = [
            small.encode(text) if grammar.data.options.use_bytes else text for text in texts(small.alphabet, length)
        ]
        yield Case(small, grammar, tables, lexer, [trace(parser, text, small.starts[0]) for text in asked])


@pytest.fixture(scope="module")
def plain(scaled: Callable[[int], int]) -> list[Case]:
    return list(cases(scaled(GRAMMARS)))


@pytest.fixture(scope="module")
def indented(scaled: Callable[[int], int]) -> list[Case]:
    return list(cases(scaled(GRAMMARS // 3), random_indented_grammar))


@pytest.mark.slow
def test_all_that_texts_lead_to_is_reached(plain: list[Case], indented: list[Case]) -> None:
    for case in [*plain, *indented]:
        grammar = case.grammar
        follower = Follower(grammar.data, case.tables, case.lexer, None, Deadline(SECONDS))
        reach = follower.with_stacks(follower.find())
        reduced = {
            (grammar.data.symbol_name(p.lhs), tuple(map(grammar.data.symbol_name, p.rhs)))
            for k, p in enumerate(grammar.data.productions)
            if k in reach.reduced
        }
        for found in case.traces:
            augmented = {rule for rule in found.reduced if rule[0].startswith("$")}
            assert found.reduced - augmented <= reduced, case.small.text
            assert reach.accepts or not found.accepted, case.small.text


@pytest.mark.slow
def test_what_is_never_matched_is_in_no_text(plain: list[Case], indented: list[Case]) -> None:
    found = 0
    for case in [*plain, *indented]:
        for finding in case.of("PDA010"):
            found += 1
            name = finding.symbols[0]
            if finding.cause != "hidden-words":
                assert not any(name in one.types for one in case.traces), (case.small.text, finding)
    assert found


@pytest.mark.slow
def test_no_text_goes_on_from_a_dead_end(plain: list[Case], indented: list[Case]) -> None:
    found = 0
    for case in [*plain, *indented]:
        names = {
            case.grammar.data.describe_symbol(k): case.grammar.data.symbol_name(k) for k in range(case.grammar.data.end)
        }
        for finding in case.of("PDA015"):
            found += 1
            assert finding.witness is not None
            rule = [name for name in finding.symbols if name not in names.values()]
            if rule:
                continue  # it is one of the productions that are never reduced, see above
            prefix = [names[symbol] for symbol in finding.witness.symbols[: finding.witness.position]]
            for one in case.traces:
                taken = one.types[: one.shifted]
                assert not (one.accepted and taken == prefix), (case.small.text, finding)
                assert not (len(taken) > len(prefix) and taken[: len(prefix)] == prefix), (case.small.text, finding)
    assert found
