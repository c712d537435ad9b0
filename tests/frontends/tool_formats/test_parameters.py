"""Arguments that are tagged one by one: strings as they are, other values as JSON, by the schema of each parameter."""

from __future__ import annotations

import json
import warnings
from random import Random
from typing import Any

import jsonschema
import pytest
from support.scaling import scaled
from support.tool_answers import TAKE_ANY_VALUE, accepted, cut, encoded, vocabulary_of
from support.tool_answers import read as read_all

import pdacon
from pdacon.errors import EmptyLanguageError, GrammarWarning, UnsupportedTypeError
from pdacon.frontends.tool_formats import FORMATS, Answer
from pdacon.frontends.tool_formats.json_scanner import JsonScanner
from pdacon.frontends.tool_formats.scalars import ALL_KINDS, reads_as


def coder(properties: dict[str, Any], required: list[str] | None = None, **more: Any) -> pdacon.Grammar:
    schema = {"type": "object", "properties": properties, "required": required or [], **more}
    options = {"spelling": schema.pop("spelling", None)}
    return pdacon.Grammar.from_tools([{"name": "f", "parameters": schema}], format="qwen3_coder", choice="f", **options)


def text_of(*arguments: tuple[str, str]) -> str:
    inner = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in arguments)
    return f"<tool_call>\n<function=f>\n{inner}</function>\n</tool_call>"


def read(grammar: pdacon.Grammar, text: str) -> Any:
    """The arguments of the only call, or None if the text is no answer."""
    if not grammar.accepts(text):
        return None
    (call,) = pdacon.compile(grammar, pdacon.Vocabulary.bytes()).parse(text).calls
    return call.arguments


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "string"}, {"a": "a", "": "", "12": "12", "null": "null", "\n</parameter": "\n</parameter"}),
        ({"type": "integer"}, {"12": 12, "-1": -1, "1.5": None, "x": None, '"12"': None, "": None}),
        ({"type": "number"}, {"12": 12, "1.5": 1.5, "1e3": 1e3, "01": None}),
        ({"type": "boolean"}, {"true": True, "False": False, "yes": None}),
        ({"type": "array", "items": {"type": "integer"}}, {"[1, 2]": [1, 2], "[]": [], "1": None, '["a"]': None}),
        ({"type": "object"}, {'{"a": "</parameter>"}': {"a": "</parameter>"}, "{": None}),
        ({"enum": ["c", "f", 1]}, {"c": "c", "f": "f", "1": 1, '"c"': None, "x": None}),
        ({"type": "string", "pattern": "^[a-z]+$", "maxLength": 3}, {"abc": "abc", "abcd": None, "A": None, "": None}),
        ({"type": ["string", "null"]}, {"x": "x", "null": None, "nul": "nul"}),
        ({"type": ["string", "integer"]}, {"x": "x", "12": 12, "1.5": None, "1x": "1x"}),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, {"x": "x", "[1]": [1], "[x": None}),
        ({"$ref": "#/$defs/n"}, {"3": 3, "11": None}),
    ],
)  # fmt: skip
def test_values(schema: dict[str, Any], values: dict[str, Any]) -> None:
    grammar = coder({"p": schema}, ["p"], **{"$defs": {"n": {"type": "integer", "maximum": 10}}})
    for text, value in values.items():
        arguments = read(grammar, text_of(("p", text)))
        if value is None and arguments is not None:
            assert text == "null"
            assert arguments == {"p": None}
        else:
            assert arguments == (None if value is None else {"p": value}), text


def test_a_string_ends_where_its_tag_begins_first() -> None:
    grammar = coder({"p": {"type": "string"}, "q": {"type": "string"}}, ["p"])
    text = text_of(("p", "a\n</parameter>\n<parameter=q>\nb"))
    assert read(grammar, text) == {"p": "a", "q": "b"}
    assert read(grammar, text_of(("p", "a\n</parameter>\nb"))) is None


def test_order_and_required() -> None:
    properties = {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "array"}}
    grammar = coder(properties, ["b"])
    assert read(grammar, text_of(("a", "x"), ("b", "1"), ("c", "[]"))) == {"a": "x", "b": 1, "c": []}
    assert read(grammar, text_of(("b", "1"))) == {"b": 1}
    for wrong in ([("a", "x")], [("b", "1"), ("a", "x")], [("b", "1"), ("b", "2")], [("d", "2"), ("b", "1")], []):
        assert read(grammar, text_of(*wrong)) is None, wrong
    free = coder(properties, ["b"], spelling=pdacon.Spelling(order="any"))
    assert read(free, text_of(("c", "[]"), ("b", "1"), ("a", "x"))) == {"c": [], "b": 1, "a": "x"}
    for wrong in ([("c", "[]")], [("b", "1"), ("b", "2")]):
        assert read(free, text_of(*wrong)) is None, wrong
    with pytest.warns(GrammarWarning, match="come in their order"):
        coder({f"p{k}": {"type": "string"} for k in range(9)}, spelling=pdacon.Spelling(order="any"))


