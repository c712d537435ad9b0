"""What each fixture is found wanting of; ``support.finding_fixtures`` says what its files are.

After a change that is meant: ``PDACON_UPDATE_GOLDENS=1 pytest tests/determinism/test_fixtures.py``, then read the diff.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.finding_fixtures import FIXTURES, claimed, report_of

from pdacon.determinism import TITLES

each_fixture = pytest.mark.parametrize("folder", FIXTURES, ids=lambda folder: folder.name)


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


def test_every_kind_has_fixtures() -> None:
    """Each of its own, but for PDA004, which does not come without a conflict."""
    assert len(FIXTURES) >= 40
    kinds = {frozenset(claimed(folder)) for folder in FIXTURES}
    for id in TITLES:
        assert ({id, "PDA001"} if id == "PDA004" else {id}) in kinds, id
