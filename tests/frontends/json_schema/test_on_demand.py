"""Schemas whose automata are made as texts are read, against the same schemas compiled as a whole."""

from __future__ import annotations

import gzip
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.on_demand import WORDS, both, compare
from support.real_vocabularies import coded
from support.scaling import scaled

import pdacon
from pdacon import Grammar, LimitExceededError, Limits, Spelling
from pdacon._native import _core
from pdacon.front import stages
from pdacon.front.compiled import Compiled
from pdacon.front.stages import compiled
from pdacon.frontends.json_schema import exploring

CASES = Path(__file__).parents[4] / "shared" / "data" / "maskbench" / "Github_medium.jsonl.gz"
NAMES = ["a", "ab", "abc", "b", "é", 'q"uote', "back\\slash", "x y", "", "ab "]
PATTERNS = ["^[a-c]+$", "b", "^(ab|cd)?$", "^[^x]{2,5}$", r"^\d{3}-\d{2}$"]
SPELLINGS = [
    Spelling(),
    Spelling(whitespace="compact"),
    Spelling(whitespace="any", max_blanks=2),
    Spelling(whitespace="any", whitespace_pattern=r"\n? "),
    Spelling(whitespace="usual", max_blanks=4),
    Spelling(whitespace="usual"),
    Spelling(separators=(" ,\n", ": ")),
    Spelling(order="any"),
    Spelling(escapes="ascii"),
    Spelling(escapes="any"),
    Spelling(numbers="canonical"),
    Spelling(integers="decimal", exponents="json.dumps"),
    Spelling(exponents="none"),
    Spelling(whitespace="indent"),
    Spelling(whitespace="indent", indent=1, max_depth=2, order="any"),
    Spelling(whitespace="indent", indent=0, max_depth=1, separators=(" ,", " : ")),
]


def scalar(random: Random) -> dict[str, Any]:
    return random.choice([
        {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"},
        {"type": ["string", "null"]}, {"enum": ["a", "ab", 'b"', 1, None, True]}, {"const": "abc"}, {"const": 12},
        {"type": "string", "maxLength": random.randrange(1, 9)}, {"type": "string", "minLength": 2, "maxLength": 3},
        {"type": "string", "pattern": random.choice(PATTERNS)}, {"type": "string", "format": "date"},
        {"type": "integer", "minimum": -3, "maximum": 120}, {"type": "number", "minimum": 0},
        {"type": "string", "enum": ["ab", "abc", "x"]}, {"minLength": 1}, {},
    ])  # fmt: skip


def usual_schema(random: Random, depth: int = 3) -> dict[str, Any]:
    kind = random.randrange(8) if depth else 0
    if kind < 2:
        return scalar(random)
    if kind == 2:
        items = {"type": "array", "items": usual_schema(random, depth - 1)}
        return {**items, **random.choice([{}, {"minItems": 1}, {"maxItems": 2}, {"minItems": 1, "maxItems": 3}])}
    if kind == 3:
        return {"anyOf": [usual_schema(random, depth - 1) for _ in range(random.randrange(2, 4))]}
    if kind == 4 and depth == 3:
        node = {"type": "object", "properties": {"a": scalar(random), "b": {"$ref": "#/$defs/node"}}}
        return {"$ref": "#/$defs/node", "$defs": {"node": {**node, "required": ["a"]}}}
    names = random.sample(NAMES, random.randrange(1, 6))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: usual_schema(random, depth - 1) for name in names},
        "required": [name for name in names if random.random() < 0.4],
    }
    if random.random() < 0.5:
        schema["additionalProperties"] = random.choice([False, False, True, scalar(random)])
    return schema


@pytest.mark.parametrize("first", range(0, 40 * scaled(4), 40))
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_random_schemas_are_the_same_on_demand(first: int) -> None:
    compared = schemas = 0
    for seed in range(first, first + 40):
        random = Random(seed)
        try:
            made = both(usual_schema(random), WORDS, random.choice(SPELLINGS))
        except pdacon.PdaconError:
            continue
        if made is not None:
            schemas += 1
            compared += sum(compare(*made, random, 40) for _ in range(3))
    assert schemas >= 10
    assert compared >= 30 * schemas / 4