@pytest.mark.parametrize("keyword", ["minProperties", "propertyNames", "dependentRequired", "anyOf", "not"])
def test_what_cannot_be_said_of_tagged_arguments(keyword: str) -> None:
    value = {"minProperties": 1, "dependentRequired": {"a": ["a"]}, "anyOf": [{}], "not": {"maxProperties": 0}}.get(keyword, {})  # fmt: skip  # noqa: E501
    with pytest.raises(UnsupportedTypeError, match=f"{keyword}: its arguments are tagged"):
        coder({"a": {"type": "string"}}, **{keyword: value})


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder"])
def test_what_cannot_be_enforced_is_told_of_the_tool(name: str) -> None:
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "string", "pattern": "("}}}}
    with pytest.raises(UnsupportedTypeError, match=r"^f.*pattern"):
        pdacon.Grammar.from_tools([tool], format=name)


@pytest.mark.parametrize("parameters", [{"type": "object"}, {}, {"properties": {}, "additionalProperties": True}])
def test_a_schema_that_lists_nothing_is_told_where_names_come_twice(parameters: dict[str, Any]) -> None:
    """It takes any object, and only listed arguments can be written."""
    with pytest.warns(GrammarWarning, match="f: (its schema lists no properties|additionalProperties: arguments have)"):
        grammar = pdacon.Grammar.from_tools([{"name": "f", "parameters": parameters}], format="minimax_m3")
    with pytest.raises(ValueError, match="lists no argument 'a', and only listed ones have their names at both ends"):
        grammar.write(Answer("", "", (pdacon.Call("f", {"a": 1}),)))


@pytest.mark.parametrize("name", [name for name, format in FORMATS.items() if format.tagged])
def test_a_schema_of_no_arguments(name: str) -> None:
    for nothing in (None, {"type": "object", "additionalProperties": False}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tools = [{"name": "f", "parameters": nothing}]
            grammar = pdacon.Grammar.from_tools(tools, format=name, choice="f").data
            assert grammar.values.write(Answer("", "", (pdacon.Call("f", {}),)))


def test_what_no_call_can_be() -> None:
    with pytest.warns(GrammarWarning, match="'a' is required"), pytest.raises(EmptyLanguageError, match="none of the"):
        coder({"a": False}, ["a"])
    with pytest.warns(GrammarWarning, match="none of those listed"), pytest.raises(EmptyLanguageError):
        coder({}, ["a"], additionalProperties=False)
    assert read(coder({"a": False, "b": {"type": "string"}}), text_of(("b", "x"))) == {"b": "x"}


def test_references_within_a_described_tool() -> None:
    schema = {"$defs": {"s": {"type": "string", "maxLength": 2}}, "properties": {"a/b": {"$ref": "#/$defs/s"}}}
    grammar = pdacon.Grammar.from_tools([{"name": "f", "parameters": schema}], format="glm4_7", choice="f")
    text = "<tool_call>f<arg_key>a/b</arg_key><arg_value>{}</arg_value></tool_call>"
    assert grammar.accepts(text.format("xy"))
    assert not grammar.accepts(text.format("xyz"))


@pytest.mark.parametrize(
    "text",
    ["null", "None", "true", "True", "-0", "01", "1.", "1.5", "1e5", "1E+05", ".5", "-", "{", "[1]", "", "x", "１"],
)
def test_what_a_text_without_quotes_is(text: str) -> None:
    """As the json module has it, for texts of constants and numbers."""
    try:
        value = json.loads(text)
    except ValueError:
        value = "?"
    kinds = {type(None): "null", bool: str(value).lower(), int: "number", float: "number", list: "array"}
    kind = kinds.get(type(value), "object" if text.startswith("{") else "string")
    assert reads_as(text, ALL_KINDS, python_constants=False) == kind
    assert reads_as(text, frozenset({"string"}), python_constants=True) == "string"


def test_where_a_value_of_json_ends() -> None:
    """As the json module has it, wherever the text is cut."""
    random, decoder = Random(5), json.JSONDecoder()
    values = [{}, [], {"a": ["}", "]\\", '"', {"b": {}}]}, 'x\\"y', 12, -1.5e9, True, None, [[["é"]], "\\\\"]]
    for value in values:
        text = json.dumps(value, ensure_ascii=random.random() < 0.5)
        tail = f"{text}\n<end>"
        end = decoder.raw_decode(tail)[1]
        for _ in range(20):
            scanner, at, last = JsonScanner(), 0, 0
            while not scanner.done:
                last = min(len(tail), last + random.randint(1, 4))
                at = scanner.scan(tail[:last], at)
                if not scanner.done:
                    assert not isinstance(value, (dict, list)) or scanner.missing
            assert at == end, text


def test_more_optional_arguments_than_can_be_nested() -> None:
    """Each that may be left out nests what comes after it; the limit of Python's stack is no error of the user's."""
    properties = {f"p{k}": {"enum": [k]} for k in range(260)}
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties}}
    grammar = pdacon.Grammar.from_tools([tool], format="mimo")
    with pytest.raises(UnsupportedTypeError, match="mimo: a tool has too many arguments"):
        _ = grammar.data
    with pytest.raises(UnsupportedTypeError, match="deepseek_v4: a tool has too many arguments"):
        pdacon.Grammar.from_tools([tool], format="deepseek_v4")  # which says that a call has no arguments


