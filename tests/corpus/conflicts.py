"""Make the table of docs/counterexamples.md: what `check` says of the conflicts of published grammars.

``python -P tests/corpus/conflicts.py [NAME ...]`` checks the grammars whose names begin so, or all that are installed
and have conflicts, and puts their rows into the page. Another page: ``--page``.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.reading import NotInstalledError, Source, read
from corpus.registry import ENTRIES, Entry
from corpus.table import write

import pdacon
from pdacon.determinism.conflicts.explanations import Explanation, explain_conflicts
from pdacon.determinism.conflicts.items import Items
from pdacon.errors import GrammarError, LimitExceededError
from pdacon.front.grammar import Grammar
from pdacon.lalr import build_tables

PAGE = Path(__file__).resolve().parents[2] / "docs" / "counterexamples.md"
MARKERS = ("<!-- conflicts -->", "<!-- end of conflicts -->")
SECONDS = 60.0  # by the clock: what else the machine does is not to change what is found


def row(entry: Entry, source: Source) -> str | None:
    """The measured row of a grammar that has conflicts; seconds are of the processor."""
    try:
        grammar = Grammar.from_lark(source.text, **source.options)
    except GrammarError:
        return None
    tables = build_tables(grammar.data)
    conflicts = [conflict for conflict in tables.conflicts if conflict.kind != "reads-cycle"]
    if not conflicts:
        return None
    explained = explain_conflicts(Items(grammar.data, tables), conflicts, SECONDS)
    shifts = [conflict for conflict in conflicts if conflict.kind == "shift/reduce"]
    kinds = Counter(outcome(explained.get(conflict)) for conflict in shifts)
    begin = time.process_time()
    try:
        report = pdacon.check(grammar, seconds=SECONDS)
    except LimitExceededError:
        return None  # its lexer is too large to be looked at
    spent = time.process_time() - begin
    cells = (
        entry.name,
        f"{len(shifts)}",
        f"{kinds['unifying']}",
        f"{kinds['none']}",
        f"{kinds['open']}",
        f"{len(conflicts) - len(shifts)}",
        f"{len(report.findings)}",
        f"{spent:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def outcome(explanation: Explanation | None) -> str:
    """Whether there is a sentence with two derivations, certainly none, or neither is known."""
    if explanation is None:
        return "open"
    if explanation.example is not None and explanation.example.unifying:
        return "unifying"
    return "none" if explanation.complete else "open"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the rows are written")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for entry in ENTRIES:
        if arguments.names and not entry.name.startswith(tuple(arguments.names)):
            continue
        try:
            made = row(entry, read(entry))
        except NotInstalledError as error:
            print(f"{entry.name}: {error}")
            continue
        if made is not None:
            print(made, flush=True)
            write(arguments.page, made, *MARKERS)


if __name__ == "__main__":
    main()
