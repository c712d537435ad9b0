"""Masks and accepts call by call, cold and warm, of all engines that are installed, over the same texts in one run.

    pip install '.[test,bench]' xgrammar && pytest tests/benchmarks/test_percentiles.py --benchmark-enable

prints a table for each grammar and vocabulary. Engines take turns, text by text. *Cold*: each text gets a newly
compiled grammar. *Miss*: of those, the calls that computed a mask, where the engine says so. *From the name*: each text
gets a constraint that is compiled from the name of the built-in grammar, in one process. *Warm*: one compiled grammar,
the second time that it reads the texts. Of xgrammar, JSON is the builtin grammar; the others read
the same file. The clock costs some 0.05 us a call, which is in the figures. On a machine that does other work add
``--benchmark-timer=time.thread_time``, whose clock costs more.

Without ``--benchmark-enable`` one text is read, as a test that it works. Nothing here asserts a time.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest
from support.benchmark_texts import TEXTS
from support.engines import Compiled, Engine, RefusedError, Work, installed
from support.real_vocabularies import NAMES, coded

Clock = Callable[[], float]
COLD = {"json": 40, "sql": 20, "python": 6}
WARM = {"json": 200, "sql": 50, "python": 12}
WARM_UP = Work("warm-up", 'start: "a"* NAME\nNAME: /[b-z]+/\n%ignore " "\n')


@dataclass
class Times:
    """Seconds of each call."""

    clock: Clock
    masks: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    accepts: list[float] = field(default_factory=list)

    def replay(self, compiled: Compiled, tokens: Sequence[int]) -> None:
        session, clock, computed = compiled.session(), self.clock, compiled.computed
        before = computed() if computed else 0
        for token in tokens:
            begin = clock()
            session.fill()
            filled = clock()
            accepted = session.accept(token)
            end = clock()
            assert accepted
            self.masks.append(filled - begin)
            self.accepts.append(end - filled)
            if computed and (now := computed()) != before:
                self.first.append(filled - begin)
                before = now


def percentiles(what: str, engine: str, calls: list[float]) -> list[str]:
    in_us = np.asarray(calls) * 1e6
    points = [*np.percentile(in_us, [50, 90, 99, 99.9]), in_us.max()]
    return [what, engine, f"{len(calls):,}", f"{in_us.mean():.2f}", *(f"{point:,.2f}" for point in points)]


def first_mask(clock: Clock, rounds: int, make: Callable[[Any], Compiled], given: Any) -> str:
    """Milliseconds until a grammar has answered once, the median of some rounds."""
    spent = []
    for _ in range(rounds):
        begin = clock()
        make(given).session().fill()
        spent.append(clock() - begin)
    return f"{statistics.median(spent) * 1e3:.2f}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    measured = metafunc.config.getoption("benchmark_enable")
    cases = list(product(TEXTS, NAMES)) if measured else [("json", "SentencePiece")]
    metafunc.parametrize(("grammar", "vocabulary"), cases)


def taking(engines: Sequence[Engine], work: Work) -> tuple[dict[Engine, Compiled], list[tuple[str, str]]]:
    """What each engine makes of a grammar, and why others make nothing of it."""
    compiled, refused = {}, []
    for engine in engines:
        engine.compile(WARM_UP).session().fill()
        try:
            compiled[engine] = engine.compile(work)
            compiled[engine].session().fill()
        except RefusedError as error:
            refused.append((engine.name, str(error).splitlines()[0][:100]))
    return compiled, refused


def test_calls(grammar: str, vocabulary: str, measured: bool, clock: Clock, show: Any) -> None:
    known, work = coded(vocabulary), Work.builtin(grammar)
    compiled, refused = taking(installed(known), work)
    texts = TEXTS[grammar](WARM[grammar] if measured else 1)
    spelled = [known.encode_inside(text) for text in texts]
    cold, warm, named = ({engine: Times(clock) for engine in compiled} for _ in range(3))
    for tokens in spelled[: COLD[grammar]]:
        for engine, times in cold.items():
            times.replay(engine.compile(work), tokens)
            if engine.named:
                named[engine].replay(engine.named(grammar), tokens)
    for turn in range(2):
        for tokens in spelled:
            for engine, times in warm.items():
                (times if turn else Times(clock)).replay(compiled[engine], tokens)
    rows = []
    for what, kind, times_of in (
        ("mask, warm", "masks", warm),
        ("accept, warm", "accepts", warm),
        ("mask, cold", "masks", cold),
        ("mask, miss", "first", cold),
        ("mask, miss, from the name", "first", named),
        ("accept, cold", "accepts", cold),
    ):
        rows += [
            percentiles(what, engine.name, calls)
            for engine, times in times_of.items()
            if (calls := getattr(times, kind))
        ]
    assert all(times.masks for times in warm.values())
    show([f"{grammar}, {vocabulary}", "engine", "calls", "mean", "p50", "p90", "p99", "p99.9", "max (us)"], rows)
    if refused:
        show([f"{grammar}, {vocabulary}: refuse it", "because"], refused)


def test_compilations(grammar: str, vocabulary: str, measured: bool, clock: Clock, show: Any) -> None:
    """Until the first mask, from the text, and from what was saved after some texts: medians of nine, warm process."""
    known, work = coded(vocabulary), Work.builtin(grammar)
    compiled, _ = taking(installed(known), work)
    tokens = [known.encode_inside(text) for text in TEXTS[grammar](5 if measured else 1)]
    rounds = 9 if measured else 1
    rows = []
    for engine, one in compiled.items():
        for text in tokens:
            Times(clock).replay(one, text)
        begun, loaded, size = first_mask(clock, rounds, engine.compile, work), "", ""
        if one.saved and engine.load:
            data = one.saved()
            loaded, size = first_mask(clock, rounds, engine.load, data), f"{len(data) / 1e6:.2f}"
        memory = f"{one.bytes() / 1e6:.2f}" if one.bytes else ""
        rows.append([f"{grammar}, {vocabulary}", engine.name, begun, loaded, size, memory])
    show(["", "engine", "compile + first mask (ms)", "load + first mask (ms)", "saved (MB)", "memory (MB)"], rows)
