"""Structural tags that count tokens, leave some out or name them by id, against all short sequences of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest

import pdacon
from pdacon import Grammar
from pdacon.errors import NondeterministicGrammarError, UnsupportedGrammarError, VocabularyError

TEXTS = [b"a", b"b", b"ab", b"\xc3", b"\xa9", "é".encode(), b"<t>"]
CALL, END, END_OF_TEXT = len(TEXTS), len(TEXTS) + 1, len(TEXTS) + 2
VOCABULARY = pdacon.Vocabulary.from_tokens([*TEXTS, None, None, None], eos_ids=[END_OF_TEXT]).with_special_tokens(
    {"<|call|>": CALL, "<|end|>": END}
)
WHOLE = {0, 1, 2, 5, 6}
"""Tokens whose text is whole characters."""


def named(token: int | str) -> dict[str, Any]:
    return {"type": "token", "token": token}


def within(content: Any) -> dict[str, Any]:
    """A tag whose begin and end are tokens."""
    return {"type": "tag", "begin": named("<|call|>"), "content": content, "end": named(END)}


def framed(takes: Callable[[Sequence[int]], bool]) -> Callable[[Sequence[int]], bool]:
    return lambda ids: len(ids) > 1 and ids[0] == CALL and ids[-1] == END and takes(ids[1:-1])


def up_to(most: int | None, *excluded: int) -> Callable[[Sequence[int]], bool]:
    return lambda ids: (most is None or len(ids) <= most) and {*ids} <= WHOLE - {*excluded}


ANY_ONE = {"type": "exclude_token"}
CASES: list[tuple[Any, Callable[[Sequence[int]], bool]]] = [
    ({"type": "any_text", "max_tokens": 2}, up_to(2)),
    (within({"type": "any_text", "max_tokens": 2}), framed(up_to(2))),
    (within({"type": "any_text", "max_tokens": 0}), framed(up_to(0))),
    (within({"type": "any_tokens", "max_tokens": 1, "exclude_tokens": ["<|call|>"]}), framed(up_to(1))),
    (within({"type": "any_tokens", "exclude_tokens": [0, "ab", "<|end|>"]}), framed(up_to(None, 0, 2))),
    (within({"type": "any_tokens", "max_tokens": 2, "exclude_tokens": ["<[1-2,5]>"]}), framed(up_to(2, 1, 2, 5))),
    (within({"type": "exclude_token", "exclude_tokens": [1]}), framed(lambda ids: len(ids) == 1 and up_to(1, 1)(ids))),
    (
        within({"type": "plus", "content": {"type": "sequence", "elements": [ANY_ONE, named("<|call|>")]}}),
        framed(lambda ids: len(ids) > 0 and len(ids) % 2 == 0 and {*ids[::2]} <= WHOLE and {*ids[1::2]} == {CALL}),
    ),
    ({"type": "sequence", "elements": [named(0), named(2), named("<[7-8]>")]},
     lambda ids: tuple(ids) in ((0, 2, 7), (0, 2, 8))),
    (
        {
            "type": "token_triggered_tags",
            "trigger_tokens": ["<|call|>"],
            "exclude_tokens": ["a"],
            "tags": [within({"type": "any_text", "max_tokens": 1})],
        },
        lambda ids: _of_tags(list(ids)),
    ),
]  # fmt: skip


def _of_tags(ids: list[int]) -> bool:
    """Tokens but ``a``, and calls with one token at most."""
    while CALL in ids:
        at = ids.index(CALL)
        before, rest = ids[:at], ids[at + 1 :]
        if END not in rest or not up_to(None, 0)(before) or not up_to(1)(rest[: rest.index(END)]):
            return False
        ids = rest[rest.index(END) + 1 :]
    return up_to(None, 0)(ids)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_all_short_sequences_of_tokens(case: int) -> None:
    """What is accepted is what is meant, and each token that is allowed is the beginning of such a sequence."""
    tag, takes = CASES[case]
    constraint = pdacon.compile(Grammar.from_structural_tag(tag, tokens=VOCABULARY.special_tokens), VOCABULARY)
    every = [ids for length in range(6) for ids in product(range(END_OF_TEXT), repeat=length)][: 9**4 * 2]
    meant = {ids for ids in every if takes(ids)}
    assert meant
    begun = {ids[:length] for ids in meant for length in range(len(ids) + 1)}
    for ids in sorted({prefix for prefix in begun if len(prefix) < 4}):
        matcher = constraint.matcher()
        assert all(matcher.accept_token(token) for token in ids), ids
        assert matcher.is_accepting() == (ids in meant), ids
        allowed = {token for token in matcher.allowed_tokens() if token != END_OF_TEXT}
        if len(ids) < 3:  # what goes on from longer ones may be too long to be listed
            assert {token for token in range(END_OF_TEXT) if (*ids, token) in begun} <= allowed, ids
        for token in allowed if len(ids) < 3 else ():
            after = matcher.fork()
            assert after.accept_token(token)
            assert after.allowed_tokens(), (ids, token)


def test_a_budget_ends_a_part_and_never_a_text() -> None:
    """However a model goes on, the part ends in time, and the text can end."""
    tag = {"type": "sequence", "elements": [within({"type": "any_text", "max_tokens": 300}), named("<|call|>")]}
    matcher = pdacon.compile(Grammar.from_structural_tag(tag), VOCABULARY).matcher()
    assert matcher.accept_token(CALL)
    for _ in range(300):
        assert matcher.allowed_tokens() == sorted([*WHOLE, END])
        assert matcher.accept_token(2)
    assert matcher.allowed_tokens() == [END]


def test_special_tokens_are_left_out_anyway() -> None:
    """Where nobody says which names are special tokens, those in brackets are; ids are only if they are given."""
    for tokens, excluded in (((), ["<|call|>", "[X]"]), (VOCABULARY.special_tokens, [CALL, "<|end|>"])):
        tag = {"type": "any_tokens", "exclude_tokens": excluded}
        assert Grammar.from_structural_tag(tag, tokens=tokens).accepts("é<|call|>")
    one = pdacon.compile(Grammar.from_structural_tag({"type": "any_tokens", "exclude_tokens": [0]}), VOCABULARY)
    assert one.matcher().allowed_tokens() == sorted([*WHOLE - {0}, END_OF_TEXT])
    named_like_one = {"type": "any_tokens", "exclude_tokens": ["<t>"]}
    made = Grammar.from_structural_tag(named_like_one, tokens=VOCABULARY.special_tokens)
    assert 6 not in pdacon.compile(made, VOCABULARY).matcher().allowed_tokens()


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ({"type": "exclude_token", "exclude_tokens": ["nosuch"]}, "has no token 'nosuch'"),
        ({"type": "exclude_token", "exclude_tokens": [99]}, "no token 99"),
        (named("<[0-1]>"), "token 0 has the text"),
        (named(END_OF_TEXT), "ends a text"),
    ],
)
def test_what_the_vocabulary_has_not(tag: Any, said: str) -> None:
    with pytest.raises(VocabularyError, match=said):
        pdacon.compile(Grammar.from_structural_tag(tag), VOCABULARY)


def test_a_token_that_text_hides_is_refused() -> None:
    either = {"type": "or", "elements": [named(0), {"type": "const_string", "value": "ab"}]}
    with pytest.raises(NondeterministicGrammarError, match="PDA021"):
        pdacon.compile(Grammar.from_structural_tag(either), VOCABULARY)
    with pytest.raises(UnsupportedGrammarError, match="are counted; let a special token, or nothing, come"):
        Grammar.from_structural_tag({"type": "or", "elements": [{"type": "exclude_token"}, {"type": "any_text"}]})
