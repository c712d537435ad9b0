"""Texts with labels in them, for people: what was accepted, and what an explanation says of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pdacon.grammar.labels import Label, written_out, written_out_in
from pdacon.matching.explanation import Cut, Explanation


def with_labels(explanation: Explanation, labels: tuple[Label, ...]) -> Explanation:
    """An explanation of a grammar with labels, where each label is as its author writes it."""
    if not labels:
        return explanation

    def shown(text: bytes) -> bytes:
        return written_out(text, labels)

    def all_shown(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(written_out_in(text, labels) for text in texts)

    return replace(
        explanation,
        reason=written_out_in(explanation.reason, labels),
        text=shown(explanation.text),
        viable=len(shown(explanation.text[: explanation.viable])),
        before=shown(explanation.before),
        lexeme=shown(explanation.lexeme),
        unfinished=all_shown(explanation.unfinished),
        expected=all_shown(explanation.expected),
        cuts=tuple(Cut(cut.terminal, shown(cut.text), cut.fate) for cut in explanation.cuts),
        stack=all_shown(explanation.stack),
    )


def with_tokens(text: bytes, labelled: Iterable[tuple[int, int]], tokens: tuple[bytes | None, ...]) -> bytes:
    """A text as its tokens spell it: ``labelled`` has the place of each label's spelling, and its token."""
    parts, end = [], 0
    for place, token in labelled:
        parts += [text[end:place], tokens[token] or b""]
        end = place + 2
    return b"".join([*parts, text[end:]])
