"""json.lark on a minefield: texts with the verdict that RFC 8259 has for them, and the section that says so.

Each is asked of the compiled grammar, byte by byte, of stock Lark and of Python's ``json``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

import pytest
from support.lark_oracle import accepts

import pdacon
from pdacon import Constraint, Grammar, Vocabulary
from pdacon.front.sampling import sample

DEPTH = 100_000
LARK_TAKES_SECONDS = 150_000  # bytes


@dataclass(frozen=True)
class Case:
    """A text, whether it is JSON, and the section of RFC 8259 that decides."""

    section: str
    text: bytes
    is_json: bool


@dataclass(frozen=True)
class Section:
    """Texts by verdict. A str stands for its UTF-8."""

    number: str
    json: tuple[str | bytes, ...]
    other: tuple[str | bytes, ...]

    def cases(self) -> Iterator[Case]:
        for texts, is_json in ((self.json, True), (self.other, False)):
            for text in texts:
                yield Case(self.number, text.encode() if isinstance(text, str) else text, is_json)


CONTROLS = [chr(code) for code in range(0x20)]
WHITESPACE = " \t\n\r"
# What others call white space: C1's next line, Unicode's spaces and separators, and what looks like nothing.
FOREIGN_SPACES = (
    "\x0b\x0c\x1c\x1d\x1e\x1f\x7f\x85\xa0\u1680\u180e\u2000\u2007\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)

SECTIONS = [
    Section(
        "2: a value between whitespace",
        json=(
            *(f"{space}1" for space in WHITESPACE),
            *(f"1{space}" for space in WHITESPACE),
            *(f"[{space}1{space},{space}2{space}]" for space in WHITESPACE),
            *(f'{{{space}"a"{space}:{space}1{space}}}' for space in WHITESPACE),
            *(f"[{space}]" for space in WHITESPACE),
            " \t\n\r null \r\n\t ",
            "\n" * 1000 + "[]" + " " * 1000,
        ),
        other=(
            "",
            *WHITESPACE,
            " \t\n\r",
            *(f"{space}1" for space in FOREIGN_SPACES),
            *(f"[1,{space}2]" for space in FOREIGN_SPACES),
            *("\x00", "1\x00", "\x001", "[\x00]"),
            *(
                "1 2",
                "[] []",
                "{}{}",
                "null null",
                '"" ""',
                "1,",
                ",1",
                "[],",
                "1;",
                "[]x",
                "{}#",
                "truefalse",
                "nulll",
            ),
            *("]", "}", ":", ",", "[]]", "{}}", "[1]]", '{"a":1}}', "]["),
            *("//x\n1", "1//x", "/**/1", "1/**/", "[1/**/]", "#\n1", "<!-- -->1", "/1", "1/"),
        ),
    ),
    Section(
        "3: values",
        json=(
            *("true", "false", "null", "[true,false,null]", '{"true":true}'),
            *('""', "0", "[]", "{}"),
        ),
        other=(
            *("True", "FALSE", "Null", "nULL", "tru", "fals", "nul", "t", "truth", "nil", "none", "None", "undefined"),
            *("true1", "true_", "t rue", "\\u0074rue", "'true'", "ｔｒｕｅ"),
            *("a", "[a]", "abc", "$", "@", "*", "&", "(1)", "<null>", "`a`", "1=1", "new Date()", "\\", "\\u0031"),
        ),
    ),
    Section(
        "4: objects",
        json=(
            *(
                '{"a":1}',
                '{"a":1,"b":2}',
                '{"":0}',
                '{"a":{"b":{}}}',
                '{"a":[],"b":{}}',
                '{"\\u0061":1}',
                '{"\\u0000":1}',
            ),
            *('{"a":1,"a":1}', '{"a":1,"a":2,"a":3}', '{"a":1,"\\u0061":2}', '{"":1,"":2}', '{"é":1,"e\u0301":2}'),
            '{"__proto__":null,"constructor":1}',
            "{" + ",".join(f'"{n}":{n}' for n in range(1000)) + "}",
        ),
        other=(
            *("{", "{,}", "{:}", "{1}", "{null}", '{"a"}', '{"a":}', "{:1}", '{"a":1,}', '{,"a":1}', '{"a":1,,"b":2}'),
            *('{"a":1 "b":2}', '{"a" 1}', '{"a"::1}', '{"a":1:2}', '{"a","b"}', '{"a"=1}', '{"a"=>1}', '{"a":1;"b":2}'),
            *("{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{true:1}", '{["a"]:1}', "{{}:1}", "{$:1}", '{"a":1]', '{"a":1'),
            *(
                '{"a":',
                '{"a',
                '{"a":1,',
                '{"a":1,"b"',
                '{"a":a}',
                '{"a" "b":1}',
                '{"a":1}"',
                '{"a":1 2}',
                "{...a}",
                "{[]}",
            ),
        ),
    ),
    Section(
        "5: arrays",
        json=(
            *("[1]", "[1,2]", "[[]]", "[[],[]]", "[{}]", '[1,"a",null,true,[],{}]', "[" + ",".join("0" * 5000) + "]"),
            *("[" * 500 + "]" * 500, '[{"a":' * 200 + "[]" + "}]" * 200),
        ),
        other=(
            *("[", "[,]", "[,1]", "[1,]", "[1,,]", "[1,,2]", "[,,]", "[1 2]", "[1;2]", "[1:2]", '["a":1]', "[1", "[1,"),
            *("[1}", "(1)", "[[]", "[[1]", "[1]2", "[...]", "[1..2]", "[]()", '["a" "b"]', "[" * 500 + "]" * 499),
            "[" * 500 + "]" * 501,
        ),
    ),
    Section(
        "6: numbers",
        json=(
            *("0", "-0", "1", "-1", "10", "1234567890", "-9007199254740993", "9" * 1000, "-" + "9" * 1000),
            *("0.0", "-0.0", "0.1", "1.0", "1.50", "0.00000000000000000000000001", "1." + "0" * 1000, "3.14159"),
            *("0e0", "0E0", "0e+0", "0e-0", "1e5", "1E5", "1e+5", "1e-5", "1e05", "1e005", "1e-00", "1.5e10", "1.0E+2"),
            *("-1e-1", "-0e-0", "-0.0e0", "1e999", "-1e999", "1e-999", "1e" + "9" * 100, "0e999"),
            *("[0,-0,1e1]", '{"a":-0.1e-1}', "[1,2.0,3e0]"),
        ),
        other=(
            *("+1", "+0", "+", "-", "--1", "-+1", "+-1", "- 1", "-\n1", "1-", "1+", "1+1", "1-1", "−1", "-a", "-null"),
            *("00", "01", "-01", "-00", "007", "00.1", "012", "0123", "-012.3", "0 1", "00e1"),
            *(
                ".",
                ".1",
                "-.1",
                "+.1",
                "1.",
                "-1.",
                "0.",
                "1..2",
                "1.2.3",
                "1. 2",
                "1 .2",
                "1.e1",
                "1.E",
                ".e1",
                "1.-1",
            ),
            *("e", "e1", "E1", "1e", "1E", "1e+", "1e-", "0e", "0e+", "1e 1", "1 e1", "1e1.5", "1e.5", "1ee1", "1e1e1"),
            *("1e+-1", "1e--1", "1e++1", "1e1-", "1eE1", "1e1_0", "1e0x1"),
            *(
                "0x1",
                "0X1",
                "0xFF",
                "x1",
                "0b1",
                "0o7",
                "0u1",
                "1n",
                "1L",
                "1f",
                "1d",
                "1_000",
                "1,000",
                "1'000",
                "1 000",
            ),
            *("NaN", "-NaN", "nan", "NAN", "Nan", "Infinity", "-Infinity", "+Infinity", "infinity", "Inf", "inf", "∞"),
            *("1#INF", "1.#QNAN", "½", "²", "1²", "٣", "１", "1１", "१", "ⅰ", "1\u0301", "1%", "$1", "0..1", "1…2"),
        ),
    ),
    Section(
        "7: strings",
        json=(
            *(
                '"a"',
                '" "',
                '"abc def"',
                '"\'"',
                '"/"',
                '"//"',
                '"/*"',
                '"#"',
                '"[1,2"',
                '"{}"',
                '"null"',
                '"1"',
                '"\x7f"',
            ),
            *(f'"\\{escape}"' for escape in '"\\/bfnrt'),
            *('"\\\\\\""', '"\\\\"', '"\\\\n"', '"\\/\\/"'),
            *(
                '"\\u0000"',
                '"\\u0020"',
                '"\\u0022"',
                '"\\u005C"',
                '"\\u005c"',
                '"\\uABCD"',
                '"\\uabcd"',
                '"\\uAbCd"',
                '"\\uFFFF"',
            ),
            *(
                '"\\u00e9\\u4e2d"',
                '"\\u00410"',
                '"\\u0041\\u0042"',
                '"a\\u000ab"',
                '"\\uD7FF"',
                '"\\uE000"',
                '"\\uFFFE"',
            ),
            "".join(('"', "a" * 100_000, '"')),
            '"' + "\\u0041" * 5000 + '"',
            '["\\"","\\\\","\\\\\\""]',
        ),
        other=(
            *(f'"{control}"' for control in CONTROLS),
            *(f'"a{control}b"' for control in "\x00\t\n\r\x1f"),
            *('{"a\tb":1}', '{"\n":1}', '"\r\n"'),
            *(
                '"',
                '"a',
                'a"',
                '"""',
                '"""a"""',
                "'a'",
                "''",
                "`a`",
                "“a”",
                "«a»",
                '"a"b',
                'a"b"',
                '"a" b',
                '"a""b"',
                '"a"+"b"',
            ),
            *('"\\"', '"\\\\\\"', '"\\', '"\\ "', '"\\\n"', '"\\\t"', '"\\\x00"', '"\\\r\n"'),
            *(f'"\\{escape}"' for escape in "0123456789aAcdeghijklmopqsvwxyzBFNRTU'`!#$%&()*+,-.:;<=>?@[]^_{|}~é中😀"),
            *(
                '"\\u"',
                '"\\u0"',
                '"\\u00"',
                '"\\u004"',
                '"\\u004g"',
                '"\\ug041"',
                '"\\u 041"',
                '"\\u0x41"',
                '"\\u+041"',
            ),
            *(
                '"\\u-041"',
                '"\\u00 41"',
                '"\\u{41}"',
                '"\\u{0041}"',
                '"\\U0041"',
                '"\\U00000041"',
                '"\\x41"',
                '"\\101"',
            ),
            *('"\\u００４１"', '"\\u004１"', '"\\u00é1"', '"\\N{DIGIT ONE}"', '"\\u00', '"\\u0041', "\\u0041", '"\\a"'),
        ),
    ),
    Section(
        "7 and 8.2: surrogates in escapes, in pairs and alone",
        json=(
            *('"\\ud83d\\ude00"', '"\\uD83D\\uDE00"', '"\\ud800\\udc00"', '"\\udbff\\udfff"', '"\\uD834\\uDD1E"'),
            *('"\\ud800"', '"\\udbff"', '"\\udc00"', '"\\udfff"', '"\\uD83D"', '"\\uDE00"', '{"\\ud800":1}'),
            *('"\\ude00\\ud83d"', '"\\ud83d\\ud83d"', '"\\ude00\\ude00"', '"\\ud83d\\ud83d\\ude00"', '"\\ud83d\\n"'),
            *(
                '"\\ud83dx"',
                '"\\ud83d\\u0041"',
                '"\\ud83d \\ude00"',
                '"\\ud83d\\\\ude00"',
                '"\\ud83dude00"',
                '"x\\ude00"',
            ),
        ),
        other=('"\\ud83d\\ude0"', '"\\ud83d\\u"', '"\\ud83d\\"', '"\\ud83d\\ude0g"', '"\\ud83d\\xde00"'),
    ),
    Section(
        "7: all of Unicode in strings",
        json=(
            *(
                f'"{character}"'
                for character in "\x80\x85\x9f\xa0\xadé\u0301\u07ff\u0800中\u200b\u200e\u202e\u2028\u2029\u2060"
            ),
            *(f'"{character}"' for character in "\ud7ff\ue000\uf8ff\ufdd0\ufeff\ufffd\ufffe\uffff"),
            *(f'"{character}"' for character in "\U00010000😀\U0001f468\u200d\U0001f469\U000e0001\U000f0000\U0010ffff"),
            *('{"имя":"값"}', '["é","e\u0301"]', '"👩‍👩‍👧🏽"', '"\u202eabc"'),
        ),
        other=("é", "[中]", "😀", '"é', "{é:1}"),
    ),
    Section(
        "8.1: UTF-8",
        json=(
            b'"\xc2\x80"',
            b'"\xdf\xbf"',
            b'"\xe0\xa0\x80"',
            b'"\xed\x9f\xbf"',
            b'"\xee\x80\x80"',
            b'"\xf4\x8f\xbf\xbf"',
        ),
        other=(
            *(
                b'"\x80"',
                b'"\xbf"',
                b'"\xc3"',
                b'"\xc3a"',
                b'"\xe4\xb8"',
                b'"\xe4\xb8a"',
                b'"\xf0\x9f\x98"',
                b'"\xf0\x9f"',
            ),
            *(b'"\xc0\x80"', b'"\xc1\xbf"', b'"\xc0\xaf"', b'"\xe0\x80\x80"', b'"\xe0\x9f\xbf"', b'"\xf0\x80\x80\x80"'),
            *(b'"\xed\xa0\x80"', b'"\xed\xbf\xbf"', b'"\xed\xa0\xbd\xed\xb8\x80"', b'"\xed\xb0\x80"'),
            *(b'"\xf4\x90\x80\x80"', b'"\xf5\x80\x80\x80"', b'"\xf8\x88\x80\x80\x80"', b'"\xfc\x84\x80\x80\x80\x80"'),
            *(
                b'"\xfe"',
                b'"\xff"',
                b'"\xff\xff"',
                b'"\xe9"',
                b'["\xc3\xa9\xa9"]',
                b"\x80",
                b"[\xff]",
                b"1\xff",
                b"\xc3\xa9",
            ),
            *("[]".encode(coding) for coding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")),
            *('"é"'.encode(coding) for coding in ("latin-1", "cp1252", "utf-16-le")),
        ),
    ),
    Section(
        "8.1: no byte order mark",
        json=('"\ufeff"', '["\ufeff"]'),
        other=(
            "\ufeff",
            "\ufeff1",
            "\ufeff[]",
            '\ufeff{"a":1}',
            "1\ufeff",
            "[\ufeff]",
            " \ufeff1",
            b"\xef\xbb1",
            b"\xfe\xff[]",
        ),
    ),
    Section(
        "9: depth has no limit in the grammar",
        json=("[" * DEPTH + "]" * DEPTH, '{"a":' * DEPTH + "1" + "}" * DEPTH, '[{"a":' * DEPTH + "[]" + "}]" * DEPTH),
        other=(
            "[" * DEPTH,
            "[" * DEPTH + "]" * (DEPTH - 1),
            "[" * DEPTH + "]" * (DEPTH + 1),
            '{"a":' * DEPTH + "}" * DEPTH,
        ),
    ),
]
CASES = list(dict.fromkeys(case for section in SECTIONS for case in section.cases()))

