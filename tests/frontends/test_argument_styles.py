"""Arguments in the styles of structural tags: beside the verdicts of XGrammar 0.2.8, which were looked at by hand.

`tests/frontends/test_structural_tag_dumps.py` has the tags of all models; where XGrammar is installed both are asked.
"""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from importlib.util import find_spec
from random import Random
from typing import Any

import pytest
from support.scaling import scaled

import pdacon
from pdacon import Grammar, Spelling
from pdacon.errors import EmptyLanguageError, UnsupportedGrammarError
from pdacon.frontends.structural_tags.styles import STYLES

PROPERTIES = {
    "c": {"type": "string"},
    "d": {"type": "integer"},
    "u": {"type": ["string", "null"]},
    "o": {
        "type": "object",
        "properties": {"a": {"enum": ["x", "y"]}, "l": {"type": "array", "items": {"type": "boolean"}}},
        "required": ["a"],
        "additionalProperties": False,
    },
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["c"], "additionalProperties": False}
SPACE = "]<]minimax[>["
XTML = '<|open|>argument key="{}" type="{}"<|sep|>{}<|close|>argument<|sep|>'
TEXTS = {
    "qwen_xml": (
        '<parameter=c>b</parameter>\n<parameter=d>\n3\n</parameter><parameter=o>{"a": "x", "l": [true]}</parameter>'
    ),
    "minimax_xml": '<parameter name="c">b</parameter>\n<parameter name="d">3</parameter>',
    "deepseek_xml": (
        '<｜DSML｜parameter name="c" string="true">b</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="d" string="false">3</｜DSML｜parameter>\n'
    ),
    "deepseek_v4_1_xml": '<｜DSML｜ parameter name="c" string="true">b</｜DSML｜ parameter>',
    "glm_xml": "<arg_key>c</arg_key><arg_value>b</arg_value>\n<arg_key>d</arg_key><arg_value>3</arg_value>",
    "kimi_k3_xml": XTML.format("c", "string", "b") + XTML.format("d", "number", "3"),
    "cohere_xml": (
        '<cofl:value name="c" type="raw">b</cofl:value><cofl:value name="o" type="dict">'
        '<cofl:value name="a" type="raw">x</cofl:value><cofl:value name="l" type="list">'
        '<cofl:value type="json">true</cofl:value></cofl:value></cofl:value>'
    ),
    "gemma": '{c:<|"|>b<|"|>,d:3,o:{a:<|"|>x<|"|>,l:[true]}}',
    "minimax_m3_xml": "@<c>b@</c>@<d>3@</d>@<o>@<a>x@</a>@<l>@<item>true@</item>@</l>@</o>".replace("@", SPACE),
}


