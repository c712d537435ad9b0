"""Witnesses as tokens of a vocabulary."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pdacon.determinism.report.findings import Finding

if TYPE_CHECKING:
    from pdacon.detokenizer import Vocabulary


def spell(finding: Finding, vocab: Vocabulary) -> Finding:
    """The finding with the texts of its examples spelled by the fewest tokens, if the vocabulary can spell them."""
    witness, shown = finding.witness, finding.counterexample
    if witness is not None and witness.text is not None:
        tokens, pieces = _spelling(witness.text + (witness.loop or b""), vocab)
        witness = replace(witness, tokens=tokens, pieces=pieces)
    if shown is not None and shown.first_text is not None:
        tokens, pieces = _spelling(shown.first_text, vocab)
        shown = replace(shown, first_tokens=tokens, first_pieces=pieces)
    if shown is not None and shown.second_text is not None:
        tokens, pieces = _spelling(shown.second_text, vocab)
        shown = replace(shown, second_tokens=tokens, second_pieces=pieces)
    return replace(finding, witness=witness, counterexample=shown)


def _spelling(text: bytes, vocab: Vocabulary) -> tuple[tuple[int, ...] | None, tuple[bytes, ...] | None]:
    tokens = fewest_tokens(text, vocab)
    return tokens, None if tokens is None else tuple(vocab.tokens[token] or b"" for token in tokens)


def fewest_tokens(text: bytes, vocab: Vocabulary) -> tuple[int, ...] | None:
    """Ids whose bytes are ``text``, as few as possible; None if there are none. Quadratic in the text, linear in V."""
    pieces = {text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)}
    ids: dict[bytes, int] = {}
    for i, token in enumerate(vocab.tokens):
        if token in pieces:
            ids.setdefault(token, i)
    best: list[tuple[int, ...] | None] = [(), *[None] * len(text)]
    for end in range(1, len(text) + 1):
        for begin in range(end):
            head, token_id = best[begin], ids.get(text[begin:end])
            tail = best[end]
            if head is not None and token_id is not None and (tail is None or len(head) + 1 < len(tail)):
                best[end] = (*head, token_id)
    return best[len(text)]
