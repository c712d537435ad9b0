"""One grammar with one vocabulary, every mask of it beside its definition."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import pdacon
from pdacon import Constraint, EmptyLanguageError, Grammar, Matcher
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine
from support.definition import Completions, mask_by_id, mask_of, spelled_suffixes
from support.lowering import is_exact
from support.stock_lark import StockLark
from support.vocabularies import TinyVocabulary

LIMITS = pdacon.Limits(states=5_000)
"""Far more than any small grammar needs."""


_BLANKS = re.compile(rb"(?<=\n)[ \t]+")

SEARCHED = 40
"""Configurations that a search for a completion looks at."""


class Reader:
    """Configurations after texts; what a byte makes of one is found out once for all that are equal."""

    def __init__(self, initial: Configuration) -> None:
        self._known: dict[Configuration, Configuration] = {}
        self._steps: dict[tuple[int, int], Configuration | None] = {}  # from known ones, by their identity
        self.initial = self._kept(initial)

    def read(self, configuration: Configuration | None, text: bytes) -> Configuration | None:
        """Go on from what was given before: equal configurations are one object."""
        for byte in text:
            if configuration is None:
                break
            key = (id(configuration), byte)
            if key not in self._steps:
                after = configuration.step(byte)
                self._steps[key] = None if after is None else self._kept(after)
            configuration = self._steps[key]
        return configuration

    def _kept(self, configuration: Configuration) -> Configuration:
        return self._known.setdefault(configuration, configuration)


class World:
    """One grammar with one vocabulary, from one start symbol."""

    def __init__(
        self,
        oracle: StockLark,
        reader: Reader,
        tiny: TinyVocabulary,
        start: str,
        completions: Completions,
        exact: bool,
    ) -> None:
        self.oracle = oracle
        self.reader = reader
        self.tiny = tiny
        self.texts = tiny.texts()
        self.pieces = frozenset(self.texts)
        letters = frozenset(b"".join(oracle.grammar.letters))
        self.shown = sorted(piece for piece in self.pieces if piece and letters.issuperset(piece))
        self.start = start
        self.completions = completions
        self.exact = exact
        self.counts: Counter[str] = Counter()
        self._completable: dict[int, bool] = {}  # of what the reader gives, by its identity
        self._spelled: dict[bytes, bool] = {}

    def explore(self, constraint: Constraint, prefixes: int) -> None:
        """Check the masks of the texts that tokens reach, short ones first, up to so many."""
        masks: dict[tuple[bytes, bool], frozenset[int]] = {}
        start = constraint.matcher(start=self.start, strip_leading_space=self.tiny.strips)
        pending = [(b"", not self.tiny.strips, start)]
        for text, begun, matcher in pending:
            self.counts["masks"] += 1
            mask = mask_of(matcher, self.tiny.size)
            assert mask == mask_by_id(constraint, matcher, self.tiny.size, self.start), self.about(text)
            if (text, begun) in masks:
                about = f"the mask depends on how the text was cut into tokens\n{self.about(text)}"
                assert masks[text, begun] == mask, about
                continue
            masks[text, begun] = mask
            self.counts["prefixes"] += 1
            self.check(text, begun, mask, matcher)
            for token in sorted(mask):
                if token not in self.tiny.ends and len(pending) < prefixes:
                    following = matcher.fork()
                    assert following.accept_token(token), self.about(text, token)
                    pending.append((text + self.spelled(token, begun), True, following))

    def spelled(self, token: int, begun: bool) -> bytes:
        """What a token adds to a text: at its start one space less, if the tokenizer strips it."""
        return self.texts[token] if begun else self.texts[token].removeprefix(b" ")

    def check(self, text: bytes, begun: bool, mask: frozenset[int], matcher: Matcher) -> None:
        """The mask and the completion of one text, to which a token has been added or not."""
        sentence = self.oracle.accepts(text, self.start)
        configuration = self.reader.read(self.reader.initial, text)
        assert configuration is not None, self.about(text)
        assert mask, f"dead end\n{self.about(text)}"
        if self.exact:
            assert matcher.is_accepting() == sentence, self.about(text)
        for token, whole in enumerate(self.texts):
            spelled = self.spelled(token, begun)
            self.counts["tokens"] += 1
            allowed = token in mask
            assert matcher.is_allowed(token) == allowed, self.about(text, token)
            if token in self.tiny.ends:
                assert allowed == matcher.is_accepting(), self.about(text, token)
                assert sentence or not allowed, self.about(text, token)
            elif not whole:
                assert not allowed, self.about(text, token)
            elif allowed:
                following = matcher.fork()
                assert following.accept_token(token), self.about(text, token)
                self.check_completion(text + spelled, following)
            elif self.exact:
                assert text + spelled not in self.completions.shortest, self.about(text, token)
                refused = self.reader.read(configuration, spelled)
                self.counts["tokens_that_lead_nowhere_though_the_tables_go_on"] += refused is not None
                assert refused is None or not self.completable(refused), self.about(text, token)
        if begun:
            self.check_completion(text, matcher)
        else:
            assert self.oracle.accepts(matcher.shortest_completion(), self.start), self.about(text)

    def completable(self, configuration: Configuration) -> bool:
        """Whether a short search finds tokens that complete a text. It may miss some."""
        answer = self._completable.get(id(configuration))
        if answer is None:
            answer = self._completable[id(configuration)] = self._search(configuration)
        return answer

    def _search(self, configuration: Configuration) -> bool:
        pending = [configuration]
        known = {id(configuration)}
        for reached in pending:
            self.counts["configurations_searched_for_completions"] += 1
            if reached.ends():
                return True
            for piece in self.shown if len(pending) < SEARCHED else ():
                found = self.reader.read(reached, piece)
                if found is not None and id(found) not in known:
                    known.add(id(found))
                    pending.append(found)
        return False

    def spells(self, text: bytes) -> bool:
        """Whether tokens can spell a whole text."""
        answer = self._spelled.get(text)
        if answer is None:
            answer = self._spelled[text] = 0 in spelled_suffixes(text, self.pieces)
        return answer

    def check_completion(self, text: bytes, matcher: Matcher) -> None:
        """A completion that Lark parses proves that a text was allowed; no shorter one, and no lesser, may be known."""
        rest = matcher.shortest_completion()
        assert self.oracle.accepts(text + rest, self.start), self.about(text, rest=rest)
        assert self.spells(rest), self.about(text, rest=rest)
        known = self.completions.shortest.get(text)
        if known is None or not self.exact:
            self.counts["completed_beyond_enumeration"] += known is None
            return
        if self.reader.initial.machine.grammar.layout:  # the blanks that begin a line are not counted
            blanks_aside = [len(_BLANKS.sub(b"", text + whole)) for whole in (rest, known)]
            assert blanks_aside[0] <= blanks_aside[1], self.about(text, rest=rest)
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


@dataclass(frozen=True)
class Meaning:
    """What a grammar means, whatever the vocabulary is: a reader for each start symbol, and whether masks are exact."""

    readers: tuple[Reader, ...]
    exact: bool


@lru_cache(maxsize=1)
def meaning_of(loaded: Grammar) -> Meaning:
    """The meaning of a grammar, for its vocabularies one after the other."""
    machine = Machine(loaded.data, build_tables(loaded.data))
    starts = range(len(loaded.data.options.start))
    return Meaning(tuple(Reader(Configuration.initial(machine, k)) for k in starts), is_exact(loaded))


def explore(oracle: StockLark, loaded: Grammar, tiny: TinyVocabulary, length: int, prefixes: int) -> Counter[str]:
    """Compile a grammar for a vocabulary and check its masks, from each start symbol."""
    grammar = oracle.grammar
    completions = {start: Completions.enumerate(oracle, start, length, tiny.texts()) for start in grammar.starts}
    try:
        constraint = pdacon.compile(loaded, tiny.vocabulary(), limits=LIMITS)
    except EmptyLanguageError:
        assert not any(b"" in completions[start].shortest for start in grammar.starts), f"{grammar}{tiny}"
        return Counter(vocabularies_that_spell_nothing=1)
    counts = Counter(vocabularies=1)
    meaning = meaning_of(loaded)
    counts["vocabularies_with_sound_masks_only"] += not meaning.exact
    for start in grammar.starts:
        try:
            constraint.matcher(start)
        except EmptyLanguageError:
            assert b"" not in completions[start].shortest, f"{grammar}{tiny}"
            counts["starts_without_a_sentence"] += 1
            continue
        reader = meaning.readers[grammar.starts.index(start)]
        world = World(oracle, reader, tiny, start, completions[start], meaning.exact)
        world.explore(constraint, prefixes)
        counts += world.counts
    return counts
