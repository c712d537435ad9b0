"""Batches keep what tokens do: their matchers stay what single ones are, step by step, however often a step recurs."""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support.hostile_files import sections
from support.indented_grammars import TreeIndenter

import pdacon
from pdacon import Budget, Constraint, Grammar, Limits, Matcher, Vocabulary
from pdacon._native import _core

PIECES = ['{"', '": ', '", "', "]]", "[[", "}, {", "true", "12", ", ", "]}", "}]", '"}', "ab", "  ", "((", "))", "\n  "]
EOS = 256 + len(PIECES)
VOCABULARY = Vocabulary.from_tokens(
    [*(bytes([byte]) for byte in range(256)), *(piece.encode() for piece in PIECES), None], eos_ids=[EOS]
)
WORDS = -(-VOCABULARY.size // 32)

SUMS = """
start: sum
sum: sum "+" product | product
product: product "*" atom | atom
atom: NAME | "(" sum ")" | NAME "(" [sum ("," sum)*] ")"
NAME: /[ab]{1,3}/
"""
BLOCKS = r"""
start: line+
line: NAME _NL | NAME ":" _NL _INDENT line+ _DEDENT
NAME: /[ab]+/
_NL: /(\r?\n[\t ]*)+/
%declare _INDENT _DEDENT
"""
SCHEMA = {"type": "object", "properties": {"a": {"type": "array", "items": {"enum": ["ab", 12, True]}}}}
TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": {
            "anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                {
                    "type": "object",
                    "properties": {"ab": {"$ref": "#/$defs/tree"}, "b": {"type": "boolean"}},
                    "additionalProperties": {"type": "integer"},
                },
            ]
        }
    },
}
COUNTED = {
    "type": "array",
    "items": {
        "anyOf": [
            {"type": "string", "minLength": 2, "maxLength": 6},
            {"type": "array", "items": {"type": "string", "maxLength": 3}, "minItems": 1, "maxItems": 3},
            {"type": "integer", "minimum": 3, "maximum": 120},
        ]
    },
}
GRAMMARS: dict[str, Callable[[], Grammar]] = {
    "json": lambda: Grammar.builtin("json"),
    "sums": lambda: Grammar.from_lark(SUMS),
    "blocks": lambda: Grammar.from_lark(BLOCKS, postlex=TreeIndenter()),
    "schema": lambda: Grammar.from_json_schema(json.dumps(SCHEMA)),
    "tree": lambda: Grammar.from_json_schema(json.dumps(TREE)),
    "counted": lambda: Grammar.from_json_schema(json.dumps(COUNTED)),
}


def allowed_tokens(mask: NDArray[np.int32]) -> list[int]:
    tokens: list[int] = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).tolist()
    return tokens


def matcher_of(constraint: Constraint, number: int, budgets: bool) -> Matcher:
    """One of the sorts for which a step may be kept, or may not."""
    if budgets and number % 5 == 4:
        return constraint.matcher(budget=Budget(tokens=60))
    return constraint.matcher(max_rollback=[None, 0, 3, 0][number % 4], keep_text=number % 3 == 0)


class Batch:
    """Matchers that step together, and a twin of each, which steps alone."""

    def __init__(self, constraints: list[Constraint], rng: random.Random, budgets: bool = False) -> None:
        self.arena = _core.MaskArena(WORDS, 4, 10_000)
        self.rng = rng
        self.matchers = [matcher_of(constraint, number, budgets) for number, constraint in enumerate(constraints)]
        self.twins = [matcher.fork() for matcher in self.matchers]

    def masks(self, tokens: list[int] | None) -> NDArray[np.int32]:
        rows = np.empty(len(self.matchers), np.int32)
        matchers = tuple(self.matchers)
        if missed := self.arena.step(matchers, tokens, rows):
            self.arena.place(matchers, missed, rows)
        masks: NDArray[np.int32] = self.arena.table()[rows]
        return masks

    def walk(self, steps: int) -> None:
        masks = self.masks(None)
        for _ in range(steps):
            self.require_twins(masks)
            chosen = [self.choice(mask) for mask in masks]
            for token, matcher, twin in zip(chosen, self.matchers, self.twins, strict=True):
                if token == -1:
                    matcher.reset()
                    twin.reset()
                else:
                    assert twin.accept_token(token)
            masks = self.masks(chosen)
            if self.rng.random() < 0.3:
                self.require_twins(masks)
                self.go_back(self.rng.randrange(len(self.twins)))
                at = self.rng.randrange(len(self.matchers))
                self.matchers[at] = self.matchers[at].fork()
                masks = self.masks(None)

    def require_twins(self, masks: NDArray[np.int32]) -> None:
        alone = np.empty(WORDS, np.int32)
        for mask, matcher, twin in zip(masks, self.matchers, self.twins, strict=True):
            twin.fill_bitmask(alone)
            assert np.array_equal(mask, alone)
            assert matcher._length() == twin._length()
            assert matcher._is_nested() or matcher._stack() == twin._stack()
            assert matcher.is_accepting() == twin.is_accepting()

    def choice(self, mask: NDArray[np.int32]) -> int:
        """Now and then none."""
        allowed = [token for token in allowed_tokens(mask) if token != EOS]
        return self.rng.choice(allowed) if allowed and self.rng.random() < 0.97 else -1

    def go_back(self, at: int) -> None:
        try:
            self.twins[at].rollback(2)
        except pdacon.MatcherError:
            return
        self.matchers[at].rollback(2)


