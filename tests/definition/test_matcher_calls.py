"""The calls of a Matcher beside its mask, each against its definition, in the small world.

Sentences are enumerated with stock Lark; where a longer one is needed, tokens and a completion that Lark parses find
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import pytest
from support.definition import mask_of, spelled_suffixes
from support.lowering import is_exact, load
from support.random_grammars import loadable_grammars
from support.small_grammars import SmallGrammar
from support.stock_lark import affordable_length, shared_lark
from support.strategies import EXACT, SmallWorld, small_world
from support.vocabularies import TinyVocabulary, tiny_vocabularies

import pdacon
from pdacon import Constraint, Matcher, Vocabulary

each_grammar = pytest.mark.parametrize("grammar", EXACT, ids=lambda grammar: grammar.name)


def worlds(grammar: SmallGrammar) -> Iterator[SmallWorld]:
    """Those in which the first start has a sentence."""
    found = (small_world(grammar.name, kind) for kind in range(5))
    return (world for world in found if world is not None)


def reached(matcher: Matcher, vocabulary: Vocabulary, number: int) -> list[tuple[bytes, Matcher]]:
    """So many texts that tokens spell, short ones first, each with a matcher after it."""
    pending = [(b"", matcher)]
    for text, at in pending:
        for token, spelled in enumerate(vocabulary.tokens):
            if len(pending) < number and spelled and at.is_allowed(token):
                following = at.fork()
                assert following.accept_token(token)
                pending.append((text + spelled, following))
    return pending


# What is forced


def rests(
    sentences: list[bytes], tiny: TinyVocabulary, text: bytes, matcher: Matcher, vocabulary: Vocabulary
) -> list[bytes]:
    """What sentences go on with after a text, where tokens spell it: all short ones, and some that tokens find."""
    pieces = frozenset(tiny.texts())
    whole = [sentence[len(text) :] for sentence in sentences if sentence.startswith(text)]
    found = [rest for rest in whole if 0 in spelled_suffixes(rest, pieces)]
    for spelled, following in reached(matcher, vocabulary, 12):
        found.append(spelled + following.shortest_completion())
    return found


def common_prefix(texts: list[bytes]) -> bytes:
    """What all of them start with: the least and the greatest do."""
    least, greatest = min(texts), max(texts)
    differ = (i for i, pair in enumerate(zip(least, greatest, strict=False)) if pair[0] != pair[1])
    return least[: next(differ, len(least))]


@each_grammar
def test_forced_bytes(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    oracle = shared_lark(grammar)
    length = grammar.length or affordable_length(grammar.alphabet, 400)
    sentences = [grammar.encode(sentence) for sentence in oracle.sentences(length, grammar.starts[0])]
    counts: Counter[str] = Counter(grammars=1)
    for world in worlds(grammar):
        for text, matcher in reached(world.constraint.matcher(), world.constraint.vocabulary, scaled(8)):
            known = rests(sentences, world.tiny, text, matcher, world.constraint.vocabulary)
            assert all(oracle.accepts(text + rest) for rest in known)
            forced = matcher.forced_bytes()
            common = common_prefix(known)
            about = f"{grammar}{world.tiny}\nafter {text!r}: {forced!r}, known {known[:10]}"
            assert all(rest.startswith(forced) for rest in known), about
            assert forced == common, about
            assert matcher.forced_bytes(limit=2) == forced[:2], about
            counts["texts"] += 1
            counts["bytes"] += len(forced)
    tally(**counts)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_forced_bytes_of_random_grammars(chunk: int, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """They are what all known continuations start with; where few are known, those may agree on more."""
    counts: Counter[str] = Counter()
    for grammar, oracle in loadable_grammars(scaled(6), first_seed=1_000_000 * (chunk + 300)):
        length = affordable_length(grammar.alphabet, 300)
        sentences = [grammar.encode(sentence) for sentence in oracle.sentences(length)]
        for tiny in tiny_vocabularies(grammar.letters, sentences, Random(grammar.name))[:3]:
            try:
                constraint = pdacon.compile(load(grammar), tiny.vocabulary(), limits=pdacon.Limits(states=5_000))
            except pdacon.PdaconError:
                continue
            exact = is_exact(constraint.grammar)
            for text, matcher in reached(constraint.matcher(), constraint.vocabulary, 12):
                known = rests(sentences, tiny, text, matcher, constraint.vocabulary)
                forced = matcher.forced_bytes()
                about = f"{grammar}{tiny}\nafter {text!r}: {forced!r}, known {known[:10]}"
                assert all(rest.startswith(forced) for rest in known) or not exact, about
                counts["texts"] += 1
                counts["bytes"] += len(forced)
                counts["texts_with_more_in_common"] += common_prefix(known) != forced
                assert check_settled(matcher, matcher._merged(forced), constraint.vocabulary, forced) == (
                    matcher.forced_tokens()
                ), about
    tally(**counts)


@each_grammar
def test_forced_tokens(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    counts: Counter[str] = Counter(grammars=1)
    for world in worlds(grammar):
        vocabulary = world.constraint.vocabulary
        for _, matcher in reached(world.constraint.matcher(), vocabulary, scaled(15)):
            forced = matcher.forced_bytes()
            assert check_settled(matcher, matcher._merged(forced), vocabulary, forced) == matcher.forced_tokens()
            for pick in (max, min):
                tokens = cut(forced.decode("utf-8", "ignore").encode(), vocabulary, pick)
                found = matcher.forced_tokens(lambda _, tokens=tokens: tokens)
                assert found == check_settled(matcher, tokens, vocabulary, forced)
                counts["tokens"] += len(found)
                counts["healed"] += len(tokens) - len(found)
    tally(**counts)


def cut(text: bytes, vocabulary: Vocabulary, pick: Callable[..., bytes]) -> list[int]:
    """Tokens from left to right, each the longest or the shortest that fits."""
    tokens = []
    while fitting := [token for token in vocabulary.tokens if token and text.startswith(token)]:
        token = pick(fitting, key=len)
        tokens.append(vocabulary.tokens.index(token))
        text = text[len(token) :]
    return tokens


def check_settled(matcher: Matcher, tokens: list[int], vocabulary: Vocabulary, forced: bytes) -> list[int]:
    """The definition: tokens up to the first that cannot be accepted, or that a longer one could replace."""
    spelled, usable = b"", []
    at = matcher.fork()
    for token in tokens:
        text = (vocabulary.tokens[token] if token >= 0 else None) or b"no text"
        if not forced.startswith(spelled + text) or not at.accept_token(token):
            break
        usable.append(token)
        spelled += text
    at, begin = matcher.fork(), 0
    for number, token in enumerate(usable):
        rest = forced[begin:]
        for other, text in enumerate(vocabulary.tokens):
            longer = text is not None and len(text) > len(spelled) - begin
            if longer and (text.startswith(rest) or rest.startswith(text)) and at.is_allowed(other):
                return usable[:number]
        assert at.accept_token(token)
        begin += len(vocabulary.tokens[token] or b"")
    return usable


# Many at once


@each_grammar
def test_batches(grammar: SmallGrammar) -> None:
    random = Random(grammar.name)
    for world in worlds(grammar):
        size = world.tiny.size
        matchers = [matcher for _, matcher in reached(world.constraint.matcher(), world.constraint.vocabulary, 12)]
        matchers += random.choices(matchers, k=3)
        fresh = pdacon.compile(world.constraint.grammar, world.constraint.vocabulary)
        rows = random.sample(range(20), len(matchers))
        single, batch = (np.full((20, size // 32 + 2), -1, np.int32) for _ in range(2))
        for matcher, row in zip(matchers, rows, strict=True):
            matcher.fill_bitmask(single, row)
        pdacon.fill_bitmasks(matchers, batch, rows)
        assert (single == batch).all()
        ids = pdacon.matching.mask_ids(matchers)
        assert ids.dtype == np.int32
        assert ids.tolist() == [matcher.mask_id() for matcher in matchers]
        again = [matcher for _, matcher in reached(fresh.matcher(), fresh.vocabulary, 12)]
        pdacon.fill_bitmasks(again, batch)
        assert (batch[: len(again), : (size + 31) // 32] == single[rows[: len(again)], : (size + 31) // 32]).all()


# The leading space


def spaced(world: SmallWorld, random: Random) -> Vocabulary:
    """The vocabulary with more tokens that begin with spaces."""
    texts = [token for token in world.constraint.vocabulary.tokens if token]
    added = [b" ", b"  ", *(b" " + text for text in random.sample(texts, min(8, len(texts))))]
    tokens = [*world.constraint.vocabulary.tokens, *random.sample(added, len(added) - 1), b"  " + texts[0]]
    return Vocabulary.from_tokens(tokens, world.constraint.vocabulary.eos_ids)


@each_grammar
def test_leading_space(grammar: SmallGrammar, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    oracle = shared_lark(grammar)
    random = Random(grammar.name)
    counts: Counter[str] = Counter(grammars=1)
    for world in worlds(grammar):
        vocabulary = spaced(world, random)
        constraint = pdacon.compile(world.constraint.grammar, vocabulary)
        try:
            matcher = constraint.matcher(strip_leading_space=True)
        except pdacon.EmptyLanguageError:
            assert not any(allowed_at_start(constraint, token) for token in range(vocabulary.size))
            continue
        mask = mask_of(matcher, vocabulary.size)
        about = f"{grammar}{vocabulary.tokens}"
        assert mask == {token for token in range(vocabulary.size) if allowed_at_start(constraint, token)}, about
        table = constraint.mask_table()
        assert (np.unpackbits(table[matcher.mask_id()].view(np.uint8), bitorder="little").sum()) == len(mask)
        row = np.zeros((1, (vocabulary.size + 31) // 32), np.int32)
        pdacon.fill_bitmasks([matcher], row)
        assert (row[0] == table[matcher.mask_id()]).all()
        for token in range(vocabulary.size):
            assert matcher.is_allowed(token) == (token in mask) == matcher.validate_tokens([token]), about
        for token in random.sample(range(vocabulary.size), min(vocabulary.size, scaled(10))):
            assert matcher.explain(token).allowed == (token in mask), about
        for token in random.sample(sorted(mask), min(len(mask), scaled(8))):
            text = (vocabulary.tokens[token] or b"").removeprefix(b" ")
            after = matcher.fork()
            plain = constraint.matcher()
            assert after.accept_token(token)
            assert plain.accept_bytes(text) if token not in vocabulary.eos_ids else plain.accept_token(token)
            assert mask_of(after, vocabulary.size) == mask_of(plain, vocabulary.size), about
            assert oracle.accepts(text + after.shortest_completion()), about
            then = random.randrange(vocabulary.size)
            assert matcher.validate_tokens([token, then]) == 1 + plain.is_allowed(then), about
            after.rollback(1)
            assert mask_of(after, vocabulary.size) == mask, about
            assert after.accept_bytes(text)
            assert (mask_of(after, vocabulary.size) == mask) == (not text) or mask_of(plain, vocabulary.size) == mask
            after.reset()
            assert mask_of(after, vocabulary.size) == mask, about
            counts["tokens"] += 1
    tally(**counts)


def allowed_at_start(constraint: Constraint, token: int) -> bool:
    """The definition: without one leading space of its text, it is viable."""
    vocabulary, matcher = constraint.vocabulary, constraint.matcher()
    if token in vocabulary.eos_ids:
        return matcher.is_accepting()
    text = vocabulary.tokens[token]
    return text is not None and matcher.accept_bytes(text.removeprefix(b" "))
