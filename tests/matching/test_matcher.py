"""What a Matcher promises beyond the mask: nothing changes on refusal, the way back, misuse, depth, threads."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lark import Lark

import pdacon

BYTES = [bytes([b]) for b in range(256)]
EOS = 256


@pytest.fixture(scope="module")
def constraint() -> pdacon.Constraint:
    vocabulary = pdacon.Vocabulary.from_tokens([*BYTES, None, b'{"', b"]]", b"[["], eos_ids=[EOS])
    return pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary)


def test_a_refusal_changes_nothing(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b"[1, ")
    before = matcher.mask_id(), matcher.shortest_completion()
    assert not matcher.accept_token(ord("]"))
    assert not matcher.accept_bytes(b"2]]")
    assert not matcher.accept_token(EOS)
    assert (matcher.mask_id(), matcher.shortest_completion()) == before
    matcher.rollback(1)
    assert matcher.shortest_completion() == constraint.matcher().shortest_completion()


def test_an_end_token_terminates(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher()
    assert not matcher.is_accepting()
    assert matcher.accept_bytes(b"[]")
    assert matcher.is_accepting()
    assert not matcher.is_terminated()
    assert matcher.accept_token(EOS)
    assert matcher.is_terminated()
    assert [t for t in range(260) if matcher.is_allowed(t)] == [EOS]
    assert not matcher.accept_bytes(b" ")
    assert matcher.shortest_completion() == b""
    matcher.rollback(1)
    assert not matcher.is_terminated()
    assert matcher.accept_bytes(b" ")


def test_validate_tokens_counts_without_moving(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher()
    assert matcher.validate_tokens([*b"[1]", EOS]) == 4
    assert matcher.validate_tokens([*b"[1]]", EOS]) == 3
    assert matcher.validate_tokens([]) == 0
    assert matcher.shortest_completion() == constraint.matcher().shortest_completion()


def test_forks_are_independent(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b'{"a": [')
    fork = matcher.fork()
    assert fork.accept_bytes(b"1]")
    assert matcher.accept_bytes(b'{"b":')
    assert fork.shortest_completion() == b"}"
    assert matcher.shortest_completion() == b"0}]}"
    fork.rollback(2)
    assert fork.shortest_completion() == constraint.matcher().shortest_completion()


@pytest.mark.parametrize("kept", [0, 3])
def test_rollback_is_bounded_when_asked(constraint: pdacon.Constraint, kept: int) -> None:
    matcher = constraint.matcher(max_rollback=kept)
    for byte in b"[1,2":
        assert matcher.accept_token(byte)
    with pytest.raises(pdacon.MatcherError, match="max_rollback"):
        matcher.rollback(kept + 1)
    matcher.rollback(kept)
    assert matcher.accept_bytes(b"[1,2"[4 - kept :] or b"]")


@pytest.mark.parametrize("kept", [None, 1, 63, 64, 65, 200])
def test_the_way_back_is_long_and_exact(constraint: pdacon.Constraint, kept: int | None) -> None:
    """Accepts and rollbacks in any order, forks among them, against a list of what was accepted."""
    random = np.random.default_rng(1)
    matcher = constraint.matcher(max_rollback=kept)
    assert matcher.accept_bytes(b'"')
    matcher, texts, available = matcher.fork(), [b'"'], 1
    for _ in range(400):
        for _ in range(random.integers(0, 40)):
            texts.append(bytes(random.choice([*b"ab["], size=random.integers(0, 3)).tolist()))
            assert matcher.accept_bytes(texts[-1])
            available = min(available + 1, len(texts) if kept is None else kept)
        with pytest.raises(pdacon.MatcherError, match=f"only {available}"):
            matcher.rollback(available + 1)
        back = int(random.integers(0, min(available, 90) + 1))
        twin = matcher.fork()
        matcher.rollback(back)
        assert twin._text() == b"".join(texts)
        del texts[len(texts) - back :]
        available -= back
        assert matcher._text() == b"".join(texts)
        if not texts:
            texts, available = [b'"'], 1
            assert matcher.accept_bytes(b'"')
        matcher = matcher if random.integers(2) else matcher.fork()


def test_misuse_is_an_error(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher()
    for token in (-1, 260, 1 << 30, 1 << 40):
        with pytest.raises(IndexError, match="not in the vocabulary of 260"):
            matcher.accept_token(token)
        with pytest.raises(IndexError):
            matcher.is_allowed(token)
        with pytest.raises(IndexError):
            matcher.validate_tokens([token])
    with pytest.raises(pdacon.MatcherError, match="only 0"):
        matcher.rollback(1)
    with pytest.raises(ValueError, match="negative"):
        matcher.rollback(-1)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(matcher)
    assert copy.deepcopy(constraint) is constraint
    with pytest.raises(ValueError, match="start"):
        constraint.matcher("nothing")
    with pytest.raises(ValueError, match="negative"):
        constraint.matcher(max_rollback=-1)
    with pytest.raises(TypeError):
        constraint.matcher(max_rollback=1.5)
    with pytest.raises(TypeError, match=r"text must be bytes, not str; encode it"):
        matcher.accept_bytes("[")
    with pytest.raises(TypeError, match=r"^text must be bytes, not NoneType$"):
        matcher.accept_bytes(None)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"max_rollback": True}, "max_rollback must be a whole number, not bool"),
        ({"max_rollback": 1.0}, "max_rollback must be a whole number, not float"),
        ({"max_rollback": "2"}, "max_rollback must be a whole number, not str"),
        ({"keep_text": "no"}, "keep_text must be True or False, not str"),
        ({"strip_leading_space": 0}, "strip_leading_space must be True or False, not int"),
    ],
)
def test_what_a_matcher_is_made_with(constraint: pdacon.Constraint, wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=f"^matcher: {says}$"):
        constraint.matcher(**wrong)


def test_more_accepts_can_be_kept_than_there_are_numbers(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher(max_rollback=1 << 80)
    assert matcher.accept_bytes(b"[1")
    matcher.rollback(1)
    assert matcher.accept_bytes(b"[1")


def test_mask_tables_begin_at_an_id_that_is_known(constraint: pdacon.Constraint) -> None:
    table = constraint.mask_table()
    count = len(table)
    assert (constraint.mask_table(np.int64(0)) == table).all()
    assert constraint.mask_table(since=count).shape == (0, table.shape[1])
    for since in (-1, count + 1):
        with pytest.raises(IndexError, match=f"since={since}, but the masks so far are {count}, with the ids from 0"):
            constraint.mask_table(since)
    for since in (-1 << 80, 1 << 80):
        with pytest.raises(IndexError, match="the masks so far are"):
            constraint.mask_table(since)
    for since in (1.0, True, None):
        with pytest.raises(TypeError, match="mask_table: since must be a whole number, not"):
            constraint.mask_table(since)  # type: ignore[arg-type]


def test_what_counts_as_a_token(constraint: pdacon.Constraint) -> None:
    """Whole numbers of any kind; what only looks like one is refused, not rounded."""
    torch = pytest.importorskip("torch")
    for token in (np.int64(91), np.uint8(91), torch.tensor(91), torch.tensor([91], dtype=torch.int32)[0]):
        matcher = constraint.matcher()
        assert matcher.is_allowed(token)
        assert matcher.accept_token(token)
        assert matcher.shortest_completion() == b"]"
    matcher = constraint.matcher()
    for token in (True, np.True_, 91.0, np.float32(91), "[", b"[", None, torch.tensor(91.0), torch.tensor([91, 91])):
        for call in (matcher.accept_token, matcher.is_allowed, matcher.rollback):
            with pytest.raises(TypeError):
                call(token)
    with pytest.raises(TypeError, match=r"token must be a whole number, not str: accept\(text\) takes text"):
        matcher.is_allowed("ue")
    with pytest.raises(TypeError, match="token must be a whole number, not bool"):
        matcher.accept_token(True)
    for nothing in (
        lambda: matcher.accept_token(None),
        lambda: matcher.is_allowed(None),
        lambda: matcher.rollback(None),
        lambda: matcher.validate_tokens(None),
        lambda: matcher.forced_bytes(None),
        lambda: matcher.fill_bitmask(None),
        lambda: matcher.fill_bitmask(np.zeros(9, np.int32), None),
        lambda: pdacon.fill_bitmasks(None, np.zeros((1, 9), np.int32)),
        lambda: pdacon.fill_bitmasks([matcher], None),
        lambda: pdacon.matching.mask_ids(None),
    ):
        with pytest.raises(TypeError, match=r"^[^\n]*$"):  # what is expected, not the signatures of a binding
            nothing()
    with pytest.raises(IndexError, match="out of range"):
        matcher.accept_token(1 << 70)
    assert matcher.mask_id() == constraint.matcher().mask_id()


def test_sequences_of_tokens(constraint: pdacon.Constraint) -> None:
    torch = pytest.importorskip("torch")
    matcher = constraint.matcher()
    tokens = [*b"[1]", EOS, 7]
    for given in (
        tokens,
        tuple(tokens),
        iter(tokens),
        range(91, 92),
        np.array(tokens),
        np.array(tokens, np.uint16),
        np.array([[t, 0] for t in tokens], np.int32)[:, 0],
        torch.tensor(tokens),
        torch.tensor(tokens, dtype=torch.int32),
    ):
        assert matcher.validate_tokens(given) == (1 if isinstance(given, range) else 4)
    with pytest.raises(TypeError, match="not bytes"):
        matcher.validate_tokens(b"[1]")
    for wrong in ("[1]", 91, np.array(91), np.array([tokens]), torch.tensor([tokens]), [1.0], ["["], [True], None):
        with pytest.raises(TypeError):
            matcher.validate_tokens(wrong)


def test_batches_are_all_or_nothing(constraint: pdacon.Constraint) -> None:
    matchers = [constraint.matcher() for _ in range(3)]
    bitmask = np.full((4, 9), -1, np.int32)
    other = pdacon.compile(constraint.grammar, pdacon.Vocabulary.from_tokens([*BYTES, *BYTES]))
    for arguments, error, message in [
        (([*matchers, None], bitmask), TypeError, r"matchers\[3\] must be a Matcher, not NoneType"),
        ((matchers[0], bitmask), TypeError, "sequence"),
        ((matchers, bitmask, [0, 1]), ValueError, "2 rows for 3 matchers"),
        ((matchers, bitmask, [0, 1, 1]), ValueError, "row 1 is given twice"),
        ((matchers, bitmask, [0, 1, 4]), IndexError, "row 4 of a bitmask with 4 rows"),
        ((matchers, bitmask, [0, 1, True]), TypeError, "row must be a whole number"),
        ((matchers * 2, bitmask), IndexError, "row 4"),
        (([*matchers, other.matcher()], bitmask), ValueError, "9 words a row; the vocabulary needs 16"),
        ((matchers, bitmask.astype(np.int64)), TypeError, "int32"),
    ]:
        with pytest.raises(error, match=message):
            pdacon.fill_bitmasks(*arguments)
    assert (bitmask == -1).all()
    with pytest.raises(ValueError, match=r"matchers\[1\] has another constraint"):
        pdacon.matching.mask_ids([matchers[0], other.matcher()])
    assert pdacon.matching.mask_ids([]).shape == (0,)
    pdacon.fill_bitmasks([], bitmask)
    pdacon.fill_bitmasks(matchers, bitmask, np.array([3, 1, 0]))
    assert (bitmask[2] == -1).all()
    assert (bitmask[[0, 1]] == bitmask[3]).all()


def test_bitmasks_need_not_be_aligned(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher()
    expected, memory = np.zeros((2, 9), np.int32), np.zeros(1 + 2 * 9 * 4, np.uint8)
    matcher.fill_bitmask(expected, 1)
    unaligned = memory[1:].view(np.int32).reshape(2, 9)
    assert not unaligned.flags.aligned
    matcher.fill_bitmask(unaligned, 1)
    assert (unaligned == expected).all()
    with pytest.raises(TypeError, match="int32"):
        matcher.fill_bitmask(expected.astype(">i4"))


def test_two_threads_in_one_matcher() -> None:
    """Whichever call comes while another one is at work gets an error, and the other one's answer is right."""
    deep = pdacon.Grammar.from_lark('start: "a" start "b" |')
    vocabulary = pdacon.Vocabulary.from_tokens([b"a", b"b", None], eos_ids=[2])
    matcher = pdacon.compile(deep, vocabulary).matcher()
    depth = 1_000
    assert matcher.accept_bytes(b"a" * depth)
    bitmask = np.zeros((1, 1), np.int32)
    calls: list[Callable[[], object]] = [
        matcher.mask_id,
        matcher.is_accepting,
        matcher.forced_bytes,
        matcher.forced_tokens,
        matcher.shortest_completion,
        matcher.fork,
        lambda: matcher.fill_bitmask(bitmask),
        lambda: pdacon.fill_bitmasks([matcher], bitmask),
        lambda: pdacon.matching.mask_ids([matcher]),
        lambda: matcher.is_allowed(0),
        lambda: matcher.validate_tokens([]),
        lambda: matcher.explain(b""),
        lambda: matcher.rollback(0),
        lambda: matcher.accept_bytes(b""),
    ]
    answers: set[bytes] = set()
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            with contextlib.suppress(pdacon.MatcherError):  # when another call comes first
                answers.add(matcher.shortest_completion())

    def refused(call: Callable[[], object]) -> str:
        def again_and_again() -> None:
            while True:  # the other thread is at work nearly all of the time
                call()

        with pytest.raises(pdacon.MatcherError) as refusal:
            again_and_again()
        return str(refusal.value)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        errors = {refused(call) for call in calls}
        while repr(matcher) != "<Matcher in use by another thread>":
            pass
    finally:
        done.set()
        thread.join()
    assert errors == {"a Matcher is used by two threads at once; give each thread a fork()"}
    answers.add(matcher.shortest_completion())
    assert answers == {b"b" * depth}


