"""Terminals that match less of a text than their pattern denotes: ``re.match`` stops where ``re.fullmatch`` goes on.

In: the terminals' automata. Out: findings PDA012, each with a shortest text. Python's ``re`` takes the first
alternative that matches, and not the longest. The native core compares the leftmost-first automaton of a terminal with
its set of texts, and finds a shortest text in which the two differ.
"""

from __future__ import annotations

from pdacon._native import _core
from pdacon.base.quoting import quote
from pdacon.determinism.deadline import REPAIR, Deadline, OutOfTimeError
from pdacon.determinism.lexical.repair.lexical_repairs import Repairs
from pdacon.determinism.lexical.repair.reordering import with_longest_first
from pdacon.determinism.lexical.repair.suggested import suggestion
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.errors import LimitExceededError
from pdacon.grammar import GrammarData
from pdacon.lexer import Lexer
from pdacon.regular.ordered import is_lazy

_SECONDS = 3.0
"""For one terminal, and at most for all; past them a note says that it has not been found out."""


def early_end_findings(grammar: GrammarData, lexer: Lexer, repairs: Repairs, deadline: Deadline) -> list[Finding]:
    """PDA012: terminals with a text that ``re.fullmatch`` takes and ``re.match`` stops short in.

    A shortest such text is the witness. Where only the order of alternatives, or an optional part that comes too
    early, is to blame, a warning for each terminal. With a lazy quantifier it is as a rule what is meant: one note
    for all such terminals. What is only so because of what lies behind the text is not looked for. A note names those
    whose automata are so large that it has not been found out.

    Cost: the automaton of each terminal, where it has no such text.
    """
    lazy: list[tuple[int, bytes, int]] = []
    found = []
    unknown: list[int] = []
    deadline.require()
    own = deadline.share(_SECONDS)
    for index, terminal in enumerate(grammar.terminals):
        if terminal.pattern is None or terminal.pattern.kind != "re":
            continue
        try:
            own.require()
            end = _core.find_early_end(lexer.nfa, index, REPAIR.states, REPAIR.bytes)
        except (LimitExceededError, OutOfTimeError):
            unknown.append(index)
            continue
        if end is not None and is_lazy(terminal.pattern.regexp, grammar.options.g_regex_flags):
            lazy.append((index, *end))
        elif end is not None:
            found.append(_out_of_order(grammar, index, *end, repairs, deadline))
    return [*found, *([_lazy(grammar, lazy)] if lazy else []), *([_not_found_out(grammar, unknown)] if unknown else [])]


def _not_found_out(grammar: GrammarData, terminals: list[int]) -> Finding:
    shown = ", ".join(grammar.describe_symbol(k) for k in terminals)
    return Finding(
        id="PDA012",
        level="note",
        title=f"{TITLES['PDA012']}: not found out for {shown}",
        message=f"Whether {shown} denotes texts that are not matched has not been found out: that takes more than "
        f"{REPAIR.states:,} states, {_SECONDS:g} s of work or the time that there was.",
        span=grammar.terminals[terminals[0]].span,
        symbols=tuple(grammar.terminals[k].name for k in terminals),
        repair="none is needed; shorter repetitions would let it be found out.",
        cause="not-found-out",
    )


def _out_of_order(
    grammar: GrammarData, index: int, text: bytes, length: int, repairs: Repairs, deadline: Deadline
) -> Finding:
    pattern = with_longest_first(
        grammar, grammar.terminals[index], deadline, lambda pattern: repairs.is_harmless(index, pattern, [text])
    )
    return Finding(
        id="PDA012",
        level="warning",
        title=f"{TITLES['PDA012']}: {grammar.describe_symbol(index)}",
        message=f"{_difference(text, length)}\nOf several ways to match, the first one that fits is taken, not the "
        "longest.",
        span=grammar.terminals[index].span,
        symbols=(grammar.terminals[index].name,),
        witness=Witness(text=text),
        repair=f"put an alternative that can go on first{suggestion(grammar, index, pattern)}\n"
        f"{repairs.pattern_told(index, pattern, [text])}"
        if pattern is not None
        else "none is needed if the shorter text is meant; else let no other way to match come before the longer one.",
        cause="order-of-alternatives",
    )


def _lazy(grammar: GrammarData, ends: list[tuple[int, bytes, int]]) -> Finding:
    names = [grammar.describe_symbol(index) for index, _, _ in ends]
    index, text, length = min(ends, key=lambda end: len(end[1]))
    whose = f"The pattern of {grammar.describe_symbol(index)}" if len(ends) > 1 else "The pattern"
    return Finding(
        id="PDA012",
        level="note",
        title=f"{TITLES['PDA012']}: {', '.join(names)}",
        message=f"{_difference(text, length, whose)}\nA lazy quantifier ends a match at the first place where it can.",
        span=grammar.terminals[index].span,
        symbols=tuple(grammar.terminals[k].name for k, _, _ in ends),
        witness=Witness(text=text),
        repair='none is needed if that is meant; else say what may come inside, as in /"[^"]*"/ instead of /".*?"/.',
        cause="lazy-quantifier",
        related=tuple(
            (grammar.describe_symbol(k), span)
            for k, _, _ in ends
            if k != index and (span := grammar.terminals[k].span) is not None
        ),
    )


def _difference(text: bytes, length: int, whose: str = "The pattern") -> str:
    return f"{whose} denotes {quote(text)} too, but of that only {quote(text[:length])} is matched."
