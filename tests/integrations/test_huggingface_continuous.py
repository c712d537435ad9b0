"""Continuous batching, on the CPU, and what its protocol asks of a processor beyond that."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from typing import Any

import pytest
import torch
from support.lark_oracle import accepts
from transformers import ContinuousBatchingConfig, GenerationConfig
from transformers.generation.continuous_batching.model_runner import ModelRunner
from transformers.generation.continuous_batching.requests import FutureRequestState, RequestState

import pdacon
from pdacon.errors import MatcherError
from pdacon.integrations.huggingface import PDAContinuousProcessor, constrain, generate, generate_batch
from pdacon.integrations.huggingface.memory import with_room

GRAMMARS = {
    "lists": 'start: "[" [item ("," item)*] "]"\nitem: /[a-c]{1,3}/ | start\n',
    "words": 'start: ("a" | "ab" | "b")+ "."\n',
    "sentence": 'start: "abcabc"\n',
}


def small(**options: Any) -> ContinuousBatchingConfig:
    return ContinuousBatchingConfig(**{"num_blocks": 16, "max_batch_tokens": 64, **options})


@pytest.fixture(scope="module", autouse=True)
def collections_are_short() -> None:
    """Transformers collects garbage twice after each batch, and need not look at what other tests have kept."""
    gc.freeze()


@pytest.fixture(scope="module")
def constraints(tokenizer: Any) -> dict[str, pdacon.Constraint]:
    ends = tokenizer.convert_tokens_to_ids(["<eos>", "<end>"])
    vocab = pdacon.Vocabulary.from_huggingface(tokenizer, eos_ids=ends, size=512)
    return {name: pdacon.compile(pdacon.Grammar.from_lark(text), vocab) for name, text in GRAMMARS.items()}


def require_right(constraint: pdacon.Constraint, one: Any) -> None:
    assert constraint.matcher().validate_tokens(list(one.token_ids)) == len(one.token_ids) > 0
    assert not one.complete or accepts(constraint.grammar, one.text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "per_request"),
    [
        ({"temperature": 0}, False),
        ({"num_return_sequences": 3}, False),
        ({"temperature": 0.7, "top_k": 5, "top_p": 0.9}, False),
        ({"temperature": 0.7, "top_k": 5, "top_p": 0.9}, True),
    ],
)
def test_each_prompt_has_its_constraint(
    model: Any, tokenizer: Any, constraints: Any, options: dict[str, Any], per_request: bool
) -> None:
    ordered = list(constraints.values())
    config = small(per_request_processors=per_request, seed=1)
    texts = generate_batch(
        model,
        tokenizer,
        ["Hello", "a much longer prompt", "x"],
        grammar=ordered,
        max_tokens=12,
        continuous_batching_config=config,
        **options,
    )
    count = options.get("num_return_sequences", 1)
    assert [one.prompt for one in texts] == [number for number in range(3) for _ in range(count)]
    for one in texts:
        require_right(ordered[one.prompt], one)
    assert config.use_async_batching is None, "the caller's configuration is the caller's"
    if options.get("temperature") == 0:
        for one in texts:
            (alone,) = generate(
                model,
                tokenizer,
                ["Hello", "a much longer prompt", "x"][one.prompt],
                grammar=ordered[one.prompt],
                temperature=0,
                max_tokens=12,
            )
            assert alone.token_ids == one.token_ids


def test_by_default_there_is_room_for_what_is_asked(
    model: Any, tokenizer: Any, constraints: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transformers would fill most of the machine's memory, and read and mask as much at each step."""
    made = []
    init = type(model).init_continuous_batching

    def noted(self: Any, settings: Any, config: Any) -> Any:
        made.append(manager := init(self, settings, config))
        return manager

    monkeypatch.setattr(type(model), "init_continuous_batching", noted)
    prompts = [f"number {number}" for number in range(40)]
    texts = generate_batch(model, tokenizer, prompts, grammar=constraints["lists"], max_tokens=12)
    for one in texts:
        require_right(constraints["lists"], one)
    (config,) = [manager.continuous_batching_config for manager in made]
    assert (len(texts), config.max_requests_per_batch) == (40, 32)
    assert config.num_blocks == 64, "one page of 256 tokens for each of 32 rows, and one more"
    assert 32 <= config.max_batch_tokens <= 512
    (one,) = generate_batch(
        model, tokenizer, ["x"], grammar=constraints["lists"], max_tokens=5, continuous_batching_config=small()
    )
    require_right(constraints["lists"], one)
    asked = made[-1].continuous_batching_config
    assert (asked.num_blocks, asked.max_batch_tokens) == (16, 64), "what is said stays"


