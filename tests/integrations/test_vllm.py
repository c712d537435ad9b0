"""What pdacon does in vLLM, without vLLM: `tests/engines/run.sh vllm` starts the real one."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
import torch
from prometheus_client import CollectorRegistry
from transformers import PreTrainedTokenizerFast as FastTokenizer

import pdacon
from pdacon.base.limits import Limits
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.vllm import backend, environment_settings, plugin, register, requests
from pdacon.integrations.vllm.figures import Figures
from pdacon.integrations.vllm.tracking import TrackedAnswer

WIDTH = 512
WORDS = -(-pdacon.Vocabulary.bytes().size // 32)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in (environment_settings.WANTED, environment_settings.SECONDS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(environment_settings.CACHE, str(tmp_path))
    requests.settings.cache_clear()
    monkeypatch.setattr(requests, "_known", WeakKeyDictionary())  # compilers of other tests, with other folders
    return monkeypatch


def model_config(ends: Any = None, width: int = WIDTH) -> Any:
    return SimpleNamespace(get_vocab_size=lambda: width, try_get_generation_config=lambda: {"eos_token_id": ends})


def vllm_config(ends: Any = None, drafts: int = 3) -> Any:
    return SimpleNamespace(model_config=model_config(ends), num_speculative_tokens=drafts)


def option(name: str) -> Any:
    return SimpleNamespace(name=name)


def asked(**said: Any) -> Any:
    names = ("json", "regex", "choice", "grammar", "json_object", "structural_tag", "whitespace_pattern")
    flags = dict.fromkeys(("disable_any_whitespace", "disable_additional_properties"), False)
    options = {**dict.fromkeys(names), **flags, **said}
    ignore = options.pop("ignore_eos", False)
    return SimpleNamespace(structured_outputs=SimpleNamespace(**options), ignore_eos=ignore)


def allowed(answer: TrackedAnswer, size: int) -> list[int]:
    mask = torch.full((3, -(-size // 32)), -1, dtype=torch.int32)
    answer.fill_bitmask(mask, 1)
    assert (mask[[0, 2]] == -1).all(), "another request's row was written"
    bits = np.unpackbits(mask[1].numpy().view(np.uint8), bitorder="little", count=size)
    return [int(token) for token in np.flatnonzero(bits)]


def answer_of(text: str, rollback: int = 0) -> TrackedAnswer:
    words = pdacon.Vocabulary.bytes()
    return TrackedAnswer(pdacon.compile(pdacon.Grammar.from_regex(text), words), rollback, words.eos_ids)


def test_vllm_finds_the_plugin() -> None:
    (found,) = [one for one in entry_points(group="vllm.general_plugins") if one.name == "pdacon"]
    assert found.load() is register


def test_formats_are_counted(environment: pytest.MonkeyPatch) -> None:
    """Under the names of `pdacon serve`; one that is refused, too."""
    registry = CollectorRegistry()
    counted, compiler = Figures(registry), FormatCompiler(pdacon.Vocabulary.bytes(), Limits())
    for text in ("a+", "a+", "(", "a+"):
        with suppress(requests.RefusedRequest), counted.counting(compiler.cache):
            requests.check(asked(regex=text), "REGEX", text, compiler)
    assert registry.get_sample_value("pdacon_compile_seconds_count") == 4
    assert registry.get_sample_value("pdacon_refused_grammars_total") == 1
    ways = {how: registry.get_sample_value("pdacon_cache_answers_total", {"how": how}) for how in ("hits", "misses")}
    assert ways == {"hits": 2, "misses": 2}


def test_a_cache_that_is_gone_is_not_counted_for_another() -> None:
    """The identity of an object is that of another once it is gone; a cache is told from others as itself."""
    registry = CollectorRegistry()
    counted = Figures(registry)
    for _ in range(20):  # each misses once; many of them lie where the one before has been
        compiler = FormatCompiler(pdacon.Vocabulary.bytes(), Limits())
        with counted.counting(compiler.cache):
            requests.check(asked(regex="a+"), "REGEX", "a+", compiler)
        del compiler
        gc.collect()
    assert registry.get_sample_value("pdacon_cache_answers_total", {"how": "misses"}) == 20


def test_it_does_nothing_unless_it_is_asked_to(environment: pytest.MonkeyPatch) -> None:
    register()
    environment.setenv(environment_settings.WANTED, "0")
    register()


def test_a_yes_that_is_misspelled_is_no_no(environment: pytest.MonkeyPatch) -> None:
    environment.setenv(environment_settings.WANTED, "true")
    with pytest.raises(ValueError, match="write PDACON_VLLM=1"):
        register()


def test_another_vllm_does_not_start(environment: pytest.MonkeyPatch) -> None:
    environment.setenv(environment_settings.WANTED, "1")
    environment.setitem(sys.modules, "vllm", None)  # as if it had no such modules
    with pytest.raises(RuntimeError, match="does not fit this vLLM"):
        register()


@pytest.mark.parametrize("seconds", ["soon", "-1"])
def test_seconds_that_are_none(environment: pytest.MonkeyPatch, seconds: str) -> None:
    environment.setenv(environment_settings.SECONDS, seconds)
    with pytest.raises(ValueError, match="it is a number of seconds"):
        environment_settings.read_settings()


def test_settings_are_read_from_the_environment(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv(environment_settings.SECONDS, "2.5")
    read = environment_settings.read_settings()
    assert (read.limits.seconds, read.cache_directory, read.cache_store) == (2.5, str(tmp_path), None)
    environment.setenv(environment_settings.STORE, "memory://fleet")
    assert environment_settings.read_settings().cache_store == "memory://fleet"


@pytest.mark.slow
def test_a_folder_of_its_own_is_removed_by_whom_it_is_of() -> None:
    code = """if True:
        import os
        from pdacon.integrations.vllm.environment_settings import read_settings
        folder = read_settings().cache_directory
        child = os.fork()
        if not child:
            raise SystemExit(0 if read_settings().cache_directory == folder else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert os.path.isdir(folder)
        print(folder)
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PDACON_")}
    ran = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, env=clean, check=True)
    assert ran.stdout.strip()
    assert not Path(ran.stdout.strip()).exists()