def test_as_many_arguments_are_read_on_demand() -> None:
    properties = {f"p{k}": {"enum": [k]} for k in range(120)}
    parameters = {"type": "object", "properties": properties, "additionalProperties": False}
    tool = {"name": "f", "parameters": parameters}
    matcher = pdacon.compile(pdacon.Grammar.from_tools([tool], format="mimo"), pdacon.Vocabulary.bytes()).matcher()
    assert matcher.accept_bytes(b"<tool_call><function=f><parameter=p7>7</parameter><parameter=p119>119</parameter>")
    assert matcher.forced_bytes() == b"</function></tool_call>"


def test_arguments_are_valid_for_their_schema() -> None:
    """Random walks through tagged arguments give what jsonschema takes."""
    schema = {
        "type": "object",
        "properties": {
            "s": {"type": "string", "maxLength": 4, "pattern": "^[a-c]*$"},
            "n": {"type": "integer", "minimum": 0, "maximum": 20},
            "m": {"anyOf": [{"enum": ["on", "off"]}, {"type": "null"}, {"type": "boolean"}]},
            "a": {"type": "array", "items": {"enum": [1, "x"]}, "maxItems": 2},
        },
        "required": ["n"],
        "additionalProperties": False,
    }
    for name in ("qwen3_coder", "glm4_5", "deepseek_v3_2", "minimax_m2"):
        grammar = pdacon.Grammar.from_tools([{"name": "f", "parameters": schema}], format=name, choice="f")
        constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
        for seed in range(12):
            random, matcher, reader = Random(seed), constraint.matcher(), constraint.reader()
            while not matcher.is_accepting():
                token = random.choice(list(matcher.allowed_tokens()))
                assert matcher.accept_token(token)
                reader.feed(token)
            reader.close()
            assert reader.answer.missing is None
            jsonschema.validate(reader.answer.calls[0].arguments, schema)


@pytest.mark.parametrize("name", ["kimi_k3", "gemma4", "llama4", "cohere", "minimax_m3"])
def test_many_arguments_that_may_be_left_out(name: str) -> None:
    format = FORMATS[name]
    properties = {f"a{k}": {"type": "string"} for k in range(40)}
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties, "additionalProperties": False}}
    constraint = pdacon.compile(pdacon.Grammar.from_tools([tool], format=name), vocabulary_of(format))
    for chosen in ({}, {"a3": "x", "a39": "y"}, {name: name for name in properties}):
        ids = encoded(format, constraint.grammar.write(Answer("", "", (pdacon.Call("f", chosen),))))
        assert accepted(constraint, ids)
    text = constraint.grammar.write(Answer("", "", (pdacon.Call("f", {"a9": "x", "a4": "x"}),)))
    assert not accepted(constraint, encoded(format, text.replace("a9", "a3")))


TAGGED = [name for name in TAKE_ANY_VALUE if FORMATS[name].tagged]


def one_parameter(name: str, schema: Any, **options: Any) -> pdacon.Grammar:
    parameters = {"type": "object", "properties": {"q": schema}, "required": ["q"], "additionalProperties": False}
    return pdacon.Grammar.from_tools([{"name": "f", "parameters": parameters}], format=name, choice="f", **options)


