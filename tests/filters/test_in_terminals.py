"""Filters within some terminals: these match what their patterns do on the characters that the filter allows."""

from __future__ import annotations

import re
import unicodedata
from itertools import product

import pytest
from support.canonical_oracle import followers, require_equal_masks
from support.small_tokenizers import train_byte_level

import pdacon
from pdacon import Vocabulary
from pdacon.errors import EmptyLanguageError, UnsupportedGrammarError
from pdacon.filters import Characters, InTerminals, NormalForm, Scripts
from pdacon.filters.canonical import Canonical
from pdacon.frontends.narrowing import with_terminals_within
from pdacon.lexer import compile_terminal
from pdacon.regular.ordered.running import runner_of

BYTES = Vocabulary.bytes()
PATTERNS = [
    "a+",
    "a+?b?",
    "(a|ab)(c|bc)?",
    '"[^"]*"',
    '".*?"',
    "(ab|a)*c",
    "[^c]+",
    "a(?=b)b?",
    "(a+)(?!c)",
    "é?[a-é]+",
    "(?i:AB)c",
    "a{2,3}?",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_are_those_of_the_pattern_on_what_is_allowed(pattern: str) -> None:
    """Where a pattern looks at nothing behind it: on the text up to the first character that is not allowed."""
    grammar = pdacon.Grammar.from_lark(f"start: T\nT: /{pattern}/")
    alphabet = "abcé" + ('"' if '"' in pattern else "")
    looks = "(?" in pattern and "(?i" not in pattern
    for allowed in ("ab", "abc", "aé", 'ab"é', "bc"):
        within = Characters(list(allowed)).texts()
        try:
            narrow = with_terminals_within(grammar.data, ["T"], within, 10_000)
        except EmptyLanguageError:
            narrow = None
        runner = None if narrow is None else runner_of(compile_terminal(narrow, narrow.terminals[0]))
        for length in range(6):
            for text in map("".join, product(alphabet, repeat=length)):
                cut = next((at for at, one in enumerate(text) if one not in allowed), len(text))
                whole = re.match(pattern, text)
                if looks:  # what is looked at may be anything
                    if whole is not None and whole.end() <= cut:
                        assert runner is not None
                        assert runner.match_end(text.encode()) == len(whole.group().encode()), (allowed, text)
                    continue
                found = re.match(pattern, text[:cut])
                expected = None if found is None else len(found.group().encode())
                assert (None if runner is None else runner.match_end(text.encode())) == expected, (allowed, text)


def test_json_with_korean_strings() -> None:
    """The example of section 4.2: syntax and keywords as they are, strings of one script."""
    made = pdacon.compile("json", BYTES, filters=[InTerminals("STRING", Scripts(["Hangul"]))])
    assert made.accepts('{"이름": "홍길동", "나이": [30, true, null, 1e5]}')
    for text in ('{"name": 1}', '["한국 Korea"]', '["日本"]'):
        assert not made.accepts(text)
    everywhere = pdacon.compile("json", BYTES, filters=[Scripts(["Hangul"])])
    assert not everywhere.accepts('["한국", true]')


def test_the_syntax_stays_ascii_where_a_string_may_be_anything() -> None:
    grammar = 'start: NAME "=" STRING\nNAME: /\\w+/\nSTRING: /"[^"]*"/'
    made = pdacon.compile(grammar, BYTES, filters=[InTerminals(["NAME"], Characters("ascii"))])
    assert made.accepts('name="日本"')
    assert not made.accepts('名="日本"')


@pytest.mark.slow
def test_a_normal_form_within_strings() -> None:
    made = pdacon.compile('start: E STRING\nE: "e\u0301"\nSTRING: /"[^"]*"/', BYTES,
                          filters=[InTerminals("STRING", NormalForm("NFC"))])  # fmt: skip
    assert made.accepts('e\u0301"é"')
    assert not made.accepts('e\u0301"e\u0301"')


def test_literals_are_terminals() -> None:
    grammar = 'start: "yes" | "ja" | WORD\nWORD: /[a-z]{3}/'
    with pytest.raises(EmptyLanguageError, match='"yes"'):
        pdacon.compile(grammar, BYTES, filters=[InTerminals('"yes"', Characters(["j", "a"]))])
    made = pdacon.compile(grammar, BYTES, filters=[InTerminals(['"ja"', "WORD"], Characters(["j", "a"]))])
    assert made.accepts("aja")
    assert made.accepts("yes")
    assert not made.accepts("abc")


@pytest.mark.slow
def test_beside_canonical_and_other_filters() -> None:
    tokenizer = train_byte_level("gpt2", ["<end>"])
    vocabulary = Vocabulary.from_huggingface(tokenizer, eos_ids=tokenizer.token_to_id("<end>"))
    filters = [InTerminals("WORD", Characters(list("quick"))), NormalForm("NFC")]
    grammar = 'start: "the " WORD\nWORD: /[a-z]{4,5}/'
    made = pdacon.compile(grammar, vocabulary, canonical=tokenizer, filters=filters)
    texts = ["the " + "".join(one) for size in (4, 5) for one in product("quick", repeat=size)]
    encoded = followers(texts, lambda text: list(tokenizer.encode(text).ids), vocabulary.eos_ids[0])
    require_equal_masks(made, {ids: found for ids, found in encoded.items() if len(ids) < 4})


def test_it_is_in_files_and_reports() -> None:
    filters = [InTerminals("STRING", Scripts(["Hangul"]))]
    made = pdacon.compile("json", BYTES, filters=filters)
    again = pdacon.Constraint.from_bytes(made.to_bytes(), BYTES)
    assert again.accepts('["한국"]')
    assert not again.accepts('["Korea"]')
    assert made.report.ok
    assert all(unicodedata.name(one).startswith("HANGUL") or one.isascii() or not one.isalpha()
               for text in made.grammar.sample(30, seed=1) for one in text)  # fmt: skip


def test_what_it_is_for() -> None:
    with pytest.raises(ValueError, match="did you mean STRING"):
        pdacon.compile("json", BYTES, filters=[InTerminals("STRNG", Characters("ascii"))])
    with pytest.raises(UnsupportedGrammarError, match="looks at the text before it"):
        pdacon.compile("start: /a/ T\nT: /(?<=a)b/", BYTES, filters=[InTerminals("T", Characters("ascii"))])
    grammar = pdacon.Grammar.from_lark("start: T\nT: /b/", use_bytes=True)
    with pytest.raises(UnsupportedGrammarError, match="use_bytes"):
        pdacon.compile(grammar, BYTES, filters=[InTerminals("T", Characters("ascii"))])
    for names, inside in (([], Characters("ascii")), ([1], Characters("ascii")), ("T", Characters), ("T", "ascii")):
        with pytest.raises(TypeError, match="InTerminals"):
            InTerminals(names, inside)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="InTerminals"):
        InTerminals("T", Canonical(None))


