"""`CompileCache`: each constraint is compiled once, whoever asks; what is kept stays within its bytes."""

from __future__ import annotations

import gc
import importlib.metadata
import json
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pdacon
from pdacon import (
    CancelledError,
    CompileCache,
    EmptyLanguageError,
    Grammar,
    GrammarSyntaxError,
    LimitExceededError,
    Limits,
    NondeterministicGrammarError,
    Spelling,
    UnsupportedSchemaError,
    Vocabulary,
    filters,
)
from pdacon.front import caching
from pdacon.front.compiled import Compiled
from pdacon.front.compiling import compile_grammar
from pdacon.front.stores import ObjectStore
from pdacon.frontends.json_schema import Schema
from pdacon.frontends.on_demand import schema_on_demand

WORDS = Vocabulary.bytes()
LETTERS = Vocabulary.from_tokens([b"a", b"b", b'"', None], eos_ids=[3])
SPACED = replace(WORDS, strip_leading_space=True)
AT_ONCE = Spelling(excludes=["<|"])  # with which no schema is read on demand


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
        {"vocabulary": LETTERS}, {"vocabulary": SPACED}, {"registry": {"https://a.example/": {}}},
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
        assert other == {"vocabulary": LETTERS}
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


def test_a_refusal_needs_what_its_report_has() -> None:
    """So many refused grammars stay as there is room for, not as many as there are small errors."""
    cache = pdacon.CompileCache(max_bytes=200_000)
    for number in range(20):
        text = f'start: start start | "a{number}"\n//' + "x" * 50_000
        with pytest.raises(pdacon.NondeterministicGrammarError) as caught:
            cache.compile(text, WORDS)
        assert len(caught.value.report.source) > 50_000
    counts = cache.statistics()
    assert 2 <= counts["entries"] <= 3
    assert 50_000 * counts["entries"] < counts["bytes"] <= 200_000
    before = counts["bytes"]
    with pytest.raises(pdacon.NondeterministicGrammarError):
        cache.compile(text, WORDS)
    assert cache.statistics()["bytes"] == before


def test_a_refusal_is_kept_without_what_was_made_before_it() -> None:
    """Else each refused schema would keep its unfinished automata, and nothing would count them."""

    class Large:
        pass

    seen: list[weakref.ref[Large]] = []

    def make() -> Grammar:
        large = Large()
        seen.append(weakref.ref(large))
        return Grammar.from_lark("start: (")

    cache = CompileCache()
    for _ in range(2):
        with pytest.raises(GrammarSyntaxError):
            cache.compile_keyed(("refused",), make, WORDS)
    gc.collect()
    assert [large() for large in seen] == [None]
    assert cache.statistics()["refusals"] == 1


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
    with pytest.raises(TypeError, match=r"CompileCache\.compile has no option limit; did you mean limits\?"):
        cache.compile("json", WORDS, limit=Limits())  # type: ignore[call-arg]


def test_threads_wait_for_one_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    started, go_on = threading.Event(), threading.Event()
    calls = []

    def slowly(*args: Any, **options: Any) -> Compiled:
        calls.append(args)
        started.set()
        assert go_on.wait(20)
        return compile_grammar(*args, **options)

    monkeypatch.setattr(caching, "compile_grammar", slowly)
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

    def cancelled(*args: Any, cancel: Any = None, **options: Any) -> Compiled:
        if cancel is not None:
            started.set()
            assert cancel.wait(20)
            raise CancelledError("the compilation was cancelled")
        return compile_grammar(*args, **options)

    monkeypatch.setattr(caching, "compile_grammar", cancelled)
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
    schemas = [{"type": "array", "items": {"const": k}, "uniqueItems": True} for k in range(40)]
    cache.compile("json", WORDS)
    for schema in schemas:
        cache.compile_schema(schema, WORDS, spelling=AT_ONCE)
        cache.compile("json", WORDS)  # used again and again, so it stays
        assert cache.statistics()["bytes"] <= one * 3.5
    assert cache.statistics()["evictions"] > 0
    assert cache.statistics()["hits"] == 40
    nothing = CompileCache(max_bytes=0)
    assert nothing.compile("json", WORDS).accepts("[]")
    assert nothing.statistics()["entries"] == 0


def test_a_folder_outlives_the_process(tmp_path: Path) -> None:
    cache = CompileCache(directory=tmp_path / "made" / "here")
    cache.compile_schema({"type": "integer"}, WORDS, spelling=AT_ONCE)
    again = CompileCache(directory=tmp_path / "made" / "here")
    assert again.compile_schema({"type": "integer"}, WORDS, spelling=AT_ONCE).accepts("12")
    assert not again.compile_schema({"type": "integer"}, WORDS, spelling=AT_ONCE).accepts("1.5")
    assert (again.statistics()["loads"], again.statistics()["misses"], again.statistics()["hits"]) == (1, 0, 1)
    (file,) = (tmp_path / "made" / "here").iterdir()
    file.write_bytes(file.read_bytes()[:200])
    third = CompileCache(directory=file.parent)
    assert third.compile_schema({"type": "integer"}, WORDS, spelling=AT_ONCE).accepts("12")
    assert third.statistics()["misses"] == 1
    assert file.stat().st_size > 200


