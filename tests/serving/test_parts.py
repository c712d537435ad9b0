"""The parts of the server by themselves: texts of tokens, the choice of tokens, what a full server does."""

from __future__ import annotations

import asyncio
import ctypes
import json
import random
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import openai
import pytest
import torch
from serving.conftest import KEY, Running

import pdacon
from pdacon.errors import CancelledError
from pdacon.front.answer_readers import reader_with
from pdacon.frontends.tool_formats import AnswerEvent, answer_values
from pdacon.integrations import workers
from pdacon.integrations.answer_formats import Format, Kind
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.worker import Written
from pdacon.serving import ServerSettings
from pdacon.serving.answers import Answer, Piece
from pdacon.serving.chat import ending_of, message_of
from pdacon.serving.failures import RequestError
from pdacon.serving.metrics import Metrics
from pdacon.serving.request_constraints import Compiler
from pdacon.serving.response_formats import Wanted
from pdacon.serving.token_choice import Sampling, chosen
from pdacon.serving.writing import Writer

ON_GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim")
VOCABULARY = pdacon.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)] + [None], eos_ids=[256])


def wanted_of(kind: Kind, text: str, param: str = "response_format") -> Wanted:
    return Wanted(Format.of(kind, text), param)


def text_of(events: Sequence[AnswerEvent]) -> str:
    assert {event.kind for event in events} <= {"text"}
    return "".join(event.text for event in events)


@pytest.mark.parametrize("stops", [(), ("ab",), ("ab", "b"), ("aba", "bab"), ("€", "a€")])
def test_texts_end_before_the_first_stop_text_however_they_are_cut(stops: tuple[str, ...]) -> None:
    draw = random.Random(str(stops))
    for _ in range(200):
        text = "".join(draw.choice("ab€c") for _ in range(draw.randrange(8)))
        places = [text.find(stop) for stop in stops if stop in text]
        writer, written, spelled = Writer(VOCABULARY, stops), "", text.encode()
        while spelled and not writer.stopped:
            size = draw.randrange(1, 4)
            piece = text_of(writer.add(list(spelled[:size])))
            assert "\ufffd" not in piece
            written, spelled = written + piece, spelled[size:]
        written += "" if writer.stopped else text_of(writer.end(cut=False))
        assert written == text[: min(places, default=len(text))]
        assert writer.stopped == bool(places)


def test_characters_that_are_cut_are_left_out_and_wrong_bytes_are_shown() -> None:
    writer = Writer(VOCABULARY)
    assert (writer.add([0xE2, 0x82]), writer.end(cut=False)) == ([], [])
    assert text_of(Writer(VOCABULARY).add([0xFF, 0x61])) == "\ufffda"


@pytest.mark.slow
def test_tokens_are_drawn_with_the_probabilities_that_are_asked_for() -> None:
    scores = torch.tensor([[1.0, 3.0, -torch.inf, 2.0, 2.5]])
    for options, kept in (
        ({}, [0, 1, 3, 4]),
        ({"top_k": 2}, [1, 4]),
        ({"top_p": 0.7}, [1, 4]),
        ({"top_p": 1e-9}, [1]),
        ({"temperature": 0.5}, [0, 1, 3, 4]),
    ):
        sampling = Sampling(seed=5, **options)  # type: ignore[arg-type]
        weights = {token: float(torch.exp(scores[0, token] / sampling.temperature)) for token in kept}
        drawn = Counter(int(chosen(scores, [sampling])[0]) for _ in range(3000))
        assert set(drawn) <= set(kept)
        for token, weight in weights.items():
            share = weight / sum(weights.values())
            assert abs(drawn[token] / 3000 - share) < 5 * (share * (1 - share) / 3000) ** 0.5 + 1e-9
    assert int(chosen(scores, [Sampling(0.0)])[0]) == 1


