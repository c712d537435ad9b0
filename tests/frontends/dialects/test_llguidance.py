"""Grammars of llguidance beside the engine itself: the same texts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from llguidance import LLMatcher, LLTokenizer

import pdacon
from pdacon.errors import (
    EmptyLanguageError,
    GrammarSyntaxError,
    GrammarWarning,
    NondeterministicGrammarError,
    PdaconError,
    Span,
    UnsupportedGrammarError,
)
from pdacon.frontends.dialects.llguidance.rust_patterns import RustPatternError, python_pattern
from tests.support.lark_oracle import accepts
from tests.support.llguidance_grammars import KEYWORDS, TOOLS, WRITTEN, random_grammar

_BYTES = LLTokenizer("byte")


def llguidance_accepts(grammar: str, text: str) -> bool:
    """What the engine says."""
    matcher = LLMatcher(_BYTES, grammar, log_level=0)
    assert not matcher.get_error(), matcher.get_error()
    tokens = list(text.encode())
    if matcher.validate_tokens(tokens) < len(tokens):
        return False
    if tokens:
        matcher.consume_tokens(tokens)
    return bool(matcher.is_accepting())


@pytest.mark.parametrize("name", WRITTEN)
def test_accepts_what_llguidance_accepts(name: str) -> None:
    source, texts = WRITTEN[name]
    grammar = pdacon.Grammar.from_llguidance(source)
    said = {text: llguidance_accepts(source, text) for text in texts}
    assert {text: grammar.accepts(text) for text in texts} == said
    assert {*said.values()} == {True, False}


@pytest.mark.parametrize("name", ["calc", "counts", "overlaps"])
def test_stock_lark_means_the_same(name: str) -> None:
    source, texts = WRITTEN[name]
    grammar = pdacon.Grammar.from_llguidance(source)
    assert {text: accepts(grammar, text) for text in texts} == {text: grammar.accepts(text) for text in texts}


@pytest.mark.slow
def test_random_grammars_accept_what_llguidance_accepts(scaled: Callable[[int], int]) -> None:
    compared = accepted = 0
    for seed in range(scaled(30)):
        rng = random.Random(seed)
        source = random_grammar(rng)
        if LLMatcher(_BYTES, source, log_level=0).get_error():
            continue
        try:
            grammar = pdacon.Grammar.from_llguidance(source)
            grammar.accepts("a")
        except PdaconError:
            continue  # refused by name: conflicts, patterns without a text, and what cannot be told apart
        alphabet = "abcabcxy" + (" " if "%ignore" in source else "")
        texts = {"".join(rng.choices(alphabet, k=rng.randint(0, 7))).strip() for _ in range(25)}
        texts |= {text for text in (one.strip() for one in grammar.sample(4, seed=seed)) if len(text) < 12}
        for text in sorted(texts):
            assert grammar.accepts(text) == llguidance_accepts(source, text), (seed, source, text)
            compared += 1
            accepted += grammar.accepts(text)
    assert compared > scaled(30) * 10
    assert accepted > scaled(30) / 2


@pytest.mark.parametrize(
    "source",
    [
        'start: "a" | "a"',
        "start: (A | B) | A A | (B) | B\nA: /a/\nB: /b/",
        "start: A? | A | A B? | A\nA: /a/\nB: /b/",
        'start: x "," x\nx: (A | B | A) -> y\n  | A -> z\n  | B B\nA: /a/\nB: /b/',
        'start: "a  b" | "a b"\n  | "a b" | "a"',
        "start: A? A?\nA: /a/",
        "start: [A] [A | B]\nA: /a/\nB: /b/",
        "start: [[A] B]? A\nA: /a/\nB: /b/",
        "start: E E\nE: /a?/",
    ],
)
def test_equal_alternatives_count_once(source: str) -> None:
    texts = ["", "a", "b", "aa", "ab", "bb", "abb", "bbbb", "a b", "a  b", "a,bb", "b,a", "bb,bbb"]
    grammar = pdacon.Grammar.from_llguidance(source)
    assert [grammar.accepts(text) for text in texts] == [llguidance_accepts(source, text) for text in texts]


@pytest.mark.parametrize(
    "pattern",
    [
        r"[[:alpha:]&&[^aeiou]]+",
        r"[\w--\d]+",
        r"[a-f~~d-k]",
        r"\p{Lu}\pL*",
        r"\P{Letter}",
        r"(?i)straße|K",
        r"(?i:[^a])b",
        r"a(?i)b|c",
        r"(?s).(?-s:.)",
        r"x{2,}y{0,1}z{3}",
        r"a++",
        r"\x41\u{1F600}\x{e9}[\u0041-\u0043]",
        r"(?P<one>a)(?<two>b)",
        r"[]a]|[^]a]b",
        r"[a\-z&~]",
        r"\s\d",
        r"[[:^digit:]]\/",
        r".",
    ],
)
def test_patterns_of_rust(pattern: str) -> None:
    texts = [
        "",
        "a",
        "b",
        "ab",
        "aB",
        "Ab",
        "AB",
        "ac",
        "aC",
        "c",
        "C",
        "bcd",
        "d",
        "k",
        "é",
        "1",
        "9_",
        "x1",
        "\u0663",
        "\u0301",
    ]
    texts += [
        "Éa",
        "STRAẞE",
        "straße",
        "strasse",
        "\u212a",
        "k",
        "xxz",
        "xxzzz",
        "xxxyzzz",
        "aa",
        "A\U0001f600éB",
        "]",
        "]b",
    ]
    texts += [
        "cb",
        "-",
        "&",
        "~",
        "z",
        "\x85\u0663",
        "\u200b1",
        " 1",
        "\x1c1",
        "a/",
        "1/",
        "\n",
        "\r",
        "\n\n",
        "a\n",
        "\n.",
    ]
    ours = pdacon.RegularSet.from_regex(python_pattern(pattern.replace(r"\/", "/"), ""))
    source = f"start: /{pattern}/"
    assert [text for text in texts if text in ours] == [text for text in texts if llguidance_accepts(source, text)]


@pytest.mark.parametrize(
    "pattern", ["^a", "a$", r"a\b", "a*?", "(?=a)", "(?!a)b", "(?<=a)b", "a)", "(a", "[a", "a{", "*", r"\q"]
)
def test_patterns_that_cannot_be_had(pattern: str) -> None:
    with pytest.raises(RustPatternError):
        python_pattern(pattern, "")


@pytest.mark.parametrize(
    ("source", "error", "place", "message"),
    [
        ("rule: A", GrammarSyntaxError, (1, 1), "derived from the rule start, and there is none"),
        ("start: a\na: b", GrammarSyntaxError, (2, 4), "b is not defined"),
        ("start: NAM\nNAME: /a/", GrammarSyntaxError, (1, 8), "did you mean NAME?"),
        ("start: A\nA: b\nb: /a/", GrammarSyntaxError, (2, 4), "a terminal cannot use the rule b"),
        ("start: A\nA: B\nB: A", GrammarSyntaxError, (3, 4), "the terminal A contains itself"),
        ("start: a\na: /x/\na: /y/", GrammarSyntaxError, (3, 1), "a is defined already, in line 2"),
        ("start: /a", GrammarSyntaxError, (1, 8), "this pattern has no end"),
        ("start: 'a'", GrammarSyntaxError, (1, 8), "the name of a rule or a terminal is expected"),
        ('start: "a" & "b"', GrammarSyntaxError, (1, 8), "& joins terminals only"),
        ('start: A\nA: "a" <|end|>', GrammarSyntaxError, (2, 8), "cannot stand in a terminal"),
        ("start: /a/{3,2}", GrammarSyntaxError, (1, 11), "is never"),
        ("start[lazzy]: /a/", GrammarSyntaxError, (1, 7), "did you mean lazy?"),
        ("%ignre /a/\nstart: /b/", GrammarSyntaxError, (1, 1), "did you mean %ignore?"),
        ("start: %json {", GrammarSyntaxError, (1, 15), "JSON is expected"),
        ("%import python.NAME\nstart: NAME", GrammarSyntaxError, (1, 9), "only %import common"),
        ("%import common.INTT\nstart: INTT", GrammarSyntaxError, (1, 16), "did you mean INT?"),
        ('start[stop="x"]: /a/', UnsupportedGrammarError, (1, 7), "write suffix="),
        ("start[max_tokens=3]: /a/", UnsupportedGrammarError, (1, 7), "matcher(budget=...)"),
        ("start: <[^12-14]>", UnsupportedGrammarError, (1, 8), "tokens by number"),
        ("start: @inner", UnsupportedGrammarError, (1, 8), "Grammar.compose"),
        ('start: %lark { start: "a" }', UnsupportedGrammarError, (1, 8), "Grammar.compose"),
        ("start: a::1\na::_: /a/", UnsupportedGrammarError, (1, 8), "parameters"),
        ("start: /^a/", UnsupportedGrammarError, (1, 8), "anchors"),
        ('%llguidance {"ignore_once": true}\nstart: /a/', UnsupportedGrammarError, (1, 1), "ignore_once"),
        ("start: A\nA: /a/ & /b/", EmptyLanguageError, (1, 8), "no text is in A"),
        ("start: WORD+\nWORD: / ?[a-z]+/\n%ignore / /", GrammarSyntaxError, None, ""),
        ("start: TEXT+\nTEXT: /[a-z ]+/\n%ignore / +/", UnsupportedGrammarError, (2, 1), "is ignored, and TEXT can be"),
        (
            'start: end "x" | TEXT "y" TEXT\nend[lazy]: /[a-z]*!/\nTEXT: /[a-z!]+/',
            UnsupportedGrammarError,
            (3, 1),
            "two terminals",
        ),
    ],
)
def test_refusals(source: str, error: type[PdaconError], place: tuple[int, int] | None, message: str) -> None:
    if place is None:
        assert pdacon.Grammar.from_llguidance(source).accepts("ab cd")
        return
    with pytest.raises(error) as refused:
        pdacon.Grammar.from_llguidance(source, source_path="my.lark")
    assert message in str(refused.value)
    span = getattr(refused.value, "span", None)
    assert span is not None
    assert (span.line, span.column) == place


@pytest.mark.slow
def test_places_and_names_are_the_authors() -> None:
    grammar = pdacon.Grammar.from_llguidance(KEYWORDS, source_path="my.lark")
    names = {one.name: one for one in grammar.data.terminals}
    assert names["NAME"].span is not None
    assert (names["NAME"].span.line, names["NAME"].span.column) == (4, 1)
    assert (names["INT"].span or names["NAME"].span).line >= 4 if "INT" in names else True
    said = str(grammar.explain("If = 3;"))
    assert 'lexemes:  "if"i "If"' in said
    assert "expected NAME" in said
    assert str(grammar.explain("<").reason).startswith('"<" begins nothing')
    assert grammar.data.source == KEYWORDS
    assert repr(grammar).startswith("<Grammar my.lark")


def test_a_keyword_is_no_name_here() -> None:
    """The one difference in which texts are lost: llguidance follows both readings."""
    grammar = pdacon.Grammar.from_llguidance(KEYWORDS)
    assert not grammar.accepts("call = 1;")
    assert llguidance_accepts(KEYWORDS, "call = 1;")


def test_made_up_names_are_not_the_authors() -> None:
    source = (
        'start: p1 | T1 P1 | /[0-9]+/ P2 | /[0-9a-f]+/ IMAGE | TEXT_UNTIL\np1: "(" T1 ")"\nT1: /x+/\nP1: "!"\nP2: "?"\n'
    )
    source += "IMAGE: /[;:]/\nTEXT_UNTIL: /~+/\n"
    texts = ["(x)", "xx!", "12?", "12;", "1a:", "1a?", "~~", "x?", "!"]
    grammar = pdacon.Grammar.from_llguidance(source)
    assert {text: grammar.accepts(text) for text in texts} == {text: llguidance_accepts(source, text) for text in texts}


def test_conflicts_are_told_in_the_authors_lines() -> None:
    source = '%llguidance {}\nstart: expr\nexpr: expr "+" expr | /[0-9]+/\n'
    with pytest.raises(NondeterministicGrammarError) as refused:
        pdacon.compile(pdacon.Grammar.from_llguidance(source), pdacon.Vocabulary.bytes())
    assert 'expr: expr "+" expr | /[0-9]+/' in refused.value.report.render()


def test_special_tokens_and_schemas_in_rules() -> None:
    source = r"""%llguidance {}
