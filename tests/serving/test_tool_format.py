"""The format of a model's calls: by name or by its chat template, with a warning if that does not show tools."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.tool_answers import TOOLS

import pdacon
from pdacon.detokenizer import vocabulary_of
from pdacon.front.answer_readers import reader_with
from pdacon.frontends.tool_formats import FORMATS, Answer
from pdacon.integrations.answer_formats import AnswerFormat, Format
from pdacon.integrations.huggingface import load_tiny
from pdacon.serving import ServerSettings, create_app, tool_format
from pdacon.serving.failures import RequestError
from pdacon.serving.metrics import Metrics
from pdacon.serving.protocol import ChatRequest
from pdacon.serving.request_constraints import Compiler
from pdacon.serving.response_formats import requested_format
from pdacon.serving.tool_format import chosen_format, fitting_format, shows_tools

VOCABULARY = pdacon.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)] + [None], eos_ids=[256])
SHOWS = "{% if tools %}{{ tools | tojson }}{% endif %}"
MESSAGES = "{% for m in messages %}{{ m.content }}"
CALLS = (
    "{% for c in m.tool_calls or [] %}<tool_call>\n"
    "{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}\n</tool_call>{% endfor %}"
)


@pytest.mark.parametrize(
    ("name", "template", "chosen", "words"),
    [
        ("auto", None, "json", ["it has no chat template"]),
        ("auto", MESSAGES + "{% endfor %}", "json", ["does not show tools", "plain JSON"]),
        ("auto", SHOWS + MESSAGES + "{% endfor %}", "json", ["plain JSON"]),
        ("auto", SHOWS + MESSAGES + CALLS + "{% endfor %}", "hermes", []),
        ("qwen3_coder", SHOWS + MESSAGES + "{% endfor %}", "qwen3_coder", []),
        ("qwen3_coder", MESSAGES + "{% endfor %}", "qwen3_coder", ["does not show tools"]),
        ("json", "{{ raise_exception('no') }}", "json", ["does not show tools"]),
    ],
)
def test_the_format_is_that_of_the_template(
    caplog: pytest.LogCaptureFixture, name: str, template: str | None, chosen: str, words: list[str]
) -> None:
    _, tokenizer = load_tiny()
    tokenizer.chat_template = template
    assert chosen_format(name, tokenizer).name == chosen
    said = [json.loads(record.message)["message"] for record in caplog.records]
    assert len(said) == len(words)
    assert all(word in line for word, line in zip(words, said, strict=True))
    assert shows_tools(tokenizer) == (template is not None and template.startswith(SHOWS))


def test_a_format_that_the_model_cannot_write_is_refused_at_the_start(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request with tools would be refused, with an error about the request."""
    model, tokenizer = load_tiny()  # <|end|> is its end token
    with pytest.raises(pdacon.VocabularyError, match=r"the format harmony of --tool-format: .*--tool-format auto"):
        create_app(model, tokenizer, ServerSettings(tool_format="harmony"))
    vocabulary = vocabulary_of("serve", tokenizer=tokenizer, model=model)
    monkeypatch.setattr(tool_format, "chosen_format", lambda *_: FORMATS["harmony"])  # as a template may say
    caplog.clear()
    assert fitting_format("auto", tokenizer, vocabulary, pdacon.Limits()).name == "json"
    assert "plain JSON" in caplog.text
    assert "<|channel|>" in caplog.text


@pytest.mark.parametrize(
    ("end", "chosen", "words"),
    [("[[/CALL]]", "response_template", []), (">>", "json", ["response template is not used", "plain JSON"])],
)
def test_the_format_is_that_of_the_response_template(
    caplog: pytest.LogCaptureFixture, end: str, chosen: str, words: list[str]
) -> None:
    """For a model that is on no list; where it tells no format, the chat template is asked."""
    _, tokenizer = load_tiny()
    calls = (
        "{% for c in m.tool_calls or [] %}[[CALL {{ c.function.name }}]]{{ c.function.arguments | tojson }}[[/CALL]]"
    )
    tokenizer.chat_template = (
        f"{SHOWS}{{% for m in messages %}}<m>{{{{ m.role }}}}\n{{{{ m.content or '' }}}}{calls}{{% endfor %}}</m>\n"
        "{% endfor %}{% if add_generation_prompt %}<m>assistant\n{% endif %}"
    )
    read = {"open_pattern": r"\s*\[\[CALL (?P<name>\w+)\]\]", "close": end, "content": "json", "repeats": True}
    transform = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
    tokenizer.response_template = {
        "defaults": {"role": "assistant"},
        "start_anchor": "<m>assistant\n",
        "fields": {"tool_calls": read | {"transform": transform}, "content": {"close_pattern": r"\s*</m>"}},
    }
    format = chosen_format("auto", tokenizer)
    assert format.name == chosen
    said = [json.loads(record.message)["message"] for record in caplog.records]
    assert len(said) == len(words)
    assert all(word in line for word, line in zip(words, said, strict=True))
    asked = AnswerFormat((*TOOLS,), format, "required")
    assert AnswerFormat.read(asked.said().text) == asked