@pytest.mark.parametrize("name", TAGGED)
def test_an_end_mark_within_the_json_of_a_value_does_not_end_it(name: str) -> None:
    """Also where the parameter takes strings, which end at their first end mark."""
    format = FORMATS[name]
    inner = format.value_end[0].strip()
    for token in format.tokens:  # no text has these
        inner = inner.replace(token, "")
    grammar = one_parameter(name, {"type": ["string", "object", "array", "null"]})
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    values: list[Any] = [{"k": f"a{inner}b"}, [f'"{inner}\\', inner], {inner: [inner, {}]}, [], "x", "", None]
    for value in values:
        text = grammar.write(Answer("", "", (pdacon.Call("f", {"q": value}),)))
        assert accepted(constraint, encoded(format, text)), text
        random = Random(name)
        for pieces in ([text], list(text), list(cut(text, random))):
            reader = constraint.reader()
            read_all(reader, pieces)
            assert [call.arguments for call in reader.answer.calls] == [{"q": value}]
            assert reader.answer.missing is None


@pytest.mark.parametrize("name", TAGGED)
def test_random_walks_through_strings_beside_json_are_read(name: str) -> None:
    """What the constraint lets through is read, as a value of the schema; the walks go near end marks."""
    format = FORMATS[name]
    schema = {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "object"}, {"type": "array"}]}
    constraint = pdacon.compile(one_parameter(name, schema), vocabulary_of(format))
    mark = format.value_end[0].strip().encode()
    for seed in range(scaled(20)):
        random, matcher, reader = Random(seed), constraint.matcher(), constraint.reader()
        while not matcher.is_accepting() and matcher.bytes_left is not None:
            allowed = list(matcher.allowed_tokens())
            likely = [token for token in allowed if token in b'{}[]":,' or token in mark]
            token = random.choice(likely if likely and random.random() < 0.9 else allowed)
            matcher.accept_token(token)
            reader.feed(token)
            if len(matcher.text) > 400:
                break
        reader.close()
        if matcher.is_accepting():
            assert reader.answer.missing is None, matcher.text
            jsonschema.validate(reader.answer.calls[0].arguments["q"], schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"enum": ["1", 1, None, "null"]}, "null"),
        ({"enum": ["1", 1, None, "null"]}, "1"),
        ({"type": "string"}, "a</arg_value>b"),
        ({"type": ["string", "object"]}, '{"k": 1}'),
    ],
)
def test_a_string_that_would_be_read_as_something_else_is_not_written(schema: Any, value: str) -> None:
    with pytest.raises(ValueError, match="cannot be written in the format glm4_5"):
        one_parameter("glm4_5", schema).write(Answer("", "", (pdacon.Call("f", {"q": value}),)))


@pytest.mark.parametrize("name", TAKE_ANY_VALUE)
@pytest.mark.parametrize(
    "properties",
    [
        {"get": {"y": {}}, "get_it": {}},
        {"get": {}, "get_it": {"y": {}}},
        {"get": {"y": {}, "yz": {"type": "object"}}, "get_it": {"yz": {}}},
        {"get_it": {}, "get_at": {}, "get": {"y": {"type": ["string", "object"]}, "x": {"type": ["string", "array"]}}},
        {"got": {}, "get_it": {"y": {}, "x": {"type": ["array", "string"]}}, "get": {"y": {}, "yz": {}}, "get_i": {}},
    ],
)
def test_names_that_begin_alike_with_values_of_any_kind(name: str, properties: dict[str, dict[str, Any]]) -> None:
    """Tools without arguments beside one whose name goes on, with arguments that may be left out."""
    format = FORMATS[name]
    tools = [
        {"name": tool, "parameters": {"type": "object", "properties": listed, "additionalProperties": False}}
        for tool, listed in properties.items()
    ]
    grammar = pdacon.Grammar.from_tools(tools, format=name)
    constraint = pdacon.compile(grammar, vocabulary_of(format))
    for tool, listed in properties.items():
        for arguments in ({}, *({key: [1]} if "array" in str(listed[key]) else {key: {"a": [1]}} for key in listed)):
            answer = Answer("", "", (pdacon.Call(tool, arguments),))
            ids = encoded(format, grammar.write(answer))
            assert accepted(constraint, ids)
            reader = constraint.reader()
            read_all(reader, ids)
            assert reader.answer == answer
