"""Patterns that spell out words: the same words as those of their automata, and names as if they were listed."""

from __future__ import annotations

import pytest
from support.on_demand import WORDS

import pdacon
from pdacon import Grammar
from pdacon.frontends.json_schema.facts import Matches
from pdacon.frontends.json_schema.pattern_words import pattern_words
from pdacon.frontends.json_schema.steps import MemberSteps
from pdacon.frontends.json_schema.strings import pattern_automaton

SPELLED = ["^a$", "^a-b_C0$", "^$", "^(a|bc|)$", r"^a\.b$", "^é$", "^a b$", "^x(y|z)$", "^--$", "^_$"]


@pytest.mark.parametrize("pattern", SPELLED)
def test_words_are_those_of_the_automaton(pattern: str) -> None:
    words = pattern_words(pattern)
    assert words is not None
    assert sorted(words) == sorted(pattern_automaton(Matches(pattern)).words(10) or [])


@pytest.mark.parametrize("pattern", ["a", "^a", "a$", "^a.$", "^a+$", "^a|b$", r"^\u{d800}$", "^a\\$", "^(?!a)$"])
def test_others_are_read_as_patterns(pattern: str) -> None:
    assert pattern_words(pattern) is None


def test_names_are_as_if_they_were_listed() -> None:
    patterns = {f"^name_{k}$": {"type": "integer", "maximum": k} for k in range(300)}
    schema = {"type": "object", "patternProperties": patterns, "additionalProperties": {"type": "null"}}
    constraint = pdacon.compile(Grammar.from_json_schema(schema), WORDS)
    assert constraint.accepts('{"name_7": 7, "name_299": 8, "name_300": null, "name_": null}')
    assert not constraint.accepts('{"name_7": 8}')
    assert not constraint.accepts('{"name_7": null}')
    assert not constraint.accepts('{"name_300": 1}')


def test_the_core_takes_steps_over_them_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a step was asked for")

    patterns = {"^a$": {"type": "integer"}, "^(b|c)$": {"enum": [1, 2]}, "^c$": {"minimum": 2}}
    schema = {"type": "object", "properties": {"a": {"maximum": 5}}, "patternProperties": patterns}
    monkeypatch.setattr(MemberSteps, "step", refuse)
    for others in ({"type": "null"}, True):
        constraint = pdacon.compile(Grammar.from_json_schema(schema | {"additionalProperties": others}), WORDS)
        assert constraint.accepts('{"a": 5, "b": 1, "c": 2, "d": null}')
        assert constraint.accepts('{"c": 2, "d": null, "a": 4}')
        assert not constraint.accepts('{"a": 6}')
        assert not constraint.accepts('{"b": 3}')
        assert not constraint.accepts('{"c": 1}')
        assert constraint.accepts('{"d": 1}') == (others is True)
