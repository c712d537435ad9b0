"""`CompileCache`: each constraint is compiled once, whoever asks; what is kept stays within its bytes."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pdacon
from pdacon import (
    CancelledError,
    CompileCache,
    EmptyLanguageError,
    Grammar,
    LimitExceededError,
    Limits,
    NondeterministicGrammarError,
    Spelling,
    UnsupportedSchemaError,
    Vocabulary,
    caching,
)

WORDS = Vocabulary.bytes()
LETTERS = Vocabulary.from_tokens([b"a", b"b", b'"', None], eos_ids=[3])


def counts(cache: CompileCache) -> tuple[int, int]:
    found = cache.statistics()
    return found["hits"], found["misses"]


def test_the_same_is_found_however_it_is_given() -> None:
    cache = CompileCache()
    first = cache.compile("json", WORDS)
    assert cache.compile(Grammar.builtin("json"), WORDS) is first
    schema = {"type": "object", "properties": {"b": {"type": "integer", "minimum": 1}, "a": True}}
    one = cache.compile_schema(schema, WORDS)
    assert cache.compile_schema(json.dumps(schema, indent=3), WORDS) is one
    turned = {"properties": {"b": {"minimum": 1, "type": "integer"}, "a": True}, "type": "object"}
    assert cache.compile_schema(turned, Vocabulary.bytes()) is one
    assert counts(cache) == (3, 2)


@pytest.mark.parametrize(
    "other",
    [
        {"schema": {"type": "object", "properties": {"a": True, "b": True}}},  # another order of members
        {"schema": {"type": "object", "properties": {"b": True, "a": True}, "required": ["a"]}},
        {"spelling": Spelling("compact")}, {"lax": True}, {"formats": False}, {"limits": Limits(states=9_999)},
        {"vocabulary": LETTERS}, {"registry": {"https://a.example/": {}}},
        {"registry": {"": {"type": "object", "properties": {"b": True, "a": True}}}},
    ],
)  # fmt: skip
def test_what_differs_is_told_apart(other: dict[str, Any]) -> None:
    cache = CompileCache()
    given: dict[str, Any] = {"schema": {"type": "object", "properties": {"b": True, "a": True}}, "vocabulary": WORDS}
    cache.compile_schema(**given)
    try:
        cache.compile_schema(**(given | other))
    except EmptyLanguageError:
        assert "vocabulary" in other
    assert counts(cache) == (0, 2)


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda cache: cache.compile('start: a | b\na: "x"\nb: "x"', WORDS), NondeterministicGrammarError),
        (lambda cache: cache.compile_schema({"type": "array", "uniqueItems": True}, WORDS), UnsupportedSchemaError),
        (lambda cache: cache.compile_schema(False, WORDS), EmptyLanguageError),
        (lambda cache: cache.compile("json", WORDS, limits=Limits(states=3)), LimitExceededError),
    ],
)
def test_a_refusal_is_kept_and_each_caller_gets_one_of_its_own(
    ask: Callable[[CompileCache], object], kind: type[Exception]
) -> None:
    cache = CompileCache()
    raised = []
    for _ in range(3):
        with pytest.raises(kind) as info:
            ask(cache)
        raised.append(info.value)
    assert len({id(error) for error in raised}) == 3
    assert len({str(error) for error in raised}) == 1
    assert cache.statistics()["refusals"] == 2
    assert cache.statistics()["misses"] == 1


@pytest.mark.slow
def test_what_depends_on_time_is_not_kept() -> None:
    cache = CompileCache()
    for _ in range(2):
        with pytest.raises(LimitExceededError, match="seconds"):
            cache.compile("python", WORDS, limits=Limits(seconds=1e-9))
    stop = threading.Event()
    stop.set()
    with pytest.raises(CancelledError):
        cache.compile("python", WORDS, cancel=stop)
    assert cache.statistics()["entries"] == 0
    with pytest.raises(TypeError):
        cache.compile(3, WORDS)  # type: ignore[arg-type]


def test_threads_wait_for_one_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    started, go_on = threading.Event(), threading.Event()
    calls = []

    def slowly(*args: Any, **options: Any) -> pdacon.Constraint:
        calls.append(args)
        started.set()
        assert go_on.wait(20)
        return pdacon.compile(*args, **options)

    monkeypatch.setattr(caching, "compile", slowly)
    cache = CompileCache()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(cache.compile, "json", WORDS) for _ in range(8)]
        assert started.wait(20)
        impatient = threading.Event()
        impatient.set()
        with pytest.raises(CancelledError):
            cache.compile("json", WORDS, cancel=impatient)
        go_on.set()
        found = {id(one.result(20)) for one in asked}
    assert len(found) == len(calls) == 1
    assert cache.statistics()["misses"] == 1
    assert cache.statistics()["waits"] + cache.statistics()["hits"] == 7


def test_who_waits_for_one_that_is_cancelled_compiles_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    started, stop = threading.Event(), threading.Event()

    def cancelled(*args: Any, cancel: Any = None, **options: Any) -> pdacon.Constraint:
        if cancel is not None:
            started.set()
            assert cancel.wait(20)
            raise CancelledError("the compilation was cancelled")
        return pdacon.compile(*args, **options)

    monkeypatch.setattr(caching, "compile", cancelled)
    cache = CompileCache()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.compile, "json", WORDS, cancel=stop)
        assert started.wait(20)
        second = pool.submit(cache.compile, "json", WORDS)
        time.sleep(0.1)
        stop.set()
        with pytest.raises(CancelledError):
            first.result(20)
        assert second.result(20).accepts("[1]")


def test_bytes_are_bounded_and_the_least_used_goes_first() -> None:
    one = pdacon.compile("json", WORDS).nbytes
    cache = CompileCache(max_bytes=int(one * 3.5))
    schemas = [{"type": "array", "items": {"const": k}} for k in range(40)]
    cache.compile("json", WORDS)
    for schema in schemas:
        cache.compile_schema(schema, WORDS)
        cache.compile("json", WORDS)  # used again and again, so it stays
        assert cache.statistics()["bytes"] <= one * 3.5
    assert cache.statistics()["evictions"] > 0
    assert cache.statistics()["hits"] == 40
    nothing = CompileCache(max_bytes=0)
    assert nothing.compile("json", WORDS).accepts("[]")
    assert nothing.statistics()["entries"] == 0


def test_a_folder_outlives_the_process(tmp_path: Path) -> None:
    cache = CompileCache(directory=tmp_path / "made" / "here")
    cache.compile_schema({"type": "integer"}, WORDS)
    again = CompileCache(directory=tmp_path / "made" / "here")
    assert again.compile_schema({"type": "integer"}, WORDS).accepts("12")
    assert not again.compile_schema({"type": "integer"}, WORDS).accepts("1.5")
    assert (again.statistics()["loads"], again.statistics()["misses"], again.statistics()["hits"]) == (1, 0, 1)
    (file,) = (tmp_path / "made" / "here").iterdir()
    file.write_bytes(file.read_bytes()[:200])
    third = CompileCache(directory=file.parent)
    assert third.compile_schema({"type": "integer"}, WORDS).accepts("12")
    assert third.statistics()["misses"] == 1
    assert file.stat().st_size > 200


def test_a_package_that_is_installed_over_a_running_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CompileCache(directory=tmp_path)

    def gone(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", gone)
    assert cache.compile_schema({"type": "integer"}, WORDS).accepts("12")
    assert len(list(tmp_path.iterdir())) == 1


def test_the_folder_is_bounded_too(tmp_path: Path) -> None:
    size = len(pdacon.compile(Grammar.from_json_schema({"const": 1}), WORDS).to_bytes())
    cache = CompileCache(max_bytes=3 * size + size // 2, directory=tmp_path)
    for k in range(8):
        cache.compile_schema({"const": k}, WORDS)
    assert len(list(tmp_path.iterdir())) == 3


PROGRAM = """
import sys, pdacon
cache = pdacon.CompileCache(directory=sys.argv[1])
for k in range(12):
    value = (k + int(sys.argv[2])) % 12
    assert cache.compile_schema({"const": value}, pdacon.Vocabulary.bytes()).accepts(str(value))
