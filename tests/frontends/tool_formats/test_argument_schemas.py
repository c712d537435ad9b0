"""The schema of a tool's arguments means the same in each format as in JSON: references lead where they lead there,
and what cannot be read is refused by name.
"""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import jsonschema
import pytest
from support.scaling import scaled

from pdacon import Call, Grammar, Vocabulary, compile
from pdacon.errors import EmptyLanguageError, UnsupportedGrammarError, UnsupportedSchemaError, UnsupportedTypeError
from pdacon.frontends.structural_tags.styles import STYLES
from pdacon.frontends.tool_formats import FORMATS, Answer

OWN = [name for name, format in FORMATS.items() if format.tagged]
SOME = ["qwen3_coder", "glm4_5", "kimi_k3", "gemma4", "llama4", "cohere", "minimax_m3"]
INTEGER = {"type": "object", "properties": {"c": {"type": "integer"}}, "required": ["c"], "additionalProperties": False}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
NODE = {
    "type": "object",
    "properties": {"c": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]}},
    "required": ["c"],
    "additionalProperties": False,
}
REFERRING = [
    {"$ref": "#/$defs/d", "$defs": {"d": INTEGER}},
    {"$ref": "#/$defs/d", "$defs": {"d": {"$ref": "#/$defs/e"}, "e": INTEGER}},
    {"$ref": "#/$defs/d", "type": "object", "description": "words", "$defs": {"d": INTEGER}},
    {"$ref": "#/definitions/d", "definitions": {"d": INTEGER}},
    {"$ref": "#/definitions/a~1b%25", "definitions": {"a/b%": INTEGER}},
    {"$ref": "#there", "$defs": {"d": {"$anchor": "there", **INTEGER}}},
    {"$ref": "inner", "$defs": {"d": {"$id": "inner", **INTEGER}}},
    {"$ref": "inner#/$defs/e", "$defs": {"d": {"$id": "inner", "$defs": {"e": INTEGER}}}},
    {"$ref": "inner", "$defs": {"d": {"$id": "inner", "$ref": "#/$defs/e", "$defs": {"e": INTEGER}}}},
    {**DRAFT_7, "$ref": "#/definitions/d", "definitions": {"d": INTEGER}},
    {"allOf": [{"$ref": "#/$defs/d"}], "$defs": {"d": INTEGER}},
    {"allOf": [{"type": ["object", "null"]}, {"$ref": "#/$defs/d"}], "$defs": {"d": INTEGER}},
]  # fmt: skip


def of_tool(parameters: Any, format: str) -> Grammar:
    return Grammar.from_tools([{"name": "f", "parameters": parameters}], format=format, choice="f", tokens=[])


def styled(parameters: Any, style: str) -> Grammar:
    return Grammar.from_structural_tag({"type": "json_schema", "json_schema": parameters, "style": style})


def text_of(format: str, arguments: dict[str, Any], parameters: Any = None) -> str:
    """The text of a call, as a schema that allows any integers has it."""
    integers = {"properties": {name: {"type": "integer"} for name in ("c", "zz")}, "additionalProperties": False}
    return of_tool(parameters or integers, format).write(Answer("", "", (Call("f", arguments),)))


@pytest.mark.parametrize("parameters", REFERRING)
@pytest.mark.parametrize("format", OWN)
def test_a_reference_at_the_top_leads_where_it_leads_in_json(format: str, parameters: Any) -> None:
    grammar = of_tool(parameters, format)
    assert grammar.accepts(text_of(format, {"c": 12}))
    assert not grammar.accepts(text_of(format, {}))
    assert not grammar.accepts(text_of(format, {"c": 12, "zz": 1}))
    assert grammar.write(Answer("", "", (Call("f", {"c": 12}),))) == text_of(format, {"c": 12})


@pytest.mark.parametrize("parameters", REFERRING)
@pytest.mark.parametrize("style", sorted(set(STYLES) - {"json"}))
def test_a_reference_at_the_top_of_a_style(style: str, parameters: Any) -> None:
    plain, referring = styled(INTEGER, style), styled(parameters, style)
    text = compile(plain, Vocabulary.bytes()).matcher().forced_bytes().decode()
    for digits in ("12", "x"):
        for end in ("", "}", "</parameter>", "<|close|>argument<|sep|>", "</cofl:value>", "</arg_value>"):
            assert plain.accepts(text + digits + end) == referring.accepts(text + digits + end)
    assert not referring.accepts("")


