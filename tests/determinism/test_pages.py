"""Each id has a page, whose first grammar gets the finding and whose second one does not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.finding_fixtures import report_with

from pdacon.determinism import TITLES
from pdacon.determinism.conflicts import causes
from pdacon.determinism.report.pages import first_paragraph, page
from pdacon.front.report import DeterminismReport

PAGES = Path(__file__).resolve().parents[2] / "docs" / "findings"
GRAMMAR = re.compile(r"^(?:<!-- options: ([^\n]*) -->\n)?```lark\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def report(id: str, which: int) -> DeterminismReport:
    options, text = GRAMMAR.findall((PAGES / f"{id}.md").read_text(encoding="utf-8"))[which]
    return report_with(text, **json.loads(options or "{}"))


@pytest.mark.parametrize("id", TITLES)
def test_its_first_grammar_has_it(id: str) -> None:
    assert id in {finding.id for finding in report(id, 0).findings}


@pytest.mark.parametrize("id", TITLES)
def test_its_repaired_grammar_has_it_not_and_can_be_compiled(id: str) -> None:
    repaired = report(id, 1)
    assert id not in {finding.id for finding in repaired.findings}
    assert repaired.ok, repaired.render()


@pytest.mark.parametrize("id", TITLES)
def test_a_page_says_what_is_promised(id: str) -> None:
    text = page(id)
    assert text.startswith(f"# {id}: {TITLES[id]}\n\n")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[0] == "A grammar that has it"
    assert headings[-2:] == ["What to write instead", "When to accept it"]
    assert "<!--" not in text
    assert 40 < len(first_paragraph(id)) < 500


def test_there_is_no_page_without_an_id() -> None:
    assert {path.stem for path in PAGES.iterdir()} == set(TITLES)
    with pytest.raises(ValueError, match="no such finding: 'PDA999'; there are PDA001,"):
        page("PDA999")


def test_every_cause_of_a_conflict_is_explained() -> None:
    slugs = {value for name, value in vars(causes).items() if name.isupper() and isinstance(value, str)}
    assert {slug for slug in slugs if f"- **{slug}**: " not in page("PDA001")} == set()