def test_one_waits_while_another_computes() -> None:
    """A thread that needs an answer while another one works it out waits without holding up the rest."""
    rules = "\n".join(f'r{i}: "a" r{i + 1} "b" | "c"' for i in range(60))
    grammar = pdacon.Grammar.from_lark(f'start: r0\n{rules}\nr60: "d"')
    vocabulary = pdacon.Vocabulary.from_tokens([b"a" * i + b"c" + b"b" * j for i in range(1, 40) for j in range(40)])
    constraint = pdacon.compile(grammar, vocabulary)
    results: list[tuple[int, int]] = []

    def work(seed: int) -> None:
        matcher = constraint.matcher()
        random = np.random.default_rng(seed)
        for token in random.permutation(vocabulary.size):
            fork = matcher.fork()
            if matcher.is_allowed(token) and fork.accept_token(token):
                results.append((int(token), fork.mask_id()))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {token for token, _ in results} == {i * 40 + i + 1 for i in range(39)}
    assert len(results) == 4 * len(set(results))


def test_bitmasks_that_cannot_take_a_mask(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher()
    words = (260 + 31) // 32
    for bitmask, error in [
        (np.zeros((1, words), np.int64), TypeError),
        (np.zeros((1, words), np.float32), TypeError),
        (np.zeros((1, words - 1), np.int32), ValueError),
        (np.zeros((1, 1, words), np.int32), TypeError),
        (np.zeros((1, 2 * words), np.int32)[:, ::2], TypeError),
        ([0] * words, TypeError),
        (None, TypeError),
    ]:
        with pytest.raises(error):
            matcher.fill_bitmask(bitmask)
    frozen = np.zeros((1, words), np.int32)
    frozen.flags.writeable = False
    with pytest.raises(TypeError):
        matcher.fill_bitmask(frozen)
    for row in (-1, 2):
        with pytest.raises(IndexError):
            matcher.fill_bitmask(np.zeros((2, words), np.int32), row)


def test_bitmask_rows_are_filled_to_their_end(constraint: pdacon.Constraint) -> None:
    matcher = constraint.matcher()
    bitmask = np.full((3, 12), -1, np.int32)
    matcher.fill_bitmask(bitmask, 1)
    assert (bitmask[[0, 2]] == -1).all()
    bits = np.unpackbits(bitmask[1].view(np.uint8), bitorder="little")
    assert [int(t) for t in np.flatnonzero(bits)] == [t for t in range(260) if matcher.is_allowed(t)]


def test_tensors(constraint: pdacon.Constraint) -> None:
    torch = pytest.importorskip("torch")
    matcher = constraint.matcher()
    expected = np.zeros((2, 9), np.int32)
    matcher.fill_bitmask(expected, 1)
    bitmask = torch.zeros((2, 9), dtype=torch.int32)
    matcher.fill_bitmask(bitmask, 1)
    assert (bitmask.numpy() == expected).all()
    with pytest.raises(TypeError, match="int32"):
        matcher.fill_bitmask(torch.zeros((1, 9)))
    with pytest.raises(TypeError, match="CPU"):
        matcher.fill_bitmask(torch.zeros((1, 9), dtype=torch.int32, device="meta"))
    emptied = torch.zeros((1, 9), dtype=torch.int32)
    emptied.untyped_storage().resize_(0)
    with pytest.raises(TypeError, match="memory"):
        matcher.fill_bitmask(emptied)


def test_a_hundred_thousand_brackets(constraint: pdacon.Constraint) -> None:
    """Deep nesting: no crash, no recursion, the way back and the way out work."""
    depth = 100_000
    matcher = constraint.matcher()
    opened = matcher.mask_id()
    for _ in range(depth):
        assert matcher.accept_token(ord("["))
    deep = matcher.mask_id()
    known = constraint.statistics()["masks_computed"]
    for _ in range(100):
        assert matcher.accept_token(ord("["))
        assert matcher.mask_id() == deep
    assert constraint.statistics()["masks_computed"] == known
    matcher.rollback(100)
    fork = matcher.fork()
    assert fork.accept_bytes(b"1" + b"]" * (depth - 1))
    assert fork.shortest_completion() == b"]"
    del fork
    matcher.rollback(depth)
    assert matcher.mask_id() == opened


def test_depth_can_be_limited() -> None:
    vocabulary = pdacon.Vocabulary.from_tokens([*BYTES, None], eos_ids=[EOS])
    limited = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary, limits=pdacon.Limits(depth=50))
    matcher = limited.matcher()
    assert matcher.accept_bytes(b"[" * 30)
    with pytest.raises(pdacon.LimitExceededError, match="depth"):
        matcher.accept_bytes(b"[" * 30)
    assert matcher.shortest_completion() == b"]" * 30
    room = matcher.validate_tokens([ord("[")] * 30)
    assert 0 < room < 30
    assert all(matcher.accept_token(ord("[")) for _ in range(room))
    with pytest.raises(pdacon.LimitExceededError, match="depth"):
        matcher.accept_token(ord("["))


