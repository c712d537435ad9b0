"""Formats of requests: what their texts are read as, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, Spelling, UnsupportedSchemaError
from pdacon.base.cancelling import current
from pdacon.base.languages import is_llguidance
from pdacon.base.limits import Limits
from pdacon.frontends.json_schema import Schema
from pdacon.integrations import format_compiler
from pdacon.integrations.answer_formats import Format, Kind, grammar_kind, tokens_in_tags
from pdacon.integrations.format_compiler import FormatCompiler
from pdacon.integrations.json_reading import JsonReading
from pdacon.integrations.workers import Workers

WORDS = pdacon.Vocabulary.bytes()
TAG = {
    "type": "structural_tag",
    "triggers": ["<f>"],
    "structures": [{"begin": "<f>", "schema": {"const": 1}, "end": "</f>"}],
}


@pytest.mark.parametrize("is_escaped", [False, True])
@pytest.mark.filterwarnings("ignore:'<eos>' is a special token")
def test_names_of_special_tokens_in_tags_are_tokens(is_escaped: bool) -> None:
    """On demand and as a whole, here and in a process; the name of an end stays letters."""
    vocabulary = pdacon.Vocabulary.from_tokens(
        [*(bytes([byte]) for byte in range(256)), None, None, None], eos_ids=[256]
    ).with_special_tokens({"<｜f｜>": 257, "</f>": 258, "<eos>": 256})
    tag = {"begin": "<｜f｜>", "content": {"type": "json_schema", "json_schema": {"const": 1}}, "end": "</f><eos>"}
    text = json.dumps({"type": "structural_tag", "format": {"type": "tag", **tag}}, ensure_ascii=is_escaped)
    format = Format.of("structural_tag", text)
    ids = [257, ord("1"), 258, *b"<eos>"]
    with closing(Workers(vocabulary, Limits())) as workers:
        for compiler in (FormatCompiler(vocabulary, Limits()), FormatCompiler(vocabulary, Limits(), workers=workers)):
            constraint = compiler.compiled(format, lambda *said: None)
            matcher = constraint.matcher()
            assert matcher.validate_tokens([*b"<"]) == 0
            assert all(matcher.accept_token(token) for token in ids)
            assert matcher.is_accepting()
    whole = pdacon.compile(format.grammar(Limits(), tokens_in_tags(vocabulary)), vocabulary)
    assert whole.matcher().validate_tokens(ids) == len(ids)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('start: "a"', "lark"),
        ('// root ::= "a"\nstart: "::="', "lark"),
        ("%import common.INT\nstart: INT", "lark"),
        ('root ::= "a"', "bnf"),
        ('# a comment: with a colon\n\n root-rule\n  ::= "a"', "bnf"),
        ("", "lark"),
    ],
)
def test_the_first_rule_says_which_notation_it_is(text: str, kind: str) -> None:
    assert grammar_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('%llguidance {}\nstart: "a"', True),
        ('// a\n\n# b\n %llguidance {}\nstart: "a"', True),
        ('// not for %llguidance\nstart: "a"', False),
        ("# %llguidance", False),
    ],
)
def test_a_comment_does_not_say_what_a_grammar_is_for(text: str, meant: bool) -> None:
    assert is_llguidance(text) == meant


@pytest.mark.parametrize(
    ("kind", "text", "good", "bad"),
    [
        ("json_object", "", '{"a": [1]}', "[1]"),
        ("schema", '{"type": "integer", "minimum": 3}', "3", "2"),
        ("schema", '{"const": 1.50}', "1.50", "1.500"),  # numbers are written as they are listed
        ("schema", '{"const": 1.5}', "1.5", "1.50"),
        ("regex", "a{2,3}", "aaa", "a"),
        ("choice", '["yes", "no"]', "no", "yesno"),
        ("lark", 'start: "a"+', "aaa", "b"),
        ("gbnf", 'root ::= "a"\n', "a", "b"),
        ("bnf", 'root ::= my_rule\nmy_rule ::= "a"+', "aa", "b"),  # GBNF's names have no underscores
        ("bnf", "root ::= . 1a\n1a ::= [0-9]\n", "x1", "11a"),  # EBNF has no dot, and names begin with a letter
        ("structural_tag", json.dumps(TAG), "so <f>1</f>", "so <f>2</f>"),
    ],
)
def test_texts_of_a_format(kind: Kind, text: str, good: str, bad: str) -> None:
    compiler = FormatCompiler(WORDS, Limits())
    constraint = compiler.constraint(kind, text)
    assert constraint.accepts(good)
    assert not constraint.accepts(bad)
    assert compiler.constraint(kind, text) is constraint


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often JSON is read and written."""
    counts: Counter[str] = Counter()
    for owner, name in ((json.JSONDecoder, "decode"), (json.JSONEncoder, "encode")):
        before = getattr(owner, name)

        def counted(*given: Any, name: str = name, before: Any = before, **options: Any) -> Any:
            counts[name] += 1
            return before(*given, **options)

        monkeypatch.setattr(owner, name, counted)
    return counts


