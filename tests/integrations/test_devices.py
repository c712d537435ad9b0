"""Models on a CUDA device: what is written there is what the CPU writes, and what the constraint says.

Skipped where there is none. The embedded model computes in float32, and its margins are wide, so that greedy texts are
the same on both.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, ContinuousBatchingConfig, GenerationConfig

import pdacon
from pdacon.integrations.huggingface import (
    Draft,
    Generator,
    PDALogitsProcessor,
    constrain,
    generate,
    generate_batch,
    load_tiny,
)
from pdacon.integrations.huggingface.masks import ScoreMasks
from pdacon.integrations.huggingface.tiny import tiny_path
from pdacon.integrations.torch import DeviceMasks, _forbid, apply_bitmask, apply_masks

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")

PROMPT = "Describe a person as JSON:"
PROMPTS = [PROMPT, "A list of numbers as JSON:", "Write an arithmetic expression:"]


class Both:
    """The embedded model on the CPU and on the device."""

    def __init__(self) -> None:
        self.cpu, self.tokenizer = load_tiny()
        self.cuda: Any = copy.deepcopy(self.cpu).to("cuda")
        self.json = pdacon.compile("json_dumps", tokenizer=self.tokenizer, model=self.cpu)
        self.sums = pdacon.compile(
            pdacon.Grammar.from_regex("[1-9] [+*] [1-9]"), tokenizer=self.tokenizer, model=self.cpu
        )


@pytest.fixture(scope="module")
def both() -> Both:
    return Both()


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("columns", [65, 96, 1000, 1024])
def test_masks(columns: int, kind: torch.dtype) -> None:
    """Random words, applied by number, one by one, and by the processors' own table."""
    torch.manual_seed(columns)
    words = -(-columns // 32)
    logits = torch.randn(9, columns).to(kind)
    table = torch.randint(-(1 << 31), 1 << 31, (6, words), dtype=torch.int64).to(torch.int32)
    ids = torch.tensor([5, 0, -1, 3, 3, -1, 1, 2, 4])
    wanted = apply_masks(logits.clone(), table, ids, size=columns)
    found = apply_masks(logits.cuda(), table.cuda(), ids.cuda(), size=columns)
    assert torch.equal(found.cpu(), wanted)
    bitmask = table[ids.clamp(min=0)]
    wanted = apply_bitmask(logits.clone(), bitmask, size=columns)
    assert torch.equal(apply_bitmask(logits.cuda(), bitmask.numpy(), size=columns).cpu(), wanted)

    asked = [None if at < 0 else tuple(range(at, columns, 3 + at)) for at in ids.tolist()]
    results = []
    for device in ("cpu", "cuda"):
        masks = ScoreMasks(columns, torch.empty(0, device=device).device, kind)
        masks.find(asked)
        results.append([part.cpu() for part in masks.apply(logits.to(device))])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def test_batches_of_mixed_constraints() -> None:
    """10,000 random batches, masks of several constraints, against plain torch: every dtype, rows apart, free rows."""
    rng = random.Random(0)
    torch.manual_seed(0)
    vocabulary = pdacon.Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), b'":', b"}]", None], eos_ids=[258])
    rows = []
    for grammar in (pdacon.Grammar.builtin("json"), pdacon.Grammar.builtin("sql"), pdacon.Grammar.from_regex("a+b?")):
        matcher = pdacon.compile(grammar, vocabulary).matcher()
        for _ in range(40):
            if matcher.is_terminated():
                matcher.reset()
            words = np.zeros((1, -(-vocabulary.size // 32)), dtype=np.int32)
            matcher.fill_bitmask(words)
            rows.append(words[0])
            assert matcher.accept_token(rng.choice(matcher.allowed_tokens()))
    table = torch.from_numpy(np.stack(rows)).cuda()
    for _ in range(10_000):
        count, columns = rng.randrange(1, 9), vocabulary.size + rng.choice([0, 0, 1, 13, 61])
        kind = rng.choice([torch.float32, torch.float16, torch.bfloat16])
        room = torch.randn(2 * count, columns + 3, device="cuda").to(kind)
        logits = room[::2, 1 : 1 + columns] if rng.random() < 0.5 else room[:count, :columns]
        ids = torch.randint(-1, len(table), (count,), device="cuda")
        untouched = room.clone()
        wanted = _forbid(logits.clone(), table[ids.clamp(min=0)], (ids < 0).unsqueeze(1))
        apply_masks(logits, table, ids, size=vocabulary.size)
        assert torch.equal(logits, wanted)
        logits.copy_(untouched[::2, 1 : 1 + columns] if logits.stride(0) > columns + 3 else untouched[:count, :columns])
        assert torch.equal(room, untouched)  # nothing beside the logits was written


def test_masks_in_a_captured_graph() -> None:
    """The graph reads the ids and the logits that lie there when it runs, whether it was captured first or later."""
    torch.manual_seed(0)
    table = torch.randint(-(1 << 31), 1 << 31, (6, 4), dtype=torch.int64).to(torch.int32).cuda()
    ids = torch.zeros(5, dtype=torch.int64, device="cuda")
    logits = torch.zeros(5, 100, device="cuda")
    for _ in range(2):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            apply_masks(logits, table, ids, size=100)
        for values in ([0, 1, 2, 3, -1], [5, -1, 4, 4, 0]):
            ids.copy_(torch.tensor(values))
            logits.copy_(torch.randn(5, 100))
            wanted = apply_masks(logits.cpu(), table.cpu(), torch.tensor(values), size=100)
            graph.replay()
            assert torch.equal(logits.cpu(), wanted)


def test_masks_of_matchers(both: Both) -> None:
    """The table on the device has the masks of both constraints along random walks, as it grows and rows change."""
    rng = random.Random(0)
    words = -(-both.json.vocabulary.size // 32)
    masks = DeviceMasks(both.json.vocabulary, "cuda", rows=1, max_bytes=4 * words * 20)
    matchers = [(both.json, both.sums)[row % 2].matcher() for row in range(16)]
    logits = torch.zeros(16, both.json.vocabulary.size, device="cuda")
    tokens = [-1] * 16
    for _ in range(60):
        allowed = masks.apply(logits.clone(), [*matchers[:-1], None], tokens) > -torch.inf
        assert allowed[-1].all()
        bitmask = both.json.new_bitmask(16)
        pdacon.fill_bitmasks(matchers, bitmask)
        for row, matcher in enumerate(matchers[:-1]):
            bits = np.unpackbits(bitmask[row].view(np.uint8), bitorder="little")[: logits.shape[1]]
            assert (allowed[row].cpu().numpy() == bits.astype(bool)).all()
            tokens[row] = -1 if matcher.is_terminated() else rng.choice(np.flatnonzero(bits).tolist())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_beams": 3, "num_return_sequences": 2},
        {"prompt_lookup_num_tokens": 4},
        {"budget": pdacon.Budget(tokens=20)},
        {"prefix": '{"name": "Zoë", '},
        {"diagnostics": True},
    ],
    ids=lambda options: "-".join(options) or "greedy",
)
def test_greedy_texts_are_the_same(both: Both, options: dict[str, Any]) -> None:
    length = {} if "budget" in options else {"max_tokens": 40}
    wanted, found = (
        generate(model, both.tokenizer, PROMPT, grammar=both.json, temperature=0, **(length | options))
        for model in (both.cpu, both.cuda)
    )
    pairs = zip(wanted, found, strict=True) if isinstance(wanted, list) else [(wanted, found)]
    for one, other in pairs:
        assert one.text == other.text
        if "diagnostics" in options:
            assert one.diagnostics.log_prob == pytest.approx(other.diagnostics.log_prob, abs=1e-3)


def test_assistants_and_drafts(both: Both) -> None:
    alone = generate(both.cuda, both.tokenizer, PROMPT, grammar=both.json, temperature=0, max_tokens=40)
    for options in ({"assistant_model": both.cuda}, {"draft": Draft(both.json, both.tokenizer)}):
        again = generate(both.cuda, both.tokenizer, PROMPT, grammar=both.json, temperature=0, max_tokens=40, **options)
        assert again.text == alone.text


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16], ids=str)
def test_narrow_numbers(both: Both, kind: torch.dtype) -> None:
    model: Any = AutoModelForCausalLM.from_pretrained(tiny_path(), dtype=kind).to("cuda").eval()
    for seed in range(5):
        for answer in generate(
            model,
            both.tokenizer,
            PROMPTS,
            grammar=both.json,
            seed=seed,
            temperature=2.0,
            budget=pdacon.Budget(tokens=30),
        ):
            assert answer.complete
            json.loads(answer.text)


