"""How far the lexer has to look ahead, where there is a bound.

Two measures. The *lookahead* of a terminal is how many bytes can follow its match while it is open whether the lexeme
ends there: something longer may still come of it, and what follows the match can be lexed as well. It is what masks
carry along, and what has to have a bound. The *neighbour distance* does not ask what can follow: it is the most bytes
between a match and the next longer match of a lexeme that goes on, which bounds what any lexer has to buffer.

Source: StreamTok (2025), "token neighbor distance", here for leftmost-first lexers and by context.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pdacon.base.quoting import quote
from pdacon.determinism.deadline import Deadline
from pdacon.determinism.examples import Examples
from pdacon.determinism.lexical.witness_texts import WitnessTexts, whole_characters
from pdacon.determinism.report.findings import TITLES, Finding, Witness


def lookahead_findings(texts: WitnessTexts, examples: Examples, deadline: Deadline) -> Iterator[Finding]:
    """PDA018, a note for each terminal whose lookahead has a bound and is more than one byte.

    Exact for lexemes and contexts, whatever the parser's stack; the bytes of one character are not counted as more than
    one. The witness is a shortest text after which so many bytes have been read beyond the match, but
    for a last character that is cut short. Terminals without a bound (PDA006) are left out.
    """
    unbounded = {label for label, _, _ in texts.automaton.unbounded}
    labels, lengths = texts.automaton.waiting.T
    lengths = np.where(_is_more_than_a_character(texts), lengths, 0)
    for label in np.unique(labels[lengths > 1]).tolist():
        deadline.require()
        if label in unbounded:
            continue
        most = int(lengths[labels == label].max())
        fresh = [state for state in texts.automaton.entries.ravel().tolist() if state >= 0]
        path = texts.path(fresh, (labels == label) & (lengths == most))
        if path is not None:
            yield _finding(texts, examples, label, most, *path)


def _is_more_than_a_character(texts: WitnessTexts) -> NDArray[np.bool_]:
    """Of each lexer state: whether what has been read beyond a match is more than a part of one character."""
    found = texts.automaton.waiting[:, 1] > 1
    if texts.grammar.options.use_bytes:
        return found
    for state in np.flatnonzero(found).tolist():
        end = int(texts.automaton.ends[state])
        beyond = texts.automaton.commit(end)[2] if end < -1 else ()
        begun = (1 for cls in beyond if not 0x80 <= texts.readable[cls] < 0xC0)
        found[state] = sum(islice(begun, 2)) > 1  # what is beyond may be thousands of bytes
    return found


def _finding(texts: WitnessTexts, examples: Examples, label: int, most: int, source: int, text: bytes) -> Finding:
    grammar = texts.grammar
    shown = texts.shown(label)
    contexts = np.flatnonzero((texts.automaton.entries == source).any(axis=1)).tolist()
    prefix = texts.way_to(examples, contexts) or ()
    terminal = grammar.terminals[label] if label < grammar.end else None
    whole = text if grammar.options.use_bytes else whole_characters(text)
    return Finding(
        id="PDA018",
        level="note",
        title=f"{TITLES['PDA018']}: {most} after {shown}",
        message=f"In {quote(whole)} {shown} ends after {quote(text[:-most])}, unless what follows completes a "
        f"longer lexeme: {most} bytes are read before that is known, and the masks carry them along.",
        span=None if terminal is None else terminal.span,
        symbols=() if terminal is None else (terminal.name,),
        witness=Witness(prefix, len(prefix), whole),
        repair="none is needed; it would be certain at once if the longer lexeme could not begin like this one and "
        "another.",
    )


def neighbour_distances(texts: WitnessTexts) -> dict[int, int | None]:
    """For each terminal after which some text can go on: its token neighbour distance, None where it has no bound.

    Over all contexts that texts lead to. Ignored text has the label ``grammar.end + 1``. Cost: linear in the lexing
    automaton.
    """
    labels, lengths = texts.automaton.waiting.T
    fresh = (labels >= 0) & (lengths == 0)
    ends = np.array([not texts.automaton.commit(-2 - k)[2] for k in range(len(texts.automaton.commits))], np.bool_)
    sources, targets = texts.edges
    within = targets >= 0
    near: NDArray[np.bool_] = np.zeros(len(fresh), np.bool_)
    near[sources[within][fresh[targets[within]]]] = True
    near[sources[~within][ends[-2 - targets[~within]]]] = True
    inner = within.copy()
    inner[within] = ~fresh[targets[within]]
    distance = _longest(sources[inner].tolist(), targets[inner].tolist(), near.tolist())
    found: dict[int, int | None] = {}
    for state in np.flatnonzero(fresh).tolist():
        here, label = distance[state], int(labels[state])
        if here == 0:
            continue
        found[label] = None if here is None or found.get(label, 0) is None else max(found.get(label) or 0, here)
    return found


def _longest(sources: list[int], targets: list[int], nearest: list[bool]) -> list[int | None]:
    """From each node of a graph the most steps to a last one, out of a node that is near; 0: there is none, None: no
    bound.

    Kahn's algorithm, from the ends backwards. A loop has no bound if it leads to a last step.
    """
    before: list[list[int]] = [[] for _ in nearest]
    for source, target in zip(sources, targets, strict=True):
        before[target].append(source)
    reaches = list(nearest)
    waits = [0] * len(nearest)
    pending = [node for node, near in enumerate(nearest) if near]
    while pending:
        for node in before[pending.pop()]:
            waits[node] += 1
            if not reaches[node]:
                reaches[node] = True
                pending.append(node)
    longest = [int(near) for near in nearest]
    ready = [node for node, reach in enumerate(reaches) if reach and not waits[node]]
    done = [False] * len(nearest)
    while ready:
        node = ready.pop()
        done[node] = True
        for user in before[node]:
            longest[user] = max(longest[user], longest[node] + 1)
            waits[user] -= 1
            if not waits[user]:
                ready.append(user)
    return [
        0 if not reach else length if finished else None
        for reach, length, finished in zip(reaches, longest, done, strict=True)
    ]
