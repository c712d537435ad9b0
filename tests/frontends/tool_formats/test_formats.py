"""Every format: its documented text, random answers, prefixes and mutations; constraint and reader judge each other."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

import pytest
from support.scaling import scaled
from support.tool_answers import (
    accepted,
    cut,
    decoded,
    encoded,
    grammar,
    random_answer,
    read,
    valid_arguments,
    vocabulary_of,
)

import pdacon
from pdacon import Call, Constraint
from pdacon.frontends.tool_formats import FORMATS, Answer

ANSWER = Answer(
    "Two calls.",
    "I look.",
    (Call("get_weather", {"city": "Zürich", "days": 3, "where": {"a": ["b"]}, "hourly": True}), Call("get_time", {})),
)
_JSON = '{"city": "Zürich", "days": 3, "where": {"a": ["b"]}, "hourly": true}'
_DEEPSEEK = (
    "<think>Two calls.</think>I look.\n\n<{s}>\n"
    '<{m}invoke name="get_weather">\n<{m}parameter name="city" string="true">Zürich</{m}parameter>\n'
    '<{m}parameter name="days" string="false">3</{m}parameter>\n'
    '<{m}parameter name="where" string="false">{{"a": ["b"]}}</{m}parameter>\n'
    '<{m}parameter name="hourly" string="false">true</{m}parameter>\n</{m}invoke>\n'
    '<{m}invoke name="get_time">\n\n</{m}invoke>\n</{s}>'
)
_XTML = '<|open|>argument key="{}" type="{}"<|sep|>{}<|close|>argument<|sep|>'
_HERMES = (
    "<think>\nTwo calls.\n</think>\n\nI look.\n"
    f'<tool_call>\n{{"name": "get_weather", "arguments": {_JSON}}}\n</tool_call>\n'
    '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
)
DOCUMENTED = {
    "hermes": _HERMES,
    "qwen3": _HERMES,
    "exaone": (
        "<think>\nTwo calls.\n</think>\n\nI look.\n"
        f'<tool_call>{{"name": "get_weather", "arguments": {_JSON}}}</tool_call>\n'
        '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>'
    ),
    "json": f'I look.\n\n{{"name": "get_weather", "arguments": {_JSON}}}\n{{"name": "get_time", "arguments": {{}}}}',
    "llama3": f'I look.{{"name": "get_weather", "parameters": {_JSON}}}; {{"name": "get_time", "parameters": {{}}}}',
    "mistral": f"[THINK]Two calls.[/THINK]I look.[TOOL_CALLS]get_weather[ARGS]{_JSON}[TOOL_CALLS]get_time[ARGS]{{}}",
    "mistral_v3": (
        f'I look.[TOOL_CALLS] [{{"name": "get_weather", "arguments": {_JSON}}}, '
        '{"name": "get_time", "arguments": {}}]'
    ),
    "phi4_mini": (
        f'I look.<|tool_call|>{{"name": "get_weather", "arguments": {_JSON}}}<|/tool_call|>'
        '<|tool_call|>{"name": "get_time", "arguments": {}}<|/tool_call|>'
    ),
    "command_r7b": (
        "<|START_THINKING|>Two calls.<|END_THINKING|><|START_ACTION|>[\n"
        f'    {{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {_JSON}}},\n'
        '    {"tool_call_id": "1", "tool_name": "get_time", "parameters": {}}\n]<|END_ACTION|>'
    ),
    "deepseek_v3": (
        "<think>\nTwo calls.\n</think>\n\nI look.<｜tool▁calls▁begin｜>"
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{_JSON}\n```<｜tool▁call▁end｜>\n"
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "deepseek_v3_1": (
        "<think>Two calls.</think>I look.<｜tool▁calls▁begin｜>"
        f"<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{_JSON}<｜tool▁call▁end｜>"
        "<｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "deepseek_v3_2": _DEEPSEEK.format(m="｜DSML｜", s="｜DSML｜function_calls"),
    "deepseek_v4": _DEEPSEEK.format(m="｜DSML｜", s="｜DSML｜tool_calls"),
    "deepseek_v4_1": _DEEPSEEK.format(m="｜DSML｜ ", s="｜DSML｜ calls"),
    "harmony": (
        "<|channel|>analysis<|message|>Two calls.<|end|>"
        "<|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
        f"<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{_JSON}"
    ),
    "kimi_k2": (
        "<think>Two calls.</think>I look.<|tool_calls_section_begin|>"
        f"<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{_JSON}<|tool_call_end|>"
        "<|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
        "<|tool_calls_section_end|>"
    ),
    "kimi_k3": (
        "<|open|>think<|sep|>Two calls.<|close|>think<|sep|><|open|>response<|sep|>I look.<|close|>response<|sep|>"
        '<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>'
        + _XTML.format("city", "string", "Zürich")
        + _XTML.format("days", "number", "3")
        + _XTML.format("where", "object", '{"a": ["b"]}')
        + _XTML.format("hourly", "boolean", "true")
        + '<|close|>call<|sep|><|open|>call tool="get_time" index="2"<|sep|><|close|>call<|sep|>'
        "<|close|>tools<|sep|><|close|>message<|sep|>"
    ),
    "qwen3_coder": (
        "<think>\nTwo calls.\n</think>\n\nI look.\n\n"
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nZürich\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
        '<parameter=where>\n{"a": ["b"]}\n</parameter>\n<parameter=hourly>\nTrue\n</parameter>\n</function>\n'
        "</tool_call>"
        "\n<tool_call>\n<function=get_time>\n</function>\n</tool_call>"
    ),
    "mimo": (
        "<think>Two calls.</think>I look."
        "<tool_call><function=get_weather><parameter=city>Zürich</parameter><parameter=days>3</parameter>"
        '<parameter=where>{"a": ["b"]}</parameter><parameter=hourly>true</parameter></function></tool_call>'
        "<tool_call><function=get_time></function></tool_call>"
    ),
    "seed_oss": (
        "<seed:think>Two calls.</seed:think>\nI look.\n"
        "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Zürich</parameter>\n<parameter=days>3</parameter>\n"
        '<parameter=where>{"a": ["b"]}</parameter>\n<parameter=hourly>True</parameter>\n</function>\n</seed:tool_call>'
        "\n<seed:tool_call>\n<function=get_time>\n</function>\n</seed:tool_call>"
    ),
    "glm4_5": (
        "\n<think>Two calls.</think>\nI look.\n"
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Zürich</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n"
        '<arg_key>where</arg_key>\n<arg_value>{"a": ["b"]}</arg_value>\n'
        "<arg_key>hourly</arg_key>\n<arg_value>true</arg_value>\n</tool_call>\n<tool_call>get_time\n</tool_call>"
    ),
    "glm4_7": (
        "<think>Two calls.</think>I look."
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Zürich</arg_value>"
        "<arg_key>days</arg_key><arg_value>3</arg_value>"
        '<arg_key>where</arg_key><arg_value>{"a": ["b"]}</arg_value>'
        "<arg_key>hourly</arg_key><arg_value>true</arg_value></tool_call><tool_call>get_time</tool_call>"
    ),
    "minimax_m2": (
        "<think>\nTwo calls.\n</think>\n\nI look.\n<minimax:tool_call>\n"
        '<invoke name="get_weather">\n<parameter name="city">Zürich</parameter>\n<parameter name="days">3</parameter>\n'
        '<parameter name="where">{"a": ["b"]}</parameter>\n<parameter name="hourly">true</parameter>\n</invoke>\n'
        '<invoke name="get_time">\n</invoke>\n</minimax:tool_call>'
    ),
    "gemma4": (
        "<|channel>thought\nTwo calls.\n<channel|>I look."
        '<|tool_call>call:get_weather{city:<|"|>Zürich<|"|>,days:3,where:{a:[<|"|>b<|"|>]},hourly:true}<tool_call|>'
        "<|tool_call>call:get_time{}<tool_call|>"
    ),
    "llama4": '[get_weather(city="Zürich", days=3, where={"a": ["b"]}, hourly=True), get_time()]',
    "cohere": (
        "<|START_THINKING|>Two calls.<|END_THINKING|>I look.<cofl:tool_calls>"
        '<cofl:tool_call id="0" name="get_weather"><cofl:value name="city" type="raw">Zürich</cofl:value>'
        '<cofl:value name="days" type="json">3</cofl:value><cofl:value name="where" type="dict">'
        '<cofl:value name="a" type="list"><cofl:value type="raw">b</cofl:value></cofl:value></cofl:value>'
        '<cofl:value name="hourly" type="json">true</cofl:value></cofl:tool_call>'
        '<cofl:tool_call id="1" name="get_time"></cofl:tool_call></cofl:tool_calls>'
    ),
    "minimax_m3": (
        "<mm:think>Two calls.</mm:think>I look.\n@<tool_call>\n"
        '@<invoke name="get_weather">@<city>Zürich@</city>@<days>3@</days>@<where>@<a>@<item>b@</item>@</a>@</where>'
        '@<hourly>true@</hourly>@</invoke>\n@<invoke name="get_time">@</invoke>\n@</tool_call>'
    ).replace("@", "]<]minimax[>["),
}  # fmt: skip
"""`ANSWER` as each format's documentation and chat template have it, written down by hand."""


