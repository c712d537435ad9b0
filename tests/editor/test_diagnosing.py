"""What the language server tells of a text, without a client."""

from __future__ import annotations

from threading import Event

import pytest

from pdacon.editor.diagnosing import Problem, tell_problems

DANGLING = 'root ::= stmt*\nstmt ::= "if" stmt | "if" stmt "else" stmt | "s"\n'


@pytest.mark.parametrize("dialect", ["gbnf", "ebnf"])
def test_repairs_of_a_dialect_are_offered_in_its_notation(dialect: str) -> None:
    told: list[list[Problem] | None] = []
    tell_problems(DANGLING, None, {}, Event(), told.append, dialect)  # type: ignore[arg-type]
    (conflict,) = told[-1] or []
    line = 'stmt ::= "if" stmt "end" | "if" stmt "else" stmt "end" | "s"'
    assert conflict.repairs == ((line, f"root ::= stmt*\n{line}\n"),)
    told.clear()
    tell_problems(conflict.repairs[0][1], None, {}, Event(), told.append, dialect)  # type: ignore[arg-type]
    assert told[-1] == []
