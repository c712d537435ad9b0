"""Measure grammars of the corpus, and write their rows into docs/corpus.md.

    python -P tests/corpus/table.py [-n 1000] [NAME ...]

For each grammar, or those whose names begin like one of NAME: ``-n`` sentences that stock Lark parses, and as many near
misses that it refuses. Rows of other grammars stay as they are.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from lark.exceptions import LarkError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.comparing import BYTES, Comparison, Judge, compile_entry, reads
from corpus.reading import NotInstalledError, Source, read
from corpus.registry import ENTRIES, Entry
from support.collisions import look_for_none

PAGE = Path(__file__).resolve().parents[2] / "docs" / "corpus.md"
MARKERS = ("<!-- loaded -->", "<!-- refused -->", "<!-- end -->")
OPTIONS = {"conflicts": "shift", "lookahead": "commit"}


def options_of(entry: Entry) -> str:
    """The options that leave the defaults, as the table shows them."""
    return ", ".join(f"`{OPTIONS[name]}`" for name in entry.needs) or "-"


def row(entry: Entry, source: Source, number: int) -> str:
    """The measured row of a grammar that pdacon loads."""
    constraint, seconds = compile_entry(source, entry.needs)
    sizes = constraint.statistics()
    comparison = Comparison(entry, source, constraint)
    tally = comparison.run(number)
    judge = Judge(comparison.parser)
    texts = [path.read_text(encoding="utf-8") for path in source.texts]
    start = comparison.starts[0]
    differences = len(tally.differences) + sum(
        reads(constraint, text, start) != judge.accepts(text, start) for text in texts
    )
    cells = (
        entry.name,
        f"{entry.distribution} {source.version}",
        options_of(entry),
        f"{sizes['parser_states']:,}/{sizes['contexts']:,}/{sizes['lexer_states']:,}",
        f"{seconds:.2f}",
        f"{tally.given_up:,}" if "lookahead" in entry.needs else "-",
        *([f"**{differences:,} of {tally.parsed + tally.refused + len(texts):,} differ**"] if differences else []),
    )
    return f"| {' | '.join(cells)} |"


def refused(entry: Entry, source: Source) -> str:
    """The row of a grammar that pdacon refuses, and that stock LALR may refuse too."""
    try:
        _ = source.parser
        why = f"pdacon: {entry.refusal.reason}" if entry.refusal else "nobody"
    except LarkError as error:
        why = f"both: {str(error).splitlines()[0].split(' in Terminal')[0].split(': ')[0]}"
    return f"| {entry.name} | {entry.distribution} {source.version} | {why} |"


def write(page: Path, row: str, marker: str, end: str) -> None:
    """Put a row into a table between two marks, in the place of the one that begins alike, in the registry's order."""
    text = page.read_text(encoding="utf-8")
    before, table = text.split(marker + "\n")
    table, after = table.split(end, 1)
    heading, line, *rows = table.strip().splitlines()
    names = [entry.name for entry in ENTRIES]
    known = {_name(old): old for old in [*rows, row]}
    table = "\n".join([heading, line, *(known[name] for name in names if name in known)])
    page.write_text(f"{before}{marker}\n\n{table}\n\n{end}{after}", encoding="utf-8")


def _name(row: str) -> str:
    return row.split(" | ")[0].removeprefix("| ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("-n", "--number", type=int, default=1000)
    parser.add_argument("--page", type=Path, default=PAGE, help="where the rows are written (default: docs/corpus.md)")
    arguments = parser.parse_args()
    look_for_none()
    warnings.simplefilter("ignore")
    for entry in ENTRIES:
        if arguments.names and not entry.name.startswith(tuple(arguments.names)):
            continue
        try:
            source = read(entry)
        except NotInstalledError as error:
            print(f"{entry.name}: {error}")
            continue
        made = row(entry, source, arguments.number) if entry.reads else refused(entry, source)
        print(made, flush=True)
        write(arguments.page, made, *(MARKERS[:2] if entry.reads else MARKERS[1:]))


if __name__ == "__main__":
    assert len(BYTES) == 257
    main()
