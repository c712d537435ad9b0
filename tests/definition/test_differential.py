"""Accept and reject equal stock Lark's on sampled sentences of whole grammars, and on damaged ones, token by token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from support.lark_oracle import accepts, lark_parser
from support.sampler import Sampler, damaged

import pdacon
from pdacon import Constraint, Grammar, Matcher, Vocabulary
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine

GRAMMARS = Path(__file__).parents[1] / "support" / "grammars"
FILES = sorted(GRAMMARS.glob("*.lark"))
DEPTH = {"json": 8, "arithmetic": 8, "table": 8, "settings": 6, "statements": 4, "query": 3}


@pytest.fixture(scope="module", params=["json", "arithmetic", *(file.stem for file in FILES)])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def grammar(name: str) -> Grammar:
    file = GRAMMARS / f"{name}.lark"
    return Grammar.from_file(file) if file in FILES else Grammar.builtin(name)


@pytest.fixture(scope="module")
def sampler(name: str, grammar: Grammar) -> Sampler:
    return Sampler(lark_parser(grammar), Random(name), DEPTH[name])


@pytest.fixture(scope="module")
def constraint(grammar: Grammar, sampler: Sampler) -> Constraint:
    """For single bytes and some thousand pieces of sentences, cut anywhere."""
    pieces = {bytes([byte]) for byte in range(256)}
    while len(pieces) < 3000:
        text = sampler.sentence().encode()
        for begin in sampler.random.choices(range(len(text) + 1), k=30):
            pieces.add(text[begin : begin + sampler.random.randint(1, 8)] or b"x")
    return pdacon.compile(grammar, Vocabulary.from_tokens([*sorted(pieces), None], eos_ids=[len(pieces)]))


def segments(text: bytes, vocabulary: Vocabulary, random: Random) -> Iterator[int]:
    """A random segmentation of a text into tokens."""
    ids = {token: id for id, token in enumerate(vocabulary.tokens) if token}
    while text:
        lengths = [length for length in range(1, 9) if length <= len(text) and text[:length] in ids]
        length = random.choice(lengths)
        yield ids[text[:length]]
        text = text[length:]


def read(matcher: Matcher, ids: Iterator[int], tokens: tuple[bytes | None, ...]) -> tuple[bytes, bool]:
    """What the matcher took of a text, and whether that is all of it."""
    taken = b""
    for id in ids:
        if not matcher.accept_token(id):
            return taken, False
        taken += tokens[id] or b""
    return taken, True


@pytest.mark.slow
def test_sampled_sentences_and_damaged_ones(
    grammar: Grammar,
    sampler: Sampler,
    constraint: Constraint,
    scaled: Callable[[int], int],
    tally: Callable[..., None],
) -> None:
    random = sampler.random
    initial = Configuration.initial(Machine(grammar.data, build_tables(grammar.data)))
    sentences = [sampler.sentence() for _ in range(scaled(40))]
    sampled = sum(accepts(grammar, text) for text in sentences)
    texts = [*sentences, *(damaged(random.choice(sentences), random) for _ in range(scaled(40)))]
    accepted = 0
    for text in texts:
        matcher = constraint.matcher()
        taken, whole = read(
            matcher, segments(text.encode(), constraint.vocabulary, random), constraint.vocabulary.tokens
        )
        expected = accepts(grammar, text)
        accepted += expected
        assert (whole and matcher.is_accepting()) == expected, text
        completed = taken + matcher.shortest_completion()
        assert accepts(grammar, completed), completed
        meaning = initial.read(text.encode())
        assert (meaning is not None and meaning.ends()) == expected, text
    tally(
        sentences_sampled=len(sentences),
        of_these_parsed_by_Lark=sampled,
        damaged_sentences=len(texts) - len(sentences),
        of_these_still_parsed=accepted - sampled,
    )
