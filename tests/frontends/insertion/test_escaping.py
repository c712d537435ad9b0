"""`Grammar.escaped`: the built-in grammars, JSON in JSON, and what is refused by name."""

from __future__ import annotations

import json
import pickle
from itertools import product
from random import Random
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.errors import UnsupportedGrammarError
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine
from pdacon.regular.ordered.escaping import ESCAPES, Escapes
from tests.support.spellings import spellings

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 5}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "escapes"), [("sql_select", "needed"), *product(["json", "arithmetic"], ESCAPES)])
def test_built_in_grammars(name: str, escapes: Escapes) -> None:
    plain = Grammar.builtin(name)
    within = Grammar.compose('start: "{\\"text\\": " text "}"', text=plain.escaped(escapes=escapes, quotes=True))
    constraint = pdacon.compile(within, pdacon.Vocabulary.bytes())
    random = Random(f"{name}, {escapes}")
    for text in plain.sample(20, seed=5):
        units = [random.choice(spellings(character, escapes)) for character in text]
        assert constraint.accepts(f'{{"text": "{"".join(units)}"}}'), text
        place = random.randrange(len(text) + 1)
        changed = text[:place] + random.choice("\n\"'\\(a") + text[place + random.randint(0, 1) :]
        written = json.dumps({"text": changed}, ensure_ascii=escapes == "ascii")
        assert constraint.accepts(written) == plain.accepts(changed), changed
    for written in within.sample(10, seed=5):
        assert plain.accepts(json.loads(written)["text"])


def test_json_in_a_string_in_a_string() -> None:
    schema = Grammar.from_json_schema(CITY)
    call = Grammar.compose('start: "{\\"arguments\\": " args "}"', args=schema.escaped(quotes=True))
    outer = call.escaped(quotes=True)
    texts = {}
    for city in ("Oslo", 'a"b\\c', "é\n", "longer"):
        arguments = json.dumps({"city": city, "days": 3}, ensure_ascii=False)
        written = json.dumps({"arguments": arguments}, ensure_ascii=False)
        assert call.accepts(written) == schema.accepts(arguments) == (city != "longer")
        assert outer.accepts(json.dumps(written, ensure_ascii=False)) == (city != "longer")
        texts[city] = written
    assert not call.accepts(texts["Oslo"].replace("3", "x"))
    for written in outer.sample(10, seed=1):
        assert schema.accepts(json.loads(json.loads(written))["arguments"])


def test_keywords_stay_those_of_the_grammar() -> None:
    grammar = Grammar.from_lark('start: "if" NAME | NAME "=" NAME\nNAME: /\\w+/\n%ignore /\\s+/')
    escaped = grammar.escaped(quotes=True)
    for text in ("if\na", "if a", "iff =\ta", "if = a", "a = if", "é=b"):
        assert escaped.accepts(json.dumps(text, ensure_ascii=False)) == grammar.accepts(text), text


def test_keywords_of_automata() -> None:
    """llguidance's terminals are automata, as are sets in Lark's patterns; they absorb strings there."""
    grammars = (
        Grammar.from_llguidance('%llguidance {}\nstart: "if" NAME | NAME "=" NAME\nNAME: /[a-z]+/\n%ignore / /\n'),
        Grammar.from_lark(
            'start: "if" NAME | NAME "=" NAME\nNAME: /(?P<WORD>)/\n%ignore / /\n',
            extensions=True,
            sets={"WORD": RegularSet.from_regex("[a-z]+")},
        ),
    )
    for grammar in grammars:
        composed = Grammar.compose('start: "(" h ")"', h=grammar)
        for text in ("if a", "iff = b", "if = a", "a = if", "if b"):
            assert composed.accepts(f"({text})") == grammar.accepts(text), text
            assert grammar.escaped().accepts(text) == grammar.accepts(text), text
            for one in (grammar, composed):
                written = text if one is grammar else f"({text})"
                machine = Machine(one.data, build_tables(one.data))
                at = Configuration.initial(machine).read(written.encode())
                assert (at is not None and at.ends()) == one.accepts(written), written


