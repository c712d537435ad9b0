"""A short slice of the search, all former finds, and that the search finds what it is there for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fuzz.case import EVERY_BYTE, Case, Oracle
from fuzz.checks import Examination
from fuzz.finds import Outcome, Progress
from fuzz.isolation import Caps, Result, examined, prepare, run

HERE = Path(__file__).parent
SEEDS = sorted((HERE / "seeds").glob("*.json"))
# A sanitizer reserves more address space than any cap, and makes everything slower.
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
CAPS = ["--megabytes", "0", "--seconds", "200", "--stack", "4096"] if SANITIZED else []


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HERE / "run.py"), *CAPS, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_slice_of_random_grammars_has_no_find(tmp_path: Path) -> None:
    # None of them meets a limit of time, so that each machine compares the same.
    number = "60" if SANITIZED else "150"
    done = fuzz("--grammars", number, "--jobs", "2", "--seed", "slice c", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("paths", [SEEDS[part::4] for part in range(4)], ids=["1 of 4", "2 of 4", "3 of 4", "4 of 4"])
def test_former_finds_stay_mended(paths: list[Path]) -> None:
    # Each has a process of its own; what starts these takes a second. Some need 20 s of a slow machine, where they took
    # minutes or memory without end.
    done = fuzz("--seconds", "60", "--replay", *map(str, paths))
    assert done.returncode == 0, done.stdout + done.stderr


# The search itself: what it is there for has to be found.


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    prepare()


def small(grammar: str, **more: object) -> Case:
    return Case(grammar, {}, (*EVERY_BYTE, b"ab", b"ba", None), (258,), **more)  # type: ignore[arg-type]


def found_with(case: Case, other: str) -> str:
    """The kind of find where stock Lark has another grammar."""
    examination = Examination(case, Progress(None, Outcome()))
    examination.ask_lark()
    examination.oracle = Oracle(case.but(grammar=other), examination.progress)
    find = examined(examination)
    return "nothing" if find is None else find["kind"]


@pytest.mark.slow
def test_equal_languages_are_no_find() -> None:
    assert found_with(small('start: "a" | "b"+\n'), 'start: "a" | "b" "b"*\n') == "nothing"


@pytest.mark.parametrize(
    ("ours", "theirs", "kinds"),
    [
        ('start: "a"+ "b"?\n', 'start: "a"+\n', ("unsound text", "unsound mask")),
        ('start: "a"+\n', 'start: "a"+ "b"?\n', ("incomplete text", "incomplete mask")),
        ('start: "a" "b" | "a" "c"\n', 'start: "a" "c"\n', ("unsound text", "unsound mask")),
        ('start: "a" "b"\n', 'start: "a" "b" | "a" "b" "a" "b"\n', ("incomplete text",)),
    ],
)
def test_unequal_languages_are_found(ours: str, theirs: str, kinds: tuple[str, ...]) -> None:
    assert found_with(small(ours), theirs) in kinds


def test_a_refusal_without_need_is_found() -> None:
    assert found_with(small("start: start\n"), 'start: "a"\n') == "empty language without need"


def made(work: object) -> Result:
    def make() -> Case:
        work()  # type: ignore[operator]
        return small('start: "a"\n')

    return run(make, Caps(seconds=1, memory=0 if SANITIZED else 256))


def test_a_crash_is_found() -> None:
    result = made(os.abort)
    assert result.find is not None
    assert result.find["kind"] == "crash"


@pytest.mark.slow
def test_time_without_end_is_ended() -> None:
    def spin() -> None:
        while True:
            time.thread_time()

    assert made(spin).outcome == "stock Lark takes too long"


@pytest.mark.skipif(SANITIZED, reason="no cap on memory with a sanitizer")
def test_memory_without_end_is_found() -> None:
    result = made(lambda: [bytes(1 << 20) for _ in range(2000)])
    assert result.find is not None
    assert result.find["kind"] in ("memory", "crash")


def test_a_case_is_the_same_from_its_file(tmp_path: Path) -> None:
    case = small('start: "é" /\\x00/\n', texts=(b"\xc3\xa9\x00", b"\xff"), limits={"states": 100})
    path = tmp_path / "case.json"
    path.write_text(case.to_json(), encoding="utf-8")
    assert Case.from_file(path) == case
