"""Thoughts, texts and calls in models' own formats, as OpenAI's client reads them: streamed and not, the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessage
from serving.conftest import KEY, Running, saying
from support.scaling import scaled
from support.tool_answers import TOOLS, encoded, grammar, random_answer, vocabulary_of

import pdacon
from pdacon import Call
from pdacon.frontends.tool_formats import FORMATS, Answer
from pdacon.serving import ServerSettings
from pdacon.serving.answers import Answer as ServedAnswer
from pdacon.serving.answers import Piece
from pdacon.serving.chat import Deltas, ending_of, message_of
from pdacon.serving.writing import Writer

ASKED: Any = [{"role": "user", "content": "hi"}]
OFFERED: Any = [{"type": "function", "function": tool} for tool in TOOLS]


@pytest.fixture(scope="module")
def speaker() -> Iterator[Running]:
    running = Running(ServerSettings(model_name="tiny", api_keys=(KEY,)))
    yield running
    running.stop()


@pytest.fixture
def client(speaker: Running) -> Iterator[openai.OpenAI]:
    with speaker.client() as client:
        yield client


@pytest.fixture
def use(speaker: Running, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the server's model have a format, and a chat template."""

    def used(name: str, template: str | None = None) -> None:
        monkeypatch.setattr(speaker.application, "tool_format", FORMATS[name])
        monkeypatch.setattr(speaker.application.engine.tokenizer, "chat_template", template)

    return used


def empty_message() -> dict[str, Any]:
    return {"content": "", "reasoning_content": "", "tool_calls": []}


def add_delta(message: dict[str, Any], delta: dict[str, Any]) -> None:
    """Add a piece of a message to it, as OpenAI's clients do."""
    for name in ("content", "reasoning_content"):
        message[name] += delta.get(name, "")
    for call in delta.get("tool_calls", ()):
        if call["index"] == len(message["tool_calls"]):
            assert call["id"]
            assert call["type"] == "function"
            assert call["function"]["name"]
            message["tool_calls"].append({"name": "", "arguments": ""})
        for key in ("name", "arguments"):
            message["tool_calls"][call["index"]][key] += call["function"].get(key, "")


def together(client: openai.OpenAI, asked: Any) -> tuple[dict[str, Any], str | None]:
    """The message that the pieces of a stream add up to, and why it ended."""
    message, ending = empty_message(), None
    for chunk in client.chat.completions.create(**asked, stream=True):
        (choice,) = chunk.choices
        add_delta(message, choice.delta.model_dump(exclude_none=True))
        ending = choice.finish_reason or ending
    return message, ending


def as_parts(message: ChatCompletionMessage) -> dict[str, Any]:
    """The same of a whole message."""
    calls = [call.function.model_dump() for call in message.tool_calls or () if call.type == "function"]
    reasoning = getattr(message, "reasoning_content", None) or ""
    return {"content": message.content or "", "reasoning_content": reasoning, "tool_calls": calls}


def checked(message: dict[str, Any], answer: Answer) -> None:
    assert (message["content"], message["reasoning_content"]) == (answer.text, answer.reasoning)
    calls = [(call["name"], json.loads(call["arguments"])) for call in message["tool_calls"]]
    assert calls == [(call.name, call.arguments) for call in answer.calls]


def pieces_of(name: str, text: str, most: int | None = None) -> list[Piece]:
    """The pieces of an answer of a token for each byte, of which the first ones may be all."""
    ids = encoded(FORMATS[name], text)
    vocabulary = vocabulary_of(FORMATS[name])
    writer = Writer(vocabulary, (), pdacon.compile(grammar(name), vocabulary).reader())
    pieces = [Piece(0, writer.add([token]), [token], [], None) for token in ids[:most]]
    ending = "stop" if most is None else "length"
    return [*pieces, Piece(0, writer.end(cut=most is not None), [], [], ending)]


def added_up(pieces: Sequence[Piece]) -> tuple[ServedAnswer, dict[str, Any]]:
    """An answer, and the message that the deltas of its pieces add up to."""
    whole, message, deltas = ServedAnswer(), empty_message(), Deltas()
    for piece in pieces:
        whole.add(piece)
        for delta in deltas.add(piece.events):
            add_delta(message, delta)
    return whole, message


