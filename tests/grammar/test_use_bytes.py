"""``use_bytes``: what Lark loads, what of that it can run, and what pdacon says of the rest."""

from __future__ import annotations

import re
from itertools import islice
from random import Random
from typing import Any

import lark
import pytest
from lark.indenter import PythonIndenter
from support.lark_oracle import accepts, lark_parser

import pdacon
from pdacon import Grammar, GrammarSyntaxError, UnsupportedGrammarError
from pdacon.front.sampling import sample

FRAMES = r"""
start: frame+
frame: MAGIC LENGTH? (TEXT | BLOB) END
MAGIC: "\x89PNG" | /\xff[\xd8-\xdf]/
LENGTH: /[\x00-\x1f]{2}/
TEXT: /"(\\.|[^"\\])*"/s
BLOB: /[^"\x00-\x1f\xff\x89][\x80-\xfe]*/
END: "\0" | ";"i
"""
EVERY_BYTE = pdacon.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)] + [None], eos_ids=[256])


def test_a_binary_format_as_a_text_or_as_a_ready_parser() -> None:
    grammar = Grammar.from_lark(FRAMES, use_bytes=True)
    parser = lark.Lark(FRAMES, parser="lalr", use_bytes=True)
    assert Grammar.from_lark(parser).fingerprint == grammar.fingerprint
    assert Grammar.from_lark(FRAMES).fingerprint != grammar.fingerprint
    matcher = pdacon.compile(grammar, EVERY_BYTE).matcher()
    assert matcher.accept_bytes(b'\x89PNG\x01\x02"\xff\xfe"')
    assert not matcher.accept_bytes(b"x")
    assert parser.parse(b'\x89PNG\x01\x02"\xff\xfe"' + matcher.shortest_completion())


def test_random_walks_are_sentences_and_damage_is_judged_as_by_lark() -> None:
    """Bytes that the mask allows, chosen by chance; then one byte is changed."""
    random = Random(8)
    grammar = Grammar.from_lark(FRAMES, use_bytes=True)
    constraint = pdacon.compile(grammar, EVERY_BYTE)
    texts = walks(constraint, random, 60)
    assert all(accepts(grammar, text) for text in texts)
    assert sum(any(byte > 127 for byte in text) for text in texts) > 30
    verdicts = []
    for text in texts * 3:
        place = random.randrange(len(text))
        damaged = (
            text[:place] + bytes([random.choice([0, 34, 92, 0x89, 0xFF, random.randrange(256)])]) + text[place + 1 :]
        )
        matcher = constraint.matcher()
        verdicts.append(accepts(grammar, damaged))
        assert (matcher.accept_bytes(damaged) and matcher.is_accepting()) == verdicts[-1], damaged
    assert 10 < sum(verdicts) < len(verdicts) - 10


def walks(constraint: pdacon.Constraint, random: Random, number: int) -> list[bytes]:
    texts = []
    for _ in range(number):
        matcher, text = constraint.matcher(), b""
        while len(text) < 25:
            allowed = [byte for byte in range(256) if matcher.is_allowed(byte)]
            byte = random.choice(allowed)
            assert matcher.accept_token(byte)
            text += bytes([byte])
        texts.append(text + matcher.shortest_completion())
    return texts


def test_samples_are_latin_1() -> None:
    grammar = Grammar.from_lark('start: E+ "!"\nE: "\\xe9"', use_bytes=True)
    texts = list(islice(sample(pdacon.compile(grammar, EVERY_BYTE), 1), 5))
    assert all(lark_parser(grammar).parse(text.encode("latin-1")) for text in texts)


NEVER_PARSES: dict[str, tuple[str, dict[str, Any], str]] = {
    "a character that is no byte": (r'start: "\u20ac"', {}, "use_bytes"),
    "one in a class": (r"start: /[\u0100-\u0200]/", {}, "use_bytes"),
    "one in a named terminal": ('start: "a" A\nA: /\\u20ac/', {}, "use_bytes"),
    "the flag u": ("start: /a/u", {}, "use_bytes"),
    "the flag u inside": ("start: /(?u:a)/", {}, "use_bytes"),
    "a name of a character": (r"start: /\N{DIGIT ONE}/", {}, "use_bytes"),
    "the flag UNICODE for all": ("start: /a/", {"g_regex_flags": re.UNICODE}, "g_regex_flags"),
}


@pytest.mark.parametrize("name", NEVER_PARSES)
def test_what_loads_but_can_never_parse(name: str) -> None:
    text, options, feature = NEVER_PARSES[name]
    parser = lark.Lark(text, parser="lalr", use_bytes=True, **options)
    for asked in (b"a", b"\xe2\x82\xac", b"1", b"aa", b"a\xe2\x82\xac"):
        with pytest.raises(Exception):  # noqa: B017 (re.error, UnicodeEncodeError, ValueError)
            parser.parse(asked)
    for given in (text, parser):
        with pytest.raises(UnsupportedGrammarError, match="Lark can match nothing") as caught:
            Grammar.from_lark(given, **({"use_bytes": True, **options} if given is text else {}))  # type: ignore[arg-type]
        assert caught.value.feature == feature


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        (r'start: "\xff\xd8"', r'name it, .*MAGIC: "\\xff\\xd8"'),
        (r'start: "a"' "\n" r'%ignore "\u1234"', r"U\+1234 is no byte.*in UTF-8 this one is \\xe1\\x88\\xb4"),
        (r'start: "a"' "\n" r"%ignore /[\x80-\u0100]/", r"U\+0100 is no byte.*characters up to \\xff"),
        ('start: "a"\n%ignore /b/u', "leave the flag u out"),
    ],
)
def test_what_is_no_bytes_is_told_from_what_is_only_named_so(text: str, way_out: str) -> None:
    with pytest.raises(UnsupportedGrammarError, match=way_out):
        Grammar.from_lark(text, use_bytes=True)


@pytest.mark.parametrize("use", ['start: MAGIC\nMAGIC: "\\xff\\xd8"', 'start: "\\xff\\xd8"\nMAGIC: "\\xff\\xd8"'])
def test_bytes_with_a_name_parse(use: str) -> None:
    """A literal takes the name of the terminal that has its text."""
    matcher = pdacon.compile(Grammar.from_lark(use, use_bytes=True), EVERY_BYTE).matcher()
    assert lark.Lark(use, parser="lalr", use_bytes=True).parse(b"\xff\xd8")
    assert matcher.accept_bytes(b"\xff\xd8")
    assert matcher.is_accepting()


@pytest.mark.parametrize(
    "text", ["start: /a/ // é", 'start: "é"', "start: A\nA: /[é]/", "start: /a/l", "start: /a/\n%import common.WS -> Ë"]
)
def test_what_lark_refuses(text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017 (ConfigurationError, LexError)
        lark.Lark(text, parser="lalr", use_bytes=True)
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark(text, use_bytes=True)
    assert caught.value.span is not None


def test_indentation_of_bytes_is_refused_as_lark_fails_on_every_line() -> None:
    text = 'start: ("a" _NEWLINE)+\n_NEWLINE: /\\n */\n%declare _INDENT _DEDENT'
    parser = lark.Lark(text, parser="lalr", use_bytes=True, postlex=PythonIndenter())
    with pytest.raises(IndexError):
        parser.parse(b"a\n")
    with pytest.raises(UnsupportedGrammarError, match="write the grammar over text") as caught:
        Grammar.from_lark(parser)
    assert caught.value.feature == "postlex"