def test_an_answer_goes_through_drafts_and_back() -> None:
    answer = answer_of("ab*c", rollback=3)
    a, b, c, end = ord("a"), ord("b"), ord("c"), 256
    assert answer.validate_tokens([a, b, b, c, end, a]) == [a, b, b, c, end]
    assert answer.validate_tokens([a, b, -1, c]) == [a, b]
    assert answer.validate_tokens([b]) == []
    assert answer.accept_tokens("r", [a, b])
    assert allowed(answer, 257) == [b, c]
    assert answer.accept_tokens("r", [c])
    assert allowed(answer, 257) == [end]
    assert answer.accept_tokens("r", [end])
    answer.rollback(2)
    assert allowed(answer, 257) == [b, c]
    answer.reset()
    assert allowed(answer, 257) == [a]


def test_nothing_but_an_end_may_follow_an_end() -> None:
    answer = answer_of("a")
    assert answer.accept_tokens("r", [ord("a"), 256])
    assert not answer.is_terminated(), "vLLM would allow everything"
    assert 97 not in allowed(answer, 257)
    assert not answer.accept_tokens("r", [ord("a")])


@pytest.mark.parametrize("token", [ord("b"), 10_000, -1])
def test_a_token_that_is_not_allowed_ends_the_request(token: int) -> None:
    assert not answer_of("a+").accept_tokens("r", [ord("a"), token])