def styled(style: str, **more: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": SCHEMA, "style": style, **more}


def tagged(content: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": "<function=f>\n", "content": content, "end": "\n</function>"}


def test_every_style_has_a_text() -> None:
    assert {"json", *TEXTS} == set(STYLES)


@pytest.mark.parametrize("style", TEXTS)
def test_a_style_takes_its_text_alone_and_in_a_tag(style: str) -> None:
    text, alone = TEXTS[style], Grammar.from_structural_tag(styled(style))
    assert alone.accepts(text)
    assert not alone.accepts(text.rstrip()[:-1])
    assert not alone.accepts("")
    assert not alone.accepts(text.replace("c", "e"))
    assert Grammar.from_structural_tag(tagged(styled(style))).accepts(f"<function=f>\n{text}\n</function>")


@pytest.mark.parametrize("style", TEXTS)
def test_excluded_texts_are_in_no_string(style: str) -> None:
    text = TEXTS[style]
    grammar = Grammar.from_structural_tag(styled(style, excludes=["zz"]))
    assert grammar.accepts(text)
    assert grammar.accepts(text.replace("b", "z", 1))
    assert not grammar.accepts(text.replace("b", "azza", 1))


def test_excluded_texts_keep_lengths() -> None:
    """XGrammar leaves them out then."""
    schema = {"type": "string", "minLength": 2, "maxLength": 3}
    grammar = Grammar.from_structural_tag({"type": "json_schema", "json_schema": schema, "excludes": ["<|"]})
    texts = ('"ab"', '"a"', '"abcd"', '"<|"', '"|<"')
    assert [grammar.accepts(text) for text in texts] == [True, False, False, False, True]


def test_members_in_any_order_and_blanks() -> None:
    text = "<parameter=d>3</parameter>  <parameter=c>b</parameter>"
    assert not Grammar.from_structural_tag(styled("qwen_xml", max_whitespace_cnt=2)).accepts(text)
    both = Grammar.from_structural_tag(styled("qwen_xml", max_whitespace_cnt=2, any_order=True))
    assert both.accepts(text)
    assert not both.accepts(text.replace("  ", "   "))


def test_special_tokens_in_marks_are_tokens() -> None:
    names = ("<|open|>", "<|close|>", "<|sep|>")
    tokens = [*(bytes([byte]) for byte in range(256)), *[None] * 4]
    vocabulary = pdacon.Vocabulary.from_tokens(tokens, eos_ids=[256])
    vocabulary = vocabulary.with_special_tokens({name: 257 + k for k, name in enumerate(names)})
    grammar = Grammar.from_structural_tag(styled("kimi_k3_xml"), tokens=names)
    matcher = pdacon.compile(grammar, vocabulary).matcher()
    assert matcher.accept_token(257)
    assert matcher.accept('argument key="c" type="string"')
    assert matcher.accept_token(259)
    assert matcher.accept("<|sep|>")
    assert all(map(matcher.accept_token, (258, *b"argument", 259)))
    assert matcher.is_accepting()


def beside_text(content: Any) -> dict[str, Any]:
    tag = {"type": "tag", "begin": "<call><f>", "content": content, "end": "</f></call>"}
    return {"type": "triggered_tags", "triggers": ["<call>"], "tags": [tag]}


def is_value(text: str, most: int, signs: str) -> bool:
    """Whether blanks, a value of any type and blanks are what stands between two tags."""
    blanks = len(text) - len(text.lstrip(signs))
    inner = text[min(blanks, most) :]
    if not inner.startswith(("{", "[")):
        return True
    for end in range(most + 1):
        whole = inner[: len(inner) - end]
        if end and inner[-end:].strip(signs):
            return False
        with suppress(ValueError):
            if json.dumps(json.loads(whole)) == whole:
                return True
    return False


@pytest.mark.parametrize(("most", "blanks"), [(None, "\n"), (1, " \n\t"), (3, " \n\t"), (0, "")])
@pytest.mark.parametrize(("style", "begin"), [("qwen_xml", "<parameter={}>"), ("minimax_xml", '<parameter name="{}">')])
def test_arguments_that_are_not_listed_are_of_any_type_beside_text(
    style: str, begin: str, most: int | None, blanks: str
) -> None:
    """Blanks before an object are no text, and a text may begin with more blanks than may stand around it."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    content = {"type": "json_schema", "json_schema": schema, "style": style, "max_whitespace_cnt": most}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = pdacon.compile(Grammar.from_structural_tag(beside_text(content)), pdacon.Vocabulary.bytes())
    random = Random(f"{style} {most}")
    values = ['["x"]', "[]", "{", "]", "true", "1", "a", "", '{"a"', "{}", "é"]
    counted = {True: 0, False: 0}
    for _ in range(scaled(400)):
        around = ["".join(random.choices(" \n\t", k=random.choice((0, 0, 1, 1, 2, 3, 4)))) for _ in range(2)]
        value = around[0] + random.choice(values) + around[1]
        name = random.choice(("city", "zip", "a b"))
        text = f"so <call><f>{begin.format(name)}{value}</parameter></f></call> {{"
        expected = name == "city" or is_value(value, 1 if most is None else most, blanks)
        assert own.accepts(text) == expected, text
        counted[expected] += 1
    assert min(counted.values()) > scaled(20)


def test_what_is_refused() -> None:
    with pytest.raises(UnsupportedGrammarError, match="style must be one of json, qwen_xml"):
        Grammar.from_structural_tag(styled("xml"))
    with pytest.raises(UnsupportedGrammarError, match=r"^#/json_schema: arguments: minProperties"):
        Grammar.from_structural_tag({**styled("qwen_xml"), "json_schema": {**SCHEMA, "minProperties": 1}})
    with pytest.raises(UnsupportedGrammarError, match=r"arguments/properties/a: the format.*names are not listed"):
        Grammar.from_structural_tag(
            {**styled("minimax_m3_xml"), "json_schema": {"properties": {"a": {"type": "object"}}}}
        )
    with pytest.raises(EmptyLanguageError):
        Grammar.from_structural_tag({**styled("glm_xml"), "json_schema": False})


@pytest.mark.skipif(find_spec("xgrammar") is None, reason="XGrammar is not installed; its verdicts stand above")
@pytest.mark.parametrize("style", STYLES)
def test_beside_xgrammar(style: str) -> None:
    """What is accepted here is accepted there. The reverse holds but for other blanks."""
    import xgrammar

    info = xgrammar.TokenizerInfo(
        [*(bytes([byte]) for byte in range(256)), b"end"],
        vocab_type=xgrammar.VocabType.RAW,
        vocab_size=257,
        stop_token_ids=[256],
    )
    tag = styled(style, max_whitespace_cnt=2)
    if style not in str(xgrammar.structural_tag.JSONSchemaFormat.model_fields["style"].annotation):
        pytest.skip(f"this XGrammar has no style {style}")
    other = xgrammar.GrammarCompiler(info, max_threads=1).compile_structural_tag(
        xgrammar.StructuralTag.model_validate({"type": "structural_tag", "format": tag})
    )
    own = pdacon.compile(Grammar.from_structural_tag(tag), pdacon.Vocabulary.bytes())
    random = Random(style)
    text = TEXTS.get(style, json.dumps({"c": "b", "d": 3, "o": {"a": "x"}}))
    for _ in range(scaled(300)):
        at, length = random.randrange(len(text)), random.randint(1, 9)
        piece = random.choice(("", text[at : at + 2 * length], random.choice('abc"<>/{} 1')))
        mutated = text[:at] + piece + text[at + random.randint(0, length) :]
        matcher = xgrammar.GrammarMatcher(other)
        accepted = matcher.accept_string(mutated) and matcher.is_completed()
        assert own.accepts(mutated) == accepted or (accepted and any(blank in mutated for blank in " \n")), mutated


def test_spelling_is_kept_in_json() -> None:
    grammar = Grammar.from_structural_tag(styled("qwen_xml"), spelling=Spelling(whitespace="compact"))
    assert grammar.accepts('<parameter=c>b</parameter><parameter=o>{"a":"x"}</parameter>')
    assert not grammar.accepts('<parameter=c>b</parameter><parameter=o>{"a": "x"}</parameter>')
