"""What keeps indentation from being followed -> findings."""

from __future__ import annotations

from pdacon.determinism.report.findings import TITLES, Finding
from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar import GrammarData
from pdacon.lalr import find_imbalances
from pdacon.lexer import check_newline, may_indent


def newline_findings(grammar: GrammarData) -> list[Finding]:
    """An error if the column of a newline is not known where it ends. For patterns that can be lowered."""
    try:
        check_newline(grammar)
    except UnsupportedGrammarError as error:
        assert grammar.layout is not None
        newline = grammar.terminals[grammar.layout.newline].name
        return [_unsupported(error, f"columns after {newline}", (newline,))]
    return []


def borrowed_block_finding(grammar: GrammarData, error: UnsupportedGrammarError) -> Finding:
    """What `pdacon.lalr.split_blocks` refuses, as a finding."""
    layout = grammar.layout
    assert layout is not None
    rule = next(nonterminal.name for nonterminal in grammar.nonterminals if nonterminal.span == error.span)
    names = (grammar.terminals[k].name for k in (layout.indent, layout.dedent, layout.newline))
    return _unsupported(error, f"blocks of rule {rule}", (rule, *names))


def _unsupported(error: UnsupportedGrammarError, what: str, symbols: tuple[str, ...]) -> Finding:
    return Finding(
        id="PDA008",
        level="error",
        title=f"{TITLES['PDA008']}: {what}",
        message=error.reason,
        span=error.span,
        symbols=symbols,
        repair=error.advice,
    )


def unindented_findings(grammar: GrammarData) -> list[Finding]:
    """A warning if rules have blocks, and no newline ends in a blank, so that no line is ever indented."""
    layout = grammar.layout
    if layout is None or may_indent(grammar) or not any(layout.indent in p.rhs for p in grammar.productions):
        return []
    newline, indent = grammar.terminals[layout.newline], grammar.terminals[layout.indent]
    return [
        Finding(
            id="PDA010",
            level="warning",
            title=f"{TITLES['PDA010']}: {indent.name}",
            message=f"It stands for a line that is further in, and {newline.name} never ends in a blank, so that each "
            "line begins at column 0. What needs it is in no text.",
            span=newline.span,
            symbols=(indent.name, newline.name),
            repair=r"let the newline take the blanks after its line break, as /(\r?\n[\t ]*)+/ does.",
        )
    ]


def balance_findings(grammar: GrammarData) -> list[Finding]:
    """An error for each production that opens or closes more than its own. Linear in the grammar."""
    return [
        Finding(
            id="PDA008",
            level="error",
            title=f"{TITLES['PDA008']}: unbalanced {imbalance.what} in rule {imbalance.rule}",
            message=imbalance.message,
            span=imbalance.span,
            symbols=(*imbalance.opens, *imbalance.closes),
            repair=imbalance.advice,
        )
        for imbalance in find_imbalances(grammar)
    ]
