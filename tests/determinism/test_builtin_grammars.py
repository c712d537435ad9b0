"""The checker has nothing to say against the grammars that come with pdacon: each is checked once, here."""

from __future__ import annotations

import pytest

import pdacon
from pdacon import Grammar
from pdacon.grammar.builtin import builtin_names

MAY_HAVE_LEXICAL_DEAD_ENDS = {"regex", "xml"}


@pytest.mark.slow
@pytest.mark.parametrize("name", builtin_names())
def test_they_have_notes_at_most_and_few_have_lexical_dead_ends(name: str) -> None:
    findings = pdacon.check(Grammar.builtin(name)).findings
    assert {finding.level for finding in findings} <= {"note"}
    assert name in MAY_HAVE_LEXICAL_DEAD_ENDS or "PDA015" not in {finding.id for finding in findings}
