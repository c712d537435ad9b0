"""What it costs to compile grammars: their text is read anew each time, and apart from that, in a warm process.

    pytest tests/benchmarks/test_compile.py --benchmark-enable --benchmark-timer=time.process_time \\
        --benchmark-columns=min,median

Without ``--benchmark-enable`` one grammar runs once, as a test that it works. Nothing here asserts a time.
"""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import pdacon
from pdacon import Grammar, Vocabulary

EVERY_BYTE = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])
GRAMMARS = ("json", "sql_select", "sql", "python")


@pytest.fixture(params=GRAMMARS)
def name(request: pytest.FixtureRequest, benchmark: BenchmarkFixture) -> str:
    if benchmark.disabled and request.param != "json":
        pytest.skip("json is enough to see that it works")
    return str(request.param)


def test_compile(benchmark: BenchmarkFixture, name: str) -> None:
    grammar = Grammar.builtin(name)
    constraint = benchmark(lambda: pdacon.compile(grammar, EVERY_BYTE))
    assert constraint.statistics()["masks_computed"] == 1  # that of the empty text


def test_from_text(benchmark: BenchmarkFixture, name: str) -> None:
    """Lark's loader included, and the first mask."""

    def first_mask() -> int:
        return pdacon.compile(Grammar.builtin(name), EVERY_BYTE).matcher().mask_id()

    assert benchmark(first_mask) >= 0
