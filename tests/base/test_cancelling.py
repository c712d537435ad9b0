"""One clock for a call: watches stand within each other, every stage looks at them, and none looks past its end."""

from __future__ import annotations

import ast
import threading
import time
from pathlib import Path

import pytest

import pdacon
from pdacon import CancelledError, Grammar, LimitExceededError, Vocabulary
from pdacon._native import _core
from pdacon.base.cancelling import Watch, current, every, look
from pdacon.composition import native_trie
from pdacon.lalr import build_tables
from pdacon.lexer import build_lexer


class Clock:
    """A clock that stands still until it is put forward."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_a_watch_nothing_stops() -> None:
    look()
    assert current() is None
    assert list(every(range(3))) == [0, 1, 2]


def test_no_stage_has_the_clock_as_a_parameter() -> None:
    """What is handed on is forgotten somewhere; see docs/decisions/0042-one-clock.md."""
    package = Path(pdacon.__file__).parent
    doors = {
        "base",
        "cli",
        "editor",
        "front",
        "integrations",
        "playground",
        "serving",
    }  # the room of the clock, and where callers come in
    for path in [*package.glob("*/**/*.py"), package / "_native" / "_core.pyi"]:
        if path.relative_to(package).parts[0] not in doors:
            names = {node.arg for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.arg)}
            assert names.isdisjoint({"cancel", "max_seconds", "watch"}), path


def test_the_watch_that_ends_first_counts() -> None:
    outer, inner = Clock(), Clock()
    with Watch(5, clock=outer), Watch(2, clock=inner):
        look()
        outer.now = 6
        with pytest.raises(LimitExceededError) as caught:
            look()
        assert (caught.value.what, caught.value.given, caught.value.limit) == ("seconds", 6, 5)
        inner.now = 3
        with pytest.raises(LimitExceededError) as caught:
            look()
        assert caught.value.limit == 2
    assert current() is None


def test_an_error_tells_the_limit_that_was_reached() -> None:
    """Not that of the watch through which it passes on its way out."""
    outer = Clock()

    def late() -> None:
        with Watch(5, clock=outer), Watch(100):
            outer.now = 6
            look()

    with pytest.raises(LimitExceededError) as caught:
        late()
    assert caught.value.limit == 5


def test_a_watch_that_was_left_is_not_asked() -> None:
    clock = Clock()
    with Watch(1, clock=clock):
        pass
    clock.now = 9
    look()


def lexemes_of(grammar: Grammar) -> _core.NextLexemes:
    lexer = build_lexer(grammar.data, build_tables(grammar.data))
    return _core.NextLexemes.make(lexer.automaton, native_trie(Vocabulary.bytes()), 0)


def test_what_the_core_goes_on_with_asks_the_watch_around_each_call() -> None:
    """Not that in which it was begun."""
    grammar, clock = Grammar.builtin("sql_select"), Clock()
    with Watch(1, clock=clock, patience=0):
        lexemes = lexemes_of(grammar)
    clock.now = 9
    for context in range(40):
        lexemes.after(context, lexemes.beginning())
    with pytest.raises(LimitExceededError), Watch(0.5, clock=iter(range(9)).__next__):
        lexemes.after(0, lexemes.beginning())
    lexemes.after(0, lexemes.beginning())


def test_items_are_looked_at_now_and_then() -> None:
    clock = Clock()
    items = []

    def take() -> None:
        for item in every(range(1_000), looks=10):
            items.append(item)
            clock.now = 2

    with Watch(1, clock=clock), pytest.raises(LimitExceededError):
        take()
    assert items == list(range(10))


def test_a_thread_has_a_clock_of_its_own() -> None:
    seen: list[object] = []
    with Watch(1):
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_work_of_the_thread_can_be_counted() -> None:
    def work() -> None:
        while True:
            look()

    with Watch(0.01, clock=time.thread_time), pytest.raises(LimitExceededError):
        work()


def test_native_work_looks_at_the_clock() -> None:
    """Its first question comes at once where the watch has no patience."""

    class Late(Watch):
        looks = 0

        def look(self) -> None:
            self.looks += 1
            raise LimitExceededError("seconds", 2, 1)

    with Late(0, patience=0) as watch, pytest.raises(LimitExceededError, match="seconds"):
        pdacon.RegularSet.from_regex("(a|b)*a(a|b){9}")
    assert watch.looks == 1


def test_a_block_limits_what_is_called_in_it() -> None:
    cancel = threading.Event()
    grammar = Grammar.from_lark('start: "a"+')
    with pdacon.time_limit(0, cancel):
        pdacon.compile(grammar, Vocabulary.bytes())
        cancel.set()
        with pytest.raises(CancelledError):
            pdacon.compile(grammar, Vocabulary.bytes())
    pdacon.compile(grammar, Vocabulary.bytes())


@pytest.mark.parametrize(("seconds", "error"), [("1", TypeError), (True, TypeError), (-1, ValueError)])
def test_seconds_are_a_number(seconds: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="time_limit: seconds must be"):
        pdacon.time_limit(seconds)  # type: ignore[arg-type]
