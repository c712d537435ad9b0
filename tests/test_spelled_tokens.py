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
    (lambda: Grammar.from_structural_tag(TRIGGERED), "tokens=vocabulary.special_tokens"),
    (lambda: Grammar.from_structural_tag(DISPATCH), "tokens=vocabulary.special_tokens"),
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


def test_a_cache_tells_it_too() -> None:
    with pytest.warns(GrammarWarning, match="is written as text"):
        pdacon.CompileCache().compile(Grammar.from_structural_tag(TRIGGERED), VOCABULARY)


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


def ids_of(text: str) -> list[int]:
    """The tokens of a text in which names of special tokens are these."""
    ids: list[int] = []
    while text:
        name = next((name for name in ("<|call|>", "<|end|>") if text.startswith(name)), None)
        ids += text[0].encode() if name is None else [VOCABULARY.special_tokens[name]]
        text = text[len(name or text[0]) :]
    return ids


def accepts(constraint: pdacon.Constraint, ids: list[int]) -> bool:
    matcher = constraint.matcher()
    return all(matcher.accept_token(token) for token in ids) and matcher.is_accepting()


SEVERAL = {"type": "tag", "begin": "<|call|>", "content": ANY, "end": ["<|end|>", ";", "!<|end|>"]}
BOTH = {
    "type": "triggered_tags",
    "triggers": ["<|call|>", "<t"],
    "tags": [tag("<|call|>f", "<|end|>"), tag("<t>", "</t>")],
    "excludes": ["no"],
}
MANY = {"type": "tags_with_separator", "tags": [tag("<|call|>", ";")], "separator": "<|end|>", "at_least_one": True}


@pytest.mark.parametrize(
    ("format", "texts", "others"),
    [
        (tag("a<|call|>", "<|end|>b"), ["a<|call|>{}<|end|>b"], ["a<|call|>{}", "a{}<|end|>b"]),
        (
            SEVERAL,
            ["<|call|>x<|end|>", "<|call|>x;", "<|call|>a!<|end|>", "<|call|><|end|>"],
            ["<|call|>", "<|call|>;;"],
        ),
        (TRIGGERED, ["", "hi <|call|>{}; ho", "<|call|>{};<|call|>{};"], ["<|call|>", "<|call|>x;", "a<|end|>"]),
        (BOTH, ["a <|call|>f{}<|end|> <t>{}</t>", "n<t>{}</t>o"], ["<t", "no", "<|call|>{}<|end|>"]),
        (DISPATCH, ["x<|call|>aa;y", "<"], ["<|call|>y"]),
        (MANY, ["<|call|>{};", "<|call|>{};<|end|><|call|>{};"], ["", "<|call|>{};<|call|>{};"]),
        ({"type": "const_string", "value": "a<|end|>"}, ["a<|end|>"], ["a"]),
    ],
)
def test_names_of_special_tokens_mean_the_tokens(format: Any, texts: list[str], others: list[str]) -> None:
    """What is accepted with the token is accepted in no place with its letters, and where it is none, the other way."""
    grammar = Grammar.from_structural_tag(format, tokens=VOCABULARY.special_tokens)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        constraint = pdacon.compile(grammar, VOCABULARY)
    plain = pdacon.compile(Grammar.from_structural_tag(format), PLAIN)
    for text in texts:
        assert accepts(constraint, ids_of(text)), text
        assert plain.accepts(text), text
        if "<|" in text and format not in (TRIGGERED, DISPATCH, BOTH):  # whose free text may have the letters
            assert not accepts(constraint, list(text.encode())), text
    for text in others:
        assert not accepts(constraint, ids_of(text)), text
        assert not plain.accepts(text) or "<|end|>" in text, text


def test_tokens_are_names() -> None:
    for tokens in ("<|call|>", [1], [""]):
        with pytest.raises(TypeError, match="names of special tokens"):
            Grammar.from_structural_tag(TRIGGERED, tokens=tokens)  # type: ignore[arg-type]


def test_tokens_by_their_ids() -> None:
    """In tags, and in the notation of llguidance lists and ranges of them; of several none has a text."""
    call = {
        "type": "tag",
        "begin": {"type": "token", "token": 256},
        "content": ANY,
        "end": {"type": "token", "token": 257},
    }
    for format in (call, {"type": "token_triggered_tags", "trigger_tokens": [256], "tags": [call]}):
        constraint = pdacon.compile(Grammar.from_structural_tag(format), PLAIN)
        assert accepts(constraint, [256, *b"hi", 257])
        assert not accepts(constraint, [256, *b"hi", 258])
    several = pdacon.compile(Grammar.from_llguidance("start: <[256-257]> /[a-z]+/ <[256,258]>"), PLAIN)
    texts = [[first, *b"ab", last] for first in (256, 257, 258) for last in (256, 257, 258)]
    assert [accepts(several, text) for text in texts] == [True, False, True, True, False, True, False, False, False]
    single = pdacon.compile(Grammar.from_llguidance("start: <[97]> /b+/"), PLAIN)
    assert accepts(single, [*b"abb"])
    assert not accepts(single, [*b"bb"])
    for ids, why in (
        ("97-98", "has the text"),
        ("259", "ends a text"),
        ("300", "no token 300"),
        ("258-256", "no token"),
    ):
        with pytest.raises(pdacon.VocabularyError, match=why):
            pdacon.compile(Grammar.from_llguidance(f"start: <[{ids}]>"), PLAIN)
