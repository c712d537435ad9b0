"""A text in Lark's language that was read before is not read again, and nothing else changes by that."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import lark
import pytest

import pdacon
from pdacon import Grammar, GrammarWarning
from pdacon.grammar import lark_reading, loading
from pdacon.grammar.builtin import builtin_source

WORDS = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"ab", b"ba", None], eos_ids=[258])


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are read, from now on."""
    texts: list[str] = []
    read = lark_reading.load

    def recorded(builder: lark_reading.RecordingBuilder, *rest: object) -> object:
        texts.append(builder.source.text)
        return read(builder, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(lark_reading, "load", recorded)
    return texts


def test_the_same_text_with_the_same_options(readings: list[str]) -> None:
    text = 'start: "a" other // the same text\nother: "b"+'
    one, two = Grammar.from_lark(text), Grammar.from_lark(text)
    assert readings == [text]
    assert one == two
    assert Grammar.from_lark(text, start="other") != one
    assert Grammar.from_lark(text, source_path="there.lark").data.source_path == "there.lark"
    assert Grammar.from_lark(text, conflicts="shift").data.options.conflicts == "shift"
    assert readings == [text] * 4


def test_what_can_change_is_read_again(readings: list[str], tmp_path: Path) -> None:
    (tmp_path / "part.lark").write_text('word: "a"\n')
    text = "start: word\n%import .part.word"
    path = tmp_path / "whole.lark"
    assert Grammar.from_lark(text, source_path=path).accepts("a")
    (tmp_path / "part.lark").write_text('word: "b"\n')
    assert Grammar.from_lark(text, source_path=path).accepts("b")
    plain = "start: NUMBER\n%import common.INT -> NUMBER"
    for _ in range(2):
        assert Grammar.from_lark(plain, import_paths=[tmp_path]).accepts("1")
    assert readings == [text, text, plain, plain]


def test_what_the_package_has_does_not_change(readings: list[str]) -> None:
    text, path = builtin_source("json_compact")
    text += "// read once\n"
    for _ in range(2):
        assert Grammar.from_lark(text, source_path=path).accepts("[1]")
    assert readings == [text]


def test_warnings_are_given_each_time(readings: list[str]) -> None:
    posix, unmatched = "start: /[[:alpha:]]x/", "start: COLOUR | ANY // once more\nCOLOUR: /red|blue/\nANY.2: /[a-z]+/"
    for _ in range(2):
        with pytest.warns(GrammarWarning, match="no class of characters"):
            Grammar.from_lark(posix)
        with pytest.warns(GrammarWarning, match="PDA010"):
            pdacon.compile(unmatched, WORDS)
    assert readings == [posix, unmatched]


def test_errors_are_raised_each_time(readings: list[str]) -> None:
    conflicting = 'start: start start | "a" // raised each time'
    for _ in range(2):
        with pytest.raises(pdacon.GrammarSyntaxError):
            Grammar.from_lark("start: missing")
        with pytest.raises(pdacon.NondeterministicGrammarError):
            pdacon.compile(conflicting, WORDS)
    assert readings.count(conflicting) == 1


def walk(constraint: pdacon.Constraint) -> list[list[int]]:
    matcher, masks = constraint.matcher(), []
    for byte in b"abba":
        masks.append(matcher.allowed_tokens())
        assert matcher.accept_token(byte)
    return [*masks, matcher.allowed_tokens()]


def test_its_automata_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'start: ("a" | "b" "b")* "a" // its automata'
    first = walk(pdacon.compile(text, WORDS))

    def refused(*_: object) -> None:
        raise AssertionError("lowered again")

    monkeypatch.setattr("pdacon.front.stages.lower", refused)
    assert walk(pdacon.compile(text, WORDS)) == first
    assert pdacon.compile(text, pdacon.Vocabulary.bytes()).accepts("abba")
    with pytest.raises(AssertionError, match="lowered again"):
        pdacon.compile(text, WORDS, limits=pdacon.Limits(states=1_000))


def test_a_cache_finds_a_text_without_reading_it(
    readings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'start: "a"+ // of a cache'
    first = pdacon.CompileCache(directory=tmp_path).compile(text, WORDS)
    assert readings == [text]

    def refused(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(lark_reading, "read_once", refused)
    cache = pdacon.CompileCache(directory=tmp_path)
    found = cache.compile(text, WORDS)
    assert cache.statistics()["loads"] == 1
    assert found.matcher().allowed_tokens() == first.matcher().allowed_tokens()
    assert found.grammar == first.grammar
    assert cache.compile(text, WORDS) is found
    with pytest.raises(ValueError, match="no built-in grammar"):
        cache.compile("nothing", WORDS)


def test_few_are_kept(readings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f'start: "a" // number {number}' for number in range(20)]
    for text in texts:
        Grammar.from_lark(text)
    Grammar.from_lark(texts[19])
    Grammar.from_lark(texts[0])
    assert readings == [*texts, texts[0]]
    monkeypatch.setattr(lark_reading, "_MOST_BYTES", 0)
    Grammar.from_lark("start: /too large/")
    Grammar.from_lark("start: /too large/")
    assert readings[21:] == ["start: /too large/"] * 2


def test_large_automata_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdacon.front.stages._MOST_KEPT", 1_000)
    text = 'start: "a"+ // too large'
    for _ in range(2):
        assert pdacon.compile(text, WORDS).accepts("aa")
    monkeypatch.setattr("pdacon.front.stages.lower", lambda *_: pytest.fail("lowered again", pytrace=False))
    with pytest.raises(pytest.fail.Exception):
        pdacon.compile(text, WORDS)


def test_regular_expressions_of_an_earlier_text_are_not_parsed_again_for_their_widths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lark sorts alternatives of terminals by what they match at most."""
    parsed: list[str] = []
    widths = loading._kept_width

    def counted(expression: str) -> object:
        parsed.append(expression)
        return widths.__wrapped__(expression)

    monkeypatch.setattr(loading, "_kept_width", lru_cache(counted))
    terminals = "start: T\nT: /[a-c]{2}/ | /x+/ | /y/ /z?/\n"
    first = Grammar.from_lark(f'{terminals}U: "1"\n', start=["start"])
    assert len(parsed) == len(set(parsed)) > 2
    before = len(parsed)
    second = Grammar.from_lark(f'{terminals}U: "2"\n', start=["start"])
    assert len(parsed) == before
    pattern = lark.Lark(f'{terminals}U: "2"\n', parser="lalr").get_terminal("T").pattern
    assert first.data.terminals[0].pattern == second.data.terminals[0].pattern
    assert second.data.terminals[0].pattern.value == pattern.value
    assert lark.lexer.get_regexp_width is lark.utils.get_regexp_width
    assert [widths(one) for one in parsed] == [lark.utils.get_regexp_width(one) for one in parsed]


def test_after_a_refused_text_lark_is_as_it_was() -> None:
    with pytest.raises(pdacon.GrammarError):
        Grammar.from_lark("start: T\nT: /(/ | /b/\n")
    assert lark.lexer.get_regexp_width is lark.utils.get_regexp_width
