"""What a step costs on a CUDA device, beside other engines: from the chosen tokens there to masked logits there.

    pip install '.[test,bench]' xgrammar && pytest tests/benchmarks/test_device.py --benchmark-enable

A row is one text of the batch, a step one token of each. The time of a step begins with the tokens on the device, which
are fetched, and ends when the device has masked the logits: 131,072 float32 in each row, JSON, values of every kind.
All engines mask the same logits after the same texts, and each has had all texts once before. The second table has the
kernels alone, in a CUDA graph, with masks as often as they come in the texts, beside the time to fill the logits with a
number; the third, steps in which each row has a JSON Schema of its own, when nobody has asked for its masks and when
they are known; the fourth, steps of ``generate`` with Llama models of random weights.

Without a CUDA device they are skipped; without ``--benchmark-enable`` each runs once, on little. Nothing asserts a
time.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import chain, product
from typing import Any

import pytest
import torch
from support.benchmark_texts import beginnings_of_arrays, json_texts
from support.engines import llguidance_tokenizer, xgrammar_tokenizer
from support.real_vocabularies import Coded, coded
from transformers import LlamaConfig, LlamaForCausalLM, LogitsProcessorList

import pdacon
from pdacon.grammar.builtin import builtin_source
from pdacon.integrations.huggingface import PDALogitsProcessor
from pdacon.integrations.torch import DeviceMasks, apply_bitmask, apply_masks

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")

ROWS = [1, 32, 128, 512]
STEPS = 200
SHAPES = {  # hidden size, intermediate size, layers, heads, key-value heads
    "1.5 billion": (2048, 8192, 16, 32, 8),
    "8 billion": (4096, 14336, 32, 32, 8),
}

Step = Callable[[torch.Tensor, list[int] | None], object]  # masks the logits, after the tokens that it is told
Begin = Callable[[], Step]


@pytest.fixture(scope="module")
def tekken() -> Coded:
    return coded("tekken")


@pytest.fixture(scope="module")
def constraint(tekken: Coded) -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("json"), tekken.vocabulary)


def texts_of(tekken: Coded, rows: int, steps: int) -> torch.Tensor:
    """Beginnings of arrays, a different one in each row, as tokens on the device: int64[rows, steps]."""
    return torch.tensor(beginnings_of_arrays(tekken.encode, rows, steps), device="cuda")


def logits_of(tekken: Coded, rows: int) -> torch.Tensor:
    torch.manual_seed(rows)
    return torch.randn(rows, tekken.vocabulary.size, device="cuda")


def matchers_of(constraint: pdacon.Constraint, rows: int) -> list[pdacon.Matcher]:
    return [constraint.matcher(max_rollback=0, keep_text=False) for _ in range(rows)]


def accept(matchers: list[pdacon.Matcher], tokens: list[int] | None) -> None:
    if tokens is not None:
        assert all(matcher.accept_token(token) for matcher, token in zip(matchers, tokens, strict=True))


def with_ids(tekken: Coded, constraint: pdacon.Constraint, rows: int) -> Begin:
    """Masks lie on the device, and a step sends one integer for each row."""
    masks = DeviceMasks(tekken.vocabulary, "cuda")

    def begin() -> Step:
        matchers = matchers_of(constraint, rows)

        def step(logits: torch.Tensor, tokens: list[int] | None) -> None:
            masks.apply(logits, matchers, tokens)

        return step

    return begin


def with_bitmasks(tekken: Coded, constraint: pdacon.Constraint, rows: int) -> Begin:
    """A step sends a mask for each row, as hosts do that keep bitmasks themselves."""
    bitmask = torch.zeros((rows, -(-tekken.vocabulary.size // 32)), dtype=torch.int32, pin_memory=True)
    words = bitmask.numpy()

    def begin() -> Step:
        matchers = matchers_of(constraint, rows)

        def step(logits: torch.Tensor, tokens: list[int] | None) -> None:
            accept(matchers, tokens)
            pdacon.fill_bitmasks(matchers, words)
            apply_bitmask(logits, bitmask.to("cuda", non_blocking=True))

        return step

    return begin


def with_processor(tekken: Coded, constraint: pdacon.Constraint, rows: int) -> Begin:
    """What ``generate`` calls: it compares ids with those of the step before, and copies the scores."""

    def begin() -> Step:
        processor = PDALogitsProcessor(constraint, prompt_length=0, num_beams=1)
        ids = torch.empty((rows, 0), dtype=torch.long, device="cuda")

        def step(logits: torch.Tensor, tokens: list[int] | None) -> None:
            nonlocal ids
            if tokens is not None:
                ids = torch.cat([ids, torch.tensor(tokens, device="cuda").unsqueeze(1)], dim=1)
            processor(ids, logits)

        return step

    return begin


def xgrammar_compiled(tekken: Coded) -> Any:
    import xgrammar

    return xgrammar.GrammarCompiler(xgrammar_tokenizer(tekken), max_threads=1).compile_builtin_json_grammar()


def with_xgrammar(tekken: Coded, constraint: pdacon.Constraint, rows: int, threads: int | str = 1) -> Begin:
    """With its own calls for batches."""
    return by_xgrammar(tekken, [xgrammar_compiled(tekken)] * rows, threads)


def by_xgrammar(tekken: Coded, compiled: list[Any], threads: int | str) -> Begin:
    """Steps of XGrammar's matchers of some compiled grammars, one for each row."""
    import xgrammar

    bitmask = xgrammar.allocate_token_bitmask(len(compiled), tekken.vocabulary.size).pin_memory()
    filler = xgrammar.BatchGrammarMatcher(max_threads=threads)

    def begin() -> Step:
        matchers = [xgrammar.GrammarMatcher(each) for each in compiled]

        def step(logits: torch.Tensor, tokens: list[int] | None) -> None:
            if tokens is not None:
                assert all(filler.batch_accept_token(matchers, tokens))
            filler.batch_fill_next_token_bitmask(matchers, bitmask)
            xgrammar.apply_token_bitmask_inplace(logits, bitmask.to("cuda", non_blocking=True))

        return step

    return begin


