"""What is listed as coming next is what can come: for each terminal there is a sentence, and no sentence has others.

Sentences are enumerated with stock Lark, which also says how each of them is cut, ignored lexemes included. So what is
not listed is held against all of these; what is listed has to prove itself with a sentence, found by a search for
longer ones. The same texts show where explanations find themselves: at the configuration that reading byte by byte
leads to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from random import Random

import lark
import pytest
from conftest import Tally
from support.lexemes import Lexeme, lexemes_of_configuration, lexemes_of_lark
from support.lowering import is_exact, load
from support.random_grammars import (
    loadable_grammars,
    random_conflicting_grammar,
    random_grammar,
    random_guarded_grammar,
    random_indented_grammar,
)
from support.small_grammars import SmallGrammar
from support.stock_lark import StockLark, affordable_length, shared_lark
from support.strategies import EXACT

import pdacon
from pdacon.errors import LimitExceededError, PdaconError
from pdacon.lalr import build_tables
from pdacon.lexer import compile_terminal
from pdacon.matching.lexemes import shortest_texts
from pdacon.matching.located import locate
from pdacon.pda import Configuration, LexemeReader, Machine

BYTES = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])
WALKS = 1_000  # that look for a sentence
KINDS = {
    "plain": random_grammar,
    "guarded": random_guarded_grammar,
    "conflicting": random_conflicting_grammar,
    "indented": random_indented_grammar,
}


class Cutter:
    """How stock Lark cuts the sentences of a grammar: with ignored lexemes, and without what an Indenter makes."""

    def __init__(self, grammar: SmallGrammar, start: str, names: list[str]) -> None:
        self._ignored: list[lark.Token] = []
        self._names = names
        see = dict.fromkeys(self._names, self._see)
        self._lark = lark.Lark(grammar.text, parser="lalr", lexer_callbacks=see, **grammar.options)
        self._grammar, self._start = grammar, start

    def _see(self, token: lark.Token) -> lark.Token:
        self._ignored.append(token)
        return token

    def __call__(self, sentence: str) -> Iterator[Lexeme]:
        self._ignored.clear()
        as_bytes = self._grammar.options.get("use_bytes")
        asked = self._grammar.encode(sentence) if as_bytes else sentence
        lexemes, whole = lexemes_of_lark(self._lark, asked, self._start)
        assert whole, f"{self._grammar}{sentence!r}"
        lexemes += [
            (token.type, *(len(self._grammar.encode(sentence[: at or 0])) for at in (token.start_pos, token.end_pos)))
            for token in self._ignored
        ]
        # Lark does not tell of an ignored lexeme that it takes for a keyword first.
        end = 0
        for name, begin, until in sorted(dict.fromkeys(lexemes), key=lambda lexeme: lexeme[1:]):
            yield from self._between(sentence, end, begin)
            yield name, begin, until
            end = max(end, until)
        yield from self._between(sentence, end, len(self._grammar.encode(sentence)))

    def _between(self, sentence: str, begin: int, end: int) -> Iterator[Lexeme]:
        """What a part of a sentence is that nothing is said of, if only one terminal is ignored."""
        text = self._grammar.encode(sentence)
        while begin < end and len(self._names) == 1:
            pattern = next(t.pattern for t in self._lark.terminals if t.name == self._names[0])
            at = len(self._grammar.decode(text[:begin]) or "")
            found = re.compile(pattern.to_regexp(), self._lark.options.g_regex_flags).match(sentence, at)
            assert found is not None
            until = len(self._grammar.encode(sentence[: found.end()]))
            yield self._names[0], begin, until
            begin = until


class Listing:
    """What is listed after the beginnings of sentences, beside the sentences."""

    def __init__(self, grammar: SmallGrammar, oracle: StockLark, constraint: pdacon.Constraint) -> None:
        self.grammar, self.oracle, self.constraint = grammar, oracle, constraint
        self.start = grammar.starts[0]
        self.cut = Cutter(grammar, self.start, oracle.ignored)
        loaded = constraint.grammar
        self.names = {loaded.data.describe_symbol(k): loaded.data.symbol_name(k) for k in range(loaded.data.end)}
        self.machine = Machine(loaded.data, build_tables(loaded.data))
        self.exact = is_exact(loaded)
        self.counts: Counter[str] = Counter()

    def check(self, sentences: list[str], places: int) -> None:
        following: dict[bytes, set[str]] = {}
        unfinished: dict[bytes, set[str]] = {}
        for sentence in sentences:
            text = self.grammar.encode(sentence)
            for name, begin, end in self.cut(sentence):
                following.setdefault(text[:begin], set()).add(name)
                for at in range(begin + 1, end):
                    unfinished.setdefault(text[:at], set()).add(name)
        for text in islice(sorted({*following, *unfinished}, key=lambda text: (len(text), text)), places):
            self.check_place(text, following.get(text, set()), unfinished.get(text, set()))

    def check_place(self, text: bytes, following: set[str], unfinished: set[str]) -> None:
        matcher = self.constraint.matcher()
        if not self.exact and not matcher.accept_bytes(text):
            return
        assert not self.exact or matcher.accept_bytes(text), self.about(text)
        explanation = matcher.explain(b"")
        listed = {self.names[name] for name in explanation.expected}
        begun = {self.names[name] for name in explanation.unfinished}
        if self.exact:
            assert following <= listed, f"{self.about(text)}: {following - listed} can come, but is not listed"
            assert unfinished <= begun, f"{self.about(text)}: it can be {unfinished - begun}, which is not listed"
            self.check_where_it_is(matcher, text)
        unproved = self.unproved(matcher, text, listed - following, begun - unfinished)
        assert not unproved, f"{self.about(text)}: {unproved} is listed, but no sentence was found"
        self.counts["places"] += 1
        self.counts["listed"] += len(listed) + len(begun)

    def check_where_it_is(self, matcher: pdacon.Matcher, text: bytes) -> None:
        meant = Configuration.initial(self.machine).read(text)
        located = locate(self.machine, 0, matcher, text, LexemeReader(), most=None)
        assert meant is not None, self.about(text)
        assert (located.place, located.place.length) == (meant, meant.length), self.about(text)
        assert located.place.stack == meant.stack, self.about(text)
        lexemes = [(cut.terminal, len(cut.text), cut.fate) for cut in located.cuts]
        loaded = self.constraint.grammar
        last, expected = meant.last, []
        while last is not None:
            fate = "ignored" if last.ignored else "shifted"
            expected.append((loaded.data.describe_symbol(last.terminal), last.length, fate))
            last = last.previous
        assert lexemes == expected[::-1], self.about(text)
        assert len(lexemes_of_configuration(meant)) == len(lexemes) + located.earlier

    def unproved(self, matcher: pdacon.Matcher, text: bytes, listed: set[str], begun: set[str]) -> set[str]:
        """Which of the terminals no sentence proves; random walks look for one, which end where none is possible."""
        listed, begun = set(listed), set(begun)
        loaded, random = self.constraint.grammar, Random(text)
        ignored = not {loaded.data.symbol_name(k) for k in loaded.data.ignore}.isdisjoint(listed | begun)
        weights = self.pieces(text)
        for _ in range(WALKS):
            reached, here, patience = text, matcher.fork(), 4
            for _ in range(random.randint(1, 12)):
                if not (listed or begun):
                    return set()
                self.counts["sentences_searched"] += 1
                for name, begin, end in self.cut(self.grammar.decode(reached + here.shortest_completion()) or ""):
                    if begin == len(text):
                        listed.discard(name)
                    if begin < len(text) <= end:
                        begun.discard(name)
                possible = {
                    loaded.data.symbol_name(k) for k in here._outlook(reached)[0].tolist() if k < loaded.data.end
                }
                patience -= reached != text and not ignored and not possible & (listed | begun)
                if not patience:
                    break
                pieces = [piece for piece in weights if here.fork().accept_bytes(piece)]
                if not pieces:
                    break
                piece = random.choices(pieces, [weights[piece] for piece in pieces])[0]
                assert here.accept_bytes(piece)
                reached += piece
        return listed | begun

    def pieces(self, text: bytes) -> dict[bytes, float]:
        """What texts can be put together from, and how much each is liked after a text."""
        foreign = dict.fromkeys(bytes([byte]) for byte in (*self.grammar.text.encode(), *range(0x80, 0xC0)))
        own = dict.fromkeys([*self.grammar.letters, *(self.grammar.encode(letter) for letter in self.grammar.alphabet)])
        weights = dict.fromkeys(foreign, 0.02) | dict.fromkeys((b"\n", b" "), 0.3)
        for terminal in self.constraint.grammar.data.terminals:
            if terminal.pattern is not None:
                texts = shortest_texts(compile_terminal(self.constraint.grammar.data, terminal))
                likely = [*(piece for piece in texts if piece[:1] in own), *texts[:8]]
                rests = [piece[at:] for piece in likely for at in range(1, len(piece)) if text.endswith(piece[:at])]
                weights |= dict.fromkeys([*likely, *rests], 0.1)
        return weights | dict.fromkeys(own, 1.0)

    def about(self, text: bytes) -> str:
        return f"{self.grammar}after {text!r}"


def check_grammar(grammar: SmallGrammar, oracle: StockLark, texts: int, places: int) -> Counter[str]:
    try:
        constraint = pdacon.compile(load(grammar), BYTES, limits=pdacon.Limits(states=5_000))
        constraint.matcher()
    except (PdaconError, LimitExceededError):
        return Counter(refused=1)
    listing = Listing(grammar, oracle, constraint)
    length = grammar.length or affordable_length(grammar.alphabet, texts)
    listing.check(list(islice(oracle.sentences(length, grammar.starts[0]), 400)), places)
    return listing.counts + Counter(grammars=1)


@pytest.mark.parametrize("grammar", EXACT, ids=lambda grammar: grammar.name)
def test_curated_grammars(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Tally) -> None:
    tally(**check_grammar(grammar, shared_lark(grammar), scaled(600), scaled(12)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_random_grammars(kind: str, scaled: Callable[[int], int], tally: Tally) -> None:
    for grammar, oracle in loadable_grammars(scaled(10), 700_000_000, KINDS[kind]):
        tally(**check_grammar(replace(grammar, lookahead="reject"), oracle, scaled(800), scaled(20)))