@pytest.mark.parametrize("name", ["fill_bitmask", "validate_tokens", "accept_token", "rollback"])
def test_an_error_never_reaches_the_engine_and_opens_nothing(name: str) -> None:
    """Whatever fails: an end alone is allowed from then on, and no token is accepted, that end included."""
    answer = answer_of("a+", rollback=1)

    class Broken:
        def __getattr__(self, called: str) -> Any:
            raise RuntimeError(f"{called} failed")

    assert answer.accept_tokens("r", [ord("a")])
    answer._matcher = Broken()  # type: ignore[assignment]
    if name == "fill_bitmask":
        assert allowed(answer, 257) == [256]
    elif name == "validate_tokens":
        assert answer.validate_tokens([ord("a")]) == []
    elif name == "accept_token":
        assert not answer.accept_tokens("r", [ord("a")])
    else:
        answer.rollback(1)
    assert isinstance(answer.failure, RuntimeError)
    answer.rollback(1)
    answer.reset()
    assert answer.validate_tokens([ord("a")]) == []
    assert allowed(answer, 257) == [256]
    assert not answer.accept_tokens("r", [256])


def test_more_depth_than_the_limits_allow_ends_the_request() -> None:
    words = pdacon.Vocabulary.bytes()
    constraint = pdacon.compile('start: "(" start ")" | "x"', words, limits=Limits(depth=50))
    answer = TrackedAnswer(constraint, 0, words.eos_ids)
    accepted = 0
    while answer.accept_tokens("r", [ord("(")]):
        accepted += 1
        assert accepted < 100
    assert allowed(answer, 257) == [256]
    assert not answer.accept_tokens("r", [ord("x")])


@pytest.mark.parametrize("end", [31, 32, 63])
def test_ends_of_any_place_in_a_word(end: int) -> None:
    words = pdacon.Vocabulary.from_tokens([b"a"] * end + [None], eos_ids=[end])
    answer = TrackedAnswer(pdacon.compile('start: "a"', words), 0, words.eos_ids)
    assert not answer.accept_tokens("r", [1000])
    assert allowed(answer, end + 1) == [end]


def test_a_configuration_is_asked_for_its_ends_once(environment: pytest.MonkeyPatch, tokenizer: FastTokenizer) -> None:
    """vLLM reads a file for them, which took 4 ms of each request."""
    wide, reads = WIDTH + 64, []  # of no other test
    config = model_config(width=wide)
    read = config.try_get_generation_config
    config.try_get_generation_config = lambda: reads.append(1) or read()
    first = requests.compiler_for(tokenizer, config)
    assert requests.compiler_for(tokenizer, config) is first
    assert len(reads) == 1
    assert requests.compiler_for(tokenizer, model_config(width=wide)) is first, "another that says the same"
    other = requests.compiler_for(tokenizer, model_config(tokenizer.convert_tokens_to_ids("<end>"), wide))
    assert other.vocabulary.eos_ids != first.vocabulary.eos_ids