@pytest.mark.parametrize("format", OWN)
def test_a_recursive_model_as_a_tool(format: str) -> None:
    """As Pydantic writes it."""
    parameters = {"$ref": "#/$defs/d", "$defs": {"d": NODE}}
    try:
        grammar = of_tool(parameters, format)
        values: list[dict[str, Any]] = [{"c": 1}, {"c": 1, "next": None}, {"c": 1, "next": {"c": 2, "next": {"c": 3}}}]
        for value in values:
            assert grammar.accepts(grammar.write(Answer("", "", (Call("f", value),))))
    except UnsupportedTypeError as error:
        assert "a value has itself within it" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "parameters",
    [
        {"$ref": "#/nowhere"},
        {"$ref": "#/$defs/x", "$defs": {"d": INTEGER}},
        {"$ref": "#name"},
        {"$ref": "https://example.com/other"},
        {"$ref": 5},
        {"$ref": "#"},
        {"$ref": "#/$defs/d", "$defs": {"d": {"$ref": "#/$defs/d"}}},
        {"$schema": 5, **INTEGER},
        {"required": None},
        {"required": 5},
        {"required": [[]]},
        {"required": ["c", None], **{"properties": {"c": {}}}},
        {"properties": None},
        {"properties": []},
        {"properties": {"\ud800": {}}},
        {"properties": {"c": 5}},
        {"patternProperties": None},
        {"patternProperties": {"(": {}}},
        {"additionalProperties": None},
        {"allOf": {}},
        {"$ref": "#/$defs/d", "$defs": {"d": {"required": None}}},
    ],
)
@pytest.mark.parametrize("format", ["hermes", *SOME])
def test_a_malformed_schema_is_refused_with_its_place(format: str, parameters: Any) -> None:
    with pytest.raises(UnsupportedTypeError, match=r"^f\b"):
        _ = of_tool(parameters, format).data
    if format == "hermes":
        for style in set(STYLES) - {"json"}:
            with pytest.raises((UnsupportedTypeError, UnsupportedSchemaError, UnsupportedGrammarError), match="#"):
                _ = styled(parameters, style).data


@pytest.mark.parametrize("kind", [None, 5, "string", ["string", "null"], [5], "objekt"])
def test_arguments_in_a_style_are_an_object(kind: Any) -> None:
    for style in set(STYLES) - {"json"}:
        with pytest.raises((UnsupportedTypeError, UnsupportedSchemaError), match="type"):
            _ = styled({"type": kind, "properties": {"c": {"type": "string"}}}, style).data


