"""Arguments of a wrong kind are refused by their names, with what was given, before anything is done."""

from __future__ import annotations

import math
from typing import Any

import pytest

import pdacon
from pdacon.base.arguments import require_seed
from pdacon.integrations.huggingface import load_tiny

WRONG = {
    "seed": ["x", 1.5, b"x", {}, True, object(), ["x"], [1.5], 2**64],
    "max_tokens": ["x", 1.5, math.nan, [1], {}, True, -1, 0],
    "max_new_tokens": ["x", -1],
    "temperature": ["x", [1], math.nan, math.inf, {}, True, -1, object()],
    "num_beams": ["x", 1.5, [1], True],
    "num_return_sequences": ["x", 1.5, [1], True],
    "batch_size": ["x", 1.5, [1], True, 0],
    "eos_token_id": ["x", 1.5, b"x", True, [], [1.5], [True]],
    "pad_token_id": ["x", 1.5, b"x", True, -1],
    "prefix": [1, 1.5, b"x", {}, [1]],
    "budget": ["x", 1],
    "draft": ["x", 1],
    "skip_forced": ["x", 1, 1.5],
    "diagnostics": ["x", 1],
    "do_sample": ["x", 1.5],
    "on_text": ["x", 1],
    "progress": ["x", 1],
    "chat_options": ["x", [1]],
    "start": [1, 1.5, b"x"],
    "stop_strings": [1, 1.5, [1], b"x"],
    "top_p": ["x", [1], math.nan, 1.5, -0.1],
    "top_k": ["x", 1.5, True],
}


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    return load_tiny()


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_options_of_generate(tiny: tuple[Any, Any], name: str, value: Any) -> None:
    options = {name: value} if name == "max_new_tokens" else {"max_tokens": 2, name: value}
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
        pdacon.generate(*tiny, "a", "json", **options)


def test_options_of_a_generator_are_refused_when_it_is_made(tiny: tuple[Any, Any]) -> None:
    with pytest.raises(TypeError, match=r"^Generator: temperature must be a number, .*, not the str 'warm'$"):
        pdacon.Generator(*tiny, "json", temperature="warm")
    with pytest.raises(TypeError, match=r"^Generator: seed must be a whole number, not float$"):
        pdacon.Generator(*tiny, "json").stream("a", seed=0.5)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda pipe: pipe.sample("a", "json", particles="x"), "particles"),
        (lambda pipe: pipe.sample("a", "json", checks=1.5), "checks"),
        (lambda pipe: pipe.sample("a", "json", resample_below="x"), "resample_below"),
        (lambda pipe: pipe.sample("a", "json", max_tokens="x"), "max_tokens"),
        (lambda pipe: pipe.sample("a", "json", seed="x"), "seed"),
        (lambda pipe: pipe.sample("a", "json", prefix=3), "prefix"),
        (lambda pipe: pipe.sample("a", "json", chat_options=3), "chat_options"),
        (lambda pipe: pipe.compute_probability_mass("a", "json", samples=1.5), "samples"),
        (lambda pipe: pipe.compute_probability_mass("a", "json", most_prefixes="x"), "most_prefixes"),
        (lambda pipe: pipe.compute_probability_mass("a", "json", batch_size=[1]), "batch_size"),
        (lambda pipe: pipe.compute_probability_mass("a", "json", seed=1.5), "seed"),
        (lambda pipe: pipe.compute_probability("a", None), "text"),
        (lambda pipe: pipe.compute_probability("a", ["b", 3]), "text"),
        (lambda pipe: pipe.steps("a", "json", budget=5), "budget"),
        (lambda pipe: pipe.steps("a", "json").take("x"), "token"),
        (lambda pipe: pipe.steps("a", "json").take(1.5), "token"),
    ],
)
def test_arguments_of_a_pipeline(tiny: tuple[Any, Any], call: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"\b{name}\b"):
        call(pdacon.Pipeline(*tiny))


@pytest.mark.parametrize("piece", [None, 1.5, [1], {}, True, object()])
def test_what_readers_are_fed(piece: Any) -> None:
    def weather(city: str) -> None: ...

    grammar = pdacon.Grammar.from_tools([weather], format="hermes")
    reader = pdacon.compile(grammar, pdacon.Vocabulary.bytes()).reader()
    with pytest.raises(TypeError, match=r"^feed takes a token's id, a str or bytes, not "):
        reader.feed(piece)
    assert [event.text for event in reader.feed("a")] == ["a"]  # nothing was begun by what was refused
    partial = pdacon.compile(list[int], pdacon.Vocabulary.bytes()).partial()
    with pytest.raises(TypeError, match=r"^feed: text must be a str, not "):
        partial.feed(piece)


@pytest.mark.parametrize(("name", "value"), [("seed", "x"), ("seed", 1.5), ("seed", [1]), ("size", "x"), ("size", 2.5)])
def test_arguments_of_samples(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=rf"^sample: {name} must be a whole number, not "):
        pdacon.Grammar.builtin("json").sample(1, **{name: value})


@pytest.mark.parametrize("wrong", ["x", 1.5, [1], b"x", {}, object()])
def test_arguments_of_grammars(wrong: Any) -> None:
    grammar = pdacon.Grammar.builtin("json")
    with pytest.raises(ValueError, match="is not a start of this grammar"):
        grammar.sample(1, start=wrong)
    with pytest.raises(TypeError, match=r"^explain: lexemes must be a whole number, not "):
        grammar.explain("[", lexemes=wrong)
    with pytest.raises(TypeError, match=r"^cancel must have is_set"):
        pdacon.Grammar.from_type(list[str], cancel=wrong)
    for way in (pdacon.Grammar.from_regex, pdacon.Grammar.from_choices, pdacon.RegularSet.from_choices):
        with pytest.raises(TypeError, match=r": limits must be a pdacon.Limits, not "):
            way("a", limits=wrong)
    if not isinstance(wrong, str):
        with pytest.raises(TypeError, match=r"^Grammar.from_ebnf: root_rule_name must be the name of a rule, not "):
            pdacon.Grammar.from_ebnf('root ::= "a"', root_rule_name=wrong)
        with pytest.raises(TypeError, match=r"^CompileCache: store must be a URL of fsspec.s, not "):
            pdacon.CompileCache(store=wrong)
    if not isinstance(wrong, float):
        with pytest.raises(TypeError, match=r"^seconds must be a number, not "):
            pdacon.Grammar.from_json_schema({}, seconds=wrong)
    if not isinstance(wrong, str):
        with pytest.raises(TypeError, match=r"^at: pointer must be a JSON pointer, not "):
            pdacon.compile("json", pdacon.Vocabulary.bytes()).partial().at(wrong)


def test_a_seed_that_is_too_large() -> None:
    with pytest.raises(ValueError, match=r"^generate: seed is 1000000.*; it must be from -2\*\*63 to"):
        require_seed("generate", 10**400)


def test_a_time_that_is_no_number() -> None:
    with pytest.raises(ValueError, match=r"^seconds is nan"):
        pdacon.Grammar.from_type(list[str], seconds=math.nan)
