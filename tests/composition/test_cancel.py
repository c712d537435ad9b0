"""Limits and cancelling act inside the stages of a compilation, and several threads compile at once."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest
from support.little_room import least_bytes

import pdacon
from pdacon import CancelledError, Grammar, LimitExceededError, Limits, Vocabulary
from pdacon.base import cancelling
from pdacon.grammar import GrammarData
from pdacon.lexer.terminals import compile_terminal

EVERY_BYTE = Vocabulary.from_tokens(
    [*(bytes([byte]) for byte in range(256)), *(b")" * length for length in range(2, 9)), None], [263]
)
# Answers without end: the native core is at it until there is no more room for them, some seconds.
ENDLESS = Grammar.builtin("arithmetic")


class InAStage:
    """A canceller that tells the core's questions from those between two stages, and answers the former.

    The core asks when a call of it begins, and again while it is at it: from the same place in Python.
    """

    def __init__(self, answer: Callable[[], bool]) -> None:
        self.answer = answer
        self.between = self.within = 0
        self.call: tuple[FrameType, int] | None = None

    def is_set(self) -> bool:
        asking = sys._getframe(3)  # behind `stop_if_set` and the watch's `look`
        call = None if asking.f_code.co_filename == cancelling.__file__ else (asking, asking.f_lasti)
        again = call is not None and call == self.call
        self.call = call
        if not again:
            self.between += 1
            return False
        self.within += 1
        return self.answer()


def test_a_stage_is_cancelled() -> None:
    cancel = InAStage(lambda: True)
    with pytest.raises(CancelledError, match="cancelled"):
        pdacon.compile(ENDLESS, EVERY_BYTE, eager=True, cancel=cancel)
    assert cancel.between > 0
    assert cancel.within == 1


@pytest.mark.slow
def test_the_first_mask_is_cancelled_too() -> None:
    """Every byte is a lexeme, so that the mask of the empty text takes a walk through all of the trie."""
    words = [bytes(word) for length in range(1, 17) for word in itertools.product(b"ab", repeat=length)]
    vocabulary = Vocabulary.from_tokens([*words, None], [len(words)])
    grammar = Grammar.from_lark('start: (A | B)+\nA: "a"\nB: "b"')
    pdacon.compile(grammar, vocabulary)  # the trie is there from now on
    with pytest.raises(CancelledError, match="cancelled"):
        pdacon.compile(grammar, vocabulary, cancel=InAStage(lambda: True))
    with pytest.raises(LimitExceededError, match="seconds"):
        pdacon.compile(grammar, vocabulary, limits=Limits(seconds=0.02))


def test_what_the_canceller_raises_arrives() -> None:
    def fail() -> bool:
        raise ZeroDivisionError("asked")

    with pytest.raises(ZeroDivisionError, match="asked"):
        pdacon.compile(ENDLESS, EVERY_BYTE, eager=True, cancel=InAStage(fail))


def test_another_thread_cancels() -> None:
    cancel, began = threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def answer() -> bool:
        """Not before the other thread has cancelled, however late it wakes."""
        began.set()
        return cancel.wait(60)

    def work() -> None:
        try:
            pdacon.compile(ENDLESS, EVERY_BYTE, eager=True, cancel=InAStage(answer))
        except pdacon.PdaconError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert began.wait(60)
    cancel.set()
    thread.join(60)
    assert [type(error) for error in raised] == [CancelledError]


EXIT = """
import sys, threading, time
import pdacon

began = threading.Event()

class Watched:
    def is_set(self):
        if sys._getframe(3).f_code.co_name == "compiled":  # behind `stop_if_set` and the watch's `look`: the core asks
            began.set()
        return False

class Late:
    # Deleted while the interpreter exits: it waits, and the other thread asks for the lock.
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

def work():
    vocabulary = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], [256])
    pdacon.compile(pdacon.Grammar.builtin("arithmetic"), vocabulary, eager=True, cancel=Watched())

