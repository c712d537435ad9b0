"""The space that some tokenizers strip at the start of a text, where the vocabulary lacks single bytes."""

from __future__ import annotations

import pdacon


def test_nothing_is_forced_that_a_stripped_token_can_avoid() -> None:
    vocabulary = pdacon.Vocabulary.from_tokens([None, b" ab", b"cd"], eos_ids=[0])
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: "ab" | "cd"'), vocabulary)
    matcher = constraint.matcher(strip_leading_space=True)
    assert matcher.is_allowed(1)
    assert matcher.is_allowed(2)
    assert matcher.forced_bytes() == b""
    assert constraint.matcher().forced_bytes() == b"cd"