def test_a_schema_is_read_once_and_written_once(handled: Counter[str]) -> None:
    compiler = FormatCompiler(WORDS, Limits())
    text = json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    turned = '{"required": ["a"], "properties": {"a": {"type": "integer"}},\n"type": "object"}'
    handled.clear()
    first = compiler.constraint("schema", text)
    assert handled == {"decode": 1, "encode": 1}
    handled.clear()
    assert compiler.constraint("schema", text) is first
    assert not handled, "the same text was read again"
    assert compiler.constraint("schema", turned) is first
    assert handled == {"decode": 1, "encode": 1}


def test_a_schema_that_was_read_from_a_request_is_written_once(handled: Counter[str]) -> None:
    compiler = FormatCompiler(WORDS, Limits())
    constraint = compiler.compiled(Format.of_schema({"type": "integer"}), lambda *said: pytest.fail(str(said)))
    assert handled == {"encode": 1}
    assert compiler.kept(Format.of_schema({"type": "integer"})) is constraint
    assert compiler.constraint("schema", '{"type":"integer"}') is constraint


def test_what_is_forgotten_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of schemas that were read before, the cache may have kept nothing, and the digests are not kept for ever."""
    monkeypatch.setattr(format_compiler, "_MOST_TEXTS", 3)
    compiler = FormatCompiler(WORDS, Limits(), pdacon.CompileCache(0))
    for least in (1, 2, 1, 1, 3, 4, 1):
        constraint = compiler.constraint("schema", f'{{"type": "integer", "minimum": {least}}}')
        assert (constraint.accepts(str(least)), constraint.accepts(str(least - 1))) == (True, False)
        assert len(compiler._keys) <= 3


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("lark", "start: x\n%import .secret (x)", "a request has no files"),
        ("lark", "start: x\n%import \\\n .secret (x)", "a request has no files"),
        ("bnf", 'root ::= ("a"', "parenthesis is not closed"),
        ("schema", '{"uniqueItems": true, "type": "array"}', "#: uniqueItems"),
        ("regex", "(", "unterminated"),
    ],
)
def test_refusals_say_why(kind: Kind, text: str, said: str) -> None:
    with pytest.raises(pdacon.PdaconError, match=said):
        FormatCompiler(WORDS, Limits()).constraint(kind, text)


@pytest.mark.parametrize(
    ("kind", "text", "door"),
    [
        ("regex", "a", "from_regex"),
        ("choice", '["a"]', "from_choices"),
        ("lark", 'start: "a"', "from_lark"),
        ("lark", '%llguidance {}\nstart: "a"', "from_llguidance"),
        ("gbnf", 'root ::= "a"', "from_gbnf"),
        ("bnf", 'root ::= "a"', "from_ebnf"),
    ],
)
def test_a_format_is_read_within_the_time_of_its_limits(
    kind: Kind, text: str, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only compiled: to read a schema or a grammar can take longest."""
    watches = []

    def reads(*given: Any, **options: Any) -> Grammar:
        watches.append(current())
        return before(*given, **options)

    before = getattr(Grammar, door)
    monkeypatch.setattr(Grammar, door, reads)
    FormatCompiler(WORDS, Limits(seconds=1000)).constraint(kind, text)
    (watch,) = watches
    assert watch is not None
    assert watch.seconds == 1000


