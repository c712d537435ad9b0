"""How cost grows: with the vocabulary, with the grammar, with the length of the output, along a long function.

    pip install '.[test,bench]' xgrammar && pytest tests/benchmarks/test_growth.py --benchmark-enable

prints a table for each. On a machine that does other work add ``--benchmark-timer=time.thread_time``.

The smaller vocabulary is the beginning of the one of 131,072 (its first merges), the larger one has pairs of its tokens
besides. The larger grammars have more kinds of statements, each with a keyword and operands of its own. The texts are a
list of records, until it has so many tokens.

Without ``--benchmark-enable`` the smallest of each is tried. Nothing here asserts a time.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from support.benchmark_texts import RECORD
from support.engines import Work, installed
from support.real_vocabularies import coded
from support.replaying import COLUMNS, PATIENCE, Clock, figures, spent

import pdacon

SIZES = [1 << 15, 1 << 17, 1 << 18]
STATEMENTS = [10, 100, 1_000]
MOST_TOKENS = 1_000
LENGTHS = [10, 1_000, 100_000, 1_000_000]
LINES, LEVELS = 10_000, 12


def vocabulary_of(size: int) -> pdacon.Vocabulary:
    texts = [text for text in coded("tekken").vocabulary.tokens if text]
    random = Random(size)
    known = dict.fromkeys(texts[: size - 1])
    while len(known) < size - 1:
        known[random.choice(texts) + random.choice(texts)] = None
    return pdacon.Vocabulary.from_tokens([*known, None], eos_ids=[size - 1])


def greedy(vocabulary: pdacon.Vocabulary, text: bytes) -> list[int]:
    ids = {token: at for at, token in enumerate(vocabulary.tokens) if token}
    found = []
    while text:
        length = next(n for n in range(len(text), 0, -1) if text[:n] in ids)
        found.append(ids[text[:length]])
        text = text[length:]
    return found


def calls(clock: Clock, constraint: pdacon.Constraint, tokens: Sequence[int]) -> tuple[list[float], list[float]]:
    """Microseconds of each mask and each accept."""
    row = np.zeros((1, -(-constraint.vocabulary.size // 32)), np.int32)
    matcher = constraint.matcher(max_rollback=0)
    masks, accepts = [], []
    for token in tokens:
        begin = clock()
        matcher.fill_bitmask(row)
        filled = clock()
        accepted = matcher.accept_token(token)
        accepts.append((clock() - filled) * 1e6)
        masks.append((filled - begin) * 1e6)
        assert accepted
    return masks, accepts


def test_vocabulary(measured: bool, clock: Clock, show: Any) -> None:
    rows = []
    for size in SIZES if measured else SIZES[:1]:
        vocabulary = vocabulary_of(size)
        tokens, grammar = greedy(vocabulary, RECORD.encode()), pdacon.Grammar.builtin("json")
        rounds = range(9 if measured else 1)
        lazily = partial(pdacon.compile, grammar, vocabulary)
        begun = spent(clock, lazily)
        later = statistics.median(spent(clock, lazily) for _ in rounds)
        eagerly = statistics.median(spent(clock, partial(lazily, eager=True)) for _ in rounds)
        first = np.median([calls(clock, lazily(), tokens)[0] for _ in rounds], axis=0)
        constraint = lazily(eager=True)
        masks, accepts = np.median([calls(clock, constraint, tokens) for _ in rounds], axis=0)
        table = constraint.mask_table()
        figures = [f"{seconds * 1e3:.1f}" for seconds in (begun, later, eagerly)]
        figures += [f"{first.max():.0f}", f"{first.sum():.0f}", f"{np.median(masks):.2f}", f"{np.median(accepts):.2f}"]
        rows.append([f"{size:,}", *figures, str(len(table)), f"{table.nbytes / 1e6:.1f}"])
    columns = "tokens, first compile (ms), compile (ms), eager (ms), dearest first mask (us), all masks of a text (us)"
    show([*columns.split(", "), "known mask (us)", "accept (us)", "all masks", "table (MB)"], rows)


def statements(count: int) -> tuple[Work, str]:
    """A grammar of so many kinds of statements, and a text of some of them."""
    random = Random(count)
    operands = {"NAME": "value", "NUMBER": "12.5", "STRING": '"some text"', "list": '[1, x, "y"]'}
    rules, lines = [], []
    for at in range(count):
        kinds = random.choices(list(operands), k=3)
        rules.append(f'    | "do_{at}" {kinds[0]} "with_{at % 50}" {kinds[1]} ["," {kinds[2]}]')
        lines.append(f"do_{at} {operands[kinds[0]]} with_{at % 50} {operands[kinds[1]]}, {operands[kinds[2]]};")
    text = f"""start: (statement ";")*
