"""Special tokens that are written as text are told where the vocabulary has them, with how to name them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import pytest

import pdacon
from pdacon import Grammar
from pdacon.errors import GrammarWarning
from pdacon.frontends.tool_formats import FORMATS

_TOKENS = [*(bytes([byte]) for byte in range(256)), None, None, None, None]
PLAIN = pdacon.Vocabulary.from_tokens(_TOKENS, eos_ids=[259])
VOCABULARY = PLAIN.with_special_tokens({"<|call|>": 256, "<|end|>": 257, "tool": 258})
TOOL = {"name": "f", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}
ANY = {"type": "any_text"}


def tag(begin: Any, end: Any) -> dict[str, Any]:
    return {
        "type": "tag",
        "begin": begin,
        "content": {"type": "json_schema", "json_schema": {"type": "object"}},
        "end": end,
    }


FORMAT = replace(
    FORMATS["hermes"], call="<|call|>$name $arguments<|end|>", trigger="<|call|>", reserved=(), separator=""
)
TRIGGERED = {"type": "triggered_tags", "triggers": ["<|call|>"], "tags": [tag("<|call|>", ";")]}
DISPATCH = {"type": "dispatch", "rules": [["<|call|>", {"type": "regex", "pattern": "a+;"}]]}
SPELLED = [
    (lambda: Grammar.from_structural_tag(tag("<|call|>f:", "x")), '"token": "<|call|>"'),
    (lambda: Grammar.from_structural_tag(tag("x", ["<|end|>", "y"])), '"token": "<|end|>"'),
    (lambda: Grammar.from_structural_tag(TRIGGERED), "token_triggered_tags"),
    (lambda: Grammar.from_structural_tag(DISPATCH), "token_triggered_tags"),
    (lambda: Grammar.from_tools([TOOL], format=FORMAT), "format=tokenizer"),
    (lambda: Grammar.from_lark('start: "<|call|>" /[a-z]+/'), r"(?P<TOKEN><\|call\|>)"),
]


@pytest.mark.parametrize(("make", "way_out"), SPELLED)
def test_a_special_token_in_letters_is_told(make: Any, way_out: str) -> None:
    with pytest.warns(GrammarWarning, match="is a special token of this vocabulary, and is written as text") as caught:
        pdacon.compile(make(), VOCABULARY)
    assert any(way_out in str(warning.message) for warning in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pdacon.compile(make(), PLAIN)  # where it is no token, the letters are what the model writes


def test_what_names_its_tokens_is_not_told_of() -> None:
    named = {"type": "token", "token": "<|call|>"}, {"type": "token", "token": "<|end|>"}
    schema = {"enum": ["<|call|>", "tool"]}
    grammars = [
        Grammar.from_structural_tag(tag(*named)),
        Grammar.from_structural_tag({"type": "json_schema", "json_schema": schema}),
        Grammar.from_tools([TOOL], format=replace(FORMAT, tokens=("<|call|>", "<|end|>"))),
        Grammar.from_json_schema(schema),
        Grammar.from_lark('start: "tool"'),
        Grammar.from_lark(r"start: /(?P<TOKEN><\|call\|>)/ /[a-z]+/", extensions=True),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for grammar in grammars:
            pdacon.compile(grammar, VOCABULARY)
