"""What `Matcher.explain` says to people; the small-world tests hold its answers against the definition."""

from __future__ import annotations

import pickle
from typing import ClassVar

import pytest
from lark.indenter import Indenter

import pdacon
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Machine, misplaced_line
from pdacon.regular.ordered import patterns

BYTES = [bytes([b]) for b in range(256)]
EOS, NONE = 256, 257
VOCABULARY = pdacon.Vocabulary.from_tokens([*BYTES, None, None, b'": ', b"true"], eos_ids=[EOS])


@pytest.fixture(scope="module")
def json() -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("json"), VOCABULARY)


def after(text: bytes, grammar: str, **options: str) -> pdacon.Matcher:
    matcher = pdacon.compile(pdacon.Grammar.from_lark(grammar, **options), VOCABULARY).matcher()
    assert matcher.accept_bytes(text)
    return matcher


@pytest.mark.parametrize(
    ("text", "asked", "reason"),
    [
        (b'{"a": [12', ord("x"),
         '"x" cannot continue NUMBER "12", nor begin what can follow it; expected "," or "]"'),
        (b'{"a": [12', 258,
         """'"' cannot continue NUMBER "12", nor begin what can follow it; expected "," or "]\""""),
        (b'{"a": [12', b"]}]", 'the parser does not take "]" here; expected the end'),
        (b'{"a": [12', EOS, 'the text cannot end here; expected "," or "]"'),
        (b'["ab', ord("\n"),
         """"\\n" cannot continue STRING '"ab', which began at line 1, column 2, and is not finished"""),
        (b'["ab', EOS, """the text cannot end here: STRING '"ab' is not finished"""),
        (b'["ab', "é".encode(), "some sentence goes on with it"),
        (b"[", b"", 'expected STRING, NUMBER, "false", "null", "true", "{", "[" or "]"'),
        (b"[", b"\xff", '"\\xff" begins nothing that can come here; expected STRING, NUMBER, "false", "null", '
         '"true", "{", "[" or "]"'),
        (b"[]", EOS, "the text may end here"),
        (b"[]", NONE, "it stands for no text; such a token is never allowed"),
    ],
)  # fmt: skip
def test_reasons(json: pdacon.Constraint, text: bytes, asked: int | bytes, reason: str) -> None:
    matcher = json.matcher()
    assert matcher.accept_bytes(text)
    explanation = matcher.explain(asked)
    assert explanation.reason == reason
    allowed = matcher.fork().accept_bytes(asked) if isinstance(asked, bytes) else matcher.is_allowed(asked)
    assert explanation.allowed == allowed
    assert matcher.explain(asked) == explanation


@pytest.mark.parametrize(
    ("text", "grammar", "options", "asked", "reason"),
    [
        (b"", 'start: A B\nA: "a"\nB: "b"', {"lexer": "basic"}, b"b",
         'the lexer takes "b" for B, which the parser does not take here; expected A'),
        (b"if", 'start: "if" NAME "," NAME\nNAME: /[a-z]+/\n%ignore " "', {"lexer": "basic"}, b"i",
         'the lexer reads "ifi" as NAME, which the parser does not take here; expected " "; did you mean "if"?'),
        (b"/*z", 'start: (S|C|A|Z)*\nS: "/"\nA: "*"\nZ: "z"\nC: /\\/\\*z*?\\*\\//',
         {"lookahead": "commit", "conflicts": "shift"}, b"/",
         '"/" could come here, but lookahead="commit" gives such texts up'),
        (b"/*", 'start: (S|C|A|Z)*\nS: "/"\nA: "*"\nZ: "z"\nC: /\\/\\*(.|\\n)*?\\*\\//',
         {"lookahead": "commit", "conflicts": "shift"}, EOS,
         'the text could end here, but lookahead="commit" gives such texts up'),
        (b"\xc3", 'start: "é" "b"', {}, b"b", '"b" cannot continue "\\xc3" (of "é")'),
        (b"ab", "start: (NAME|INT)+\nNAME: /[a-z]+\\b/\nINT: /[0-9]+/", {}, b"1",
         '"ab1" is no NAME: it would end after "ab", where "1" must not follow'),
        (b"i", "start: NAME INT\nNAME: /(?!if)[a-z]+/\nINT: /[0-9]+/", {}, b"f",
         '"if" is no NAME: it would end after "i", where "f" must not follow'),
    ],
)  # fmt: skip
def test_reasons_that_json_does_not_have(
    text: bytes, grammar: str, options: dict[str, str], asked: int | bytes, reason: str
) -> None:
    explanation = after(text, grammar, **options).explain(asked)
    assert not explanation.allowed
    assert explanation.reason == reason