@pytest.mark.parametrize(
    "names", ["json", "sums", "blocks", "schema", "tree", "counted", "sums json schema", "tree json counted"]
)
def test_steps_of_batches_are_those_of_single_matchers(names: str) -> None:
    constraints = [pdacon.compile(GRAMMARS[name](), VOCABULARY) for name in names.split()]
    batch = Batch([constraints[row % len(constraints)] for row in range(20)], random.Random(names), names == "sums")
    batch.walk(150)


def tokens_of(text: str) -> list[int]:
    return [*text.encode()]


def test_a_step_that_recurs_is_refused_where_it_is_not_allowed() -> None:
    """What lies below the topmost state decides whether a bracket may be closed."""
    constraint = pdacon.compile(Grammar.builtin("json"), VOCABULARY)
    batch = Batch([constraint] * 4, random.Random(1))
    for matcher, text in zip(batch.matchers, ["[[1", '[{"a": 1', '{"a": [1', "1"], strict=True):
        assert matcher.accept_bytes(text.encode())
    batch.masks(None)
    closed = [ord("]"), ord("}"), ord("]"), ord(" ")]
    for _ in range(4):  # the masks are known, the steps are kept, and taken again
        batch.masks(closed)
        for matcher in batch.matchers:
            matcher.reset()
        for matcher, text in zip(batch.matchers, ["[[1", '[{"a": 1', '{"a": [1', "1"], strict=True):
            assert matcher.accept_bytes(text.encode())
    double = 256 + PIECES.index("]]")
    before = [matcher._length() for matcher in batch.matchers]
    with pytest.raises(pdacon.MatcherError, match=r"matchers\[1\] and 2 behind it.*is not allowed"):
        batch.masks([double] * 4)
    after = [matcher._length() for matcher in batch.matchers]
    assert after == [before[0] + 2, *before[1:]]


def test_the_limit_on_depth_holds() -> None:
    constraint = pdacon.compile(Grammar.builtin("json"), VOCABULARY, limits=Limits(depth=12))
    for _ in range(3):
        batch = Batch([constraint, constraint], random.Random(1))
        single = constraint.matcher()
        opened = 0
        while True:
            try:
                assert single.accept_token(ord("["))
            except pdacon.LimitExceededError:
                break
            batch.masks([ord("[")] * 2)
            opened += 1
        with pytest.raises(pdacon.LimitExceededError, match="depth"):
            batch.masks([ord("[")] * 2)
        assert [matcher._length() for matcher in batch.matchers] == [opened, opened]
        assert batch.matchers[0]._stack() == single._stack()


ANY_ARRAY = {"type": "array"}


@pytest.mark.parametrize("is_on_demand", [False, True])
def test_what_is_kept_counts_and_has_a_limit(is_on_demand: bool) -> None:
    texts = [
        json.dumps([{"ab" * (row % 7): [row] * (row % 3)}, row * 37 % 1001, "x" * (row % 11)]) for row in range(200)
    ]
    grown = {}
    for limit in (1 << 29, 1 << 20, 0):
        grammar = Grammar.from_json_schema(json.dumps(ANY_ARRAY)) if is_on_demand else Grammar.builtin("json")
        constraint = pdacon.compile(grammar, VOCABULARY, limits=Limits(bytes=limit))
        for matcher in [constraint.matcher() for _ in range(2)]:
            for text in texts:
                matcher.reset()
                for token in tokens_of(text):
                    assert matcher.accept_token(token)
                    matcher.mask_id()
        before = constraint.nbytes
        for _ in range(2):
            batch = Batch([constraint] * len(texts), random.Random(1))
            for step in range(15):
                batch.masks([tokens_of(text)[step] for text in texts])
            assert all(matcher._is_nested() == is_on_demand for matcher in batch.matchers)
        grown[limit] = constraint.nbytes - before
    assert grown[1 << 29] == grown[0] > 0
    assert grown[1 << 20] <= (1 << 20) // 16