start: /[a-z]+/ | <|call|> %json {
  "type": "object",
  "properties": {"a": {"type": "integer"}},
  "required": ["a"]
} "."
"""
    grammar = pdacon.Grammar.from_llguidance(source)
    vocabulary = pdacon.Vocabulary.from_tokens(
        [*(bytes([byte]) for byte in range(256)), None, None], eos_ids=[257]
    ).with_special_tokens({"<|call|>": 256})
    constraint = pdacon.compile(grammar, vocabulary)
    matcher = constraint.matcher()
    assert matcher.accept_token(256)
    assert matcher.accept('{"a": 12}.')
    assert matcher.is_accepting()
    assert not constraint.matcher().accept('{"a"')
    assert constraint.matcher().accept("abc")


def test_files_and_texts_that_say_so_are_taken_as_such(tmp_path: Path) -> None:
    path = tmp_path / "tools.lark"
    path.write_text("// calls of tools\n%llguidance {}\n" + TOOLS, encoding="utf-8")
    assert pdacon.Grammar.from_file(path).data.language == "llguidance"
    with pytest.raises(GrammarSyntaxError, match="from_llguidance"):
        pdacon.Grammar.from_lark(path.read_text(encoding="utf-8"))


def test_a_terminal_without_any_text_is_a_branch_that_cannot_be() -> None:
    with pytest.warns(GrammarWarning, match=r"<grammar>:1:14: no text is in T; so no text has what needs it"):
        grammar = pdacon.Grammar.from_llguidance('start: "1" | T "a" | "x" T* | b\nb: T+\nT: /ab/ & /c/')
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    assert [text for text in ("1", "a", "x", "aba", "xab", "ca", "") if constraint.accepts(text)] == ["1", "x"]


def test_places_are_those_of_the_text() -> None:
    """What a rule consists of is as long as its author wrote it, whatever it becomes."""
    source = 'start: item{2,3} <|tool|> /[a-z]+/ "end"\nitem: "a" | [/b/] "c"\n'
    grammar = pdacon.Grammar.from_llguidance(source)

    def stands_there(span: Span | None) -> str:
        assert span is not None
        return source.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]

    places = {one.literal: stands_there(one.span) for one in grammar.data.terminals}
    assert places == {text: text for text in ("<|tool|>", "/[a-z]+/", '"end"', '"a"', "/b/", '"c"')}
    alternatives = {stands_there(production.span) for production in grammar.data.productions}
    assert alternatives == {'item{2,3} <|tool|> /[a-z]+/ "end"', '"a"', '[/b/] "c"'}


def test_names_and_aliases_that_lark_reserves() -> None:
    grammar = pdacon.Grammar.from_llguidance('start: __a* _b\n__a: "x"\n_b: "y" -> c\n__start_star_0: "z"\n')
    assert {text for text in ("y", "xy", "xxy", "z", "xz") if grammar.accepts(text)} == {"y", "xy", "xxy"}
    assert accepts(grammar, "xxy")


def test_a_schema_in_a_rule_that_nothing_uses() -> None:
    grammar = pdacon.Grammar.from_llguidance('start: "x"\nother: %json {"type": "null"}\n')
    assert grammar.accepts("x")
    assert [one.name for one in grammar.data.unused] == ["other"]


def test_a_schema_is_called_what_it_is_where_it_cannot_end() -> None:
    source = 'start: %json {"type": "integer", "minimum": 5} rest\nrest: /[0-9]/\n'
    with pytest.raises(UnsupportedGrammarError) as caught:
        pdacon.Grammar.from_llguidance(source)
    assert str(caught.value).startswith('<grammar>:1:8: %json {"type": "integer", "minimum": 5} may go on where')


def test_values_of_a_text_with_a_schema() -> None:
    grammar = pdacon.Grammar.from_llguidance('?start: "x" %json {"type": "integer"} item+\nitem: /[a-z]+;/ | ","\n')
    tree = pdacon.compile(grammar, pdacon.Vocabulary.bytes()).parse("x12ab;,")
    assert [child if isinstance(child, int) else list(map(str, child.children)) for child in tree.children] == [
        12,
        ["ab;"],
        [],
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 2000, 2001])
def test_negations_of_negations(count: int) -> None:
    grammar = pdacon.Grammar.from_llguidance(f"start: T\nT: {'~' * count}/a/")
    assert grammar.accepts("a") == (count % 2 == 0)
    assert grammar.accepts("b") == (count % 2 == 1)
