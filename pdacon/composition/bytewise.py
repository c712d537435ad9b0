"""A vocabulary for questions about texts and not about tokens: the bytes, and a token for each label of a grammar."""

from __future__ import annotations

from pdacon.detokenizer import Vocabulary
from pdacon.grammar import GrammarData


def byte_vocabulary(grammar: GrammarData) -> Vocabulary:
    """A token for each byte, one that ends a text, and one without text for each label."""
    every = Vocabulary.bytes()
    if not grammar.labels:
        return every
    ids = range(every.size, every.size + len(grammar.labels))
    known = dict(zip(grammar.labels, ids, strict=True))
    return Vocabulary(
        (*every.tokens, *(None for _ in ids)),
        every.eos_ids,
        special_tokens={label.name: i for label, i in known.items() if label.is_token},
        labels={label.name: (i,) for label, i in known.items() if not label.is_token},
    )