# What Python's json makes a value of beyond the RFC, unless parse_constant= keeps it from that.
PYTHON_TAKES = {b"NaN", b"Infinity", b"-Infinity"}


@pytest.fixture(scope="module")
def constraint() -> Constraint:
    every_byte = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
    return pdacon.compile(Grammar.builtin("json"), every_byte)


def shown(case: object) -> str:
    if not isinstance(case, Case):
        return str(case)
    text = repr(case.text)[1:]
    return f"{case.section.partition(':')[0]}-{text[:40]}{len(text) if len(text) > 40 else ''}"


def test_there_are_enough_cases() -> None:
    assert len(CASES) > 600
    assert len({case.text for case in CASES}) > 0.97 * len(CASES), "the same text is in several sections"
    verdicts = {(case.text, case.is_json) for case in CASES}
    assert len({text for text, _ in verdicts}) == len(verdicts), "a text has two verdicts"


@pytest.mark.parametrize("case", CASES, ids=shown)
def test_the_verdict_is_that_of_the_rfc(case: Case, constraint: Constraint) -> None:
    matcher = constraint.matcher(max_rollback=0)
    assert (matcher.accept_bytes(case.text) and matcher.is_accepting()) == case.is_json
    if len(case.text) < LARK_TAKES_SECONDS:
        assert accepts(constraint.grammar, case.text) == case.is_json
    assert python_takes(case.text) in (case.is_json or case.text in PYTHON_TAKES, None)


def python_takes(text: bytes) -> bool | None:
    """Python's verdict; None if the text is too deep for it."""
    try:
        json.loads(text.decode())
    except ValueError:
        return False
    except RecursionError:
        return None
    return True


@pytest.mark.slow
def test_python_takes_all_that_is_generated(
    constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    def refuse(constant: str) -> Any:
        raise AssertionError(constant)

    for text in islice(sample(constraint, 1, size=120), scaled(60)):
        json.loads(text, parse_constant=refuse)
        tally(sentences=1)


def test_python_takes_all_walks(
    constraint: Constraint, scaled: Callable[[int], int], tally: Callable[..., None]
) -> None:
    """Any allowed bytes, one after the other, then the shortest way to the end."""
    random = Random(1)
    for _ in range(scaled(400)):
        matcher = constraint.matcher()
        text = b""
        for _ in range(random.randrange(200)):
            byte = bytes(
                [
                    random.choice(b'[]{},:"\\u0123456789abcdefE+-. \n')
                    if random.random() < 0.9
                    else random.randrange(256)
                ]
            )
            if matcher.accept_bytes(byte):
                text += byte
        json.loads((text + matcher.shortest_completion()).decode())
        tally(walks=1, bytes=len(text))
