"""Terminals that list their texts, and what a refusal says of a word that is none of them."""

from __future__ import annotations

import re
from itertools import product

import pytest

import pdacon
from pdacon import Grammar
from pdacon.matching.listed import ListedTexts

EVERY_BYTE = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
ORDERS = """
start: order ("," order)* "."
order: COUNT SIZE? DRINK
COUNT: /[1-9][0-9]?/
SIZE: "small" | "large"
DRINK: "tea" | "coffee" | "iced" " " "coffee"
%ignore " "
"""
SCHEMA = {"singer": ["singer_id", "name", "age", "first name"], "concert": ["concert_id", "singer_id", "year"]}


@pytest.mark.parametrize(
    "pattern",
    [
        "ab|ba|b",
        "(?:a|b)c?",
        "a(?=b)|bb(?!a)",
        "(a|ab)(c|bc)",
        "[abc]",
        "(?>a|b)c",
        "a{0,1}b",
        "(?i:ab|C)",
        "a|",
        r"\.a",
    ],
)
def test_what_is_listed_is_what_matches(pattern: str) -> None:
    grammar = pdacon.Grammar.from_lark(f'start: "x" WORD\nWORD: /{pattern}/\n') if pattern != "a|" else None
    if grammar is None:
        grammar = pdacon.Grammar.from_lark('start: "x" WORD\nWORD: /(?:a|)b/\n')
        pattern = "(?:a|)b"
    (terminal,) = (at for at, terminal in enumerate(grammar.data.terminals) if terminal.name == "WORD")
    found = set(ListedTexts(grammar.data).of(terminal))
    bare = re.compile(re.sub(r"\(\?[=!][^)]*\)", "", pattern))  # what has to follow is not part of a text
    texts = {"".join(some) for length in range(5) for some in product("abcC.", repeat=length)}
    assert {text.lower() for text in texts if bare.fullmatch(text)} == {text.lower() for text in found}


@pytest.mark.parametrize("pattern", ["[a-z]b", "ab*", "a{2}", "a.", r"\d", "[^a]", "(?:a|b[0-9])"])
def test_what_is_no_list(pattern: str) -> None:
    grammar = pdacon.Grammar.from_lark(f"start: WORD\nWORD: /{pattern}/\n")
    assert ListedTexts(grammar.data).of(0) == ()


def reason(constraint: pdacon.Constraint, text: str) -> str:
    return constraint.matcher().explain(text.encode()).reason


@pytest.fixture(scope="module")
def orders() -> pdacon.Constraint:
    return pdacon.compile(pdacon.Grammar.from_lark(ORDERS), EVERY_BYTE)


@pytest.fixture(scope="module")
def schema() -> pdacon.Constraint:
    return pdacon.compile(Grammar.from_sql_schema(SCHEMA), EVERY_BYTE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "2 large tee.",
            '"tee" is not listed here (did you mean "tea"?): DRINK is "coffee", "iced coffee" or "tea"',
        ),
        (
            "1 lagre tea.",
            '"lagre" is not listed here (did you mean "large"?): SIZE is "large" or "small"; DRINK is "coffee", '
            '"iced coffee" or "tea"',
        ),
        ("1 ~", '"~" begins nothing that can come here; expected DRINK or SIZE'),
        ("1 teas.", '"s" begins nothing that can come here; expected "," or "."'),
        ("1 5", '"5" begins nothing that can come here; expected DRINK or SIZE'),
    ],
)
def test_words_that_are_not_listed(orders: pdacon.Constraint, text: str, said: str) -> None:
    assert reason(orders, text) == said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "word", "meant", "lists"),
    [
        ("SELECT agee FROM singer", "agee", "age", "COLUMN_NAME"),
        ("SELECT nickname FROM singer", "nickname", "name", "COLUMN_NAME"),
        ("SELECT singer.yaer FROM singer", "singer.yaer", None, "QUALIFIED_COLUMN"),
        ("SELECT concert.yaer FROM singer", "concert.yaer", "concert.year", "QUALIFIED_COLUMN"),
        ('SELECT "concert".yaer FROM singer', '"concert".yaer', '"concert".year', "QUALIFIED_COLUMN"),
        ("SELECT * FROM singers", "singers", "singer", "TABLE_NAME"),
        ("SELECT * FROM elsewhere", "elsewhere", None, "TABLE_NAME"),
        ("SELECT T1.naem FROM singer AS T1", "naem", "name", "COLUMN_NAME"),
        ("SELECT `nam` FROM singer", "nam", "name", "COLUMN_NAME"),
        ("SELECT cuont(*) FROM singer", "cuont", "count", "FUNCTION"),
        ("SELECT name FROM singer ORDER BY\n  agee", "agee", "age", "COLUMN_NAME"),
        ("SELECT name COLLATE nocas FROM singer", "nocas", "nocase", "COLLATION"),
    ],
)
def test_names_of_a_schema(schema: pdacon.Constraint, text: str, word: str, meant: str | None, lists: str) -> None:
    explanation = schema.matcher().explain(text.encode())
    found = explanation.unlisted
    assert found is not None
    assert (found.word, found.meant) == (word, meant)
    assert lists in found.listed[0][0]
    assert explanation.reason == str(found)


