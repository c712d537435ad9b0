"""Terminals that the parser never gets (PDA010), and keywords that a pattern takes where they cannot come (PDA011).

In: the lexing automaton. Out: findings. A terminal is unmatched if no commit of the automaton is of it, whatever
context a lexeme begins in; so what is said holds of all texts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from pdacon.base.quoting import quote
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import Examples
from pdacon.determinism.lexical.repair.lexical_repairs import Repairs
from pdacon.determinism.lexical.repair.reserving import without_words
from pdacon.determinism.lexical.repair.suggested import elsewhere, read
from pdacon.determinism.lexical.witness_texts import WitnessTexts
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.determinism.report.listing import listed
from pdacon.grammar import GrammarData, Span, Terminal
from pdacon.lexer.contexts import lexing_order

_FEW = 8
_NEVER = "(?!)"
"""The pattern that fails everywhere: written on purpose."""
_WORD = re.compile(r"\w+")
_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")


def unmatched_terminals(texts: WitnessTexts) -> list[int]:
    """The terminals that rules use and no text makes the parser get, but for those that are meant to match nothing.

    Those of `unmatched_findings` that are warnings, without what was tried to repair them. Where a terminal waits
    without bound, or a collision is settled in silence, nothing is said: the report says more than that.
    """
    grammar = texts.grammar
    if texts.automaton.unbounded or grammar.options.conflicts == "shift":
        return []
    used = {symbol for production in grammar.productions for symbol in production.rhs}
    patterns = [(k, terminal.pattern) for k, terminal in enumerate(grammar.terminals)]
    meant = {k: pattern.unescaped.value for k, pattern in patterns if pattern is not None}
    return [k for k in texts.never_matched if k in used and k in meant and _NEVER not in meant[k]]


def unmatched_findings(
    texts: WitnessTexts,
    examples: Examples,
    repairs: Repairs,
    deadline: Deadline,
    collisions: Collection[tuple[str, ...]] = (),
) -> Iterator[Finding]:
    """PDA010, one for each terminal of `WitnessTexts.never_matched`.

    What is claimed: wherever Lark's lexer looks for the terminal, whatever the text, it takes something else; or the
    terminal is ignored, so that rules which want it never get it. A warning; a note where it is only ignored text that
    is taken by something else. It is left out where an error says already that the two are ``collisions``: pairs of
    names; and where the pattern says itself that it matches nothing, by ``(?!)``.
    """
    ignored = [texts.grammar.terminals[k].name for k in texts.grammar.ignore]
    for terminal in texts.never_matched:
        deadline.require()
        pattern = texts.grammar.terminals[terminal].pattern
        if pattern is not None and _NEVER in pattern.unescaped.value and texts.shortest(terminal) is None:
            continue
        finding = _unmatched(texts, examples, repairs, terminal)
        name, *winners = finding.symbols
        takers = winners if winners or terminal in texts.grammar.ignore else ignored
        if not any((taker, name) in collisions for taker in takers):
            yield finding


def _unmatched(texts: WitnessTexts, examples: Examples, repairs: Repairs, index: int) -> Finding:
    grammar = texts.grammar
    terminal, shown = grammar.terminals[index], grammar.describe_symbol(index)
    users = _users(grammar, index)
    if index in grammar.ignore and users:
        return Finding(
            id="PDA010",
            level="warning",
            title=f"{TITLES['PDA010']}: {shown}, which is ignored",
            message=f"It is used in {listed(users, _FEW)}, but what is ignored never gets to the parser. "
            "So no text has what needs it there.",
            span=terminal.span,
            symbols=(terminal.name,),
            witness=Witness(text=texts.shortest(index)),
            repair=f"remove {shown} from these rules, or its %ignore.",
        )
    text = texts.shortest(index)
    if text is None:
        return _without_texts(terminal, shown, users)
    winner, context = None, -1
    for context in texts.entered:
        if index in texts.looked_for(context) and (winner := texts.first_lexeme(context, text)) is not None:
            break
    lines = [f"Wherever {shown} may come, no text can be read on after what it matches."]
    repair = f"remove {shown}, or change the patterns so that something is left for it."
    related: tuple[tuple[str, Span], ...] = ()
    if winner is not None:
        lines = [f"Wherever {shown} may come, Lark's lexer takes what it matches for something else."]
        lines.append(
            f"It reads {_part(text, winner.length)} as {texts.shown(winner.label)}{_why(texts, index, winner.label)}."
        )
        related = _place_of(texts, winner.label)
        tried = repairs.of_unmatched(index, winner.label, text) if winner.label < grammar.end else None
        repair = repair if tried is None else f"remove {shown}, or write\n{tried}"
    if users:
        lines.append(f"So no text has what needs it in {listed(users, _FEW)}.")
    prefix = texts.way_to(examples, [context]) or ()
    return Finding(
        id="PDA010",
        level="note" if index in grammar.ignore else "warning",
        title=f"{TITLES['PDA010']}: {shown}",
        message="\n".join(lines),
        span=terminal.span,
        symbols=(terminal.name, *([texts.grammar.symbol_name(winner.label)] if related and winner else [])),
        witness=Witness(prefix, len(prefix), text),
        repair=repair,
        related=related,
    )


def _without_texts(terminal: Terminal, shown: str, users: list[str]) -> Finding:
    """The finding of a terminal whose pattern matches nothing."""
    lines = [f"No text has anything that {shown} matches."]
    value = terminal.pattern.value if terminal.pattern is not None else ""
    if _SURROGATE.search(value):
        lines.append("Surrogates (\\ud800 to \\udfff) are halves of characters in UTF-16; they are in no text.")
    if users:
        lines.append(f"So no text has what needs it in {listed(users, _FEW)}.")
    return Finding(
        id="PDA010",
        level="warning",
        title=f"{TITLES['PDA010']}: {shown}",
        message="\n".join(lines),
        span=terminal.span,
        symbols=(terminal.name,),
        repair=f"change the pattern of {shown}, or remove it; /(?!)x/ is a pattern that is meant to match nothing.",
    )


def _part(text: bytes, length: int) -> str:
    return quote(text) if length >= len(text) else f"{quote(text[:length])} of {quote(text)}"


def _why(texts: WitnessTexts, loser: int, label: int) -> str:
    grammar = texts.grammar
    if label >= grammar.end:
        return ""
    first, second = grammar.terminals[label], grammar.terminals[loser]
    if first.priority > second.priority:
        return f", which has a higher priority ({first.priority}, not {second.priority})"
    return ", which it tries first" if first.priority == second.priority else ""


def _place_of(texts: WitnessTexts, label: int) -> tuple[tuple[str, Span], ...]:
    grammar = texts.grammar
    span = grammar.terminals[label].span if label < grammar.end else None
    return () if span is None else ((f"{texts.shown(label)}, which is taken instead", span),)


def _users(grammar: GrammarData, terminal: int) -> list[str]:
    return list(dict.fromkeys(grammar.describe_name(p.rule) for p in grammar.productions if terminal in p.rhs))


def reserved_findings(
    texts: WitnessTexts, examples: Examples, repairs: Repairs, deadline: Deadline
) -> Iterator[Finding]:
    """PDA011, one for each terminal that takes keywords where they cannot come.

    What is claimed: there is an LR state in which Lark's lexer does not look for the keyword, and there it reads its
    text as the terminal. A note: many a grammar wants it so. Only words are keywords here, not punctuation.
    """
    grammar = texts.grammar
    if grammar.options.lexer == "basic":
        return  # its one context looks for everything
    words = [
        k
        for k, terminal in enumerate(grammar.terminals)
        if k in texts.labels
        and terminal.pattern is not None
        and terminal.pattern.kind == "str"
        and _WORD.fullmatch(terminal.pattern.value)
    ]
    taken: dict[int, dict[int, list[int]]] = {}
    for context in texts.entered:
        known = texts.looked_for(context)
        deadline.require()
        for word in words:
            if word in known:
                continue
            pattern = grammar.terminals[word].pattern
            assert pattern is not None
            text = pattern.value.encode(grammar.options.encoding)
            lexeme = texts.first_lexeme(context, text)
            if lexeme is None or lexeme.length != len(text) or not _is_regex(grammar, lexeme.label):
                continue
            taken.setdefault(lexeme.label, {}).setdefault(word, []).append(context)
    for regex, by_word in taken.items():
        deadline.require()
        finding = _unreserved(texts, examples, repairs, regex, by_word)
        if finding is not None:
            yield finding


def _is_regex(grammar: GrammarData, label: int) -> bool:
    if label >= grammar.end or label in grammar.ignore:
        return False
    pattern = grammar.terminals[label].pattern
    return pattern is not None and pattern.kind == "re"


def _unreserved(
    texts: WitnessTexts, examples: Examples, repairs: Repairs, regex: int, by_word: dict[int, list[int]]
) -> Finding | None:
    grammar = texts.grammar
    shortest = None
    for word, contexts in by_word.items():
        prefix = texts.way_to(examples, contexts)
        if prefix is not None and (shortest is None or len(prefix) < len(shortest[0])):
            shortest = prefix, word
    if shortest is None:
        return None
    prefix, word = shortest
    terminal = grammar.terminals[regex]
    pattern = grammar.terminals[word].pattern
    assert pattern is not None
    words = sorted((grammar.terminals[k] for k in by_word), key=lambda t: t.pattern.value if t.pattern else "")
    shown = [quote(t.pattern.value.encode(grammar.options.encoding)) for t in words if t.pattern]
    name = grammar.describe_symbol(regex)
    return Finding(
        id="PDA011",
        level="note",
        title=f"{TITLES['PDA011']}: {name} matches {listed(shown, 4)} as well",
        message=f"Lark's lexer reads a keyword as {name} wherever the keyword itself cannot come: {listed(shown, 24)}.",
        span=terminal.span,
        symbols=(terminal.name, *(t.name for t in words)),
        witness=Witness((*prefix, name), len(prefix), pattern.value.encode(grammar.options.encoding)),
        repair="none is needed if they may be read so; to reserve them, " + _reserving(grammar, repairs, words, regex),
        related=tuple(
            (f"{quote(t.pattern.value.encode(grammar.options.encoding))}", t.span)
            for t in words[:1]
            if t.pattern and t.span
        ),
    )


def _reserving(grammar: GrammarData, repairs: Repairs, words: list[Terminal], regex: int) -> str:
    """How to keep a pattern from matching these words, and nothing else from being matched as before."""
    hints = [word.pattern.value.encode(grammar.options.encoding) for word in words if word.pattern]
    pattern = without_words(grammar, grammar.terminals[regex], words)
    found = pattern and repairs.of_reserving(regex, pattern, _overtaken(grammar, regex, pattern), hints)
    if not found:
        shown = grammar.describe_symbol(regex)
        return f"keep just these texts out of the pattern of {shown}, not longer ones that begin like them."
    return f"write{elsewhere(grammar, regex)}:\n{found}"


def _overtaken(grammar: GrammarData, regex: int, pattern: str) -> list[int]:
    """The terminals that Lark tries before one as it is, and after it with a pattern, which may be longer."""
    old = grammar.terminals[regex]
    new = replace(old, pattern=read(grammar, pattern).terminals[0].pattern)
    return [
        k
        for k, other in enumerate(grammar.terminals)
        if k != regex
        and other.pattern is not None
        and other.pattern.kind == "re"
        and lexing_order(new) < lexing_order(other) < lexing_order(old)
    ]
