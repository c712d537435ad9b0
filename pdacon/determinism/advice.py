"""What only `check` says: that which does not decide whether a grammar is taken, and that its author wants to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdacon.determinism.early_ends import early_end_findings
from pdacon.determinism.examples import Examples
from pdacon.determinism.reachability import Follower
from pdacon.determinism.shadows import never_matched, reserved_findings, shadow_findings
from pdacon.determinism.texts import Texts
from pdacon.determinism.traps import Traps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pdacon.determinism.findings import Finding
    from pdacon.grammar import Grammar
    from pdacon.lalr import Tables
    from pdacon.lexer import Lexer

_MOST_STATES = 1_000_000


def advice_findings(grammar: Grammar, tables: Tables, lexer: Lexer, known: Iterable[Finding] = ()) -> list[Finding]:
    """PDA010 to PDA018, but for what is ``known`` already.

    Cost: about 1 s for Python's grammar, most of it for following its texts.
    """
    texts, examples = Texts(grammar, lexer), Examples(grammar, tables)
    collisions = {finding.symbols for finding in known if finding.id == "PDA005" and finding.level == "error"}
    declared = {k for k in range(grammar.end) if grammar.terminals[k].pattern is None}
    if grammar.layout is not None:
        declared -= {grammar.layout.indent, grammar.layout.dedent}
    never = declared.union(never_matched(texts))
    found = [
        *shadow_findings(texts, examples, collisions),
        *reserved_findings(texts, examples),
        *early_end_findings(grammar, lexer),
    ]
    if not lexer.automaton.unbounded:  # else the automaton has not all texts, and what it lacks proves nothing
        follower = Follower(grammar, tables, lexer, None, _MOST_STATES)
        found += Traps(tables, texts, examples, follower, follower.find(), never).findings()
    return found
