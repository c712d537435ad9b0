"""Formats that are chosen by what a tokenizer has: a chat template, which is run, or a response template."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import pytest
from support.tool_answers import TOOLS, accepted, cut, encoded, random_answer, read, vocabulary_of

import pdacon
from pdacon.errors import GrammarWarning
from pdacon.frontends.tool_formats import FORMATS, format_of, format_of_response_template

transformers = pytest.importorskip("transformers")
small_tokenizers = pytest.importorskip("support.small_tokenizers")

_TURN = """{%- for m in messages -%}<|im_start|>{{ m.role }}
{{ m.content or '' }}{%- for c in m.tool_calls or [] -%}"""
_END = "{%- endfor -%}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
_JSON = "{{ c.function.arguments | tojson }}"
_EACH = "{% for k, v in c.function.arguments.items() %}"
TEMPLATES = {
    "hermes": '<tool_call>\n{"name": "{{ c.function.name }}", "arguments": ' + _JSON + "}\n</tool_call>",
    "llama3": '{"name": "{{ c.function.name }}", "parameters": ' + _JSON + "}",
    "mistral": "[TOOL_CALLS]{{ c.function.name }}[ARGS]" + _JSON,
    "mistral_v3": (
        "{%- if c.id | length != 9 %}{{ raise_exception('nine letters') }}{% endif -%}"
        '[TOOL_CALLS] [{"name": "{{ c.function.name }}", "arguments": ' + _JSON + ', "id": "{{ c.id }}"}]'
    ),
    "deepseek_v3": (
        "{{ '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>' + c.function.name + '\\n```json\\n' + "
        "c.function.arguments + '\\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>' }}"
    ),
    "kimi_k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>" + _JSON
        + "<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "harmony": "{{ ' to=' }}functions.{{ c.function.name }}<|channel|>commentary json<|message|>" + _JSON,
    "qwen3_coder": (
        "<tool_call>\n<function={{ c.function.name }}>\n" + _EACH + "<parameter={{ k }}>\n{{ v }}\n</parameter>\n"
        "{% endfor %}</function>\n</tool_call>"
    ),
    "glm4_7": (
        "<tool_call>{{ c.function.name }}" + _EACH + "<arg_key>{{ k }}</arg_key><arg_value>{{ v }}</arg_value>"
        "{%- endfor -%}</tool_call>"
    ),
}  # fmt: skip
"""How a call is written, put down here as templates are: with literals, with expressions, or with errors."""


@cache
def bare_tokenizer() -> Any:
    return small_tokenizers.train_byte_level("gpt2", ["<|im_start|>", "<|im_end|>", "[TOOL_CALLS]", "[ARGS]"])


def tokenizer_of(template: str | None, response: Any = None) -> Any:
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bare_tokenizer(), eos_token="<|im_end|>")
    tokenizer.chat_template = template and _TURN + template + _END
    tokenizer.response_template = response
    return tokenizer


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_format_that_a_chat_template_writes(name: str) -> None:
    tokenizer = tokenizer_of(TEMPLATES[name])
    format = format_of(tokenizer)
    assert format.name == name
    grammar = pdacon.Grammar.from_tools(TOOLS, format=tokenizer)
    answer = pdacon.Answer("", "", (pdacon.Call("get_time", {}),))
    assert grammar.write(answer) == pdacon.Grammar.from_tools(TOOLS, format=format).write(answer)


def test_marks_are_special_tokens_where_the_tokenizer_has_them_so() -> None:
    assert {*format_of(tokenizer_of(TEMPLATES["mistral"])).tokens} == {"[ARGS]", "[TOOL_CALLS]"}
    tokenizer = tokenizer_of(TEMPLATES["hermes"])
    assert format_of(tokenizer).tokens == ()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<tool_call>", "</tool_call>"]})
    assert format_of(tokenizer).tokens == ("</tool_call>", "<tool_call>")
    vocabulary = pdacon.Vocabulary.from_huggingface(tokenizer)
    constraint = pdacon.compile(pdacon.Grammar.from_tools(TOOLS, format=tokenizer, choice="get_time"), vocabulary)
    begin = tokenizer.convert_tokens_to_ids("<tool_call>")
    assert list(constraint.matcher().allowed_tokens()) == [begin]


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (None, "renders no call of a tool: .*chat_template"),
        ("", "leaves out calls of tools"),
        ("{{ raise_exception('no tools here') }}", "renders no call of a tool: .*no tools here"),
        ("CALL {{ c.function.name }} WITH " + _JSON, "in no format that there is: .*CALL "),
    ],
)
def test_what_cannot_be_told_is_refused_with_the_names_there_are(template: str | None, why: str) -> None:
    with pytest.raises(ValueError, match=rf"(?s){why}.*give format= the name of one: hermes, .*kimi_k3"):
        pdacon.Grammar.from_tools(TOOLS, format=tokenizer_of(template))


def response_template(**calls: Any) -> dict[str, Any]:
    return {
        "defaults": {"role": "assistant"},
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "thinking": {"open": "(think)", "close_pattern": r"\(/think\)\s*"},
            "tool_calls": {"repeats": True, **calls},
            "content": {"close_pattern": r"\s*<\|im_end\|>"},
        },
    }


JSON_CALLS = (
    "[[CALL {{ c.function.name }}]]" + _JSON + "[[/CALL]]",
    response_template(
        open_pattern=r"\s*\[\[CALL (?P<name>\w+)\]\]", close_pattern=r"\[\[/CALL\]\]\s*", content="json",
        transform={"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
    ),
)  # fmt: skip
TAGGED_CALLS = (
    "@call {{ c.function.name }}\n" + _EACH + "  @{{ k }}: {{ v }} ;;\n{% endfor %}@end",
    response_template(
        open_pattern=r"\s*@call (?P<name>\w+)\n", close_pattern=r"@end\s*", content="xml-inline",
        content_args={"tag_pattern": r"@(?P<key>\w+):\s*(?P<value>.*?)\s*;;"},
        transform={"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
    ),
)  # fmt: skip


@pytest.mark.parametrize(("template", "response"), [JSON_CALLS, TAGGED_CALLS], ids=["JSON", "tagged"])
def test_a_format_of_a_response_template(template: str, response: Any) -> None:
    """A format that nobody has listed: transformers reads what the constraint takes, as what it was made of."""
    tokenizer = tokenizer_of(template, response)
    format = format_of_response_template(tokenizer, tuple(FORMATS.values()))
    assert format.name == "response_template"
    grammar = pdacon.Grammar.from_response_template(tokenizer, TOOLS, reasoning=True)
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    random = Random(7)
    tools = [{"type": "function", "function": tool} for tool in TOOLS]
    for _ in range(12):
        answer = random_answer(random, format, required=False)
        text = grammar.write(answer)
        assert accepted(constraint, encoded(format, text)), text
        reader = constraint.reader()
        read(reader, list(cut(text, random)))
        assert reader.answer == answer, text
        message = tokenizer.parse_response(text, prefix="", tools=tools)
        assert [call["function"]["name"] for call in message.get("tool_calls", ())] == [c.name for c in answer.calls]
        assert message.get("content", "") == answer.text.strip()
        assert message.get("thinking", "") == answer.reasoning.strip()
        for call, meant in zip(message.get("tool_calls", ()), answer.calls, strict=True):
            values = {key: value.strip() if isinstance(value, str) else value for key, value in meant.arguments.items()}
            got = call["function"]["arguments"]
            got = {key: value.strip() if isinstance(value, str) else value for key, value in got.items()}
            if format.tagged:  # a string that is taken for a number there, where a parameter takes several kinds
                assert got.keys() == values.keys()
            else:
                assert json.dumps(got) == json.dumps(values)


def test_a_format_that_is_listed_is_taken_if_transformers_reads_it() -> None:
    calls = {"open_pattern": r"\s*<tool_call>", "close": "</tool_call>", "content": "json"}
    template = response_template(**calls, transform={"type": "function", "function": "{content}"})
    template["fields"]["thinking"] = {"open": "<think>", "close_pattern": r"</think>\s*"}
    tokenizer = tokenizer_of(TEMPLATES["hermes"], template)
    assert format_of_response_template(tokenizer, tuple(FORMATS.values())).name == "hermes"
    grammar = pdacon.Grammar.from_response_template(tokenizer, TOOLS, choice="required")
    assert grammar.accepts('<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>')


@pytest.mark.parametrize(
    ("template", "response", "why"),
    [
        (TEMPLATES["hermes"], None, r"has no response_template; from_tools\(tools, format=tokenizer\)"),
        (TEMPLATES["hermes"], {"fields": {"content": {}}}, "no field tool_calls"),
        (JSON_CALLS[0], response_template(open="[[CALL", close="]]", content="python-call-list"), "python-call-list"),
        (JSON_CALLS[0], response_template(open="<<", close=">>", content="json"), "writes no 1 calls that it finds"),
        (JSON_CALLS[0], response_template(open_pattern="(", close=">>", content="json"), "no format can be made"),
        (TEMPLATES["hermes"], response_template(open="<x>", close="</x>", content="json"), "writes the format hermes"),
    ],
)
def test_response_templates_of_which_no_format_is_made(template: str, response: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        pdacon.Grammar.from_response_template(tokenizer_of(template, response), TOOLS)


def test_a_field_of_another_kind_is_told() -> None:
    template, response = JSON_CALLS
    more = {**response, "fields": {**response["fields"], "plan": {"open": "<plan>", "close": "</plan>"}}}
    with pytest.warns(GrammarWarning, match="its field 'plan' is none of"):
        pdacon.Grammar.from_response_template(tokenizer_of(template, more), TOOLS)