@pytest.mark.parametrize("name", ["tree", "counted"])
def test_schemas_that_are_read_on_demand(name: str) -> None:
    """Also where one of the matchers needs the whole constraint, so that all others go over to it as well."""
    for seed in range(6):
        constraint = pdacon.compile(GRAMMARS[name](), VOCABULARY)
        batch = Batch([constraint] * 12, random.Random(f"{name} {seed}"))
        batch.walk(40)
        assert all(matcher._is_nested() for matcher in batch.matchers)
        masks = constraint.mask_table()
        batch.twins[seed].shortest_completion()
        assert not batch.twins[seed]._is_nested()
        batch.walk(40)
        assert not any(matcher._is_nested() for matcher in batch.matchers)
        assert np.array_equal(constraint.mask_table()[: len(masks)], masks)


def test_the_limit_on_depth_holds_in_schemas_read_on_demand() -> None:
    """What is kept of steps that are not deep leads no deeper than single matchers come."""
    tokens = tokens_of('{"ab": [' * 60)

    def taken_of(accept: Callable[[int], object]) -> int:
        taken = 0
        with contextlib.suppress(pdacon.LimitExceededError):
            for taken, token in enumerate(tokens):  # noqa: B007
                accept(token)
        return taken

    single = pdacon.compile(GRAMMARS["tree"](), VOCABULARY, limits=Limits(depth=40)).matcher()
    deepest = taken_of(single.accept_token)
    assert deepest < len(tokens) - 1
    constraint = pdacon.compile(GRAMMARS["tree"](), VOCABULARY, limits=Limits(depth=40))
    for _ in range(3):  # not so deep that the whole constraint is needed
        batch = Batch([constraint, constraint], random.Random(1))
        for token in tokens[:36]:
            batch.masks([token] * 2)
    assert all(matcher._is_nested() for matcher in batch.matchers)
    batch = Batch([constraint, constraint], random.Random(1))
    assert taken_of(lambda token: batch.masks([token] * 2)) == deepest
    assert [matcher._length() for matcher in batch.matchers] == [deepest, deepest]


@pytest.mark.parametrize("name", ["json", "tree", "counted"])
def test_threads_with_one_constraint(name: str) -> None:
    constraint = pdacon.compile(GRAMMARS[name](), VOCABULARY)
    failures: list[BaseException] = []

    def walk(seed: int) -> None:
        try:
            batch = Batch([constraint] * 8, random.Random(seed))
            batch.walk(40)
            if seed == 1:
                batch.twins[0].shortest_completion()
            batch.walk(20)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=walk, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_batches_whose_members_change() -> None:
    """An arena finds out once what comes again: whoever comes, goes or changes places is noticed, also in one list."""
    constraints = [pdacon.compile(GRAMMARS[name](), VOCABULARY) for name in ("json", "tree", "counted")]
    rng = random.Random(1)
    matchers = [matcher_of(constraint, number, False) for number in range(6) for constraint in constraints]
    twins = {id(matcher): matcher.fork() for matcher in matchers}
    arena, alone = _core.MaskArena(WORDS, 4, 10_000), np.empty(WORDS, np.int32)
    batch: list[Matcher | None] = []
    for _ in range(400):
        change = rng.random()
        if change < 0.1:
            batch[:] = [*rng.sample(matchers, rng.randrange(9)), None]
        elif change < 0.2:
            rng.shuffle(batch)
        elif change < 0.3:
            batch[:] = batch[: rng.randrange(len(batch) + 1)]
        elif change < 0.4 and batch:
            others = [matcher for matcher in matchers if matcher not in batch]
            batch[rng.randrange(len(batch))] = rng.choice([*others, None])
        tokens = []
        for matcher in batch:
            tokens.append(-1)
            if matcher is not None and rng.random() < 0.9:
                twin = twins[id(matcher)]
                twin.fill_bitmask(alone)
                if allowed := [token for token in allowed_tokens(alone) if token != EOS]:
                    tokens[-1] = rng.choice(allowed)
                    assert twin.accept_token(tokens[-1])
        rows = np.full(len(batch) + 1, -7, np.int32)
        given = batch if rng.random() < 0.5 else tuple(batch)
        if missed := arena.step(given, tokens, rows):
            arena.place(given, missed, rows)
        assert rows[-1] == -7
        for matcher, row in zip(batch, rows, strict=False):
            if matcher is None:
                assert row == -1
                continue
            twins[id(matcher)].fill_bitmask(alone)
            assert np.array_equal(arena.table()[row], alone)
            assert matcher._length() == twins[id(matcher)]._length()


