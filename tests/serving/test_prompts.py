"""Prompts: chat templates and what clients may tell them, lengths that are refused before they cost anything."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from serving.conftest import KEY, Running

from pdacon.detokenizer import vocabulary_of
from pdacon.integrations.huggingface import load_tiny
from pdacon.serving.failures import RequestError
from pdacon.serving.prompts import Prompts
from pdacon.serving.protocol import ChatRequest, CompletionRequest

ASKED = [{"role": "user", "content": "hi"}]
RESERVED = (
    "chat_template", "tokenize", "return_tensors", "truncation", "tools", "messages", "conversation", "padding",
    "max_length", "return_dict", "add_generation_prompt", "continue_final_message", "tokenizer_kwargs", "self",
    "return_assistant_tokens_mask", "bos_token", "eos_token", "pad_token",
)  # fmt: skip
LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"


@pytest.fixture(scope="module")
def tiny() -> Any:
    return load_tiny()


def prompts_of(tiny: Any, template: str | None = None, context: int = 64, seconds: float = 60.0) -> Prompts:
    model, tokenizer = tiny
    tokenizer.chat_template = template
    vocabulary = vocabulary_of("test", tokenizer=tokenizer, model=model)
    engine: Any = SimpleNamespace(tokenizer=tokenizer, model=model, vocabulary=vocabulary, context=context)
    return Prompts(engine, seconds)


def chat(**fields: Any) -> ChatRequest:
    return ChatRequest.model_validate({"messages": ASKED, **fields})


@pytest.mark.parametrize("name", RESERVED)
def test_clients_do_not_tell_templates_what_the_server_does(server: Running, tiny: Any, name: str) -> None:
    options = {name: LOOPS}
    for template in (None, "{{ messages[0].content }}"):
        with pytest.raises(RequestError, match=name) as refusal:
            prompts_of(tiny, template).of_chat(chat(chat_template_kwargs=options))
        assert (refusal.value.status, refusal.value.param) == (400, f"chat_template_kwargs.{name}")
    answer = httpx.post(
        f"{server.address}/v1/chat/completions",
        json={"messages": ASKED, "chat_template_kwargs": options},
        headers={"Authorization": f"Bearer {KEY}"},
    )
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, f"chat_template_kwargs.{name}")


def test_other_names_reach_the_template(tiny: Any) -> None:
    prompts = prompts_of(tiny, "{{ thinking }}{{ documents[0].text }}{{ messages[0].content }}")
    options = {"thinking": "ab", "documents": [{"text": "cd"}]}
    assert (
        prompts.of_chat(chat(chat_template_kwargs=options)) == tiny[1]("abcdhi", add_special_tokens=False)["input_ids"]
    )


@pytest.mark.parametrize(
    "template",
    [
        LOOPS,
        "{{ range(99999) | map('string') | list | length }}" * 200,
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    ],
)
def test_a_template_that_does_not_end_is_stopped(tiny: Any, template: str) -> None:
    prompts = prompts_of(tiny, template, seconds=0.05)
    with pytest.raises(RequestError, match="chat template") as refusal:
        prompts.of_chat(chat())
    assert (refusal.value.status, refusal.value.param) == (400, "messages")
    assert prompts_of(tiny, "{{ messages[0].content }}").of_chat(chat())  # this thread goes on


def test_a_stack_that_overflows_as_the_time_ends(tiny: Any) -> None:
    """What stops a template is raised by its own code: what is sent from outside is swallowed, or ends the process."""
    for seconds in range(20):
        prompts = prompts_of(tiny, "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", seconds=seconds / 1_000)
        with pytest.raises(RequestError, match="chat template"):
            prompts.of_chat(chat())


@pytest.mark.parametrize("options", [{"x" * 10_000: 1}, {"a b": {}}, {"": None}, {"kwargs": {}, "args": []}])
def test_odd_names_of_options_are_no_failure(tiny: Any, options: Any) -> None:
    prompts = prompts_of(tiny, "{% for i in range(2) %}x{% endfor %}")
    assert prompts.of_chat(chat(chat_template_kwargs=options))


def test_what_a_template_raises_is_an_error_of_the_request(tiny: Any) -> None:
    with pytest.raises(RequestError, match="does not take these messages"):
        prompts_of(tiny, "{% for i in range(2) %}x{% endfor %}").of_chat(chat(chat_template_kwargs={"range": 5}))


def test_what_is_too_long_is_refused_before_it_is_tokenized(tiny: Any) -> None:
    prompts = prompts_of(tiny)
    calls: list[str] = []

    class Counting:
        bos_token_id = None

        def __call__(self, text: str, **options: Any) -> dict[str, list[int]]:
            calls.append(text)
            return {"input_ids": [1] * len(text)}

    prompts._tokenizer = Counting()
    longest = max(len(text) for text in prompts._engine.vocabulary.tokens if text)
    with pytest.raises(RequestError, match="bytes") as refusal:
        prompts.of_text("x" * (64 * longest + 1), "prompt")
    assert (refusal.value.code, calls) == ("context_length_exceeded", [])
    with pytest.raises(RequestError, match="64 tokens, and"):
        prompts.of_text("x" * 64, "prompt")
    assert prompts.of_text("x" * 63, "prompt") == [1] * 63
    with pytest.raises(RequestError, match="is empty"):
        prompts.of_text("", "prompt")
    for number in range(2, 6):
        request = CompletionRequest.model_validate({"prompt": ["x"] * number})
        if number > 3:
            with pytest.raises(RequestError, match="at most 3"):
                prompts.of_completion(request, 3)
        else:
            assert prompts.of_completion(request, 3) == [[1]] * number
    assert calls.count("x") == 5


def test_the_longest_text_of_each_token_has_room(tiny: Any) -> None:
    """Whatever fits by tokens fits by bytes: texts of the longest token, and of the longest added one."""
    prompts = prompts_of(tiny)
    tokens = [text for text in prompts._engine.vocabulary.tokens if text]
    for text in (max(tokens, key=len).decode(), *tiny[1].get_added_vocab()):
        ids = prompts.of_text(text * 20, "prompt", special=False)
        assert len(ids) < 64


@pytest.mark.parametrize(
    "prompt",
    [[], {}, 1, None, True, [True], [1, "a"], [[], "x"], [[1], ["x"]], [[1.5]], [None], [[[1]]], ["x", 1], [1.0]],
)
def test_what_is_no_prompt_is_refused(server: Running, prompt: Any) -> None:
    answer = httpx.post(
        f"{server.address}/v1/completions", json={"prompt": prompt}, headers={"Authorization": f"Bearer {KEY}"}
    )
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "prompt")


@pytest.mark.parametrize("prompt", [[-1], [10**4000], [[1], [99999]], [1536], [3] * 5000])
def test_ids_that_are_no_tokens_are_refused(server: Running, prompt: Any) -> None:
    answer = httpx.post(
        f"{server.address}/v1/completions", json={"prompt": prompt}, headers={"Authorization": f"Bearer {KEY}"}
    )
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "prompt")