statement: "end"
{chr(10).join(rules)}
list: "[" [value ("," value)*] "]"
value: NAME | NUMBER | STRING | list
NAME: /[a-z]+/
NUMBER: /[0-9]+(\\.[0-9]+)?/
STRING: /"[^"\\n]*"/
%ignore " "
"""
    return Work(f"{count:,} statements", text), " ".join(random.sample(lines, min(count, 100)))


@pytest.mark.slow
def test_grammar(measured: bool, clock: Clock, show: Any) -> None:
    known = coded("tekken" if measured else "SentencePiece")
    rows: list[list[str]] = []
    taking = installed(known)
    for engine in taking:  # what a vocabulary needs once is not the grammar's
        engine.compile(statements(1)[0]).session().fill()
    for count in STATEMENTS if measured else STATEMENTS[:1]:
        work, text = statements(count)
        read = partial(pdacon.Grammar.from_lark, work.text)
        loaded = statistics.median(spent(clock, read) for _ in range(3))
        sizes = pdacon.compile(read(), known.vocabulary).statistics()
        shape = [work.name, f"{sizes['parser_states']:,}", f"{sizes['lexer_states']:,}", f"{loaded * 1e3:.0f}"]
        for engine in list(taking):
            begun, row = figures(engine, work, known.encode_inside(text)[:MOST_TOKENS], clock)
            rows.append([*shape, engine.name, *row])
            if begun > PATIENCE:  # it is not given the next larger grammar
                taking.remove(engine)
    columns = "grammar, LR states, lexer states, Lark's loader (ms), engine"
    show([*columns.split(", "), *COLUMNS], rows)


def test_length(measured: bool, clock: Clock, show: Any) -> None:
    """Microseconds a token, the loop included, the least of three runs; masks are known."""
    known = coded("tekken" if measured else "SentencePiece")
    record = known.encode_inside(RECORD + ", ")
    opening = known.encode_inside("[")
    work, rows = Work.builtin("json"), []

    def run(session: Any, length: int) -> None:
        fill, accept = session.fill, session.accept
        for at in range(length):
            fill()
            accept(record[at % len(record)])

    for engine in installed(known):
        compiled, row = engine.compile(work), [engine.name]
        for length in LENGTHS if measured else LENGTHS[:1]:
            best = float("inf")
            for _ in range(3):
                session = compiled.session()
                assert all(session.accept(token) for token in opening)
                best = min(best, spent(clock, partial(run, session, length)))
            row.append(f"{best / length * 1e6:.2f}")
        rows.append(row)
    show(["tokens", *(f"{length:,}" for length in LENGTHS)], rows)


@pytest.mark.slow
def test_long_function(measured: bool, clock: Clock, show: Any) -> None:
    """One body in twelve nested blocks, again and again, in pdacon's Python grammar; every tenth of the tokens."""
    known = coded("tekken" if measured else "SentencePiece")
    heads = ["if a:", "while b:", "for c in d:", "with e as f:"]
    nest = [" " * 4 * (1 + k) + heads[k % len(heads)] for k in range(LEVELS - 1)]
    nest += [" " * 4 * LEVELS + line for line in ("total = total + call(a, b[1], key='text')", "total -= 1")]
    lines = ["def function(a, b):"]
    while len(lines) < (LINES if measured else 20):
        lines += nest
    tokens = known.encode_inside("\n".join(lines) + "\n")
    constraint = pdacon.compile(pdacon.Grammar.builtin("python"), known.vocabulary)
    calls(clock, constraint, tokens)  # now all masks are known
    masks, accepts = calls(clock, constraint, tokens)
    assert constraint.statistics()["masks_computed"] < len(tokens)
    rows = []
    for tenth in range(10):
        part = slice(len(tokens) * tenth // 10, len(tokens) * (tenth + 1) // 10)
        points = [np.percentile(masks[part], 50), np.percentile(masks[part], 99), np.median(accepts[part])]
        rows.append([f"{len(tokens) * tenth // 10:,}", *(f"{point:.2f}" for point in points)])
    show([f"behind, of {len(tokens):,} tokens", "mask p50", "p99", "accept p50"], rows)
