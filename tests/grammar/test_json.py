"""JSON with a real vocabulary of 131,072 tokens, against the executable meaning, stock Lark and Python's json."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pytest
from support.definition import mask_of
from support.json_references import is_json
from support.lark_oracle import accepts, lark_parser
from support.sampler import Sampler, damaged

import pdacon
from pdacon import Constraint, Grammar, Vocabulary
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

# In strings, escapes, characters cut apart, numbers, words, white space; between lexemes; nested; at the end.
PREFIXES = [
    b"",
    b" \n",
    b'"',
    b'"abc d',
    b'"\\',
    b'"\\u',
    b'"\\u00e',
    b'"\xc3',
    b'"\xe4\xb8',
    b'"\xe0',
    b'"\xed',
    b'"\xf0\x9f\x98',
    b'"\xf4',
    b"-",
    b"0",
    b"-12",
    b"1.",
    b"1.5",
    b"1e",
    b"1E-",
    b"1e5",
    b"t",
    b"fals",
    b"[",
    b"[1",
    b"[1 ",
    b"[1,",
    b"[[],",
    b"{",
    b'{"a"',
    b'{"a":',
    b'{"a": 1',
    b'{"a": 1, ',
    b'{"a": "\\',
    b"[" * 40 + b"1",
    b"[" * 300,
    b'[{"a":' * 12 + b'"x"',
    b'[{"a":' * 12 + b"[]",
    b'{"a": [1, 2]}',
    b"[1] \n",
    b'""',
]
# Where every token is held against the meaning; elsewhere a sample is.
WHOLE = [b"", b'"abc d', b'"\\', b'"\xe4\xb8', b"1.5", b'{"a"', b'[{"a":' * 12 + b'"x"', b"[" * 40 + b"1"]


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.builtin("json")


@pytest.fixture(scope="module")
def constraint(grammar: Grammar, tekken: Vocabulary) -> Constraint:
    return pdacon.compile(grammar, tekken)


@pytest.fixture(scope="module")
def meaning(grammar: Grammar) -> Configuration:
    return Configuration.initial(Machine(grammar.data, build_tables(grammar.data)))


def readable(here: Configuration, tokens: Sequence[bytes | None], ids: Sequence[int]) -> set[int]:
    """Which of the tokens can be read from a configuration. Tokens with a common beginning share the way."""
    found: set[int] = set()
    read = b""
    path: list[Configuration | None] = [here]
    for text, id in sorted((tokens[id] or b"", id) for id in ids):
        common = next(
            (i for i, (a, b) in enumerate(zip(read, text, strict=False)) if a != b), min(len(read), len(text))
        )
        del path[common + 1 :]
        for byte in text[common:]:
            path.append(path[-1] and path[-1].step(byte))
        read = text
        if text and path[-1] is not None:
            found.add(id)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("prefix", PREFIXES, ids=lambda prefix: repr(prefix[:12])[1:])
def test_masks_are_the_definition(
    prefix: bytes,
    grammar: Grammar,
    constraint: Constraint,
    meaning: Configuration,
    scaled: Callable[[int], int],
    tally: Callable[..., None],
) -> None:
    """In JSON whatever can be read can be completed, so the meaning alone says what is allowed."""
    random = Random(prefix)
    tokens = constraint.vocabulary.tokens
    (end,) = constraint.vocabulary.eos_ids
    matcher = constraint.matcher()
    assert matcher.accept_bytes(prefix)
    mask = mask_of(matcher, len(tokens))
    here = meaning.read(prefix)
    assert here is not None
    assert (end in mask) == here.ends() == accepts(grammar, prefix) == matcher.is_accepting()

    ids = [id for id, text in enumerate(tokens) if text and id != end]
    if prefix not in WHOLE:
        allowed = [id for id in ids if id in mask]
        ids = [*random.sample(ids, min(len(ids), scaled(1500))), *random.sample(allowed, min(len(allowed), 300))]
    assert readable(here, tokens, ids) == mask.intersection(ids)
    assert all(text for id, text in enumerate(tokens) if id in mask and id != end)

    for token in random.choices(sorted(mask - {end}), k=scaled(25)):
        fork = matcher.fork()
        assert fork.accept_token(token)
        text = prefix + (tokens[token] or b"") + fork.shortest_completion()
        assert accepts(grammar, text), text
        json.loads(text)
    tally(masks=1, tokens=len(ids))


@pytest.mark.slow
def test_a_permuted_vocabulary_permutes_the_mask(constraint: Constraint, tally: Callable[..., None]) -> None:
    vocabulary = constraint.vocabulary
    order = np.random.default_rng(1).permutation(len(vocabulary))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    permuted = Vocabulary.from_tokens(
        [vocabulary.tokens[id] for id in order.tolist()], eos_ids=[int(place[id]) for id in vocabulary.eos_ids]
    )
    other = pdacon.compile(constraint.grammar, permuted)
    for prefix in WHOLE:
        matchers = constraint.matcher(), other.matcher()
        assert all(matcher.accept_bytes(prefix) for matcher in matchers)
        mask, theirs = (mask_of(matcher, len(vocabulary)) for matcher in matchers)
        assert mask == set(order[sorted(theirs)].tolist())
        tally(masks=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_texts_are_taken_as_lark_and_json_take_them(
    seed: int, grammar: Grammar, constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """Token by token, in the longest tokens and in random ones."""
    random = Random(seed)
    sampler = Sampler(lark_parser(grammar), random)
    ids = {token: id for id, token in reversed(list(enumerate(constraint.vocabulary.tokens))) if token}
    longest = max(map(len, ids))
    matcher = constraint.matcher()
    for round in range(scaled(700)):
        text = sampler.sentence()
        text = text if round % 3 == 0 else damaged(text, random)
        rest = text.encode()
        matcher.reset()
        taken = True
        while rest and taken:
            lengths = [n for n in range(min(longest, len(rest)), 0, -1) if rest[:n] in ids]
            length = lengths[0] if random.random() < 0.6 else random.choice(lengths)
            taken = matcher.accept_token(ids[rest[:length]])
            rest = rest[length:]
        ours = taken and matcher.is_accepting()
        assert ours == accepts(grammar, text) == is_json(text), text
        tally(texts=1, sentences=int(ours))


DEPTH = 100_000


@pytest.mark.slow
def test_a_hundred_thousand_brackets(constraint: Constraint) -> None:
    """Deep is no different from shallow: no mask and no state that is not there already, and a way back."""
    ids = {text: id for id, text in reversed(list(enumerate(constraint.vocabulary.tokens))) if text}
    opening, closing, comma = ids[b"["], ids[b"]"], ids[b","]
    (end,) = constraint.vocabulary.eos_ids
    matcher = constraint.matcher()
    seen: dict[int, tuple[int, ...]] = {}
    for depth in range(DEPTH):
        assert matcher.accept_token(opening)
        if depth in (10, DEPTH - 1):
            seen[depth] = (matcher.mask_id(), *look_around(matcher, closing, comma, ids[b"0"]))
        if depth == 10:
            before = constraint.statistics()
    assert seen[10] == seen[DEPTH - 1]
    assert constraint.statistics() == before, "work that grows with the depth"

    assert matcher.shortest_completion() == b"]" * DEPTH
    fork = matcher.fork()
    for _ in range(DEPTH):
        assert matcher.accept_token(closing)
    assert matcher.is_accepting()
    assert matcher.is_allowed(end)
    assert not matcher.is_allowed(closing)
    matcher.rollback(DEPTH)
    assert matcher.mask_id() == fork.mask_id()
    matcher.rollback(DEPTH - 11)
    assert matcher.shortest_completion() == b"]" * 11
    assert fork.shortest_completion() == b"]" * DEPTH
    matcher.rollback(11)
    assert matcher.mask_id() == constraint.matcher().mask_id()


def look_around(matcher: pdacon.Matcher, *tokens: int) -> list[int]:
    """The ids of the masks after tokens that are tried and taken back; -1 for one that is refused."""
    masks = []
    for token in tokens:
        if matcher.accept_token(token):
            masks.append(matcher.mask_id())
            matcher.rollback(1)
        else:
            masks.append(-1)
    return masks


@pytest.mark.slow
def test_deep_objects_in_few_long_calls(constraint: Constraint) -> None:
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b'{"a":[' * DEPTH)
    assert matcher.shortest_completion() == b"]}" * DEPTH
    assert not matcher.accept_bytes(b"]}" * DEPTH + b"]")
    assert matcher.accept_bytes(b"]}" * DEPTH)
    assert matcher.is_accepting()
    matcher.rollback(2)
    assert not matcher.is_accepting()
