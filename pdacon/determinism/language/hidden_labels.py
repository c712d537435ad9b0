"""Labels that text hides, and labels that share tokens.

In: a grammar, the composition with a vocabulary, and that. Out: findings PDA021 and PDA022. What a label's tokens can
be read as, the native core asks of the lexing automaton.
"""

from __future__ import annotations

from dataclasses import replace

from pdacon._native import _core
from pdacon.base.limits import Limits
from pdacon.base.quoting import quote
from pdacon.determinism.report.accepting import accepting_choice
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.detokenizer import Vocabulary
from pdacon.grammar import GrammarData, Span
from pdacon.grammar.labels import Label, written_out, written_out_in


def label_findings(grammar: GrammarData, pda: _core.TokenPda, vocabulary: Vocabulary, limits: Limits) -> list[Finding]:
    """PDA021, an error, and PDA022, an error unless ``conflicts="shift"`` settles it.

    Raises
    ------
    LimitExceededError, CancelledError
    """
    return [
        _hidden(grammar, label, token, prefix, vocabulary)
        if other < 0
        else _shared(grammar, label, other, token, prefix, vocabulary)
        for label, other, token, prefix in pda.label_conflicts(limits.states)  # all start symbols have one lexer
    ]


def with_labels(finding: Finding, labels: tuple[Label, ...]) -> Finding:
    """A finding of a grammar with labels, where each label is as its author writes it."""
    if not labels:
        return finding
    witness, shown = finding.witness, finding.counterexample
    if witness is not None:
        text, loop = (None if t is None else written_out(t, labels) for t in (witness.text, witness.loop))
        witness = replace(witness, text=text, loop=loop)
    if shown is not None:
        first, second = (None if t is None else written_out(t, labels) for t in (shown.first_text, shown.second_text))
        shown = replace(shown, first_text=first, second_text=second)
    return replace(
        finding,
        title=written_out_in(finding.title, labels),
        message=written_out_in(finding.message, labels),
        repair=None if finding.repair is None else written_out_in(finding.repair, labels),
        witness=witness,
        counterexample=shown,
    )


def _hidden(grammar: GrammarData, number: int, token: int, prefix: bytes, vocabulary: Vocabulary) -> Finding:
    label = grammar.labels[number]
    return Finding(
        id="PDA021",
        level="error",
        title=f"{TITLES['PDA021']}: {label}",
        message=f"{_place(prefix)}each token of {label} may be read as something else, such as token "
        f"{_shown(token, vocabulary)}. What can be read as text is read so, and what two labels have as the first of "
        "them: "
        "the label may never come, and what the grammar wants after it neither.",
        span=_span(grammar, number),
        symbols=_terminals(grammar, number),
        witness=Witness(text=prefix),
        repair="part the label from the text that may come in its place, by something that has to come before the one "
        "or the other, or give it a token that cannot be read there.",
    )


def _shared(
    grammar: GrammarData, first: int, second: int, token: int, prefix: bytes, vocabulary: Vocabulary
) -> Finding:
    labels = f"{grammar.labels[first]} and {grammar.labels[second]}"
    settled = grammar.options.conflicts == "shift"
    taken = f"It is read as {grammar.labels[first]}, which the grammar has first."
    return Finding(
        id="PDA022",
        level="note" if settled else "error",
        title=f"{TITLES['PDA022']}: {labels}",
        message=f"{_place(prefix)}token {_shown(token, vocabulary)} can be read as either. "
        + (taken if settled else _open(grammar)),
        span=_span(grammar, second),
        symbols=tuple(dict.fromkeys((*_terminals(grammar, first), *_terminals(grammar, second)))),
        witness=Witness(text=prefix),
        repair="let the vocabulary's labels share no tokens, or ask for one of them in each place.",
    )


def _open(grammar: GrammarData) -> str:
    option = '; conflicts="shift" takes the one that the grammar has first' if accepting_choice(grammar) else ""
    return f"Nothing says as which{option}."


def _place(prefix: bytes) -> str:
    return f"Behind {quote(prefix)}, " if prefix else "Where a lexeme begins, "


def _shown(token: int, vocabulary: Vocabulary) -> str:
    text = vocabulary.tokens[token]
    return f"{token}" if text is None else f"{token}, {quote(text)}"


def _terminals(grammar: GrammarData, number: int) -> tuple[str, ...]:
    label = str(grammar.labels[number])
    return tuple(t.name for t in grammar.terminals if t.pattern is not None and label in t.pattern.value)


def _span(grammar: GrammarData, number: int) -> Span | None:
    names = _terminals(grammar, number)
    return next((terminal.span for terminal in grammar.terminals if terminal.name in names), None)