def test_each_row_draws_by_itself() -> None:
    scores = torch.randn(3, 50, generator=torch.Generator().manual_seed(0))
    together = chosen(scores, [Sampling(seed=1), Sampling(0.0), Sampling(seed=2, top_k=5)])
    alone = [chosen(scores[:1], [Sampling(seed=1)]), chosen(scores[1:2], [Sampling(0.0)])]
    assert together.tolist()[:2] == [int(one[0]) for one in alone]
    assert int(together[2]) == int(chosen(scores[2:], [Sampling(seed=2, top_k=5)])[0])


@pytest.mark.slow
def test_a_full_server_says_so_and_one_that_stops_ends_what_runs() -> None:
    running = Running(ServerSettings(model_name="tiny", api_keys=(KEY,), max_requests=2, shutdown_seconds=20))
    asked: Any = {"model": "tiny", "prompt": "x", "max_tokens": 60}
    busy: Any = {"response_format": {"type": "regex", "regex": "a{500}"}}
    try:
        with running.client() as client:
            streams = [client.completions.create(**asked, stream=True, extra_body=busy) for _ in range(2)]
            with pytest.raises(openai.InternalServerError, match="too many answers"):
                client.completions.create(**asked, extra_body=busy)
            with pytest.raises(openai.BadRequestError, match="n is 3; at most 2"):  # it never has room
                client.completions.create(**asked, n=3)
            texts = ["".join(piece.choices[0].text for piece in stream) for stream in streams]
        assert all(set(text) == {"a"} for text in texts)
    finally:
        running.stop()


@pytest.mark.parametrize("wrong", [{"batch_size": 0}, {"max_tokens": True}, {"api_keys": ("",)}, {"api_keys": "key"}])
def test_settings_that_make_no_sense_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ServerSettings(**wrong)


@pytest.mark.parametrize(
    "arguments", ['{"x": 1e999}', f'{{"x": {"9" * 5000}}}', "[" * 3000 + "]" * 3000, r'{"}, {\"": "\\"}']
)
def test_arguments_stay_as_they_are_written(arguments: str) -> None:
    """Neither numbers nor depth are read, and what is within strings is no mark."""
    values = answer_values([{"name": "f", "parameters": {}}, {"name": "g"}], "json", "auto", True, False)
    writer, answer = Writer(VOCABULARY, (), reader_with(values, VOCABULARY, False)), Answer()
    text = f'say "hi"\n{{"name": "f", "arguments": {arguments}}}\n{{"name": "g", "arguments": {{}}}}'
    for token in text.encode():
        answer.add(Piece(0, writer.add([token]), [], [], None))
    answer.add(Piece(0, writer.end(cut=False), [], [], "stop"))
    message = message_of(answer)
    assert (message["content"], ending_of(answer)) == ('say "hi"', "tool_calls")
    functions = [call["function"] for call in message["tool_calls"]]
    assert functions == [{"name": "f", "arguments": arguments}, {"name": "g", "arguments": "{}"}]
    assert len({call["id"] for call in message["tool_calls"]}) == 2


def test_warnings_of_grammars_are_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    compiler = Compiler(VOCABULARY, ServerSettings(), Metrics("tiny"))
    text = 'start: "a" COLOUR | ANY\nANY.2: /[a-z]+/\nCOLOUR: /red|blue/\n'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(compiler.constraint(wanted_of("lark", text, "structured_outputs")))
    (record,) = caplog.records
    said = json.loads(record.message)
    assert (record.name, said["param"], said["kind"]) == ("pdacon.serving", "structured_outputs", "GrammarWarning")
    assert '"a" is never matched' in said["warning"]
    compiler.close()


def test_notes_of_schemas_are_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    compiler = Compiler(VOCABULARY, ServerSettings(), Metrics("tiny"))
    for _ in range(2):  # once, since the second is known
        asyncio.run(compiler.constraint(wanted_of("schema", '{"type": "string", "nullable": true}')))
    (record,) = caplog.records
    said = json.loads(record.message)
    assert (said["param"], said["kind"]) == ("response_format", "GrammarWarning")
    assert said["warning"].startswith("#: nullable: ")
    compiler.close()


