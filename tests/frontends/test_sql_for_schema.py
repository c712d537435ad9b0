"""sql_for_schema: what is named is in the schema, for every schema."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from itertools import islice
from typing import Any

import pytest
from support.lark_oracle import accepts
from support.sentences import EVERY_BYTE, is_sentence
from support.sql_names import assert_prints_itself
from support.sqlite import syntax_error

import pdacon
from pdacon import Grammar, SchemaError
from pdacon.front.sampling import sample
from pdacon.frontends import SQL_FUNCTIONS

SCHEMA = {
    "Singer": ["singer_id", "Name", "age", "rank", "count"],
    "concert": ["id", "singer_id", "first name", "order", "key"],
    "t": ["a"],
}


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar.from_sql_schema(SCHEMA)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "SELECT name FROM singer",
        "select NAME, singer.age, SINGER.* from SINGER;",
        "SELECT T1.name, T2.`first name` FROM singer AS T1 JOIN concert T2 ON T1.singer_id  =  T2.singer_id",
        'SELECT "first name", [First Name], `first name` FROM concert WHERE id = "x y"',
        "SELECT name FROM singer WHERE age > 20 GROUP BY name HAVING count(*) > 1 ORDER BY count (*) DESC, count",
        "SELECT count(*) AS how_many, max(age) AS 'the oldest' FROM singer",
        "WITH c(x) AS (SELECT name FROM singer) SELECT c.x, x, * FROM c, t WHERE x NOT IN (SELECT a FROM t)",
        "SELECT name FROM singer UNION SELECT a FROM t EXCEPT SELECT [order] FROM concert LIMIT 3 OFFSET 1",
        "SELECT key, concert.key, concert.`key`, T1.key FROM concert AS T1 WHERE singer_id IN t",
        "SELECT rank, rank() OVER (PARTITION BY age ORDER BY rank) FROM singer",
        "SELECT sum(n) FROM (SELECT count(*) AS n FROM singer GROUP BY age) AS s WHERE s.n > 1",
        "SELECT CAST(age AS real) / 2, CASE WHEN age IS NULL THEN 'none' ELSE age END FROM singer NATURAL JOIN concert",
        "SELECT a FROM t JOIN concert USING (singer_id) ORDER BY a COLLATE nocase",
        "SELECT t.a FROM t /* why not */ -- indeed",
        "SELECT 1",
    ],
)
def test_accepts(grammar: Grammar, text: str) -> None:
    assert accepts(grammar, text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "SELECT nam FROM singer",
        "SELECT names FROM singer",
        "SELECT name FROM singers",
        "SELECT name FROM main",
        "SELECT singer.id FROM singer",  # a column of another table
        "SELECT t.name FROM t",
        "SELECT name FROM concert AS t WHERE t.name = 1",  # a name of a table is no alias
        "SELECT singers.name FROM singer",
        "SELECT T1.nam FROM singer AS T1",
        "SELECT T1.nam FROM singer AS concert_of_singer",
        'SELECT T1."nam" FROM singer AS T1',
        "SELECT [nam] FROM singer",
        "SELECT first FROM concert",
        "SELECT order FROM concert",
        "SELECT name FROM singer JOIN concert USING (nam)",
        "SELECT name FROM singer WHERE age IN singers",
        "SELECT no_function(name) FROM singer",
        "SELECT name FROM main.singer",
        "SELECT name FROM singer; SELECT name FROM singer",
        "DELETE FROM singer",
        "DROP TABLE singer",
        "PRAGMA query_only = 0",
        "",
    ],
)
def test_rejects(grammar: Grammar, text: str) -> None:
    assert not accepts(grammar, text)


@pytest.mark.slow
def test_changes() -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, statements="changes")
    for text in (
        "SELECT name FROM singer",
        "INSERT INTO singer (name, age) VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET age = excluded.age",
        "INSERT INTO t SELECT name FROM singer",
        "UPDATE singer SET name = 'x', (age, count) = (1, 2) WHERE singer.age = 3 RETURNING *",
        "WITH c AS (SELECT 1) DELETE FROM singer AS s WHERE s.name IN c",
    ):
        assert accepts(grammar, text), text
    for text in (
        "INSERT INTO singers VALUES (1)",
        "INSERT INTO singer (nam) VALUES (1)",
        "UPDATE singer SET nam = 1",
        "DELETE FROM c",
        "DROP TABLE singer",
    ):
        assert not accepts(grammar, text), text


@pytest.mark.slow
def test_made_up_names_are_the_callers_affair() -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, aliases="[a-z_]+", labels="total|count|how_many")
    assert is_sentence(
        grammar, "SELECT old.name, count(*) AS how_many FROM singer AS old ORDER BY how_many, count, count(*)"
    )
    assert not is_sentence(grammar, "SELECT old.name FROM singer AS old ORDER BY how_few")
    assert not is_sentence(grammar, "SELECT singer.id FROM singer")


@pytest.mark.slow
def test_functions_are_those_that_are_listed() -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, functions=["regexp", "mine", "count"])
    assert is_sentence(grammar, "SELECT mine(name), regexp('a', name), count FROM singer WHERE name REGEXP 'a.*'")
    assert not is_sentence(grammar, "SELECT max(name) FROM singer")
    assert not is_sentence(Grammar.from_sql_schema(SCHEMA), "SELECT name FROM singer WHERE name REGEXP 'a.*'")


@pytest.mark.slow
def test_names_that_begin_others() -> None:
    """A table, a column, an alias and a function of one name: what comes after it tells which is meant."""
    grammar = Grammar.from_sql_schema({"rank": ["a", "b1"], "a": ["rank"], "concerts": ["a_1"]})
    for text in (
        "SELECT rank, rank.a, rank.*, rank() OVER () FROM rank JOIN a",
        "SELECT b.a, b, b1, b2.rank, B2 FROM rank AS b, a b2 ORDER BY a, a.rank",
        "SELECT a_1, a_2, a_2.a_1 FROM concerts AS a_2",
    ):
        assert is_sentence(grammar, text), text
    for text in ("SELECT rank.rank FROM rank", "SELECT a.a FROM a", "SELECT a_1x FROM a", "SELECT a. FROM a"):
        assert not is_sentence(grammar, text), text


def test_it_prints_itself_as_lark(grammar: Grammar) -> None:
    assert_prints_itself(grammar)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"double_quoted": "name"}, {"with_clause": False, "comments": False}])
def test_it_is_deterministic(options: dict[str, Any]) -> None:
    findings = pdacon.check(Grammar.from_sql_schema(SCHEMA, **options)).findings
    assert [finding.id for finding in findings if finding.level != "note"] == []


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "no table"),
        ({"": ["a"]}, "empty"),
        ({"a": ["x\0y"]}, "NUL"),
        ({"a": ["\ud800"]}, "surrogate"),
        ({"a": ["x" * 100_000]}, "100,000 characters"),
        ({"a": ["x"], "A": ["x"]}, "one table"),
        ({"a": ["x", "X"]}, "one column"),
        ({"a": ["x", "y", "x"]}, "one column"),
    ],
)
def test_what_cannot_be_a_schema(schema: dict[str, list[str]], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        Grammar.from_sql_schema(schema)


@pytest.mark.parametrize("schema", [None, ["a"], {"a": "name"}, {"a": [1]}, {1: ["a"]}, {"a": None}])
def test_what_is_of_another_type(schema: Any) -> None:
    with pytest.raises(TypeError):
        Grammar.from_sql_schema(schema)


@pytest.mark.parametrize("options", [{"statements": "all"}, {"aliases": "("}, {"labels": "[a"}, {"functions": []}])
def test_what_is_no_option(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Grammar.from_sql_schema(SCHEMA, **options)


@pytest.mark.parametrize("argument", ["bound_labels", "comments", "with_clause"])
@pytest.mark.parametrize("value", ["no", None, 0])
def test_what_is_neither_true_nor_false(argument: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"^{argument}: expected True or False, not {value!r}"):
        Grammar.from_sql_schema(SCHEMA, **{argument: value})


@pytest.mark.slow
@pytest.mark.parametrize("double_quoted", ["text", "name"])
def test_plain_names_may_be_in_quotes(double_quoted: Any) -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, "changes", double_quoted=double_quoted)
    for text in (
        'SELECT "name", `name`, [NAME], "singer"."name", singer."name", "singer".name, "singer".* FROM "singer"',
        'SELECT T1."name", "T1".name, `T1`.[name], [T1].`name`, "T1"."first name", `T1`.*, "T1".* FROM [t] AS "T1"',
        'WITH "c"("x") AS (SELECT `n` FROM t) SELECT "c"."x" FROM `c` WHERE "x" IN "t" OR a IN [t] OR a NOT IN `c`',
        'SELECT "n" FROM t JOIN "concert" USING ("id", [singer_id]) WINDOW "w" AS (), [v] AS ("w")',
        'SELECT sum("age") OVER "w" FROM singer WINDOW w AS (PARTITION BY "name")',
        'SELECT concert.`key`, concert.[order], "concert"."order" FROM concert',
        'INSERT INTO "singer" ("name", [age]) VALUES (1, 2) ON CONFLICT ("name") DO UPDATE SET "age" = excluded."age"',
        'UPDATE `singer` SET [name] = 1, ("age", `rank`) = (1, 2) WHERE "singer"."age" = 1 RETURNING "name"',
        'DELETE FROM [t] AS "x" WHERE "x"."a" = 1',
    ):
        assert accepts(grammar, text), text
    for text in (
        'SELECT T1."nam" FROM singer AS T1',
        'SELECT T1." name" FROM singer AS T1',
        'SELECT T1."name " FROM singer AS T1',
        "SELECT ` name` FROM singer",
        "SELECT `name /* */` FROM singer",
        "SELECT [name --\n] FROM singer",
        "SELECT `name] FROM singer",
        'SELECT "singer"."id" FROM singer',
        'SELECT "singer" . "name" FROM singer',
        'SELECT * FROM "singers"',
        'SELECT * FROM " singer"',
        'SELECT * FROM "t""a"',  # one name
        'SELECT a"n" FROM t',
        'SELECT * FROM t JOIN concert USING ("nam")',
        'UPDATE "singer" SET "nam" = 1',
    ):
        assert not accepts(grammar, text), text


@pytest.mark.slow
def test_text_in_double_quotes() -> None:
    """SQLite reads a column where there is one, be it listed or not."""
    texts, names = (
        Grammar.from_sql_schema({"t": ["a"]}),
        Grammar.from_sql_schema({"t": ["a"]}, double_quoted="name"),
    )
    assert is_sentence(texts, 'SELECT a FROM t WHERE a = "Joe" OR a = "row" OR a = "my rowid" OR a = ""')
    for text in ('SELECT "Joe" FROM t', 'SELECT a FROM t WHERE a = ""', 'SELECT a FROM t WHERE a IN ("xy")'):
        assert not is_sentence(names, text), text
    for grammar in (texts, names):
        for name in ("rowid", "OID", "_RowId_"):
            for form in (f'"{name}"', f"`{name}`", f"[{name}]", name, f'n."{name}"', f't."{name}"'):
                assert not is_sentence(grammar, f"SELECT {form} FROM t AS n"), form
    listed = Grammar.from_sql_schema({"t": ["a", "rowid"]})
    assert is_sentence(listed, 'SELECT "rowid", rowid, t.rowid FROM t')
    assert not is_sentence(listed, 'SELECT "oid" FROM t')


@pytest.mark.slow
def test_a_text_that_begins_like_a_name_in_quotes() -> None:
    """SQLite reads it as one text."""
    grammar = Grammar.from_sql_schema(SCHEMA)
    for text in ('"order""', '"order""s"', '"first name""', '"key"'):
        assert accepts(grammar, f"SELECT a FROM t WHERE a = {text}") == (text[-2:] != '""'), text
    assert accepts(grammar, 'SELECT "order" , "first name",[order]FROM concert')


@pytest.mark.slow
def test_without_with() -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, with_clause=False)
    assert is_sentence(grammar, "SELECT T1.name, x.a FROM singer AS T1, (SELECT a FROM t) x WHERE T1.age IN t")
    for text in (
        "WITH c AS (SELECT a FROM t) SELECT a FROM t",
        "SELECT a FROM c",
        "SELECT a FROM t WHERE a IN c",
        "SELECT a FROM `c`",
    ):
        assert is_sentence(Grammar.from_sql_schema(SCHEMA), text), text
        assert not is_sentence(grammar, text), text
    matcher = pdacon.compile(grammar, EVERY_BYTE).matcher()
    assert matcher.accept_bytes(b"SELECT a FROM ")
    assert matcher.shortest_completion().lower() == b"t"


@pytest.mark.slow
def test_labels_that_can_be_named_again() -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, bound_labels=True)
    for text in (
        "SELECT count(*) AS n FROM singer ORDER BY n",
        'SELECT count(*) AS "how many", max(age) a1 FROM singer ORDER BY "how many"',
        "SELECT max(age) AS age, min(age) AS `age` FROM singer ORDER BY age",
    ):
        assert is_sentence(grammar, text), text
    for text in ("SELECT count(*) AS how_many FROM singer", "SELECT count(*) AS 'n' FROM singer"):
        assert not is_sentence(grammar, text), text
        assert is_sentence(Grammar.from_sql_schema(SCHEMA), text)
    assert not is_sentence(
        Grammar.from_sql_schema(SCHEMA, bound_labels=True, double_quoted="name"), 'SELECT 1 AS "how many"'
    )


@pytest.mark.slow
def test_what_is_changed_is_listed() -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, "changes", targets=["T"])
    assert is_sentence(grammar, "INSERT INTO t (a) SELECT name FROM singer")
    assert is_sentence(grammar, 'UPDATE "t" SET a = 1')
    for text in ("DELETE FROM singer", 'DELETE FROM "singer"', "INSERT INTO t (n) VALUES (1)", "UPDATE t SET n = 1"):
        assert not is_sentence(grammar, text), text
    for schema, options in (
        (SCHEMA, {"targets": ["u"]}),
        (SCHEMA, {"targets": []}),
        (SCHEMA, {"targets": ["t", "T"]}),
        ({"t": []}, {}),
    ):
        with pytest.raises(SchemaError, match=r"targets: |statements="):
            Grammar.from_sql_schema(schema, "changes", **options)
    with pytest.raises(ValueError, match="targets: "):
        Grammar.from_sql_schema(SCHEMA, targets=["t"])
    with pytest.raises(TypeError, match="targets: "):
        Grammar.from_sql_schema(SCHEMA, "changes", targets="t")


@pytest.mark.slow
def test_without_comments() -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, comments=False)
    assert is_sentence(grammar, "SELECT a\n FROM t")
    assert not is_sentence(grammar, "SELECT a FROM t -- why")
    assert not is_sentence(grammar, "SELECT a FROM /* why */ t")


@pytest.mark.slow
def test_without_comments_nothing_begins_one() -> None:
    """SQLite takes two minus signs for a comment, and what is behind them for none of the statement."""
    grammar = Grammar.from_sql_schema({"t": ["a", "b"]}, "changes", comments=False)
    for text in (
        "UPDATE t SET a = 1 --1 WHERE b = 2",
        "SELECT (1 --1)",
        "SELECT --1",
        "SELECT 1 - --1",
        "SELECT a->--1 FROM t",
        "SELECT CAST(1 AS x(--1))",
        "SELECT 1 /*1",
        "SELECT count(/**/)",
    ):
        assert not is_sentence(grammar, text), text
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (a, b)")
        for text in (
            "SELECT 1 - -1, -(-1), - - 1, -~-a, a->-1, a ->> - 1, b-a - -b FROM t",
            "SELECT '--', '/*', \"--\", 1 AS '--', 2 AS [/*] FROM t WHERE a = '--1'",
            "UPDATE t SET a = 1- -1 WHERE b = -2",
            "SELECT CAST(1 AS x(-1, -2)) / -1 * -1e-1",
        ):
            assert is_sentence(grammar, text), text
            database.execute(text)


def begins_a_comment(text: str) -> bool:
    outside = re.sub(r"""'[^']*('|$)|"[^"]*("|$)|`[^`]*(`|$)|\[[^]]*(\]|$)""", "''", text)
    return "--" in outside or "/*" in outside


@pytest.mark.slow
@pytest.mark.parametrize("statements", ["query", "changes"])
def test_no_beginning_of_a_sentence_begins_a_comment(statements: Any) -> None:
    """Every short sequence of signs after what may come before them, and every place in random sentences."""
    constraint = pdacon.compile(Grammar.from_sql_schema({"t": ["a"]}, statements, comments=False), EVERY_BYTE)

    def is_viable(text: str) -> bool:
        return constraint.matcher().accept_bytes(text.encode())

    for begin in ("SELECT ", "SELECT 1", "SELECT 1e", "SELECT a", "SELECT x'00'", "SELECT count(", "SELECT 1 AS a"):
        texts = [begin]
        for _ in range(4):
            texts = [text + sign for text in texts for sign in "-/*>+~( 1a'" if is_viable(text + sign)]
            assert not any(map(begins_a_comment, texts))
    for text in islice(sample(constraint, 1, size=60), 40):
        assert not begins_a_comment(text), text
        for end in range(len(text)):
            for signs in ("--", "/*"):
                changed = text[:end] + signs
                assert not (begins_a_comment(changed) and is_viable(changed)), changed


@pytest.mark.slow
def test_true_and_false() -> None:
    """They are literals, unless a column has the name; SQLite has it so, too."""
    literals = Grammar.from_sql_schema(SCHEMA, "changes", labels="[a-z]+")
    for text in (
        "SELECT true, FALSE AS f FROM t WHERE a = TRUE AND a IS NOT False OR TRUE",
        "UPDATE t SET a = TRUE WHERE a IS false",
        "INSERT INTO t VALUES (True)",
    ):
        assert is_sentence(literals, text), text
    for text in ("SELECT t.true FROM t", "SELECT * FROM true", "UPDATE t SET true = 1"):
        assert not is_sentence(literals, text), text
    assert not is_sentence(Grammar.from_sql_schema(SCHEMA), "SELECT truer FROM t")
    column = Grammar.from_sql_schema({"t": ["True", "a"], "false": ["b"]})
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript("CREATE TABLE t (True, a); CREATE TABLE false (b); INSERT INTO t VALUES (7, 8)")
        for text, value in (("SELECT true FROM t", 7), ("SELECT t.true FROM t", 7), ("SELECT false FROM t", 0)):
            assert is_sentence(column, text)
            assert database.execute(text).fetchone() == (value,)


def test_functions_beside_those_of_sqlite() -> None:
    grammar = Grammar.from_sql_schema(SCHEMA, functions=[*SQL_FUNCTIONS, "mine"])
    assert is_sentence(grammar, "SELECT mine(a), max(a) FROM t")


def test_functions_of_sqlite() -> None:
    """All that it has, less those that docs/sql.md says are left out."""
    left_out = {
        *("load_extension", "sqlite_compileoption_get", "sqlite_compileoption_used", "sqlite_log", "sqlite_offset"),
        *("sqlite_source_id", "subtype", "current_date", "current_time", "current_timestamp"),
    }
    with closing(sqlite3.connect(":memory:")) as database:
        rows = database.execute("SELECT name FROM pragma_function_list WHERE builtin AND name GLOB '[a-z]*'")
        known = {name for (name,) in rows}
    if sqlite3.sqlite_version_info < (3, 41):  # later ones have more
        assert known <= {*SQL_FUNCTIONS, *left_out}
    assert {"like", "abs"} <= known
    assert all(syntax_error(f"SELECT {name}(1)") is None for name in SQL_FUNCTIONS)
    grammar = Grammar.from_sql_schema(SCHEMA, labels="[a-z]+")
    for text in (
        "SELECT like('a%', name), glob('a*', name) FROM singer WHERE name LIKE 'a' AND match('a', name)",
        "SELECT changes(), total_changes(), last_insert_rowid(), sqlite_version()",
    ):
        assert is_sentence(grammar, text), text
    assert not is_sentence(grammar, "SELECT load_extension('x')")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("x/y", "'/', which no word has"),
        ("a b", "' ', which no word has"),
        ("--[a-z]", "'-', which no word has"),
        (r"\S+", "which no word has"),
        ("[^a]+", "which no word has"),
        ("", "empty text"),
        (".*", "empty text"),
        ("x*", "empty text"),
        ("(?i)x+", "flags for all of it"),
        ("^x$", r"\^ at column 1: .* leave it out"),
        (r"x\b", r"\\b at column 2"),
        (r"x\Z", "at column 2"),
        ("(?P<q>x)", "groups"),
        (r"(x)\1", "groups"),
        ("select|FROM|filter|over|raise", "no name"),
        ("[0-9]+", "no name"),
        ("\ufeffx", "no name"),
        ("(", "no regular expression"),
        ("x{1,70000}", "no terminal can have it"),
    ],
)
@pytest.mark.parametrize("argument", ["aliases", "labels"])
def test_patterns_that_describe_no_names(argument: str, pattern: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{argument}: .*{words}") as refused:
        Grammar.from_sql_schema(SCHEMA, **{argument: pattern})
    assert repr(pattern) in str(refused.value)


@pytest.mark.slow
def test_patterns_that_are_tables_only() -> None:
    with pytest.raises(ValueError, match=r"aliases: .* no name"):
        Grammar.from_sql_schema(SCHEMA, aliases="singer|concert|t")
    assert Grammar.from_sql_schema(SCHEMA, labels="singer|concert|t")


@pytest.mark.slow
@pytest.mark.parametrize("aliases", [r"\w+", "(?-i:[A-Z]+)", "(?!x)[^\x00-/:-@\\[-^`{-\x7f]+"])
def test_what_is_never_an_alias(aliases: str) -> None:
    """Neither keywords nor tables, in whatever way they are written, nor what SQLite reads in another way."""
    grammar = Grammar.from_sql_schema({**SCHEMA, "excluded": ["e"]}, "changes", aliases=aliases, labels=aliases)
    assert is_sentence(grammar, "SELECT OLD.name FROM singer AS OLD WINDOW W AS ()")
    for text in (
        "SELECT T.name FROM singer AS T",
        "SELECT [T].name FROM singer AS S",
        "SELECT `t`.name FROM singer",
        'SELECT "SINGER".id FROM t',
        "SELECT * FROM singer AS SELECT",
        "SELECT 1 FROM t WINDOW FILTER AS ()",
        "SELECT sum(a) OVER FILTER FROM t",
        "SELECT * FROM (SELECT 1) OVER LEFT JOIN t",
        "SELECT * FROM (SELECT 1) OVER NATURAL JOIN t",
        "SELECT (a) OVER FROM t WINDOW W AS ()",
        "SELECT RAISE.name FROM singer AS RAISE",
        "SELECT EXCLUDED.name FROM singer AS EXCLUDED",
        "SELECT * FROM t AS 1E",
        "SELECT * FROM t AS \ufeffX",
    ):
        assert not is_sentence(grammar, text), text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({"singer": None},), "table 'singer': expected an iterable of names, not None"),
        (("app.db",), "sql_schema_of"),
        (({"a": "name"},), r"table 'a': .* write \['name'\]"),
    ],
)
def test_errors_name_what_is_wrong(arguments: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        Grammar.from_sql_schema(*arguments)


def test_python_compiles_no_pattern_of_all_names(monkeypatch: pytest.MonkeyPatch) -> None:
    # It takes longer for that than everything else does together.
    tried: list[str] = []
    really = re.compile

    def watched(pattern: Any, *flags: Any) -> Any:
        tried.append(pattern)
        return really(pattern, *flags)

    grammar = Grammar.from_sql_schema({f"table_{n}": [f"unheard_of_{m}" for m in range(20)] for n in range(20)})
    monkeypatch.setattr(re, "compile", watched)
    pdacon.compile(grammar, EVERY_BYTE)
    assert not [pattern for pattern in tried if "unheard_of" in str(pattern)]