@pytest.mark.parametrize(
    ("kind", "text"), [("json_object", ""), ("schema", '{"type": "integer"}'), ("structural_tag", json.dumps(TAG))]
)
def test_a_schema_is_looked_at_within_the_time_of_its_limits(
    kind: Kind, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watches = []

    def looks(schema: Schema) -> bool:
        watches.append(current())
        return before(schema)

    before = Schema.may_be_read_on_demand
    monkeypatch.setattr(Schema, "may_be_read_on_demand", looks)
    FormatCompiler(WORDS, Limits(seconds=1000)).constraint(kind, text)
    assert [watch and watch.seconds for watch in watches] == [1000]


def test_how_schemas_are_read_tells_formats_apart() -> None:
    """In a process of its own, too."""
    schema, compact = {"properties": {"a": {}}}, JsonReading(pdacon.Spelling(whitespace="compact"), closed=True)
    compiler = FormatCompiler(WORDS, Limits())
    keys = {
        Format.of_schema(schema).key,
        Format.of_schema(schema, compact).key,
        Format.of("json_object", "", compact).key,
    }
    assert len(keys) == 3

    def silent(kind: str, message: str) -> None:
        pytest.fail(message)

    for format in (Format.of_schema(schema, compact), Format.of("schema", json.dumps(schema), compact)):
        constraint = compiler.compiled(format, silent)
        assert constraint.accepts('{"a":1}')
        assert not constraint.accepts('{"a": 1}')
        assert not constraint.accepts('{"b":1}')
    assert compiler.compiled(Format.of("json_object", "", compact), silent).accepts('{"b":1}')
    with_workers = Workers(WORDS, Limits())
    try:
        whole = FormatCompiler(WORDS, Limits(), None, with_workers)
        format = Format.of("schema", '{"const": [1.50, 2]}', compact)  # read as a text, and compiled elsewhere
        assert whole.compiled(format, silent).accepts("[1.50,2]")
    finally:
        with_workers.close()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("[]", "it is an object"), ('{"closed": 1}', "closed is true or false"), ("{", "it is no JSON"),
        ('{"formats": 0}', "formats is"), ('{"asserted": "dependencies"}', "asserted is a list"),
        ('{"asserted": ["format"]}', "asserted is a list"), ('{"order": "none"}', "order is"),
        ('{"max_blank": 3}', "did you mean max_blanks"), ('{"separators": [1, 2]}', "a comma and a colon"),
        ('{"whitespace": []}', "whitespace is"), ('{"max_blanks": 1e9}', "max_blanks is"),
        ('{"whitespace": "any", "whitespace_pattern": 3}', "whitespace_pattern is a pattern"),
        ('{"max_blanks": 1000000000}', "at most 1,000"),
    ],
)  # fmt: skip
def test_what_says_nothing_of_json_is_refused(said: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        JsonReading.of_json(said)


def test_what_else_a_schema_says_of_itself() -> None:
    compiler = FormatCompiler(WORDS, Limits())
    schema = {"type": "string", "format": "date", "contentEncoding": "base16"}
    for own, texts in (({}, ['"2024-01-01"']), ({"formats": False}, ['"2024-01-01"', '"0F"', '"x"']),
                       ({"formats": False, "asserted": ["contentEncoding"]}, ['"0F"'])):  # fmt: skip
        constraint = compiler.constraint("schema", json.dumps({**schema, "x-pdacon": own}))
        assert [text for text in ('"2024-01-01"', '"0F"', '"x"') if constraint.accepts(text)] == texts


def test_a_schema_may_ask_for_yaml() -> None:
    """What the default says of JSON's blanks is not meant for it; where values are JSON anyway it is refused."""
    compiler = FormatCompiler(WORDS, Limits())
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "x-pdacon": {"language": "yaml"}}
    assert compiler.constraint("schema", json.dumps(schema)).accepts("a: 1\n")
    compact = JsonReading(Spelling(whitespace="compact", escapes="ascii"))
    assert compact.of_schema(schema).spelling == Spelling(language="yaml")
    assert JsonReading(Spelling(language="yaml")).of_schema({"x-pdacon": {"language": "json"}}) == JsonReading()
    with pytest.raises(UnsupportedSchemaError, match="from_structural_tag writes JSON"):
        Format.of("structural_tag", json.dumps(TAG)).by_default(JsonReading(Spelling(language="yaml"))).grammar(
            Limits()
        )
