"""What a matcher takes does not grow with the text: counted, not measured."""

from __future__ import annotations

import pytest

import pdacon
from pdacon import Grammar, Vocabulary

EVERY_BYTE = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
JSON = pdacon.compile(Grammar.builtin("json"), EVERY_BYTE)
PAIR = b'{"a": [1, 2.5e3, true]}, '


def accept_all(matcher: pdacon.Matcher, text: bytes) -> None:
    for byte in text:
        assert matcher.accept_token(byte)
        matcher.mask_id()


@pytest.mark.parametrize("max_rollback", [0, 1, 16, 32])
def test_a_long_text_takes_no_more_than_a_short_one(max_rollback: int) -> None:
    matcher = JSON.matcher(max_rollback=max_rollback, keep_text=False)
    accept_all(matcher, b"[" + PAIR * 8)
    nodes, constraint = matcher._memory()[1], JSON.statistics()
    for _ in range(500):
        accept_all(matcher, PAIR[:11])
        assert matcher._memory()[0] <= 4096
        accept_all(matcher, PAIR[11:])
        assert matcher._memory()[0] <= 4096
        assert matcher._memory()[1] == nodes
    assert JSON.statistics() == constraint
    assert matcher._length() == 1 + len(PAIR) * 508
    if max_rollback:
        matcher.rollback(max_rollback)
    with pytest.raises(pdacon.MatcherError, match="can be taken back"):
        matcher.rollback(max_rollback + 1)


def test_depth_is_the_only_thing_that_grows() -> None:
    """A node of the stack for each LR state of it, and what is closed is given back."""
    matcher = JSON.matcher(max_rollback=0, keep_text=False)
    shallow = matcher._memory()
    accept_all(matcher, b"[" * 10_000)
    own, nodes = matcher._memory()
    assert own == shallow[0]
    assert nodes == shallow[1] + 10_000
    accept_all(matcher, b"]" * 9_999)
    assert matcher._memory()[1] <= shallow[1] + 4


def test_history_and_text_grow_where_they_are_kept() -> None:
    kept = JSON.matcher()
    accept_all(kept, b"[" + PAIR * 400)
    accepts = 1 + len(PAIR) * 400
    assert 40 * accepts <= kept._memory()[0] <= 100 * accepts
    kept.rollback(accepts)
    assert kept._text() == b""
    assert kept._memory()[1] == 1


def test_without_a_text_nothing_is_explained() -> None:
    matcher = JSON.matcher(keep_text=False)
    assert matcher.accept_bytes(b'{"a": [1')
    assert repr(matcher) == "<Matcher after 8 bytes, in the text>"
    with pytest.raises(pdacon.MatcherError, match="keep_text=True"):
        matcher.explain(b"]")
    fork = matcher.fork()
    with pytest.raises(pdacon.MatcherError, match="keep_text=True"):
        fork.explain(b"]")
    assert matcher.shortest_completion() == b"]}"
    matcher.rollback(1)
    assert matcher.accept_bytes(b"[")
    matcher.reset()
    assert repr(matcher) == "<Matcher after 0 bytes, in the text>"


def test_forks_share_their_stacks() -> None:
    matcher = JSON.matcher(max_rollback=0, keep_text=False)
    accept_all(matcher, b"[" * 1000)
    forks = [matcher.fork() for _ in range(100)]
    assert {fork._memory() for fork in forks} == {matcher._memory()}
    accept_all(forks[0], b"[1]")
    assert forks[1]._memory() == matcher._memory()
    assert forks[0].shortest_completion() == b"]" * 1000
