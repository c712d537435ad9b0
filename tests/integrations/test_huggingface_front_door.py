"""The short ways: names of grammars, one answer for one prompt, a Generator, a constraint for each prompt."""

from __future__ import annotations

import copy
import json
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import pdacon
from pdacon import Generator, IncompleteWarning, generate
from pdacon.integrations.huggingface import Generation, PDALogitsProcessor, generate_batch, load_tiny, vocabulary

PROMPT = "Describe a person as JSON:"
PERSON = r"""
start: "{\"name\": " NAME ", \"age\": " AGE "}"
NAME: /"[a-zA-Z< ]{1,20}"/
AGE: /[1-9][0-9]?/
"""


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    return load_tiny()


@pytest.mark.slow
def test_one_prompt_has_one_answer_with_its_value(tiny: tuple[Any, Any]) -> None:
    answer = generate(*tiny, PROMPT, grammar="json_dumps", seed=1)
    assert isinstance(answer, Generation)
    assert answer.complete
    assert str(answer) == answer.text == f"{answer}"
    assert answer.value == json.loads(answer.text)
    again = pickle.loads(pickle.dumps(answer))
    assert (again, again.value) == (answer, answer.value)
    answers = generate(*tiny, [PROMPT], grammar="json_dumps", seed=1)
    assert answers == [answer]


def test_a_notebook_shows_how_free_each_token_was(tiny: tuple[Any, Any]) -> None:
    answer = generate(*tiny, PROMPT, grammar=PERSON, seed=1, prefix='{"name": "<')
    assert answer.complete
    html = answer._repr_html_()
    assert html.count("<span") == len(answer.token_ids)
    assert re.sub(r"<[^>]*>", "", html).startswith(answer.text.replace("<", "&lt;"))
    counts = [int(count.replace(",", "")) for count in re.findall(r"title=\"([\d,]+) of", html)]
    assert 1 <= min(counts) < max(counts)
    again = pickle.loads(pickle.dumps(answer))
    assert "<span" not in again._repr_html_()


@pytest.mark.slow
def test_what_was_written_for_a_list_of_one_still_works(tiny: tuple[Any, Any]) -> None:
    answer = generate(*tiny, PROMPT, grammar="json_dumps", temperature=0)
    (same,) = generate(*tiny, PROMPT, grammar="json_dumps", temperature=0)
    assert same == answer == answer[0]
    assert [one.text for one in answer] == [answer.text]
    with pytest.raises(IndexError):
        answer[1]


def test_lists_come_as_lists(tiny: tuple[Any, Any]) -> None:
    chat = [{"role": "user", "content": PROMPT}]
    model, tokenizer = tiny
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
    try:
        assert isinstance(generate(model, tokenizer, chat, grammar=PERSON, seed=1), Generation)
        assert isinstance(generate(model, tokenizer, [chat], grammar=PERSON, seed=1), list)
    finally:
        tokenizer.chat_template = None
    several: Any = generate(*tiny, PROMPT, grammar=PERSON, num_return_sequences=2, seed=1)
    assert [type(one) for one in several] == [Generation] * 2


