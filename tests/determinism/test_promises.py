"""What a report promises.

About ``compile``: without an error the grammar compiles, and random walks meet no dead end; with one it is refused for
that reason. About stock Lark: what its strict mode refuses is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from conftest import Tally
from interegular import InvalidSyntax, Unsupported
from lark.exceptions import LarkError
from support.collisions import strict_lark
from support.definition import mask_of
from support.indented_grammars import TreeIndenter
from support.lowering import load
from support.random_grammars import loadable_grammars, random_indented_grammar
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar
from support.stock_lark import StockLark

import pdacon
from pdacon import Constraint, DeterminismReport, Grammar, Vocabulary
from pdacon.errors import (
    EmptyLanguageError,
    LimitExceededError,
    NondeterministicGrammarError,
    UnsupportedGrammarError,
)

EVERY_BYTE = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])
REASONS = {
    NondeterministicGrammarError: {"PDA001", "PDA002", "PDA004", "PDA005", "PDA006"},
    UnsupportedGrammarError: {"PDA008"},
    EmptyLanguageError: {"PDA007"},
}
POLICIES = list(product(("error", "shift"), ("reject", "commit")))


@pytest.fixture(autouse=True, scope="module")
def tables_are_made() -> None:
    """What patterns need once in a process, such as which characters are of words, is no grammar's own time."""
    pdacon.check(Grammar.from_lark(r"start: /\bab\b/"), seconds=0.0)


def errors(report: DeterminismReport) -> set[str]:
    return {finding.id for finding in report.at_least("error")}


def compare(grammar: SmallGrammar, vocabulary: Vocabulary, report: DeterminismReport) -> Constraint | None:
    """The constraint, if check and compile agree that there is one; they have to agree in any case."""
    constraint, expected = None, set()
    try:
        constraint = pdacon.compile(load(grammar), vocabulary)
    except tuple(REASONS) as error:
        expected = REASONS[type(error)]
    assert report.ok == (constraint is not None), f"{grammar}\n{report.render()}"
    assert report.ok or errors(report) & expected, f"{grammar}\n{expected}\n{report.render()}"
    return constraint


def walk(constraint: Constraint, start: str, random: Random, steps: int) -> None:
    matcher = constraint.matcher(start)
    for _ in range(steps):
        allowed = sorted(mask_of(matcher, constraint.vocabulary.size))
        assert allowed, "a dead end"
        token = random.choice(allowed)
        assert matcher.accept_token(token)
        if matcher.is_terminated():
            return
    matcher.accept_bytes(matcher.shortest_completion())
    assert matcher.is_accepting()


def keep_promises(grammar: SmallGrammar, seed: int) -> bool:
    """Whether it compiles."""
    try:
        report = pdacon.check(load(grammar), seconds=0.1)
    except LimitExceededError:
        with pytest.raises(LimitExceededError):
            pdacon.compile(load(grammar), EVERY_BYTE)
        return False
    constraint = compare(grammar, EVERY_BYTE, report)
    if constraint is None:
        return False
    random = Random(seed)
    empty = {finding.symbols[0] for finding in report.findings if finding.id == "PDA007"}
    for start in grammar.starts:
        if start in empty:
            with pytest.raises(EmptyLanguageError, match=start):
                constraint.matcher(start)
        else:
            walk(constraint, start, random, 12)
    return True


@pytest.mark.parametrize("grammar", SMALL_GRAMMARS, ids=lambda grammar: grammar.name)
def test_curated_grammars(grammar: SmallGrammar) -> None:
    for seed, (conflicts, lookahead) in enumerate(POLICIES):
        keep_promises(replace(grammar, conflicts=conflicts, lookahead=lookahead), seed)


def keep_promises_of_many(grammars: Iterable[tuple[SmallGrammar, StockLark]], tally: Tally) -> None:
    for seed, (grammar, _) in enumerate(grammars):
        conflicts, lookahead = POLICIES[seed % len(POLICIES)]
        compiles = keep_promises(replace(grammar, conflicts=conflicts, lookahead=lookahead), seed)
        tally(grammars=1, compiled=compiles)