@pytest.mark.skipif(not CASES.exists(), reason="the schemas of MaskBench are not here")
@pytest.mark.filterwarnings("ignore::pdacon.GrammarWarning")
def test_real_schemas_are_the_same_on_demand() -> None:
    words = coded("tekken")
    vocabulary, encode = words.vocabulary, words.encode
    compared = 0
    with gzip.open(CASES, "rt") as lines:
        cases = [json.loads(line) for _, line in zip(range(scaled(30)), lines, strict=False)]
    for case in cases:
        try:
            made = both(case["schema"], vocabulary)
        except pdacon.PdaconError:
            continue
        if made is None:
            continue
        demanded, whole = made
        words, expected = demanded.new_bitmask(), whole.new_bitmask()
        for test in case["tests"][:2]:
            one, other = demanded.matcher(), whole.matcher()
            for token in encode(json.dumps(test["data"], ensure_ascii=False)):
                one.fill_bitmask(words)
                other.fill_bitmask(expected)
                assert np.array_equal(words, expected), (case["name"], one.text)
                compared += 1
                accepted = one.accept_token(token)
                assert accepted == other.accept_token(token)
                if not accepted:
                    break
            assert one.is_accepting() == other.is_accepting()
    assert compared > 500


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"enum": ["x", "y"]}},
        "next": {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
    },
    "required": ["name"],
}
TEXT = '{"name": "Ann", "tags": ["x"], "next": {"name": "Bo"}}'


@pytest.mark.parametrize("max_rollback", [None, 0, 3, 40])
@pytest.mark.parametrize("keep_text", [True, False])
def test_a_matcher_goes_over_to_the_whole(max_rollback: int | None, keep_text: bool) -> None:
    made = both(PERSON, WORDS)
    assert made is not None
    for cut in range(len(TEXT) + 1):
        demanded = pdacon.compile(Grammar.from_json_schema(PERSON), WORDS)
        one = demanded.matcher(max_rollback=max_rollback, keep_text=keep_text)
        other = made[1].matcher(max_rollback=max_rollback, keep_text=keep_text)
        for matcher in (one, other):
            for character in TEXT[:cut]:
                assert matcher.accept(character)
        assert one._is_nested()
        assert one.shortest_completion() == other.shortest_completion()
        assert not one._is_nested()
        back = min(cut, 40 if max_rollback is None else max_rollback)
        for matcher in (one, other):
            if cut == len(TEXT) and max_rollback != 0:
                assert matcher.accept_token(WORDS.eos_ids[0])
                assert matcher.is_terminated()
                matcher.rollback(1)
            most = back if cut < len(TEXT) else max(0, back - 1)  # one of what can be taken back was the end
            matcher.rollback(most)
            assert matcher.accept(TEXT[cut - most : cut])
        assert np.array_equal(one.allowed_mask(), other.allowed_mask())
        if keep_text:
            assert one.text == other.text == TEXT[:cut]
    assert [one.fork().accept(""), one.fork().is_accepting()] == [True, True]


def test_a_fork_and_what_it_came_from_go_their_own_ways() -> None:
    one = pdacon.compile(Grammar.from_json_schema(PERSON), WORDS).matcher()
    assert one.accept('{"name": "A')
    fork = one.fork()
    assert fork._is_nested()
    assert fork.accept('nn", "tags": [')
    assert "tags" in str(fork.explain("z"))
    assert fork.completion() == "]}"
    assert not fork._is_nested()
    assert one._is_nested()
    assert one.text == '{"name": "A'
    assert one.accept('"}')  # the whole has taken its place by now
    assert not one._is_nested()
    assert one.is_accepting()
    one.reset()
    assert one.accept("{")


def test_ids_of_masks_stay() -> None:
    constraint = pdacon.compile(Grammar.from_json_schema(PERSON), WORDS)
    matcher = constraint.matcher()
    seen = {}
    for character in TEXT:
        seen[matcher.mask_id()] = matcher.allowed_mask()
        assert matcher.accept(character)
    assert matcher._is_nested()
    table = constraint.mask_table()
    assert constraint.statistics()["distinct_masks"] == len(table)
    assert constraint.matcher()._is_nested()
    assert constraint.matcher().shortest_completion()
    assert not constraint.matcher()._is_nested()
    assert np.array_equal(constraint.mask_table()[: len(table)], table)
    assert np.array_equal(constraint.mask_table(len(table)), constraint.mask_table()[len(table) :])
    for number, mask in seen.items():
        bits = np.unpackbits(table[number].view(np.uint8), bitorder="little", count=WORDS.size).view(np.bool_)
        assert np.array_equal(bits, mask)
    again = constraint.matcher()
    for character in TEXT:
        assert np.array_equal(seen[again.mask_id()], again.allowed_mask())
        assert again.accept(character)


