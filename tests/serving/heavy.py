"""Requests that cost much, each in its own way: of strangers, or of somebody who means well."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

CHAT, COMPLETIONS, NATIVE = "/v1/chat/completions", "/v1/completions", "/generate"
ASKED: Any = [{"role": "user", "content": "hi"}]
TEMPLATE = (
    "{% if loops is defined %}{% for i in range(loops) %}{% for j in range(loops) %}{% endfor %}{% endfor %}{% endif %}"
    "{% for message in messages %}{{ message.content }}{% endfor %}"
)
_EACH = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}


def _json(**fields: Any) -> bytes:
    return json.dumps({"max_tokens": 5} | fields).encode()


def _schema(members: int) -> Any:
    names = [f"member_{number}" for number in range(members)]
    return {"type": "object", "properties": dict.fromkeys(names, _EACH), "additionalProperties": False}


def _tools(count: int) -> list[Any]:
    return [
        {"type": "function", "function": {"name": f"tool_{number}", "parameters": _EACH}} for number in range(count)
    ]


def _words(count: int) -> list[str]:
    """Words of ten letters that have little in common."""
    letters = Random(0)
    return ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=10)) for _ in range(count)]


def _ebnf(words: Sequence[str]) -> str:
    return "\n".join(f'r{n} ::= "{word}" r{(n + 1) % len(words)}?' for n, word in enumerate(words))


def _terminals(words: Sequence[str]) -> str:
    rules = "\n".join(f'T{n}: "{word}"' for n, word in enumerate(words))
    return f"{rules}\nany: {' | '.join(f'T{n}' for n in range(len(words)))}"


def heavy_requests() -> dict[str, tuple[str, bytes]]:
    """By what is heavy: the path and the body."""
    rules = "\n".join(f'r{number}: "a{number}" r{number + 1} | "b" r{number // 2}' for number in range(4_000))
    rules = f'start: r0\n{rules}\nr4000: "x"'
    nested = '{"x": ' * 190 + "0" + "}" * 190
    return {
        "a long prompt": (COMPLETIONS, _json(prompt="the cat sat " * 320_000)),
        "a prompt of one letter": (COMPLETIONS, _json(prompt="x" * 3_800_000)),
        "a prompt of open words": (COMPLETIONS, _json(prompt="\u00e9\u0301 \U0001f600" * 200_000)),
        "a prompt that just fits": (COMPLETIONS, _json(prompt="ab " * 4_000)),
        "a prompt of ids": (COMPLETIONS, _json(prompt=[5] * 240_000)),
        "prompts by the thousand": (COMPLETIONS, _json(prompt=["a b c d"] * 100_000)),
        "a chat of one long message": (CHAT, _json(messages=[{"role": "user", "content": "the cat " * 480_000}])),
        "a chat of many messages": (CHAT, _json(messages=ASKED * 40_000)),
        "a template that loops": (CHAT, _json(messages=ASKED, chat_template_kwargs={"loops": 99_999})),
        "a template of the client's": (CHAT, _json(messages=ASKED, chat_template_kwargs={"chat_template": TEMPLATE})),
        "options of a template": (CHAT, _json(messages=ASKED, chat_template_kwargs={"x": ["ab"] * 240_000})),
        "arrays by the million": (COMPLETIONS, b'{"prompt": ' + b"[[]," * 1_000_000),
        "arrays, just few enough": (COMPLETIONS, _json(prompt="x", metadata={"x": [[]] * 49_000})),
        "numbers, just few enough": (COMPLETIONS, _json(prompt="x", metadata={"x": [1.5] * 240_000})),
        "names, just few enough": (COMPLETIONS, _json(prompt="x", metadata={f"{n}": n for n in range(99_000)})),
        "nested objects": (COMPLETIONS, _json(prompt="x", metadata=json.loads(f"[{nested}]") * 200)),
        "fields by the thousand": (COMPLETIONS, _json(prompt="x", **{f"f{n}": 0 for n in range(99_000)})),
        "items that are no objects": (CHAT, _json(messages=[0] * 240_000)),
        "tools that are no objects": (CHAT, _json(messages=ASKED, tools=[0] * 240_000)),
        "tools by the thousand": (CHAT, _json(messages=ASKED, tools=_tools(3_000), tool_choice="required")),
        "many stop texts": (COMPLETIONS, _json(prompt="x", stop=[f"{n:0>500}" for n in range(8_000)])),
        "biases": (CHAT, _json(messages=ASKED, logit_bias={str(n): 1 for n in range(99_000)})),
        "a schema that is too long": (CHAT, _json(messages=ASKED, structured_outputs={"json": _schema(20_000)})),
        "a large schema": (CHAT, _json(messages=ASKED, structured_outputs={"json": _schema(5_000)})),
        "a schema as a text": (CHAT, _json(messages=ASKED, structured_outputs={"json": json.dumps(_schema(5_000))})),
        "a large grammar": (
            COMPLETIONS,
            _json(prompt="x", structured_outputs={"grammar": rules}),
        ),
        "blanks for a grammar": (COMPLETIONS, _json(prompt="x", structured_outputs={"grammar": " " * 500_000})),
        "blanks that are too many": (COMPLETIONS, _json(prompt="x", structured_outputs={"grammar": " " * 4_000_000})),
        "counts in a pattern": (COMPLETIONS, _json(prompt="x", structured_outputs={"regex": "(a|b|ab){0,2000}c" * 9})),
        "a long pattern": (COMPLETIONS, _json(prompt="x", structured_outputs={"regex": "(a|b)?" * 60_000})),
        "choices by the thousand": (
            COMPLETIONS,
            _json(prompt="x", structured_outputs={"choice": [f"{n * 7919 % 99991:x}" for n in range(20_000)]}),
        ),
        "texts by the thousand": (CHAT, _json(messages=ASKED, structured_outputs={"json": {"enum": _words(32_000)}})),
        "counts within counts": (
            COMPLETIONS,
            _json(prompt="x", structured_outputs={"grammar": 'root ::= (("a"|"b"){0,400}){0,400}'}),
        ),
        "rules with texts of their own": (
            COMPLETIONS,
            _json(prompt="x", structured_outputs={"grammar": f"root ::= r0\n{_ebnf(_words(8_000))}"}),
        ),
        "terminals by the thousand": (
            COMPLETIONS,
            _json(prompt="x", structured_outputs={"grammar": f"start: any\n{_terminals(_words(9_000))}"}),
        ),
        "a grammar to complete": (
            COMPLETIONS,
            _json(prompt="x", structured_outputs={"grammar": rules}, complete=True),
        ),
        "all log-probabilities": (
            CHAT,
            _json(messages=ASKED, n=16, logprobs=True, top_logprobs=20, max_tokens=100, temperature=2),
        ),
    }
