"""Keywords that are enforced though the draft does not: what base64 decodes, and what draft 7 says."""

from __future__ import annotations

import base64
import itertools
import json
import pathlib
from collections.abc import Callable
from random import Random
from typing import Any

import jsonschema
import pytest

import pdacon
from pdacon import Grammar, UnsupportedSchemaError, Vocabulary

WORDS = Vocabulary.bytes()
CODES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "base64": (base64.b64encode, "AQgwZ+/=-_"),
    "base64url": (base64.urlsafe_b64encode, "AQgwZ+/=-_"),
    "base32": (base64.b32encode, "AQEIZ27=1a"),
    "base16": (lambda data: base64.b16encode(data), "0F9aG="),
}
DECODERS: dict[str, Callable[[str], bytes]] = {
    "base64": base64.b64decode,
    "base64url": base64.urlsafe_b64decode,
    "base32": base64.b32decode,
    "base16": base64.b16decode,
}


@pytest.mark.parametrize("encoding", CODES)
def test_encodings_are_what_encoders_write(encoding: str) -> None:
    encode, letters = CODES[encoding]
    schema = {"type": "string", "contentEncoding": encoding}
    accepts = Grammar.from_json_schema(schema, asserted=("contentEncoding",)).accepts
    random = Random(1)
    for length in range(12):
        text = encode(random.randbytes(length)).decode()
        assert accepts(json.dumps(text)), text
        if encoding == "base64url":
            assert accepts(json.dumps(text.rstrip("=")))
    decode = DECODERS[encoding]
    for size in range(5):
        for some in itertools.product(letters, repeat=size):
            text = "".join(some)
            try:
                padded = text + "=" * (-len(text) % 4) if encoding == "base64url" and "=" not in text else text
                upper = padded.upper() if encoding == "base16" else padded
                right = encode(decode(upper)).decode() == upper
            except ValueError:
                right = False
            assert accepts(json.dumps(text)) == right, text


def test_what_is_no_string_is_free() -> None:
    grammar = Grammar.from_json_schema(
        {"contentEncoding": "base16", "type": ["string", "integer"]}, asserted=["contentEncoding"]
    )
    assert grammar.accepts("12")
    assert not grammar.accepts('"1"')
    assert Grammar.from_json_schema({"contentEncoding": "base16"}).accepts('"1"')


def dependent(random: Random) -> dict[str, Any]:
    names = "abc"
    given = {
        random.choice(names): random.choice([
            [random.choice(names)], [], True, False, {"required": [random.choice(names)]},
            {"properties": {random.choice(names): {"type": "integer"}}}, {"maxProperties": 2},
        ])
        for _ in range(random.randrange(3))
    }  # fmt: skip
    schema = {"type": "object", "properties": dict.fromkeys(names, True), "dependencies": given}
    return {"properties": {"x": schema}, **schema} if random.random() < 0.3 else schema


@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_dependencies_mean_what_draft_7_means() -> None:
    random, compared = Random(3), 0
    for _ in range(60):
        schema = dependent(random)
        valid = jsonschema.Draft7Validator(schema).is_valid
        try:
            grammar = Grammar.from_json_schema(schema, asserted=("dependencies",))
        except pdacon.EmptyLanguageError:
            continue
        constraint = pdacon.compile(grammar, WORDS)
        for names in itertools.chain.from_iterable(itertools.combinations("abc", k) for k in range(4)):
            for value in (1, "s"):
                instance = dict.fromkeys(names, value)
                text = json.dumps(instance)
                orders = (json.dumps(dict.fromkeys(some, value)) for some in itertools.permutations(names))
                assert any(map(constraint.accepts, orders)) == valid(instance), (schema, text)
                compared += 1
        late = Grammar.from_json_schema(schema)
        assert any("dependencies" in note for note in late.unenforced) == ("dependencies" in schema)
    assert compared > 400


def test_beside_what_a_schema_says_itself() -> None:
    schema = {
        "dependentRequired": {"a": ["b"]},
        "dependencies": {"b": ["c"]},
        "properties": {"a": True, "b": True, "c": True},
    }
    accepts = Grammar.from_json_schema(schema, asserted=("dependencies",)).accepts
    assert accepts('{"a": 1, "b": 1, "c": 1}')
    assert not accepts('{"a": 1, "b": 1}')
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"b": ["c"]}}
    assert not Grammar.from_json_schema(old, asserted=("dependencies",)).accepts('{"b": 1}')


@pytest.mark.parametrize(
    ("schema", "asserted", "error", "why"),
    [
        ({"contentEncoding": "quoted-printable"}, ("contentEncoding",), UnsupportedSchemaError, "there are base64"),
        ({"contentEncoding": 3}, ("contentEncoding",), UnsupportedSchemaError, "cannot be enforced"),
        ({"items": {"contentMediaType": "application/json"}}, ("contentMediaType",), UnsupportedSchemaError, "#/items"),
        ({"dependencies": []}, ("dependencies",), UnsupportedSchemaError, "must be an object"),
        ({}, ("format",), ValueError, "keywords of contentEncoding"),
        ({}, "dependencies", ValueError, "keywords of contentEncoding"),
    ],
)
def test_what_cannot_be_enforced_is_refused(schema: Any, asserted: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        Grammar.from_json_schema(schema, asserted=asserted)


def test_a_cache_tells_them_apart() -> None:
    cache, schema = pdacon.CompileCache(), {"type": "string", "contentEncoding": "base16"}
    free = cache.compile_schema(schema, WORDS)
    held = cache.compile_schema(schema, WORDS, asserted=("contentEncoding",))
    assert (free.accepts('"x"'), held.accepts('"x"'), held.accepts('"0F"')) == (True, False, True)


def test_a_reference_to_another_document_says_the_line_to_write(tmp_path: pathlib.Path) -> None:
    uri = "https://example.com/schemas/address.json"
    schema = {"$ref": f"{uri}#/$defs/street"}
    with pytest.raises(UnsupportedSchemaError) as caught:
        Grammar.from_json_schema(schema)
    line = str(caught.value).partition("give it with ")[2]
    assert line == f"registry={{{uri!r}: pathlib.Path('address.json')}}"
    (tmp_path / "address.json").write_text('{"$defs": {"street": {"type": "string"}}}')
    written = line.replace("'address.json'", repr(str(tmp_path / "address.json")))
    grammar = eval(
        f"Grammar.from_json_schema(schema, {written})", {"Grammar": Grammar, "schema": schema, "pathlib": pathlib}
    )
    assert grammar.accepts('"Rue"')
    with pytest.raises(
        UnsupportedSchemaError, match=r"does not have; did you mean https://example.com/schemas/address.json"
    ):
        Grammar.from_json_schema({"$ref": uri.replace("address", "adress")}, registry={uri: {}})
    with pytest.raises(UnsupportedSchemaError, match=r"registry=\{\.\.\., 'urn:other': pathlib"):
        Grammar.from_json_schema({"$ref": "urn:other"}, registry={uri: {}})