def test_matchers_of_one_constraint_run_in_parallel(constraint: pdacon.Constraint) -> None:
    """Fresh constraint, many threads: every one sees the masks that a single one sees."""
    texts = [b'{"a": [1, 2.5e3, "x\\n\xc3\xa9"], "b": {"c": null}}', b"[[[[]]], [true, false]]", b'"abc" ', b" -0.5 "]
    expected = [masks_along(constraint, text) for text in texts]
    shared = pdacon.compile(constraint.grammar, constraint.vocabulary)
    found: list[list[list[bytes]]] = []

    def work() -> None:
        found.append([masks_along(shared, text) for text in texts])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def masks_along(constraint: pdacon.Constraint, text: bytes) -> list[bytes]:
    matcher = constraint.matcher()
    masks = []
    for byte in text:
        row = np.zeros(9, np.int32)
        matcher.fill_bitmask(row)
        masks.append(row.tobytes())
        assert matcher.accept_token(byte)
    return masks


@pytest.mark.parametrize("limit", [{"states": -1}, {"seconds": float("nan")}, {"depth": 1 << 70}])
def test_limits_out_of_range(limit: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(limit))):
        pdacon.Limits(**limit)


def test_compile_names_a_wrong_argument(constraint: pdacon.Constraint) -> None:
    for arguments in ((1, constraint.vocabulary), (constraint.grammar, [b"a"])):
        with pytest.raises(TypeError, match="must be a pdacon"):
            pdacon.compile(*arguments)
    with pytest.raises(TypeError, match=r"not Lark; .*make one with Grammar\.from_lark"):
        pdacon.compile(Lark('start: "a"', parser="lalr"), constraint.vocabulary)
    with pytest.raises(TypeError, match=r"pdacon\.Limits"):
        pdacon.compile(constraint.grammar, constraint.vocabulary, limits={})
    with pytest.raises(TypeError, match="whole number"):
        pdacon.Limits(states=1e6)