@pytest.mark.parametrize("name", FORMATS)
def test_deltas_add_up_to_the_answer_in_every_format(name: str) -> None:
    """No mark of the format is in the text; a stream adds up to the whole answer, also of an answer that is cut."""
    random = Random(name)
    for _ in range(scaled(2)):
        answer = random_answer(random, FORMATS[name], required=False)
        text = grammar(name).write(answer)
        whole, streamed = added_up(pieces_of(name, text))
        checked(streamed, answer)
        assert streamed == as_parts(ChatCompletionMessage.model_validate(message_of(whole)))
        assert ending_of(whole) == ("tool_calls" if answer.calls else "stop")
        size = len(encoded(FORMATS[name], text))
        for most in random.sample(range(size), min(3, size)):
            whole, streamed = added_up(pieces_of(name, text, most))
            assert streamed == as_parts(ChatCompletionMessage.model_validate(message_of(whole)))
            assert ending_of(whole) == "length"
            assert answer.text.startswith(whole.text)
            assert answer.reasoning.startswith(whole.reasoning)


@pytest.mark.parametrize("name", FORMATS)
def test_arguments_come_as_they_are_written(name: str) -> None:
    """The first piece of an argument's value comes within two tokens of its first character."""
    answer = Answer("", "", (Call("get_weather", {"city": "Kuala Lumpur", "days": 12}),))
    pieces = pieces_of(name, grammar(name).write(answer))
    begun = next(k for k, piece in enumerate(pieces) if piece.tokens == [ord("K")])
    told = next(k for k, piece in enumerate(pieces) if any("K" in one.text for one in piece.events if one.call == 0))
    assert told - begun < 2


@pytest.mark.parametrize("name", ["json", "hermes", "qwen3_coder", "deepseek_v4"])
def test_answers_in_a_models_own_format(speaker: Running, client: openai.OpenAI, use: Any, name: str) -> None:
    use(name)
    call = Call("get_weather", {"city": "Oslo", "note": None})
    answer = Answer("Hm." if FORMATS[name].thought else "", "Look.", (call,))
    asked: Any = {"model": "tiny", "messages": ASKED, "tools": OFFERED, "max_tokens": 900}
    with saying(speaker, grammar(name).write(answer)):
        whole = client.chat.completions.create(**asked).choices[0]
        streamed, ending = together(client, asked)
        cut, cut_ending = together(client, asked | {"max_tokens": 25})
    checked(as_parts(whole.message), answer)
    checked(streamed, answer)
    assert streamed == as_parts(whole.message)
    assert whole.finish_reason == ending == "tool_calls"
    assert cut_ending == "length"
    assert streamed["content"].startswith(cut["content"])


@pytest.mark.parametrize("name", ["mistral", "kimi_k3", "command_r7b"])
def test_marks_that_are_special_tokens(name: str) -> None:
    """A tokenizer that has them writes each as one token, which the constraint asks for."""
    settings = ServerSettings(model_name="tiny", api_keys=(KEY,), tool_format=name)
    running = Running(settings, special_tokens=FORMATS[name].tokens)
    text = "" if name == "command_r7b" else "I look."  # its text comes in place of calls
    answer = Answer("Hm.", text, (Call("get_weather", {"city": "Oslo"}),))
    asked: Any = {"model": "tiny", "messages": ASKED, "tools": OFFERED, "max_tokens": 300}
    try:
        with running.client() as client, saying(running, grammar(name).write(answer)):
            whole = client.chat.completions.create(**asked).choices[0]
            streamed, ending = together(client, asked)
    finally:
        running.stop()
    checked(as_parts(whole.message), answer)
    assert streamed == as_parts(whole.message)
    assert ending == whole.finish_reason == "tool_calls"


THINKING = "{% for message in messages %}{{ message.content }}{% endfor %}<think>\n"
SILENT = "{% for message in messages %}{{ message.content }}{% endfor %}<think>\n\n</think>\n\n"
PLAINLY = "{% for message in messages %}{{ message.content }}{% endfor %}"
PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "it", "schema": PERSON | {"additionalProperties": False}}}
BOB = '{"name": "<tool_call></think>"}'


@pytest.mark.parametrize(
    ("template", "fields", "text", "answer"),
    [
        (THINKING, {}, "Hm.\n</think>\n\nYes.", Answer("Hm.", "Yes.", ())),
        (PLAINLY, {}, "<think>\nHm.\n</think>\n\nYes.", Answer("Hm.", "Yes.", ())),
        (PLAINLY, {}, "Yes.", Answer("", "Yes.", ())),
        (SILENT, {}, "Yes.<think>", Answer("", "Yes.<think>", ())),
        (THINKING, {"response_format": FORMAT}, f"Hm.\n</think>\n\n{BOB}", Answer("Hm.", BOB, ())),
        (SILENT, {"response_format": FORMAT}, BOB, Answer("", BOB, ())),
        (THINKING, {"response_format": FORMAT, "tools": OFFERED}, f"Hm.</think>{BOB}", Answer("Hm.", BOB, ())),
        (
            SILENT,
            {"response_format": FORMAT, "tools": OFFERED},
            '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>',
            Answer("", "", (Call("get_time", {}),)),
        ),
    ],
)
def test_thoughts_and_values(
    speaker: Running, client: openai.OpenAI, use: Any, template: str, fields: Any, text: str, answer: Answer
) -> None:
    """A thought is where the prompt lets the model think; a value may come after it, or a call in its place."""
    use("qwen3", template)
    asked = {"model": "tiny", "messages": ASKED, "max_tokens": 300, **fields}
    with saying(speaker, text):
        whole = client.chat.completions.create(**asked).choices[0].message
        streamed, _ = together(client, asked)
    checked(as_parts(whole), answer)
    assert streamed == as_parts(whole)


