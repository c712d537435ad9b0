"""What requests say of the choice of tokens: penalties, biases, tokens that end an answer, budgets of thoughts."""

from __future__ import annotations

import re
from typing import Any

import httpx
import openai
import pytest
import torch
from serving.conftest import KEY, Running, saying

from pdacon.frontends.tool_formats import FORMATS
from pdacon.serving.token_choice import Sampler, Sampling, Scoring, chosen

ASKED: Any = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}]}
HEADERS = {"Authorization": f"Bearer {KEY}"}


def scored(scoring: Scoring, *scores: float) -> list[float]:
    row = torch.tensor(scores)
    scoring.add_to(row)
    return row.tolist()


def test_what_is_added_to_scores() -> None:
    """By hand, with the definitions of OpenAI and of CTRL; what is not allowed stays so."""
    away = -torch.inf
    assert scored(Scoring(bias={0: 2.0, 2: 5.0}), 1, 2, away) == [3, 2, away]
    once_and_twice = Scoring(presence=0.5, frequency=0.25)
    once_and_twice.written.update([1, 2, 2, 3])
    assert scored(once_and_twice, 1, 1, 1, away) == [1, 0.25, 0, away]
    repeated = Scoring(repetition=2.0, prompt=frozenset([0, 1]))
    repeated.written.update([2])
    assert scored(repeated, 4, -4, away, 4) == [2, -8, away, 4]
    assert scored(Scoring(), 1, 2) == [1, 2]


def test_the_likeliest_tokens_by_a_part_of_the_likeliest_one() -> None:
    scores = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    for part, kept in ((0.0, {0, 1, 2, 3}), (0.25, {0, 1, 2}), (0.5, {0, 1}), (1.0, {0})):
        sampling = Sampling(min_p=part, seed=1)
        assert {int(chosen(scores, [sampling])[0]) for _ in range(300)} == kept


def test_tokens_that_were_chosen_count_in_their_own_row() -> None:
    """And log-probabilities are the model's own."""
    sampler = Sampler()
    rows = [Sampling(0.0, scoring=Scoring(frequency=1.5), others=1), Sampling(0.0)]
    sampler._rows = rows
    tokens = [sampler(torch.tensor([[2.0, 1.0, 0.0]] * 2), torch.arange(2)).argmax(dim=-1).tolist() for _ in range(4)]
    assert tokens == [[0, 0], [1, 0], [0, 0], [2, 0]]
    assert [round(one.logprob, 3) for one in rows[0].choices] == [-0.408, -1.408, -0.408, -2.408]


def test_biases_and_penalties_change_answers(client: openai.OpenAI, server: Running) -> None:
    tokenizer = server.application.engine.tokenizer
    letter = tokenizer("b", add_special_tokens=False)["input_ids"][0]
    body = {"response_format": {"type": "regex", "regex": "[ab]{6}"}}
    asked: Any = {"model": "tiny", "prompt": "", "temperature": 0, "max_tokens": 20}
    biased = client.completions.create(**asked, logit_bias={str(letter): 100}, extra_body=body)
    assert biased.choices[0].text == "b" * 6
    away = client.completions.create(**asked, logit_bias={str(letter): -100}, extra_body=body)
    assert "b" not in away.choices[0].text
    plain = client.completions.create(**asked, extra_body=body).choices[0].text
    penalized = client.completions.create(**asked, presence_penalty=2, frequency_penalty=2, extra_body=body)
    assert len(set(penalized.choices[0].text)) >= len(set(plain))
    repeated = client.completions.create(**asked, extra_body=body | {"repetition_penalty": 50.0, "min_p": 0.5})
    assert re.fullmatch("[ab]{6}", repeated.choices[0].text)


def test_tokens_end_an_answer(client: openai.OpenAI, server: Running) -> None:
    ids = server.application.engine.tokenizer("yes no", add_special_tokens=False)["input_ids"]
    for choice, text in ((ids[-1:], server.application.engine.tokenizer.decode(ids[:-1])), ([], "yes no")):
        with saying(server, "yes no"):
            whole = client.chat.completions.create(**ASKED, max_tokens=20, extra_body={"stop_token_ids": choice})
            stream = client.chat.completions.create(
                **ASKED, max_tokens=20, stream=True, extra_body={"stop_token_ids": choice}
            )
            streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        assert whole.choices[0].message.content == streamed
        assert streamed == text
        assert whole.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("most", [0, 1, 3, 50])
