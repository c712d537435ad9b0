"""The definition of correct: in the small world every mask equals the one that enumeration with stock Lark gives.

For a text x, token t is in the mask if and only if some sentence starts with x and t's text and goes on with what
tokens can spell. Sentences are enumerated up to a length. So a token that the mask lacks is held against all of these,
and against a search for a longer one with Configuration; a token that it holds has to prove itself with a completion
that Lark parses, however long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from random import Random

import pytest
from support.families import TINY_FAMILIES, tiny_family
from support.indented_grammars import INDENTED_GRAMMARS
from support.lowering import load
from support.random_grammars import (
    loadable_grammars,
    random_conflicting_grammar,
    random_grammar_with_starts,
    random_guarded_grammar,
)
from support.scaling import every
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar
from support.stock_lark import StockLark, affordable_length, shared_lark
from support.vocabularies import tiny_vocabularies
from support.world import explore

import pdacon
from pdacon import Grammar, LimitExceededError, UnsupportedGrammarError, VocabularyError
from pdacon.determinism import Finding
from pdacon.lalr import build_tables

COMPILED = [grammar for grammar in SMALL_GRAMMARS if grammar.refused is None]
INDENTED = [grammar for grammar in INDENTED_GRAMMARS if grammar.refused is None]
REFUSED = [grammar for grammar in (*SMALL_GRAMMARS, *INDENTED_GRAMMARS) if grammar.refused is not None]


def enumerated(grammar: SmallGrammar, texts: int) -> tuple[StockLark, Grammar, int, list[bytes]]:
    """Stock Lark and pdacon's reading of a grammar, the length up to which so many texts are tried, some sentences."""
    oracle = shared_lark(grammar)
    length = grammar.length or affordable_length(grammar.alphabet, texts)
    sentences = [
        grammar.encode(text) for start in grammar.starts for text in islice(oracle.sentences(length, start), 200)
    ]
    return oracle, load(grammar), length, sentences