def test_a_vocabulary_may_be_the_reason() -> None:
    grammar = pdacon.Grammar.from_lark('start: "a" ("b" | "c" "d")')
    vocabulary = pdacon.Vocabulary.from_tokens([b"a", b"b", b"c"])
    matcher = pdacon.compile(grammar, vocabulary).matcher()
    assert matcher.accept_token(0)
    explanation = matcher.explain(2)
    assert (explanation.allowed, explanation.viable) == (False, 1)
    assert "no tokens of this vocabulary" in explanation.reason


def test_all_that_is_known(json: pdacon.Constraint) -> None:
    matcher = json.matcher()
    assert matcher.accept_bytes(b'{"a": [1,\n"b')
    explanation = matcher.explain(b'", tr:')
    assert (explanation.viable, explanation.line, explanation.column) == (5, 2, 8)
    assert explanation.lexeme == b"tr"
    assert explanation.unfinished == ('"true"',)
    assert explanation.expected == ()
    assert explanation.wanted == ('"true"',)
    assert [str(cut) for cut in explanation.cuts] == ["STRING '\"b\"'", '","', 'WS " " (ignored)']
    assert explanation.stack == ('"{"', "STRING", '":"', '"["', "value", '("," value)+', '","')
    assert explanation.rules == ('("," value)+: ("," value)+ "," • value',)
    assert explanation.within == ("array", "pair", "object")
    assert str(explanation) == explanation.render()
    assert pickle.loads(pickle.dumps(explanation)) == explanation
    assert (
        explanation.render()
        == """\
<text>:2:8: error: ":" cannot continue "tr" (of "true")
  2 | "b", tr:
    |        ^
  reading:  "tr"  as  "true"
  expected: (only the rest of it)
  lexemes:  STRING '"b"'  ","
  parsing:  ("," value)+: ("," value)+ "," • value
  within:   object > pair > array
  stack:    "{"  STRING  ":"  "["  value  ("," value)+  ","
"""[:-1]
    )


def test_in_full() -> None:
    rules = "".join(f'r{n}: "a" "{n}"\n' for n in range(5))
    matcher = after(b"a ", f'start: {"|".join(f"r{n}" for n in range(5))}\n{rules}%ignore " "')
    short, full = matcher.explain(b"6").render(), matcher.explain(b"6").render(full=True)
    assert short.count("parsing:") == 4
    assert "(2 more)" in short
    assert full.count("parsing:") == 5
    assert "expected:" not in short
    assert "expected:" in full


def test_a_whole_text(json: pdacon.Constraint) -> None:
    assert json.matcher().explain(b"[1]").reason == "it is a whole text"
    assert json.matcher().explain(b"[1").reason == "some sentence goes on with it"


def test_a_long_story_is_cut_short(json: pdacon.Constraint) -> None:
    matcher = json.matcher()
    assert matcher.accept_bytes(b"[" * 1000 + b'"' + b"a" * 1000)
    explanation = matcher.explain(b"\n")
    assert len(explanation.stack) == 1000
    assert len(explanation.lexeme) == 1001
    assert len(explanation.render().splitlines()) < 15
    assert max(map(len, explanation.render().splitlines())) <= 100


class Blocks(Indenter):
    NL_type = "_NL"
    OPEN_PAREN_types: ClassVar[list[str]] = []
    CLOSE_PAREN_types: ClassVar[list[str]] = []
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


class FourColumns(pdacon.FixedWidthIndenter, Blocks):
    pass


BLOCKS = 'start: stmt+\nstmt: "if" _NL _INDENT stmt+ _DEDENT | "a" _NL\n_NL: /(\\n[ \\t]*)+/\n%declare _INDENT _DEDENT'