def test_formats_are_compiled_in_other_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(FormatCompiler, "_compiled_here", lambda *told: pytest.fail("it is compiled here"))
    wanted = wanted_of("regex", "[ab]")
    loads = []
    for folder in (None, tmp_path, tmp_path):  # the last one finds the file of the one before
        compiler = Compiler(VOCABULARY, ServerSettings(cache_directory=folder), Metrics("tiny"))
        constraint = asyncio.run(compiler.constraint(wanted))
        assert constraint.accepts("a")
        assert asyncio.run(compiler.constraint(wanted)) is constraint
        loads.append(compiler.cache.statistics()["loads"])
        assert (constraint._loaded_bytes == 0) == (folder is not None)  # what is mapped needs no memory
        compiler.close()
    assert loads == [0, 0, 1]


def test_a_process_that_ends_is_an_error_of_the_server_for_one_request(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics("tiny")
    compiler = Compiler(VOCABULARY, ServerSettings(), metrics)
    large = "\n".join(f'r{n}: "a{n}" r{n + 1} | "b" r{n // 2}' for n in range(4_000))

    async def ask() -> None:
        assert compiler._workers is not None
        await compiler.constraint(wanted_of("regex", "a"))
        (worker,) = compiler._workers._all
        asyncio.get_running_loop().call_later(0.3, worker._process.kill)
        with pytest.raises(RequestError) as failed:
            await compiler.constraint(wanted_of("lark", f'start: r0\n{large}\nr4000: "x"'))
        assert (failed.value.status, failed.value.code) == (500, "failed")
        await compiler.constraint(wanted_of("regex", "b"))

    asyncio.run(ask())
    (record,) = caplog.records
    assert "a compiling process has ended" in json.loads(record.message)["error"]
    assert b'pdacon_compile_processes_failed_total{model="tiny"} 1.0' in metrics.text("")[0]
    compiler.close()


def test_what_no_file_can_hold_is_compiled_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.Workers, "compile", lambda *told, **options: Written(b"", False))
    compiler = Compiler(VOCABULARY, ServerSettings(), Metrics("tiny"))
    assert asyncio.run(compiler.constraint(wanted_of("regex", "a"))).accepts("a")
    compiler.close()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Compilations in threads end once this is set."""
    go = Event()

    def compiled(compiler: FormatCompiler, cache: Any, format: Format, cancel: Any) -> pdacon.Constraint:
        while not go.wait(0.01):
            if cancel.is_set():
                raise CancelledError("the compilation was cancelled")
        return before(compiler, cache, format, cancel)

    before = FormatCompiler._compiled_here
    monkeypatch.setattr(FormatCompiler, "_compiled_here", compiled)
    yield go
    go.set()


def test_only_compilations_count_as_such(slow: Event) -> None:
    """Neither those who wait for the same one, however it is spelled, nor who asks for what is in memory."""
    compiler = Compiler(
        VOCABULARY, ServerSettings(max_compiles=1, compile_workers=1, compile_in="threads"), Metrics("tiny")
    )
    same = wanted_of("schema", '{"minimum": 3, "type": "integer"}')
    alike = wanted_of("schema", '{"type": "integer", "minimum": 3}')
    other, known = wanted_of("regex", "a"), wanted_of("regex", "b")

    async def ask() -> None:
        slow.set()
        first = await compiler.constraint(known)
        slow.clear()
        waiting = [asyncio.ensure_future(compiler.constraint(one)) for one in [same, alike] * 100]
        while compiler._statistics()["waits"] < 199:
            await asyncio.sleep(0.01)
        waiting[0].cancel()  # the others go on
        assert await compiler.constraint(known) is first
        with pytest.raises(RequestError, match="too many grammars"):
            await compiler.constraint(other)
        slow.set()
        answers = await asyncio.gather(*waiting[1:])
        assert {*map(id, answers)} == {id(answers[0])}
        await compiler.constraint(other)

    asyncio.run(ask())
    counts = compiler._statistics()
    assert (counts["misses"], counts["waits"]) == (3, 199)
    compiler.close()


def test_a_compilation_that_nobody_waits_for_has_no_place(slow: Event) -> None:
    compiler = Compiler(
        VOCABULARY, ServerSettings(max_compiles=2, compile_workers=1, compile_in="threads"), Metrics("tiny")
    )
    wanted = [wanted_of("regex", text) for text in "ab"]

    async def ask() -> None:
        waiting = [asyncio.ensure_future(compiler.constraint(one)) for one in wanted * 2]
        while compiler._statistics()["waits"] < 2:
            await asyncio.sleep(0.01)
        for one in waiting:
            one.cancel()
        assert {type(one) for one in await asyncio.gather(*waiting, return_exceptions=True)} == {asyncio.CancelledError}
        slow.set()
        assert (await compiler.constraint(wanted[0])).accepts("a")
        assert (await compiler.constraint(wanted[1])).accepts("b")

    asyncio.run(ask())
    assert compiler._metrics.compiles_waiting._value.get() == 0
    compiler.close()


def test_requests_that_wait_are_bounded(slow: Event) -> None:
    compiler = Compiler(VOCABULARY, ServerSettings(max_requests=2, compile_in="threads"), Metrics("tiny"))
    wanted = wanted_of("regex", "a")

    async def ask() -> None:
        waiting = [asyncio.ensure_future(compiler.constraint(wanted)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="too many requests wait"):
            await compiler.constraint(wanted)
        slow.set()
        await asyncio.gather(*waiting)
        await compiler.constraint(wanted)

    asyncio.run(ask())
    compiler.close()


def test_a_refusal_is_the_same_for_all_who_ask() -> None:
    compiler = Compiler(VOCABULARY, ServerSettings(max_compiles=1), Metrics("tiny"))
    for text in ("(", "{"):  # the second is no JSON
        wanted = wanted_of("regex" if text == "(" else "schema", text)
        for _ in range(2):
            with pytest.raises(RequestError) as refused:
                asyncio.run(compiler.constraint(wanted))
            assert refused.value.status == 400
    compiler.close()


FREED = """
import asyncio, importlib.util, re
from contextlib import suppress
from pathlib import Path
import pdacon