late = Late()
known = pdacon.Vocabulary.from_tokens([b"1", None], [1])
matcher = pdacon.compile(pdacon.Grammar.builtin("arithmetic"), known).matcher()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
assert began.wait(60)
"""


@pytest.mark.slow
def test_the_interpreter_exits_while_threads_are_inside() -> None:
    """Their process ends as if they were not there, and writes nothing."""
    run = subprocess.run([sys.executable, "-P", "-c", EXIT], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_two_threads_are_inside_at_once() -> None:
    """Each is asked inside the core, and answers when the other one is there too."""
    meeting = threading.Barrier(2, timeout=60)

    def meet() -> bool:
        meeting.wait()
        return True

    outcomes: list[type[BaseException]] = []

    def work() -> None:
        try:
            pdacon.compile(ENDLESS, EVERY_BYTE, eager=True, cancel=InAStage(meet))
        except Exception as error:
            outcomes.append(type(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert outcomes == [CancelledError, CancelledError]


def test_cancelled_before_it_begins() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        pdacon.compile(ENDLESS, EVERY_BYTE, cancel=cancel)


@pytest.mark.slow
def test_masks_are_computed_as_long_as_there_is_time() -> None:
    """Those that there are stay; what is left out is counted, and computed at a miss."""
    eager = pdacon.compile(ENDLESS, EVERY_BYTE, eager=True, limits=Limits(seconds=1.5))
    assert eager.statistics()["situations_left"] > 0
    assert eager.statistics()["masks_computed"] > 10
    lazy = pdacon.compile(ENDLESS, EVERY_BYTE)
    matchers = [constraint.matcher() for constraint in (eager, lazy)]
    for byte in b"((1 + 2) * (3))":
        first, second = (np.zeros(9, np.int32), np.zeros(9, np.int32))
        matchers[0].fill_bitmask(first)
        matchers[1].fill_bitmask(second)
        assert (first == second).all()
        assert all(matcher.accept_token(byte) for matcher in matchers)


def test_an_error_tells_all_the_time() -> None:
    """Not that of the stage that came too late."""
    with pytest.raises(LimitExceededError) as caught:
        pdacon.compile(ENDLESS, EVERY_BYTE, limits=Limits(seconds=1e-6))
    assert caught.value.what == "seconds"
    assert caught.value.given > caught.value.limit == 1e-6


def test_memory_holds_for_eager() -> None:
    with pytest.raises(LimitExceededError) as caught:
        pdacon.compile(ENDLESS, EVERY_BYTE, eager=True, limits=Limits(bytes=200_000))
    assert caught.value.what == "bytes"
    assert caught.value.given > caught.value.limit == 200_000


# Each byte is that of so many tokens that no mask is kept as the tokens that it allows.
WIDE = Vocabulary.from_tokens([*(bytes([token % 256]) for token in range(25 * 256)), *[None] * 13_857], [20_256])
DIGITS = Grammar.from_lark('start: "<" (A | B)* ">"\nA: /[0-9]{1,9}a/\nB: /b(x[yz]|yy|z[0-9])[a-f]/')


TEXT = b"<1234abxzabyycbz7f12a>"


def mask_of(matcher: pdacon.Matcher) -> bytes:
    row = np.zeros(-(-WIDE.size // 32), np.int32)
    matcher.fill_bitmask(row)
    return row.tobytes()


def masks_along(matcher: pdacon.Matcher, text: bytes) -> list[bytes]:
    masks = [mask_of(matcher)]
    for byte in text:
        assert matcher.accept_token(byte)
        masks.append(mask_of(matcher))
    return masks


def test_what_can_be_made_again_is_forgotten() -> None:
    """The less room there is, the more is forgotten, until a mask finds none: what is answered is the same, ids too.

    No limit that is met is for good: what is asked next is answered as by any other constraint, or finds no room.
    """
    free = pdacon.compile(DIGITS, WIDE)
    wanted = masks_along(free.matcher(), TEXT)
    table = free.mask_table()
    least = least_bytes(DIGITS, WIDE)
    complete = []
    for size in (least + least * step // 40 for step in range(60)):
        tight = pdacon.compile(DIGITS, WIDE, limits=Limits(bytes=size))
        refused = 0
        for _ in range(2):
            matcher = tight.matcher()
            for at, mask in enumerate(wanted):
                try:
                    assert mask_of(matcher) == mask
                except LimitExceededError as error:
                    assert error.what == "bytes"  # noqa: PT017 (that it is raised is up to the size)
                    refused += 1
                assert at == len(TEXT) or matcher.accept_token(TEXT[at])
            with contextlib.suppress(LimitExceededError):
                assert mask_of(tight.matcher()) == wanted[0]
        if refused == 0:
            assert (tight.mask_table() == table).all()
        complete.append(refused == 0)
    assert not complete[0]
    assert complete[-1]


def matchers_along(constraint: pdacon.Constraint, text: bytes) -> Iterator[pdacon.Matcher]:
    matcher = constraint.matcher()
    for byte in text:
        assert matcher.accept_token(byte)
        yield matcher


def constraint_with_room_for_the_first_mask_only() -> tuple[pdacon.Constraint, pdacon.Matcher]:
    """And a matcher whose mask finds no room."""
    least = least_bytes(DIGITS, WIDE)
    for size in (least + least * step // 40 for step in range(60)):
        tight = pdacon.compile(DIGITS, WIDE, limits=Limits(bytes=size))
        for matcher in matchers_along(tight, TEXT):
            if not has_room(matcher) and has_room(tight.matcher()) and not has_room(matcher):
                return tight, matcher
    raise AssertionError("no such size")


def has_room(matcher: pdacon.Matcher) -> bool:
    """Whether its mask can be made at all: at the second try nothing else is left to be forgotten."""
    for _ in range(2):
        with contextlib.suppress(LimitExceededError):
            mask_of(matcher)
            return True
    return False


def test_a_batch_tells_which_masks_find_no_room() -> None:
    free = pdacon.compile(DIGITS, WIDE)
    wanted = masks_along(free.matcher(), TEXT)
    tight, matcher = constraint_with_room_for_the_first_mask_only()
    bitmask = np.zeros((3, len(wanted[0]) // 4), np.int32)
    with pytest.raises(LimitExceededError, match=r"by matchers\[1\]; the rows of the others are written"):
        pdacon.fill_bitmasks([tight.matcher(), matcher, tight.matcher()], bitmask)
    assert [row.tobytes() for row in bitmask] == [wanted[0], bytes(len(wanted[0])), wanted[0]]
    with pytest.raises(LimitExceededError, match=r"by matchers\[0\] and 1 behind it"):
        pdacon.matching.mask_ids([matcher, matcher])
    matcher.reset()
    assert mask_of(matcher) == wanted[0]


def test_time_is_up_between_two_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[str] = []

    def late(grammar: GrammarData, terminal: Any, *rest: Any) -> Any:
        lowered.append(terminal.name)
        if len(lowered) == 3:
            begin = time.monotonic()
            monkeypatch.setattr("pdacon.base.cancelling.time.monotonic", lambda: begin + 1_000)
        return compile_terminal(grammar, terminal, *rest)

    monkeypatch.setattr("pdacon.lexer.lowering.compile_terminal", late)
    with pytest.raises(LimitExceededError, match=r"^seconds: 1,?\d\d\d.* exceeds the limit of 600;") as caught:
        pdacon.compile('start: "a" B C D\nB: /b+/\nC: /c+/\nD: /d+/', EVERY_BYTE, limits=Limits(seconds=600))
    assert (caught.value.what, caught.value.limit) == ("seconds", 600)
    assert len(lowered) == 3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"states": 1.5}, "states=.* must be a whole number, not float"),
        ({"bytes": np.float64(3)}, "bytes=.* must be a whole number, not float64"),
        ({"depth": True}, "depth=.* must be a whole number, not bool"),
        ({"seconds": "1"}, "seconds=.* must be a number, not str"),
    ],
)
def test_limits_are_numbers(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Limits(**wrong)


def test_limits_may_be_numbers_of_numpy() -> None:
    limits = Limits(states=np.int64(5_000), seconds=np.float32(600), depth=np.uint8(9))
    assert limits == Limits(states=5_000, seconds=600, depth=9)
    assert [type(limits.states), type(limits.seconds), type(limits.depth)] == [int, float, int]
    pdacon.compile(DIGITS, WIDE, limits=limits)


@pytest.mark.parametrize("columns", [-1, 17, True, 2.0])
def test_columns_are_few(columns: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="columns"):
        Limits(columns=columns)