@pytest.mark.slow
def test_random_grammars(scaled: Callable[[int], int], tally: Tally) -> None:
    keep_promises_of_many(loadable_grammars(scaled(30), first_seed=73_000), tally)


@pytest.mark.slow
def test_random_indented_grammars(scaled: Callable[[int], int], tally: Tally) -> None:
    grammars = loadable_grammars(scaled(20), first_seed=71_000, make=random_indented_grammar)
    keep_promises_of_many(grammars, tally)


def test_a_newline_that_the_next_one_would_have_swallowed() -> None:
    """Two newlines in a row are two lexemes only if the first ends in a blank, and that is an INDENT here."""
    text = 'start: _NL _NL _INDENT "a" _DEDENT\n_NL: /[\\n;]+ */\n%declare _INDENT _DEDENT\n'
    grammar = Grammar.from_lark(text, postlex=TreeIndenter())
    assert not pdacon.check(grammar).ok


@pytest.mark.slow
def test_random_grammars_with_a_vocabulary(scaled: Callable[[int], int], tally: Tally) -> None:
    """With a vocabulary that lacks bytes some languages become empty."""
    for seed, (grammar, _) in enumerate(loadable_grammars(scaled(30), first_seed=80_000)):
        random = Random(seed)
        letters = random.sample(grammar.letters, random.randint(0, len(grammar.letters)))
        vocabulary = Vocabulary.from_tokens([*letters, b"".join(letters) or None, None], [len(letters) + 1])
        constraint = compare(grammar, vocabulary, pdacon.check(load(grammar), vocabulary, seconds=0.1))
        tally(grammars=1, compiled=constraint is not None)


def refusal_of_strict_mode(grammar: SmallGrammar) -> str | None:
    """What stock Lark's strict mode says against a grammar, if it does; it fails at some patterns with look-around."""
    try:
        strict_lark(grammar.text, parser="lalr", **grammar.options)
    except LarkError as error:
        return str(error)
    except (InvalidSyntax, Unsupported):
        return None
    return None


def is_no_collision(grammar: Grammar, refusal: str) -> bool:
    """Whether the collision is one of sets only: as ``re`` matches, the two terminals do not share the example.

    Strict mode compares the sets that patterns denote; lazy quantifiers and ordered alternatives match less.
    """
    names = re.match(r"Collision between Terminals (\w+) and (\w+)\.", refusal)
    example = re.search(r"Example Collision: (.*)$", refusal, re.MULTILINE)
    if names is None or example is None:
        return False
    patterns = [terminal.pattern for terminal in grammar.data.terminals if terminal.name in names.groups()]
    found = [re.match(pattern.regexp, example[1]) for pattern in patterns if pattern is not None]
    return not all(match is not None and match[0] == example[1] for match in found)


def require_as_strict_as_lark(grammar: SmallGrammar, tally: Tally) -> None:
    refusal = refusal_of_strict_mode(grammar)
    tally(grammars=1, refused_by_strict_mode=refusal is not None)
    if refusal is None:
        return
    loaded = load(replace(grammar, conflicts="error", lookahead="reject"))
    try:
        report = pdacon.check(loaded, seconds=0.1)
    except LimitExceededError:
        return
    wanted = "PDA001" if refusal.startswith("Shift/Reduce") else "PDA005"
    if wanted not in errors(report):
        assert is_no_collision(loaded, refusal), f"{grammar}\n{refusal}\n{report.render()}"
        tally(collisions_of_sets_only=1)


@pytest.mark.parametrize("grammar", SMALL_GRAMMARS, ids=lambda grammar: grammar.name)
def test_check_is_as_strict_as_lark_on_curated_grammars(grammar: SmallGrammar, tally: Tally) -> None:
    require_as_strict_as_lark(grammar, tally)


@pytest.mark.slow
def test_check_is_as_strict_as_lark_on_random_grammars(scaled: Callable[[int], int], tally: Tally) -> None:
    for grammar, _ in loadable_grammars(scaled(40), first_seed=90_000):
        require_as_strict_as_lark(grammar, tally)