def test_what_is_read_on_demand_is_in_no_file(tmp_path: Path) -> None:
    """To make it takes no longer than to read it; with filters, and without texts for each byte, it is whole."""
    cache = CompileCache(directory=tmp_path)
    for made in (cache.compile_schema(SCHEMA, WORDS), cache.compile(Grammar.from_json_schema(SCHEMA), WORDS)):
        assert made.matcher()._is_nested()
    assert (
        cache.compile_keyed(
            ("s",), lambda: Grammar.from_json_schema(SCHEMA), WORDS, on_demand=lambda: schema_on_demand(Schema(SCHEMA))
        )
        .matcher()
        ._is_nested()
    )
    assert list(tmp_path.iterdir()) == []
    cache.compile_schema(SCHEMA, WORDS, filters=[filters.Characters("ascii")])
    cache.compile_schema(SCHEMA, Vocabulary.from_tokens([*(bytes([k]) for k in range(128)), None], [128]))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_package_that_is_installed_over_a_running_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CompileCache(directory=tmp_path)

    def gone(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", gone)
    assert cache.compile_schema({"type": "integer"}, WORDS, spelling=AT_ONCE).accepts("12")
    assert len(list(tmp_path.iterdir())) == 1


def test_the_folder_is_bounded_too(tmp_path: Path) -> None:
    size = len(pdacon.compile(Grammar.from_json_schema({"const": 1}, spelling=AT_ONCE), WORDS).to_bytes())
    cache = CompileCache(max_bytes=3 * size + size // 2, directory=tmp_path)
    for k in range(8):
        cache.compile_schema({"const": k}, WORDS, spelling=AT_ONCE)
    assert len(list(tmp_path.iterdir())) == 3


PROGRAM = """
import sys, pdacon
cache = pdacon.CompileCache(directory=sys.argv[1])
for k in range(12):
    value = (k + int(sys.argv[2])) % 12
    spelling = pdacon.Spelling(excludes=["<|"])
    assert cache.compile_schema({"const": value}, pdacon.Vocabulary.bytes(), spelling=spelling).accepts(str(value))
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


@pytest.fixture(params=["memory", "file", "dir"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """A URL, and fsspec's view of what is there."""
    fsspec = pytest.importorskip("fsspec")
    places = {"memory": "memory://bucket/constraints", "file": f"file://{tmp_path}/a/bucket",
              "dir": f"dir::file://{tmp_path}/a/bucket"}  # fmt: skip
    url = places[request.param]
    files, root = fsspec.core.url_to_fs(url)
    yield url, SimpleNamespace(files=files, root=root, names=lambda: sorted(files.find(root)))
    if request.param == "memory":
        files.store.clear()
        files.pseudo_dirs[:] = [""]


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_machines_share_a_store(store: tuple[str, Any], tmp_path: Path) -> None:
    """Each has its own folder; what one has compiled the others bring into theirs, once."""
    url, there = store
    first = CompileCache(directory=tmp_path / "first", store=url)
    made = first.compile_schema(SCHEMA, WORDS, spelling=AT_ONCE)
    assert counts(first) == (0, 1)
    (name,) = there.names()
    assert there.files.cat_file(name) == next((tmp_path / "first").iterdir()).read_bytes(), "published, and whole"
    other = CompileCache(directory=tmp_path / "other", store=url)
    found = other.compile_schema(SCHEMA, WORDS, spelling=AT_ONCE)
    assert {**other.statistics(), "bytes": 0, "entries": 0} == {
        "hits": 0, "misses": 0, "waits": 0, "loads": 1, "fetches": 1, "refusals": 0, "evictions": 0, "bytes": 0,
        "entries": 0}  # fmt: skip
    assert found.matcher().allowed_mask().tolist() == made.matcher().allowed_mask().tolist()
    there.files.rm(there.root, recursive=True)
    again = CompileCache(directory=tmp_path / "other", store=url)
    again.compile_schema(SCHEMA, WORDS, spelling=AT_ONCE)
    assert (again.statistics()["loads"], again.statistics()["fetches"]) == (1, 0), "the folder has it"


def test_a_store_without_a_folder(store: tuple[str, Any]) -> None:
    url, there = store
    CompileCache(store=url).compile("json", WORDS)
    cache = CompileCache(store=url)
    cache.compile("json", WORDS)
    assert cache.statistics()["fetches"] == 1
    folder = cache._directory
    assert folder is not None
    assert folder.is_dir()
    del cache
    gc.collect()
    assert not folder.exists()
    assert len(there.names()) == 1


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "other"])
def test_a_damaged_object_is_compiled_again(
    store: tuple[str, Any], damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url, there = store
    cache = CompileCache(store=url)
    wanted = cache.compile("json", WORDS).matcher().allowed_mask().tolist()
    (name,) = there.names()
    whole = there.files.cat_file(name)
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    other = pdacon.compile("json", LETTERS).to_bytes()
    there.files.pipe_file(name, {"cut": whole[:middle], "empty": b"", "changed": changed, "other": other}[damage])
    later = CompileCache(directory=tmp_path / "later", store=url)
    assert later.compile("json", WORDS).matcher().allowed_mask().tolist() == wanted
    assert (counts(later), later.statistics()["fetches"]) == ((0, 1), 0)
    assert "is compiled again" in caplog.text
    assert there.files.cat_file(name) == whole, "and put in its place"


def test_a_store_that_fails_under_way_is_no_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fsspec = pytest.importorskip("fsspec")
    cache = CompileCache(store="memory://fails")

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("the network is away")

    for name in ("cat_file", "_open"):
        monkeypatch.setattr(fsspec.get_filesystem_class("memory"), name, refuse)
    assert cache.compile("json", WORDS).accepts("{}")
    assert caplog.text.count("the network is away") == 2
    assert counts(cache) == (0, 1)


@pytest.mark.parametrize("store", ["file", "dir"], indirect=True)  # fsspec's memory:// publishes what is not closed
def test_an_object_is_published_when_it_is_whole(store: tuple[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who writes and dies under way leaves nothing that others find."""
    url, there = store
    ours = ObjectStore(url)
    ours.publish("one", b"first")
    opened = ours._files.open

    class Dies:
        def __init__(self, file: Any) -> None:
            self._file = file

        def __enter__(self) -> Dies:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def write(self, content: bytes) -> None:
            self._file.write(content[:2])
            assert there.files.cat_file(f"{there.root}/one") == b"first"
            raise KeyboardInterrupt

        def discard(self) -> None:
            self._file.discard()

    def dying(path: str, mode: str, **options: Any) -> Any:
        file = opened(path, mode, **options)
        return Dies(file) if mode == "wb" else file

    monkeypatch.setattr(ours._files, "open", dying)
    with pytest.raises(KeyboardInterrupt):
        ours.publish("one", b"second")
    monkeypatch.undo()
    assert ours.read("one") == b"first"
    assert ours.read("none") is None
    assert [Path(name).name for name in there.names()] == ["one"]


def test_a_store_that_cannot_be_asked_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(ValueError, match="nonsense"):
        CompileCache(store="nonsense://x")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"pdacon\[store\]"):
        CompileCache(store="memory://x")


def test_filters_are_kept_in_memory_and_in_files(tmp_path: Path) -> None:
    words, cache = Vocabulary.bytes(), CompileCache(directory=tmp_path)
    korean = [filters.InTerminals("STRING", filters.Scripts(["Hangul"]))]
    ascii_only = [filters.Characters("ascii")]
    plain = cache.compile("json", words)
    assert plain.accepts('["Korea"]')
    for cached in (cache, cache, CompileCache(directory=tmp_path)):
        first, second = cached.compile("json", words, filters=korean), cached.compile("json", words, filters=ascii_only)
        assert first.accepts('["\ud55c\uad6d", true]')
        assert not first.accepts('["Korea", true]')
        assert second.accepts('["Korea", true]')
        assert not second.accepts('["\ud55c\uad6d", true]')
    assert cache.statistics()["misses"] == 3
    assert cached.statistics()["loads"] == 2


def test_filters_of_schemas_and_keys(tmp_path: Path) -> None:
    words = Vocabulary.bytes()
    colours = [filters.InTerminals("STRING", filters.Words(["red", "green"]))]
    for loads, cache in enumerate(CompileCache(directory=tmp_path) for _ in range(2)):
        made = [
            cache.compile_schema({"type": "string"}, words, spelling=AT_ONCE, filters=asked)
            for asked in ([], [filters.Characters("ascii")], [filters.Words(["red"])], [filters.Words(["green"])])
        ]
        texts = ['"red"', '"green"', '"blue"', '"\u00e9"']
        assert [[one.accepts(text) for text in texts] for one in made] == [
            [True] * 4,
            [True, True, True, False],
            [True, False, False, False],
            [False, True, False, False],
        ]
        keyed = [
            cache.compile_keyed(("json",), lambda: Grammar.builtin("json"), words, filters=asked)
            for asked in ([], colours)
        ]
        assert [one.accepts('["blue", true]') for one in keyed] == [True, False]
        assert cache.statistics()["loads"] == 6 * loads


def test_what_is_read_on_demand_is_counted_when_it_has_been_used() -> None:
    """Nothing of it is made when it is kept."""
    cache = CompileCache(max_bytes=60_000)
    for k in range(30):
        schema = {"type": "object", "properties": {f"p{k}": {"enum": [f"x{k}_{n}" for n in range(50)]}}}
        matcher = cache.compile_schema(schema, WORDS).matcher()
        matcher.accept_bytes(f'{{"p{k}": "x{k}_'.encode())
        assert matcher.allowed_tokens()
    counts = cache.statistics()
    assert counts["evictions"] > 0
    assert 0 < counts["entries"] < 30
    assert CompileCache(max_bytes=0).compile_schema(True, WORDS).accepts("1")
