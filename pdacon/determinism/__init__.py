"""Checks whether a grammar is deterministic, and says why where it is not.

In: `GrammarData`, its LALR tables, its lexer, perhaps a `Vocabulary`. Out: a `Report`, whose findings are data; text,
JSON, SARIF and annotations are renderings of it. Every finding has a place, the author's names, a witness and,
where one is known, a repair.

It decides what is an error under the grammar's options, and changes nothing. Where a finding is about texts, it
composes the grammar with the 256 bytes and asks the automaton.

Sources: Isradisaikul & Myers 2015, "Finding counterexamples from parsing conflicts"; the conflict reports of Bison
and LALRPOP.
"""

from pdacon.determinism.checker import check_stages, check_within, rule_findings
from pdacon.determinism.conflicts.conflicts import SECONDS
from pdacon.determinism.language.emptiness import emptiness_findings
from pdacon.determinism.language.hidden_labels import label_findings
from pdacon.determinism.lexical.unmatched import unmatched_terminals
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.edits import repair_choices, repaired_texts, with_repair
from pdacon.determinism.report.findings import (
    TITLES,
    Counterexample,
    Derivation,
    Failure,
    Finding,
    Level,
    Witness,
)
from pdacon.determinism.report.report import Report

__all__ = [
    "SECONDS",
    "TITLES",
    "Counterexample",
    "Derivation",
    "Failure",
    "Finding",
    "Level",
    "Report",
    "Witness",
    "WitnessTexts",
    "check_stages",
    "check_within",
    "emptiness_findings",
    "label_findings",
    "repair_choices",
    "repaired_texts",
    "rule_findings",
    "unmatched_terminals",
    "with_repair",
]