@pytest.mark.parametrize(
    ("text", "rest", "reason"),
    [
        (b"if\n   ", b"a", "this line is indented by 3 columns; a block has to begin here, indented by 4"),
        (b"if\n", b"a", "this line is indented by 0 columns; a block has to begin here, indented by 4"),
        (b"if\n    a\n  ", b"a", "this line is indented by 2 columns; here a line can be indented by 0 or 4"),
        (b"if\n    if\n   ", b"  a", "this line is indented by 5 columns; a block has to begin here, indented by 8"),
        (b"if\n    a\n\t", b"a", "this line is indented by 8 columns; here a line can be indented by 0 or 4"),
        (b"a\n ", b"a", "this line is indented by 1 column; here a line has to be indented by 0"),
        (
            b"if\n    ",
            b"=",
            '"=" cannot continue _NL "\\n    ", nor begin what can follow it; expected "if" or "a"',
        ),
        (b"if\n", None, "the text cannot end here: a block has to begin here, indented by 4"),
    ],
)
def test_a_line_that_begins_where_none_of_fixed_width_can(text: bytes, rest: bytes | None, reason: str) -> None:
    matcher = after(text, BLOCKS, postlex=FourColumns())
    assert matcher.explain(256 if rest is None else rest).reason == reason


@pytest.mark.parametrize(
    ("newline", "text", "rest", "line"),
    [
        (r"/(\n[ \t]*)+/", b"if\n   a\n ", b"a", (1, True, (0, 3), None)),
        (r"/(\n[ \t]*)+/", b"a\n  ", b"a", (2, True, (0,), None)),
        (r"/(\n[ \t]*)+/", b"if\n   a\n    ", b"a", (4, True, (0, 3), None)),
        (r"/(\n[ \t]*)+/", b"if\n   if\n  ", b"a", (2, True, (), 4)),
        (r"/(\n[ \t]*)+/", b"if\n", b"a", (0, True, (), 1)),
        (r"/(\n[ \t]*)+/", b"if\n ", b"=", None),
        (r"/\n *\t?/", b"a\n", b"\t ", (None, False, (0,), None)),
        (r"/\n(  )*/", b"if\n  a\n ", b"a", (1, True, (0, 2), None)),
    ],
)
def test_a_line_that_begins_in_a_wrong_column(
    newline: str, text: bytes, rest: bytes, line: tuple[int | None, bool, tuple[int, ...], int | None] | None
) -> None:
    grammar = pdacon.Grammar.from_lark(BLOCKS.replace(r"/(\n[ \t]*)+/", newline), postlex=Blocks())
    configuration = Configuration.initial(Machine(grammar.data, build_tables(grammar.data))).read(text)
    assert configuration is not None
    assert configuration.read(rest) is None
    found = misplaced_line(configuration, text, rest)
    assert (found and (found.column, found.begun, found.columns, found.deeper)) == line


def test_misuse(json: pdacon.Constraint) -> None:
    matcher = json.matcher()
    with pytest.raises(IndexError, match="not in the vocabulary"):
        matcher.explain(260)
    for asked in (True, 1.0, None):
        with pytest.raises(TypeError, match="token id, a str or bytes"):
            matcher.explain(asked)  # type: ignore[arg-type]


def test_what_is_wanted(json: pdacon.Constraint) -> None:
    begin = ("STRING", "NUMBER", '"false"', '"null"', '"true"', '"{"', '"["')
    wanted = {
        b"": begin,
        b" ": begin,
        b"[1": ('","', '"]"'),
        b'["a': ("STRING",),
        b"[fal": ('"false"',),
        b"[]": ("WS",),
    }
    for text, terminals in wanted.items():
        matcher = json.matcher()
        assert matcher.accept_bytes(text)
        assert matcher.explain("").wanted == terminals


def test_nothing_is_asked_about_a_text_that_has_ended(json: pdacon.Constraint) -> None:
    matcher = json.matcher()
    assert matcher.accept(b"[]")
    assert matcher.accept_token(EOS)
    explanation = matcher.explain("")
    assert explanation.allowed
    assert explanation.may_end
    said = "the text so far is a whole text: an end token has ended it; only end tokens may follow"
    assert explanation.render().startswith(said)
    assert not matcher.explain(" ").allowed


def test_repr(json: pdacon.Constraint) -> None:
    matcher = json.matcher()
    assert repr(matcher) == "<Matcher after 0 bytes (the start of the text), in the text>"
    assert matcher.accept_bytes(b"[]")
    assert repr(matcher) == '<Matcher after 2 bytes ("[]"), accepting>'
    assert matcher.accept_token(EOS)
    assert repr(matcher) == '<Matcher after 2 bytes ("[]"), terminated>'


