"""Unit tests of the native core: small C++ programs that compare one part each with a plain model."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "pdacon" / "_native" / "src"
PROGRAMS = sorted(HERE.glob("test_*.cpp"))
# The sources that a program needs beside the headers that it includes.
LINKED = {
    "test_pushbacks": ["lexer/pushbacks"],
    "test_reduce_chains": [
        *("lalr/automaton", "lalr/tables", "pda/empty_reduces", "pda/pushdown", "artifact/artifact", "base/memory"),
        *(f"lexer/{name}" for name in ("automaton", "automaton_artifact", "determinizer", "legibility", "nfa")),
        *(f"lexer/{name}" for name in ("lookahead_cycles", "pushbacks", "relexing", "subset_construction")),
    ],
    "test_token_set": [
        *(f"detokenizer/{name}" for name in ("labels", "token_set", "tokens", "trie")),
        "artifact/artifact",
    ],
}
FLAGS = ["-std=c++20", "-O1", "-DPDACON_CHECKS", "-D_GLIBCXX_ASSERTIONS", f"-I{SOURCES}", f"-I{HERE}"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="session")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that compiles, with the sanitizers where programs run under these."""
    command = shlex.split(os.environ.get("CXX", "c++"))
    if shutil.which(command[0]) is None:
        pytest.skip(f"the native core's unit tests need a C++ compiler, and there is no {command[0]}")
    folder = tmp_path_factory.mktemp("sanitizers")
    (folder / "empty.cpp").write_text("int main() {}\n")
    made = subprocess.run([*command, *SANITIZERS, "empty.cpp", "-o", "empty"], cwd=folder, capture_output=True)
    runs = made.returncode == 0 and subprocess.run([folder / "empty"], capture_output=True).returncode == 0
    return [*command, *FLAGS, *(SANITIZERS if runs else [])]


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_native(program: Path, compiler: list[str], tmp_path: Path) -> None:
    linked = [str(SOURCES / f"{name}.cpp") for name in LINKED.get(program.stem, [])]
    made = tmp_path / program.stem
    build = subprocess.run([*compiler, str(program), *linked, "-o", str(made)], capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    done = subprocess.run([made], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
