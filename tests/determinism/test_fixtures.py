"""One folder of ``fixtures/`` for each way in which a grammar can be found wanting.

- ``grammar.lark`` gets the findings that the readme names, and no others;
- ``readme.md`` says why it is here, and in one line which findings it gets: ``Finds: PDA001, PDA005``;
- ``report.txt`` is the report, as a user reads it;
- ``twin.lark`` is the grammar with a small change, and gets none of them;
- ``options.json``, where there is one: options of ``Grammar.from_lark`` for both, and the tokens of a ``vocabulary``.

After a change that is meant: ``PDACON_UPDATE_GOLDENS=1 pytest tests/determinism/test_fixtures.py``, then read the diff.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path

import pytest

from pdacon.determinism import TITLES, DeterminismReport, check
from pdacon.detokenizer import Vocabulary
from pdacon.grammar import Grammar

FIXTURES = sorted(path for path in (Path(__file__).parent / "fixtures").iterdir() if path.is_dir())

each_fixture = pytest.mark.parametrize("folder", FIXTURES, ids=lambda folder: folder.name)


def claimed(folder: Path) -> set[str]:
    """The ids that the readme names."""
    (line,) = re.findall(r"^Finds: (.+)$", (folder / "readme.md").read_text(encoding="utf-8"), re.MULTILINE)
    return set(line.split(", "))


@cache
def report_of(path: Path) -> DeterminismReport:
    options_file = path.with_name("options.json")
    options = json.loads(options_file.read_text(encoding="utf-8")) if options_file.exists() else {}
    tokens = options.pop("vocabulary", None)
    vocabulary = (
        None if tokens is None else Vocabulary.from_tokens([*(token.encode() for token in tokens), None], [len(tokens)])
    )
    grammar = Grammar.from_lark(path.read_text(encoding="utf-8"), source_path=path.name, **options)
    return check(grammar, vocabulary)


@each_fixture
def test_it_finds_what_it_says_and_nothing_else(folder: Path) -> None:
    assert {finding.id for finding in report_of(folder / "grammar.lark").findings} == claimed(folder)


@each_fixture
def test_its_twin_is_clean_of_that(folder: Path) -> None:
    report = report_of(folder / "twin.lark")
    assert not claimed(folder) & {finding.id for finding in report.findings}, report.render()


@each_fixture
def test_its_report_reads_as_before(folder: Path) -> None:
    rendered = report_of(folder / "grammar.lark").render() + "\n"
    expected = folder / "report.txt"
    if os.environ.get("PDACON_UPDATE_GOLDENS"):
        expected.write_text(rendered, encoding="utf-8")
    assert rendered == expected.read_text(encoding="utf-8")


@each_fixture
def test_its_report_is_data(folder: Path) -> None:
    report = report_of(folder / "grammar.lark")
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()


def test_only_known_findings_are_claimed() -> None:
    assert set().union(*map(claimed, FIXTURES)) <= TITLES.keys()
