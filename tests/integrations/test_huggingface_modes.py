"""Every way of generating: what is returned parses in stock Lark, or is the beginning of what does."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.lark_oracle import accepts

import pdacon
from pdacon.errors import MatcherError
from pdacon.integrations.huggingface import Generation, PDALogitsProcessor, generate, load_tiny, vocabulary

GRAMMARS = {
    "json": pdacon.Grammar.builtin("json"),
    "lists": pdacon.Grammar.from_lark('start: "[" [item ("," item)*] "]"\nitem: /[a-c]{1,3}/ | start\n'),
    "one sentence": pdacon.Grammar.from_lark('start: "abcabc"\n'),
    "three tokens to begin with": pdacon.Grammar.from_lark('start: ("a" | "ab" | "b")+ "."\n'),
}
PROMPTS = ["Hello", "JSON: [a,b", "x"]

MODES: dict[str, dict[str, Any]] = {
    "greedy": {"temperature": 0},
    "sampling": {},
    "several": {"num_return_sequences": 5},
    "beams": {"num_beams": 4, "num_return_sequences": 4},
    "beams, stopping early": {"num_beams": 3, "num_return_sequences": 2, "early_stopping": True},
    "beams, never early": {"num_beams": 3, "early_stopping": "never", "length_penalty": 0.0},
    "beams, renormalized": {"num_beams": 4, "num_return_sequences": 4, "renormalize_logits": True},
    "sampled beams": {"num_beams": 4, "num_return_sequences": 4, "temperature": 1.0},
    "sampled beams, few tokens": {"num_beams": 6, "num_return_sequences": 6, "temperature": 0.5, "top_k": 2},
    "sampled beams, renormalized": {"num_beams": 4, "temperature": 1.0, "renormalize_logits": True},
    "repetition penalty": {"repetition_penalty": 1.5, "renormalize_logits": True},
    "warpers": {"top_k": 3, "top_p": 0.5, "min_p": 0.1, "typical_p": 0.9, "epsilon_cutoff": 0.01},
    "longer and longer": {"exponential_decay_length_penalty": (3, 2.0), "remove_invalid_values": True},
    "static cache": {"cache_implementation": "static"},
    "prefill in chunks": {"prefill_chunk_size": 2},
}
ASSISTED: dict[str, dict[str, Any]] = {
    "prompt lookup": {"prompt_lookup_num_tokens": 3, "temperature": 0},
    "sampled prompt lookup": {"prompt_lookup_num_tokens": 3},
    "assistant": {"temperature": 0},
    "sampled assistant": {},
    "early exit": {"assistant_early_exit": 1, "temperature": 0},
}


@pytest.fixture(scope="module")
def constraints(tokenizer: Any) -> dict[str, pdacon.Constraint]:
    ends = tokenizer.convert_tokens_to_ids(["<eos>", "<end>"])
    vocab = pdacon.Vocabulary.from_huggingface(tokenizer, eos_ids=ends, size=512)
    return {name: pdacon.compile(grammar, vocab) for name, grammar in GRAMMARS.items()}


def require_right(constraint: pdacon.Constraint, texts: list[Generation]) -> None:
    assert texts
    for one in texts:
        assert constraint.matcher().validate_tokens(list(one.token_ids)) == len(one.token_ids) > 0
        if one.complete:
            assert accepts(constraint.grammar, one.text), one.text
        assert one.complete or one.token_ids[-1] not in constraint.vocabulary.eos_ids


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("mode", MODES)
def test_batches(model: Any, tokenizer: Any, constraints: Any, mode: str, grammar: str) -> None:
    options = MODES[mode]
    for seed in range(3 if "sampl" in mode else 1):
        texts = generate(model, tokenizer, PROMPTS, grammar=constraints[grammar], max_tokens=18, seed=seed, **options)
        require_right(constraints[grammar], texts)
        assert {one.prompt for one in texts} == set(range(len(PROMPTS)))
        if "num_beams" not in options:
            assert len(texts) == len(PROMPTS) * options.get("num_return_sequences", 1)


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("mode", ASSISTED)
def test_assisted(model: Any, tokenizer: Any, constraints: Any, mode: str, grammar: str) -> None:
    """Greedily, the assistant changes nothing but the time it takes."""
    options: dict[str, Any] = dict(ASSISTED[mode])
    if "assistant" in mode:
        options["assistant_model"] = model
    for prompt in ("[a,[a,bb],[a,b", "abcabc abc"):
        texts = generate(model, tokenizer, prompt, grammar=constraints[grammar], max_tokens=18, seed=0, **options)
        require_right(constraints[grammar], texts)
        if options.get("temperature") == 0:
            alone = generate(model, tokenizer, prompt, grammar=constraints[grammar], max_tokens=18, temperature=0)
            assert texts == alone


@pytest.mark.parametrize("mode", ["beams", "sampled beams"])
def test_beams_do_not_repeat_themselves(model: Any, tokenizer: Any, constraints: Any, mode: str) -> None:
    """A language of one sentence has only one text for each way to end it."""
    texts = generate(model, tokenizer, "Hi", grammar=constraints["one sentence"], seed=0, **MODES[mode])
    assert len({one.token_ids for one in texts}) == len(texts)
    assert {one.text for one in texts} == {"abcabc"}


@pytest.mark.parametrize("pad", [0, 1, None])
@pytest.mark.parametrize("beams", [2, 4, 8])
def test_beams_end_once(model: Any, tokenizer: Any, beams: int, pad: int | None) -> None:
    """Whatever pads them, and however often a finished beam has repeated its end."""
    before = model.generation_config.pad_token_id
    model.generation_config.pad_token_id = pad
    try:
        options = {"num_beams": beams, "num_return_sequences": beams, "max_tokens": 20}
        texts = generate(model, tokenizer, "Go:", grammar='start: "yes" | "no"', **options)
    finally:
        model.generation_config.pad_token_id = before
    ends = model.generation_config.eos_token_id
    assert {one.text for one in texts} <= {"yes", "no"}
    assert all([token in ends for token in one.token_ids].index(True) == len(one.token_ids) - 1 for one in texts)
    assert len({one.token_ids for one in texts}) == len(texts)


def test_the_best_of_all_beams_is_the_best_text(model: Any, tokenizer: Any, constraints: Any) -> None:
    """With a beam for every sentence, beam search is exhaustive: what it returns has the highest probability."""
    grammar = pdacon.Grammar.from_lark('start: /[ab]{2,4}/ "."\n')
    constraint = pdacon.compile(grammar, constraints["json"].vocabulary)
    options = {"num_beams": 60, "length_penalty": 0.0, "early_stopping": "never"}
    (best,) = generate(model, tokenizer, "Hi", grammar=constraint, **options)
    prompt = tokenizer("Hi")["input_ids"]

    def log_probability(ids: tuple[int, ...]) -> float:
        with torch.inference_mode():
            logits = model(torch.tensor([[*prompt, *ids]])).logits[0].log_softmax(-1)
        return sum(float(logits[len(prompt) - 1 + k, token]) for k, token in enumerate(ids))

    everything: list[tuple[int, ...]] = []
    unfinished: list[tuple[int, ...]] = [()]
    while unfinished:
        ids = unfinished.pop()
        matcher = constraint.matcher()
        assert matcher.validate_tokens(list(ids)) == len(ids)
        for token in ids:
            matcher.accept_token(token)
        if matcher.is_terminated():
            everything.append(ids)
        else:
            unfinished += [(*ids, token) for token in range(512) if matcher.is_allowed(token)]
    assert 50 < len(everything) <= 60
    assert best.token_ids == max(everything, key=log_probability)


def diverse_beams(
    self: Any,
    input_ids: torch.Tensor,
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    **model_kwargs: Any,
) -> torch.Tensor:
    """Diverse beam search as Vijayakumar et al. (2016) describe it: group by group, a token used is penalized.

    In transformers 5 it is a recipe on the hub, which calls the processor as this does: with the rows of one group.
    """
    beams = input_ids.unsqueeze(1).repeat(1, 4, 1)[0]
    score = torch.tensor([0.0, -1e9, 0.0, -1e9])
    for _ in range(generation_config.max_new_tokens):
        logits = self(beams).logits[:, -1].log_softmax(-1)
        used = torch.zeros(logits.shape[1])
        following = []
        for group in (slice(0, 2), slice(2, 4)):
            allowed = logits_processor(beams[group], logits[group] - used)
            best = (allowed + score[group, None]).flatten().topk(2)
            tokens = best.indices % allowed.shape[1]
            used[tokens] += 0.5
            score[group] = best.values
            following.append(torch.cat([beams[group][best.indices // allowed.shape[1]], tokens[:, None]], dim=1))
        beams = torch.cat(following)
    return beams[:1]


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_diverse_beams_by_groups(model: Any, tokenizer: Any, constraints: Any, grammar: str) -> None:
    texts = generate(
        model,
        tokenizer,
        "Hi",
        grammar=constraints[grammar],
        max_tokens=12,
        temperature=0,
        custom_generate=diverse_beams,
    )
    require_right(constraints[grammar], texts)


def test_modes_that_left_transformers_say_so(model: Any, tokenizer: Any, constraints: Any) -> None:
    """transformers 5 has them as recipes on the hub only; the error is its own."""
    for options in (
        {"num_beams": 4, "num_beam_groups": 2, "diversity_penalty": 1.0},
        {"penalty_alpha": 0.6, "top_k": 4},
    ):
        with pytest.raises(ValueError, match="trust_remote_code"):
            generate(model, tokenizer, "Hi", grammar=constraints["json"], temperature=0, **options)


def test_a_beam_dies_where_another_lives(model: Any, tokenizer: Any, constraints: Any) -> None:
    """A word that must not occur kills the beam that needs it, and neither the other nor the call."""
    grammar = pdacon.Grammar.from_lark('start: "xy" | "zw"\n')
    constraint = pdacon.compile(grammar, constraints["json"].vocabulary)
    options = {"num_beams": 2, "num_return_sequences": 2, "bad_words_ids": [tokenizer("w")["input_ids"]]}
    texts = generate(model, tokenizer, "Hi", grammar=constraint, max_tokens=8, **options)
    assert {one.text for one in texts} == {"xy"}
    batch = tokenizer("Hi", return_tensors="pt")
    with pytest.raises(MatcherError, match="give num_beams"):
        model.generate(**batch, max_new_tokens=8, logits_processor=[PDALogitsProcessor(constraint)], **options)


@pytest.mark.parametrize("do_sample", [False, True])
@pytest.mark.parametrize(("text", "beams"), [('start: "[" /[a-c]+/ "]"', 2), ('start: "yes" | "no"', 5)])
def test_beams_are_found_out(
    model: Any, tokenizer: Any, constraints: Any, text: str, beams: int, do_sample: bool
) -> None:
    """Grammars with fewer ways than beams, in batches, and nobody tells the processor about the beams."""
    constraint = pdacon.compile(pdacon.Grammar.from_lark(text), constraints["json"].vocabulary)
    batch = tokenizer(["Hi", "JSON: [a"], return_tensors="pt", padding=True)
    for seed in range(4):
        torch.manual_seed(seed)
        processor = PDALogitsProcessor(constraint)
        options = {"num_beams": beams, "do_sample": do_sample, "max_new_tokens": 12}
        rows = model.generate(**batch, logits_processor=[processor], **options)
        for row in rows[:, batch["input_ids"].shape[1] :].tolist():
            ids = [token for token in row if token != tokenizer.pad_token_id]
            assert constraint.matcher().validate_tokens(ids) == len(ids) > 0


def test_only_log_probabilities_and_equal_prompts_are_beams() -> None:
    """A row that something else has led astray is an error, beams or not, unless nothing else can be the cause."""
    vocab = pdacon.Vocabulary.from_tokens([b"a", b"b", None], eos_ids=[2])
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: "a" "a"'), vocab)
    raw = torch.zeros(2, 3)
    for prompts, scores, fine in (
        ([[0, 1], [0, 1]], raw.log_softmax(-1), True),
        ([[0, 1], [0, 1]], raw, False),
        ([[0, 1], [1, 1]], raw.log_softmax(-1), False),
    ):
        processor = PDALogitsProcessor(constraint)
        begun = torch.tensor(prompts)
        processor(begun, scores)
        astray = torch.cat([begun, torch.tensor([[0], [1]])], dim=1)
        if fine:
            assert processor(astray, scores)[0].argmax() == 0
        else:
            with pytest.raises(MatcherError, match=r"row 1: token 1 .* after 0 generated tokens.*give num_beams"):
                processor(astray, scores)
    processor = PDALogitsProcessor(constraint)
    processor(torch.tensor([[0], [0]]), raw.log_softmax(-1))
    with pytest.raises(MatcherError, match="row 0"):
        processor(torch.tensor([[0, 1], [0, 0]]), raw.log_softmax(-1))


@pytest.mark.slow
def test_random_walks_of_the_tiny_model_end_in_sentences() -> None:
    model, tokenizer = load_tiny()
    vocab = vocabulary(model, tokenizer)
    for name in ("json", "arithmetic"):
        constraint = pdacon.compile(pdacon.Grammar.builtin(name), vocab)
        texts = generate(
            model,
            tokenizer,
            ["Describe a person as JSON:", "Write an arithmetic expression:"],
            grammar=constraint,
            temperature=1.5,
            num_return_sequences=4,
            max_tokens=120,
            seed=1,
        )
        require_right(constraint, texts)
        assert any(one.complete for one in texts)
