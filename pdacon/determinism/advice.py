"""What only `check` says: that which does not decide whether a grammar is taken, and that its author wants to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pdacon.determinism.declared import unused_findings
from pdacon.determinism.early_ends import early_end_findings
from pdacon.determinism.emptiness import unproductive_findings
from pdacon.determinism.endless import endless_findings
from pdacon.determinism.lookahead import lookahead_findings
from pdacon.determinism.reachability import Follower
from pdacon.determinism.shadows import never_matched, reserved_findings, shadow_findings
from pdacon.determinism.sizes import Sizes, measure
from pdacon.determinism.traps import Traps
from pdacon.determinism.unspellable import unspellable_findings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pdacon.determinism.examples import Examples
    from pdacon.determinism.findings import Finding
    from pdacon.determinism.texts import Texts
    from pdacon.detokenizer import Vocabulary
    from pdacon.lalr import Tables

_MOST_STATES = 1_000_000


@dataclass(frozen=True, slots=True)
class Advice:
    """What is worth knowing of a grammar besides.

    Attributes
    ----------
    findings : tuple of Finding
        PDA010 to PDA018.
    sizes : Sizes
    """

    findings: tuple[Finding, ...]
    sizes: Sizes


def advise(
    tables: Tables, texts: Texts, examples: Examples, vocab: Vocabulary | None = None, known: Iterable[Finding] = ()
) -> Advice:
    """Look at everything, but for what is ``known`` already.

    Cost: about 1 s for Python's grammar, most of it for following its texts.
    """
    grammar, lexer = texts.grammar, texts.lexer
    collisions = {finding.symbols for finding in known if finding.id == "PDA005" and finding.level == "error"}
    declared = {k for k in range(grammar.end) if grammar.terminals[k].pattern is None}
    if grammar.layout is not None:
        declared -= {grammar.layout.indent, grammar.layout.dedent}
    found = [
        *shadow_findings(texts, examples, collisions),
        *reserved_findings(texts, examples),
        *early_end_findings(grammar, lexer),
        *unused_findings(grammar),
        *unproductive_findings(grammar),
        *endless_findings(texts),
        *lookahead_findings(texts, examples),
    ]
    reach = None
    if not lexer.automaton.unbounded:  # else the automaton has not all texts, and what it lacks proves nothing
        follower = Follower(grammar, tables, lexer, None, _MOST_STATES)
        reach = follower.find()
        found += Traps(tables, texts, examples, follower, reach, declared.union(never_matched(texts))).findings()
    if vocab is not None:
        found += unspellable_findings(tables, texts, reach, vocab)
    return Advice(tuple(found), measure(tables, texts))
