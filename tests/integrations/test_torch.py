"""`pdacon.integrations.torch` against the plain definition: a logit stays iff its token's bit is set."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest
import torch

import pdacon
from pdacon.integrations.huggingface import load_tiny
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


GRAMMARS = [
    pdacon.Grammar.builtin("json"),
    pdacon.Grammar.builtin("sql"),
    pdacon.Grammar.from_regex("[0-9]+(, [0-9]+)*"),
    pdacon.Grammar.from_json_schema(
        {"type": "object", "properties": {"a": {"enum": [1, "b"]}, "c": {"type": "array"}}}
    ),
]


def allowed_by(matcher: pdacon.Matcher, size: int) -> list[int]:
    return [token for token in range(size) if matcher.is_allowed(token)]


@pytest.mark.parametrize("size", [261, 288, 300])
@pytest.mark.parametrize("rows", [1, 64])
def test_a_batch_of_several_constraints_along_texts(size: int, rows: int) -> None:
    """What is asked of the table is what `fill_bitmasks` writes, however few rows there are and whoever is in it."""
    vocabulary, rng = vocabulary_of(size), random.Random(size)
    constraints = [pdacon.compile(grammar, vocabulary) for grammar in GRAMMARS]
    words = -(-size // 32)
    masks = DeviceMasks(vocabulary, "cpu", rows=rows, max_bytes=4 * words * 7)  # of which no batch has more
    matchers = [constraint.matcher() for constraint in constraints for _ in range(2)]
    tokens: list[int] | None = None
    batch: list[pdacon.Matcher | None] = []
    for _ in range(60):
        ids = masks.ids(batch, tokens)
        assert (ids[-1:] == -1).all()
        logits = torch.randn(len(batch), size + 3)
        masked = apply_masks(logits.clone(), masks.table, ids)
        there = [matcher for matcher in batch if matcher is not None]
        bitmask = np.zeros((len(there), words), dtype=np.int32)
        pdacon.fill_bitmasks(there, bitmask)
        assert torch.equal(apply_bitmask(logits[:-1].clone(), bitmask), masked[:-1])
        assert torch.equal(masked[-1:], logits[-1:])
        for matcher, row in zip(there, masked, strict=False):
            assert torch.isfinite(row).nonzero().flatten().tolist() == allowed_by(matcher, size)
            if matcher.is_terminated():
                matcher.reset()
        batch = [*rng.sample(matchers, rng.randrange(7)), None]
        tokens = [-1 if matcher is None else rng.choice(allowed_by(matcher, size)) for matcher in batch]


def test_equal_masks_are_one_row() -> None:
    """Constraints of one grammar, and states of several ones, have masks in common."""
    vocabulary = vocabulary_of(261)
    first, second = (pdacon.compile(pdacon.Grammar.from_regex(text), vocabulary) for text in ("ab+", "(x|a)b+"))
    masks = DeviceMasks(vocabulary, "cpu")
    ids = masks.ids([first.matcher(), second.matcher(), first.matcher()])
    assert ids[0] == ids[2] != ids[1]
    matchers = [first.matcher(), second.matcher()]
    assert len(set(masks.ids(matchers, [ord("a")] * 2).tolist())) == 1


def test_a_dropped_constraint_leaves_no_ids_behind() -> None:
    """Another constraint, perhaps at the same address, whose masks have the same numbers, has other rows."""
    vocabulary = vocabulary_of(261)
    masks = DeviceMasks(vocabulary, "cpu")
    for text in "abcdefgh" * 3:
        matcher = pdacon.compile(pdacon.Grammar.from_regex(text), vocabulary).matcher()
        assert torch.isfinite(masks.apply(torch.zeros(1, 261), [matcher])[0]).nonzero().flatten().tolist() == [
            ord(text)
        ]


def test_masks_of_canonical_tokens_have_rows() -> None:
    """They have no ids of their own."""
    _, tokenizer = load_tiny()
    constraint = pdacon.compile("json_dumps", tokenizer=tokenizer, canonical=True)
    vocabulary = constraint.vocabulary
    matcher, rng = constraint.matcher(), random.Random(0)
    masks, tokens = DeviceMasks(vocabulary, "cpu", max_bytes=1 << 16), [-1]
    for _ in range(30):
        ids = masks.ids([matcher], tokens)
        bitmask = constraint.new_bitmask(1)
        matcher.fill_bitmask(bitmask)
        assert masks.table[ids[0]].tolist() == bitmask[0].tolist()
        if matcher.is_terminated():
            matcher.reset()
            tokens = [-1]
        else:
            tokens = [rng.choice(matcher.allowed_tokens())]


def test_tokens_that_are_not_allowed() -> None:
    """The error names the matcher; the others have taken their tokens, and the step can be gone on with."""
    vocabulary = vocabulary_of(261)
    constraint = pdacon.compile(pdacon.Grammar.from_regex("ab*"), vocabulary)
    masks = DeviceMasks(vocabulary, "cpu")
    one, other = constraint.matcher(), constraint.matcher()
    with pytest.raises(pdacon.MatcherError, match=r"matchers\[1\]: token 98 is not allowed; the others have taken"):
        masks.ids([one, other, None], [97, 98, -1])
    assert (one.text, other.text) == ("a", "")
    with pytest.raises(IndexError, match=r"matchers\[0\] and 1 behind it: token 261 is not in the vocabulary"):
        masks.ids([one, other], np.array([261, 261]))
    with pytest.raises(ValueError, match=r"matchers\[1\] comes twice: a matcher takes one token a step"):
        masks.ids([one, one], [98, 98])
    with pytest.raises(ValueError, match="1 tokens for 2 matchers"):
        masks.ids([one, other], [97])
    with pytest.raises(TypeError, match="token must be a whole number, not float"):
        masks.ids([one], [1.5])
    assert (one.text, other.text) == ("a", "")
    assert masks.ids([one, other, one]).tolist() == [1, 0, 1]


def test_a_list_that_changes_during_the_call() -> None:
    """A step is of the matchers that the caller's list had at first, also if a token's ``__index__`` empties it."""
    vocabulary = vocabulary_of(261)
    constraint = pdacon.compile(pdacon.Grammar.from_regex("ab*"), vocabulary)
    matchers: list[pdacon.Matcher | None] = [constraint.matcher()]

    class Emptying:
        def __index__(self) -> int:
            matchers.clear()
            return 97

    tokens: Any = [Emptying()]
    assert DeviceMasks(vocabulary, "cpu").ids(matchers, tokens).tolist() == [0]
    assert not matchers


def test_a_mask_that_cannot_be_had_is_named() -> None:
    vocabulary = vocabulary_of(261)
    limited = pdacon.compile(pdacon.Grammar.builtin("sql"), vocabulary, limits=pdacon.Limits(depth=3))
    free = pdacon.compile(pdacon.Grammar.from_regex("a+"), vocabulary)
    masks = DeviceMasks(vocabulary, "cpu")
    deep, shallow = limited.matcher(), free.matcher()

    def go_on() -> None:
        for byte in b"SELECT (((((((1)))))))":
            masks.ids([deep, shallow], [byte, ord("a")])

    with pytest.raises(pdacon.LimitExceededError, match=r"depth.*by matchers\[0\]; the others have taken"):
        go_on()
    assert len(shallow.text) == len(deep.text) + 1
    assert masks.ids([shallow]).shape == (1,)


def test_a_step_has_no_more_masks_than_there_is_room_for() -> None:
    vocabulary = vocabulary_of(261)
    matchers = [pdacon.compile(pdacon.Grammar.from_regex(text), vocabulary).matcher() for text in "abc"]
    masks = DeviceMasks(vocabulary, "cpu", max_bytes=2 * 4 * 9)
    said = "a step has more different masks than max_bytes has room for, which is 2; tokens that came with it have been"
    with pytest.raises(ValueError, match=said):
        masks.ids(matchers)
    assert len(set(masks.ids(matchers[1:]).tolist())) == 2


def test_what_a_step_that_fails_has_written_is_in_the_table() -> None:
    vocabulary = vocabulary_of(261)
    matchers = [pdacon.compile(pdacon.Grammar.from_regex(text), vocabulary).matcher() for text in "abc"]
    masks = DeviceMasks(vocabulary, "cpu", rows=1, max_bytes=2 * 4 * 9)
    with pytest.raises(ValueError, match="more different masks"):
        masks.ids(matchers)
    allowed = torch.isfinite(masks.apply(torch.zeros(2, 261), matchers[:2])).nonzero().tolist()
    assert allowed == [[0, ord("a")], [1, ord("b")]]


def test_threads_share_a_table() -> None:
    vocabulary = vocabulary_of(261)
    constraints = [pdacon.compile(grammar, vocabulary) for grammar in GRAMMARS]
    masks = DeviceMasks(vocabulary, "cpu", rows=1, max_bytes=4 * 9 * 2)
    begin, wrong = threading.Barrier(4), []

    def write(seed: int) -> None:
        matcher, rng, bitmask = constraints[seed].matcher(), random.Random(seed), torch.zeros((1, 9), dtype=torch.int32)
        begin.wait()
        for _ in range(60):
            if matcher.is_terminated():
                matcher.reset()
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


def test_a_table_that_has_all_its_room_stays_where_it_is() -> None:
    """As a captured graph needs it."""
    vocabulary = vocabulary_of(261)
    masks = DeviceMasks(vocabulary, "cpu", rows=8, max_bytes=4 * 9 * 8)
    matcher, where = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary).matcher(), masks.table.data_ptr()
    for byte in b'{"a": [1, true, "b\\n"], "c": {}}':
        assert torch.isfinite(masks.apply(torch.zeros(1, 261), [matcher])[0, byte])
        assert matcher.accept_token(byte)
    assert masks.table.data_ptr() == where


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
    other = pdacon.compile(pdacon.Grammar.builtin("json"), vocabulary_of(300))
    masks = DeviceMasks(vocabulary_of(261), "cpu")
    with pytest.raises(
        ValueError, match=r"matchers\[1\] has masks of 10 words, the table rows of 9: they are for another"
    ):
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
        (lambda: DeviceMasks("json", "cpu"), "of a pdacon.Vocabulary, not of str"),
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
        DeviceMasks(vocabulary_of(261), "cpu", rows=0)
    with pytest.raises(ValueError, match="max_bytes must be at least 36, which one mask has, got 35"):
        DeviceMasks(vocabulary_of(261), "cpu", max_bytes=35)
    assert masks.ids([]).shape == (0,)
    assert masks.ids([None]).tolist() == [-1]


def test_device_masks_refuse_logits_that_no_model_pads_so_far() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), None]
    vocab = pdacon.Vocabulary.from_tokens(tokens, eos_ids=[256])
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: "a"'), vocab)
    masks = DeviceMasks(vocab, "cpu")
    with pytest.raises(ValueError, match="1536 columns, but the constraint was compiled for 257 tokens"):
        masks.apply(torch.zeros(1, 1536), [constraint.matcher()])
    ids = masks.ids([constraint.matcher()])
    assert (apply_masks(torch.zeros(1, 1536), masks.table, ids, size=257) == 0).sum() == 1


def test_trees_of_drafted_tokens() -> None:
    """One call for all nodes of all trees: what `fill_tree_bitmask` writes, and nothing where a token is refused."""
    vocabulary, rng = vocabulary_of(261), random.Random(0)
    constraints = [pdacon.compile(pdacon.Grammar.from_regex(text), vocabulary) for text in ("[ab]{1,9}", "(a|bc)*")]
    masks = DeviceMasks(vocabulary, "cpu")
    for _ in range(40):
        trees, bitmasks = [], []
        for constraint in rng.choices(constraints, k=3):
            matcher, count = constraint.matcher(), rng.randrange(6)
            assert matcher.accept_token(ord("a"))
            tokens = [ord(rng.choice("abcd")) for _ in range(count)]
            trees.append((matcher, tokens, [rng.randrange(-1, index) for index in range(count)]))
            bitmasks.append(constraint.new_bitmask(count + 1))
            pdacon.matching.fill_tree_bitmask(*trees[-1], bitmasks[-1])
        ids = masks.tree_ids(trees)
        assert ids.min() >= 0, "a token that is refused must not be free"
        assert masks.table[ids.long()].tolist() == np.concatenate(bitmasks).tolist()
        assert all(matcher.text == "a" for matcher, _, _ in trees)
    assert masks.tree_ids([]).shape == (0,)
    with pytest.raises(ValueError, match="the parent of token 0 is 0"):
        masks.tree_ids([(constraints[0].matcher(), [97], [0])])


def test_a_batch_of_as_many_constraints_as_rows() -> None:
    """As a server has them: each with a mask that nobody has computed yet, all of them in one table."""
    vocabulary = vocabulary_of(261)
    schemas: list[Any] = [{"const": f"{number:03}"} for number in range(256)]
    grammars = [pdacon.Grammar.from_regex(f"{number}x*") for number in range(256)]
    grammars += map(pdacon.Grammar.from_json_schema, schemas)
    matchers = [pdacon.compile(grammar, vocabulary).matcher() for grammar in grammars]
    masks = DeviceMasks(vocabulary, "cpu")
    tokens = [-1] * len(matchers)
    for _ in range(4):
        masked = masks.apply(torch.zeros(len(matchers), 261), matchers, tokens)
        for row, matcher in enumerate(matchers):
            allowed = torch.isfinite(masked[row]).nonzero().flatten().tolist()
            assert allowed == allowed_by(matcher, 261)
            tokens[row] = -1 if matcher.is_terminated() else allowed[0]


def test_cold_masks_of_several_constraints_are_computed_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of one constraint by one thread, at the same time as those of the others."""
    vocabulary = vocabulary_of(261)
    matchers = []
    for grammar, text in zip(GRAMMARS, (b'{"a": [1', b"SELECT a"), strict=False):
        constraint = pdacon.compile(grammar, vocabulary)
        for length in (2, 5, 8):
            matchers.append(constraint.matcher())
            assert matchers[-1].accept_bytes(text[:length])
    together, threads = threading.Barrier(2, timeout=60), []
    fill = pdacon.Matcher.fill_bitmask

    def noted(matcher: pdacon.Matcher, bitmask: Any, row: int = 0) -> None:
        if threading.current_thread() is not threading.main_thread() and threading.get_ident() not in threads:
            threads.append(threading.get_ident())
            together.wait()  # both are under way
        fill(matcher, bitmask, row)

    monkeypatch.setattr(pdacon.Matcher, "fill_bitmask", noted, raising=False)
    masks = DeviceMasks(vocabulary, "cpu")
    ids = masks.ids(matchers)
    assert len(threads) == 2
    assert [masks.table[at].tolist() for at in ids] == [words_of(matcher) for matcher in matchers]
    masks.ids(matchers)  # what is known needs nobody
    assert len(threads) == 2