def test_the_filter_is_named_where_it_refuses() -> None:
    filters = [InTerminals("STRING", Scripts(["Hangul"])), InTerminals("STRING", Characters(list('"한국"')))]
    made = pdacon.compile("json", BYTES, filters=filters)
    for constraint in (made, pdacon.Constraint.from_bytes(made.to_bytes())):
        matcher = constraint.matcher()
        assert matcher.accept_bytes('["한'.encode())
        reason = matcher.explain(b"x").reason
        assert "a filter leaves of STRING only the script Hangul and the characters" in reason
        matcher = constraint.matcher()
        assert "filter" not in matcher.explain(b"}").reason.split("STRING")[0]
    assert "filter" not in pdacon.compile("json", BYTES).matcher().explain(b"x").reason


def test_beside_tokens_that_are_no_text() -> None:
    """A filter within a terminal is beside labels; within one that is a label and text, the text is what is left."""
    vocabulary = Vocabulary.from_tokens([b"a", b"\xc3\xa9", b"!", None, None], eos_ids=[4]).with_labels(IMAGE=[3])
    grammar = pdacon.Grammar.from_lark(
        "start: (IMAGE | NAME | BOTH)+\nIMAGE: /(?P<IMAGE>)/\nNAME: /[a\u00e9]/\nBOTH: /!(?P<IMAGE>)?/", extensions=True
    )
    plain = pdacon.compile(grammar, vocabulary)
    named = pdacon.compile(grammar, vocabulary, filters=[InTerminals("NAME", Characters("ascii"))])
    both = pdacon.compile(grammar, vocabulary, filters=[InTerminals(["NAME", "BOTH"], Characters("ascii"))])
    assert [set(one.matcher().allowed_tokens()) for one in (plain, named, both)] == [{0, 1, 2, 3}, {0, 2, 3}, {0, 2, 3}]
    assert [one.matcher().validate_tokens([3, 0, 2, 3, 4]) for one in (named, both)] == [5, 5]
    with pytest.raises(UnsupportedGrammarError, match="filters are"):
        pdacon.compile(grammar, vocabulary, filters=[Characters("ascii")])