@pytest.mark.parametrize(
    "parameters",
    [
        {"$ref": "#/$defs/d", "required": ["c"], "$defs": {"d": INTEGER}},
        {"$ref": "#/$defs/d", "properties": {}, "$defs": {"d": INTEGER}},
        {"allOf": [{"$ref": "#/$defs/d"}, {"required": ["c"]}], "$defs": {"d": INTEGER}},
        {"$dynamicRef": "#/$defs/d", "$defs": {"d": INTEGER}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("format", SOME)
def test_what_is_beside_a_reference_is_refused_by_name(format: str, parameters: Any) -> None:
    with pytest.raises(UnsupportedTypeError, match=r"\$ref|allOf|\$dynamicRef"):
        _ = of_tool(parameters, format).data


@pytest.mark.parametrize(("keyword", "meant"), [("requried", ["c"]), ("aditionalProperties", False)])
@pytest.mark.parametrize("format", ["hermes", *SOME])
def test_a_misspelled_keyword_is_told(format: str, keyword: str, meant: Any) -> None:
    with pytest.warns(match=f"{keyword}: it is no keyword"):
        _ = of_tool({"properties": {"c": {"type": "integer"}}, keyword: meant}, format).data


@pytest.mark.parametrize("format", SOME)
def test_a_keyword_that_the_draft_does_not_have(format: str) -> None:
    """Draft 4 has no ``const``, so that a schema with it takes objects, and has all their members listed."""
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
    parameters = {**draft_4, "properties": {"c": {**INTEGER, "const": 5}}, "additionalProperties": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grammar = of_tool(parameters, format)
        open_grammar = (
            of_tool({"properties": {"c": {**INTEGER, "properties": {"c": {}, "zz": {"type": "integer"}}}}}, format)
            if format != "minimax_m3"
            else None
        )
    call = Answer("", "", (Call("f", {"c": {"c": 1}}),))
    assert grammar.accepts(grammar.write(call))
    if open_grammar is not None:
        wrong = open_grammar.write(Answer("", "", (Call("f", {"c": {"c": 1, "zz": 2}}),)))
        assert not grammar.accepts(wrong)


@pytest.mark.parametrize("format", SOME)
def test_words_of_keywords_within_annotations(format: str) -> None:
    """What stands in a default or an example is no schema."""
    for keyword in ("default", "examples", "x-own"):
        value = [{"required": [5, None], "properties": {"q": 5}, "$ref": "#/nowhere"}]
        grammar = of_tool({**INTEGER, "properties": {"c": {"type": "integer", keyword: value}}}, format)
        assert grammar.accepts(text_of(format, {"c": 3}))


WITHOUT_VALUES = [
    {"type": "object", "not": {}},
    {"type": "object", "enum": []},
    {"const": 5},
    {"oneOf": [{"type": "object"}, {"type": "object"}]},
    {"type": "object", "allOf": [{"type": "string"}, {"properties": {"a": {}}}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer", "minimum": 3}}},
    {"type": "object", "properties": {"a": False}, "required": ["a"]},
]


@pytest.mark.parametrize("format", FORMATS)
def test_that_no_arguments_satisfy_a_schema_is_said_before_what_cannot_be_read(format: str) -> None:
    for parameters in WITHOUT_VALUES:
        with pytest.raises(EmptyLanguageError, match="no arguments satisfy their schemas"):
            Grammar.from_tools([{"name": "f", "parameters": parameters}], format=format, tokens=[])


@pytest.mark.parametrize("format", SOME)
def test_a_dynamic_reference_means_what_it_means_in_json(format: str) -> None:
    """It leads to the outermost schema of its name on the way; or it is refused."""
    inner = {
        "$id": "inner",
        "properties": {"c": {"$dynamicRef": "#kind"}},
        "required": ["c"],
        "additionalProperties": False,
        "$defs": {"k": {"$dynamicAnchor": "kind", "type": "boolean"}},
    }
    parameters = {"$ref": "inner", "$defs": {"d": inner, "k": {"$dynamicAnchor": "kind", "type": "integer"}}}
    try:
        grammar = of_tool(parameters, format)
        _ = grammar.data
    except (UnsupportedTypeError, UnsupportedGrammarError) as error:
        assert "$dynamic" in str(error)  # noqa: PT017
        return
    assert grammar.accepts(text_of(format, {"c": 12}))


def drawn_value(random: Random, depth: int = 0) -> dict[str, Any]:
    """A schema of a value."""
    simple: list[dict[str, Any]] = [
        {"type": "string", "maxLength": 3}, {"type": "integer", "minimum": 3}, {"enum": ["a", 1, None]},
        {"type": ["boolean", "null"]}, {"$ref": "#/$defs/text"}, {"anyOf": [{"type": "null"}, {"const": "x"}]},
    ]  # fmt: skip
    if depth > 1 or random.random() < 0.6:
        return random.choice(simple)
    if random.random() < 0.5:
        return {"type": "array", "items": drawn_value(random, depth + 1), "maxItems": 2}
    return drawn_object(random, depth + 1)


def drawn_object(random: Random, depth: int = 0) -> dict[str, Any]:
    names = random.sample(["a", "b", "c"], random.randint(1, 3))
    listed = {name: drawn_value(random, depth) for name in names}
    required = [name for name in names if random.random() < 0.5]
    return {"type": "object", "properties": listed, "required": required, "additionalProperties": False}


def drawn_parameters(random: Random) -> dict[str, Any]:
    """The same object at the top, or behind references and conjunctions that say no more."""
    definitions: dict[str, Any] = {"text": {"type": "string", "pattern": "^[a-c]{1,3}$"}, "of": drawn_object(random)}
    parameters: dict[str, Any] = definitions["of"]
    for k in range(random.randint(0, 3)):
        target = {"$ref": "#/$defs/of"} if k == 0 else {"$ref": f"#/$defs/step{k}"}
        step = random.choice([target, {"allOf": [target]}, {"type": "object", **target}, {"allOf": [{}, target]}])
        parameters = definitions[f"step{k + 1}"] = step
    return {**parameters, "$defs": definitions}


@pytest.mark.parametrize("format", SOME)
def test_drawn_parameters_beside_jsonschema(format: str) -> None:
    """What a random walk is read as is valid, and values that are valid are written and read back; others are not."""
    walked = written = refused = 0
    for seed in range(scaled(12)):
        random = Random(f"{format} {seed}")
        parameters = drawn_parameters(random)
        validator = jsonschema.Draft202012Validator(parameters)
        grammar = of_tool(parameters, format)
        constraint = compile(grammar, Vocabulary.bytes())
        for _ in range(2):
            matcher = constraint.matcher()
            while not matcher.is_accepting() and len(matcher.text) < 300:
                matcher.accept_token(random.choice(list(matcher.allowed_tokens())))
            if matcher.is_accepting():
                walked += 1
                assert validator.is_valid(constraint.parse(matcher.text).calls[0].arguments)
        for _ in range(10):
            names = random.sample(["a", "b", "c", "d"], random.randint(0, 3))
            values = ["a", "x", 1, 5, None, True, [], ["a"], [5, 5], {"a": "a"}, {"b": 5}]
            arguments = {name: random.choice(values) for name in names}
            try:
                text = grammar.write(Answer("", "", (Call("f", arguments),)))
            except ValueError:
                refused += 1
                assert not validator.is_valid(arguments), (parameters, arguments)
                continue
            written += 1
            assert validator.is_valid(arguments), (parameters, arguments)
            assert constraint.parse(text).calls[0].arguments == arguments
    assert min(walked, written, refused) > 0