def test_the_ways_to_name_a_grammar(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    path = tmp_path / "person.lark"
    path.write_text(PERSON)
    loaded = pdacon.Grammar.from_lark(PERSON)
    options: Any = {"temperature": 0, "max_new_tokens": 60}
    texts = {generate(*tiny, PROMPT, grammar=given, **options).text for given in (PERSON, path, loaded)}
    assert len(texts) == 1
    assert list(json.loads(texts.pop())) == ["name", "age"]


@pytest.mark.slow
def test_names_that_transformers_has(tiny: tuple[Any, Any]) -> None:
    greedy = generate(*tiny, PROMPT, grammar="json_dumps", temperature=0, max_tokens=30)
    assert generate(*tiny, PROMPT, grammar="json_dumps", do_sample=False, max_new_tokens=30) == greedy
    drawn = generate(*tiny, PROMPT, grammar="json_dumps", seed=1, max_tokens=30)
    assert generate(*tiny, PROMPT, grammar="json_dumps", do_sample=True, seed=1, max_new_tokens=30) == drawn
    warm = generate(*tiny, PROMPT, grammar="json_dumps", do_sample=True, temperature=0.7, seed=1, max_new_tokens=30)
    assert warm.text.startswith("{")


@pytest.mark.slow
def test_a_text_that_is_cut_warns_and_has_no_value(tiny: tuple[Any, Any]) -> None:
    with pytest.warns(IncompleteWarning, match="the text was cut off after 3 tokens") as caught:
        answer = generate(*tiny, PROMPT, grammar="json_dumps", temperature=0, max_new_tokens=3)
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="cut off after 3 tokens; give more max_new_tokens"):
        _ = answer.value
    with pytest.warns(IncompleteWarning, match="2 of 2 texts were"):
        generate(*tiny, [PROMPT] * 2, grammar="json_dumps", temperature=0, max_new_tokens=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = generate(*tiny, PROMPT, grammar="json_dumps", temperature=0, prefix=answer)
    assert whole.text.startswith(answer.text)
    with pytest.raises(TypeError, match="knows no values"):
        _ = generate(*tiny, PROMPT, grammar=PERSON, temperature=0).value


@pytest.mark.slow
def test_a_generator_compiles_once(tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    write = Generator(*tiny, "json_dumps", temperature=0, max_new_tokens=200)
    monkeypatch.setattr("pdacon.integrations.huggingface.arguments.compile", None)
    answer = write(PROMPT)
    assert answer.value == write(PROMPT).value
    assert answer.text.startswith("{")
    texts = write([PROMPT, "A city:"], temperature=1, seed=3)
    assert len(texts) == 2
    assert Generator(*tiny, write.constraint, temperature=0, max_new_tokens=200)(PROMPT) == answer
    assert repr(write).startswith("<Generator of <Constraint of json_dumps for ")
    other = pdacon.compile("json", pdacon.Vocabulary.bytes())
    with pytest.raises(pdacon.VocabularyError, match="another vocabulary"):
        Generator(*tiny, other)


def test_a_generator_with_a_grammar_for_each_prompt(tiny: tuple[Any, Any]) -> None:
    digits = pdacon.compile('start: /[0-9]{3}/ "."', tokenizer=tiny[1], model=tiny[0])
    write = Generator(*tiny, [PERSON, digits, None, PERSON], seed=1, max_new_tokens=40)
    answers = write([PROMPT] * 4)
    assert write.constraint[0] is write.constraint[3]
    assert write.constraint[1:3] == [digits, None]
    assert list(json.loads(answers[0].text)) == ["name", "age"]
    assert re.fullmatch(r"[0-9]{3}\.", answers[1].text)
    with pytest.raises(ValueError, match="there are 2 prompts, but 4 grammars"):
        write([PROMPT] * 2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"max_token": 3}, TypeError, "no.* option max_token; did you mean max_tokens"),
        ({"nonsense": 3}, TypeError, "neither Generator nor model.generate has an option nonsense$"),
        ({"conflicts": "shift"}, TypeError, r"Grammar\.builtin\(name, conflicts="),
        ({"eager": True}, TypeError, r"pdacon\.compile\(grammar, .*eager="),
        ({"json_schema": {"type": "object"}}, TypeError, r"Grammar\.from_json_schema"),
        ({"constraint": "json"}, TypeError, "has no option constraint; give it as grammar"),
        ({"max_length": 3}, TypeError, "sets max_length itself"),
        ({"start": "nobody"}, ValueError, "nobody"),
        ({"max_tokens": 0}, ValueError, "max_tokens is 0"),
        ({"temperature": -1}, ValueError, "temperature is -1"),
        ({"max_tokens": 3, "max_new_tokens": 3}, TypeError, "two names"),
    ],
)
def test_a_generator_checks_its_options_when_it_is_made(
    tiny: tuple[Any, Any], options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises((error, pdacon.GrammarError) if "start" in options else error, match=words):
        Generator(*tiny, "json", **options)


def test_a_call_of_a_generator_goes_before_its_options(tiny: tuple[Any, Any]) -> None:
    write = Generator(*tiny, "json", start="array", temperature=0, max_new_tokens=3)
    with pytest.warns(IncompleteWarning):
        assert len(write("A list:").token_ids) == 3
    with pytest.warns(IncompleteWarning):
        answer = write("A list:", max_tokens=2, do_sample=True, seed=1)
    assert len(answer.token_ids) == 2
    assert answer.text.strip()[0] == "["
    with pytest.raises(TypeError, match=r"pdacon\.generate\(model, tokenizer, prompt, grammar="):
        write("A list:", grammar="json")
    with pytest.raises(TypeError, match="option top_x"):
        write("A list:", top_x=1)
    with pytest.raises(TypeError, match="neither generate nor"):
        generate(*tiny, "A list:", grammar="json", top_x=1)


@pytest.mark.slow
@pytest.mark.parametrize("run", [generate, generate_batch])
def test_a_constraint_for_each_prompt(tiny: tuple[Any, Any], run: Any) -> None:
    """Each answer is what the prompt has alone."""
    model, tokenizer = tiny
    person = pdacon.compile(PERSON, tokenizer=tokenizer, model=model)
    digits = pdacon.compile('start: /[0-9]{3}/ "."', tokenizer=tokenizer, model=model)
    options: Any = {"temperature": 0, "max_new_tokens": 40}
    if run is generate_batch:
        from transformers import ContinuousBatchingConfig

        options["continuous_batching_config"] = ContinuousBatchingConfig(num_blocks=16, max_batch_tokens=64)
    prompts = [PROMPT, PROMPT, PROMPT, "A city:"]
    mixed = run(model, tokenizer, prompts, grammar=[person, digits, None, person], **options)
    assert [one.prompt for one in mixed] == [0, 1, 2, 3]
    assert list(json.loads(mixed[0].text)) == ["name", "age"]
    assert len(mixed[1].text) == 4
    assert mixed[0].complete
    assert mixed[3].complete
    for index, one in enumerate([person, digits, person]):
        at = (0, 1, 3)[index]
        alone = generate(model, tokenizer, prompts[at], grammar=one, temperature=0, max_new_tokens=40)
        assert mixed[at].text == alone.text
    plain = tokenizer(PROMPT, return_tensors="pt")
    free = model.generate(**plain, do_sample=False, max_new_tokens=40)[0, plain["input_ids"].shape[1] :]
    assert mixed[2].text == tokenizer.decode(free, skip_special_tokens=True)


@pytest.mark.slow
def test_grammars_for_each_prompt(tiny: tuple[Any, Any]) -> None:
    answers = generate(*tiny, [PROMPT] * 3, grammar=["json_dumps", PERSON, None], seed=1, max_new_tokens=60)
    assert answers[0].grammar == "json_dumps"
    assert list(json.loads(answers[1].text)) == ["name", "age"]
    with pytest.raises(ValueError, match=r"there is 1 prompt, but 2 grammars.*Grammar\.from_choices"):
        generate(*tiny, [PROMPT], grammar=["json", "json"])
    several = generate(*tiny, [PROMPT] * 2, grammar=[PERSON, None], num_beams=2, num_return_sequences=2)
    assert {one.prompt for one in several} == {0, 1}


def test_a_processor_with_a_constraint_for_each_prompt(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = tiny
    person = pdacon.compile(PERSON, vocabulary(model, tokenizer))
    inputs = tokenizer([PROMPT, PROMPT], return_tensors="pt")
    processor = PDALogitsProcessor([person, None])
    output = model.generate(**inputs, max_new_tokens=30, do_sample=False, logits_processor=[processor])
    texts = tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    assert texts[0].startswith('{"name": ')
    free = model.generate(**inputs, max_new_tokens=30, do_sample=False)[1, inputs["input_ids"].shape[1] :]
    assert texts[1] == tokenizer.decode(free, skip_special_tokens=True)
    with pytest.raises(ValueError, match="no constraint; give at least one"):
        PDALogitsProcessor([None])
    with pytest.raises(ValueError, match="2 constraints and 3 prefixes"):
        PDALogitsProcessor([person, None], prefix=["", "", ""])


def test_the_number_of_threads_is_as_before(tiny: tuple[Any, Any]) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        generate(*tiny, PROMPT, grammar=PERSON, temperature=0)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_what_stands_in_a_wrong_place(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    model, tokenizer = tiny
    path = tmp_path / "json.pda"
    pdacon.compile("json", tokenizer=tokenizer, model=model).save(path)
    wrong: list[tuple[Any, type[Exception], str]] = [
        (
            lambda: PDALogitsProcessor("json_dumps", tokenizer=tokenizer, model=model),  # type: ignore[arg-type]
            TypeError,
            r"give pdacon\.compile\('json_dumps', tokenizer=tokenizer, model=model\)",
        ),
        (lambda: generate(tokenizer, model, PROMPT, grammar="json"), TypeError, "the model comes first"),
        (lambda: Generator(tokenizer, model, "json"), TypeError, "the model comes first"),
        (lambda: generate(model, tokenizer, PROMPT), TypeError, "generate needs a grammar"),
        (lambda: generate(model, tokenizer, PROMPT, grammar={}), TypeError, r"Grammar\.from_json_schema"),
        (lambda: Generator(model, tokenizer, path), pdacon.GrammarSyntaxError, r"pdacon\.Constraint\.load\("),
        (lambda: generate(model, tokenizer, "word " * 2000, grammar="json"), ValueError, "context is of 1,024"),
        (
            lambda: generate(model, tokenizer, ["Hi", "word " * 2000], grammar="json"),
            ValueError,
            r"prompt 1 has \d,\d+ tokens, and the model's context",
        ),
    ]
    for call, error, words in wrong:
        with pytest.raises(error, match=words):
            call()


def test_a_tokenizer_without_an_end(tiny: tuple[Any, Any]) -> None:
    model, tokenizer = copy.deepcopy(tiny)
    tokenizer.eos_token = None
    model.generation_config.eos_token_id = None
    with pytest.raises(pdacon.VocabularyError, match=r"set tokenizer\.eos_token or model\.generation_config"):
        generate(model, tokenizer, PROMPT, grammar="json")


def test_a_saved_constraint_is_loaded_for_a_model(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    model, tokenizer = tiny
    path = tmp_path / "json.pda"
    pdacon.compile("json_dumps", tokenizer=tokenizer, model=model).save(path)
    loaded = pdacon.Constraint.load(path, tokenizer=tokenizer, model=model, grammar="json_dumps")
    assert Generator(model, tokenizer, loaded, temperature=0)(PROMPT).complete
    with pytest.raises(pdacon.ArtifactError, match="compiled from another grammar"):
        pdacon.Constraint.load(path, grammar="json")
    with pytest.raises(TypeError, match="give vocabulary or tokenizer; both are for what was compiled with canonical"):
        pdacon.Constraint.load(path, loaded.vocabulary, tokenizer=tokenizer)
    with pytest.raises(TypeError, match="give vocabulary, or tokenizer and model"):
        pdacon.Constraint.load(path, loaded.vocabulary, tokenizer=tokenizer, model=model)
