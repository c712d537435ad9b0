"""`Pipeline`: what its arguments mean, texts with their probabilities, one token at a time."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import interegular
import pytest
import torch

import pdacon
from pdacon.integrations.huggingface import generate, load_tiny, tiny_path


@dataclass
class Pair:
    a: int
    b: bool


@pytest.fixture(scope="module")
def tiny() -> pdacon.Pipeline:
    return pdacon.Pipeline(*load_tiny())


@pytest.mark.slow
@pytest.mark.parametrize(
    "constraint",
    [
        "json_dumps",
        'start: "a" | "[" start "]"\n',
        pdacon.Grammar.from_regex("[a-f]{3}"),
        pdacon.RegularSet.from_choices(["red", "blue"]),
        pdacon.RegularSet.from_fsm(interegular.parse_pattern("[ab]{2}").to_fsm()),
        pdacon.Grammar.from_json_schema({"type": "integer", "minimum": 3, "maximum": 40}),
        Pair,
        None,
    ],
    ids=["builtin", "lark", "regex", "set", "fsm", "schema", "type", "nothing"],
)
def test_what_a_constraint_may_be(tiny: pdacon.Pipeline, constraint: Any) -> None:
    answer = tiny.generate("Write:", constraint, max_tokens=60, seed=3)
    assert len(answer.diagnostics.steps) == len(answer.token_ids)
    if constraint is not None:
        assert tiny.compile(constraint).matcher().accept(answer.text)
    if constraint is Pair and answer.complete:
        assert isinstance(answer.value, Pair)


@pytest.mark.slow
def test_it_is_generate_with_diagnostics(tiny: pdacon.Pipeline) -> None:
    prompts = ["A list:", "Numbers:"]
    options: dict[str, Any] = {"seed": 5, "max_tokens": 20, "num_return_sequences": 2}
    answers = tiny.generate(prompts, "json_dumps", prefix=["[", "{"], **options)
    expected = generate(tiny.model, tiny.tokenizer, prompts, "json_dumps", prefix=["[", "{"], **options)
    assert answers == expected
    assert all(answer.diagnostics.log_prob <= answer.diagnostics.constrained_log_prob for answer in answers)
    plain = tiny.generate(prompts, "json_dumps", prefix=["[", "{"], diagnostics=False, **options)
    assert plain == expected
    with pytest.raises(ValueError, match="diagnostics=True"):
        _ = plain[0].diagnostics


def test_one_constraint_for_each_prompt(tiny: pdacon.Pipeline) -> None:
    digits, letters = pdacon.Grammar.from_regex("[0-9]{2}"), pdacon.Grammar.from_regex("[a-z]{2}")
    first, second, _ = tiny.generate(["A", "B", "C"], [digits, letters, None], seed=1, max_tokens=5)
    assert first.text.isdigit()
    assert second.text.isalpha()


def test_a_constraint_is_compiled_once(tiny: pdacon.Pipeline) -> None:
    made = tiny.compile("json_dumps")
    assert tiny.compile("json_dumps") is made
    assert tiny.compile(made) is made


ASCII = pdacon.filters.Characters("ascii")


@pytest.mark.parametrize("characters", ["ascii", [chr(code) for code in range(128)], ASCII])
def test_characters(tiny: pdacon.Pipeline, characters: Any) -> None:
    text = pdacon.Grammar.from_choices(["é", "e", "ë", "ee"])
    narrow = tiny.restrict_characters_to(characters)
    assert set(tiny.compute_probability_mass("A", text).texts) == {"é", "e", "ë", "ee"}
    assert set(narrow.compute_probability_mass("A", text).texts) == {"e", "ee"}
    assert set(narrow.compute_probability_mass("A", tiny.compile(text)).texts) == {"e", "ee"}
    assert all(narrow.generate("é", seed=seed, max_tokens=5, temperature=3.0).text.isascii() for seed in range(5))
    vowels = narrow.restrict_characters_to(["e", "é"]).restrict_characters_to(["a", "e", "é"])
    assert vowels.compile(text).accepts("ee")
    assert set(vowels.generate("A", seed=1, max_tokens=5).text) <= {"e"}
    assert "and the characters 'aeé'" in repr(vowels)


def test_values_are_kept_where_characters_are_restricted(tiny: pdacon.Pipeline) -> None:
    narrow = tiny.restrict_characters_to("ascii")
    answer = narrow.generate("A:", Pair, seed=1, max_tokens=60)
    assert isinstance(answer.value, Pair)


def test_a_budget_needs_a_constraint(pipeline: pdacon.Pipeline) -> None:
    for call in (pipeline.generate, pipeline.steps):
        with pytest.raises(ValueError, match="give max_tokens, or a constraint"):
            call("Hi", budget=pdacon.Budget(tokens=3))
    free, held = pipeline.generate(["A", "B"], [None, "json"], budget=pdacon.Budget(tokens=3), seed=1)
    assert held.complete
    assert len(free.token_ids) <= 3


def test_step_by_step(pipeline: pdacon.Pipeline) -> None:
    """Greedy steps are greedy generation, and have its probabilities."""
    grammar = pdacon.Grammar.from_regex("(yes|no)( [0-9]{3})?")
    answer = pipeline.generate("Hi", grammar, temperature=0, prefix="y", max_tokens=20)
    steps = pipeline.steps("Hi", grammar, prefix="y")
    for step in answer.diagnostics.steps:
        assert float(steps.log_probs[step.token]) == pytest.approx(step.log_prob, abs=1e-4)
        assert float(steps.constrained_log_probs[step.token]) == pytest.approx(step.constrained_log_prob, abs=1e-4)
        assert float(steps.constrained_log_probs.exp().sum()) == pytest.approx(1)
        assert steps.take() == step.token
    assert (steps.text, steps.token_ids, steps.complete) == (answer.text, answer.token_ids, answer.complete)
    assert steps.log_prob == pytest.approx(answer.diagnostics.log_prob, abs=1e-4)
    assert steps.constrained_log_prob == pytest.approx(answer.diagnostics.constrained_log_prob, abs=1e-4)
    assert steps.ended
    assert not steps.allowed.any()
    with pytest.raises(ValueError, match="end token"):
        steps.take()


def test_steps_that_part(pipeline: pdacon.Pipeline) -> None:
    steps = pipeline.steps("Hi", pdacon.Grammar.from_choices(["aab", "aba", "abb"]))
    tokens = {text: pipeline.tokenizer.encode(text)[0] for text in "ab"}
    steps.take(tokens["a"])
    other = steps.fork()
    before = steps.log_probs.clone()
    steps.take(tokens["a"])
    steps.take(tokens["b"])
    assert torch.equal(other.log_probs, before)
    other.take(tokens["b"])
    alone = pipeline.steps("Hi", pdacon.Grammar.from_choices(["aab", "aba", "abb"]))
    alone.take(tokens["a"])
    alone.take(tokens["b"])
    assert torch.allclose(alone.log_probs, other.log_probs, atol=1e-5)
    assert (steps.text, other.text) == ("aab", "ab")
    assert steps.complete
    assert not other.complete
    with pytest.raises(ValueError, match="not allowed here"):
        other.take(pipeline.tokenizer.eos_token_id)
    assert other.text == "ab"


def test_steps_within_a_budget_and_without_a_constraint(pipeline: pdacon.Pipeline) -> None:
    steps = pipeline.steps("Hi", 'start: "[" start* "]"\n', budget=pdacon.Budget(tokens=6))
    while not steps.ended:
        steps.take()
    assert steps.complete
    assert len(steps.token_ids) <= 7
    free = pipeline.steps("Hi")
    assert free.allowed.all()
    assert free.log_mass == 0
    free.take()
    assert not free.complete
    assert free.log_prob == free.constrained_log_prob


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["gpt2", "llama"], indirect=True)
def test_texts_beyond_the_context_are_refused(pipeline: pdacon.Pipeline) -> None:
    """The models read 128 tokens; those of learnt positions would fail in an IndexError, others write nonsense."""
    long = pdacon.Grammar.from_regex("[ab]{200}")
    for method in (
        lambda: pipeline.sample("Hi", long, particles=2, seed=1),
        lambda: pipeline.compute_probability_mass("Hi", long, method="sampling", samples=2, seed=1),
        lambda: pipeline.compute_probability("Hi", ["a", "ab" * 100]),
    ):
        with pytest.raises(ValueError, match="context"):
            method()
    assert pipeline.sample("Hi", pdacon.Grammar.from_regex("[ab]{9}"), particles=2, seed=1).texts
    steps = pipeline.steps("a" * 126, long)
    room = 128 - len(pipeline.tokenizer("a" * 126)["input_ids"])
    for _ in range(room):
        steps.take()
    before = (steps.token_ids, steps.text, steps.log_prob)
    with pytest.raises(ValueError, match="context"):
        steps.take()
    assert (steps.token_ids, steps.text, steps.log_prob) == before


def test_models_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    here = pdacon.Pipeline(str(tiny_path()))
    assert here.generate("A:", Pair, seed=1).text == pdacon.Pipeline("tiny").generate("A:", Pair, seed=1).text
    own = pdacon.Pipeline(here.model)  # which knows where it was loaded from
    assert own.tokenizer.get_vocab() == here.tokenizer.get_vocab()


def test_torch_is_imported_only_for_it() -> None:
    program = "import sys, pdacon; pdacon.Grammar; assert not {'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-P", "-c", program], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"temperature": 0}, {"seed": 5}, {"seed": 5, "num_return_sequences": 2}])
def test_a_text_of_a_batch_is_what_it_is_alone(pipeline: pdacon.Pipeline, options: dict[str, Any]) -> None:
    prompts = [f"{'A' * (index % 5)} number {index}:" for index in range(11)]
    made = pipeline.compile(pdacon.Grammar.from_regex("[0-9]{2,6}"))
    each, seed = options.get("num_return_sequences", 1), options.get("seed")
    runs = [
        pipeline.generate(prompts, made, max_tokens=8, batch_size=size, diagnostics=False, **options)
        for size in (1, 4, 11, 100)
    ]
    for run in runs:
        assert [text.prompt for text in run] == [index for index in range(len(prompts)) for _ in range(each)]
        assert [text.text for text in run] == [text.text for text in runs[0]]
    for index, prompt in enumerate(prompts):
        seeds = None if seed is None else [seed + index * each + number for number in range(each)]
        found = pdacon.generate(
            pipeline.model, pipeline.tokenizer, [prompt], grammar=made, max_tokens=8, **{**options, "seed": seeds}
        )
        assert [text.text for text in found] == [text.text for text in runs[0][index * each :][:each]]


def test_seeds_and_beams_in_batches(pipeline: pdacon.Pipeline) -> None:
    prompts = ["A:", "B", "C"]
    made = pipeline.compile(pdacon.Grammar.from_regex("[0-9]{2,6}"))

    def texts(size: int | None, **options: Any) -> list[str]:
        found = pipeline.generate(prompts, made, max_tokens=8, batch_size=size, diagnostics=False, **options)
        return [one.text for one in found]

    for options in ({"seed": [3, 1, 2]}, {"seed": 1, "num_beams": 2, "temperature": 0}):
        assert texts(2, **options) == texts(None, **options)


def test_a_constraint_and_a_beginning_for_each_prompt_of_a_batch(pipeline: pdacon.Pipeline) -> None:
    grammars = [pdacon.Grammar.from_choices([f"{letter}{letter}"]) for letter in "abc"]
    found = pipeline.generate(
        ["x"] * 3, grammars, prefix=["a", "b", "c"], batch_size=2, diagnostics=False, temperature=0
    )
    assert [text.text for text in found] == ["aa", "bb", "cc"]
    with pytest.raises(ValueError, match="1 seeds are given for 3 texts"):
        pipeline.generate(["x"] * 3, "json", batch_size=2, seed=[1])
    with pytest.raises(ValueError, match="batch_size is 0"):
        pipeline.generate(["x"], "json", batch_size=0)
    with pytest.raises(ValueError, match="1 seeds are given for 2 texts"):
        pdacon.generate(pipeline.model, pipeline.tokenizer, ["a", "b"], "json", seed=[1])
