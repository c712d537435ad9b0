"""Processes that compile: they give what is compiled here, and what happens to one is not felt elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

import pdacon
from pdacon.base.cautions import held
from pdacon.base.limits import Limits
from pdacon.errors import (
    ArtifactError,
    CancelledError,
    GrammarWarning,
    LimitExceededError,
    NondeterministicGrammarError,
    PdaconError,
    UnsupportedSchemaError,
)
from pdacon.front.caching import CompileCache
from pdacon.integrations import workers as module
from pdacon.integrations.answer_formats import Format, Kind
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.worker import Written
from pdacon.integrations.workers import WorkerError, Workers

WORDS = pdacon.Vocabulary.bytes()
LONG = "start: r0\n" + "\n".join(f'r{n}: "a{n}" r{n + 1} | "b" r{n // 2}' for n in range(4_000)) + '\nr4000: "x"'
"""A grammar that takes some seconds."""

GOOD: list[tuple[Kind, str, str]] = [
    ("json_object", "", '{"a": [1]}'),
    ("schema", '{"type": "integer", "minimum": 3}', "4"),
    ("lark", 'start: "a" B+\nB: /[0-9]/', "a12"),
    ("bnf", 'root ::= "a" | "b" root', "bba"),
    ("gbnf", 'root ::= "a" | "b" root', "bba"),
    ("regex", "[ab]{2}", "ab"),
    ("choice", '["x", "\u00e9"]', "\u00e9"),
]
BAD: list[tuple[Kind, str]] = [
    ("schema", '{"type": "array", "uniqueItems": true}'),
    ("schema", "{"),
    ("lark", 'start: e\ne: e "+" e | "x"'),
    ("lark", "start: nothing"),
    ("regex", "("),
    ("regex", "[ab]{0,200000}"),
    ("choice", "[]"),
]


@pytest.fixture(scope="module")
def shared() -> Iterator[Workers]:
    workers = Workers(WORDS, Limits(seconds=60.0))
    yield workers
    workers.close()


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers(WORDS, Limits(seconds=60.0))
    yield workers
    workers.close()


def loaded(made: Written) -> pdacon.Constraint:
    return pdacon.Constraint.from_bytes(made.content, WORDS, with_vocabulary=made.is_whole)


def during(workers: Workers, do: Callable[[Any], None]) -> None:
    """Compile what takes long, and do something to its process once it is under way."""
    workers.compile("regex", "a")
    (worker,) = workers._all
    timer = Timer(0.3, do, [worker._process])
    timer.start()
    try:
        workers.compile("lark", LONG)
    finally:
        timer.join()


@pytest.mark.parametrize(("kind", "text", "sentence"), GOOD)
def test_a_process_gives_the_constraint_that_is_compiled_here(
    shared: Workers, kind: Kind, text: str, sentence: str
) -> None:
    here = FormatCompiler(WORDS, Limits()).constraint(kind, text)
    constraint = loaded(shared.compile(kind, text))
    assert constraint.grammar.fingerprint == here.grammar.fingerprint
    assert constraint.accepts(sentence)
    ours, theirs = here.matcher(), constraint.matcher()
    for byte in sentence.encode():
        assert list(ours.allowed_tokens()) == list(theirs.allowed_tokens())
        assert ours.accept_token(byte)
        assert theirs.accept_token(byte)


@pytest.mark.parametrize(("kind", "text"), BAD)
def test_an_error_is_the_one_that_is_raised_here(shared: Workers, kind: Kind, text: str) -> None:
    with pytest.raises(PdaconError) as here:
        FormatCompiler(WORDS, Limits(seconds=60.0)).constraint(kind, text)
    with pytest.raises(PdaconError) as there:
        shared.compile(kind, text)
    assert type(there.value) is type(here.value)
    assert str(there.value) == str(here.value)
    if isinstance(here.value, UnsupportedSchemaError):
        assert isinstance(there.value, UnsupportedSchemaError)
        assert there.value.pointer == here.value.pointer
    if isinstance(here.value, NondeterministicGrammarError):
        assert isinstance(there.value, NondeterministicGrammarError)
        assert there.value.report.to_dict() == here.value.report.to_dict()


def test_warnings_are_those_of_the_caller(shared: Workers) -> None:
    with held() as cautions:
        shared.compile("schema", '{"type": "string", "nullable": true}')
    ((message, kind),) = cautions
    assert message.startswith("#: nullable: ")
    assert kind is GrammarWarning
    with pytest.warns(GrammarWarning, match="nullable"):
        shared.compile("schema", '{"type": "string", "nullable": true}')


def test_who_asks_at_the_same_time_has_a_process_each(workers: Workers) -> None:
    texts = [f"[a-{last}]{{{count}}}" for last in "bcde" for count in range(1, 6)]
    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda text: workers.compile("regex", text), texts))
    for text, content in zip(texts, made, strict=True):
        here = FormatCompiler(WORDS, Limits()).constraint("regex", text)
        assert loaded(content).grammar.fingerprint == here.grammar.fingerprint
    assert 1 <= len(workers._all) <= 3
    assert {*workers._idle} == workers._all


def test_a_process_that_is_killed_is_the_error_of_one_request(workers: Workers) -> None:
    with pytest.raises(WorkerError, match="ended with status"):
        during(workers, lambda process: process.kill())
    assert workers.failed == 1
    assert loaded(workers.compile("regex", "a")).accepts("a")
    assert (workers.failed, len(workers._all)) == (1, 1)


def test_a_process_that_died_while_nobody_asked_is_replaced(workers: Workers) -> None:
    workers.compile("regex", "a")
    (worker,) = workers._all
    worker._process.kill()
    worker._process.wait()
    assert workers.compile("regex", "b").content


def test_a_compilation_can_be_cancelled_and_its_process_goes_on(workers: Workers) -> None:
    cancel = Event()
    workers.compile("regex", "a")
    (worker,) = workers._all
    timer = Timer(0.3, cancel.set)
    timer.start()
    with pytest.raises(CancelledError):
        workers.compile("lark", LONG, cancel)
    assert workers.compile("regex", "b").content
    assert {*workers._all} == {worker}
    assert workers.failed == 0


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
def test_a_process_that_does_not_heed_its_time_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MORE_SECONDS", 0.5)
    workers = Workers(WORDS, Limits(seconds=1.0))
    with pytest.raises(LimitExceededError) as over:
        during(workers, lambda process: process.send_signal(signal.SIGSTOP))
    assert (over.value.what, over.value.limit) == ("seconds", 1.0)
    assert workers.failed == 1
    workers.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
def test_a_process_that_does_not_heed_that_it_is_cancelled_is_ended(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CANCEL_SECONDS", 0.2)
    workers.compile("regex", "a")
    (worker,) = workers._all
    os.kill(worker._process.pid, signal.SIGSTOP)
    cancel = Event()
    cancel.set()
    with pytest.raises(CancelledError):
        workers.compile("regex", "b", cancel)
    assert not worker.is_alive
    assert workers.compile("regex", "b").content


@pytest.mark.skipif(sys.platform == "win32", reason="these signals end any process there")
def test_signals_are_for_who_has_started_it(workers: Workers) -> None:
    workers.compile("regex", "a")
    (worker,) = workers._all
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(worker._process.pid, number)
    assert workers.compile("regex", "b").content
    assert {*workers._all} == {worker}


@pytest.mark.skipif(not Path("/proc").exists(), reason="whether a process is there is looked up in /proc")
def test_a_process_ends_with_the_one_that_has_started_it() -> None:
    program = (
        "import pdacon; from pdacon.integrations.workers import Workers; from pdacon.base.limits import Limits\n"
        "workers = Workers(pdacon.Vocabulary.bytes(), Limits(seconds=60.0)); workers.compile('regex', 'a')\n"
        "print(*(one._process.pid for one in workers._all), flush=True); input()"
    )
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdin=-1, stdout=-1, env={**os.environ, "PYTHONPATH": path}
    ) as one:
        assert one.stdout is not None
        pid = int(one.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        one.kill()
    until = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until, "it is still there"
        time.sleep(0.05)


def test_all_of_them_end_when_they_are_closed(workers: Workers) -> None:
    workers.compile("regex", "a")
    (worker,) = workers._all
    workers.close()
    assert not worker.is_alive
    with pytest.raises(WorkerError, match="closed"):
        workers.compile("regex", "a")
    assert workers.failed == 0


def test_closing_ends_a_compilation_under_way(workers: Workers) -> None:
    with pytest.raises(WorkerError):
        during(workers, lambda process: workers.close())
    assert workers.failed == 0


def test_a_process_that_cannot_start_says_why(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/nowhere"])
    with pytest.raises(WorkerError, match="No module named"):
        workers.compile("regex", "a")
    monkeypatch.undo()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(WorkerError, match="cannot be started"):
        workers.compile("regex", "a")


def test_the_vocabulary_does_not_come_along(shared: Workers) -> None:
    light, whole = shared.compile("regex", "[ab]"), shared.compile("regex", "[ab]", is_whole=True)
    assert (light.is_whole, whole.is_whole) == (False, True)
    assert len(light.content) < len(whole.content)
    assert loaded(light).to_bytes() == loaded(whole).to_bytes() == whole.content


def test_bytes_without_a_vocabulary_need_theirs(shared: Workers) -> None:
    light = shared.compile("regex", "[ab]").content
    with pytest.raises(TypeError, match="without a vocabulary"):
        pdacon.Constraint.from_bytes(light, with_vocabulary=False)
    with pytest.raises(ArtifactError, match="a section is missing"):
        pdacon.Constraint.from_bytes(light, WORDS)
    others = pdacon.Vocabulary.from_tokens([*WORDS.tokens[1:256], b"\0", None], eos_ids=[256])
    assert others.size == WORDS.size
    with pytest.raises(ArtifactError, match="another vocabulary"):
        pdacon.Constraint.from_bytes(light, others, with_vocabulary=False)


def test_labels_come_with_their_vocabulary() -> None:
    words = WORDS.with_special_tokens({"<|x|>": 255})
    text = '%llguidance {}\nstart: <|x|> "a"'
    with pytest.raises(ArtifactError, match="labels"):
        FormatCompiler(words, Limits()).constraint("lark", text).to_bytes(with_vocabulary=False)
    workers = Workers(words, Limits(seconds=60.0))
    made = workers.compile("lark", text)
    workers.close()
    assert made.is_whole
    assert pdacon.Constraint.from_bytes(made.content, words).matcher().accept_token(255)


def test_what_a_constraint_was_loaded_from_counts_for_the_room_of_a_cache(shared: Workers, tmp_path: Path) -> None:
    content = shared.compile("json_object", "", is_whole=True).content
    kept = pdacon.Constraint.from_bytes(content, WORDS)
    (tmp_path / "json").write_bytes(content)
    mapped = pdacon.Constraint.load(tmp_path / "json", WORDS)
    assert kept.nbytes - mapped.nbytes == pytest.approx(len(content), rel=0.1)


def test_a_cache_keeps_what_another_process_has_compiled(shared: Workers, tmp_path: Path) -> None:
    asked: list[Any] = []

    def compiled(cache: CompileCache) -> pdacon.Constraint:
        def make() -> bytes:
            asked.append(cache)
            return shared.compile("regex", "[ab]+", is_whole=True).content

        key = Format.of("regex", "[ab]+").key
        return cache.compile_elsewhere(key, WORDS, Limits(), make, None)

    first, second = CompileCache(directory=tmp_path), CompileCache(directory=tmp_path)
    assert compiled(first) is compiled(first)
    assert compiled(second).accepts("ab")
    assert asked == [first]
    assert (first.statistics()["misses"], second.statistics()["loads"]) == (1, 1)
    assert FormatCompiler(WORDS, Limits(), second).constraint("regex", "[ab]+") is compiled(second)