def test_a_thought_ends_within_its_budget(
    client: openai.OpenAI, server: Running, monkeypatch: pytest.MonkeyPatch, begun: bool, most: int
) -> None:
    """After so many tokens of it comes the mark that ends a thought, whatever the model would write."""
    template = "{{ messages[0].content }}" + ("<think>\n" if begun else "")
    monkeypatch.setattr(server.application, "tool_format", FORMATS["qwen3"])
    monkeypatch.setattr(server.application.engine.tokenizer, "chat_template", template)
    thought = "one two three four five six"
    text = f"{'' if begun else '<think>'}{thought}{'</think>Yes.' if most == 50 else ''}"
    body = {"thinking_token_budget": most}
    with saying(server, text):
        message = client.chat.completions.create(**ASKED, max_tokens=100, extra_body=body).choices[0].message
    reasoning = getattr(message, "reasoning_content", "") or ""
    tokens = server.application.engine.tokenizer(reasoning, add_special_tokens=False)["input_ids"]
    if most == 50:
        assert (reasoning, message.content) == (thought, "Yes.")
        return
    assert thought.startswith(reasoning)
    assert len(tokens) <= most + (0 if begun else 1)
    assert thought.endswith(message.content)
    assert len(reasoning) < len(thought)


def test_how_hard_to_think_is_for_the_template(
    client: openai.OpenAI, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    of_rendered = server.application.prompts.of_rendered
    monkeypatch.setattr(
        server.application.engine.tokenizer, "chat_template", "{{ reasoning_effort }} {{ json_schema | tojson }}"
    )
    monkeypatch.setattr(server.application.prompts, "of_rendered", lambda text: seen.append(text) or of_rendered("x"))
    format: Any = {"type": "json_schema", "json_schema": {"name": "it", "schema": {"enum": [1]}}}
    client.chat.completions.create(**ASKED, max_tokens=5, reasoning_effort="low", response_format=format)
    assert seen == ['low {"enum": [1]}']


def test_tokens_of_texts_and_what_the_server_is(server: Running) -> None:
    def post(path: str, **fields: Any) -> httpx.Response:
        return httpx.post(f"{server.address}{path}", json=fields, headers=HEADERS)

    tokenizer = server.application.engine.tokenizer
    said = post("/tokenize", prompt="one two", add_special_tokens=False, return_token_strs=True).json()
    ids = tokenizer("one two", add_special_tokens=False)["input_ids"]
    assert (said["tokens"], said["count"]) == (ids, len(ids))
    assert said["token_strs"] == tokenizer.convert_ids_to_tokens(ids)
    assert post("/detokenize", tokens=ids).json() == {"prompt": "one two"}
    assert post("/tokenize", messages=[{"role": "user", "content": "one two"}]).json()["count"] >= len(ids)
    asked = {"messages": [{"role": "user", "content": "x"}]}
    refused: list[Any] = [{}, {"prompt": "x"} | asked, {"tokens": [10**6]}, {"messages": [{"content": 5}]}]
    refused.append(asked | {"tools": [{"type": "custom"}]})
    for fields in refused:
        path = "/detokenize" if "tokens" in fields else "/tokenize"
        assert post(path, **fields).status_code == 400
    version = httpx.get(f"{server.address}/version", headers=HEADERS).json()
    document = httpx.get(f"{server.address}/openapi.json", headers=HEADERS).json()
    assert document["info"]["version"] == version["version"]
    page = httpx.get(f"{server.address}/docs", headers=HEADERS)
    assert page.headers["content-type"].startswith("text/html")
    paths = {route.path.replace("{name:path}", "{name}") for route in server.application.app.routes}
    assert set(document["paths"]) == paths
    assert all(path in page.text for path in paths)
    text = httpx.get(f"{server.address}/openapi.json", headers=HEADERS).text
    names = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert names <= set(document["components"]["schemas"])