def test_a_call_or_a_value_in_plain_json(speaker: Running, client: openai.OpenAI, use: Any) -> None:
    """Neither is taken for the other, even if the value has a name."""
    use("json")
    asked: Any = {"model": "tiny", "messages": ASKED, "max_tokens": 300, "response_format": FORMAT, "tools": OFFERED}
    for text, answer in (
        (BOB, Answer("", BOB, ())),
        ('<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>', Answer("", "", (Call("get_time", {}),))),
    ):  # fmt: skip
        with saying(speaker, text):
            checked(as_parts(client.chat.completions.create(**asked).choices[0].message), answer)


def test_stop_texts_are_looked_for_in_texts_alone(speaker: Running, client: openai.OpenAI, use: Any) -> None:
    use("hermes")
    answer = Answer("ab", "a b c", (Call("search", {"tags": ["b"]}),))
    for stop, text in ((["search", "tool_call"], answer.text), ("b", "a ")):
        asked: Any = {"model": "tiny", "messages": ASKED, "tools": OFFERED, "max_tokens": 300, "stop": stop}
        with saying(speaker, grammar("hermes").write(answer)):
            streamed, ending = together(client, asked)
        calls = answer.calls if text == answer.text else ()
        checked(streamed, replace(answer, text=text, calls=calls))
        assert ending == ("tool_calls" if calls else "stop")


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_allowed_tools_are_those_that_are_called(speaker: Running, client: openai.OpenAI, use: Any, mode: str) -> None:
    use("json")
    allowed: Any = {"mode": mode, "tools": [{"type": "function", "function": {"name": "get_time"}}]}
    asked: Any = {"model": "tiny", "messages": ASKED, "tools": OFFERED, "max_tokens": 300}
    asked["tool_choice"] = {"type": "allowed_tools", "allowed_tools": allowed}
    text = '{"name": "get_time", "arguments": {}}'
    with saying(speaker, text):
        message = client.chat.completions.create(**asked).choices[0].message
    checked(as_parts(message), Answer("", "", (Call("get_time", {}),)))
    refused = pytest.raises(openai.InternalServerError, match="is not allowed after")
    with saying(speaker, text.replace("get_time", "search")), refused:
        client.chat.completions.create(**asked)


@pytest.mark.parametrize("is_strict", [False, True])
def test_a_tool_that_lists_no_property_takes_none(
    speaker: Running, client: openai.OpenAI, use: Any, is_strict: bool
) -> None:
    """So tools without arguments are described; one that lists nothing at all takes what it is given."""
    use("json")
    for parameters, is_free in (
        ({"type": "object", "properties": {}}, False),
        ({"type": "object", "properties": {}, "additionalProperties": True}, True),
        ({"type": "object"}, True),
    ):
        tool = {"name": "f", "parameters": parameters, "strict": is_strict}
        asked: Any = {"model": "tiny", "messages": ASKED, "tools": [{"type": "function", "function": tool}]}
        with saying(speaker, '{"name": "f", "arguments": {"x": 1}}'):
            if is_free:
                checked(as_parts(client.chat.completions.create(**asked).choices[0].message),
                        Answer("", "", (Call("f", {"x": 1}),)))  # fmt: skip
            else:
                with pytest.raises(openai.InternalServerError, match="is not allowed after"):
                    client.chat.completions.create(**asked)


@pytest.mark.parametrize(("name", "count"), [("hermes", 300), ("qwen3_coder", 200)])
def test_many_tools(speaker: Running, client: openai.OpenAI, use: Any, name: str, count: int) -> None:
    use(name)
    tools: Any = [{"type": "function", "function": TOOLS[0] | {"name": f"get_weather_{k}"}} for k in range(count)]
    call = Call(f"get_weather_{count - 1}", {"city": "Oslo"})
    text = FORMATS[name].write_call(0, call.name, {"city": '"Oslo"'})
    asked: Any = {"model": "tiny", "messages": ASKED, "tools": tools, "max_tokens": 300}
    with saying(speaker, text):
        checked(as_parts(client.chat.completions.create(**asked).choices[0].message), Answer("", "", (call,)))