def test_marks_of_a_format_that_is_named_are_tokens_where_the_tokenizer_has_them() -> None:
    _, tokenizer = load_tiny()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<tool_call>", "<other>"]})
    assert chosen_format("qwen3", tokenizer).tokens == ("<tool_call>",)
    assert chosen_format("mistral", tokenizer).tokens == ()  # all of its marks are text here


def test_a_format_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="tool_format is one of auto, hermes"):
        ServerSettings(tool_format="hermess")


@pytest.mark.parametrize("name", FORMATS)
def test_answers_are_said_as_texts(name: str) -> None:
    """For the process that compiles them: formats by their names, or all of them where a tokenizer has changed one."""
    for format in (FORMATS[name], replace(FORMATS[name], models="mine")):
        content, inputs = Format.of_schema({"enum": [1]}), {"get_time": Format.of("regex", "a+")}
        asked = AnswerFormat((*TOOLS,), format, "auto", False, format.thought is not None, content, inputs)
        assert AnswerFormat.read(asked.said().text) == asked


def request(**fields: Any) -> ChatRequest:
    return ChatRequest.model_validate({"messages": [{"role": "user", "content": "hi"}], **fields})


def offered(*tools: Any) -> list[dict[str, Any]]:
    return [{"type": "function", "function": tool} for tool in tools]


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder"])
def test_constraints_of_files_are_read_too(tmp_path: Path, name: str) -> None:
    """What reads an answer comes from the request; the constraint may have been compiled by another process, or be in
    a file."""
    wanted = requested_format(request(tools=offered(*TOOLS)), FORMATS[name])
    assert wanted is not None
    assert wanted.values is not None
    text = pdacon.Grammar.from_tools(TOOLS, format=name).write(Answer("", "", (pdacon.Call("get_time", {}),)))
    for _ in range(2):
        compiler = Compiler(VOCABULARY, ServerSettings(cache_directory=tmp_path), Metrics("tiny"))
        constraint = asyncio.run(compiler.constraint(wanted))
        assert constraint.accepts(text)
        reader = reader_with(wanted.values, VOCABULARY, False)
        for token in text.encode():
            reader.feed(token)
        reader.close()
        assert reader.answer == Answer("", "", (pdacon.Call("get_time", {}),))
        compiler.close()


@pytest.mark.parametrize("strict", [None, False, True])
def test_objects_of_arguments_are_closed(strict: bool | None) -> None:
    """As what lists properties means it; a schema that says that there are others has them."""
    properties = {"x": {"type": "integer"}}
    for schema, has_others in (
        ({"properties": properties}, False),
        ({"additionalProperties": {"type": "integer"}}, True),
    ):
        tool = {"name": "f", "parameters": {"type": "object", **schema}, "strict": strict}
        wanted = requested_format(request(tools=offered(tool), tool_choice="required"), FORMATS["json"])
        assert wanted is not None
        compiler = Compiler(VOCABULARY, ServerSettings(compile_in="threads"), Metrics("tiny"))
        constraint = asyncio.run(compiler.constraint(wanted))
        compiler.close()
        assert constraint.accepts('{"name": "f", "arguments": {"y": 1}}') == has_others
        assert constraint.accepts('{"name": "f", "arguments": {"x": 1}}')


async def constraint_of(compiler: Compiler, asked: ChatRequest) -> pdacon.Constraint:
    wanted = requested_format(asked, FORMATS["hermes"])
    assert wanted is not None
    return await compiler.constraint(wanted)


def test_errors_name_the_tool_or_the_format() -> None:
    bad: Any = {"type": "object", "properties": {"a": {"type": "array", "items": {}, "uniqueItems": True}}}
    format = {"type": "json_schema", "json_schema": {"name": "it", "schema": bad}}
    tool, good = {"name": "f", "parameters": bad}, {"name": "g", "parameters": {}}
    compiler = Compiler(VOCABULARY, ServerSettings(), Metrics("tiny"))
    for fields, param in (
        ({"tools": offered(good, tool)}, "tools.1.function.parameters/properties/a"),
        ({"tools": offered(good), "response_format": format}, "response_format.json_schema.schema/properties/a"),
        ({"tools": offered(good, tool | {"name": "f-x"})}, "tools.1.function.parameters/properties/a"),
        ({"tools": offered({"name": "a<b", "parameters": {}})}, "tools.0.function.name"),
        ({"response_format": {"type": "choice", "choices": []}}, "response_format.choices"),
    ):
        with pytest.raises(RequestError) as refused:
            asyncio.run(constraint_of(compiler, request(**fields)))
        assert (refused.value.status, refused.value.param) == (400, param)
    compiler.close()