@cache
def compiled(name: str, choice: str = "auto") -> Constraint:
    return pdacon.compile(grammar(name, choice=choice), vocabulary_of(FORMATS[name]))


def answer_in(name: str) -> Answer:
    """What the documented text of a format stands for: some have no thoughts, and one has a single call."""
    format = FORMATS[name]
    calls = ANSWER.calls[: None if format.messages is None else 1]
    thought, text = ANSWER.reasoning if format.thought is not None else "", "" if format.calls_alone else ANSWER.text
    return Answer(thought, text, calls)


def test_every_format_has_a_documented_text() -> None:
    assert DOCUMENTED.keys() == FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
def test_the_documented_text_is_accepted_and_read(name: str) -> None:
    ids = encoded(FORMATS[name], DOCUMENTED[name])
    assert accepted(compiled(name), ids)
    reader = compiled(name).reader()
    read(reader, ids)
    assert reader.answer == answer_in(name)


@pytest.mark.parametrize("name", FORMATS)
def test_events_do_not_depend_on_the_cuts(name: str) -> None:
    text = DOCUMENTED[name]
    constraint = compiled(name)
    events = read(constraint.reader(), encoded(FORMATS[name], text))
    calls = answer_in(name).calls
    assert [event.text for event in events if event.kind == "name"] == [call.name for call in calls]
    assert [event.call for event in events if event.kind == "end"] == list(range(len(calls)))
    for seed in range(8):
        random = Random(seed)
        assert read(constraint.reader(), list(cut(text, random))) == events
        assert read(constraint.reader(), list(cut(text.encode(), random))) == events
    assert read(constraint.reader(), [text]) == events


