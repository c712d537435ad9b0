"""What it costs to read an answer while it comes, in every format: CPU time a piece of four characters.

    pip install '.[test]' && pytest tests/benchmarks/test_readers.py --benchmark-enable -s

Nothing asserts a time.
"""

from __future__ import annotations

import time
from typing import Any

import pdacon
from pdacon import Call
from pdacon.frontends.tool_formats import FORMATS, Answer

TOOL = {
    "name": "search",
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "count": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["query", "count", "tags"],
        "additionalProperties": False,
    },
}
ARGUMENTS = {
    "query": "the weather in Oslo and in Bergen, for the next three days, with wind and rain and snow " * 4,
    "count": 12,
    "tags": ["weather", "norway", "forecast", "wind"] * 4,
}


def test_readers(measured: bool, show: Any) -> None:
    table = []
    for name, format in FORMATS.items():
        grammar = pdacon.Grammar.from_tools([TOOL], format=name, choice="required", tokens=[])
        constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
        answer = Answer("", "", (Call("search", ARGUMENTS),) * (2 if format.messages is None else 1))
        text = grammar.write(answer)
        pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
        spent = []
        for _ in range(50 if measured else 1):
            reader = constraint.reader()
            began = time.process_time_ns()
            for piece in pieces:
                reader.feed(piece)
            reader.close()
            spent.append((time.process_time_ns() - began) / len(pieces) / 1e3)
            assert reader.answer.calls == answer.calls
        table.append([name, len(pieces), f"{min(spent):.2f}", f"{sorted(spent)[len(spent) // 2]:.2f}"])
    show(["format", "pieces", "least (us)", "p50 (us)"], table)
