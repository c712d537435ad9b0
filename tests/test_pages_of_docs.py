"""How pages are written: short paragraphs, of which the first says what a page is for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MOST_WORDS, MOST_OF_THE_FIRST, WIDTH = 80, 50, 120
MARKED = ("#", "|", "```", ":::", "!", "<!--")


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a page, and the items of its lists; headings, tables, code and remarks are left out."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^(```|:::).*?^\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    for block in re.split(r"\n\s*\n", text):
        if block.strip() and not block.lstrip().startswith(MARKED):
            yield from re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", block.strip())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_paragraph_is_long(page: Path) -> None:
    long = [f"{len(text.split())} words: {text[:60]}" for text in paragraphs(page.read_text(encoding="utf-8"))]
    assert [each for each in long if int(each.split()[0]) > MOST_WORDS] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_first_paragraph_says_what_a_page_is_for(page: Path) -> None:
    title, first = page.read_text(encoding="utf-8").split("\n\n")[:2]
    assert title.startswith("# ")
    assert not first.startswith((*MARKED, "- "))
    assert 8 <= len(first.split()) <= MOST_OF_THE_FIRST


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_of_prose_are_not_wide(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    wide = [line for line in text.splitlines() if len(line) > WIDTH and " " in line.strip()]
    assert [line for line in wide if not line.startswith(MARKED)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pdacon_is_installed_from_a_checkout(page: Path) -> None:
    """No package index has it."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"pip install (?:[^\n`]* )?['\"]?pdacon(?:\[[^\n`]*|['\"]?$)", text, flags=re.MULTILINE) == []