def words_of(matcher: pdacon.Matcher) -> list[int]:
    bitmask = np.zeros((1, 9), np.int32)
    matcher.fill_bitmask(bitmask)
    words: list[int] = bitmask[0].tolist()
    return words


def test_a_thread_that_fails_leaves_its_masks_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stops it: the masks of the others are computed, and its own are asked for again."""
    vocabulary = vocabulary_of(261)
    matchers = [pdacon.compile(grammar, vocabulary).matcher() for grammar in GRAMMARS]
    for matcher, text in zip(matchers, (b'{"a": [1', b"SELECT a", b"12, 3", b'{"a": 1, "c": ['), strict=True):
        assert matcher.accept_bytes(text)
    fill, asked = pdacon.Matcher.fill_bitmask, []

    def failing(matcher: pdacon.Matcher, bitmask: Any, row: int = 0) -> None:
        asked.append(matcher)
        if matcher is matchers[1]:
            raise MemoryError("there is no memory in this thread")
        fill(matcher, bitmask, row)

    masks = DeviceMasks(vocabulary, "cpu")
    with monkeypatch.context() as patch:
        patch.setattr(pdacon.Matcher, "fill_bitmask", failing, raising=False)
        ids = masks.ids(matchers)
    assert matchers[1] in asked
    assert [masks.table[at].tolist() for at in ids] == [words_of(matcher) for matcher in matchers]


def test_two_threads_with_cold_masks_of_the_same_constraints() -> None:
    """Each has a table of its own; what one computes the other waits for, or finds."""
    vocabulary = vocabulary_of(261)
    constraints = [pdacon.compile(grammar, vocabulary) for grammar in GRAMMARS]
    begin, found = threading.Barrier(2), {}

    def write(seed: int) -> None:
        masks, rng = DeviceMasks(vocabulary, "cpu"), random.Random(0)
        matchers = [constraint.matcher() for constraint in constraints * 2]
        tokens, seen = [-1] * len(matchers), []
        begin.wait()
        for _ in range(30):
            masked = masks.apply(torch.zeros(len(matchers), 261), matchers, tokens)
            allowed = [torch.isfinite(row).nonzero().flatten().tolist() for row in masked]
            seen.append(allowed)
            tokens = [
                -1 if matcher.is_terminated() else rng.choice(each)
                for matcher, each in zip(matchers, allowed, strict=True)
            ]
        found[seed] = seen

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]


def test_masks_are_those_of_the_place_however_it_was_reached() -> None:
    """What a matcher keeps of its place is forgotten when it moves: by a token, back, to the start, into a fork."""
    vocabulary, rng = vocabulary_of(261), random.Random(1)
    for grammar in GRAMMARS:
        constraint = pdacon.compile(grammar, vocabulary)
        matcher = constraint.matcher()
        masks = DeviceMasks(vocabulary, "cpu")
        path: list[int] = []
        for _ in range(150):
            row = masks.table[masks.ids([matcher])[0]].tolist()
            fresh = constraint.matcher()
            assert all(fresh.accept_token(token) for token in path)
            expected = constraint.new_bitmask()
            fresh.fill_bitmask(expected)
            assert row == expected[0].tolist()
            way = rng.randrange(10)
            if way == 0 and path:
                count = rng.randrange(1, len(path) + 1)
                matcher.rollback(count)
                del path[-count:]
            elif way == 1:
                matcher = matcher.fork()
            elif matcher.is_terminated() or len(path) > 40:
                matcher.reset()
                path = []
            else:
                path.append(rng.choice(fresh.allowed_tokens()))
                masks.ids([matcher], [path[-1]])


def test_a_vocabulary_without_the_padding_of_another() -> None:
    """Its masks are filled up: what it does not have is not allowed."""
    padded, plain = vocabulary_of(300), vocabulary_of(261)
    matchers = [pdacon.compile(GRAMMARS[0], vocabulary).matcher() for vocabulary in (padded, plain, padded)]
    masked = DeviceMasks(padded, "cpu").apply(torch.zeros(3, 300), matchers)
    for row, matcher, size in zip(masked, matchers, (300, 261, 300), strict=True):
        assert torch.isfinite(row).nonzero().flatten().tolist() == allowed_by(matcher, size)
