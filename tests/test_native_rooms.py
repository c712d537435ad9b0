"""The native core's rooms: what each includes lies in itself or in a room below it, and no header includes itself."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "pdacon" / "_native" / "src"
ROOMS = (  # from the bottom up; docs/architecture.md says what each is for
    "base",
    "regular",
    "frontends",
    "artifact",
    "lalr",
    "lexer",
    "detokenizer",
    "filters",
    "pda",
    "liveness",
    "completion",
    "composition",
    "nested",
    "matching",
    "engines",
    "embedding",
    "bindings",
)
FILES = sorted(SOURCES.glob("**/*.[ch]pp"))
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def room_of(file: Path) -> str:
    return file.relative_to(SOURCES).parts[0]


def includes_of(file: Path) -> list[Path]:
    return [SOURCES / name for name in INCLUDE.findall(file.read_text(encoding="utf-8"))]


def test_every_file_lies_in_a_room() -> None:
    assert {room_of(file) for file in FILES} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_includes_itself_and_those_below(room: str) -> None:
    allowed = ROOMS[: ROOMS.index(room) + 1]
    for file in FILES:
        if room_of(file) == room:
            for included in includes_of(file):
                assert included.is_file(), f"{file.name} includes {included}, which is not there"
                assert room_of(included) in allowed, f"{room}/{file.name} includes {room_of(included)}/{included.name}"


def test_no_header_includes_itself() -> None:
    TopologicalSorter({file: includes_of(file) for file in FILES if file.suffix == ".hpp"}).prepare()


def test_every_header_has_a_head() -> None:
    assert [file.name for file in FILES if file.suffix == ".hpp" and not file.read_text().startswith("// ")] == []


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    lines = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert {name: count for name, count in lines.items() if count >= 600} == {}


def test_no_exception_has_to_pass_through_the_c_library() -> None:
    """The C interface's library has an unwinder of its own, which does not get through frames that are not its own.

    Nor has a variable of a thread a destructor where the C library has to note that, and ends the process if it cannot.
    """
    calls_back = re.compile(r"\bstd::(call_once|async|qsort|bsearch|at_quick_exit)\b|\b(pthread_once|qsort|bsearch)\(")
    files = [file for file in FILES if room_of(file) != "bindings"]
    assert [file.name for file in files if calls_back.search(re.sub(r"//.*", "", file.read_text()))] == []
    owning = re.compile(r"thread_local (?!MemoryLimit\* |Slot |std::size_t )")
    assert [file.name for file in files if owning.search(re.sub(r"//.*", "", file.read_text()))] == []
