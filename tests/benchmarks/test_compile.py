"""What it costs until there is a first mask of a grammar that comes with pdacon, in CPU time.

    pytest tests/benchmarks/test_compile.py --benchmark-enable --benchmark-timer=time.process_time -s

prints a table for each vocabulary: from the name of the grammar, the first time in a process and again; from its text,
when nobody has read it and when it was compiled before; and from a `CompileCache` of a new process whose folder has it.
The process is warm: another grammar was compiled, and the vocabulary's trie is there. Without ``--benchmark-enable``
one grammar is tried, as a test that it works. Nothing here asserts a time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import pytest
from support.benchmark_texts import TEXTS
from support.real_vocabularies import NAMES, coded

import pdacon
from pdacon.grammar.builtin import builtin_options, builtin_source

WARM_UP = 'start: "a"* NAME\nNAME: /[b-z]+/\n%ignore " "\n'
COLUMNS = ("name, first (ms)", "name, again", "text, new", "text, seen", "folder of a cache")


def warm(vocabulary: str) -> pdacon.Vocabulary:
    known = coded(vocabulary).vocabulary
    pdacon.compile(WARM_UP, known).matcher().mask_id()
    assert known.fingerprint  # 15 ms for 131,072 tokens, once, which a cache needs, as it does the version of pdacon
    pdacon.CompileCache()
    return known


def spent(make: Callable[[], pdacon.Constraint]) -> float:
    """Milliseconds of CPU time until there is a mask."""
    begin = process_time()
    make().matcher().mask_id()
    return 1e3 * (process_time() - begin)


def compiled(name: str, vocabulary: str, folder: str) -> list[float]:
    """From the name, again, from a new text, again; the folder of a cache has the constraint then."""
    known, (text, path) = warm(vocabulary), builtin_source(name)

    def read(text: str) -> pdacon.Grammar:
        return pdacon.Grammar.from_lark(text, **{"source_path": path, **builtin_options(name)})

    times = [
        spent(lambda: pdacon.compile(name, known)),
        median(spent(lambda: pdacon.compile(name, known)) for _ in range(5)),
        median(spent(lambda k=k: pdacon.compile(read(f"{text}// {k}\n"), known)) for k in range(3)),
    ]
    pdacon.compile(read(f"{text}// 0\n"), known)
    times.append(median(spent(lambda: pdacon.compile(read(f"{text}// 0\n"), known)) for _ in range(5)))
    pdacon.CompileCache(directory=folder).compile(name, known)
    return times


def cached(name: str, vocabulary: str, folder: str) -> float:
    """From the folder of a cache."""
    known = warm(vocabulary)
    return spent(lambda: pdacon.CompileCache(directory=folder).compile(name, known))


def elsewhere(function: str, *arguments: str) -> Any:
    """What a function returns in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, __file__, function, *arguments]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


@pytest.mark.parametrize("vocabulary", NAMES)
def test_first_masks(vocabulary: str, measured: bool, show: Any) -> None:
    rows = []
    for name in TEXTS if measured else ["json"]:
        with tempfile.TemporaryDirectory() as folder:
            times = [*elsewhere("compiled", name, vocabulary, folder), elsewhere("cached", name, vocabulary, folder)]
        rows.append([name, *(f"{time:.2f}" for time in times)])
    show([vocabulary, *COLUMNS], rows)


if __name__ == "__main__":
    print(json.dumps({"compiled": compiled, "cached": cached}[sys.argv[1]](*sys.argv[2:])))
