"""Grammars in the holes of others: examples, what is refused by name, and whose words messages use."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import lark
import pytest

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.errors import (
    EmptyLanguageError,
    GrammarSyntaxError,
    GrammarWarning,
    UnsupportedGrammarError,
    UnsupportedSchemaError,
)

WORDS = 'start: A+\nA: "a"\n%ignore " "'
PERSON = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}


@pytest.mark.slow
def test_a_fence_ends_the_code_in_it() -> None:
    grammar = Grammar.compose('start: "Query:\\n```sql\\n" code "\\n```" REST?\nREST: /\\n[^`]+/', code="sql_select")
    query = "Query:\n```sql\nSELECT a FROM t{}\n```"
    assert grammar.accepts(query.format(""))
    assert grammar.accepts(query.format("\n\n  "))
    assert grammar.accepts(query.format(" -- all\n") + "\nThat is it.")
    assert not grammar.accepts(query.format("").replace("\n```", "```", 2))
    assert not grammar.accepts("Query: \n```sql\nSELECT a\n```")  # nothing is ignored out there
    assert not grammar.accepts(query.format(" FROM"))
    assert all(grammar.accepts(text) for text in grammar.sample(5, seed=3))
    matcher = pdacon.compile(grammar, pdacon.Vocabulary.bytes()).matcher()
    assert matcher.accept("Query:\n```sql\nSELECT a FROM t\n``")
    assert matcher.accept("`")
    assert matcher.is_accepting()


@pytest.mark.parametrize("closer", [" ", "  "])
def test_what_is_ignored_is_no_end(closer: str) -> None:
    """Behind ``a`` a blank would be the end, and ``a a`` lost."""
    with pytest.raises(UnsupportedGrammarError, match="nobody knows where it ends"):
        Grammar.compose(f'start: words "{closer}"', words=Grammar.from_lark(WORDS))


def test_tags_around_the_json_of_a_schema() -> None:
    template = 'start: "<answer>" json "</answer>"\n%import common.WS\n%ignore WS'
    grammar = Grammar.compose(template, json=Grammar.from_json_schema(PERSON))
    assert grammar.accepts(' <answer>\n{"age": 3}\n</answer>\n')
    assert not grammar.accepts('<answer>{"age":  3}</answer>')
    assert not grammar.accepts('<answer>{"age": "3"}</answer>')


def test_thinking_up_to_its_end_and_then_json() -> None:
    thought = ~RegularSet.from_regex("(?s).*</think>.*")
    grammar = Grammar.compose('start: "<think>" thought "</think>" answer', thought=thought, answer="json")
    assert grammar.accepts('<think>1 < 2, </thin, </think ></think> {"a": 1}')
    assert not grammar.accepts("<think>a</think>b</think>{}")
    text = '<think>is it {"a"?</think>'
    assert pdacon.compile(grammar, pdacon.Vocabulary.bytes()).matcher().accept(text + "\n{")


def test_grammars_in_grammars_in_grammars() -> None:
    row = Grammar.compose('start: "[" item ("," item)* "]"', item=Grammar.from_lark(WORDS))
    table = Grammar.compose('start: (row ";")+\n%ignore "\\n"', {"row": row})
    assert [island.name for island in table.data.islands] == ["row", "item"]
    assert table.accepts("[a a, a];\n[a];")
    assert not table.accepts("[a a];[ a] ;")
    assert not table.accepts("[a\na];")


def test_what_takes_a_grammar_may_fill_a_hole(tmp_path: Path) -> None:
    (tmp_path / "words.lark").write_text(WORDS)
    (tmp_path / "outer.lark").write_text('start: "(" h ")"')
    for given in (tmp_path / "words.lark", WORDS, Grammar.from_lark(WORDS)):
        assert Grammar.compose(tmp_path / "outer.lark", h=given).accepts("(a a)")
    assert Grammar.compose('start: "n = " h', h=int).accepts("n = -3")
    outer = Grammar.from_lark('start: "(" H ")" | "x"\n%declare H', start="start")
    assert Grammar.compose(outer, H=RegularSet.from_choices(["a", "bc"])).accepts("(bc)")


def test_values_that_a_type_does_not_enforce_are_named() -> None:
    schema = {**PERSON, "properties": {"age": {"type": "integer", "format": "even"}}}
    inner = Grammar.from_json_schema({**schema, "$comment": "", "uniqueItems": True, "contains": {}}, lax=True)
    grammar = Grammar.compose("start: h", h=inner)
    assert len(grammar.unenforced) == len(inner.unenforced)


def test_equal_files_and_pickles() -> None:
    grammar = Grammar.compose('start: "(" h ")"', h=WORDS)
    assert pickle.loads(pickle.dumps(grammar)) == grammar
    assert grammar.fingerprint == Grammar.compose('start: "(" h ")"', h=WORDS).fingerprint
    assert grammar.fingerprint != Grammar.compose('start: "(" h ")"', h=WORDS.replace('e " "', 'e "b"')).fingerprint
    assert "islands" in pdacon.compile(grammar, pdacon.Vocabulary.bytes()).to_bytes().decode("latin-1")


def test_findings_are_in_the_words_of_their_author() -> None:
    inner = 'start: x\nx: "if" x | "if" x "else" x | "s"'
    finding = pdacon.check(Grammar.compose('start: "a" h', h=inner)).findings[0]
    assert (finding.id, str(finding.span)) == ("PDA001", "<h>:2:4")
    assert '2 | x: "if" x | "if" x "else" x | "s"' in pdacon.check(Grammar.compose('start: "a" h', h=inner)).render()
    collision = pdacon.check(Grammar.compose("start: h A\nA: /[ab]/", h="start: B+\nB: /[ac]/"))
    assert "colliding terminals A and B" in collision.render()
    assert "in <h>:" in collision.render()


@pytest.mark.parametrize(
    ("inner", "feature"),
    [
        (lambda: Grammar.from_lark(WORDS, lexer="basic"), "lexer"),
        (lambda: Grammar.from_lark(WORDS, use_bytes=True), "use_bytes"),
        (lambda: Grammar.from_lark(WORDS, conflicts="shift"), "conflicts"),
        (lambda: Grammar.from_lark(WORDS, lookahead="commit"), "lookahead"),
        (lambda: Grammar.from_lark(WORDS, g_regex_flags=2), "g_regex_flags"),
        (lambda: Grammar.from_lark("start: A\nA: /(?P<IMAGE>)/", extensions=True), "token labels"),
        (lambda: Grammar.from_lark(WORDS) & RegularSet.from_regex("a+"), "regular-set"),
    ],
)
def test_what_cannot_be_put_into_another_grammar_is_refused_by_name(inner: Any, feature: str) -> None:
    with pytest.raises(UnsupportedGrammarError) as raised:
        Grammar.compose('start: "(" h ")"', h=inner())
    assert raised.value.feature == feature
    assert "h: " in str(raised.value)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("start: MY__NUMBER\nMY__NUMBER: / ?[0-9]+/", "first may go on where MY__NUMBER of second begins"),
        ('start: " " NUMBER\nNUMBER: /[0-9]+/', 'first may go on where " " of second begins'),
        ("start: NUMBER\nNUMBER: /[0-9]+/\nBLANKS: /[ ]+/\n%ignore BLANKS", "where BLANKS of second begins"),
    ],
)
def test_a_terminal_of_another_hole_has_its_own_name_in_messages(second: str, said: str) -> None:
    with pytest.raises(UnsupportedGrammarError) as raised:
        Grammar.compose("start: first second", first='start: WORD+\nWORD: /[a-z]+/\n%ignore " "', second=second)
    assert said in str(raised.value)


def test_the_options_of_the_outer_grammar_are_those_of_the_whole() -> None:
    outer = Grammar.from_lark('start: "(" H ")"\n%declare H', conflicts="shift")
    with pytest.raises(UnsupportedGrammarError):
        Grammar.compose(outer, H=Grammar.from_lark(WORDS))
    assert Grammar.compose(outer, H=Grammar.from_lark(WORDS, conflicts="shift")).data.options.conflicts == "shift"
    assert Grammar.compose(outer, H=RegularSet.from_regex("a")).data.options.conflicts == "shift"  # it has no conflicts
    labelled = Grammar.from_lark("start: H PIC\nPIC: /(?P<IMAGE>)/\n%declare H", extensions=True)
    assert len(Grammar.compose(labelled, H=WORDS).data.labels) == 1


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ('start: "a"', "no rule uses h"),
        ('start: h\nh: "a"', "defines h itself"),
        ('start: h\n?h.2: "a"', "defines h itself"),
        ('start: "h" // h', "no rule uses h"),
    ],
)
def test_names_that_are_no_holes(template: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Grammar.compose(template, h=WORDS)


def test_other_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="a grammar for each name"):
        Grammar.compose("start: h")
    with pytest.raises(TypeError, match="a text, a path or a Grammar"):
        Grammar.compose(3, h=WORDS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no name of a rule"):
        Grammar.compose("start: h", {"h h": WORDS})
    with pytest.raises(ValueError, match="several start rules"):
        Grammar.compose("start: h", h=Grammar.from_lark('a: "a"\nb: "b"', start=["a", "b"]))
    with pytest.raises(ValueError, match="is a terminal with a pattern"):
        Grammar.compose(Grammar.from_lark("start: A\nA: /a/"), A=WORDS)
    with pytest.raises(ValueError, match="no rule uses x"):
        Grammar.compose(Grammar.from_lark("start: A\nA: /a/"), x=WORDS)
    inner = Grammar.compose("start: h K\n%declare K", h=WORDS)
    with pytest.raises(UnsupportedGrammarError, match="in it already"):
        Grammar.compose(inner, K=WORDS)
    with pytest.raises(GrammarSyntaxError, match="'k'"):
        Grammar.compose("start: h k", h=WORDS)


def test_stock_lark_has_no_such_thing_as_text_that_is_ignored_in_places() -> None:
    with pytest.raises(UnsupportedGrammarError, match="in h other text is ignored"):
        Grammar.compose('start: "(" h ")"', h=WORDS).to_lark()


def schemas_in(text: str) -> Grammar:
    return Grammar.from_lark(text, extensions=True)


def test_json_schemas_in_lark_text() -> None:
    grammar = schemas_in('start: answer+\nanswer: "result: " %json {"type": "integer"} "."\n')
    assert grammar.accepts("result: 12.result: -3.")
    assert not grammar.accepts("result: 1.5.")
    assert grammar.data.source.count("%json") == 1
    lines = (
        'start: "a: " %json {\n  "type": "object",\n  "properties": {"%json": {"enum": ["x/y", "//"]}}\n} "."\n | "b"'
    )
    assert schemas_in(lines + "\n// %json {\nX: /%json/\n").accepts('a: {"%json": "//"}.')
    assert schemas_in(lines).accepts("b")


def test_a_schema_that_stands_there_twice_is_one() -> None:
    grammar = schemas_in('start: %json {"type": "integer"} "x" | %json {"type":"integer"} "y" | %json {"const": "z"}')
    assert all(map(grammar.accepts, ["1x", "2y", '"z"']))


def test_places_beside_schemas_are_those_of_the_text() -> None:
    text = 'start: %json {\n"type": "boolean"} b\nb: "x" b | "x" b "y" b | "z"'
    finding = pdacon.check(schemas_in(text)).findings[0]
    assert (finding.id, finding.span and finding.span.line) == ("PDA001", 3)
    assert '%json { "type": "boolean" }'.replace(" }", "}") in schemas_in(text).data.describe_production(0)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('start: "a" %json {"type": ', GrammarSyntaxError, "<grammar>:1:12: what follows %json is no JSON"),
        ("start: %json 3", GrammarSyntaxError, "no JSON Schema: 3"),
        ('start: %json {"type": "integer",\n\n"minimum": 1}', GrammarSyntaxError, "an empty line"),
        ('start: X\nX: %json {"type": "integer"}', GrammarSyntaxError, "write %json"),
        ('start: %json {"minimum": "x"}', UnsupportedSchemaError, "no number"),
        ('start: %json {"type": "integer"} %', GrammarSyntaxError, "<grammar>:1:34"),
    ],
)
def test_what_is_wrong_with_a_schema_in_a_text(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        schemas_in(text)
    assert message in str(raised.value)
    assert raised.value.span is not None  # type: ignore[attr-defined]


def test_schemas_need_extensions() -> None:
    with pytest.raises(GrammarSyntaxError):
        Grammar.from_lark('start: %json {"type": "integer"}')


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('start: "x"\n%json {"const": 1}: "y"\n', "<grammar>:2:1: "),
        ('start: "x"\n?%json {"const": 1}.2: "y"\n', "<grammar>:2:2: "),
        ('start: "x" -> %json {"const": 1}\n', "<grammar>:1:15: "),
        ('start: "x"\n%ignore %json {"const": 1}\n', "<grammar>:2:9: "),
        ('start: "x"\n%declare %json {"const": 1}\n', "<grammar>:2:10: "),
        ('start: "x"\n%import %json {"const": 1}\n', "<grammar>:2:9: "),
        ('start: "a"..%json {"const": 1}\n', "<grammar>:1:13: "),
        ('start: "a"~%json {"const": 1}\n', "<grammar>:1:12: "),
        ('start: a\na.%json {"const": 1}: "x"\n', "<grammar>:2:3: "),
        ('start: T\nT: "x"\n | %json {"const": 1}\n', "<grammar>:3:4: "),
    ],
)
def test_a_schema_where_no_rule_may_stand(text: str, place: str) -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        schemas_in(text)
    assert str(caught.value).startswith(f"{place}%json has the values of a schema, which only a rule can have")


def test_parts_of_an_inner_grammar_are_called_what_they_are_parts_of() -> None:
    inner = Grammar.from_lark('start: "a"\n%ignore "-"')
    composed = Grammar.compose('start: "<" code ">"\n%ignore /[ ]/', code=inner)
    described = {composed.data.describe_production(k) for k in range(len(composed.data.productions))}
    assert {"code: code", "code: code /[ ]/"} <= described
    schema = schemas_in('start: "<" %json {"type": "integer"} ">"\n%ignore /[ ]/\n')
    assert 'start: "<" %json {"type": "integer"} ">"' in {
        schema.data.describe_production(k) for k in range(len(schema.data.productions))
    }
    assert not any("j000_" in schema.data.describe_production(k) for k in range(len(schema.data.productions)))


def test_alternatives_that_a_schema_makes_equal_are_told_in_the_authors_words() -> None:
    with pytest.raises(GrammarSyntaxError, match=r"^<grammar>:1:1: .*<start : %json {\"const\": 1}> ") as caught:
        schemas_in('start: [%json {"const": 1}] [%json {"const": 1}]\n')
    assert "j000" not in str(caught.value)


@pytest.mark.parametrize("holes", [{3: "json"}, [("b", "json")]])
def test_holes_are_a_mapping_of_names(holes: Any) -> None:
    with pytest.raises(TypeError, match="holes is a mapping of names to grammars"):
        Grammar.compose('start: "a" b', holes)


def test_a_hole_is_given_once() -> None:
    with pytest.raises(ValueError, match="compose: b is given twice"):
        Grammar.compose('start: "a" b', {"b": "json"}, b="json")


def test_a_hole_without_any_text_is_a_branch_that_cannot_be() -> None:
    nothing = RegularSet.from_regex("ab") & RegularSet.from_regex("c")
    with pytest.warns(GrammarWarning, match="compose: h: no text is in .*; so no text has what needs h"):
        grammar = Grammar.compose('start: "1" | h "a" | "(" k ")"', h=nothing, k="json")
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    assert [text for text in ("1", "a", "aba", "ca", "([])") if constraint.accepts(text)] == ["1", "([])"]
    with pytest.warns(GrammarWarning, match="no text has what needs h"):
        grammar = Grammar.compose("start: h", h=nothing)
    with pytest.raises(EmptyLanguageError):
        pdacon.compile(grammar, pdacon.Vocabulary.bytes())


def test_a_branch_that_cannot_be_is_printed_as_such() -> None:
    nothing = RegularSet.from_regex("a") & RegularSet.from_regex("b")
    with pytest.warns(GrammarWarning, match="no text has what needs x"):
        grammar = Grammar.compose('start: "a" | "b" x "c"', x=nothing)
    printed = lark.Lark(grammar.to_lark(), **grammar.lark_options)
    printed.parse("a")
    for text in ("b", "bc", "bac", "c"):
        with pytest.raises(lark.exceptions.UnexpectedInput):
            printed.parse(text)
    (finding,) = pdacon.check(grammar).findings
    assert (finding.id, finding.symbols) == ("PDA009", ("X_HOLE",))
    assert finding.message.startswith("No text is in it: ")
    assert "postlex" not in finding.message + str(finding.repair)


def test_control_characters_of_patterns_are_printed_as_escapes() -> None:
    """Lark takes no NUL that is written in a pattern, and reads a carriage return as a line break."""
    inner = Grammar.from_lark("start: A\nA: /" + r"[\x00\r]\n/")
    grammar = Grammar.compose('start: "<" hole ">"', hole=inner)
    printed = lark.Lark(grammar.to_lark(), **grammar.lark_options)
    for text in ("<\0\n>", "<\r\n>"):
        printed.parse(text)
    with pytest.raises(lark.UnexpectedInput):
        printed.parse("<\n\n>")