def test_seeds_repeat(both: Both) -> None:
    texts = [
        [
            answer.text
            for answer in generate(both.cuda, both.tokenizer, PROMPTS, grammar=both.json, seed=3, max_tokens=30)
        ]
        for _ in range(2)
    ]
    assert texts[0] == texts[1]


def test_a_processor_of_one_s_own(both: Both) -> None:
    inputs = both.tokenizer(PROMPTS, return_tensors="pt", padding=True).to("cuda")
    processor = PDALogitsProcessor([both.json, both.sums, None], budget=pdacon.Budget(tokens=25))
    output = both.cuda.generate(**inputs, max_new_tokens=25, do_sample=True, logits_processor=[processor])
    texts = both.tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    json.loads(texts[0])
    assert both.sums.accepts(texts[1])


def test_streams(both: Both) -> None:
    write = Generator(both.cuda, both.tokenizer, "json_dumps", temperature=0, max_tokens=40)
    assert "".join(write.stream(PROMPT)) == write(PROMPT).text


def test_continuous_batches(both: Both) -> None:
    """With the settings of the host, and with CUDA graphs where it makes them."""
    wanted = [
        generate(both.cpu, both.tokenizer, prompt, grammar=constraint, temperature=0, max_tokens=20).text
        for prompt, constraint in zip(PROMPTS, [both.json, both.sums, both.json], strict=True)
    ]
    for graphs in (False, True):
        answers = generate_batch(
            both.cuda,
            both.tokenizer,
            PROMPTS,
            grammar=[both.json, both.sums, both.json],
            temperature=0,
            max_tokens=20,
            continuous_batching_config=ContinuousBatchingConfig(
                num_blocks=64, max_batch_tokens=256, use_cuda_graph=graphs
            ),
        )
        assert [answer.text for answer in answers] == wanted


