"""Sentences and near misses of a corpus grammar through pdacon and stock Lark."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import lark
from corpus.reading import Source
from corpus.registry import Entry
from lark.indenter import Indenter
from support.lowering import is_exact
from support.sampler import IndentedSampler, Sampler, damaged

import pdacon
from pdacon import Constraint, Grammar, Vocabulary

#: Single bytes and an end token: byte and token viability coincide.
BYTES = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])

#: So many texts are tried for each that is wanted.
PATIENCE = 30

#: No text of more characters is tried: stock Lark would take most of the time.
LONGEST = 3000


@dataclass
class Tally:
    """What was compared."""

    sampled: int = 0  # sentences by derivation from Lark's rules and terminals
    parsed: int = 0  # of these, the ones that stock Lark parses
    damaged: int = 0
    refused: int = 0  # damaged sentences that stock Lark refuses
    given_up: int = 0  # Lark parses them, and lookahead="commit" gives them up
    differences: list[tuple[str, str]] = field(default_factory=list)  # start and text


def compile_entry(
    source: Source, needs: tuple[str, ...] = (), *, limits: pdacon.Limits | None = None, eager: bool = False
) -> tuple[Constraint, float]:
    """The grammar for single bytes, and the seconds that took beyond Lark's loader.

    ``needs`` names the options of pdacon's that leave the defaults.
    """
    limits = pdacon.Limits(states=300_000, seconds=60) if limits is None else limits
    given = {"conflicts": "shift", "lookahead": "commit"}
    grammar = Grammar.from_lark(source.text, **source.options, **{name: given[name] for name in needs})
    begin = time.perf_counter()
    constraint = pdacon.compile(grammar, BYTES, limits=limits, eager=eager)
    return constraint, time.perf_counter() - begin


def reads(constraint: Constraint, text: str, start: str) -> bool:
    """Whether pdacon takes a text as a sentence."""
    matcher = constraint.matcher(start, max_rollback=0)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


class Judge:
    """Stock Lark; any exception of its parse is a reject."""

    def __init__(self, parser: lark.Lark) -> None:
        self.parser = parser

    def accepts(self, text: str, start: str) -> bool:
        try:
            self.parser.parse(text, start=start)
        except Exception:
            return False
        return True


class Comparison:
    """Compares until enough sentences and enough near misses were seen, or patience is at its end."""

    def __init__(self, entry: Entry, source: Source, constraint: Constraint, seed: int = 0) -> None:
        self.untried = entry.untried
        self.starts = (entry.start,) if isinstance(entry.start, str) else entry.start
        self.random = Random(f"{entry.name} {seed}")
        self.parser = source.parser
        self.judge = Judge(self.parser)
        indented = isinstance(self.parser.options.postlex, Indenter)
        self.sampler = (IndentedSampler if indented else Sampler)(self.parser, self.random, entry.depth)
        self.constraint = constraint
        self.commits = not is_exact(constraint.grammar)
        self.tally = Tally()

    def run(self, number: int) -> Tally:
        """Compare ``number`` sentences that stock Lark parses, and as many near misses that it refuses."""
        tally = self.tally
        sentences: list[tuple[str, str]] = []
        for start, text in self._sentences(number * PATIENCE):
            tally.sampled += 1
            if self._compare(text, start):
                tally.parsed += 1
                sentences.append((start, text))
                if tally.parsed == number:
                    break
        for start, text in self._near_misses(sentences, number * PATIENCE):
            tally.damaged += 1
            if not self._compare(text, start):
                tally.refused += 1
                if tally.refused == number:
                    break
        return tally

    def _sentences(self, most: int) -> Iterator[tuple[str, str]]:
        for at in range(most):
            start = self.starts[at % len(self.starts)]
            text = self.sampler.sentence(start)
            if len(text) <= LONGEST and self._may_be_tried(text):
                yield start, text

    def _near_misses(self, sentences: list[tuple[str, str]], most: int) -> Iterator[tuple[str, str]]:
        for _ in range(most if sentences else 0):
            start, text = self.random.choice(sentences)
            text = damaged(text, self.random)
            if self._may_be_tried(text):
                yield start, text

    def _may_be_tried(self, text: str) -> bool:
        return _spellable(text) and not (self.untried and re.search(self.untried, text))

    def _compare(self, text: str, start: str) -> bool:
        """Whether stock Lark parses the text."""
        expected = self.judge.accepts(text, start)
        if reads(self.constraint, text, start) != expected:
            if expected and self.commits:
                self.tally.given_up += 1
            else:
                self.tally.differences.append((start, text))
        return expected


def _spellable(text: str) -> bool:
    """Whether a text has a spelling in UTF-8: no half of a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
