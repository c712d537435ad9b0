"""`pdacon.integrations.torch` against the plain definition: a logit stays iff its token's bit is set."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
import torch

import pdacon
from pdacon.integrations.torch import DeviceMasks, apply_bitmask, apply_masks

KINDS = [torch.float32, torch.float16, torch.bfloat16, torch.float64]


def vocabulary_of(size: int) -> pdacon.Vocabulary:
    """Every byte, some longer tokens, fillers without text, and an end token."""
    texts = [*(bytes([byte]) for byte in range(256)), b"]]", b'":', b"true", b'{"']
    return pdacon.Vocabulary.from_tokens([*texts, *[None] * (size - len(texts))], eos_ids=[size - 1])


def plainly(logits: torch.Tensor, rows: list[list[int] | None]) -> list[list[float]]:
    """What has to come out, token by token; None: nothing is forbidden."""
    out = logits.tolist()
    for scores, words in zip(out, rows, strict=True):
        for token in range(len(scores)):
            within = words is not None and token < 32 * len(words)
            if words is not None and not (within and words[token // 32] >> (token % 32) & 1):
                scores[token] = -float("inf")
    return out


@pytest.mark.parametrize("columns", [65, 95, 96, 97, 130])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_random_masks(columns: int, kind: torch.dtype) -> None:
    torch.manual_seed(columns)
    logits = torch.randn(7, columns).to(kind)
    table = torch.randint(-(1 << 31), 1 << 31, (5, 3), dtype=torch.int64).to(torch.int32)
    ids = torch.tensor([4, 0, -1, 3, 3, -1, 1])
    rows = [None if at < 0 else table[at].tolist() for at in ids.tolist()]
    for index in (torch.int64, torch.int32):
        masked = logits.clone()
        assert apply_masks(masked, table, ids.to(index)) is masked
        assert masked.tolist() == plainly(logits, rows)
    masked, bitmask = logits.clone(), table[ids.clamp(min=0)]
    assert apply_bitmask(masked, bitmask) is masked
    assert masked.tolist() == plainly(logits, bitmask.tolist())


def test_no_number_is_made_up() -> None:
    """What is allowed keeps its bits, NaN and infinities included."""
    logits = torch.tensor([[float("nan"), float("inf"), -0.0, float("nan")]])
    apply_bitmask(logits, torch.tensor([[0b0111]], dtype=torch.int32))
    assert logits[0, 0].isnan()
    assert logits[0, 1:].tolist() == [float("inf"), -0.0, -float("inf")]
    assert logits[0, 2].signbit()


@pytest.mark.parametrize("size", [261, 288, 300])
def test_a_batch_along_texts(size: int) -> None:
    """Masks that are interned as the texts go on come to the device when they are asked for, and only once."""
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary_of(size))
    masks = DeviceMasks(constraint, "cpu", rows=1)
    matchers = [constraint.matcher() for _ in range(4)]
    copied, rng = len(masks.table), random.Random(size)
    before = masks.table.clone()
    words = -(-size // 32)
    for _ in range(40):
        ids = masks.ids([*matchers, None])
        assert ids.tolist()[-1] == -1
        logits = torch.randn(5, size + 3)
        masked = apply_masks(logits.clone(), masks.table, ids)
        bitmask = torch.zeros((4, words), dtype=torch.int32)
        pdacon.fill_bitmasks(matchers, bitmask)
        assert (apply_bitmask(logits[:4].clone(), bitmask) == masked[:4]).all()
        assert (masked[4] == logits[4]).all()
        for matcher, row in zip(matchers, masked, strict=False):
            allowed = [token for token in range(size) if matcher.is_allowed(token)]
            assert torch.isfinite(row).nonzero().flatten().tolist() == allowed
            token = rng.choice(allowed)
            assert matcher.accept_token(token)
        assert (masks.table[: len(before)] == before).all()
        before = masks.table.clone()
    assert len(masks.table) <= constraint.statistics()["distinct_masks"]
    copied += masks.top_up()
    assert masks.top_up() == 0
    assert masks.table.numpy().tolist() == constraint.mask_table().tolist()
    assert copied <= len(masks.table)


def test_threads_share_a_table() -> None:
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary_of(261))
    masks = DeviceMasks(constraint, "cpu", rows=1)
    begin, wrong = threading.Barrier(4), []

    def write(seed: int) -> None:
        matcher, rng, bitmask = constraint.matcher(), random.Random(seed), torch.zeros((1, 9), dtype=torch.int32)
        begin.wait()
        for _ in range(60):
            matcher.fill_bitmask(bitmask)
            wanted = apply_bitmask(torch.zeros(1, 261), bitmask)
            try:
                same = torch.equal(masks.apply(torch.zeros(1, 261), [matcher]), wanted)
            except (IndexError, RuntimeError) as error:
                wrong.append(error)
                return
            if not same:
                wrong.append(AssertionError(matcher))
            assert matcher.accept_token(rng.choice(torch.isfinite(wanted[0]).nonzero().flatten().tolist()))

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    masks.top_up()
    assert masks.table.tolist() == constraint.mask_table().tolist()


def test_masks_that_are_new_are_applied_at_once() -> None:
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary_of(261))
    masks, matcher = DeviceMasks(constraint, "cpu"), constraint.matcher()
    for byte in b'{"a": [1, true]}':
        assert torch.isfinite(masks.apply(torch.zeros(1, 261), [matcher])[0, byte])
        assert matcher.accept_token(byte)


def test_eager_masks_are_there_from_the_beginning() -> None:
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary_of(261), eager=True)
    masks = DeviceMasks(constraint, "cpu")
    table = masks.table.data_ptr(), len(masks.table)
    matcher = constraint.matcher()
    for byte in b'{"a": [1, true, "b\\n"], "c": {}}':
        masks.ids([matcher])
        assert matcher.accept_token(byte)
    assert (masks.table.data_ptr(), len(masks.table)) == table
    assert np.array_equal(masks.table.numpy(), constraint.mask_table())


@pytest.mark.parametrize(
    "kind", [torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64], ids=str
)
def test_ids_may_have_any_integer_dtype(kind: torch.dtype) -> None:
    table = torch.tensor([[1], [3], [7]], dtype=torch.int32)
    ids = torch.tensor([1, 2, 1])  # as many as masks: as a mask of rows, which torch takes uint8 for, they would fit
    logits = apply_masks(torch.zeros(3, 32), table, ids.to(kind))
    assert torch.isfinite(logits).sum(dim=1).tolist() == [2, 3, 2]


def test_a_host_may_lay_out_wider_rows() -> None:
    """A bitmask with words to spare, logits with columns to spare, and a row that nothing constrains."""
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary_of(261))
    bitmask = np.full((2, 16), 7, np.int32)
    bitmask[1] = -1
    pdacon.fill_bitmasks([constraint.matcher()], bitmask)
    for columns in (261, 288, 300):
        logits = torch.randn(2, columns)
        wanted = plainly(logits, bitmask.tolist())
        assert apply_bitmask(logits, torch.from_numpy(bitmask), size=261).tolist() == wanted


def test_what_does_not_fit_is_refused() -> None:
    constraint = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary_of(261))
    other = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary_of(261))
    masks = DeviceMasks(constraint, "cpu")
    with pytest.raises(ValueError, match=r"matchers\[1\] has another constraint"):
        masks.ids([constraint.matcher(), other.matcher()])
    logits = torch.zeros(2, 261)
    words = torch.zeros((2, 9), dtype=torch.int32)
    with pytest.raises(ValueError, match=r"ids of shape \(3,\) for logits"):
        apply_masks(logits, words, torch.zeros(3, dtype=torch.int64))
    with pytest.raises(IndexError):
        apply_masks(logits, words, torch.tensor([0, 2]))
    with pytest.raises(ValueError, match="rows for logits"):
        apply_bitmask(logits, words[:1])
    with pytest.raises(ValueError, match="256 columns"):
        apply_bitmask(logits[:, :256], words)
    with pytest.raises(TypeError, match=r"int32, not torch\.int64"):
        apply_bitmask(logits, words.long())
    with pytest.raises(ValueError, match=r"260 columns, and the vocabulary 261"):
        masks.apply(logits[:, :260], [None, None])
    with pytest.raises(ValueError, match="8 words a row; the vocabulary needs 9"):
        apply_bitmask(logits, words[:, :8], size=261)
    with pytest.raises(ValueError, match="two dimensions"):
        apply_bitmask(logits[0], words)
    with pytest.raises(ValueError, match="table is on meta, the logits on cpu"):
        apply_masks(logits, words.to("meta"), torch.tensor([0, 0]))
    for wrong, says in [
        (lambda: DeviceMasks("json", "cpu"), "of a pdacon.Constraint, not of str"),
        (lambda: masks.ids(constraint.matcher()), "matchers must be a sequence of Matcher or None, not Matcher"),
        (lambda: apply_bitmask(logits, words, size="261"), "'str' object cannot be interpreted as an integer"),
        (lambda: masks.ids(["json"]), r"matchers\[0\] must be a Matcher or None, not str"),
        (lambda: apply_bitmask(logits.numpy(), words), "logits must be a torch.Tensor, not ndarray"),
        (lambda: apply_bitmask(logits, words.tolist()), "bitmask must be a torch.Tensor, not list"),
        (lambda: apply_bitmask(logits.long(), words), "floating dtype, not torch.int64"),
        (lambda: apply_masks(logits, words, [0, 1]), "ids must be a torch.Tensor, not list"),
        (lambda: apply_masks(logits, words, torch.tensor([0.0, 1.0])), "ids must have an integer dtype"),
    ]:
        with pytest.raises(TypeError, match=says):
            wrong()
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"size must be the number of tokens of the vocabulary, got {size}"):
            apply_bitmask(logits, words, size=size)
    with pytest.raises(ValueError, match="rows must be at least 1, got 0"):
        DeviceMasks(constraint, "cpu", rows=0)
    assert masks.ids([]).shape == (0,)
    assert masks.ids([None]).tolist() == [-1]


def test_device_masks_refuse_logits_that_no_model_pads_so_far() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), None]
    vocab = pdacon.Vocabulary.from_tokens(tokens, eos_ids=[256])
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: "a"'), vocab)
    masks = DeviceMasks(constraint, "cpu")
    with pytest.raises(ValueError, match="1536 columns, but the constraint was compiled for 257 tokens"):
        masks.apply(torch.zeros(1, 1536), [constraint.matcher()])
    ids = masks.ids([constraint.matcher()])
    assert (apply_masks(torch.zeros(1, 1536), masks.table, ids, size=257) == 0).sum() == 1
