"""Strings of a schema: lengths, patterns, listed values and formats, against Python on the decoded text."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest

import pdacon
from pdacon import Grammar, GrammarWarning, UnsupportedSchemaError, Vocabulary
from pdacon.frontends.json_schema import scalars


def accepts(schema: Any, value: Any) -> bool:
    return decider(json.dumps(schema)).accepts(json.dumps(value, ensure_ascii=False))


_known: dict[str, pdacon.Constraint] = {}


def decider(schema: str) -> pdacon.Constraint:
    if schema not in _known:
        _known[schema] = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    return _known[schema]


def texts(seed: int, count: int, longest: int, alphabet: str) -> list[str]:
    random = Random(seed)
    return ["".join(random.choices(alphabet, k=random.randrange(longest + 1))) for _ in range(count)]


@pytest.mark.parametrize("longest_at_once", [500, 1])
@pytest.mark.parametrize(
    ("least", "most"),
    [(0, 0), (0, 3), (2, 5), (3, None), (5, 5), (1, None), (0, 7), (6, 6), (7, 9), (9, None), (0, 9), (3, 11)],
)
def test_lengths_count_code_points(
    least: int, most: int | None, longest_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scalars, "_LONG", longest_at_once)  # the long way is right for short strings too
    schema = {"type": "string", "minLength": least, **({} if most is None else {"maxLength": most})}
    constraint = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    for text in texts(1, 150, 13, 'a"\\\n\x01é€😀\u2028\x7f'):
        expected = least <= len(text) and (most is None or len(text) <= most)
        assert constraint.accepts(json.dumps(text, ensure_ascii=False)) == expected


def test_a_million_characters() -> None:
    constraint = decider('{"type": "string", "minLength": 999300, "maxLength": 1000000}')
    for length, expected in ((999_299, False), (999_300, True), (1_000_000, True), (1_000_001, False)):
        assert constraint.accepts(json.dumps("é" * length, ensure_ascii=False)) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z]+$", "a|b", r"^(?=.*\d)(?=.*[a-z]).{3,8}$", "^((?!foo).)*$", r"\bab\b", "^$", "(ab)*c", "^(a*)*b$",
        "x{2,4}y", "^a?$|^b{3}$", r"[^\s]+", "^(?!.*xx)[xyz]*$", r"^\d{3}-\d{4}$", "(^a|b$)", r'^["\\]', "é",
    ],
)  # fmt: skip
def test_patterns_beside_re(pattern: str) -> None:
    search = re.compile(pattern, re.ASCII).search
    schema = {"type": "string", "pattern": pattern}
    some = [*texts(2, 300, 8, 'abcfoxyz 01-5d"\\é'), "123-4567", "foo", "ab", "x ab", "xxy", "abc1"]
    for text in some:
        assert accepts(schema, text) == bool(search(text)), text


@pytest.mark.parametrize(
    "pattern", ["(^)*b", "(?:^)?b$", "(?:^){2}b", "b(?:$)+", "((^))*b", r"(?:\b)+b", "(?:$)*", "(?:^)+a"]
)
def test_a_group_of_an_anchor_may_be_repeated(pattern: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    for text in texts(2, 200, 4, "ab"):
        assert accepts(schema, text) == bool(re.search(pattern, text)), text


def test_control_characters_in_a_pattern_are_written_as_escapes() -> None:
    constraint = decider('{"pattern": "^[\\\\x00-\\\\x1f]$", "type": "string"}')
    assert constraint.accepts('"\\n"')
    assert constraint.accepts('"\\u001f"')
    assert not constraint.accepts('"\\u0020"')
    assert not constraint.accepts('"\n"')


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(a", "the group is not closed, at column 1"),
        ("a)", "there is no group to close, at column 2"),
        ("[a", "the set is not closed, at column 1"),
        (r"(a)\1", "a back-reference is not regular, at column 4"),
        ("(?<=a)b", "a look-behind is not supported, at column 1"),
        ("*a", "there is nothing to repeat, at column 1"),
        ("{2}a", "there is nothing to repeat, at column 1"),
        ("a|{1,}", "there is nothing to repeat, at column 3"),
        ("^*a", "there is nothing to repeat, at column 1"),
        ("a$+", "there is nothing to repeat, at column 2"),
        (r"a\b?", "there is nothing to repeat, at column 2"),
        ("a{" + "1" * 5000 + "}", "a number of the quantifier has too many digits, at column 2"),
        (r"\u{ 61}", "no code point in the braces, at column 1"),
        (r"\u{+61}", "no code point in the braces, at column 1"),
        (r"\u{6_1}", "no code point in the braces, at column 1"),
        ("a{3,2}", "the numbers of the quantifier are out of order, at column 2"),
        (r"\p{Greek}", "the property 'Greek' is not supported"),
    ],
)
def test_what_is_no_pattern_is_refused_by_name(pattern: str, said: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match=re.escape(said)) as caught:
        Grammar.from_json_schema({"properties": {"x": {"pattern": pattern}}})
    assert (caught.value.pointer, caught.value.keyword) == ("#/properties/x", "pattern")


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("date", ["2024-02-29", "1999-12-31"], ["2023-02-29", "2024-13-01", "2024-1-01", "0000-01-01"]),
        ("time", ["08:30:06Z", "23:59:60Z", "08:30:06.283185+00:20"], ["24:00:00Z", "08:30:06", "22:59:60Z"]),
        (
            "time",
            [
                "23:59:60+00:00",
                "01:29:60+01:30",
                "23:29:60+23:30",
                "15:59:60-08:00",
                "00:29:60.5-23:30",
                "23:59:60-00:00",
            ],
            ["23:58:60Z", "22:59:60+00:00", "23:59:60+01:00", "23:59:60+00:30", "23:59:60-01:00", "23:59:60-00:30"],
        ),
        ("date-time", ["1963-06-19T08:30:06.283185Z"], ["1963-06-19 08:30:06Z", "1963-06-19T08:30:06"]),
        (
            "date-time",
            ["1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00"],
            ["1998-12-31T23:59:61Z", "1998-12-31T23:58:60Z", "1998-12-31T22:59:60Z"],
        ),
        ("duration", ["P4DT12H30M5S", "P1W", "PT36H", "P1Y2M"], ["P", "P1YT", "1Y", "P1D2H", "P1Y1D"]),
        ("email", ["joe.bloggs@example.com", '"joe bloggs"@example.com'], ["2962", ".a@b.c", "a..b@c.d", "a@"]),
        ("hostname", ["www.example.com", "a" * 63 + ".b", "1.2"], ["-a.b", "a-.b", "a" * 64, "a..b", "a_b", "xn--x"]),
        ("ipv4", ["192.168.0.1"], ["256.0.0.1", "1.2.3", "01.2.3.4"]),
        ("ipv6", ["::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::8"], ["12345::", "1:2:3:4:5:6:7", "1::2::3", ":::"]),
        ("uri", ["http://example.com/?q=a#f", "urn:a:b", "mailto:a@b.c"], ["//example.com", "a b", "http://[::1"]),
        ("uri-reference", ["/abc", "//a.b/c", "#x", ""], ["\\\\WINDOWS", "#a\\b"]),
        ("uuid", ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08-aa98-11ea-b4aa-73b441d1638"]),
        ("json-pointer", ["/foo/bar~0/baz~1/%a", ""], ["foo", "/~", "/~2"]),
        ("relative-json-pointer", ["1", "0/foo", "2#"], ["/foo", "-1", "01"]),
        (
            "uri-template",
            ["http://a/{b,c*}/{?d:3}", "'", "it's", "\u00e4\ue000\U000f0000", "%41"],
            ["a{b", "a b", "\x7f", "\u0085", "\ufdd0", "\uffff", "%4", "<"],
        ),
        ("uri", ["http://[V1.fe]", "http://[v1.fe]"], ["http://[w1.fe]", "http://[V.fe]", "http://a?\u00e4"]),
        (
            "iri",
            ["http://a?\ue000", "http://\u00e4/\U0001f600#\u00f6", "http://a?\U00100000"],
            ["http://a/\ue000", "http://a#\ue000", "http://a/\U0001fffe", "http://a/\U000e0001"],
        ),
        (
            "idn-email",
            ['"\u00e4 b"@x.de', "\uc2e4\ub840@\uc2e4\ub840.\ud14c\uc2a4\ud2b8", '"a\\"b"@x', "a@[1.2.3.4]"],
            ["2962", "a@", "@b", "a..b@c", "a b@c", '"a"b"@c', "a@-b", "a@b@c"],
        ),
    ],
)
def test_formats(name: str, valid: list[str], invalid: list[str]) -> None:
    schema = {"type": "string", "format": name}
    assert [text for text in valid if not accepts(schema, text)] == []
    assert [text for text in invalid if accepts(schema, text)] == []


@pytest.mark.parametrize(
    ("name", "since"), [("uri-template", 6), ("date", 7), ("time", 7), ("duration", 2019), ("uuid", 2019)]
)
def test_formats_of_later_drafts_are_enforced_and_named(name: str, since: int) -> None:
    for draft, uri in ((4, "draft-04"), (6, "draft-06"), (7, "draft-07"), (2019, "draft/2019-09")):
        schema = {"$schema": f"http://json-schema.org/{uri}/schema", "type": "string", "format": name}
        if draft < since:
            with pytest.warns(GrammarWarning, match=f"^#: format: draft {draft} has no such format.* draft {since}"):
                grammar = Grammar.from_json_schema(schema)
        else:
            grammar = Grammar.from_json_schema(schema)
        assert (not grammar.accepts('"{"'), bool(grammar.unenforced)) == (True, draft < since)
        assert not Grammar.from_json_schema(schema, formats=False).unenforced


def test_a_format_that_is_no_regular_language_is_refused_or_left_out() -> None:
    schema = {"items": {"type": "string", "format": "idn-hostname"}}
    with pytest.raises(UnsupportedSchemaError, match="#/items: format: which internationalized names are valid"):
        Grammar.from_json_schema(schema)
    (dropped,) = Grammar.from_json_schema(schema, lax=True).unenforced
    assert dropped[:2] == ("#/items", "format")
    assert Grammar.from_json_schema(schema, formats=False).unenforced == ()


def test_formulas_share_their_parts() -> None:
    """Each level of this schema asks twice for what is below it: as a tree, the formula has 2**40 leaves."""
    schema: dict[str, Any] = {"pattern": "^a"}
    for level in range(40):
        other = {"pattern": f"^[ab]{{{level}}}c"}
        schema = {"oneOf": [schema, {"not": other}]} if level % 2 else {"oneOf": [schema, other]}
    schema["type"] = "string"
    constraint = pdacon.compile(Grammar.from_json_schema(schema), Vocabulary.bytes())
    for text in texts(7, 60, 12, "abc"):
        expected = text.startswith("a")
        for level in range(40):
            other_holds = re.match(f"[ab]{{{level}}}c", text) is not None
            expected = expected != (other_holds if level % 2 == 0 else not other_holds)
        assert constraint.accepts(json.dumps(text)) == expected, text
