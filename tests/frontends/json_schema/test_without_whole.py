"""Schemas that are read on demand, and refused as a whole: what a grammar and a matcher of them still answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import jsonschema
import pytest

import pdacon
from pdacon import Grammar, Spelling, UnsupportedSchemaError, Vocabulary

NAMES = [f"n{k}" for k in range(30)]
WIDE = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in NAMES},
    "required": NAMES[:3],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.from_json_schema(WIDE, Spelling(order="any"))


def test_it_is_refused_as_a_whole(grammar: Grammar) -> None:
    for ask in (grammar.to_lark, grammar.sample):
        with pytest.raises(UnsupportedSchemaError, match="since members come in any order"):
            ask()


def test_texts_are_accepted(grammar: Grammar) -> None:
    assert grammar.accepts('{"n2": 1, "n0": 2, "n29": 3, "n1": 0}')
    assert not grammar.accepts('{"n2": 1, "n0": 2}')
    assert not grammar.accepts('{"n2": 1, "n0": 2, "n1": 0, "n2": 1}')


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ('{"n3": 1, "n4": "x"', "'\"' cannot come here; expected an integer for n4", 17),
        ('{"n3": 1, "n3": 2', '"n3" has come before', 13),
        ('{"n3": 1}', '"n0", "n1" and "n2" are missing', 9),
        ('{"n3": 1, "zz": 2', 'the value has no member "zz"', 12),
        ("[", '"[" cannot come here; expected an object with n0, n1 and n2', 1),
        ('{"n3"', "", 6),
        ("", "", 1),
    ],
)
def test_texts_are_explained(grammar: Grammar, text: str, reason: str, column: int) -> None:
    explanation = grammar.explain(text)
    assert explanation.reason.startswith(reason or "some sentence goes on with it")
    assert (explanation.allowed, explanation.column) == (not reason, column)
    assert "the value: an object with n0, n1 and n2" in explanation.render()
    assert explanation.render(full=True)


def test_tokens_are_explained(grammar: Grammar) -> None:
    constraint = pdacon.compile(
        grammar, Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
    )
    matcher = constraint.matcher()
    assert matcher.accept_bytes(b'{"n3": 1')
    for token in range(256):
        explanation = matcher.explain(token)
        assert explanation.allowed == matcher.is_allowed(token)
        assert explanation.before == b'{"n3": 1'
    assert not matcher.explain(256).allowed


@pytest.mark.parametrize("most", [0, 1])
def test_a_matcher_that_takes_nothing_back_explains_as_others_do(grammar: Grammar, most: int) -> None:
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    matcher, other = constraint.matcher(max_rollback=most), constraint.matcher()
    assert matcher.accept('{"n3": 1')
    assert other.accept('{"n3": 1')
    for text in ("", ", ", "x", ', "n3": 2', ', "n5": 2', "5"):
        assert matcher.explain(text) == other.explain(text)


def repository(kind: int) -> dict[str, Any]:
    own = {f"p{kind}{k}": {"type": "integer"} for k in range(8)}
    return {"type": "object", "properties": {"type": {"const": kind}, "url": {"type": "string"}, **own},
            "required": ["type"]}  # fmt: skip


REPOSITORIES = {"oneOf": [repository(kind) for kind in range(7)]}
COUNTED = {"type": "object", "additionalProperties": {"enum": [False]}, "minProperties": 1, "maxProperties": 1}


@pytest.mark.parametrize("order", ["schema", "any"])
def test_members_are_counted_beside_alternatives_that_are_too_large_as_a_whole(order: Any) -> None:
    """What counts is in no object whose members come in any order, so that it is refused in all orders or in none."""
    schema = {"type": "array", "items": {"oneOf": [REPOSITORIES, COUNTED]}}
    grammar = Grammar.from_json_schema(schema, Spelling(order=order))
    with pytest.raises(UnsupportedSchemaError, match="as a whole it takes more than"):
        grammar.to_lark()
    constraint = pdacon.compile(grammar, Vocabulary.bytes())
    valid = jsonschema.Draft202012Validator(schema).is_valid
    verdicts = []
    for value in (
        [{"x": False}], [{"x": False, "y": False}], [{}], [{"type": 1, "url": "a", "p10": 2}], [{"type": 9}],
        [{"x": False}, {"type": 6, "p60": 1, "p61": 2}], [{"x": True}], [{"type": 1, "url": 3}], [], [{"type": 2}],
        [{"type": 1, "p10": "x"}],
    ):  # fmt: skip
        verdicts.append(valid(value))
        assert constraint.accepts(json.dumps(value)) == verdicts[-1], value
    assert len(set(verdicts)) == 2


WITHIN = {"properties": {"x": {"oneOf": [COUNTED, {"type": "object", "required": ["a"]}]}}}


def test_members_that_are_counted_within_alternatives_are_told_at_once() -> None:
    """Beneath an object whose members come in any order it may be refused in some orders only."""
    with pytest.raises(UnsupportedSchemaError):
        Grammar.from_json_schema({"oneOf": [*(repository(kind) for kind in range(7)), WITHIN]})


def test_members_that_are_counted_of_a_value_that_is_asked_for_in_any_order_are_read_on_demand() -> None:
    schema = {"allOf": [{"oneOf": [repository(kind) for kind in range(7)]}, WITHIN]}
    constraint = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    valid = jsonschema.Draft202012Validator(schema).is_valid
    verdicts = []
    for inner in ({"f": False}, {"f": False, "g": False}, {"a": False}, {"a": 1, "b": 2}, {"f": 1}, {}, 1):
        for value in ({"x": inner, "type": 1, "url": "u"}, {"type": 1, "x": inner, "url": 2}, {"type": 9, "x": inner}):
            verdicts.append(valid(value))
            assert constraint.accepts(json.dumps(value)) == verdicts[-1], value
    assert len(set(verdicts)) == 2


def test_threads_that_ask_for_the_whole_leave_others_alone() -> None:
    """Steps and masks that need no whole go on while it is tried; what needs it is refused by an error of pdacon's."""
    grammar = Grammar.from_json_schema(WIDE | {"additionalProperties": True}, Spelling(order="any"))
    deep = '{"z": ' + "[" * 20 + "]" * 20 + "}"
    for _ in range(5):
        constraint = pdacon.compile(grammar, Vocabulary.bytes(), limits=pdacon.Limits(depth=20))
        start, failures = Barrier(4), list[BaseException]()

        def ask(constraint: pdacon.Constraint = constraint, start: Barrier = start) -> None:
            start.wait()
            for _ in range(3):
                with pytest.raises(pdacon.PdaconError):
                    constraint.matcher().shortest_completion()
                with pytest.raises(pdacon.PdaconError):
                    constraint.accepts(deep)

        def step(constraint: pdacon.Constraint = constraint, start: Barrier = start) -> None:
            start.wait()
            for _ in range(20):
                matcher = constraint.matcher()
                assert matcher.accept('{"n1": 1')
                assert matcher.allowed_tokens()

        def run(work: Callable[[], None], failures: list[BaseException] = failures) -> None:
            try:
                work()
            except BaseException as error:
                failures.append(error)

        threads = [Thread(target=run, args=(work,)) for work in (ask, ask, step, step)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]


def test_a_limit_on_depth_is_named() -> None:
    """Only the whole counts exactly what is open; where it is refused, the limit is met, and not the refusal told."""
    grammar = Grammar.from_json_schema(WIDE | {"additionalProperties": True}, Spelling(order="any"))
    matcher = pdacon.compile(grammar, Vocabulary.bytes(), limits=pdacon.Limits(depth=20)).matcher()
    assert matcher.accept('{"z": [[[[')
    for _ in range(2):
        with pytest.raises(pdacon.LimitExceededError) as raised:
            matcher.accept("[")
        assert (raised.value.what, raised.value.given, raised.value.limit) == ("depth", 22, 20)
    assert matcher.text == '{"z": [[[['
    assert matcher.accept("]]]]")