def test_a_matcher_comes_twice_where_no_token_does() -> None:
    matcher = pdacon.compile(Grammar.builtin("json"), VOCABULARY).matcher()
    arena, rows = _core.MaskArena(WORDS, 4, 100), np.empty(3, np.int32)
    batch = [matcher, None, matcher]
    for _ in range(2):
        arena.step(batch, None, rows)
        assert rows[0] == rows[2] >= 0 > rows[1]
        with pytest.raises(ValueError, match=r"matchers\[2\] comes twice"):
            arena.step(batch, [ord("[")] * 3, rows)
        assert matcher._length() == 0


@pytest.mark.parametrize("with_tokens", [True, False])
def test_a_matcher_that_another_thread_uses_fails_alone(with_tokens: bool) -> None:
    constraint = pdacon.compile(Grammar.builtin("json"), VOCABULARY)
    for _ in range(3):  # what the token does is kept then
        batch = Batch([constraint], random.Random(1))
        for _ in range(5):
            batch.masks([ord("[")])
    busy, free = constraint.matcher(), constraint.matcher()
    assert busy.accept_bytes(b"[" * 20_000)
    arena, rows, done, taken = _core.MaskArena(WORDS, 4, 100), np.empty(2, np.int32), threading.Event(), 0
    arena.step((busy, free), None, rows)

    def work() -> None:
        while not done.is_set():
            with contextlib.suppress(pdacon.MatcherError):  # when the batch comes first
                busy.shortest_completion()

    thread = threading.Thread(target=work)
    thread.start()

    def again_and_again() -> None:
        nonlocal taken
        for _ in range(100_000):  # the other thread is at work nearly all of the time
            rows[:] = -1
            arena.step((busy, free), [ord("[")] * 2 if with_tokens else None, rows)
            taken += 1

    others = "the others have taken their tokens" if with_tokens else "the masks of the others are known"
    try:
        with pytest.raises(pdacon.MatcherError, match=rf"^matchers\[0\]: a Matcher is used by two.*; {others}"):
            again_and_again()
    finally:
        done.set()
        thread.join()
    assert busy._length() == 20_000 + with_tokens * taken
    assert free._length() == with_tokens * (taken + 1)
    if not with_tokens:
        assert rows[1] >= 0
    if missed := arena.step((busy, free), None, rows):
        arena.place((busy, free), missed, rows)
    assert (rows >= 0).all()


def failure(matcher: Matcher, text: bytes) -> tuple[bool, str] | None:
    """Whether a matcher took the token at which a step of a batch failed, and what was said; None: no step failed."""
    arena, rows, taken = _core.MaskArena(9, 1, 100), np.empty(1, np.int32), 0
    try:
        for byte in text:
            arena.step((matcher,), [byte], rows)
            taken += 1
    except pdacon.ArtifactError as error:
        return matcher._length() > taken, str(error)
    return None


def test_a_step_that_cannot_be_kept_fails_no_matcher_that_has_taken_its_token() -> None:
    """A mask that lies damaged in a file is told where it is asked for: else a token is taken twice."""
    constraint = pdacon.compile(Grammar.from_lark('start: "(" start ")" | A\nA: /[ab]+/'), Vocabulary.bytes())
    text = b"((ab"
    matcher = constraint.matcher()
    for byte in text:
        matcher.allowed_mask()
        matcher.accept_token(byte)
    file, found = constraint.to_bytes(), []
    for offset, size in sections(file):
        for at in range(offset, offset + size, 8):
            changed = bytearray(file)
            changed[at] ^= 1
            with contextlib.suppress(pdacon.ArtifactError):  # most are told when the file is loaded
                loaded = pdacon.Constraint.from_bytes(bytes(changed), verify=False)
                found.append(failure(loaded.matcher(), text))
    failures = [one for one in found if one is not None]
    assert failures
    assert all(has_taken != ("matchers[0]" in said) for has_taken, said in failures)