def test_a_manager(both: Both) -> None:
    settings = GenerationConfig(max_new_tokens=20, do_sample=False, eos_token_id=both.tokenizer.eos_token_id)
    manager = both.cuda.init_continuous_batching(
        settings, ContinuousBatchingConfig(num_blocks=64, max_batch_tokens=256)
    )
    constrain(manager, {"json": both.json, "sums": both.sums}, tokenizer=both.tokenizer)
    manager.start()
    try:
        asked = {}
        for number in range(40):
            name = ("json", "sums")[number % 2]
            asked[manager.add_request(both.tokenizer(PROMPT).input_ids, constraint=name)] = name
        answers: list[Any] = []
        while len(answers) < len(asked):
            answer = manager.get_result(timeout=60)
            assert answer is not None
            answers.append(answer)
    finally:
        manager.stop(block=True)
    for answer in answers:
        assert answer.error is None
        text = both.tokenizer.decode(answer.generated_tokens, skip_special_tokens=True)
        made = {"json": both.json, "sums": both.sums}[asked[answer.request_id]]
        matcher = made.matcher()
        assert matcher.accept_bytes(text.encode())


def test_probabilities(both: Both) -> None:
    """Masses, probabilities of texts and the posterior, against the CPU's."""
    colours = pdacon.Grammar.from_choices(["red", "green", "blue", "grey"])
    found = []
    for model in (both.cpu, both.cuda):
        pipeline = pdacon.Pipeline(model, both.tokenizer)
        mass = pipeline.compute_probability_mass(PROMPT, colours)
        text = pipeline.compute_probability(PROMPT, '{"name": "Anna"}', "json_dumps")
        estimate = pipeline.compute_probability_mass(PROMPT, "json_dumps", samples=20, seed=0, max_tokens=40)
        steps = pipeline.steps(PROMPT, "json_dumps", budget=pdacon.Budget(tokens=20))
        while not steps.ended:
            steps.take(int(steps.constrained_log_probs.argmax()))
        answer = pipeline.generate(PROMPT, "json_dumps", temperature=0, budget=pdacon.Budget(tokens=20))
        assert steps.text == answer.text
        assert 0 < estimate.mass <= 1
        found.append((mass.log_mass, *mass.texts.values(), text.log_prob, text.constrained_log_prob))
    assert found[0] == pytest.approx(found[1], rel=1e-3)


@pytest.mark.parametrize("options", [{"particles": 32}, {"particles": 16, "checks": 1, "max_tokens": 40}], ids=str)
def test_samples(both: Both, options: dict[str, Any]) -> None:
    pipeline = pdacon.Pipeline(both.cuda, both.tokenizer)
    found = pipeline.sample("Write an arithmetic expression:", both.sums, seed=0, **options)
    exact = pipeline.compute_probability_mass("Write an arithmetic expression:", both.sums)
    assert set(found.probabilities()) <= set(exact.texts)
    assert all(text.complete for text in found.texts)


def _texts(answers: Sequence[Any]) -> list[str]:
    return [answer.text for answer in answers]


def test_restricted_characters(both: Both) -> None:
    pipeline = pdacon.Pipeline(both.cuda, both.tokenizer).restrict_characters_to("ascii")
    assert all(text.isascii() for text in _texts(pipeline.generate(["Zoë", "é"], seed=1, max_tokens=20)))