@pytest.mark.parametrize("grammar", COMPILED, ids=lambda grammar: grammar.name)
def test_masks_of_curated_grammars(
    grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    oracle, loaded, length, sentences = enumerated(grammar, scaled(600))
    counts = Counter(grammars=1)
    for tiny in tiny_vocabularies(grammar.letters, sentences, Random(grammar.name)):
        counts += explore(oracle, loaded, tiny, length, scaled(30))
    tally(**counts)


@pytest.mark.slow
@pytest.mark.parametrize("grammar", INDENTED, ids=lambda grammar: grammar.name)
def test_masks_of_grammars_with_indentation(
    grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    oracle, loaded, length, sentences = enumerated(grammar, scaled(1500))
    counts = Counter(grammars=1)
    for tiny in tiny_vocabularies(grammar.letters, sentences, Random(grammar.name)):
        if {b" ", b"\n"} <= set(tiny.texts()):
            counts += explore(oracle, loaded, tiny, length, scaled(75))
            continue
        with pytest.raises(VocabularyError, match="a space and for a newline"):
            pdacon.compile(loaded, tiny.vocabulary())
        counts["vocabularies_that_cannot_spell_every_column"] += 1
    tally(**counts)


@pytest.mark.parametrize("grammar", REFUSED, ids=lambda grammar: grammar.name)
def test_refusals_of_curated_grammars(grammar: SmallGrammar) -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    with pytest.raises(getattr(pdacon, grammar.refused or "")):
        pdacon.compile(load(grammar), pdacon.Vocabulary.from_tokens([*tokens, None], eos_ids=[256]))
    if grammar.refused == "EmptyLanguageError":
        oracle = shared_lark(grammar)
        assert not list(islice(oracle.sentences(affordable_length(grammar.alphabet, 2000)), 1))


@pytest.mark.slow
@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_masks_for_every_family_of_tokenizers(
    family: str, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """Every eighth grammar for each family, so that the run stays short."""
    counts: Counter[str] = Counter()
    spelled = [grammar for grammar in COMPILED if not grammar.options.get("use_bytes")]  # tokenizers are made of text
    for grammar in every(8, spelled[list(TINY_FAMILIES).index(family) % 8 :]):
        oracle = shared_lark(grammar)
        length = grammar.length or affordable_length(grammar.alphabet, 300)
        sentences = [text for start in grammar.starts for text in islice(oracle.sentences(length, start), 60)]
        tiny = tiny_family(family, grammar.alphabet, sentences, Random(grammar.name))
        counts += explore(oracle, load(grammar), tiny, length, scaled(12))
        counts["grammars"] += 1
    tally(**counts)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(8))
def test_masks_of_random_grammars(chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    tally(**masks_of(loadable_grammars(scaled(6), first_seed=1_000_000 * (chunk + 100))))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(3))
def test_masks_of_random_grammars_with_conflicts(
    chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """What Lark settles voids LR's viable prefixes: what the tables go on with may be dead. Each choice is recorded."""
    grammars = loadable_grammars(scaled(5), 1_000_000 * (chunk + 700), random_conflicting_grammar)
    tally(**masks_of(grammars))


@pytest.mark.slow
def test_masks_of_random_grammars_with_several_starts(scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """Starts without a sentence stand beside others; with small vocabularies there are more of them."""
    tally(**masks_of(loadable_grammars(scaled(5), 931_000_000, random_grammar_with_starts)))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(3))
def test_masks_of_random_grammars_with_look_around(
    chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """Anchors, flags and groups that come again, too."""
    grammars = loadable_grammars(scaled(3), 1_000_000 * (chunk + 800), random_guarded_grammar)
    tally(**masks_of(grammars))


def masks_of(grammars: Iterable[tuple[SmallGrammar, StockLark]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for grammar, oracle in grammars:
        counts["grammars"] += 1
        try:
            loaded = load(grammar)
        except UnsupportedGrammarError as error:
            counts[f"refused_for_{error.feature}"] += 1
            continue
        try:
            findings = pdacon.check(loaded).findings
        except LimitExceededError:
            counts["refused_for_their_size"] += 1
            continue
        recorded = settled_in(loaded, findings)
        counts["grammars_with_settled_conflicts"] += bool(recorded)
        counts["settled_conflicts"] += recorded
        if refusal := refusal_of(loaded, findings):
            counts[f"refused_for_{refusal}"] += 1
            continue
        length = affordable_length(grammar.alphabet, 300)
        sentences = [grammar.encode(text) for text in oracle.sentences(length)]
        random = Random(grammar.name)
        for tiny in random.sample(tiny_vocabularies(grammar.letters, sentences, random), 3):
            with suppress(LimitExceededError):
                counts += explore(oracle, loaded, tiny, length, 40)
                counts["vocabularies_within_limits"] += 1
    return counts


def settled_in(grammar: Grammar, findings: Iterable[Finding]) -> int:
    """In how many LR states conflicts were settled; the report has a note for each of these, and no other."""
    kinds = {"shift/reduce": "PDA001", "reduce/reduce": "PDA003"}
    settled = {(c.state, kinds[c.kind], c.productions) for c in build_tables(grammar.data).conflicts if c.kind in kinds}
    notes = {finding.id for finding in findings if finding.level == "note"}
    assert {finding for _, finding, _ in settled} == notes.intersection(kinds.values()), str(grammar.data.source)
    return len(settled)


def refusal_of(grammar: Grammar, findings: Iterable[Finding]) -> str | None:
    """Why the checker refuses a grammar with ``conflicts="shift"``: only for what that does not settle."""
    errors = {finding.id for finding in findings if finding.level == "error"}
    assert errors <= {"PDA004", "PDA006", "PDA007", "PDA008"}, str(grammar.data.source)
    refusals = {"PDA006": "unbounded_lookahead", "PDA004": "a_reads_cycle", "PDA008": "a_pattern"}
    return next((refusal for finding, refusal in refusals.items() if finding in errors), None)
