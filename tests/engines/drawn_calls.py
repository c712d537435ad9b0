"""Calls of tools that vLLM's server reads from what random sampling of the tiny model writes, in the formats of its own
parsers: each one's arguments have to be a value of its tool's schema, and no mark of the format may be in the content,
but where the answer was cut: vLLM's parsers give half a call out as content then.

    python drawn_calls.py [--count 500] [PARSER ...]

Half of the requests are streams; every tool is strict, since of others vLLM holds the format alone. Written to one line
a format, with the tokens' own text beside what vLLM's parser made of them where that is wrong; the exit status says
whether all was as it has to be.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
from tool_calls import FORMATS, Answer, Refusal, ToolFormat, answer_to, bias_of, with_tokens
from with_vllm import MODEL, server

TEXT = {"type": "string", "maxLength": 8}
SCHEMAS: dict[str, dict[str, Any]] = {
    "get_weather": {"properties": {"city": TEXT, "days": {"type": "integer", "minimum": 1, "maximum": 14}},
                    "required": ["city", "days"]},
    "set_unit": {"properties": {"unit": {"enum": ["c", "K°"]}, "again": {"type": "boolean"}},
                 "required": ["unit", "again"]},
    "tag": {"properties": {"tags": {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 2}},
            "required": ["tags"]},
    "note": {"properties": {"note": {"type": ["string", "null"], "maxLength": 5}, "n": {"const": 7}},
             "required": ["note", "n"]},
    "pick": {"properties": {"code": {"type": "string", "pattern": "^[a-z]{2}-[0-9]{2}$"}}, "required": ["code"]},
    "find": {"properties": {"where": {"$ref": "#/$defs/place"}}, "required": ["where"],
             "$defs": {"place": {"type": "object", "properties": {"x": {"type": "integer", "minimum": -9, "maximum": 9},
                                                                  "kind": {"enum": ["in", "<b>"]}},
                                 "required": ["x", "kind"], "additionalProperties": False}}},
}  # fmt: skip
PARAMETERS = {name: {"type": "object", "additionalProperties": False, **schema} for name, schema in SCHEMAS.items()}
DEFAULT = ["hermes", "deepseek_v31", "kimi_k2", "llama3_json"]


def requests(format: ToolFormat, count: int, bias: dict[str, float]) -> Iterator[dict[str, Any]]:
    random = Random(format.parser)
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema, "strict": True}}
        for name, schema in PARAMETERS.items()
    ]
    for seed in range(count):
        named = {"type": "function", "function": {"name": random.choice(list(SCHEMAS))}}
        yield {
            "model": "tiny", "messages": [{"role": "user", "content": "Describe a person as JSON:"}], "tools": tools,
            "tool_choice": random.choice(["auto", "required", "required", named]), "seed": seed, "max_tokens": 160,
            "parallel_tool_calls": random.random() < 0.3, "stream": seed % 2 == 0, "temperature": 1.0,
            "logit_bias": bias, "return_token_ids": True,
        }  # fmt: skip


def judged(format: ToolFormat, answer: Answer | Refusal, body: dict[str, Any], tokenizer: Any) -> Iterator[str]:
    """What came of each call of an answer, and of its content."""
    if isinstance(answer, Refusal):
        yield f"refused: {answer.text[:200]}"
        return
    calls, content, ending = answer.calls, answer.content, answer.ending
    own = f"of {tokenizer.decode(answer.tokens)!r:.300}"
    way = "streamed" if body["stream"] else "whole"
    if any(mark in content for mark in format.tokens):
        yield f"a mark in the content of {'a cut' if ending == 'length' else 'an'} answer ({way})"
    if ending == "length":
        yield "cut"
        calls = calls[:-1]
    for name, text in calls:
        wrong = complaint(name, text)
        yield f"WRONG ({way}): {name} {text!r:.200}: {wrong:.100} {own}" if wrong else f"valid ({way})"
    if not calls and ending != "length":
        yield "text" if body["tool_choice"] == "auto" else f"no call ({way}) {own}"


def complaint(name: str, text: str) -> str:
    try:
        jsonschema.validate(json.loads(text), PARAMETERS[name])
    except (ValueError, KeyError, jsonschema.ValidationError) as error:
        return repr(error)
    return ""


def run(format: ToolFormat, count: int) -> bool:
    from transformers import AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:
        with_tokens(MODEL, format.tokens, Path(folder))
        tokenizer = AutoTokenizer.from_pretrained(folder)
        asked = list(requests(format, count, bias_of(format, tokenizer)))
        options = "--enable-auto-tool-choice", "--tool-call-parser", format.parser
        with server(*options, model=Path(folder)) as address, ThreadPoolExecutor(16) as pool:
            answers = pool.map(partial(answer_to, address), asked)
            told = Counter(
                said
                for answer, body in zip(answers, asked, strict=True)
                for said in judged(format, answer, body, tokenizer)
            )
    print(f"{format.parser}: {count} requests: {dict(told)}", flush=True)
    return not any(said.startswith(("WRONG", "refused", "a mark in the content of an ")) for said in told)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500, help="requests of each format")
    parser.add_argument("parsers", nargs="*", default=DEFAULT)
    arguments = parser.parse_args()
    formats = {format.parser: format for format in FORMATS}
    good = True
    for name in arguments.parsers:  # all, also behind a bad one
        good &= run(formats[name], arguments.count)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