print(cache.statistics()["misses"])
"""


@pytest.mark.slow
def test_processes_share_a_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", PROGRAM, str(tmp_path)]
    running = [subprocess.Popen([*command, seed], stdout=subprocess.PIPE, text=True) for seed in ("0", "6")]
    missed = [int(process.communicate(timeout=60)[0]) for process in running]
    assert 12 <= sum(missed) <= 24
    assert len(list(tmp_path.iterdir())) == 12


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    cache = CompileCache(directory=tmp_path)
    tmp_path.rmdir()
    assert cache.compile("json", WORDS).accepts("[]")


@pytest.mark.parametrize("given", [-1, True, 2.5, "1"])
def test_what_max_bytes_cannot_be(given: Any) -> None:
    with pytest.raises(ValueError, match="max_bytes"):
        CompileCache(given)


def test_threads_with_much_to_evict() -> None:
    cache = CompileCache(max_bytes=40_000)

    def ask(seed: int) -> int:
        for k in range(60):
            n = (k * seed) % 7
            assert cache.compile_schema({"const": n}, WORDS).accepts(str(n))
        return seed

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(ask, range(1, 7))) == [1, 2, 3, 4, 5, 6]
    assert cache.statistics()["bytes"] <= 40_000


def test_labels_of_the_same_name_are_told_apart() -> None:
    cache = pdacon.CompileCache()
    words = pdacon.Vocabulary.from_tokens([b"a", b"b", None], [2])
    grammar = pdacon.Grammar.from_lark("start: /(?P<IMAGE>)/", extensions=True)
    for ids in ([0], [1]):
        matcher = cache.compile(grammar, words.with_labels(IMAGE=ids)).matcher()
        assert [token for token in range(2) if matcher.is_allowed(token)] == ids


def test_a_key_stands_for_what_would_be_made() -> None:
    """The grammar of a known key is not made again, nor is one that was refused; keys of several words do not merge."""
    cache, made = CompileCache(), []

    def regex(pattern: str) -> Callable[[], Grammar]:
        def make() -> Grammar:
            made.append(pattern)
            return Grammar.from_regex(pattern)

        return make

    first = cache.compile_keyed(("regex", "a+"), regex("a+"), WORDS)
    assert cache.compile_keyed(("regex", "a+"), regex("a+"), WORDS) is first
    assert cache.compile_keyed(("regex", "a+"), regex("a+"), LETTERS) is not first
    for _ in range(2):
        with pytest.raises(pdacon.UnsupportedGrammarError):
            cache.compile_keyed(["regex", "(a"], regex("(a"), WORDS)
    assert made == ["a+", "a+", "(a"]
    assert not cache.compile_keyed(("regexa", "+"), regex("b"), WORDS).accepts("a")
    with pytest.raises(TypeError, match="key is a sequence of str"):
        cache.compile_keyed("regex", regex("a"), WORDS)


def test_the_time_of_a_keyed_grammar_counts() -> None:
    def slow() -> Grammar:
        time.sleep(0.05)
        return Grammar.from_regex("a")

    with pytest.raises(LimitExceededError) as caught:
        CompileCache().compile_keyed(("slow",), slow, WORDS, limits=Limits(seconds=0.01))
    assert caught.value.what == "seconds"