def test_what_leads_nowhere_is_not_expected() -> None:
    """After "if" comes _INDENT only, which nothing makes: neither a space nor a NAME leads to a sentence."""
    grammar = 'start: "if" _INDENT NAME | NAME\nNAME: /[a-z]+/\n%declare _INDENT\n%ignore " "'
    explanation = after(b"if", grammar, conflicts="shift").explain(b" ")
    assert not explanation.allowed
    assert explanation.expected == ()
    assert "NAME" in explanation.unfinished
    assert after(b"ifs", grammar, conflicts="shift").explain(b" ").expected == ('" "',)


@pytest.fixture(scope="module")
def python() -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.builtin("python"), VOCABULARY)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("f'{x'", """"'" cannot continue NAME "x", nor begin what can follow it; expected """),
        ("  x = 1\n", "the first line is indented; it has to begin in its first column"),
        ("else:\n    x", '"else" is ELSE, which the parser does not take here; expected '),
        ("elif x: y", '"elif" is ELIF, which the parser does not take here; expected '),
        ("except: x", '"except" is EXCEPT, which the parser does not take here; expected '),
        ("def else(", '"else" is ELSE, which the parser does not take here; expected NAME'),
        ("for x on y:", '"on" is nothing that can come here; expected IN, ",", ".", "(" or "["'),
        ("1if x else y", '"1if" is no NUMBER: it would end after "1", where "i" must not follow'),
        ("x = 1\nprint('hello)\n",
         """"\\n" cannot continue STRING or STRING_BEFORE_ "'hello)", which began at line 2, column 7, """
         "and is not finished"),
        ("'\\N{GRINNING FACE}'", """"I" cannot continue CHARACTER "GR\""""),
        ("def f(x)\n    return x", 'the line cannot end here; expected "->" or ":"'),
        ("x = 1 +\n", "the line cannot end here; expected STRING, "),
        ("x++\n", "the line cannot end here; expected STRING, "),
    ],
)  # fmt: skip
def test_common_mistakes_in_python(python: pdacon.Constraint, text: str, reason: str) -> None:
    said = python.matcher().explain(text.encode()).reason
    assert said.startswith(reason) if reason.endswith(" ") else said == reason


def test_explaining_lowers_no_pattern_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor has it a limit of its own that a terminal could be too large for."""
    matcher = after(b"if", 'start: ("if" | NAME)+\nNAME: /(?!never)[a-z_0-9]+(?=[^a-z_0-9]|$)/\n%ignore " "')
    monkeypatch.setattr(patterns, "_lowered", lambda *args: pytest.fail(f"{args} is lowered again"))
    assert not matcher.explain(b"?").allowed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grammar", "text", "reason"),
    [
        (
            "sql",
            "SELECT a, FROM t",
            '"FROM" is a keyword here, not NAME, and cannot come; after "," a result is expected, which begins with ',
        ),
        (
            "sql",
            "SELECT * FROM t WHERE =",
            '"=" begins nothing that can come here; after WHERE an expression is expected',
        ),
        ("json", '{"a" lamp}', '"lamp" is nothing that can come here; expected ":"'),
        ("json", '{"a" 1}', '"1" begins nothing that can come here; expected ":"'),
        ("json", "[1] x", '"x" begins nothing that can come here; expected the end'),
        ("json", "{'a': 1}", '"\'a\'" is nothing that can come here; expected STRING or "}"'),
    ],
)
def test_refusals_in_the_author_s_words(grammar: str, text: str, reason: str) -> None:
    """Ignored text is not what is missing, and a word is called by all of it."""
    explanation = pdacon.Grammar.builtin(grammar).explain(text)
    assert explanation.reason.startswith(reason)
    assert "WS" not in explanation.reason


def test_the_empty_text_has_a_verdict() -> None:
    assert str(pdacon.Grammar.builtin("json").explain("")).startswith("the empty text is the beginning of a text: ")
    assert str(pdacon.Grammar.from_lark('start: "a"*').explain("")).startswith("the empty text is a whole text: ")
    matcher = pdacon.compile("json", pdacon.Vocabulary.bytes()).matcher()
    matcher.accept("[1]")
    assert str(matcher.explain("")).startswith("the text so far is a whole text: expected the end")