def test_threads_share_what_is_made() -> None:
    made = both(PERSON, WORDS)
    assert made is not None
    demanded, whole = made
    tests = [TEXT[:cut] for cut in range(len(TEXT))] * 4

    def mask(text: str) -> bytes:
        matcher = demanded.matcher()
        assert matcher.accept(text)
        if len(text) % 7 == 6:
            pdacon.fill_bitmasks([matcher, matcher.fork()], demanded.new_bitmask(2))
        return matcher.allowed_mask().tobytes()

    with ThreadPoolExecutor(8) as threads:
        masks = list(threads.map(mask, tests))
    for text, found in zip(tests, masks, strict=True):
        matcher = whole.matcher()
        assert matcher.accept(text)
        assert found == matcher.allowed_mask().tobytes()


def test_a_limit_is_met_in_the_text() -> None:
    names = {f"name{k}": {"type": "object", "properties": {"a": {"type": "string"}}} for k in range(60)}
    grammar = Grammar.from_json_schema({"type": "object", "properties": names})
    constraint = pdacon.compile(grammar, WORDS, limits=Limits(states=400))
    matcher = constraint.matcher()
    text = ", ".join(f'"name{k}": {{"a": "x"}}' for k in range(60))

    def read() -> None:
        for character in "{" + text:
            before.append(matcher.text)
            assert matcher.accept(character)

    before: list[str] = []
    with pytest.raises(LimitExceededError, match="states"):
        read()
    assert matcher.text == before[-1]
    assert matcher.text.startswith('{"name0": {"a": "x"}, "name1": ')


def test_alternatives_need_no_room_of_their_own() -> None:
    objects = [
        {"type": "object", "properties": {f"p{k}": {"type": "integer"}}, "required": [f"p{k}"]} for k in range(40)
    ]
    constraint = pdacon.compile(Grammar.from_json_schema({"anyOf": objects}), WORDS)
    assert constraint.accepts('{"p7": 1}')
    assert constraint.accepts('{"p3": "x", "p7": 1, "other": null}')
    assert not constraint.accepts('{"p3": "x", "other": null}')
    assert constraint.nbytes < 1 << 20


def test_what_is_made_in_a_file_is_whole(tmp_path: Any) -> None:
    constraint = pdacon.compile(Grammar.from_json_schema(PERSON), WORDS)
    assert constraint.matcher().accept(TEXT)
    constraint.save(tmp_path / "person.pda")
    loaded = pdacon.Constraint.load(tmp_path / "person.pda", WORDS)
    assert loaded.accepts(TEXT)
    assert loaded.grammar == constraint.grammar


