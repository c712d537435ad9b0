"""A text through one engine: what the benchmarks' tables have in a row."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from support.engines import Compiled, Engine, RefusedError, Work

Clock = Callable[[], float]
PATIENCE = 5.0
"""What takes more seconds to compile is compiled once."""
COLUMNS = ["compile + first mask (ms)", "cold p50 (us)", "p99", "max", "warm p50", "p99", "accept p50"]


def spent(clock: Clock, work: Callable[[], Any]) -> float:
    """Seconds."""
    begin = clock()
    work()
    return clock() - begin


def figures(engine: Engine, work: Work, tokens: Sequence[int], clock: Clock) -> tuple[float, list[str]]:
    """Seconds until the first mask, and the figures of a row; of the cold masks the first is not one."""
    compiled: list[Compiled] = []

    def begin() -> None:
        compiled[:] = [engine.compile(work)]
        compiled[0].session().fill()

    try:
        begun = spent(clock, begin)
    except RefusedError as error:
        return 0, [f"refuses it: {str(error).splitlines()[0][:60]}"]
    if begun < PATIENCE:
        begun = statistics.median(spent(clock, begin) for _ in range(3))
    points = [f"{begun * 1e3:,.1f}"]
    for turn in range(2):
        session = compiled[0].session()
        masks, accepts = [], []
        for token in tokens:
            masks.append(spent(clock, session.fill) * 1e6)
            accepts.append(spent(clock, partial(session.accept, token)) * 1e6)
        points += [f"{point:,.1f}" for point in np.percentile(masks, [50, 99] if turn else [50, 99, 100])]
    return begun, [*points, f"{np.median(accepts):.2f}"]
