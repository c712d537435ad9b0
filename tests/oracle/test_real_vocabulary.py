"""JSON and arithmetic with a real vocabulary of 131,072 tokens, against the executable meaning, stock Lark and json."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from support.lark_oracle import accepts

import pdacon
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

# Inside strings, escapes, characters, numbers, words and white space; between lexemes; nested; at the end.
PREFIXES = [
    b"",
    b" ",
    b'"',
    b'"abc',
    b'"\\',
    b'"\\u',
    b'"\\u00',
    b'"\xc3',
    b'"\xe4\xb8',
    b'"\xf0\x9f\x98',
    b'"\xed',
    b"-",
    b"0",
    b"12",
    b"1.",
    b"1.5",
    b"1e",
    b"1E-",
    b"1e5",
    b"t",
    b"fals",
    b"[",
    b"[1",
    b"[1,",
    b'{"a"',
    b'{"a":',
    b'{"a": 1',
    b'{"a": 1, ',
    b"[" * 40 + b"1",
    b'[{"a":' * 12 + b'"x"',
    b'{"a": [1, 2]}',
    b"[1] \n",
]


@pytest.fixture(scope="module")
def vocabulary() -> pdacon.Vocabulary:
    pytest.importorskip("mistral_common")
    model = json.loads((files("mistral_common") / "data" / "tekken_240911.json").read_text())
    control = model["config"]["default_num_special_tokens"]
    entries = model["vocab"][: model["config"]["default_vocab_size"] - control]
    tokens = [None] * control + [base64.b64decode(entry["token_bytes"]) for entry in entries]
    return pdacon.Vocabulary.from_tokens(tokens, eos_ids=[2])


@pytest.fixture(scope="module", params=["json", "arithmetic"])
def constraint(request: pytest.FixtureRequest, vocabulary: pdacon.Vocabulary) -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin(request.param), vocabulary)


@pytest.fixture(scope="module")
def of_json(vocabulary: pdacon.Vocabulary) -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary)


@pytest.fixture(scope="module")
def meaning(of_json: pdacon.Constraint) -> Configuration:
    return Configuration.initial(Machine(of_json.grammar, build_tables(of_json.grammar)))


def mask_of(matcher: pdacon.Matcher, size: int) -> np.ndarray:
    words = np.zeros((size + 31) // 32, np.int32)
    matcher.fill_bitmask(words)
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:size].astype(bool)


@pytest.mark.parametrize("prefix", PREFIXES, ids=lambda prefix: repr(prefix[:12]))
def test_masks_are_the_definition(
    prefix: bytes, of_json: pdacon.Constraint, meaning: Configuration, scaled: Callable[[int], int], tally: Any
) -> None:
    """All ids against the stepping of single tokens; a sample against the executable meaning, Lark and json."""
    rng = random.Random(prefix)
    tokens = of_json.vocabulary.tokens
    matcher = of_json.matcher()
    assert matcher.accept_bytes(prefix)
    mask = mask_of(matcher, len(tokens))
    assert mask.tolist() == [matcher.is_allowed(token) for token in range(len(tokens))]
    here = meaning.read(prefix)
    assert here is not None
    assert mask[2] == here.ends() == accepts(of_json.grammar, prefix)
    allowed = [t for t in np.flatnonzero(mask).tolist() if t != 2]
    refused = [t for t in np.flatnonzero(~mask).tolist() if tokens[t]]
    for token in rng.sample(refused, min(len(refused), scaled(300))):
        assert here.read(tokens[token]) is None, tokens[token]
    for token in rng.sample(allowed, min(len(allowed), scaled(40))):
        fork = matcher.fork()
        assert fork.accept_token(token)
        text = prefix + tokens[token] + fork.shortest_completion()
        assert accepts(of_json.grammar, text), text
        json.loads(text)
    tally(masks=1, ids=len(tokens))


def test_walks_never_get_stuck(constraint: pdacon.Constraint, scaled: Callable[[int], int], tally: Any) -> None:
    """Random allowed tokens; every stop on the way can be completed, and undone and repeated."""
    rng = random.Random(3)
    tokens = constraint.vocabulary.tokens
    for _ in range(scaled(25)):
        matcher = constraint.matcher()
        walk: list[int] = []
        for _ in range(40):
            mask = mask_of(matcher, len(tokens))
            choices = np.flatnonzero(mask)
            assert len(choices)
            token = int(rng.choice(choices))
            assert matcher.accept_token(token)
            if matcher.is_terminated():
                break
            walk.append(token)
        else:
            tally(cut=1)
        text = b"".join(tokens[token] or b"" for token in walk) + matcher.shortest_completion()
        assert accepts(constraint.grammar, text), text
        if walk:
            back = rng.randint(1, len(walk))
            again = constraint.matcher()
            assert again.validate_tokens(walk) == len(walk)
            for token in walk:
                assert again.accept_token(token)
            before = again.mask_id()
            again.rollback(back)
            for token in walk[-back:]:
                assert again.accept_token(token)
            assert again.mask_id() == before
        tally(walks=1, tokens=len(walk))


def damaged(text: str, rng: random.Random) -> Iterator[str]:
    for _ in range(4):
        at = rng.randrange(len(text) + 1)
        yield text[:at] + text[at + 1 :]
        yield text[:at] + rng.choice('{}[],:"\\0-+.eE tfn\n\x01é') + text[at:]


def some_json(rng: random.Random, depth: int = 3) -> Any:
    kind = rng.randrange(7 if depth else 5)
    if kind < 2:
        return "".join(rng.choices('ab "\\\n\t/é中😀\x1f', k=rng.randint(0, 6)))
    if kind < 5:
        return rng.choice([True, False, None, 0, -1, 17, 1.5, -2.5e-10, 1e300])
    if kind == 5:
        return [some_json(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {some_json(rng, 0).__repr__(): some_json(rng, depth - 1) for _ in range(rng.randint(0, 3))}


def test_texts_are_taken_as_lark_and_json_take_them(
    of_json: pdacon.Constraint, scaled: Callable[[int], int], tally: Any
) -> None:
    rng = random.Random(7)
    matcher = of_json.matcher()
    for _ in range(scaled(250)):
        text = json.dumps(some_json(rng), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2]))
        for candidate in (text, *damaged(text, rng)):
            matcher.reset()
            ours = matcher.accept_bytes(candidate.encode()) and matcher.is_accepting()
            assert ours == accepts(of_json.grammar, candidate), candidate
            try:
                json.loads(candidate)
            except ValueError:
                theirs = False
            else:
                theirs = True
            assert ours == theirs, candidate
            tally(texts=1, sentences=int(ours))
