"""The formats of models, as their chat templates write past calls and as models were taught to write them.

Sources: the chat templates and documents that each record names. For which models write alike, XGrammar's "Structural
Tag for Built-in Models", https://xgrammar.mlc.ai/docs/structural_tag/builtin_structural_tag.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pdacon.base.quoting import near_names
from pdacon.frontends.tool_formats.recognizing import format_of_tokenizer
from pdacon.frontends.tool_formats.records import Messages, Thought, ToolFormat, ValueMarks

_LINES = ("\n\n", "\n")
_THINK = Thought("<think>", "</think>", begin_blanks=("\n",), end_blanks=("\n",), after=_LINES)


def _json_objects() -> Iterator[ToolFormat]:
    """A JSON object with a name and arguments, by itself or in tags of text."""
    hermes = ToolFormat(
        name="hermes",
        models="Hermes 2 Pro, Hermes 3, Qwen 2.5, QwQ, Granite 4",
        source="https://github.com/NousResearch/Hermes-Function-Calling",
        call='<tool_call>\n{"name": "$name", "arguments": $arguments}\n</tool_call>',
        separator="\n", trigger="<tool_call>", blanks=_LINES, text_after=True,
        reserved=("</tool_call>",), thought=_THINK,
    )  # fmt: skip
    yield hermes
    yield replace(hermes, name="qwen3", models="Qwen3, Qwen3-Next",
                  source="https://qwen.readthedocs.io/en/latest/framework/function_call.html")  # fmt: skip
    yield replace(hermes, name="exaone", models="EXAONE 4.0",
                  source="https://huggingface.co/LGAI-EXAONE/EXAONE-4.0-32B",
                  call='<tool_call>{"name": "$name", "arguments": $arguments}</tool_call>')  # fmt: skip
    yield ToolFormat(
        name="llama3",
        models="Llama 3.1, 3.2 and 3.3",
        source="https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/",
        call='{"name": "$name", "parameters": $arguments}',
        separator="; ", trigger='{"name": "',
    )  # fmt: skip
    yield ToolFormat(
        name="json",
        models="Any other",
        source="https://platform.openai.com/docs/guides/function-calling",
        call='{"name": "$name", "arguments": $arguments}',
        separator="\n", trigger='{"name": "', blanks=_LINES,
    )  # fmt: skip


def _special_tokens() -> Iterator[ToolFormat]:
    """Special tokens around JSON."""
    mistral = ToolFormat(
        name="mistral",
        models="Mistral Small 3.2, Magistral, Devstral, Ministral 3 (tokenizers from v11 on)",
        source="https://docs.mistral.ai/capabilities/function_calling",
        call="[TOOL_CALLS]$name[ARGS]$arguments",
        trigger="[TOOL_CALLS]", tokens=("[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]"),
        thought=Thought("[THINK]", "[/THINK]"),
    )  # fmt: skip
    yield mistral
    yield ToolFormat(
        name="mistral_v3",
        models="Mistral 7B v0.3, Nemo, Large 2, Small 3.1 (tokenizers v3 and v7)",
        source=mistral.source,
        call='{"name": "$name", "arguments": $arguments}',
        begin="[TOOL_CALLS][", separator=", ", end="]",
        trigger="[TOOL_CALLS]", trigger_blanks=(" ",), tokens=("[TOOL_CALLS]",),
    )  # fmt: skip
    yield ToolFormat(
        name="phi4_mini",
        models="Phi-4-mini",
        source="https://huggingface.co/microsoft/Phi-4-mini-instruct",
        call='<|tool_call|>{"name": "$name", "arguments": $arguments}<|/tool_call|>',
        trigger="<|tool_call|>", reserved=("<|/tool_call|>",),
    )  # fmt: skip
    yield ToolFormat(
        name="command_r7b",
        models="Command R7B, Command A",
        source="https://docs.cohere.com/docs/command-a-hf",
        call='    {"tool_call_id": "$index", "tool_name": "$name", "parameters": $arguments}',
        begin="<|START_ACTION|>[\n", separator=",\n", end="\n]<|END_ACTION|>",
        trigger="<|START_ACTION|>",
        text_begin="<|START_RESPONSE|>", text_end="<|END_RESPONSE|>", calls_alone=True,
        thought=Thought("<|START_THINKING|>", "<|END_THINKING|>"),
        tokens=(
            "<|START_THINKING|>", "<|END_THINKING|>", "<|START_ACTION|>", "<|END_ACTION|>", "<|START_RESPONSE|>",
            "<|END_RESPONSE|>",
        ),
    )  # fmt: skip


def _messages() -> Iterator[ToolFormat]:
    """Messages in channels. A call is the last one; what ends it, and the answer, is the model's end token."""
    headers = tuple(f"{kind}<|message|>" for kind in (" <|constrain|>json", "<|constrain|>json", " json", ""))
    yield ToolFormat(
        name="harmony",
        models="gpt-oss",
        source="https://cookbook.openai.com/articles/openai-harmony",
        call="<|channel|>commentary to=functions.$name$header$arguments",
        trigger="<|channel|>commentary to=functions.",
        text_begin="<|channel|>final<|message|>",
        thought=Thought("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
        messages=Messages(
            preamble=("<|channel|>commentary<|message|>", "<|end|><|start|>assistant"),
            calls=(" to=functions.$name<|channel|>$channel$arguments",),
            headers=headers,
            channels=tuple(f"commentary{header}" for header in headers),
        ),
        tokens=("<|channel|>", "<|constrain|>", "<|end|>", "<|message|>", "<|start|>"),
    )


def _sections() -> Iterator[ToolFormat]:
    """All calls in one section; the name stands beside the JSON of the arguments."""
    calls = "<｜tool▁calls▁begin｜>"
    deepseek = ToolFormat(
        name="deepseek_v3",
        models="DeepSeek V3, R1",
        source="https://huggingface.co/deepseek-ai/DeepSeek-R1/blob/main/tokenizer_config.json",
        call="<｜tool▁call▁begin｜>function<｜tool▁sep｜>$name\n```json\n$arguments\n```<｜tool▁call▁end｜>",
        begin=calls, separator="\n", end="<｜tool▁calls▁end｜>", trigger=calls,
        thought=_THINK,
    )  # fmt: skip
    yield deepseek
    yield replace(deepseek, name="deepseek_v3_1", models="DeepSeek V3.1, V3.2-Exp",
                  source="https://huggingface.co/deepseek-ai/DeepSeek-V3.1/blob/main/tokenizer_config.json",
                  call="<｜tool▁call▁begin｜>$name<｜tool▁sep｜>$arguments<｜tool▁call▁end｜>",
                  separator="")  # fmt: skip
    yield ToolFormat(
        name="kimi_k2",
        models="Kimi K2, K2 Thinking, K2.5, K2.6",
        source="https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md",
        call="<|tool_call_begin|>functions.$name:$index<|tool_call_argument_begin|>$arguments<|tool_call_end|>",
        begin="<|tool_calls_section_begin|>", end="<|tool_calls_section_end|>",
        trigger="<|tool_calls_section_begin|>", reserved=("<|tool_call_begin|>",), thought=_THINK,
    )  # fmt: skip


def _tagged() -> Iterator[ToolFormat]:
    """Each argument in tags of its own."""
    coder = ToolFormat(
        name="qwen3_coder",
        models="Qwen3-Coder, Qwen3.5, Qwen3.6, Qwen3.8, Nemotron 3",
        source="https://huggingface.co/Qwen/Qwen3-Coder-30B-A3B-Instruct/blob/main/chat_template.jinja",
        call="<tool_call>\n<function=$name>\n$arguments</function>\n</tool_call>",
        argument="<parameter=$key>\n$value\n</parameter>\n",
        separator="\n", trigger="<tool_call>", blanks=_LINES, text_after=True,
        reserved=("</tool_call>",), thought=_THINK, python_constants=True,
    )  # fmt: skip
    yield coder
    yield replace(coder, name="mimo", models="MiMo-V2",
                  source="https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash/blob/main/chat_template.jinja",
                  call="<tool_call><function=$name>$arguments</function></tool_call>",
                  argument="<parameter=$key>$value</parameter>", separator="")  # fmt: skip
    yield ToolFormat(
        name="seed_oss",
        models="Seed-OSS",
        source="https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct/blob/main/chat_template.jinja",
        call="<seed:tool_call>\n<function=$name>\n$arguments</function>\n</seed:tool_call>",
        argument="<parameter=$key>$value</parameter>\n",
        separator="\n", trigger="<seed:tool_call>", blanks=_LINES, text_after=True,
        reserved=("</seed:tool_call>",), python_constants=True,
        thought=Thought("<seed:think>", "</seed:think>", begin_blanks=("\n",), end_blanks=("\n",), after=_LINES),
    )  # fmt: skip
    glm = ToolFormat(
        name="glm4_5",
        models="GLM 4.5, 4.6",
        source="https://huggingface.co/zai-org/GLM-4.5/blob/main/chat_template.jinja",
        call="<tool_call>$name\n$arguments</tool_call>",
        argument="<arg_key>$key</arg_key>\n<arg_value>$value</arg_value>\n",
        separator="\n", trigger="<tool_call>", blanks=("\n",), text_after=True,
        reserved=("</tool_call>",),
        thought=Thought("<think>", "</think>", before=("\n",), after=("\n",)),
    )  # fmt: skip
    yield glm
    yield replace(glm, name="glm4_7", models="GLM 4.7, 5",
                  source="https://huggingface.co/zai-org/GLM-4.7/blob/main/chat_template.jinja",
                  call="<tool_call>$name$arguments</tool_call>",
                  argument="<arg_key>$key</arg_key><arg_value>$value</arg_value>",
                  separator="", blanks=(), thought=Thought("<think>", "</think>"))  # fmt: skip
    yield ToolFormat(
        name="minimax_m2",
        models="MiniMax M2, M2.5, M2.7",
        source="https://huggingface.co/MiniMaxAI/MiniMax-M2/blob/main/docs/tool_calling_guide.md",
        call='<invoke name="$name">\n$arguments</invoke>\n',
        argument='<parameter name="$key">$value</parameter>\n',
        begin="<minimax:tool_call>\n", end="</minimax:tool_call>",
        trigger="<minimax:tool_call>", blanks=_LINES, reserved=("</minimax:tool_call>",), thought=_THINK,
    )  # fmt: skip
    for version, mark, section in (("v3_2", "", "function_calls"), ("v4", "", "tool_calls"), ("v4_1", " ", "calls")):
        tag = f"｜DSML｜{mark}"
        yield ToolFormat(
            name=f"deepseek_{version}",
            models=f"DeepSeek {version.upper().replace('_', '.')}",
            source="https://huggingface.co/deepseek-ai/DeepSeek-V3.2/tree/main/encoding",
            call=f'<{tag}invoke name="$name">\n$arguments</{tag}invoke>\n',
            argument=f'<{tag}parameter name="$key" string="$is_string">$value</{tag}parameter>\n',
            no_arguments="\n",
            begin=f"\n\n<{tag}{section}>\n", end=f"</{tag}{section}>",
            trigger=f"\n\n<{tag}{section}>", reserved=(f"<{tag}{section}>",),
            thought=Thought("<think>", "</think>"),
        )  # fmt: skip
    think = "<|open|>think<|sep|>", "<|close|>think<|sep|>"
    yield ToolFormat(
        name="kimi_k3",
        models="Kimi K3",
        source="https://huggingface.co/moonshotai/Kimi-K3",
        call='<|open|>call tool="$name" index="$index"<|sep|>$arguments<|close|>call<|sep|>',
        argument='<|open|>argument key="$key" type="$type"<|sep|>$value<|close|>argument<|sep|>',
        begin="<|open|>tools<|sep|>", end="<|close|>tools<|sep|>", trigger="<|open|>tools<|sep|>",
        text_begin="<|open|>response<|sep|>", text_end="<|close|>response<|sep|>", text_begun=True,
        close="<|close|>message<|sep|>",
        thought=Thought(*think), tokens=("<|open|>", "<|close|>", "<|sep|>"),
        escapes=(("&", "&amp;"), ('"', "&quot;")),
    )  # fmt: skip


def _marked() -> Iterator[ToolFormat]:
    """Arguments in notations of their own, at any depth."""
    quote = '<|"|>'
    yield ToolFormat(
        name="gemma4",
        models="Gemma 4",
        source="https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4",
        call="<|tool_call>call:$name{$arguments}<tool_call|>",
        trigger="<|tool_call>", text_after=True, reserved=("<tool_call|>",),
        value_marks=ValueMarks(
            string=(quote, quote), object=("{", ",", "}"), array=("[", ",", "]"), member=("$key:", "")
        ),
        thought=Thought("<|channel>thought\n", "<channel|>", end_blanks=("\n",)),
        tokens=("<|tool_call>", "<tool_call|>", "<|channel>", "<channel|>", quote),
    )  # fmt: skip
    yield ToolFormat(
        name="llama4",
        models="Llama 4, Llama 3.2 1B and 3B",
        source="https://www.llama.com/docs/model-cards-and-prompt-formats/llama4/",
        call="$name($arguments)",
        begin="[", separator=", ", end="]", trigger="[",
        value_marks=ValueMarks(object=("", ", ", ""), member=("$key=", ""), python=True),
        calls_alone=True,
    )  # fmt: skip
    value = "</cofl:value>"
    yield ToolFormat(
        name="cohere",
        models="Cohere's Command models with calls in XML",
        source="https://xgrammar.mlc.ai/docs/structural_tag/builtin_structural_tag.html",
        call='<cofl:tool_call id="$index" name="$name">$arguments</cofl:tool_call>',
        begin="<cofl:tool_calls>", end="</cofl:tool_calls>", trigger="<cofl:tool_calls>", text_after=True,
        reserved=("</cofl:tool_calls>",),
        value_marks=ValueMarks(
            string=(' type="raw">', value), scalar=(' type="json">', value), object=(' type="dict">', "", value),
            array=(' type="list">', "", value), member=('<cofl:value name="$key"', ""), item=("<cofl:value", ""),
        ),
        thought=Thought("<|START_THINKING|>", "<|END_THINKING|>"), tokens=("<|START_THINKING|>", "<|END_THINKING|>"),
    )  # fmt: skip
    name_space = "]<]minimax[>["
    yield ToolFormat(
        name="minimax_m3",
        models="MiniMax M3",
        source="https://xgrammar.mlc.ai/docs/structural_tag/builtin_structural_tag.html",
        call=f'{name_space}<invoke name="$name">$arguments{name_space}</invoke>\n',
        begin=f"{name_space}<tool_call>\n", end=f"{name_space}</tool_call>", trigger=f"{name_space}<tool_call>",
        blanks=_LINES, reserved=(f"{name_space}</tool_call>",),
        value_marks=ValueMarks(
            member=(f"{name_space}<$key>", f"{name_space}</$key>"),
            item=(f"{name_space}<item>", f"{name_space}</item>"),
            stop=name_space,
        ),
        thought=Thought("<mm:think>", "</mm:think>", end_blanks=("\n",), begin_blanks=("\n",), after=_LINES),
    )  # fmt: skip


FORMATS = {
    format.name: format
    for group in (_json_objects, _special_tokens, _messages, _sections, _tagged, _marked)
    for format in group()
}
"""All formats, by name."""


def format_of(given: Any) -> ToolFormat:
    """A format by its name, or by a tokenizer whose chat template writes it; a format that is given is that itself.

    Raises
    ------
    ValueError
        There is none of that name, or none that the template writes.
    """
    if isinstance(given, ToolFormat):
        return given
    if hasattr(given, "apply_chat_template"):
        return format_of_tokenizer(given, tuple(FORMATS.values()))
    format = FORMATS.get(given) if isinstance(given, str) else None
    if format is None:
        near = near_names(str(given)[:60], FORMATS, 1)
        advice = f"; did you mean {near[0]!r}" if near else ""
        raise ValueError(f"there is no tool format {given!r:.60}{advice}: there are {', '.join(FORMATS)}")
    return format
