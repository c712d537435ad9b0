"""Each id has a page, whose first grammar gets the finding and whose second one does not."""

from __future__ import annotations

import json
import pickle
import re
import sys
import traceback
from pathlib import Path

import pytest
from support.finding_fixtures import report_with

from pdacon import Vocabulary, compile, errors
from pdacon.determinism import TITLES
from pdacon.determinism.conflicts import causes
from pdacon.determinism.report.pages import ERRORS, first_paragraph, page
from pdacon.errors import (
    CancelledError,
    GrammarSyntaxError,
    LimitExceededError,
    NondeterministicGrammarError,
)
from pdacon.front.grammar import Grammar
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


@pytest.mark.parametrize("name", ERRORS)
def test_each_error_has_a_page_and_ends_with_its_address(name: str) -> None:
    text = page(name)
    assert text.startswith(f"# {name}: ")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE)[-1] == "What to do"
    assert 40 < len(first_paragraph(name)) < 500
    assert page(name.lower()) == text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="errors have notes from Python 3.11 on")
def test_an_error_ends_with_the_address_of_its_page() -> None:
    error = LimitExceededError("states", 2, 1)
    assert error.page == "LimitExceededError"
    assert "".join(traceback.format_exception_only(error)).endswith(
        "\nsee: pdacon check --explain LimitExceededError\n"
    )
    with pytest.raises(GrammarSyntaxError) as refusal:
        Grammar.from_lark('start: "a')
    shown = "".join(traceback.format_exception_only(refusal.value)).splitlines()
    assert shown[-2:] == ["    |        ^", "see: pdacon check --explain GrammarSyntaxError"]
    again = pickle.loads(pickle.dumps(refusal.value))
    assert "".join(traceback.format_exception_only(again)).splitlines() == shown
    with pytest.raises(NondeterministicGrammarError) as refused:
        compile(Grammar.from_lark(GRAMMAR.findall(page("PDA001"))[0][1]), Vocabulary.bytes())
    assert refused.value.page == "PDA001"


def test_a_class_of_another_room_has_the_page_of_the_public_one() -> None:
    class Narrower(GrammarSyntaxError):
        pass

    assert Narrower("no").page == "GrammarSyntaxError"


def test_the_address_is_that_of_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    project = (PAGES.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.findall(r'^Documentation = "(.*)"$', project, re.MULTILINE)
    assert declared == ([errors.SITE] if errors.SITE else [])
    monkeypatch.setattr(errors, "SITE", "https://docs.example/")
    assert CancelledError("no").address == "see: https://docs.example/findings/CancelledError.html"


def test_there_is_no_page_without_an_id() -> None:
    assert {path.stem for path in PAGES.iterdir()} == {*TITLES, *ERRORS}
    with pytest.raises(ValueError, match="no such finding: 'PDA999'; there are PDA001,"):
        page("PDA999")


def test_every_cause_of_a_conflict_is_explained() -> None:
    slugs = {value for name, value in vars(causes).items() if name.isupper() and isinstance(value, str)}
    assert {slug for slug in slugs if f"- **{slug}**: " not in page("PDA001")} == set()