def with_llguidance(tekken: Coded, constraint: pdacon.Constraint, rows: int, threads: int | None = 1) -> Begin:
    """With its own calls for batches."""
    import llguidance

    grammar = llguidance.LLMatcher.grammar_from_lark(builtin_source("json")[0])
    first = llguidance.LLMatcher(llguidance_tokenizer(tekken), grammar, log_level=0)
    assert not first.is_error(), first.get_error()
    return by_llguidance(tekken, [first.deep_copy] * rows, threads)


def by_llguidance(tekken: Coded, matcher_makers: list[Callable[[], Any]], threads: int | None) -> Begin:
    """Steps of llguidance's matchers, one for each row."""
    import llguidance
    import llguidance.torch as kernels

    executor = llguidance.LLExecutor(threads)
    bitmask = kernels.allocate_token_bitmask(len(matcher_makers), tekken.vocabulary.size)

    def begin() -> Step:
        matchers = [make() for make in matcher_makers]
        numbered = list(zip(matchers, range(len(matchers)), strict=True))

        def step(logits: torch.Tensor, tokens: list[int] | None) -> None:
            if tokens is not None:
                assert all(matcher.consume_token(token) for matcher, token in zip(matchers, tokens, strict=True))
            kernels.fill_next_token_bitmask_par(executor, numbered, bitmask)
            kernels.apply_token_bitmask_inplace(logits, bitmask.to("cuda", non_blocking=True))

        return step

    return begin


WAYS: dict[str, tuple[str | None, Any]] = {  # what has to be installed, and how it is done
    "pdacon, `DeviceMasks`": (None, with_ids),
    "pdacon, `fill_bitmasks` and `apply_bitmask`": (None, with_bitmasks),
    "pdacon, `PDALogitsProcessor`": (None, with_processor),
    "XGrammar, 1 thread": ("xgrammar", with_xgrammar),
    "XGrammar, its own number of threads": ("xgrammar", partial(with_xgrammar, threads="auto")),
    "llguidance, 1 thread": ("llguidance", with_llguidance),
    "llguidance, its own number of threads": ("llguidance", partial(with_llguidance, threads=None)),
}


def seconds_of_steps(begin: Begin, texts: torch.Tensor, logits: torch.Tensor) -> list[float]:
    """Seconds of each step of the texts, after the first."""
    step, logits = begin(), logits.clone()  # some mask them in place
    step(logits, None)
    spent = []
    for column in range(texts.shape[1]):
        chosen = texts[:, column].contiguous()
        torch.cuda.synchronize()
        began = time.perf_counter()
        step(logits, chosen.tolist())
        torch.cuda.synchronize()
        spent.append(time.perf_counter() - began)
    return spent


def test_steps(tekken: Coded, constraint: pdacon.Constraint, measured: bool, show: Any) -> None:
    table = []
    for rows in ROWS if measured else [2]:
        texts, logits = texts_of(tekken, rows, STEPS if measured else 5), logits_of(tekken, rows)
        for name, (package, way) in WAYS.items():
            if package is not None and find_spec(package) is None:
                continue
            begin = way(tekken, constraint, rows)
            seconds_of_steps(begin, texts, logits)
            spent = list(chain(*(seconds_of_steps(begin, texts, logits) for _ in range(3 if measured else 1))))
            low, high = statistics.median(spent), statistics.quantiles(spent, n=100)[-1]
            table.append([rows, name, f"{low * 1e6:.0f}", f"{high * 1e6:.0f}", f"{low / rows * 1e6:.1f}"])
    show(["rows", "what", "p50 (us)", "p99 (us)", "p50 a row (us)"], table)