def test_no_exception_leaves_anything_half_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each line of pdacon that is run for a mask; afterwards all is as it is in the whole, or it is an error.

    Not in the standard library, of which such an exception would leave locks held.
    """
    schema = {"type": "array", "items": {"type": "array", "items": {"enum": [1, 2]}, "minItems": 1}, "maxItems": 2}
    made = both(schema, WORDS)
    assert made is not None
    expected = [masks_along(made[1], text) for text in ("[[1", "[[2], ")]

    class Interrupted(BaseException):
        pass

    for line in range(0, 600, 7):
        monkeypatch.setattr(exploring, "_KEPT", _core.KeptScalars(1 << 20))
        constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
        left = line

        def trace(frame: Any, event: str, argument: Any) -> Any:
            nonlocal left
            left -= "pdacon" in frame.f_globals.get("__name__", "")
            if left < 0:
                sys.settrace(None)
                raise Interrupted
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            masks_along(constraint, "[[1")
        except Interrupted:
            pass
        finally:
            sys.settrace(before)
        assert [masks_along(constraint, text) for text in ("[[1", "[[2], ")] == expected


def masks_along(constraint: Compiled, text: str) -> list[bytes]:
    matcher, masks = constraint.matcher(), []
    for character in text:
        masks.append(matcher.allowed_mask().tobytes())
        assert matcher.accept(character)
    return [*masks, matcher.allowed_mask().tobytes()]


def test_without_a_whole_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise LimitExceededError("bytes", 2, 1)

    monkeypatch.setattr(stages, "composed", failing)
    constraint = pdacon.compile(Grammar.from_json_schema(PERSON), WORDS)
    matcher = constraint.matcher()
    assert matcher.accept('{"name": "A')
    allowed = matcher.allowed_tokens()
    with pytest.raises(LimitExceededError):
        matcher.shortest_completion()
    assert matcher.allowed_tokens() == allowed
    assert matcher.text == '{"name": "A'
    assert matcher.accept('"}')
    assert constraint.matcher().accept("{")


def test_two_end_tokens() -> None:
    matcher = pdacon.compile(Grammar.from_json_schema({"const": 12}), WORDS).matcher()
    assert matcher.accept("12")
    assert matcher.accept_token(WORDS.eos_ids[0])
    assert matcher.accept_token(WORDS.eos_ids[0])
    assert matcher.shortest_completion() == b""
    matcher.rollback(2)
    assert matcher.is_accepting()


def deeper(matcher: pdacon.Matcher) -> bool | None:
    try:
        return matcher.accept('{"a": ')
    except LimitExceededError:
        return None


def test_the_depth_is_that_of_the_whole() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False}
    grammar = Grammar.from_json_schema(schema)
    demanded = pdacon.compile(grammar, WORDS, limits=Limits(depth=20)).matcher()
    whole = compiled(grammar.data, WORDS, Limits(depth=20)).matcher()
    for _ in range(12):
        answers = [deeper(matcher) for matcher in (demanded, whole)]
        assert answers[0] == answers[1]
    assert answers == [None, None]
    assert demanded.text == whole.text


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_schema_that_refers_to_itself_is_refused_at_once(keyword: str) -> None:
    loop = {keyword: [{"type": "integer"}, {"$ref": "#/$defs/a"}]}
    schema = {"properties": {"q": {"type": "integer"}, "x": {"$ref": "#/$defs/a"}}, "$defs": {"a": loop}}
    with pytest.raises(pdacon.UnsupportedSchemaError, match="refers to itself"):
        Grammar.from_json_schema(schema)


FIRST = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}
REFERRED = {"$ref": "#/$defs/f"}
SECOND = {"type": "object", "properties": {"c": {"type": "string"}, "d": {"type": "integer"}}, "required": ["c"]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"anyOf": [FIRST, SECOND]}, {"anyOf": [SECOND, FIRST]}),
        ({"type": "object", "required": ["p", "q"]}, {"type": "object", "required": ["q", "p"]}),
        (
            {"anyOf": [{"$ref": "#/$defs/f"}, SECOND]},
            {"anyOf": [{**SECOND, "minProperties": 1}, {"$ref": "#/$defs/f"}]},
        ),
    ],
)
def test_the_order_of_members_does_not_depend_on_what_was_read_first(one: Any, other: Any) -> None:
    schema = {"type": "object", "properties": {"x": one, "y": other}, "$defs": {"f": FIRST}}
    grammar = Grammar.from_json_schema(schema)
    whole = compiled(grammar.data, WORDS)
    texts = [
        f'{{"{name}": {{"{first}": {values[first]}, "{second}": {values[second]}}}}}'
        for values in ({"a": "1", "c": '"x"'}, {"p": "1", "q": "1"})
        for name in "xy"
        for first in values
        for second in values
        if first != second
    ]
    for order in (texts, texts[::-1]):
        demanded = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
        assert [demanded.accepts(text) for text in order] == [whole.accepts(text) for text in order]


TREE = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"a": {"type": "integer"}, "n": {
    "type": "array", "items": {"$ref": "#/$defs/n"}}}, "required": ["a"]}}}  # fmt: skip


@pytest.mark.parametrize("depth", [1, 2, 3, 7])
def test_lines_are_indented_up_to_the_greatest_depth(depth: int) -> None:
    """A tree whose leaves are at the greatest depth, and one level more."""
    made = both(TREE, WORDS, Spelling(whitespace="indent", max_depth=depth))
    assert made is not None
    for deep in range(depth + 3):
        value: Any = {"a": 1}
        for level in range(deep):
            value = [value] if level % 2 == 0 else {"a": 1, "n": value}
        value = {"a": 1, "n": value} if deep % 2 else value
        opened = deep + 1 + deep % 2
        for text in (json.dumps(value, indent=2), json.dumps(value)):
            expected = text.count("\n") > 0 and opened <= depth
            assert [one.accepts(text) for one in made] == [expected] * 2, (deep, text)


def test_a_value_that_lies_too_deep_never_begins() -> None:
    nested = {"type": "object", "properties": {"b": {"type": "object", "required": ["c"]}}, "required": ["b"]}
    schema = {"type": "object", "properties": {"a": nested, "z": {"type": "null"}}, "additionalProperties": False}
    made = both(schema, WORDS, Spelling(whitespace="indent", max_depth=2))
    assert made is not None
    for one in made:
        matcher = one.matcher()
        assert matcher.accept_bytes(b"{\n  ")
        assert matcher.forced_bytes() == b'"z": null\n}'