def test_a_list_of_one_name_is_shown_beside_others() -> None:
    """`total` is the only column that is a function, too; a keyword, which is called by its text, is no list."""
    grammar = pdacon.Grammar.from_lark(
        'start: "get" (COLUMN | COLUMN_OR_FUNCTION "(" ")" | COLUMN_OR_FUNCTION | ALL)\nCOLUMN: /id|name/\n'
        'COLUMN_OR_FUNCTION: /total(?![a-z])/\nALL: /all(?![a-z])/\n%ignore " "'
    )
    constraint = pdacon.compile(grammar, EVERY_BYTE)
    said = '"zzz" is not listed here: COLUMN_OR_FUNCTION is "total"; COLUMN is "id" or "name"'
    assert reason(constraint, "get zzz") == said
    shown = reason(
        pdacon.compile(Grammar.from_sql_schema({"orders": ["id", "total", "name"]}), EVERY_BYTE),
        "SELECT totl FROM orders",
    )
    assert shown.startswith('"totl" is not listed here (did you mean "total"?): COLUMN_OR_FUNCTION is "total"; ')
    assert "SELECT" not in shown


@pytest.mark.slow
def test_made_up_names_of_a_schema(schema: pdacon.Constraint) -> None:
    said = '"foo" is no {}: it would end after "f", where "o" must not follow'
    assert reason(schema, "SELECT name FROM singer AS foo") == said.format("ALIAS")
    assert reason(schema, "SELECT name FROM singer foo") == said.format("BARE_ALIAS")
    assert reason(schema, "SELECT count(*) foo FROM singer") == said.format("BARE_LABEL")
    assert reason(schema, "SELECT count(*) numbers FROM singer").startswith('"numbers" is no BARE_LABEL: ')
    said = reason(schema, "SELECT name FROM singer AS singer")
    assert said.startswith('"singer" is TABLE_NAME, which the parser does not take here; expected ALIAS, ')
    assert "nor does ALIAS_DOT or LABEL match it" in reason(schema, "SELECT foo.name FROM singer")


@pytest.mark.parametrize(
    ("text", "meant"), [('{"a": tru}', '"true"'), ("[nul]", '"null"'), ("[t]", None), ("['a']", None)]
)
def test_keywords_that_come_near(text: str, meant: str | None) -> None:
    said = reason(pdacon.compile(pdacon.Grammar.builtin("json"), EVERY_BYTE), text)
    assert said.endswith(f"; did you mean {meant}?") if meant else "did you mean" not in said


@pytest.mark.parametrize(
    "text",
    [b"SELECT 'a\0b'", b"SELECT 'ab\xff'", b'SELECT "a\0b"', b"SELECT * FROM singer AS `a\0b`", b"SELECT 'abs\0'"],
)
def test_what_is_refused_inside_of_a_text_is_no_word(schema: pdacon.Constraint, text: bytes) -> None:
    explanation = schema.matcher().explain(text)
    assert explanation.unlisted is None
    assert "did you mean" not in explanation.reason
    assert "cannot continue" in explanation.reason


def test_a_bad_escape_in_a_text_is_no_keyword() -> None:
    said = reason(pdacon.compile(pdacon.Grammar.builtin("json"), EVERY_BYTE), '["nul\\q"]')
    assert "did you mean" not in said


def test_a_long_word_is_no_word(schema: pdacon.Constraint) -> None:
    explanation = schema.matcher().explain(b'SELECT "' + b"a" * 100_000 + b"\0")
    assert explanation.unlisted is None
    assert len(explanation.reason) < 1000
    assert len(schema.matcher().explain(b"SELECT name AS " + b"a" * 100_000 + b"\0").reason) < 1000


def test_where_the_matcher_has_begun_the_word(schema: pdacon.Constraint) -> None:
    matcher = schema.matcher()
    assert matcher.accept_bytes(b"SELECT ag")
    found = matcher.explain(b"ee FROM").unlisted
    assert found is not None
    assert (found.word, found.meant) == ("agee", "age")
    assert matcher.explain(b"e FROM").unlisted is None