def microseconds_of(call: Callable[[], object], rounds: int) -> float:
    """The median time that the device takes for one of 20 calls in a CUDA graph: no launch is waited for."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(20):
            call()
    spent = []
    for _ in range(rounds):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        first.record()
        graph.replay()
        last.record()
        torch.cuda.synchronize()
        spent.append(first.elapsed_time(last) * 1e3 / 20)
    return statistics.median(spent)


def numbers_of_masks(tekken: Coded, constraint: pdacon.Constraint, rows: int) -> torch.Tensor:
    """Numbers of masks on the device, drawn from all that a few texts go through: int64[rows]."""
    numbers = []
    for text in json_texts(40):
        matcher = constraint.matcher(max_rollback=0, keep_text=False)
        for token in tekken.encode(text):
            numbers.append(matcher.mask_id())
            assert matcher.accept_token(token)
    torch.manual_seed(rows)
    return torch.tensor(numbers)[torch.randint(len(numbers), (rows,))].cuda()


def test_kernels(tekken: Coded, constraint: pdacon.Constraint, measured: bool, show: Any) -> None:
    table = []
    kinds = [torch.float32, torch.bfloat16, torch.float16] if measured else [torch.bfloat16]
    for kind, rows in product(kinds, [1, 32, 128, 512] if measured else [2]):
        logits = logits_of(tekken, rows).to(kind)
        ids = numbers_of_masks(tekken, constraint, rows)
        masks = torch.from_numpy(constraint.mask_table()).cuda()
        bitmask = masks[ids]
        calls: dict[str, Callable[[], object]] = {
            "`logits.fill_`": partial(logits.fill_, 0.5),
            "pdacon, `apply_masks`": partial(apply_masks, logits, masks, ids),
            "pdacon, `apply_bitmask`": partial(apply_bitmask, logits, bitmask),
        }
        if find_spec("xgrammar"):
            from xgrammar import apply_token_bitmask_inplace as of_xgrammar

            calls["XGrammar"] = partial(of_xgrammar, logits, bitmask)
        if find_spec("llguidance"):
            from llguidance.torch import apply_token_bitmask_inplace as of_llguidance

            calls["llguidance"] = partial(of_llguidance, logits, bitmask)
        for name, call in calls.items():
            table.append([str(kind)[6:], rows, name, f"{microseconds_of(call, 50 if measured else 1):.1f}"])
    show(["logits", "rows", "what", "the device (us)"], table)


def schemas_of(rows: int) -> list[dict[str, Any]]:
    """A schema for each row, with names of its own."""
    return [
        {
            "type": "object",
            "properties": {f"name_{row}": {"type": "string"}, f"size_{row}": {"type": "integer"}},
            "required": [f"name_{row}", f"size_{row}"],
            "additionalProperties": False,
        }
        for row in range(rows)
    ]


def by_rows_of_schemas(tekken: Coded, schemas: list[dict[str, Any]]) -> Begin:
    constraints = [pdacon.compile(pdacon.Grammar.from_json_schema(schema), tekken.vocabulary) for schema in schemas]
    masks = DeviceMasks(tekken.vocabulary, "cuda")

    def begin() -> Step:
        matchers = [constraint.matcher(max_rollback=0, keep_text=False) for constraint in constraints]

        def step(logits: torch.Tensor, tokens: list[int] | None) -> None:
            masks.apply(logits, matchers, tokens)

        return step

    return begin


def by_xgrammar_of_schemas(tekken: Coded, schemas: list[dict[str, Any]]) -> Begin:
    import xgrammar

    compiler = xgrammar.GrammarCompiler(xgrammar_tokenizer(tekken), max_threads=8)
    return by_xgrammar(tekken, [compiler.compile_json_schema(json.dumps(schema)) for schema in schemas], "auto")


def by_llguidance_of_schemas(tekken: Coded, schemas: list[dict[str, Any]]) -> Begin:
    from llguidance import LLMatcher

    tokenizer = llguidance_tokenizer(tekken)
    grammars = [LLMatcher.grammar_from_json_schema(json.dumps(schema)) for schema in schemas]
    makers = [partial(LLMatcher, tokenizer, grammar, log_level=0) for grammar in grammars]
    return by_llguidance(tekken, makers, None)


def by_glrmask_of_schemas(tekken: Coded, schemas: list[dict[str, Any]]) -> Begin:
    """It has no kernel: pdacon's applies its masks."""
    import glrmask

    vocabulary = tekken.vocabulary
    known = glrmask.Vocab.from_id_to_bytes({token: text for token, text in enumerate(vocabulary.tokens) if text})
    compiled = [glrmask.Grammar.from_json_schema(schema).compile(known) for schema in schemas]
    words = max(-(-vocabulary.size // 32), *(each.mask_len() for each in compiled))
    bitmask = torch.zeros((len(schemas), words), dtype=torch.int32, pin_memory=True)
    rows = list(bitmask.numpy())

    def begin() -> Step:
        states = [each.start() for each in compiled]

        def step(logits: torch.Tensor, tokens: list[int] | None) -> None:
            for at, (state, row) in enumerate(zip(states, rows, strict=True)):
                if tokens is not None:
                    state.commit_token(tokens[at])
                state.fill_mask(row)
            apply_bitmask(logits, bitmask.to("cuda", non_blocking=True), size=vocabulary.size)

        return step

    return begin


WAYS_OF_SCHEMAS: dict[str, tuple[str | None, Any]] = {
    "pdacon, `DeviceMasks`": (None, by_rows_of_schemas),
    "XGrammar, its own number of threads": ("xgrammar", by_xgrammar_of_schemas),
    "llguidance, its own number of threads": ("llguidance", by_llguidance_of_schemas),
    "GLRMask": ("glrmask", by_glrmask_of_schemas),
}


MOST_SCHEMAS = {"xgrammar": 128, "glrmask": 32}  # to compile more of them takes minutes


def test_steps_of_different_schemas(tekken: Coded, measured: bool, show: Any) -> None:
    table = []
    for rows in [1, 32, 128, 512] if measured else [2]:
        schemas = schemas_of(rows)
        texts = [tekken.encode(json.dumps({f"name_{row}": "n" * 40, f"size_{row}": 7})) for row in range(rows)]
        steps = min(len(text) for text in texts)
        tokens = torch.tensor([text[:steps] for text in texts], device="cuda")
        logits = logits_of(tekken, rows)
        for name, (package, way) in WAYS_OF_SCHEMAS.items():
            if package is not None and find_spec(package) is None:
                continue
            if rows > MOST_SCHEMAS.get(package or "", rows):
                continue
            begin = way(tekken, schemas)
            cold = seconds_of_steps(begin, tokens, logits)
            warm = list(chain(*(seconds_of_steps(begin, tokens, logits) for _ in range(5 if measured else 1))))
            times = (statistics.median(cold), max(cold), statistics.median(warm), max(warm))
            table.append([rows, name, *(f"{time * 1e6:.0f}" for time in times)])
    show(["rows", "what", "cold p50 (us)", "cold max (us)", "warm p50 (us)", "warm max (us)"], table)


def llama(shape: tuple[int, int, int, int, int], tokens: int) -> LlamaForCausalLM:
    hidden, intermediate, layers, heads, shared = shape
    config = LlamaConfig(
        vocab_size=tokens,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=shared,
        max_position_embeddings=4096,
        bos_token_id=None,
        eos_token_id=None,  # no text is over before its time
        pad_token_id=0,
        dtype=torch.bfloat16,
    )
    with torch.device("cuda"):
        return LlamaForCausalLM(config).to(torch.bfloat16).eval()


def test_generate(tekken: Coded, constraint: pdacon.Constraint, measured: bool, show: Any) -> None:
    """Steps of ``generate``; what it writes is what a model of random weights makes of the grammar."""
    table = []
    for name, shape in SHAPES.items() if measured else [("small", (64, 128, 2, 4, 2))]:
        model = llama(shape, tekken.vocabulary.size)
        for rows in [1, 32, 128] if measured else [2]:
            steps = 128 if measured else 3
            prompt = torch.full((rows, 16), 1000, device="cuda")
            ways: dict[str, Callable[[], list[Any]]] = {
                "no constraint": list,
                "pdacon": lambda: [PDALogitsProcessor(constraint)],
            }
            if find_spec("xgrammar"):
                from xgrammar.contrib import hf

                compiled = xgrammar_compiled(tekken)
                ways["XGrammar"] = lambda compiled=compiled: [hf.LogitsProcessor(compiled)]
            spent: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(4 if measured else 1):  # in turn; the first does not count
                for way, processors in ways.items():
                    torch.manual_seed(0)
                    torch.cuda.synchronize()
                    began = time.perf_counter()
                    model.generate(
                        prompt,
                        attention_mask=torch.ones_like(prompt),
                        max_new_tokens=steps,
                        do_sample=True,
                        logits_processor=LogitsProcessorList(processors()),
                    )
                    torch.cuda.synchronize()
                    spent[way].append((time.perf_counter() - began) / steps * 1e3)
            for way, times in spent.items():
                seconds = statistics.median(times[1:] or times) / 1e3
                table.append([name, rows, way, f"{seconds * 1e3:.2f}", f"{rows / seconds:.0f}"])
        del model
        torch.cuda.empty_cache()
    show(["parameters", "rows", "what", "a step (ms)", "tokens a second"], table)
