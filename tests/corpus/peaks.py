"""Time and peak memory of `check` and `compile` with default limits, over the corpus and the built-in grammars.

    python -P tests/corpus/peaks.py [NAME ...]       # all, or those whose names begin like one of NAME

Prints a table in Markdown, the largest first. Each grammar is loaded, checked and compiled in processes of their own,
whose peak is that of all that they did; the first row is that of a process that only imports pdacon and Lark.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.reading import NotInstalledError, read
from corpus.registry import ENTRIES
from support.languages import EVERY_BYTE

import pdacon
from pdacon.front.grammar import Grammar
from pdacon.grammar.builtin import builtin_names

SECONDS = 300  # of one process, after which it is a hang
NOTHING = "(imports alone)"
OPTIONS = {"conflicts": "shift", "lookahead": "commit"}


def loaded(name: str) -> Grammar:
    if name in builtin_names():
        return Grammar.builtin(name)
    entry = next(entry for entry in ENTRIES if entry.name == name)
    source = read(entry)
    return Grammar.from_lark(source.text, **source.options, **{need: OPTIONS[need] for need in entry.needs})


def work(name: str, task: str) -> None:
    """Do one thing, and print what it took: seconds of CPU, and the process's peak in MB."""
    tasks: dict[str, Callable[[Grammar], object]] = {
        "check": pdacon.check,
        "compile": lambda grammar: pdacon.compile(grammar, EVERY_BYTE),
        "load": lambda grammar: grammar,
    }
    said, spent = "", 0.0
    if name != NOTHING:
        try:
            grammar = loaded(name)
            began = time.process_time()
            try:
                tasks[task](grammar)
            finally:
                spent = time.process_time() - began
        except NotInstalledError:
            said = "not installed"
        except pdacon.PdaconError as error:
            said = type(error).__name__
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": spent, "peak": peak, "said": said}))


def measured(name: str, task: str) -> dict[str, float | str]:
    command = [sys.executable, "-P", __file__, "--work", name, task]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    except subprocess.TimeoutExpired:
        return {"seconds": SECONDS, "peak": 0.0, "said": "did not return"}
    found: dict[str, float | str] = json.loads(done.stdout)
    return found


def cell(found: dict[str, float | str]) -> str:
    figures = f"{found['seconds']:.2f} s, {found['peak']:.0f} MB"
    return f"{figures} ({found['said']})" if found["said"] else figures


def main(names: list[str]) -> None:
    every = [*builtin_names(), *(entry.name for entry in ENTRIES if entry.stock_loads)]
    wanted = [name for name in every if not names or name.startswith(tuple(names))]
    rows = []
    missing = []
    for name in wanted:
        check, compiled = measured(name, "check"), measured(name, "compile")
        if check["said"] == "not installed":
            missing.append(name)
        else:
            rows.append((max(float(check["peak"]), float(compiled["peak"])), name, check, compiled))
    print("| grammar | `check` | `compile` |\n|---|---|---|")
    print(f"| {NOTHING} | {measured(NOTHING, 'load')['peak']:.0f} MB | |")
    for _, name, check, compiled in sorted(rows, key=lambda row: -row[0]):
        print(f"| {name} | {cell(check)} | {cell(compiled)} |")
    if missing:
        print(f"\nNot installed: {', '.join(missing)}.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    else:
        main(sys.argv[1:])
