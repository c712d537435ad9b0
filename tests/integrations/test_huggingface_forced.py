"""Tokens that are the only ones allowed: appended without asking the model, and the texts are the same."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import pdacon
from pdacon.integrations.huggingface import Draft, Generator, generate, load_tiny

PROMPT = "Describe a person as JSON:"
RECORD = r"""
start: "{\"name\": \"" NAME "\", \"occupation\": \"" JOB "\", \"is_member\": " BOOL "}"
NAME: /[A-Z][a-z]{2,8}/
JOB: "engineer" | "teacher" | "physician" | "carpenter" | "astronomer"
BOOL: "true" | "false"
"""
GRAMMARS = {
    "a record": RECORD,
    "one text": pdacon.Grammar.from_choices(['{"name": "Anna"}']),
    "companies": pdacon.Grammar.from_choices(["Alphabet", "Amazon", "Apple"]),
    "json": "json",
}


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    return load_tiny()


@contextmanager
def counted(model: Any) -> Iterator[list[int]]:
    """The number of columns of each pass of the model."""
    columns: list[int] = []
    hook = model.register_forward_pre_hook(
        lambda _module, _args, kwargs: columns.append(kwargs["input_ids"].shape[1]), with_kwargs=True
    )
    try:
        yield columns
    finally:
        hook.remove()


def forced_in(constraint: pdacon.Constraint, token_ids: tuple[int, ...]) -> int:
    """How many tokens of an answer are the only ones that are allowed, its end token aside."""
    matcher, forced = constraint.matcher(), 0
    for token in token_ids:
        allowed = matcher.allowed_tokens()
        forced += allowed == [token] and token not in constraint.vocabulary.eos_ids
        assert matcher.accept_token(token)
    return forced


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("name", GRAMMARS)
def test_greedy_texts_are_the_same_in_fewer_passes(tiny: tuple[Any, Any], name: str, canonical: bool) -> None:
    model, tokenizer = tiny
    made = pdacon.compile(GRAMMARS[name], tokenizer=tokenizer, model=model, canonical=canonical)
    options: dict[str, Any] = {"grammar": made, "temperature": 0, "max_tokens": 60}
    alone = generate(model, tokenizer, PROMPT, **options)
    with counted(model) as columns:
        skipped = generate(model, tokenizer, PROMPT, skip_forced=True, **options)
    assert skipped == alone
    assert skipped.passes == len(columns)
    forced = forced_in(made, alone.token_ids)
    assert skipped.skipped == forced
    assert forced + len(columns) == len(alone.token_ids)
    assert skipped.skip_rate == forced / len(alone.token_ids)
    if canonical and name == "a record":
        assert skipped.skip_rate > 0.7
    if canonical and name == "one text":  # the first pass reads the whole text behind the prompt; its end is left
        assert columns == [len(tokenizer(PROMPT)["input_ids"]) + forced]


def test_runs_of_tokens_are_read_in_one_pass(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    made = pdacon.compile(RECORD, tokenizer=tokenizer, model=model, canonical=True)
    with counted(model) as columns:
        answer = generate(model, tokenizer, PROMPT, grammar=made, temperature=0, skip_forced=True)
    assert answer.complete
    assert sum(columns) - len(tokenizer(PROMPT)["input_ids"]) == len(answer.token_ids) - 1  # each once, but for the end
    assert max(columns[1:]) > 5


def test_sampled_texts_keep_to_the_constraint_and_count_what_they_skip(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    made = pdacon.compile(RECORD, tokenizer=tokenizer, model=model, canonical=True)
    for seed in range(4):
        answer = generate(model, tokenizer, PROMPT, grammar=made, seed=seed, skip_forced=True)
        assert made.accepts(answer.text)
        assert answer.skipped == forced_in(made, answer.token_ids)
        assert list(answer.token_ids[:-1]) == tokenizer.encode(answer.text, add_special_tokens=False)


@pytest.mark.parametrize("most", range(1, 12))
def test_no_more_tokens_than_there_may_be(tiny: tuple[Any, Any], most: int) -> None:
    model, tokenizer = tiny
    made = pdacon.compile(RECORD, tokenizer=tokenizer, model=model, canonical=True)
    options: dict[str, Any] = {"grammar": made, "temperature": 0, "max_tokens": most}
    with pytest.warns(pdacon.IncompleteWarning):
        assert generate(model, tokenizer, PROMPT, skip_forced=True, **options) == generate(
            model, tokenizer, PROMPT, **options
        )


@pytest.mark.slow
def test_beside_other_options(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    made = pdacon.compile(RECORD, tokenizer=tokenizer, model=model)
    budget = {"budget": pdacon.Budget(tokens=60), "max_tokens": None}
    for more in (budget, {"prefix": '{"name": "A'}, {"diagnostics": True}, {"stop_strings": ["occ"]}):
        options: dict[str, Any] = {"grammar": made, "temperature": 0, "max_tokens": 60, **more}
        answer = generate(model, tokenizer, PROMPT, skip_forced=True, **options)
        assert answer == generate(model, tokenizer, PROMPT, **options)
    pieces: list[str] = []
    write = Generator(model, tokenizer, made, temperature=0, skip_forced=True)
    answer = write(PROMPT, on_text=pieces.append)
    assert "".join(pieces) == answer.text
    assert "".join(write.stream(PROMPT)) == answer.text
    again = pickle.loads(pickle.dumps(answer))
    assert (again.skipped, again.passes, again.skip_rate) == (answer.skipped, answer.passes, answer.skip_rate)
    through = pdacon.Pipeline(model, tokenizer).generate(PROMPT, made, temperature=0, skip_forced=True)
    assert (through.text, through.skipped) == (answer.text, answer.skipped)


def test_another_processor_that_forbids_what_is_forced_is_named(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    made = pdacon.compile(GRAMMARS["one text"], tokenizer=tokenizer, model=model, canonical=True)
    second = made.matcher().forced_tokens()[1]
    for skip_forced in (False, True):
        with pytest.raises(pdacon.MatcherError, match="another logits processor"):
            generate(model, tokenizer, PROMPT, grammar=made, suppress_tokens=[second], skip_forced=skip_forced)


def test_what_it_is_for(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    made = pdacon.compile(RECORD, tokenizer=tokenizer, model=model)
    for options in ({"num_beams": 2}, {"num_return_sequences": 2}):
        with pytest.raises(ValueError, match="skip_forced is for one text"):
            generate(model, tokenizer, PROMPT, grammar=made, skip_forced=True, **options)  # type: ignore[arg-type]
    for other in ({"draft": Draft(made)}, {"prompt_lookup_num_tokens": 3}, {"assistant_model": model}):
        with pytest.raises(TypeError, match="give one of them"):
            generate(model, tokenizer, PROMPT, grammar=made, skip_forced=True, **other)
    with pytest.raises(TypeError, match="skip_forced"):
        generate(model, tokenizer, PROMPT, grammar=made, skip_forced=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"canonical=\.\.\."):
        generate(model, tokenizer, PROMPT, RECORD, canonical=True)
    with pytest.raises(ValueError, match="skip_forced=True"):
        _ = generate(model, tokenizer, PROMPT, grammar=made, temperature=0).skip_rate