@pytest.mark.parametrize(
    ("prompts", "new_tokens", "blocks"),
    [([3], 10, 2), ([255], 1, 2), ([256], 1, 3), ([3] * 500, 10, 64), ([3000] * 500, 1, 256), ([100_000], 1, 392)],
)
def test_room_grows_with_the_requests_up_to_a_limit(prompts: list[int], new_tokens: int, blocks: int) -> None:
    config = with_room(ContinuousBatchingConfig(page_size=256), "cpu", prompts, new_tokens)
    assert config.num_blocks == blocks
    assert with_room(None, "cuda", prompts, new_tokens).num_blocks is None


@pytest.mark.slow
@pytest.mark.parametrize("config", [{"max_requests_per_batch": 8, "page_size": 8}, {"page_size": 4}])
def test_more_requests_than_there_is_room_for(
    model: Any, tokenizer: Any, constraints: Any, config: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests wait, are interrupted and begin again; greedily, that changes no text."""
    again: list[str] = []
    begin_again = RequestState.create_equivalent_initial_request
    monkeypatch.setattr(
        RequestState,
        "create_equivalent_initial_request",
        lambda self: again.append(self.request_id) or begin_again(self),
    )
    prompts = [f"number {number}" for number in range(20)]
    constraint = constraints["lists"]
    room = small(num_blocks=6, max_batch_tokens=32, **config)
    texts = generate_batch(
        model, tokenizer, prompts, grammar=constraint, temperature=0, max_tokens=14, continuous_batching_config=room
    )
    expected = generate(model, tokenizer, prompts, grammar=constraint, temperature=0, max_tokens=14)
    assert [one.token_ids for one in texts] == [one.token_ids for one in expected]
    assert again or config["page_size"] == 8
    sampled = generate_batch(
        model,
        tokenizer,
        prompts,
        grammar=constraint,
        temperature=2.0,
        num_return_sequences=2,
        max_tokens=14,
        continuous_batching_config=room,
    )
    for one in sampled:
        require_right(constraint, one)


@pytest.mark.slow
def test_texts_are_continued(model: Any, tokenizer: Any, constraints: Any) -> None:
    constraint = constraints["lists"]
    (cut,) = generate(model, tokenizer, "Hi", grammar=constraint, prefix="[a,[b", max_tokens=1, temperature=0)
    options = {"continuous_batching_config": small(), "temperature": 0, "max_tokens": 10}
    one, two, three = generate_batch(
        model, tokenizer, ["Hi"] * 3, grammar=constraint, prefix=["", "[a,[b", cut], **options
    )
    assert two.text.startswith("[a,[b")
    assert three.text.startswith(cut.text)
    for text in (one, two, three):
        assert not text.complete or accepts(constraint.grammar, text.text)


@pytest.mark.slow
def test_padded_batches(model: Any, tokenizer: Any, constraints: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps for CUDA graphs have rows that belong to no request, and a warmup with requests that nobody made."""
    monkeypatch.setattr(ModelRunner, "pad_inputs", property(lambda self: True, lambda self, value: None), raising=False)
    texts = generate_batch(
        model,
        tokenizer,
        ["Hello", "x"],
        grammar=constraints["words"],
        max_tokens=6,
        continuous_batching_config=small(q_padding_interval_size=16, max_requests_per_batch=4),
    )
    for one in texts:
        require_right(constraints["words"], one)


@pytest.mark.slow
def test_a_request_that_cannot_be_fails_alone(model: Any, tokenizer: Any, constraints: Any) -> None:
    ends = list(constraints["words"].vocabulary.eos_ids)
    manager = model.init_continuous_batching(
        GenerationConfig(max_new_tokens=6, do_sample=False, eos_token_id=ends, pad_token_id=3), small()
    )
    constrain(manager, {**constraints, "free": None})
    ids = tokenizer("Hello")["input_ids"]
    manager.start()
    try:
        requests = {
            "good": {"constraint": "words", "prefix": b"ab"},
            "free": {"constraint": "free"},
            "unknown": {"constraint": "nobody"},
            "unnamed": {},
            "not a text": {"constraint": "words", "prefix": 3},
            "no beginning": {"constraint": "words", "prefix": "x"},
            "not a name": {"constraint": 3},
        }
        for name, arguments in requests.items():
            manager.add_request(ids, request_id=name, **arguments)
        outputs = {}
        while len(outputs) < len(requests):
            output = manager.get_result(timeout=20)
            assert output is not None
            outputs[output.request_id] = output
        with pytest.raises(ValueError, match="has started already"):
            constrain(manager, constraints)
    finally:
        manager.stop(block=True)
        manager.destroy()
    errors = {name: output.error for name, output in outputs.items()}
    assert errors["good"] is None
    assert errors["free"] is None
    assert "names the constraint 'nobody'; there are 'lists', 'words', 'sentence', 'free'" in errors["unknown"]
    assert "names the constraint ''" in errors["unnamed"]
    assert "the prefix is 3" in errors["not a text"]
    assert "the prefix 'x' is not the beginning" in errors["no beginning"]
    assert "expected str" in errors["not a name"]
    assert all(len(outputs[name].generated_tokens) <= 1 for name, error in errors.items() if error)
    matcher = constraints["words"].matcher()
    assert matcher.accept_bytes(b"ab")
    good = outputs["good"].generated_tokens
    assert matcher.validate_tokens(good) == len(good) > 0


def state(generated: list[int], **options: Any) -> RequestState:
    """A request as the host has it when it asks for arguments of the next step."""
    request = RequestState(request_id="r", initial_tokens=[9, 9], eos_token_id=[1], **options)
    request.generated_tokens = generated
    request.position_offset = 2 + len(generated)
    return request


def allowed(processor: PDAContinuousProcessor, *states: RequestState) -> list[list[int]]:
    requests = [FutureRequestState(one, True, {}, 1) for one in states]
    arguments = processor.prepare_tensor_args(requests)
    assert arguments.dtype == torch.int32
    padded = torch.empty(len(states) + 2, dtype=torch.int32)
    processor.fill_defaults(padded)
    padded[: len(arguments)] = arguments
    rows = processor(torch.zeros(len(padded), 512), padded)
    assert torch.isfinite(rows[len(states) :]).all(), "rows that only pad are not masked"
    return [row.isfinite().nonzero().flatten().tolist() for row in rows[: len(states)]]


def expected(constraint: pdacon.Constraint, ids: list[int]) -> list[int]:
    matcher = constraint.matcher()
    assert all(matcher.accept_token(token) for token in ids)
    return [token for token in range(512) if matcher.is_allowed(token)]


def test_a_request_that_begins_again_is_where_it_was(constraints: Any, tokenizer: Any) -> None:
    constraint = constraints["lists"]
    processor = PDAContinuousProcessor(constraint, 512, torch.device("cpu"), 4)
    ids = tokenizer("[a,[")["input_ids"]
    request = state(ids)
    (before,) = allowed(processor, request)
    assert before == expected(constraint, ids)
    again = request.create_equivalent_initial_request()
    again.position_offset = len(again.initial_tokens)
    assert allowed(processor, again) == [before]
    more = tokenizer("b]")["input_ids"]
    again.generated_tokens = more
    again.position_offset += len(more)
    once_more = again.create_equivalent_initial_request()
    once_more.position_offset = len(once_more.initial_tokens)
    assert allowed(processor, once_more) == [expected(constraint, [*ids, *more])]


def test_nothing_is_kept_of_requests_that_have_ended(constraints: Any, tokenizer: Any) -> None:
    """A server that gives each request a constraint of its own name has seen millions of them after a year."""
    processor = PDAContinuousProcessor({"none": None}, 512, torch.device("cpu"), 4)
    ids = tokenizer("[a,[b,[]]]")["input_ids"]
    rows = set()
    for number in range(50):
        processor.add(str(number), constraints["lists"])
        request = state([], logit_processor_kwargs={"constraint": str(number)})
        for token in ids:
            assert allowed(processor, request) == [expected(constraints["lists"], request.generated_tokens)]
            rows.update(processor.prepare_tensor_args([FutureRequestState(request, True, {}, 1)]).tolist())
            request.generated_tokens.append(token)
            request.position_offset += 1
        assert len(processor._followed) == 1
        processor.remove(str(number))
    del request
    assert not processor._followed
    assert len(processor.constraints) == 1
    assert len(rows) <= len(ids), "requests with one constraint share its masks"


def test_a_host_that_takes_tokens_back_is_followed(constraints: Any, tokenizer: Any) -> None:
    constraint = constraints["lists"]
    processor = PDAContinuousProcessor(constraint, 512, torch.device("cpu"), 4)
    request = state([])
    for text in ("[a,[", "[a", "[b", "[b,c]", "[]"):
        request.generated_tokens = tokenizer(text)["input_ids"]
        request.position_offset = 2 + len(request.generated_tokens)
        assert allowed(processor, request) == [expected(constraint, request.generated_tokens)]


def test_asynchronous_batches_are_refused(constraints: Any, tokenizer: Any) -> None:
    processor = PDAContinuousProcessor(constraints["lists"], 512, torch.device("cpu"), 4)
    request = state([])
    request.position_offset += 1  # the token that the step before is about to choose
    with pytest.raises(MatcherError, match="asynchronous batches"):
        allowed(processor, request)


def test_the_table_stays_where_it_is(constraints: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA graphs read it by its address; masks come and go, and rows that only pad keep their place."""
    monkeypatch.setattr("pdacon.integrations.huggingface.continuous._TABLE_BYTES", 1)
    constraint = constraints["lists"]
    processor = PDAContinuousProcessor(constraint, 512, torch.device("cpu"), 1)
    address = processor._masks.table.data_ptr()
    text = tokenizer("[a,[b,[]],abc]")["input_ids"]
    for length in range(len(text)):
        request = state(text[:length])
        assert allowed(processor, request) == [expected(constraint, text[:length])]
    assert processor._masks.table.data_ptr() == address
    assert len(processor._masks.table) == 2
    many = [state(text[:length]) for length in range(5)]
    for number, request in enumerate(many):
        request.request_id = str(number)
    with pytest.raises(ValueError, match=r"more different masks than .* room for, which is 2"):
        allowed(processor, *many)


def test_what_nothing_can_follow_ends_with_an_error(tokenizer: Any) -> None:
    """A vocabulary without an end token; or a token that something else chose."""
    vocab = pdacon.Vocabulary.from_huggingface(tokenizer, eos_ids=[], size=512)
    constraint = pdacon.compile(pdacon.Grammar.from_lark('start: "x"\n'), vocab)
    processor = PDAContinuousProcessor(constraint, 512, torch.device("cpu"), 4)
    for ids, words in ((tokenizer("x")["input_ids"], "give it eos_ids"), ([5], "token 5 .* is not allowed")):
        request = state(ids)
        assert allowed(processor, request) == [[1]]
        assert request.error is not None
        assert re.search(words, request.error)


def test_arguments(constraints: Any, model: Any, tokenizer: Any) -> None:
    with pytest.raises(ValueError, match="500 columns, but a constraint was compiled for 512"):
        PDAContinuousProcessor(constraints, 500, torch.device("cpu"), 4)
    with pytest.raises(ValueError, match="no constraint"):
        PDAContinuousProcessor({}, 512, torch.device("cpu"), 4)
    with pytest.raises(ValueError, match="2 prompts, but 3 grammars"):
        generate_batch(model, tokenizer, ["a", "b"], grammar=list(constraints.values()))
    with pytest.raises(TypeError, match="generate_batch needs a grammar"):
        generate_batch(model, tokenizer, ["a"])
    with pytest.raises(TypeError, match="no option assistant_model"):
        generate_batch(model, tokenizer, ["a"], grammar=constraints["words"], assistant_model=model)
    for name in ("seed", "start", "diagnostics", "batch_size", "prompt"):
        with pytest.raises(TypeError, match=f"generate_batch has no option {name}, which generate has"):
            generate_batch(model, tokenizer, ["a"], grammar=constraints["words"], **{name: 1})
    for options in ({"max_tokens": 0}, {"temperature": -1}, {"temperature": 0, "num_return_sequences": 2}):
        with pytest.raises(ValueError, match=r"max_tokens is 0|temperature is -1|temperature 0 generates one"):
            generate_batch(model, tokenizer, ["a"], grammar=constraints["words"], **options)
    with pytest.raises(ValueError, match="is not the beginning of a sentence"):
        generate_batch(model, tokenizer, ["a"], grammar=constraints["words"], prefix="x")


@pytest.mark.slow
def test_an_older_transformers_has_all_the_rest() -> None:
    code = """
import sys
sys.modules["transformers.generation.continuous_batching.cb_logits_processors"] = None
from pdacon.integrations.huggingface import generate
print("generate is there")
from pdacon.integrations.huggingface import constrain
"""
    process = subprocess.run([sys.executable, "-I", "-c", code], check=False, capture_output=True, text=True)
    assert process.stderr.splitlines()[-1].startswith("ImportError: constrain needs the continuous batching of a later")
    assert process.stdout == "generate is there\n"


@pytest.mark.slow
def test_every_text_ends_within_its_tokens(model: Any, tokenizer: Any, constraints: Any) -> None:
    given: dict[str, Any] = {"temperature": 0.7, "num_return_sequences": 3, "continuous_batching_config": small(seed=1)}
    asked = ["A list:"] * 2
    cut = generate_batch(model, tokenizer, asked, grammar=constraints["lists"], max_tokens=4, **given)
    assert not all(text.complete for text in cut)
    for soft in (None, 2):
        texts = generate_batch(
            model, tokenizer, asked, grammar=constraints["lists"], budget=pdacon.Budget(tokens=4, soft=soft), **given
        )
        assert len(texts) == 6
        for one in texts:
            assert one.complete
            assert len(one.token_ids) <= 4
            require_right(constraints["lists"], one)
    with pytest.raises(ValueError, match="nearest sentence takes 2"):
        generate_batch(model, tokenizer, asked, grammar=constraints["lists"], budget=pdacon.Budget(tokens=1))
    with pytest.raises(TypeError, match="budget says how long a text may get; leave max_tokens out"):
        generate_batch(
            model, tokenizer, asked, grammar=constraints["lists"], max_tokens=4, budget=pdacon.Budget(tokens=4)
        )
