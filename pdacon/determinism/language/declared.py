"""Terminals that are declared and that nothing produces (PDA009); names that nothing uses (PDA013)."""

from __future__ import annotations

from pdacon.determinism.report.findings import TITLES, Finding
from pdacon.grammar import GrammarData
from pdacon.grammar.model import Production


def declared_findings(grammar: GrammarData) -> list[Finding]:
    """A warning for each ``%declare``'d terminal in the rules that the postlexer, if there is one, does not make.

    Lark loads such a grammar, and never finds what needs the terminal. Linear in the grammar.
    """
    layout = grammar.layout
    made = set() if layout is None else {layout.indent, layout.dedent}
    never = [t for t in range(grammar.end) if grammar.terminals[t].pattern is None and t not in made]
    findings = []
    for terminal in never:
        users = [production for production in grammar.productions if terminal in production.rhs]
        if not users:
            continue
        name = grammar.describe_symbol(terminal)
        rules = ", ".join(dict.fromkeys(grammar.describe_name(production.rule) for production in users))
        if grammar.language == "several grammars":
            findings.append(_without_text(grammar, terminal, users[0], rules))
            continue
        who = "no postlexer is given" if layout is None else "the Indenter that is given makes others"
        indenter = "the grammar's Indenter (postlex=\"python\" for Python's), or " if layout is None else ""
        findings.append(
            Finding(
                id="PDA009",
                level="warning",
                title=f"{TITLES['PDA009']}: {name}",
                message=f"It is only declared: a postlexer would have to make it, and {who}. So no text has what needs "
                f"it in these rules: {rules}.",
                span=grammar.terminals[terminal].span or users[0].span,
                symbols=(grammar.terminals[terminal].name,),
                repair=f"give {indenter}{name} a pattern, or remove it.",
            )
        )
    return findings


def _without_text(grammar: GrammarData, terminal: int, user: Production, rules: str) -> Finding:
    """PDA009 of a grammar that was put together, for which no postlexer can be given: of a hole that has no text."""
    name = grammar.describe_symbol(terminal)
    return Finding(
        id="PDA009",
        level="warning",
        title=f"{TITLES['PDA009']}: {name}",
        message=f"No text is in it: it is only declared, and no grammar that has a text stands in its place. So no "
        f"text has what needs it in these rules: {rules}.",
        span=grammar.terminals[terminal].span or user.span,
        symbols=(grammar.terminals[terminal].name,),
        repair=f"put a grammar that has a text in the place of {name}, or remove what needs it.",
    )


def unused_findings(grammar: GrammarData) -> list[Finding]:
    """PDA013, a warning for each rule, template or terminal that nothing leads to (`Grammar.unused`).

    Only what the grammar's own text defines or imports by name; not what comes along with an import, nor what only an
    unused one needs.
    """
    return [
        Finding(
            id="PDA013",
            level="warning",
            title=f"{TITLES['PDA013']}: {definition.name}",
            message=f"Nothing leads to {definition.name} from {_listed(grammar.options.start)}, nor is it ignored. "
            "Lark drops it.",
            span=definition.span,
            symbols=(definition.name,),
            repair="remove it, or use it where it was meant; is it misspelt there?",
        )
        for definition in grammar.unused
    ]


def _listed(starts: tuple[str, ...]) -> str:
    return f"the rule {starts[0]}" if len(starts) == 1 else f"the rules {', '.join(starts)}"