# By itself: with what its package imports, PyTorch among it, this takes ten times as long.
place = Path(pdacon.__file__).with_name("serving") / "memory.py"
spec = importlib.util.spec_from_file_location("memory", place)
memory = importlib.util.module_from_spec(spec)
spec.loader.exec_module(memory)

def mebibytes():
    return int(re.search(r"RssAnon:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10

async def until_it_falls(before):
    giving = asyncio.create_task(memory.give_back())
    for _ in range(600):  # a minute at most, where the machine is busy
        await asyncio.sleep(0.1)
        if mebibytes() < before - 150:
            break
    giving.cancel()
    with suppress(asyncio.CancelledError):
        await giving

memory._SECONDS = 0.01
blocks = [bytearray(size) for size in (100_000, 600) * 2000]
del blocks[::2]
before = mebibytes()
asyncio.run(until_it_falls(before))
print(before - mebibytes(), len(blocks))
"""


@pytest.mark.slow
@pytest.mark.skipif(not ON_GLIBC, reason="another C library than glibc")
def test_free_memory_goes_back_to_the_system() -> None:
    """Blocks that are free between others that are not, as a model's thread leaves them; in a process of its own."""
    done = subprocess.run([sys.executable, "-P", "-c", FREED], capture_output=True, text=True, check=True, timeout=120)
    freed, kept = map(int, done.stdout.split())
    assert freed > 150
    assert kept == 2000
