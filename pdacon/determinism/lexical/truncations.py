"""Truncation by priority: a terminal of higher priority takes the beginning of what another one matches as a whole.

In: the lexing automaton. Out: a text for each pair of terminals that this happens to, and a finding (PDA019) for each
terminal that is truncated. The texts come from a product of the two terminals' programs, and each of them is tried on
the lexing automaton, so that it is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise

from pdacon.base.graphs import Search
from pdacon.base.quoting import quote
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import Examples
from pdacon.determinism.lexical.matching_texts import End, Run, Threads
from pdacon.determinism.lexical.witness_texts import WitnessTexts, legibility
from pdacon.determinism.report.findings import TITLES, Finding, Witness
from pdacon.determinism.report.listing import listed
from pdacon.grammar import GrammarData
from pdacon.lexer import compile_terminal

_FEW = 6
_MOST_CANDIDATES = 20
_MOST_STEPS = 5_000
_ASCII = 128


@dataclass(frozen=True, slots=True)
class Truncation:
    """A text of one terminal that is not read as one."""

    # The terminal that takes the beginning, and the one that matches the whole text.
    higher: int
    lower: int
    context: int  # A context in which it is so
    text: bytes
    length: int  # How much of the text ``higher`` takes


def find_truncations(texts: WitnessTexts, deadline: Deadline | None = None) -> Iterator[Truncation]:
    """At most one for each pair of terminals of different priority that are looked for in one context.

    Each is true: it is tried on the lexing automaton. Only texts of ASCII characters are looked for. What is ignored is
    left out: it is meant to go between, and need not be in one piece.

    Cost: for each such pair a product of their automata, as far as both can read the same text.
    """
    terminals = texts.grammar.terminals
    run = cache(lambda terminal: run_of(texts.grammar, terminal))
    pairs: dict[tuple[int, int], list[int]] = {}
    for context in texts.entered:
        known = sorted(texts.looked_for(context) - texts.grammar.ignore)
        for higher in known:
            for lower in known:
                if terminals[higher].priority > terminals[lower].priority:
                    pairs.setdefault((higher, lower), []).append(context)
    for (higher, lower), contexts in pairs.items():
        if deadline is not None:
            deadline.require()
        for text, _ in islice(truncated_texts(run(higher), run(lower)), _MOST_CANDIDATES):
            truncation = _tried(texts, higher, lower, contexts, text)
            if truncation is not None:
                yield truncation
                break


def _tried(texts: WitnessTexts, higher: int, lower: int, contexts: Iterable[int], text: bytes) -> Truncation | None:
    for context in contexts:
        lexeme = texts.first_lexeme(context, text)
        if texts.looks_ahead(higher):  # where nothing can be read on after it, the lexing automaton does not tell
            lexeme = texts.taken(context, text) or lexeme
        if lexeme is not None and lexeme.label == higher and lexeme.length < len(text):
            return Truncation(higher, lower, context, text, lexeme.length)
    return None


def truncated_texts(first: Run, second: Run, most: int = _MOST_STEPS) -> Iterator[tuple[bytes, int]]:
    """Texts that the second matches and of which the first, tried before it, takes a part; and how much, in bytes.

    The shortest first; what a context or another terminal makes of them is not looked at. Cost: ``most`` steps.
    """
    start: tuple[Threads, frozenset[End], Threads] = first.start(), frozenset(), second.start()
    search = Search({start: b""})
    steps = 0
    for (threads, ended, others), text in search:
        boundaries = {0, *first.boundaries(threads), *second.boundaries(others)}
        boundaries.update(boundary for end in ended for boundary in first.end_boundaries(end))
        for byte in sorted(_representatives(boundaries), key=legibility):
            steps += 1
            if steps > most:
                return
            after, ends = first.step(threads, byte)
            after_others, whole = second.step(others, byte)
            still = frozenset(waiting for end in ended if (waiting := first.wait(end, byte)) is not None)
            if any(map(first.wins_at_end, still)) and any(map(second.wins_at_end, whole)):
                found = text + bytes([byte])
                yield found, _taken(first, found)
            state = after, still.union(ends), after_others
            if after_others and (after or state[1]):
                search.meet(state, text + bytes([byte]))


def shared_texts(
    grammar: GrammarData, first: int, second: int, apart: Iterable[int] = (), most: int = _MOST_STEPS
) -> Iterator[bytes]:
    """Texts that two terminals both match whole, if they end there; the shortest first.

    One of all that neither the two nor terminals that are named tell ``apart`` by one byte. Cost: ``most`` steps.
    """
    one, other = run_of(grammar, first), run_of(grammar, second)
    programs = [compile_terminal(grammar, grammar.terminals[k]) for k in apart]
    told = {bound for program in programs for bound in (*program.lo.tolist(), *(program.hi + 1).tolist())}
    search = Search({(one.start(), other.start()): b""})
    steps = 0
    for pair, before in search:
        boundaries = {0, *told, *one.boundaries(pair[0]), *other.boundaries(pair[1])}
        for byte in sorted(_representatives(boundaries), key=legibility):
            steps += 1
            if steps > most:
                return
            (after, ends), (after_other, other_ends) = one.step(pair[0], byte), other.step(pair[1], byte)
            text = before + bytes([byte])
            if any(map(one.wins_at_end, ends)) and any(map(other.wins_at_end, other_ends)):
                yield text
            if after and after_other:
                search.meet((after, after_other), text)


def run_of(grammar: GrammarData, terminal: int) -> Run:
    """The program of a terminal, ready to be followed; it remembers its steps, so it is made once for many texts."""
    return Run(compile_terminal(grammar, grammar.terminals[terminal]))


def _taken(run: Run, text: bytes) -> int:
    """How much of a text is matched, if it ends there."""
    threads = run.start()
    waiting: list[tuple[End, int]] = []
    for at, byte in enumerate(text, 1):
        threads, ends = run.step(threads, byte)
        still = [(after, length) for end, length in waiting if (after := run.wait(end, byte)) is not None]
        waiting = [*still, *((end, at) for end in ends)]
    return next((length for end, length in waiting if run.wins_at_end(end)), 0)


def _representatives(boundaries: Iterable[int]) -> list[int]:
    """For each stretch between boundaries its ASCII character that is best to read."""
    bounds = [*sorted(boundary for boundary in boundaries if boundary < _ASCII), _ASCII]
    return [min(range(low, high), key=legibility) for low, high in pairwise(bounds)]


def truncation_findings(
    texts: WitnessTexts, examples: Examples, repair: Callable[[Sequence[Truncation]], str | None], deadline: Deadline
) -> Iterator[Finding]:
    """PDA019, a warning for each terminal whose texts are cut by terminals of higher priority.

    Terminals that are never matched at all have PDA010. ``repair``: what to write instead, for all truncations of one
    terminal; None if nothing is known to help.
    """
    by_lower: dict[int, list[Truncation]] = {}
    for truncation in find_truncations(texts, deadline):
        if truncation.lower not in texts.never_matched:
            by_lower.setdefault(truncation.lower, []).append(truncation)
    for truncations in by_lower.values():
        deadline.require()
        yield _finding(texts, examples, repair(truncations), truncations)


def _finding(texts: WitnessTexts, examples: Examples, repair: str | None, truncations: list[Truncation]) -> Finding:
    grammar = texts.grammar
    first = truncations[0]
    lower = grammar.terminals[first.lower]
    shown = grammar.describe_symbol(first.lower)
    higher = [grammar.describe_symbol(truncation.higher) for truncation in truncations]
    prefix = texts.way_to(examples, [first.context]) or ()
    one = len(truncations) == 1
    lines = [
        f"{listed(higher, _FEW)} {'has' if one else 'have'} a higher priority than {shown}, and "
        f"{'is' if one else 'are'} taken even where {shown} would match more:",
        f"{quote(first.text)} is not one {shown}, but begins with {quote(first.text[: first.length])} as {higher[0]}.",
    ]
    places = [(truncation.higher, grammar.terminals[truncation.higher].span) for truncation in truncations]
    related = [(f"{grammar.describe_symbol(k)}, too", span) for k, span in places[1:_FEW] if span is not None]
    if lower.span is not None:
        related.append((f"{shown}, which is cut", lower.span))
    return Finding(
        id="PDA019",
        level="warning",
        title=f"{TITLES['PDA019']}: {listed(higher, 3)} in front of {shown}",
        message="\n".join(lines),
        span=places[0][1],
        symbols=(lower.name, *(grammar.terminals[truncation.higher].name for truncation in truncations)),
        witness=Witness(prefix, len(prefix), first.text),
        repair=repair
        or f"change the patterns so that {higher[0]} does not match the beginning of what {shown} matches.",
        related=tuple(related),
    )
