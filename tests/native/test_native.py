"""Unit tests of the native core: small C++ programs that compare one part each with a plain model.

What a program tests is compiled with the sanitizers, where they run. PDACON_SANITIZED_BUILD names a folder with a
sanitized build of the package (``tests/fuzz/native/run`` says how one is made): the linker takes from it what a
program needs.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "pdacon" / "_native" / "src"
PROGRAMS = sorted(HERE.glob("test_*.cpp"))
# The sources that a program tests, beside the headers that it includes.
TESTED = {
    "test_formulas": ["regular/formulas"],
    "test_loops": [f"detokenizer/{name}" for name in ("loops", "token_set", "tokens", "trie", "trie_characters")],
    "test_mask_arena": ["matching/mask_arena"],
    "test_mask_pool": ["base/memory"],
    "test_pushbacks": ["lexer/pushbacks"],
    "test_reduce_chains": ["pda/empty_reduces", "pda/pushdown"],
    "test_terminal_automaton": [
        *(f"nested/{name}" for name in ("terminal_automaton", "terminal_walk", "like_walks", "regions", "rests")),
        *(f"nested/{name}" for name in ("character_counts", "token_heights")),
    ],
    "test_token_set": ["detokenizer/token_set", "detokenizer/tokens", "detokenizer/trie"],
    "test_token_steps": ["composition/token_steps"],
    "test_transitions": ["lexer/transitions"],
}
# The sources that it only needs for its cases. They are compiled in the quickest way: those in one tuple as one, since
# most of the time goes into headers that all of them have; `lexer/nfa` has local functions of the same names as another
# one. The sanitizers see them where `.ci/run` tests the whole core.
NEEDED = {
    "test_reduce_chains": [
        (
            *("lalr/automaton", "lalr/tables", "artifact/artifact", "base/memory"),
            *(f"lexer/{name}" for name in ("automaton", "automaton_artifact", "determinizer", "legibility")),
            *(f"lexer/{name}" for name in ("lookahead_cycles", "pushbacks", "relexing", "transitions")),
            *(f"lexer/subset_construction{part}" for part in ("", "_plain", "_pushbacks")),
        ),
        ("lexer/nfa",),
    ],
    "test_loops": [("detokenizer/labels", "artifact/artifact")],
    "test_terminal_automaton": [
        (
            *(f"detokenizer/{name}" for name in ("labels", "loops", "shared_trie", "token_set", "tokens", "trie")),
            *("detokenizer/trie_characters", "artifact/artifact", "base/memory", "nested/room"),
        ),
        ("regular/string_lengths",),
    ],
    "test_token_set": [("detokenizer/labels", "artifact/artifact")],
}
FLAGS = ["-std=c++20", "-DPDACON_CHECKS", "-D_GLIBCXX_ASSERTIONS", f"-I{SOURCES}", f"-I{HERE}"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="session")
def compiler() -> list[str]:
    command = shlex.split(os.environ.get("CXX", "c++"))
    if shutil.which(command[0]) is None:
        pytest.skip(f"the native core's unit tests need a C++ compiler, and there is no {command[0]}")
    return command


@pytest.fixture(scope="session")
def sanitizers(compiler: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The options for them, where programs run under these."""
    folder = tmp_path_factory.mktemp("sanitizers")
    (folder / "empty.cpp").write_text("int main() {}\n")
    made = subprocess.run([*compiler, *SANITIZERS, "empty.cpp", "-o", "empty"], cwd=folder, capture_output=True)
    runs = made.returncode == 0 and subprocess.run([folder / "empty"], capture_output=True).returncode == 0
    return SANITIZERS if runs else []


@pytest.fixture(scope="session")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """The objects of the sanitized build as a library, where there is one: some of them hold several sources."""
    build = os.environ.get("PDACON_SANITIZED_BUILD")
    if build is None:
        return None
    library = tmp_path_factory.mktemp("core") / "core.a"
    objects = sorted(Path(build).glob("**/pdacon_rooms.dir/**/*.o"))
    run(["ar", "rcs", str(library), *map(str, objects)])
    return library


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_native(program: Path, compiler: list[str], sanitizers: list[str], core: Path | None, tmp_path: Path) -> None:
    made = str(tmp_path / program.stem)
    if core is None:
        linked = [str(SOURCES / f"{name}.cpp") for name in TESTED.get(program.stem, [])]
        needed = NEEDED.get(program.stem, [])
        linked += [compiled_as_one(names, compiler, tmp_path / f"needed_{k}.cpp") for k, names in enumerate(needed)]
    else:
        linked = [str(core)]
    run([*compiler, *FLAGS, "-O1", *sanitizers, str(program), *linked, "-o", made])
    run([made])


def compiled_as_one(names: Sequence[str], compiler: list[str], joined: Path) -> str:
    joined.write_text("".join(f'#include "{name}.cpp"\n' for name in names))
    made = str(joined.with_suffix(".o"))
    run([*compiler, *FLAGS, "-O0", "-c", str(joined), "-o", made])
    return made


def run(command: list[str]) -> None:
    # The core frees what its own functions have allocated with `free`, and strings of the standard library likewise.
    environment = {**os.environ, "ASAN_OPTIONS": "alloc_dealloc_mismatch=0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
