"""Options and the summary that the whole test suite shares."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

import pytest
from hypothesis import settings
from support import collisions, scaling
from support.real_vocabularies import tekken_vocabulary

from pdacon import Vocabulary

Tally = Callable[..., None]

# Tests neither read nor fill the cache of whoever runs them; those of the cache itself have a folder of their own.
os.environ["PDACON_CACHE_DIR"] = "off"

collisions.look_for_none()

# pytest keeps the tests with their rewritten assertions in the ignored folders beside them, even where Python is told
# to keep no bytecode: to rewrite all of them is half of the collection, in each worker and each narrow run.
sys.dont_write_bytecode = False

# jsonschema imports it where it is installed, for the formats of IRIs, which no test asks it about. It makes 38 parsers
# with Lark at once: some seconds for each worker, and for each narrow run.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# The same examples in each run, and none fails because a machine is slow. `--hypothesis-profile=others` tries new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("others", deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--oracle-scale",
        type=float,
        default=1.0,
        metavar="N",
        help="multiply the number of random grammars, texts and walks that are tried by N",
    )
    parser.addoption("--cases", type=int, metavar="N", help="run N cases of each test function at most")


def pytest_configure(config: pytest.Config) -> None:
    scaling.set_scale(config.getoption("oracle_scale"))
    # At the end all is collected as ever, or the core takes what is left for leaks. What is asked for first is done
    # last: after pytest has looked twice, for some seconds each, at all that stays to the end.
    config.add_cleanup(gc.unfreeze)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from what is imported and collected: millions of objects that stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(20_000, 20, 50)  # what parsers and grammars leave is looked at less often: a tenth of the time
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as ``quick`` the first case of each test function that is not marked as ``slow``; choose ``--cases``."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for first, *_ in functions.values():
        if first.get_closest_marker("slow") is None:
            first.add_marker(pytest.mark.quick)
    most = config.getoption("cases")
    if most is not None:
        # Side by side are often those that are alike.
        chosen = {id(cases[k * len(cases) // most]) for cases in functions.values() for k in range(most)}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
        items[:] = [item for item in items if id(item) in chosen]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker a stretch of tests that lie side by side, so that what these share is made once and not twice.

    A worker without tests takes half of what another one has left. ``--dist`` names another order.
    """
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture(scope="session")
def scaled() -> Callable[[int], int]:
    """How many cases to try, from how many are tried by default."""
    return scaling.scaled


@pytest.fixture(scope="session")
def tekken() -> Vocabulary:
    """A real vocabulary of 131,072 ids."""
    return tekken_vocabulary()


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Tally:
    """Counts for the terminal summary: ``tally(grammars=1, masks=40)``; they add up over tests and workers."""

    def add(**counts: int) -> None:
        for what, number in counts.items():
            record_property(f"tally:{what}", number)

    return add


def pytest_terminal_summary(terminalreporter: Any) -> None:
    totals: dict[str, Counter[str]] = {}
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties:
            if name.startswith("tally:") and report.when == "call":
                test = report.nodeid.partition("[")[0]
                totals.setdefault(test, Counter())[name.removeprefix("tally:").replace("_", " ")] += value
    if totals:
        terminalreporter.section("what was compared")
        for test, counts in totals.items():
            terminalreporter.write_line(
                f"{test}: " + ", ".join(f"{number:,} {what}" for what, number in counts.items())
            )