@pytest.mark.parametrize("choice", ["auto", "required"])
@pytest.mark.parametrize("name", FORMATS)
def test_random_answers_are_written_accepted_and_read(name: str, choice: str) -> None:
    """What the record writes, its constraint accepts and its reader reads back, at whatever cuts."""
    random, constraint = Random(f"{name} {choice}"), compiled(name, choice)
    for _ in range(scaled(12)):
        answer = random_answer(random, FORMATS[name], required=choice == "required")
        text = constraint.grammar.write(answer)
        assert accepted(constraint, encoded(FORMATS[name], text)), text
        reader = constraint.reader()
        read(reader, list(cut(text, random)))
        assert reader.answer == answer, text
        for call in reader.answer.calls:
            valid_arguments(call)


@pytest.mark.parametrize("name", FORMATS)
def test_a_cut_answer_has_its_whole_calls_and_says_what_is_missing(name: str) -> None:
    """An answer is whole for the reader where the constraint lets it end, and nowhere else."""
    ids = encoded(FORMATS[name], DOCUMENTED[name])
    matcher, whole = compiled(name).matcher(), 0
    for k in range(len(ids) + 1):
        ended, stopped = compiled(name).reader(), compiled(name).reader()
        for reader in (ended, stopped):
            reader.feed(decoded(FORMATS[name], ids[:k]))
        ended.close()
        stopped.close(cut=True)
        answer = ended.answer
        assert (answer.missing is None) == matcher.is_accepting(), (ids[:k], answer)
        assert answer.calls == ANSWER.calls[: len(answer.calls)]
        assert len(answer.calls) >= whole
        assert stopped.answer.missing
        assert stopped.answer.calls == answer.calls
        assert ANSWER.text.startswith(stopped.answer.text)
        assert ANSWER.reasoning.startswith(stopped.answer.reasoning)
        whole = len(answer.calls)
        if k < len(ids):
            matcher.accept_token(ids[k])
    assert whole == len(answer_in(name).calls)


