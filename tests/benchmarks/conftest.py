"""Tables that benchmarks print, and whether they are to measure or only to be tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pkgutil import resolve_name

import pytest

Show = Callable[[Sequence[str], Iterable[Sequence[object]]], None]


@pytest.fixture
def measured(pytestconfig: pytest.Config) -> bool:
    """Whether `--benchmark-enable` was given."""
    return bool(pytestconfig.getoption("benchmark_enable"))


@pytest.fixture
def clock(pytestconfig: pytest.Config) -> Callable[[], float]:
    """Seconds, by the clock of `--benchmark-timer`: that of the wall unless another is named."""
    clock: Callable[[], float] = resolve_name(pytestconfig.getoption("benchmark_timer"))
    return clock


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str], measured: bool) -> Show:
    """Print a table as Markdown, where it was measured."""

    def show(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        lines = [f"| {' | '.join(map(str, row))} |" for row in (columns, ["---"] * len(columns), *rows)]
        if measured:
            with capsys.disabled():
                print("", *lines, sep="\n")

    return show
