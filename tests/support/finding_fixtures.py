"""The fixtures of the checker, one folder for each way in which a grammar can be found wanting.

- ``grammar.lark`` gets the findings that the readme names, and no others;
- ``readme.md`` says why it is here, and in one line which findings it gets: ``Finds: PDA001, PDA005``;
- ``report.txt`` is the report, as a user reads it;
- ``twin.lark`` is the grammar with a small change, and gets none of them;
- ``options.json``, where there is one: options of ``Grammar.from_lark`` for both, and the tokens of a
  ``vocabulary`` and its ``labels``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pdacon.detokenizer import Vocabulary
from pdacon.front.checking import check
from pdacon.front.grammar import Grammar
from pdacon.front.report import DeterminismReport

FIXTURES = sorted(path for path in (Path(__file__).parents[1] / "determinism" / "fixtures").iterdir() if path.is_dir())


def claimed(folder: Path) -> set[str]:
    """The ids that the readme names."""
    (line,) = re.findall(r"^Finds: (.+)$", (folder / "readme.md").read_text(encoding="utf-8"), re.MULTILINE)
    return set(line.split(", "))


@cache
def report_of(path: Path) -> DeterminismReport:
    """The report of a fixture's grammar or twin."""
    options_file = path.with_name("options.json")
    options = json.loads(options_file.read_text(encoding="utf-8")) if options_file.exists() else {}
    return report_with(path.read_text(encoding="utf-8"), path.name, **options)


def report_with(
    text: str,
    path: str | None = None,
    vocabulary: Sequence[str] | None = None,
    labels: Mapping[str, Sequence[int]] | None = None,
    **options: Any,
) -> DeterminismReport:
    """The report of a text under options; ``vocabulary`` are the texts of tokens, to which an end token is added."""
    grammar = Grammar.from_lark(text, source_path=path, **options)
    if vocabulary is None:
        return check(grammar)
    tokens = [*(token.encode() for token in vocabulary), None]
    return check(grammar, Vocabulary.from_tokens(tokens, [len(tokens) - 1]).with_labels(labels))
