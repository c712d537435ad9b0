"""sql.lark beside SQLite: on statements that others wrote, on damaged ones, and on its own random sentences."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from support.builtin import builtin, over_bytes
from support.lark_oracle import accepts
from support.sqlite import syntax_error
from support.token_walks import walked_texts

import pdacon
from pdacon import Constraint, Grammar, Vocabulary
from pdacon.front.sampling import sample

TEXTS = Path(__file__).parents[3] / "shared" / "data" / "sql"


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return builtin("sql")


@pytest.fixture(scope="module")
def constraint() -> Constraint:
    """Of single statements: the sampler's texts are to be prepared one by one."""
    return over_bytes("sql", start="statement")


def cases(collection: str) -> list[dict[str, Any]]:
    path = TEXTS / f"{collection}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with gzip.open(path) as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("collection", "least_accepted", "least_rejected"),
    [
        ("spider_dev_gold", 1, 0),
        ("spider_mutants", 1, 1),
        ("sqlglot_identity", 1, 1),
        ("sqlite_tests", 0.995, 1),
    ],
)
def test_statements_that_others_wrote(
    collection: str, least_accepted: float, least_rejected: float, grammar: Grammar, tally: Callable[..., None]
) -> None:
    verdicts: Counter[tuple[bool, bool]] = Counter()
    selects: Counter[bool] = Counter()
    for case in cases(collection):
        if case["sqlite"] is None:
            continue
        ours = accepts(grammar, case["sql"])
        verdicts[case["sqlite"], ours] += 1
        if case["sqlite"] and case["kind"] == "SELECT":
            selects[ours] += 1
    accepted, missed = verdicts[True, True], verdicts[True, False]
    rejected, let_through = verdicts[False, False], verdicts[False, True]
    tally(accepted=accepted, missed=missed, rejected=rejected, let_through=let_through)
    assert accepted >= least_accepted * (accepted + missed)
    assert selects[True] >= 0.999 * selects.total()
    assert rejected >= least_rejected * (rejected + let_through)


@pytest.mark.slow
def test_statements_are_read_as_lark_reads_them(constraint: Constraint, tally: Callable[..., None]) -> None:
    grammar = constraint.grammar
    for case in cases("spider_mutants"):
        text = case["sql"].rstrip("; ")
        matcher = constraint.matcher()
        ours = matcher.accept_bytes(text.encode()) and matcher.is_accepting()
        assert ours == accepts(grammar, text), text
        tally(texts=1, sentences=int(ours))


@pytest.mark.slow
def test_random_sentences_are_sql(
    constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    count = scaled(60)
    wrong = [text for text in islice(sample(constraint, 1), count) if syntax_error(text)]
    tally(sentences=count, not_sql=len(wrong))
    assert len(wrong) <= 0.01 * count, wrong


@pytest.mark.slow
def test_walks_over_tokens_end_in_sql(
    tekken: Vocabulary, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    constraint = pdacon.compile(Grammar.builtin("sql", start="statement"), tekken)
    for text, tokens in walked_texts(constraint, scaled(200)):
        assert syntax_error(text) is None, text
        tally(walks=1, tokens=tokens)
