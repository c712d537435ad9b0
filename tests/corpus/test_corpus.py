"""Grammars of published packages: pdacon loads what stock LALR loads, and reads what stock Lark reads.

docs/corpus.md has the table of a run at full scale, and how to make it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache

import pytest
from corpus.comparing import BYTES, Comparison, Judge, compile_entry, reads
from corpus.reading import NotInstalledError, Source, read
from corpus.registry import ENTRIES, Entry
from lark.exceptions import LarkError

from pdacon import Constraint, Limits, NondeterministicGrammarError, PdaconError

NUMBER = 10
MADE_BEFOREHAND = ("beancount", "cypher", "ecql", "optimade: 1.0.0", "pylogics: ltl", "venom")  # small ones


@pytest.fixture(autouse=True)
def _quiet() -> None:
    warnings.simplefilter("ignore")  # of `re`, about patterns such as [[ that the packages have


@pytest.fixture(scope="module", params=ENTRIES, ids=lambda entry: entry.name)  # all tests of an entry in a row
def entry(request: pytest.FixtureRequest) -> Entry:
    chosen: Entry = request.param
    try:
        read(chosen)
    except NotInstalledError as error:
        pytest.skip(f"{error}; the extra 'corpus' and tests/corpus/requirements.txt bring it")
    return chosen


@lru_cache(maxsize=1)
def read_once(name: str) -> Source:
    return read(next(entry for entry in ENTRIES if entry.name == name))


@lru_cache(maxsize=1)
def compiled(name: str) -> Constraint:
    entry = next(entry for entry in ENTRIES if entry.name == name)
    return compile_entry(read_once(name), entry.needs)[0]


def test_loads_what_stock_lalr_loads(entry: Entry) -> None:
    """With the options that the registry names, and no fewer."""
    source = read_once(entry.name)
    if not entry.stock_loads:
        with pytest.raises(LarkError):
            _ = source.parser
        with pytest.raises(PdaconError):
            compile_entry(source, ("conflicts", "lookahead"))
        return
    assert source.parser
    if entry.refusal:
        with pytest.raises(PdaconError, match=entry.refusal.match):
            compile_entry(source, ("conflicts", "lookahead"))
        return
    compiled(entry.name)
    for needed in entry.needs:
        with pytest.raises(NondeterministicGrammarError):
            compile_entry(source, tuple(name for name in entry.needs if name != needed))


def test_reads_what_stock_lark_reads(entry: Entry, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    if not entry.reads:
        pytest.skip(entry.refusal.reason if entry.refusal else "stock LALR refuses it too")
    source, constraint = read_once(entry.name), compiled(entry.name)
    found = Comparison(entry, source, constraint).run(scaled(NUMBER))
    tally(
        sentences_sampled=found.sampled,
        of_these_parsed_by_Lark=found.parsed,
        damaged_sentences=found.damaged,
        of_these_refused_by_Lark=found.refused,
        given_up_by_commit=found.given_up,
    )
    assert not found.differences
    assert found.parsed
    assert found.refused


def test_masks_lead_to_sentences(entry: Entry, scaled: Callable[[int], int], tally: Callable[..., None]) -> None:
    """What a mask allows can be completed to what stock Lark parses."""
    if not entry.reads:
        pytest.skip(entry.refusal.reason if entry.refusal else "stock LALR refuses it too")
    source, constraint = read_once(entry.name), compiled(entry.name)
    comparison = Comparison(entry, source, constraint)
    judge = Judge(comparison.parser)
    checked = 0
    for start in comparison.starts[:2]:
        for _ in range(scaled(1)):
            text = comparison.sampler.sentence(start)[:60].encode("utf-8", "ignore")
            matcher = constraint.matcher(start)
            taken = b""
            for at in range(len(text)):
                if not matcher.accept_bytes(text[at : at + 1]):
                    break
                taken += text[at : at + 1]
            for byte in comparison.random.sample(range(256), 12):
                if not matcher.is_allowed(byte):
                    continue
                matcher.accept_token(byte)
                whole = taken + bytes([byte]) + matcher.shortest_completion()
                assert judge.accepts(whole.decode(), start), whole
                matcher.rollback(1)
                checked += 1
    tally(tokens_completed=checked)


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen", [entry for entry in ENTRIES if entry.name in MADE_BEFOREHAND], ids=lambda entry: entry.name
)
def test_masks_are_those_that_are_made_beforehand(chosen: Entry, scaled: Callable[[int], int]) -> None:
    """Lazy and eager, byte by byte along sentences."""
    try:
        source = read(chosen)
    except NotInstalledError as error:
        pytest.skip(f"{error}; the extra 'corpus' and tests/corpus/requirements.txt bring it")
    if not chosen.reads:
        pytest.skip(chosen.refusal.reason if chosen.refusal else "stock LALR refuses it too")
    lazy, _ = compile_entry(source, chosen.needs)
    limits = Limits(states=300_000, columns=2, bytes=128 << 20)
    eager, _ = compile_entry(source, chosen.needs, limits=limits, eager=True)
    comparison = Comparison(chosen, source, lazy)
    compared = 0
    for start in comparison.starts[:2]:
        for _ in range(scaled(3)):
            text = comparison.sampler.sentence(start)[:100].encode("utf-8", "ignore")
            one, other = lazy.matcher(start), eager.matcher(start)
            for at in range(len(text)):
                assert (one.allowed_mask() == other.allowed_mask()).all(), text[:at]
                compared += 1
                taken = one.accept_bytes(text[at : at + 1])
                assert other.accept_bytes(text[at : at + 1]) == taken
                if not taken:
                    break
    assert compared


def test_real_texts(entry: Entry, tally: Callable[..., None]) -> None:
    if not entry.reads or not entry.texts:
        pytest.skip("no real texts come with the package")
    source, constraint = read_once(entry.name), compiled(entry.name)
    judge = Judge(source.parser)
    start = entry.start if isinstance(entry.start, str) else entry.start[0]
    texts = [path.read_text(encoding="utf-8") for path in source.texts]
    assert texts
    for text in texts:
        assert reads(constraint, text, start) == judge.accepts(text, start), text
    tally(texts=len(texts), sentences=sum(judge.accepts(text, start) for text in texts))


def test_vocabulary_has_each_byte() -> None:
    assert [token for token in BYTES.tokens if token] == [bytes([byte]) for byte in range(256)]
