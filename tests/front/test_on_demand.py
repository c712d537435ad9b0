"""Every way in to what is read on demand: types, tools, and what hosts ask of a constraint, beside the whole."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, make_dataclass
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from support.on_demand import TOKENS, WORDS, compare, forms

import pdacon
from pdacon import CompileCache, Grammar, Vocabulary
from pdacon.front.compiled import Compiled
from pdacon.front.constraint import Constraint
from pdacon.front.stages import compiled
from pdacon.frontends.json_schema import Schema
from pdacon.grammar import GrammarData


@dataclass
class Cat:
    kind: Literal["cat"]
    lives: int = 9


@dataclass
class Dog:
    kind: Literal["dog"]
    names: list[str] = field(default_factory=list)
    friend: Cat | None = None


@dataclass
class Plain:
    size: float
    tag: str | int | None = None


def weather(city: str, days: int = 1) -> None:
    """Tells the weather."""


def stop() -> None:
    """Stops."""


TOOL = {
    "name": "find",
    "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer"}}},
}
MADE: dict[str, Grammar] = {
    "union": Grammar.from_type(Cat | Dog | Plain),
    "dict": Grammar.from_type(dict[str, int | None]),
    "list": Grammar.from_type(list[Cat]),
    "number": Grammar.from_type(int),
    "tools": Grammar.from_tools([weather, stop, TOOL, Plain]),
    "calls": Grammar.from_tools([weather, TOOL], several=True, arguments="input"),
}


def on_demand(grammar: Grammar) -> Constraint:
    constraint = pdacon.compile(grammar, WORDS)
    assert constraint.matcher()._is_nested()
    return constraint


@pytest.mark.parametrize("name", MADE)
def test_types_and_tools_are_the_same_on_demand(name: str) -> None:
    whole = compiled(MADE[name].data, WORDS)
    compared = sum(compare(on_demand(MADE[name]), whole, Random(seed), 60) for seed in range(8))
    assert compared > 100


def _made(_: Any) -> GrammarData:
    raise AssertionError("the grammar as a whole was made")


def test_values_need_no_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Schema, "grammar", _made)
    grammar = Grammar.from_type(Cat | Dog | Plain)
    constraint = on_demand(grammar)
    text = grammar.write(Dog("dog", ["x"], Cat("cat", 3)))
    assert constraint.parse(text) == Dog("dog", ["x"], Cat("cat", 3))
    assert "cat" in grammar.describe()
    assert constraint.builtin_name is None
    assert constraint.grammar.write(Plain(1.5, 2)) == '{"size": 1.5, "tag": 2}'
    called = on_demand(Grammar.from_tools([weather])).parse('{"name": "weather", "arguments": {"city": "Bonn"}}')
    assert called.arguments == {"city": "Bonn"}
    assert pdacon.compile(Grammar.from_json_schema({"type": "array"}), WORDS).parse("[1, {}]") == [1, {}]
    assert constraint.nbytes > 0
    assert constraint.statistics()["places"] > 0
    assert "places" in constraint._repr_html_()


def test_two_types_of_the_same_texts_are_told_apart_in_a_cache() -> None:
    first, second = (make_dataclass("Point", [("x", int)]) for _ in range(2))
    cache = CompileCache()
    made = [cache.compile(Grammar.from_type(kind), WORDS) for kind in (first, second, first)]
    assert [type(one.parse('{"x": 1}')) for one in made] == [first, second, first]
    assert cache.statistics()["misses"] == 1
    assert made[0] is made[2]
    assert made[1].grammar.write(second(2)) == '{"x": 2}'
    assert all(one.matcher()._is_nested() for one in made)


def masks_along(constraint: Compiled, text: str) -> list[Any]:
    matcher, masks = constraint.matcher(), []
    for character in text:
        number = matcher.mask_id()
        masks.append(constraint.mask_table()[number])
        assert np.array_equal(masks[-1], filled(constraint, matcher))
        assert matcher.accept(character)
    return masks


def filled(constraint: Compiled, matcher: Any) -> Any:
    row = constraint.new_bitmask()
    matcher.fill_bitmask(row)
    return row[0]


def test_a_table_of_masks_grows() -> None:
    """As hosts on a device read it: by id, row by row, on demand and when the whole has taken its place."""
    constraint = on_demand(MADE["union"])
    text = '{"kind": "dog", "names": ["a"]}'
    before = masks_along(constraint, text)
    assert constraint.matcher()._is_nested()
    numbers = len(constraint.mask_table())
    with pytest.raises(IndexError, match="the masks so far"):
        constraint.mask_table(numbers + 1)
    with pytest.raises(IndexError, match="the masks so far"):
        constraint.mask_table(-1)
    assert constraint.matcher()._is_nested()
    assert constraint.mask_table(numbers).shape == (0, -(-WORDS.size // 32))
    assert constraint.statistics() == {**constraint.statistics(), "distinct_masks": numbers, "situations_left": -1}
    assert constraint.matcher().completion()
    assert not constraint.matcher()._is_nested()
    assert "lexer_states" in constraint.statistics()
    assert all(map(np.array_equal, before, masks_along(constraint, text)))


def tag(begin: str, schema: Any, end: str) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": {"type": "json_schema", "json_schema": schema}, "end": end}


def find(number: int) -> dict[str, Any]:
    names = {"a": {"type": "string"}, f"n{number}": {"type": "integer"}, "t": {"enum": ["x", number]}}
    return {"type": "object", "properties": names, "required": ["a"], "additionalProperties": False}


def star(content: dict[str, Any]) -> dict[str, Any]:
    return {"type": "star", "content": content}


CALLS = [tag(f"<f={name}>", find(k), "</f>") for k, name in enumerate(["a", "ab", "abc", "b"])]
TRIGGERED = {"type": "triggered_tags", "triggers": ["<f="], "tags": CALLS}
BEE = {"type": "const_string", "value": "b"}
THOUGHT = {"type": "tag", "begin": "<t>", "content": {"type": "any_text"}, "end": "</t>"}
TAGS: dict[str, dict[str, Any]] = {
    "calls in text": TRIGGERED,
    "at least one": {**TRIGGERED, "at_least_one": True},
    "one at most": {**TRIGGERED, "stop_after_first": True},
    "text without a word": {**TRIGGERED, "excludes": ["é<"]},
    "two triggers": {**TRIGGERED, "triggers": ["<f=", "[g]"], "tags": [*CALLS, tag("[g]", {"type": "array"}, "")]},
    "triggers that end alike": {
        **TRIGGERED,
        "triggers": ["<f>", "<g>"],
        "tags": [tag("<f>", find(1), "."), tag("<g>", find(2), ".")],
    },
    "a list of calls": {"type": "tags_with_separator", "tags": CALLS, "separator": ", ", "at_least_one": True},
    "a thought, then an answer": {"type": "sequence", "elements": [THOUGHT, tag("", find(7), "")]},
    "a thought, then calls": {"type": "sequence", "elements": [THOUGHT, TRIGGERED]},
    "a word in calls": {**TRIGGERED, "tags": [*CALLS, {**THOUGHT, "begin": "<f=t>"}]},
    "one or another": {
        "type": "or",
        "elements": [tag("[", find(1), "]"), tag("{{", {"type": "number"}, "}}"), THOUGHT],
    },
    "numbers between": {"type": "plus", "content": tag("", {"type": "number", "minimum": -3}, ";")},
    "a date, then a value": {
        "type": "sequence",
        "elements": [{"type": "regex", "pattern": r"\d{4}-\d\d|\w+ "}, tag(": ", {"type": ["string", "null"]}, "")],
    },
    "a format and a length": {
        "type": "optional",
        "content": tag("<", {"type": "string", "format": "uri-template", "minLength": 3}, ">"),
    },
    "two values": {"type": "sequence", "elements": [tag("", find(1), ""), tag("", {"type": "string"}, " ")]},
}


@pytest.mark.parametrize("name", TAGS)
def test_tags_are_the_same_on_demand(name: str) -> None:
    grammar = Grammar.from_structural_tag(TAGS[name])
    whole = compiled(grammar.data, WORDS)
    compared = sum(compare(on_demand(grammar), whole, Random(seed), 70) for seed in range(8))
    assert compared > 100


@pytest.mark.parametrize(
    "given",
    [
        tag("", {"type": "integer"}, "1"),
        {"type": "sequence", "elements": [tag("", {"type": "number"}, ""), tag("", {"type": "number"}, "")]},
        {"type": "or", "elements": [tag("<", {"type": "object"}, ">"), tag("<", {"type": "array"}, ">")]},
        {"type": "sequence", "elements": [{"type": "any_text"}, tag("", {"type": "object"}, "")]},
        {"type": "optional", "content": tag("<", {"type": "string", "nullable": True}, ">")},
        tag("<", {"allOf": [{"required": ["b", "a"]}, {"required": ["a"]}], "type": "object"}, ">"),
    ],
)
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_what_the_next_byte_does_not_tell_is_read_as_a_whole(given: dict[str, Any]) -> None:
    try:
        constraint = pdacon.compile(Grammar.from_structural_tag(given), WORDS)
    except pdacon.PdaconError:
        return
    assert not constraint.matcher()._is_nested()


def test_a_tag_in_mid_text_goes_over_to_the_whole() -> None:
    text = 'See <f=ab>{"a": "<f=b>", "n1": 12}</f> and <'
    grammar = Grammar.from_structural_tag(TRIGGERED)
    whole = compiled(grammar.data, WORDS)
    for cut in range(len(text) + 1):
        matcher, other = on_demand(grammar).matcher(), whole.matcher()
        assert matcher.accept(text[:cut])
        assert other.accept(text[:cut])
        assert matcher._is_nested()
        assert matcher.shortest_completion() == other.shortest_completion()
        assert not matcher._is_nested()
        assert np.array_equal(matcher.allowed_mask(), other.allowed_mask())


NUMBER = r"-?(0|[1-9]\d{0,3})"


@pytest.mark.parametrize(
    ("behind", "expression"),
    [
        ([star(BEE)], "b*"),
        ([star(star(BEE))], "b*"),
        ([{"type": "optional", "content": star(BEE)}], "b*"),
        ([{"type": "or", "elements": [{"type": "const_string", "value": "c"}, star(BEE)]}], "c|b*"),
        ([star({"type": "sequence", "elements": [BEE, star({"type": "const_string", "value": "c"})]})], "(bc*)*"),
        ([star(BEE), {"type": "optional", "content": {"type": "const_string", "value": "c"}}], "b*c?"),
        ([star(BEE), star({"type": "const_string", "value": "c"})], "b*c*"),
        ([{"type": "regex", "pattern": "(bc)*"}], "(bc)*"),
        ([{"type": "regex", "pattern": "(b|c?b)*"}], "(b|c?b)*"),
        ([{"type": "tags_with_separator", "tags": [{**THOUGHT, "content": BEE}], "separator": ","}], "<t>b</t>"),
    ],
)
@pytest.mark.parametrize("kind", [{"type": "integer"}, {"type": ["integer", "null"]}, {"enum": [1, 12, 2]}, {}])
def test_a_text_may_end_behind_a_number(kind: dict[str, Any], behind: list[Any], expression: str) -> None:
    elements = [{"type": "json_schema", "json_schema": kind}, *behind]
    grammar = Grammar.from_structural_tag({"type": "sequence", "elements": elements})
    constraint, whole = forms(grammar, WORDS)
    for text in ["1", "12", *("1" + rest for rest in ("b", "c", "bb", "bc", "cb", "bcb", "bcc", "bbc"))]:
        one, other = constraint.matcher(), whole.matcher()
        accepted = one.accept(text)
        assert accepted == other.accept(text), text
        assert one._is_nested()
        if accepted:
            assert one.is_accepting() == bool(re.fullmatch(f"{NUMBER}({expression})?", text)), text
            assert np.array_equal(one.allowed_mask(), other.allowed_mask()), text


def test_the_values_of_tags_are_looked_at_when_they_are_come_to() -> None:
    tags = [tag(f"<f={k}>", find(k), "</f>") for k in range(200)]
    constraint = on_demand(Grammar.from_structural_tag({**TRIGGERED, "tags": tags}))
    before = constraint.statistics()["places"]
    assert before < 10
    assert constraint.accepts('a <f=17>{"a": "x"}</f> b <f=199>{"a": "", "t": 199}</f>')
    assert constraint.statistics()["places"] < 200 + 60  # those behind the begins, of which nothing else is made
    assert not constraint.accepts('<f=17>{"a": "x", "t": 16}</f>')


def test_a_limit_is_met_in_the_text_of_a_tag() -> None:
    tags = [tag(f"<f={k}>", find(k), "</f>") for k in range(60)]
    grammar = Grammar.from_structural_tag({**TRIGGERED, "tags": tags})
    matcher = pdacon.compile(grammar, WORDS, limits=pdacon.Limits(states=300)).matcher()
    before = ""

    def read() -> None:
        nonlocal before
        for k in range(60):
            before = matcher.text
            assert matcher.accept(f'<f={k}>{{"a": "", "n{k}": 1}}</f>')

    with pytest.raises(pdacon.LimitExceededError, match="states"):
        read()
    assert matcher.text == before
    assert before


@pytest.mark.parametrize("most", [24_000, 40_000, 60_000])
def test_a_matcher_goes_back_from_where_a_limit_is_met(most: int) -> None:
    names = {
        "kind": {"enum": ["cat", "dog"]},
        "a": {"type": "string", "maxLength": 400},
        "p": {"type": "string", "pattern": "^(ab|c){2,9}x?$"},
        "d": {"type": "string", "format": "date"},
    }
    grammar = Grammar.from_json_schema({"properties": names, "required": [*names], "type": "object"})
    text = b'{"kind": "dog", "a": "x", "p": "abc", "d": "2024-01-01"}'
    assert pdacon.compile(grammar, WORDS).accepts(text)
    # What has been made of terminals is kept with the vocabulary, and costs nothing: this test has one of its own.
    vocabulary = Vocabulary.from_tokens([*WORDS.tokens[:-1], b"%d" % most, None], eos_ids=[WORDS.size])
    constraint = pdacon.compile(grammar, vocabulary, limits=pdacon.Limits(bytes=most))
    matcher, masks = constraint.matcher(), list[Any]()

    def read() -> None:
        for byte in text:
            masks.append(matcher.allowed_mask())
            assert matcher.accept(bytes([byte]))

    with pytest.raises(pdacon.LimitExceededError, match="bytes"):
        read()
    came = len(matcher.text)
    assert 0 < came < len(text)
    if len(masks) > came:  # it was met behind the mask, which is known
        assert np.array_equal(matcher.allowed_mask(), masks[came])
    else:
        with pytest.raises(pdacon.LimitExceededError, match="bytes"):
            matcher.allowed_mask()
    assert len(matcher.text) == came
    twin = matcher.fork()
    for length in reversed(range(came)):
        matcher.rollback(1)
        assert matcher.text == text[:length].decode()
        assert np.array_equal(matcher.allowed_mask(), masks[length])
    twin.reset()
    assert twin.text == ""
    words = constraint.new_bitmask(2)
    pdacon.fill_bitmasks([twin, constraint.matcher()], words)
    assert np.array_equal(words[0], words[1])
    assert np.array_equal(twin.allowed_mask(), masks[0])


def test_threads_share_a_tag() -> None:
    grammar = Grammar.from_structural_tag(TRIGGERED)
    constraint, whole = on_demand(grammar), compiled(grammar.data, WORDS)
    text = 'x <f=abc>{"a": "b", "t": 2}</f><f=b>{"a": "'

    def mask(cut: int) -> bytes:
        matcher = constraint.matcher()
        assert matcher.accept(text[:cut])
        return matcher.allowed_mask().tobytes()

    cuts = [*range(len(text))] * 4
    with ThreadPoolExecutor(8) as threads:
        masks = list(threads.map(mask, cuts))
    for cut, found in zip(cuts, masks, strict=True):
        matcher = whole.matcher()
        assert matcher.accept(text[:cut])
        assert found == matcher.allowed_mask().tobytes(), text[:cut]


SPACED = Vocabulary.from_tokens([*TOKENS, b" {", b"  {", b" <f", b' "a', b" 1", b"  ", None], eos_ids=[len(TOKENS) + 6])


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.from_json_schema({"type": ["object", "string", "integer"]}),
        Grammar.from_type(Cat | Dog),
        Grammar.from_structural_tag(TRIGGERED),
        Grammar.from_structural_tag({**TRIGGERED, "at_least_one": True}),
    ],
)
def test_a_space_that_the_tokenizer_strips(grammar: Grammar) -> None:
    constraint, whole = forms(grammar, SPACED)
    random = Random(5)
    for _ in range(20):
        one, other = (made.matcher(strip_leading_space=True) for made in (constraint, whole))
        assert one._is_nested()
        accepted = 0
        for step in range(12):
            assert np.array_equal(one.allowed_mask(), other.allowed_mask()), (step, one.text)
            assert one.is_accepting() == other.is_accepting()
            assert one.forced_tokens() == other.forced_tokens()
            allowed = [token for token in one.allowed_tokens() if token < SPACED.size - 1]
            if not allowed:
                break
            spaced = [token for token in allowed if (SPACED.tokens[token] or b"").startswith(b" ")]
            token = random.choice(spaced if spaced and step < 2 else allowed)
            assert one.accept_token(token)
            assert other.accept_token(token)
            assert one.text == other.text
            accepted += 1
        fork = one.fork()
        assert fork.completion() == other.completion()
        assert not fork._is_nested()
        for matcher in (fork, other):
            matcher.rollback(accepted)
        assert np.array_equal(fork.allowed_mask(), other.allowed_mask())
        assert np.array_equal(fork.allowed_mask(), constraint.matcher(strip_leading_space=True).allowed_mask())
        constraint = pdacon.compile(grammar, SPACED)


_LIMITS = """
import pdacon
schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": [1, "x"]}}}
value, end = {"type": "json_schema", "json_schema": schema}, {"type": "const_string", "value": "x"}
tag = {"type": "sequence", "elements": [value, end]}
vocabulary, met = pdacon.Vocabulary.bytes(), 0
for grammar in (pdacon.Grammar.from_json_schema(schema), pdacon.Grammar.from_structural_tag(tag)):
    for most in range(24, 2000, 8):
        try:
            matcher = pdacon.compile(grammar, vocabulary, limits=pdacon.Limits(bytes=most)).matcher()
            for byte in b'{"a": "b"}':
                matcher.allowed_tokens()
                matcher.accept_token(byte)
        except pdacon.errors.LimitExceededError as error:
            met += error.what == "bytes"
print(met)
"""


def test_a_limit_on_bytes_is_an_error_wherever_it_is_met() -> None:
    """Also while Python is asked, whose arguments are converted by what must not throw: the process had ended."""
    told = subprocess.run([sys.executable, "-P", "-c", _LIMITS], capture_output=True, text=True, timeout=300)
    assert (told.returncode, told.stderr) == (0, "")
    assert int(told.stdout) > 300
