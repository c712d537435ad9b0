"""The library where files are damaged and memory runs out: a status, never the end of the process, and no leak.

Slices of what docs/reliability.md has the figures of. Each sweep is a process of its own, in C: what becomes of an
exception depends on how a program's libraries are linked, and engines do not call this one by `ctypes`.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from support.c_library import BAD_ARTIFACT, INTERNAL, LIMIT, MISUSE, NO_MEMORY, OK

import pdacon
from pdacon._native.embedding import include_folder, library

pytestmark = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or shutil.which("cc") is None or "LD_PRELOAD" in os.environ,
    reason="the sweeps take malloc's place, which needs glibc, a C compiler and no sanitizer",
)
NESTED = 'start: "(" start ")" | A\nA: /[ab]+/\n%ignore " "'
FEW = pdacon.Vocabulary.from_tokens([b"a", b"b", b"(", b")", b"ab", b" ", None], eos_ids=[6])
ALL = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b'{"', b'": ', None], eos_ids=[258])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sweeps") / "sweeps"
    options = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-fno-builtin-malloc"]
    where = [f"-I{include_folder()}", f"-L{library().parent}", "-lpdacon", f"-Wl,-rpath,{library().parent}"]
    subprocess.run(["cc", *options, Path(__file__).with_name("sweeps.c"), *where, "-o", made], check=True)
    return made


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    pdacon.compile(pdacon.Grammar.from_lark(NESTED), FEW).save(folder / "nested.pda")
    pdacon.compile("json", ALL).save(folder / "json.pda")
    return folder


def swept(program: Path, *arguments: object) -> list[int]:
    """How often each status was returned."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (arguments, done.returncode, done.stdout, done.stderr)
    return [int(count) for count in done.stdout.split()]


@pytest.mark.parametrize(("name", "step"), [("nested", 41), ("json", 479)])
def test_a_changed_bit_is_an_error_or_changes_nothing(program: Path, files: Path, name: str, step: int) -> None:
    statuses = swept(program, "bits", files / f"{name}.pda", 0, step, 0)
    assert statuses[BAD_ARTIFACT] > 0
    assert statuses[LIMIT] == statuses[NO_MEMORY] == statuses[INTERNAL] == 0


@pytest.mark.parametrize(("name", "step"), [("nested", 41), ("json", 479)])
def test_a_changed_bit_that_checksums_do_not_tell_is_an_error_or_another_constraint(
    program: Path, files: Path, name: str, step: int
) -> None:
    statuses = swept(program, "bits", files / f"{name}.pda", 0, step, 1)
    assert statuses[BAD_ARTIFACT] > 0
    assert statuses[OK] > 0
    assert statuses[INTERNAL] == 0


@pytest.mark.parametrize("lasts", [False, True], ids=["once", "from_then_on"])
def test_an_allocation_that_fails_is_told_and_harms_nothing(program: Path, files: Path, lasts: bool) -> None:
    statuses = swept(program, "allocations", files / "nested.pda", 0, 47, int(lasts))
    assert statuses[NO_MEMORY] > 0
    assert statuses[BAD_ARTIFACT] == statuses[INTERNAL] == 0


def test_the_first_allocations_of_a_thread_may_fail(program: Path, files: Path) -> None:
    """A message needs memory, too, and so does what a thread leaves to be given back when it ends."""
    for first in range(4):
        assert swept(program, "allocations", files / "nested.pda", first, 100_000, 1)[NO_MEMORY] > 0


def test_a_process_without_memory_is_told(program: Path, files: Path) -> None:
    statuses = swept(program, "limits", files / "json.pda", 16_384, 30)
    assert statuses[NO_MEMORY] > 5
    assert statuses[OK] > 0
    assert statuses[MISUSE] == 0
