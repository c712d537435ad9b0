"""Witnesses as tokens of a vocabulary."""

from __future__ import annotations

from dataclasses import replace

from pdacon.determinism.report.findings import Finding
from pdacon.detokenizer import Vocabulary


def spell(finding: Finding, vocabulary: Vocabulary) -> Finding:
    """The finding with the texts of its examples spelled by the fewest tokens, if the vocabulary can spell them."""
    witness, shown = finding.witness, finding.counterexample
    if witness is not None and witness.text is not None:
        tokens, pieces = _spelling(witness.text + (witness.loop or b""), vocabulary)
        witness = replace(witness, tokens=tokens, pieces=pieces)
    if shown is not None and shown.first_text is not None:
        tokens, pieces = _spelling(shown.first_text, vocabulary)
        shown = replace(shown, first_tokens=tokens, first_pieces=pieces)
    if shown is not None and shown.second_text is not None:
        tokens, pieces = _spelling(shown.second_text, vocabulary)
        shown = replace(shown, second_tokens=tokens, second_pieces=pieces)
    return replace(finding, witness=witness, counterexample=shown)


def _spelling(text: bytes, vocabulary: Vocabulary) -> tuple[tuple[int, ...] | None, tuple[bytes, ...] | None]:
    tokens = fewest_tokens(text, vocabulary)
    return tokens, None if tokens is None else tuple(vocabulary.tokens[token] or b"" for token in tokens)


def fewest_tokens(text: bytes, vocabulary: Vocabulary) -> tuple[int, ...] | None:
    """Ids whose bytes are ``text``, as few as possible; None if there are none.

    Cost: V, and the length of the text times the number of different lengths that tokens have.
    """
    ids: dict[bytes, int] = {}
    for i, token in enumerate(vocabulary.tokens):
        if token:
            ids.setdefault(token, i)
    lengths = sorted({len(token) for token in ids}, reverse=True)
    # By place in the text: how many tokens spell what is before it, and where the last of them begins.
    fewest: list[tuple[int, int] | None] = [(0, 0), *[None] * len(text)]
    for end in range(1, len(text) + 1):
        for length in lengths:
            head = fewest[end - length] if length <= end else None
            tail = fewest[end]
            if head is not None and (tail is None or head[0] + 1 < tail[0]) and text[end - length : end] in ids:
                fewest[end] = head[0] + 1, end - length
    spelled: list[int] = []
    end = len(text)
    while end:
        last = fewest[end]
        if last is None:
            return None
        spelled.append(ids[text[last[1] : end]])
        end = last[1]
    return tuple(reversed(spelled))
