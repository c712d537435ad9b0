"""The definition of correct: in the small world every mask equals the one that enumeration with stock Lark gives.

For a text x, token t is in the mask if and only if some sentence starts with x and t's text and goes on with what
tokens can spell. Sentences are enumerated up to a length. So a token that the mask lacks is held against all of these,
and against a search for a longer one with Configuration; a token that it holds has to prove itself with a completion
that Lark parses, however long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from random import Random

import pytest
from support.definition import Completions, mask_by_id, mask_of, spelled_suffixes
from support.lowering import load
from support.random_grammars import loadable_grammars
from support.small_grammars import SMALL_GRAMMARS, SmallGrammar
from support.stock_lark import StockLark, affordable_length
from support.vocabularies import TinyVocabulary, tiny_vocabularies

import pdacon
from pdacon import Constraint, EmptyLanguageError, Grammar, LimitExceededError, Matcher
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

LIMITS = pdacon.Limits(states=5_000)
"""Far more than any small grammar needs."""


SEARCHED = 40
"""Configurations that a search for a completion looks at."""


class World:
    """One grammar with one vocabulary, from one start symbol."""

    def __init__(
        self,
        oracle: StockLark,
        machine: Machine,
        tiny: TinyVocabulary,
        start: str,
        completions: Completions,
        exact: bool,
    ) -> None:
        self.oracle = oracle
        self.initial = Configuration.initial(machine, oracle.grammar.starts.index(start))
        self.tiny = tiny
        self.texts = tiny.texts()
        self.pieces = frozenset(self.texts)
        letters = frozenset(oracle.grammar.alphabet.encode())
        self.shown = sorted(piece for piece in self.pieces if piece and letters.issuperset(piece))
        self.start = start
        self.completions = completions
        self.exact = exact
        self.counts: Counter[str] = Counter()

    def explore(self, constraint: Constraint, prefixes: int) -> None:
        """Check the masks of the texts that tokens reach, short ones first, up to so many."""
        masks: dict[bytes, frozenset[int]] = {}
        pending = [(b"", constraint.matcher(start=self.start))]
        for text, matcher in pending:
            self.counts["masks"] += 1
            mask = mask_of(matcher, self.tiny.size)
            assert mask == mask_by_id(constraint, matcher, self.tiny.size, self.start), self.about(text)
            if text in masks:
                assert masks[text] == mask, f"the mask depends on how the text was cut into tokens\n{self.about(text)}"
                continue
            masks[text] = mask
            self.counts["prefixes"] += 1
            self.check(text, mask, matcher)
            for token in sorted(mask):
                if token not in self.tiny.ends and len(pending) < prefixes:
                    following = matcher.fork()
                    assert following.accept_token(token), self.about(text, token)
                    pending.append((text + self.texts[token], following))

    def check(self, text: bytes, mask: frozenset[int], matcher: Matcher) -> None:
        """The mask and the completion of one text."""
        sentence = self.oracle.accepts(text, self.start)
        configuration = self.initial.read(text)
        assert configuration is not None, self.about(text)
        assert mask, f"dead end\n{self.about(text)}"
        if self.exact:
            assert matcher.is_accepting() == sentence, self.about(text)
        for token, spelled in enumerate(self.texts):
            self.counts["tokens"] += 1
            allowed = token in mask
            assert matcher.is_allowed(token) == allowed, self.about(text, token)
            if token in self.tiny.ends:
                assert allowed == matcher.is_accepting(), self.about(text, token)
                assert sentence or not allowed, self.about(text, token)
            elif not spelled:
                assert not allowed, self.about(text, token)
            elif allowed:
                following = matcher.fork()
                assert following.accept_token(token), self.about(text, token)
                self.check_completion(text + spelled, following)
            elif self.exact:
                assert text + spelled not in self.completions.shortest, self.about(text, token)
                assert not self.completable(configuration.read(spelled)), self.about(text, token)
        self.check_completion(text, matcher)

    def completable(self, configuration: Configuration | None) -> bool:
        """Whether a short search finds tokens that complete a text. It may miss some."""
        pending = [configuration] if configuration else []
        for reached in pending:
            self.counts["configurations_searched_for_completions"] += 1
            if reached.ends():
                return True
            following = (reached.read(piece) for piece in self.shown) if len(pending) < SEARCHED else ()
            pending.extend(found for found in following if found and found not in pending)
        return False

    def check_completion(self, text: bytes, matcher: Matcher) -> None:
        """A completion that Lark parses proves that a text was allowed; no shorter one, and no lesser, may be known."""
        rest = matcher.shortest_completion()
        assert self.oracle.accepts(text + rest, self.start), self.about(text, rest=rest)
        assert 0 in spelled_suffixes(rest, self.pieces), self.about(text, rest=rest)
        known = self.completions.shortest.get(text)
        if known is None or not self.exact:
            self.counts["completed_beyond_enumeration"] += known is None
            return
        assert (len(rest), rest) <= (len(known), known), self.about(text, rest=rest)
        assert rest == known or not self.completions.covers(text + rest), self.about(text, rest=rest)

    def about(self, text: bytes, token: int | None = None, rest: bytes | None = None) -> str:
        what = "" if token is None else f", token {token} {self.texts[token]!r}"
        what += "" if rest is None else f", completed with {rest!r}"
        return (
            f"{self.oracle.grammar}start {self.start}, vocabulary {self.tiny.kind!r} {self.tiny.tokens} "
            f"ends {self.tiny.ends}\nafter {text!r}{what}; shortest known: {self.completions.shortest.get(text)!r}"
        )


def explore(oracle: StockLark, loaded: Grammar, tiny: TinyVocabulary, length: int, prefixes: int) -> Counter[str]:
    """Compile a grammar for a vocabulary and check its masks, from each start symbol."""
    grammar = oracle.grammar
    completions = {start: Completions.enumerate(oracle, start, length, tiny.texts()) for start in grammar.starts}
    try:
        constraint = pdacon.compile(loaded, tiny.vocabulary(), limits=LIMITS)
    except EmptyLanguageError:
        empty = [start for start in grammar.starts if b"" not in completions[start].shortest]
        assert empty, f"{grammar}{tiny}"
        return Counter(vocabularies_that_spell_nothing=1)
    counts = Counter(vocabularies=1)
    exact = not any(finding.id == "PDA006" for finding in constraint.report.findings)
    counts["vocabularies_with_sound_masks_only"] += not exact
    machine = Machine(loaded, build_tables(loaded))
    for start in grammar.starts:
        world = World(oracle, machine, tiny, start, completions[start], exact)
        world.explore(constraint, prefixes)
        counts += world.counts
    return counts


COMPILED = [grammar for grammar in SMALL_GRAMMARS if grammar.refused is None]
REFUSED = [grammar for grammar in SMALL_GRAMMARS if grammar.refused is not None]


@pytest.mark.parametrize("grammar", COMPILED, ids=lambda grammar: grammar.name)
def test_masks_of_curated_grammars(
    grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    oracle = StockLark(grammar)
    loaded = load(grammar)
    length = grammar.length or affordable_length(grammar.alphabet, scaled(1200))
    sentences = [text.encode() for start in grammar.starts for text in islice(oracle.sentences(length, start), 200)]
    counts = Counter(grammars=1)
    for tiny in tiny_vocabularies(grammar.alphabet, sentences, Random(grammar.name)):
        counts += explore(oracle, loaded, tiny, length, scaled(60))
    tally(**counts)


@pytest.mark.parametrize("grammar", REFUSED, ids=lambda grammar: grammar.name)
def test_refusals_of_curated_grammars(grammar: SmallGrammar) -> None:
    tokens = [bytes([byte]) for byte in range(256)]
    with pytest.raises(getattr(pdacon, grammar.refused or "")):
        pdacon.compile(load(grammar), pdacon.Vocabulary.from_tokens([*tokens, None], eos_ids=[256]))
    if grammar.refused == "EmptyLanguageError":
        oracle = StockLark(grammar)
        assert not list(islice(oracle.sentences(affordable_length(grammar.alphabet, 2000)), 1))


@pytest.mark.parametrize("chunk", range(8))
def test_masks_of_random_grammars(chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    counts: Counter[str] = Counter()
    for grammar, oracle in loadable_grammars(scaled(30), first_seed=1_000_000 * (chunk + 100)):
        counts["grammars"] += 1
        loaded = load(grammar)
        if refusal := refusal_of(loaded):
            counts[f"refused_for_{refusal}"] += 1
            continue
        length = affordable_length(grammar.alphabet, 300)
        sentences = [text.encode() for text in oracle.sentences(length)]
        random = Random(grammar.name)
        for tiny in random.sample(tiny_vocabularies(grammar.alphabet, sentences, random), 3):
            with suppress(LimitExceededError):
                counts += explore(oracle, loaded, tiny, length, 40)
                counts["vocabularies_within_limits"] += 1
    tally(**counts)


def refusal_of(grammar: Grammar) -> str | None:
    """Why the checker refuses a grammar with ``conflicts="shift"``: only for what that does not settle."""
    errors = {finding.id for finding in pdacon.check(grammar).findings if finding.level == "error"}
    assert errors <= {"PDA004", "PDA006", "PDA007"}, str(grammar.source)
    return "unbounded_lookahead" if "PDA006" in errors else "a_reads_cycle" if "PDA004" in errors else None
