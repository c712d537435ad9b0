"""``generation_config=``, the model's own configuration, and single arguments: who goes before whom."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from transformers import ContinuousBatchingConfig, GenerationConfig

import pdacon
from pdacon import Generator, Grammar, generate
from pdacon.integrations.huggingface import generate_batch, load_tiny

PROMPT = "Describe a person as JSON:"
OPTIONS: dict[str, Any] = {"grammar": "json_dumps", "seed": 5}


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    return load_tiny()


@pytest.fixture
def configured(tiny: tuple[Any, Any]) -> Iterator[Any]:
    """The model's own configuration, to be changed; it is put back."""
    model, _ = tiny
    kept = copy.deepcopy(model.generation_config)
    yield model.generation_config
    model.generation_config = kept


def config(**values: Any) -> Any:
    made: Any = GenerationConfig
    return made(**values)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "alike"),
    [
        ({"max_new_tokens": 40, "do_sample": False}, {"max_tokens": 40, "temperature": 0}),
        ({"max_new_tokens": 60, "do_sample": True, "temperature": 0.4}, {"max_tokens": 60, "temperature": 0.4}),
        ({"temperature": 1.5, "top_k": 3}, {"temperature": 1.5, "top_k": 3}),
        ({"top_p": 0.3}, {"top_p": 0.3}),
        ({"repetition_penalty": 1.3, "do_sample": False}, {"repetition_penalty": 1.3, "temperature": 0}),
        ({"num_beams": 3}, {"num_beams": 3}),
        ({"num_beams": 3, "do_sample": True}, {"num_beams": 3, "temperature": 0.8}),
        ({"num_return_sequences": 2, "do_sample": True}, {"num_return_sequences": 2}),
        ({"stop_strings": [","]}, {"stop_strings": [","]}),
        ({"pad_token_id": 1}, {}),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else None,
)
@pytest.mark.filterwarnings("ignore::pdacon.IncompleteWarning")
def test_a_configuration_is_its_values(tiny: tuple[Any, Any], values: Any, alike: Any) -> None:
    assert generate(*tiny, PROMPT, generation_config=config(**values), **OPTIONS) == generate(
        *tiny, PROMPT, **OPTIONS, **alike
    )


@pytest.mark.slow
def test_an_argument_goes_before_a_configuration(tiny: tuple[Any, Any]) -> None:
    given = config(max_new_tokens=3, do_sample=True, temperature=2.0)
    greedy = generate(*tiny, PROMPT, grammar="json_dumps", temperature=0, max_tokens=200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = {"generation_config": given, "do_sample": False, "max_new_tokens": 200}
        assert generate(*tiny, PROMPT, grammar="json_dumps", **own) == greedy
    small = ContinuousBatchingConfig(num_blocks=16, max_batch_tokens=64)  # by default a cache that fills the memory
    (batched,) = generate_batch(*tiny, [PROMPT], grammar="json_dumps", continuous_batching_config=small, **own)
    assert batched.text == greedy.text


@pytest.mark.filterwarnings("ignore::pdacon.IncompleteWarning")
def test_the_models_own_configuration_holds(tiny: tuple[Any, Any], configured: Any) -> None:
    warm = generate(*tiny, PROMPT, **OPTIONS, temperature=0.5, max_tokens=9)
    configured.update(temperature=0.5, max_new_tokens=9)
    assert generate(*tiny, PROMPT, **OPTIONS) == warm
    configured.do_sample = False
    assert generate(*tiny, PROMPT, grammar="json_dumps") == generate(*tiny, PROMPT, **OPTIONS, temperature=0)
    given = config(do_sample=True)
    assert generate(*tiny, PROMPT, **OPTIONS, generation_config=given) == warm


@pytest.mark.slow
def test_a_copy_of_the_models_configuration_says_nothing_new(tiny: tuple[Any, Any], configured: Any) -> None:
    configured.update(max_length=300, forced_eos_token_id=1)
    drawn = generate(*tiny, PROMPT, **OPTIONS)
    assert generate(*tiny, PROMPT, **OPTIONS, generation_config=copy.deepcopy(configured)) == drawn


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"temperature": 1}, "must be a transformers.GenerationConfig, not dict"),
        (config(max_length=50), "max_length counts the prompt, too; set max_new_tokens"),
        (config(best_of=3), "generation_config.best_of is nothing that transformers"),
    ],
    ids=["a dict", "max_length", "a name that there is not"],
)
def test_what_a_configuration_cannot_say(tiny: tuple[Any, Any], given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        generate(*tiny, PROMPT, grammar="json", generation_config=given)
    with pytest.raises(TypeError, match=message):
        Generator(*tiny, "json", generation_config=given)


@pytest.mark.slow
def test_other_ends(tiny: tuple[Any, Any]) -> None:
    """The tokens that end a text are those that a call says, and stand for no text then."""
    model, tokenizer = tiny
    grammar = Grammar.from_lark('start: "a" | "ab" | "abc"')
    end = tokenizer.convert_tokens_to_ids("b")
    answer = generate(model, tokenizer, "Say:", grammar=grammar, eos_token_id=end, seed=1)
    assert (answer.token_ids[-1], answer.complete) == (end, True)
    assert set(answer.text) == {"a"}  # neither b nor what begins with it
    same = generate(model, tokenizer, "Say:", grammar=grammar, generation_config=config(eos_token_id=[end]), seed=1)
    assert same == answer
    write = Generator(model, tokenizer, grammar, eos_token_id=[end])
    assert write("Say:", seed=1) == answer
    assert write.constraint.vocabulary.eos_ids == (end,)
    free, held = generate(model, tokenizer, ["Say:", "Say:"], [None, grammar], eos_token_id=end, seed=1, max_tokens=30)
    assert end not in free.token_ids[:-1]
    assert held.token_ids[-1] == end
    with pytest.raises(ValueError, match=r"eos_token_id is \[1\], but the constraint ends with \[\d+\]; give the gr"):
        write("Say:", eos_token_id=1)


@pytest.mark.slow
def test_a_call_of_a_generator_may_have_a_configuration(tiny: tuple[Any, Any]) -> None:
    write = Generator(*tiny, "json_dumps", temperature=1.5, max_tokens=4)
    greedy = generate(*tiny, PROMPT, grammar="json_dumps", temperature=0, max_tokens=150)
    assert write(PROMPT, generation_config=config(do_sample=False, max_new_tokens=150)) == greedy


@pytest.mark.slow
def test_a_grammar_by_its_place(tiny: tuple[Any, Any]) -> None:
    constraint = pdacon.compile("json_dumps", tokenizer=tiny[1], model=tiny[0])
    drawn = generate(*tiny, PROMPT, grammar=constraint, seed=1)
    assert generate(*tiny, PROMPT, "json_dumps", seed=1) == drawn
    assert generate(*tiny, PROMPT, constraint, seed=1) == drawn


@pytest.mark.parametrize("bad", ["start: a", "jsonn", 7], ids=["a text", "a name", "a number"])
def test_a_bad_grammar_in_a_list_has_its_number(tiny: tuple[Any, Any], bad: Any) -> None:
    grammars: Any = ["json", None, bad]
    with pytest.raises((pdacon.GrammarError, ValueError, TypeError), match=r"^generate: grammar\[2\]: ") as caught:
        generate(*tiny, ["a", "b", "c"], grammar=grammars)
    assert str(caught.value).count("generate:") == 1
    with pytest.raises((pdacon.GrammarError, ValueError, TypeError), match=r"^Generator: grammar\[2\]: "):
        Generator(*tiny, grammars)