def test_the_back_end_compiles_what_the_front_end_has_left(
    environment: pytest.MonkeyPatch, tokenizer: FastTokenizer
) -> None:
    config = vllm_config(ends=tokenizer.convert_tokens_to_ids(["<eos>", "<end>"]))
    own = backend.Backend(config, tokenizer)
    compiler = requests.compiler_for(tokenizer, config.model_config)
    assert requests.compiler_for(tokenizer, config.model_config) is compiler, "the vocabulary is read once"
    assert compiler.vocabulary.size == WIDTH
    assert set(compiler.vocabulary.eos_ids) == set(tokenizer.convert_tokens_to_ids(["<eos>", "<end>"]))
    schema = json.dumps({"type": "integer", "minimum": 10})
    requests.check(asked(json=schema), "JSON", schema, compiler)
    stops = set(compiler.vocabulary.eos_ids)
    answer = own.compile_grammar(option("JSON"), schema, stop_token_ids=stops)
    ids = tokenizer.encode("12", add_special_tokens=False)
    assert answer.accept_tokens("r", [*ids, compiler.vocabulary.eos_ids[0]])
    assert tuple(own.allocate_token_bitmask(5).shape) == (5, WIDTH // 32)
    assert compiler.cache.statistics()["misses"] == 1
    said = requests.settings()
    cache = pdacon.CompileCache(directory=said.cache_directory)
    compiler.constraint("regex", "[ab]+")
    other = FormatCompiler(compiler.vocabulary, said.limits, cache)  # as in another process
    other.constraint("regex", "[ab]+")
    assert cache.statistics()["loads"] == 1
    other.constraint("schema", schema)  # which takes no longer to make than a file to read
    assert cache.statistics()["misses"] == 1


def test_a_request_that_would_not_stop_at_an_end_is_refused(
    environment: pytest.MonkeyPatch, tokenizer: FastTokenizer
) -> None:
    own = backend.Backend(vllm_config(ends=tokenizer.convert_tokens_to_ids("<end>")), tokenizer)
    with pytest.raises(requests.RefusedRequest, match="does not stop at"):
        own.compile_grammar(option("REGEX"), "a", stop_token_ids={tokenizer.eos_token_id})


@pytest.mark.parametrize(
    ("name", "text", "said", "why"),
    [
        ("JSON", '{"type": "array", "uniqueItems": true}', {}, r"structured_outputs\.json: #: uniqueItems"),
        ("JSON", "no JSON", {}, r"structured_outputs\.json"),
        ("GRAMMAR", "start: x", {}, r"structured_outputs\.grammar: .*'x' is used but not defined"),
        ("GRAMMAR", "start: x\n%import .y (x)", {}, "a request has no files"),
        ("REGEX", "(", {}, r"structured_outputs\.regex"),
        ("REGEX", "a" * 600_000, {}, "600,000 characters"),
        ("STRUCTURAL_TAG", "{}", {}, r"structured_outputs\.structural_tag"),
        ("OTHER", "", {}, "no format OTHER"),
        ("REGEX", "a", {"whitespace_pattern": " "}, "whitespace_pattern is about JSON"),
        ("JSON", "{}", {"whitespace_pattern": "[ ]*"}, r"whitespace_pattern: .*for ever; bound it"),
        ("JSON", "{}", {"whitespace_pattern": "x"}, "something else than blanks"),
        ("JSON", "{}", {"whitespace_pattern": " ", "disable_any_whitespace": True}, "say the same; give one"),
        ("JSON", '{"x-pdacon": {"whitespace": "any"}}', {"disable_any_whitespace": True}, "leave one out"),
        ("JSON", '{"x-pdacon": {"whitespaces": "any"}}', {}, "did you mean whitespace"),
        ("JSON", '{"x-pdacon": {"whitespace": "model"}}', {}, r"structured_outputs\.json: #: x-pdacon: whitespace is"),
        ("JSON_OBJECT", "", {"json_object": False}, "leave structured_outputs out"),
        ("REGEX", "a", {"ignore_eos": True}, "ignore_eos"),
    ],
)
def test_refusals(
    environment: pytest.MonkeyPatch, tokenizer: FastTokenizer, name: str, text: str, said: dict[str, Any], why: str
) -> None:
    compiler = requests.compiler_for(tokenizer, model_config())
    with pytest.raises(requests.RefusedRequest, match=why):
        requests.check(asked(**said), name, text, compiler)


@pytest.mark.parametrize(
    ("name", "text", "said", "good", "bad"),
    [
        ("JSON", '{"properties": {"a": {}}}', {}, '{"a": 1}', '{"a":1}'),
        ("JSON", '{"properties": {"a": {}}}', {"whitespace_pattern": "[ ]?"}, '{"a" :1 }', '{"a":  1}'),
        ("JSON", '{"properties": {"a": {}}}', {"disable_any_whitespace": True}, '{"a": 1}', '{"a":1}'),
        ("JSON", '{"properties": {"a": {}}}', {"disable_additional_properties": True}, '{"a": 1}', '{"b": 1}'),
        ("JSON", '{"x-pdacon": {"whitespace": "usual"}}', {}, '{\n  "b":1\n}', '{"b"  : 1}'),
        ("JSON_OBJECT", "", {"json_object": True, "whitespace_pattern": ""}, '{"a":1}', '{"a": 1}'),
        ("JSON", "true", {"whitespace_pattern": ""}, "[1,2]", "[1, 2]"),
    ],
)
def test_how_json_is_written_comes_to_the_engine(
    environment: pytest.MonkeyPatch,
    tokenizer: FastTokenizer,
    name: str,
    text: str,
    said: dict[str, Any],
    good: str,
    bad: str,
) -> None:
    """What the front end leaves in the parameters is all that the engine has."""
    compiler = requests.compiler_for(tokenizer, model_config())
    params = asked(**{"json": text if name == "JSON" else None, **said})
    for _ in range(2):  # parameters may be used again
        requests.check(params, name, text, compiler)
        left = params.structured_outputs
        if left.json is not None:
            name, text = "JSON", left.json
    constraint = requests.constraint(compiler, name, text)
    assert constraint.accepts(good)
    assert not constraint.accepts(bad)


def test_the_environment_says_how_json_is_written(environment: pytest.MonkeyPatch, tokenizer: FastTokenizer) -> None:
    environment.setenv(environment_settings.JSON, '{"whitespace": "compact", "closed": true}')
    requests.settings.cache_clear()
    compiler = requests.compiler_for(tokenizer, model_config())
    constraint = requests.constraint(compiler, "JSON", '{"properties": {"a": {}}}')
    assert constraint.accepts('{"a":1}')
    assert not constraint.accepts('{"a": 1}')
    assert not constraint.accepts('{"b":1}')
    tag = '{"format": {"type": "json_schema", "json_schema": {"properties": {"a": {}}}}, "type": "structural_tag"}'
    tagged = requests.constraint(compiler, "STRUCTURAL_TAG", tag)
    assert (tagged.accepts('{"a":1}'), tagged.accepts('{"a": 1}'), tagged.accepts('{"b":1}')) == (True, False, False)
    own = requests.constraint(compiler, "JSON", '{"properties": {"a": {}}, "x-pdacon": {"whitespace": "any"}}')
    assert own.accepts('{ "a" : 1}')
    assert not own.accepts('{"b":1}')
    environment.setenv(environment_settings.JSON, '{"whitespace": 1}')
    requests.settings.cache_clear()
    with pytest.raises(ValueError, match="PDACON_VLLM_JSON: whitespace is"):
        requests.settings()


def test_two_back_ends_at_once_are_refused() -> None:
    requests.require_own_backend("auto")
    with pytest.raises(requests.RefusedRequest, match="for xgrammar; leave one of them out"):
        requests.require_own_backend("xgrammar")


class Manager:
    """As much of vLLM's manager of structured outputs as writes masks."""

    def __init__(self, rows: int) -> None:
        self._grammar_bitmask = torch.zeros((rows, WORDS), dtype=torch.int32)
        self.filled: list[list[int]] = []  # rows, by call

    def _fill_bitmasks(self, batch: Iterable[tuple[TrackedAnswer, int, bool, tuple[int, ...]]]) -> None:
        self.filled.append([])
        for answer, row, is_masked, _ in batch:
            self.filled[-1].append(row)
            if is_masked and not answer.is_terminated():
                answer.fill_bitmask(self._grammar_bitmask, row)
            else:
                self._grammar_bitmask[row].fill_(-1)

    def _async_submit_fill_bitmask(self, batch: Any) -> Any:
        raise AssertionError("threads are not needed")


class OwnManager(Manager):
    _fill_bitmasks = plugin._filled_at_once(Manager._fill_bitmasks)
    _async_submit_fill_bitmask = plugin._filled_at_once_and_here(Manager._async_submit_fill_bitmask)


def test_a_batch_is_filled_at_once() -> None:
    """It writes what vLLM writes row by row; what no answer masks is vLLM's own matter."""
    answers = [answer_of(text) for text in ("ab", "b+", "[0-9]{3}", "c", "d")]
    assert answers[0].accept_tokens("", [ord("a")])
    answers[1].rollback(5)  # fails
    batch = [(answer, 4 - row, row != 2, ()) for row, answer in enumerate(answers)]
    alone, together = Manager(6), OwnManager(6)
    alone._fill_bitmasks(batch)
    assert together._async_submit_fill_bitmask(batch).result() is None
    assert torch.equal(alone._grammar_bitmask, together._grammar_bitmask)
    assert together.filled == [[2]]
    together._fill_bitmasks(iter(batch[:1]))
    assert together.filled[1:] == [[4]]