def test_explanations_name_what_is_meant() -> None:
    escaped = Grammar.from_lark('start: NAME ";" | "\\n"\nNAME: /[a-z]+/\n%ignore /[ \\n]*#[^\\n]*/').escaped()
    explanation = escaped.explain("# a\\n #b;\\n")
    assert [(cut.terminal, cut.text) for cut in explanation.cuts][:1] == [("/[ \\n]*#[^\\n]*/", b"# a")]
    assert "NAME" in escaped.explain("ab").unfinished
    assert "NAME" in str(escaped.draw("start"))


def test_it_pickles_and_differs_from_the_plain_one() -> None:
    plain = Grammar.from_lark('start: "a" /b+/')
    escaped = plain.escaped()
    assert escaped.fingerprint != plain.fingerprint
    assert pickle.loads(pickle.dumps(escaped)).fingerprint == escaped.fingerprint


@pytest.mark.parametrize(
    ("grammar", "feature"),
    [
        (lambda: Grammar.builtin("json_pretty").escaped(), "escaped indentation"),
        (lambda: Grammar.from_lark('start: "a"', use_bytes=True), "use_bytes"),
        (lambda: Grammar.from_lark('start: "a"', g_regex_flags=2), "g_regex_flags"),
        (lambda: Grammar.from_lark("start: /(?P<PARAGRAPH_TOKEN>)/", extensions=True), "token labels"),
        (lambda: Grammar.builtin("json") & RegularSet.from_regex("[ -~]*"), "regular-set"),
        (lambda: Grammar.from_lark('start: "a" B\nB: /(?<!a)b/'), "escaped"),
    ],
)
def test_what_is_refused(grammar: object, feature: str) -> None:
    assert callable(grammar)
    with pytest.raises(UnsupportedGrammarError) as raised:
        grammar().escaped()
    assert raised.value.feature == feature


def test_blanks_around_the_hole_are_refused() -> None:
    with pytest.raises(UnsupportedGrammarError, match="quotes=True"):
        Grammar.compose('start: "\\"" h "\\""\n%ignore " "', h=Grammar.from_lark('start: "a"\n%ignore " "').escaped())
    with pytest.raises(UnsupportedGrammarError, match="nobody knows where it ends"):
        Grammar.compose('start: "\\"" h " b\\""', h=Grammar.from_lark('start: "a"\n%ignore " "').escaped())
    with pytest.raises(UnsupportedGrammarError, match="escaped texts"):
        Grammar.from_lark('start: "a"').escaped().to_lark()
    with pytest.raises(ValueError, match="notation"):
        Grammar.from_lark('start: "a"').escaped("xml")  # type: ignore[arg-type]


@pytest.mark.parametrize("escapes", ESCAPES)
def test_a_set_with_its_quotes(escapes: Escapes) -> None:
    words = RegularSet.from_choices(['a"b', "\\", "é", ""])
    quoted = words.escaped("json", escapes=escapes, quotes=True)
    assert quoted == '"' + words.escaped("json", escapes=escapes) + '"'
    assert all(json.dumps(word, ensure_ascii=escapes == "ascii") in quoted for word in ['a"b', "\\", "é", ""])


def test_half_of_a_surrogate_pair_is_in_no_text() -> None:
    grammar = Grammar.from_lark(r"start: /(?s:.)+/").escaped("json", escapes="any")
    assert grammar.accepts(r"\ud83d\ude00")
    assert not grammar.accepts(r"\ud83d")


@pytest.mark.parametrize("quotes", [None, 1, "no"])
def test_quotes_are_asked_for_or_not(quotes: Any) -> None:
    for one in (Grammar.from_lark('start: "a"'), RegularSet.from_choices(["a"])):
        with pytest.raises(TypeError, match="quotes must be True or False"):
            one.escaped("json", quotes=quotes)