@pytest.mark.parametrize("name", FORMATS)
def test_a_mutated_answer_that_is_accepted_is_read_without_a_word(name: str) -> None:
    """Where a text is of the language the reader reads all of it, and each call's arguments are valid."""
    random, constraint = Random(name), compiled(name)
    ids = encoded(FORMATS[name], DOCUMENTED[name])
    taken = 0
    for _ in range(scaled(60)):
        at, kind = random.randrange(len(ids)), random.random()
        part = ids[at : at + random.randint(1, 6)]
        mutated = (
            ids[:at] + (part * 2 if kind < 0.3 else [random.choice(ids)] if kind < 0.6 else []) + ids[at + len(part) :]
        )
        is_accepted = accepted(constraint, mutated)
        reader = constraint.reader()
        try:
            read(reader, mutated)
        except ValueError:
            assert not is_accepted, mutated
            continue
        if is_accepted:
            taken += 1
            assert reader.answer.missing is None, mutated
            for call in reader.answer.calls:
                valid_arguments(call)
    assert taken


@pytest.mark.parametrize("name", [name for name, format in FORMATS.items() if not (format.tagged or format.tokens)])
def test_on_demand_and_as_a_whole(name: str) -> None:
    """Answers with JSON calls are read on demand: the automaton of the whole takes the same texts."""
    random, given = Random(name), grammar(name)
    on_demand = pdacon.compile(given, pdacon.Vocabulary.bytes())
    whole = pdacon.compile(pdacon.Grammar(given.data), pdacon.Vocabulary.bytes())
    ids = list(DOCUMENTED[name].encode())
    assert accepted(on_demand, ids)
    assert accepted(whole, ids)
    for _ in range(scaled(60)):
        at, kind = random.randrange(len(ids)), random.random()
        other = [random.choice(ids)] if kind < 0.6 else []
        mutated = ids[:at] + other + ids[at + random.randint(0, 2) :]
        assert accepted(on_demand, mutated) == accepted(whole, mutated), bytes(mutated)


def test_harmony_has_every_header() -> None:
    """The recipient stands in the channel's part or in the role's, with and without the type of the message."""
    constraint, format = compiled("harmony"), FORMATS["harmony"]
    texts = [
        f"<|channel|>commentary to=functions.get_time{kind}<|message|>{{}}"
        for kind in (" <|constrain|>json", "<|constrain|>json", " json", "")
    ]
    texts += [
        f" to=functions.get_time<|channel|>commentary{kind}<|message|>{{}}"
        for kind in (" <|constrain|>json", "<|constrain|>json", " json", "")
    ]
    for text in texts:
        assert accepted(constraint, encoded(format, text)), text
        reader = constraint.reader()
        read(reader, encoded(format, text))
        assert reader.answer == Answer("", "", (Call("get_time", {}),)), text
    for text in ("<|channel|>analysis<|message|>x<|end|>", "<|channel|>commentary to=functions.none<|message|>{}", "x"):
        assert not accepted(constraint, encoded(format, text)), text


def test_the_page_lists_every_format() -> None:
    page = (Path(__file__).parents[3] / "docs" / "agents.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (.+?) \| `(\w+)` \| (?:JSON|tagged|own) ", page, re.MULTILINE))
    assert {name: models for models, name in rows.items()} == {name: form.models for name, form in FORMATS.items()}
