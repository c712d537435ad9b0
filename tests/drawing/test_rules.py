"""Railroad diagrams: every rule and every name is in the picture, and loops go where repetitions are."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import lark
import pytest

from pdacon import DrawingError, Grammar, GrammarWarning, RegularSet
from pdacon.grammar.definitions import read_definitions

pytest.importorskip("graphlay")
pytest.importorskip("railroad")

import railroad

from pdacon.drawing import draw_rules
from pdacon.drawing.rules import Diagrams

PYTHON = Path(lark.__file__).parent / "grammars" / "python.lark"
SVG = "{http://www.w3.org/2000/svg}"


def boxes(picture: str) -> dict[str, list[str]]:
    """For each rule what is written in the boxes of its diagram, in order."""
    root = ElementTree.fromstring(picture)
    return {
        group.get("id", "").removeprefix("rule-"): [
            text.text or ""
            for box in group.iter(f"{SVG}g")
            if (box.get("class") or "").split()[:1] in (["terminal"], ["non-terminal"])
            for text in box.iter(f"{SVG}text")
        ]
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "rule"
    }


def test_json_is_whole() -> None:
    assert boxes(draw_rules(Grammar.builtin("json").data)) == {
        "start": ["value"],
        "value": ["object", "array", "STRING", "NUMBER", '"true"', '"false"', '"null"'],
        "object": ['"{"', "pair", '","', '"}"'],
        "pair": ["STRING", '":"', "value"],
        "array": ['"["', "value", '","', '"]"'],
    }


def test_terminals_stand_below_the_rules() -> None:
    picture = draw_rules(Grammar.builtin("json").data)
    assert "WS      /[ \\t\\n\\r]+/  (ignored)" in picture
    assert "Terminals" not in draw_rules(Grammar.builtin("json").data, ["pair"])


def test_what_is_ignored_stands_below_the_rules() -> None:
    picture = draw_rules(Grammar.from_lark('start: "a"\n%ignore /#[^;]*;/\n%ignore " "\n').data)
    assert "%ignore  /#[^;]*;/" in picture
    assert '%ignore  " "' in picture


def test_rules_lead_to_their_diagrams() -> None:
    root = ElementTree.fromstring(draw_rules(Grammar.builtin("json").data, ["value", "object"]))
    links = list(root.iter(f"{SVG}a"))
    assert [link.get("href") for link in links] == ["#rule-object"]
    assert [len(link) for link in links] == [1]
    ids = {element.get("id") for element in root.iter()}
    assert "rule-object" in ids


def test_terminals_say_what_they_match() -> None:
    assert "<title>/-?(0|[1-9]" in draw_rules(Grammar.builtin("json").data)


def test_a_json_schema_shows_its_literals_and_the_patterns_of_its_automata() -> None:
    schema = {"properties": {"a": {"type": "integer", "minimum": 0}}, "required": ["a"], "additionalProperties": False}
    picture = draw_rules(Grammar.from_json_schema({"type": "object", **schema}).data)
    assert boxes(picture)["after"] == ['"{"', """'"a": '""", "INTEGER_MIN_0"]
    assert "INTEGER_MIN_0  /(?:[1-9]" in picture


def items(rule: str) -> str:
    grammar = Grammar.from_lark(f'start: {rule}\na: "a"\nb: "b"\n')
    return re.sub(
        r"(NonTerminal|Terminal|Comment)\('(.*?)'.*?\)",
        r"\2",
        repr(Diagrams().item(read_definitions(grammar.data)[0].expression)),
    )


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("a b", "Sequence(a, b)"),
        ("a | b", "Choice(0, a, b)"),
        ("a?", "Choice(1, Skip(), a)"),
        ("a |", "Choice(1, Skip(), a)"),
        ("a+", "OneOrMore(a, repeat=Skip())"),
        ("a*", "Choice(1, Skip(), OneOrMore(a, repeat=Skip()))"),
        ('a ("," a)*', 'OneOrMore(a, repeat=",")'),
        ('a ("," b a)*', 'OneOrMore(a, repeat=Sequence(b, ","))'),
        ('a ("," b)*', 'Sequence(a, Choice(1, Skip(), OneOrMore(Sequence(",", b), repeat=Skip())))'),
        ("a~3", "OneOrMore(a, repeat=3 times)"),
        ("a~0..2", "Choice(1, Skip(), OneOrMore(a, repeat=1 to 2 times))"),
    ],
)
def test_shapes(rule: str, shown: str) -> None:
    assert items(rule).replace("Choice(0, a, b)", "Choice(0, a, b)") == shown


def test_a_long_sequence_goes_on_in_the_next_line() -> None:
    grammar = Grammar.from_lark("start: " + " ".join(f'"{letter * 20}"' for letter in "abcdefgh"))
    width = float(ElementTree.fromstring(draw_rules(grammar.data)).get("width", "0"))
    assert width < 1200


def test_templates_and_their_uses() -> None:
    grammar = Grammar.from_lark('start: _sep{"a", ","}\n_sep{x, s}: x (s x)*\n')
    picture = draw_rules(grammar.data)
    assert boxes(picture) == {"start": ['_sep{"a", ","}'], "_sep": ["x", "s"]}
    assert ">_sep{x, s}</text>" in picture


@pytest.mark.slow
def test_python_has_all_its_rules() -> None:
    grammar = Grammar.from_file(PYTHON, start="file_input", postlex="python", conflicts="shift")
    assert set(boxes(draw_rules(grammar.data))) == {definition.name for definition in read_definitions(grammar.data)}


def test_no_such_rule() -> None:
    with pytest.raises(DrawingError, match=r"no rule or terminal objekt; did you mean object\?"):
        draw_rules(Grammar.builtin("json").data, ["objekt"])
    with pytest.raises(DrawingError, match=r"no rule or terminal NUMBR; did you mean NUMBER\?"):
        Grammar.builtin("json").draw("NUMBR")


def test_the_end_of_a_cdata_section() -> None:
    grammar = Grammar.from_lark('start: "]]>" "<![CDATA[" CLOSE x{"]]>"}\nx{a}: a\nCLOSE.2: /\\]\\]>x&"/')
    assert boxes(draw_rules(grammar.data))["start"] == ['"]]>"', '"<![CDATA["', "CLOSE", 'x{"]]>"}']


def test_what_follows_is_below_an_optional_item_of_several_lines() -> None:
    """The library takes the height of the last alternative off what hangs below, so that pictures overlapped."""
    words = " ".join(f'"{"word" * 10}{k}"' for k in range(4))
    for rule in (f'({words} "z"+)?', f'("a" | {words} "z"+)'):
        (expression,) = (one.expression for one in read_definitions(Grammar.from_lark(f"start: {rule}\n").data))
        choice = Diagrams().item(expression)
        last = choice.items[-1]
        assert last.height > 0
        below = last.down if choice.default else last.height + last.down
        assert choice.down >= below


def test_what_has_no_text_is_shown_as_such() -> None:
    nothing = RegularSet.from_regex("a") & RegularSet.from_regex("b")
    with pytest.warns(GrammarWarning, match="no text has what needs x"):
        grammar = Grammar.compose('start: "a" | "b" x', x=nothing)
    for picture in (grammar.draw(), Grammar.from_lark('start: "a" | "b" X_HOLE\n%declare X_HOLE').draw()):
        assert ">X_HOLE  (no text is in it)<" in str(picture)
    assert "X_HOLE" in str(grammar.draw("x"))
    with pytest.raises(DrawingError, match="X_HOLE has no pattern: no text is in it"):
        grammar.draw("X_HOLE")


def test_lines_begin_at_the_left() -> None:
    words = " ".join(f'"{"word" * 10}{k}"' for k in range(7))
    (definition,) = read_definitions(Grammar.from_lark(f"start: {words}\n").data)
    stack = Diagrams().item(definition.expression)
    assert isinstance(stack, railroad.Stack)
    assert len({line.width for line in stack.items}) == 1


def test_special_tokens_of_any_language() -> None:
    elements = [{"type": "token", "token": "<think>"}, {"type": "regex", "pattern": "a"}]
    of_tag = Grammar.from_structural_tag({"type": "sequence", "elements": elements})
    of_lark = Grammar.from_lark("start: /(?P<TOKEN><think>)/ A\nA: /a/\n", extensions=True)
    of_llguidance = Grammar.from_llguidance("start: <think> A\nA: /a/\n")
    for grammar in (of_tag, of_lark, of_llguidance):
        assert grammar.draw() == draw_rules(grammar.data)
        picture = draw_rules(grammar.data)
        assert 'class="pdacon"' in picture
        assert "ANON" not in picture
        assert "\\ud800" not in picture
        assert len(re.findall("<text[^>]*>[^<]*&lt;think&gt;", picture)) == 1
    assert ">&lt;think&gt;</text>" in draw_rules(of_llguidance.data)  # as its author writes it
