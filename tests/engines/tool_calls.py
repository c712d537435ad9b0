"""Tool calls in the formats of vLLM's own tool parsers: what is asked, and how each answer is checked.

A parser says which structural tag an answer is held to and reads the calls out of the answer. So each format is asked
for with every choice of tools, with strict arguments and free ones, whole and as a stream. The calls are those that the
parser has read; the text before it reads any is compared with the structural tag by XGrammar, which vLLM has anyway.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import httpx
import jsonschema
from servers import events

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"enum": ["Bern", "Genève", "Chur"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
# Said, since XGrammar takes it for false where nothing is.
CLOCK = {"type": "object", "properties": {}, "additionalProperties": True}
PARAMETERS = {"weather": WEATHER, "clock": CLOCK}
Choice = Literal["auto", "required", "named"]


@dataclass(frozen=True)
class ToolFormat:
    """A tool parser of vLLM.

    Attributes
    ----------
    parser : str
        Its name.
    tokens : tuple of str
        What it wants to have in the vocabulary: tokens of their own, and no special ones.
    style : str or None
        The style of arguments by whose name its structural tags are refused; None: they are JSON.
    """

    parser: str
    tokens: tuple[str, ...]
    style: str | None = None


_CALLS = (
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
)
_SECTIONS = ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_end|>")
FORMATS = [
    ToolFormat("llama3_json", ("<|python_tag|>",)),
    ToolFormat("hermes", ("<tool_call>", "</tool_call>")),
    ToolFormat("deepseek_v3", _CALLS),
    ToolFormat("deepseek_v31", _CALLS),
    ToolFormat("kimi_k2", (*_SECTIONS, "<|tool_call_argument_begin|>")),
    ToolFormat("longcat", ("<longcat_tool_call>", "</longcat_tool_call>")),
    ToolFormat("qwen3_coder", ("<tool_call>", "</tool_call>"), style="qwen_xml"),
    ToolFormat("glm47", ("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
               style="glm_xml"),
]  # fmt: skip


@dataclass(frozen=True)
class ToolRequest:
    """A request for an answer with tools."""

    choice: Choice
    strict: bool
    is_stream: bool
    seed: int

    @property
    def body(self) -> dict[str, Any]:
        functions = [
            {"name": name, "parameters": parameters, "strict": self.strict} for name, parameters in PARAMETERS.items()
        ]
        named = {"type": "function", "function": {"name": "weather" if self.seed % 2 else "clock"}}
        return {
            "model": "tiny",
            "messages": [{"role": "user", "content": "Describe a person as JSON:"}],
            "tools": [{"type": "function", "function": one} for one in functions],
            "tool_choice": named if self.choice == "named" else self.choice,
            "parallel_tool_calls": self.seed % 3 != 0,
            "stream": self.is_stream,
            "max_tokens": 200,
            "temperature": 0.7,
            "return_token_ids": True,
            "seed": self.seed,
        }


@dataclass
class Answer:
    """An answer, put together of its parts where it was a stream; of each call the name and the arguments."""

    calls: list[list[str]]
    tokens: list[int]
    content: str = ""
    ending: str | None = None


@dataclass(frozen=True)
class Refusal:
    """An error in place of an answer."""

    status: int
    text: str


def with_tokens(model: Path, tokens: tuple[str, ...], folder: Path) -> None:
    """Write a model and its tokenizer with more tokens, which have rows of their own in the embedding."""
    from tokenizers import AddedToken
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.add_tokens([AddedToken(one, special=False, normalized=False) for one in tokens])
    wider = AutoModelForCausalLM.from_pretrained(model)
    wider.resize_token_embeddings(len(tokenizer))
    wider.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def bias_of(format: ToolFormat, tokenizer: Any) -> dict[str, float]:
    """What requests add to the tokens of a format.

    The model has never seen the new tokens; without this it hardly calls a tool, or ends a number.
    """
    return {str(tokenizer.convert_tokens_to_ids(token)): 6.0 for token in format.tokens}


def ask_all(address: str, format: ToolFormat, model: Path, seeds: int) -> Counter[str]:
    """What came of every kind of request, so many times each."""
    expected = _Expected(format, model)
    kinds: Iterator[tuple[Choice, bool, bool, int]] = product(
        ("auto", "required", "named"), (True, False), (True, False), range(seeds)
    )
    with ThreadPoolExecutor(6) as pool:
        return Counter(pool.map(lambda kind: ask(address, expected, ToolRequest(*kind)), kinds))


class _Expected:
    """What a text of a format has to be: XGrammar's reading of the structural tag that vLLM asks for.

    ``bias`` is what requests add to the tokens of the format.
    """

    def __init__(self, format: ToolFormat, model: Path) -> None:
        from transformers import AutoTokenizer
        from vllm.tool_parsers import ToolParserManager

        self.format = format
        self._model = ToolParserManager.get_tool_parser(format.parser).structural_tag_model
        self._tokenizer = AutoTokenizer.from_pretrained(model)
        self.bias = bias_of(format, self._tokenizer)

    def is_missed(self, request: ToolRequest, answer: Answer) -> bool:
        """Whether a text that was not cut is none of the tag. Of a free choice without strict tools there is no tag."""
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.tool_parsers.structural_tag_registry import get_model_structural_tag, limit_to_single_tool_call
        from xgrammar import Grammar
        from xgrammar.testing import _is_grammar_accept_string

        asked = ChatCompletionRequest(**request.body)
        tag = get_model_structural_tag(self._model, asked.tools, asked.tool_choice, False)
        if tag is None:
            return False
        if not asked.parallel_tool_calls:
            tag = limit_to_single_tool_call(tag)
        ends = {self._tokenizer.eos_token_id}
        text = self._tokenizer.decode([one for one in answer.tokens if one not in ends])
        return not _is_grammar_accept_string(Grammar.from_structural_tag(tag), text)


def ask(address: str, expected: _Expected, request: ToolRequest) -> str:
    """What came of a request: called, said (no tool), misread, cut (by the most tokens), refused, or a complaint.

    Misread is a text of the tag of which vLLM's parser reads no call or another one, such as free text with an object
    that has a name, in Llama's format, or the end of a call that comes in one piece of a stream, in DeepSeek's.
    """
    format = expected.format
    answer = answer_to(address, request.body | {"logit_bias": expected.bias})
    if isinstance(answer, Refusal):
        return _judged_refusal(format, request, answer)
    # Without strict tools vLLM asks for no format, or for one whose arguments are any text.
    if format.style is not None and request.strict:
        return f"{request}: style {format.style} is not refused"
    if answer.ending == "length":
        return "cut"
    if expected.is_missed(request, answer):
        return f"{request}: a text that is none of the tag: {answer}"
    complaint = _verdict(request, answer)
    return (
        "misread"
        if complaint.startswith("ToolRequest") and (request.is_stream or request.choice == "auto")
        else complaint
    )


def answer_to(address: str, body: dict[str, Any]) -> Answer | Refusal:
    """What the server answers to a request that asks for the ids of tokens, too."""
    with httpx.stream("POST", f"{address}/v1/chat/completions", json=body, timeout=600) as response:
        if response.status_code != 200:
            return Refusal(response.status_code, response.read().decode())
        return _streamed(response) if body["stream"] else _whole(json.loads(response.read()))


def _judged_refusal(format: ToolFormat, request: ToolRequest, refusal: Refusal) -> str:
    is_of_style = format.style is not None and f"style '{format.style}' is not supported" in refusal.text
    if refusal.status == 400 and is_of_style:
        return "refused"
    return f"{request}: status {refusal.status}: {refusal.text[:300]}"


def _whole(answer: Any) -> Answer:
    (choice,) = answer["choices"]
    calls = [
        [one["function"]["name"], one["function"]["arguments"]] for one in choice["message"].get("tool_calls") or []
    ]
    return Answer(calls, choice["token_ids"], choice["message"].get("content") or "", choice["finish_reason"])


def _streamed(response: httpx.Response) -> Answer | Refusal:
    answer = Answer([], [])
    for event in events(response):
        if "choices" not in event:  # once a stream has begun, vLLM refuses by an event
            return Refusal(event["error"]["code"], json.dumps(event))
        for choice in event["choices"]:
            answer.content += choice["delta"].get("content") or ""
            answer.tokens += choice.get("token_ids") or []
            answer.ending = choice["finish_reason"] or answer.ending
            for part in choice["delta"].get("tool_calls") or []:
                while len(answer.calls) <= part["index"]:
                    answer.calls.append(["", ""])
                call, function = answer.calls[part["index"]], part.get("function") or {}
                call[0] += function.get("name") or ""
                call[1] += function.get("arguments") or ""
    return answer


def _verdict(request: ToolRequest, answer: Answer) -> str:
    if answer.ending not in ("stop", "tool_calls"):
        return f"{request}: ended by {answer.ending}: {answer}"
    if not answer.calls:
        return "said" if request.choice == "auto" else f"{request}: no call: {answer}"
    try:
        _check_calls(answer.calls, request.strict)
    except (ValueError, KeyError, jsonschema.ValidationError) as error:
        return f"{request}: {answer}: {error!r:.200}"
    wanted = request.body["tool_choice"]
    if isinstance(wanted, dict) and [name for name, _ in answer.calls] != [wanted["function"]["name"]]:
        return f"{request}: another tool: {answer}"
    return "called"


def _check_calls(calls: list[list[str]], strict: bool) -> None:
    """Raise for arguments that are no JSON or, if they are strict, not what the tool takes."""
    for name, text in calls:
        arguments, parameters = json.loads(text), PARAMETERS[name]
        if strict:
            jsonschema.validate(arguments, parameters)
