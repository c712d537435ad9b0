"""Formats of requests: what their texts are read as, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pdacon
from pdacon import Grammar
from pdacon.base.cancelling import current
from pdacon.base.limits import Limits
from pdacon.front.endings import is_llguidance
from pdacon.integrations.formats import Kind, compile_format, grammar_kind

WORDS = pdacon.Vocabulary.bytes()
TAG = {
    "type": "structural_tag",
    "triggers": ["<f>"],
    "structures": [{"begin": "<f>", "schema": {"const": 1}, "end": "</f>"}],
}


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
    cache = pdacon.CompileCache()
    constraint = compile_format(cache, kind, text, WORDS, Limits())
    assert constraint.accepts(good)
    assert not constraint.accepts(bad)
    assert compile_format(cache, kind, text, WORDS, Limits()) is constraint


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
        compile_format(pdacon.CompileCache(), kind, text, WORDS, Limits())


@pytest.mark.parametrize(
    ("kind", "text", "door"),
    [
        ("json_object", "", "from_json_schema"),
        ("regex", "a", "from_regex"),
        ("choice", '["a"]', "from_choices"),
        ("lark", 'start: "a"', "from_lark"),
        ("lark", '%llguidance {}\nstart: "a"', "from_llguidance"),
        ("gbnf", 'root ::= "a"', "from_gbnf"),
        ("bnf", 'root ::= "a"', "from_ebnf"),
        ("structural_tag", json.dumps(TAG), "from_structural_tag"),
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
    compile_format(pdacon.CompileCache(), kind, text, WORDS, Limits(seconds=1000))
    (watch,) = watches
    assert watch is not None
    assert watch.seconds == 1000
