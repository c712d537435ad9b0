"""Filters as values: alone, together, and beside a grammar; the oracles are `unicodedata` and the package regex."""

from __future__ import annotations

import re
import unicodedata
from itertools import product

import pytest
import regex

import pdacon
from pdacon import Vocabulary
from pdacon.errors import EmptyLanguageError, UnsupportedGrammarError
from pdacon.filters import Characters, NormalForm, Scripts, Words
from pdacon.filters.automata import without

BYTES = Vocabulary.bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Latin", "Hangul", "Han", "Common", "Inherited", "Nko", "old_italic"])
def test_scripts_are_those_of_the_property(name: str) -> None:
    """The package may be of an older or newer Unicode: what it has no script for does not count."""
    allowed = Scripts([name], common=False).texts()
    text = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    inside = "".join(regex.findall(rf"\p{{Script={name}}}+", text))
    assert inside in allowed
    for one in regex.findall(rf"[^\p{{Script={name}}}\p{{Script=Unknown}}]", text):
        assert one not in allowed, ascii(one)


def test_an_unknown_script_is_refused_with_what_is_spelled_alike() -> None:
    with pytest.raises(ValueError, match="Hangul"):
        Scripts(["Hangull"])
    with pytest.raises(TypeError, match=r"Scripts\(\["):
        Scripts("Latin")
    with pytest.raises(ValueError, match="no script"):
        Scripts([])


def test_characters() -> None:
    assert "abc" in Characters("ascii").texts()
    assert "é" not in Characters("ascii").texts()
    assert "ab" in Characters(["a", "b"]).texts()
    assert "c" not in Characters(["a", "b"]).texts()
    with pytest.raises(ValueError, match="list"):
        Characters("abc")
    with pytest.raises(TypeError, match="single"):
        Characters(["ab"])
    with pytest.raises(ValueError, match="NFKD"):
        NormalForm("NFX")  # type: ignore[arg-type]


def test_filters_of_nothing_name_themselves() -> None:
    with pytest.raises(TypeError, match="Words takes a list of words, not None"):
        Words(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a list of characters, not None"):
        Characters(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Scripts takes a list"):
        Scripts(None)  # type: ignore[arg-type]


def test_a_mark_belongs_to_its_word() -> None:
    texts = Words(["a", "e\u0301"]).texts()
    assert "a e\u0301" in texts
    assert all(text not in texts for text in ("a\u0301", "e", "\u0301", "a \u0301"))


def test_texts_without_words() -> None:
    words = ["<|end|>", "<|e", "ab", "bca", "ab"]
    made = without(words)
    from itertools import product

    for length in range(6):
        for text in map("".join, product("abc", repeat=length)):
            assert made.accepts(text) == (not any(word in text for word in words)), text
    assert made.accepts("<|é<||")
    assert not made.accepts("x<|ey")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filters", "good", "bad"),
    [
        ([NormalForm("NFC")], ['"é"', '"e\\u0301"', '"日本"'], ['"e\u0301"', '"\u212b"']),
        ([NormalForm("NFD")], ['"e\u0301"'], ['"é"']),
        ([Characters("ascii")], ['"e"'], ['"é"']),
        ([Scripts(["Hangul"])], ['"한 1"', "[1, 2]"], ['"a"', "true"]),
        ([Scripts(["Latin", "Hangul"]), NormalForm("NFC")], ['"한é"'], ['"日"', '"e\u0301"']),
    ],
)
def test_masks_of_filtered_json(filters: list[pdacon.filters.Filter], good: list[str], bad: list[str]) -> None:
    constraint = pdacon.compile("json", BYTES, filters=filters)
    for text in good:
        assert constraint.accepts(text), text
    for text in bad:
        assert not constraint.accepts(text), text


@pytest.mark.slow
def test_a_mask_has_what_goes_on_to_a_text_in_the_form() -> None:
    """Also across the borders of tokens: the accent is one token, the letter another one."""
    words = [*(bytes([byte]) for byte in range(256)), "\u0301".encode(), b"e" * 2, b""]
    vocabulary = Vocabulary.from_tokens(words, eos_ids=[258])
    grammar = pdacon.Grammar.from_choices(["e\u0301", "x\u0301", "eex"])
    matcher = pdacon.compile(grammar, vocabulary, filters=[NormalForm("NFC")]).matcher()
    assert matcher.allowed_tokens() == [ord("e"), ord("x"), 257]
    assert matcher.accept_bytes(b"e")
    assert matcher.allowed_tokens() == [ord("e")]
    assert "NFC" in matcher.explain(256).reason
    matcher.reset()
    assert matcher.accept_bytes(b"x")
    assert 256 in matcher.allowed_tokens()
    assert unicodedata.is_normalized("NFC", "x\u0301")


@pytest.mark.slow
def test_filters_leave_no_dead_end_together() -> None:
    grammar = pdacon.Grammar.from_choices(["aé", "bx", "b\u0301", "한"])
    matcher = pdacon.compile(grammar, BYTES, filters=[Characters("ascii"), NormalForm("NFC")]).matcher()
    assert matcher.allowed_tokens() == [ord("b")]
    with pytest.raises(EmptyLanguageError, match="NFC"):
        pdacon.compile(pdacon.Grammar.from_choices(["e\u0301"]), BYTES, filters=[NormalForm("NFC")])


def test_a_constraint_with_filters_is_saved_and_loaded() -> None:
    made = pdacon.compile("json", BYTES, filters=[Characters("ascii")])
    loaded = pdacon.Constraint.from_bytes(made.to_bytes(), BYTES)
    assert not loaded.accepts('"é"')


def test_what_is_no_filter_is_refused() -> None:
    for wrong in ("NFC", NormalForm("NFC"), [NormalForm], ["ascii"]):
        with pytest.raises(TypeError, match="filters"):
            pdacon.compile("json", BYTES, filters=wrong)  # type: ignore[arg-type]
    labelled = pdacon.Grammar.from_lark('start: "a" T\nT: /(?P<TEXT_TOKEN>)/', extensions=True)
    with pytest.raises(UnsupportedGrammarError, match="filters are"):
        pdacon.compile(labelled, BYTES, filters=[NormalForm("NFC")])


def test_words_of_a_dictionary() -> None:
    """Each run of letters, whatever stands between them."""
    listed = ["a", "ab", "b\u00e9", "Ab"]
    texts = Words(listed).texts()
    for length in range(6):
        for letters in product("aAb\u00e9 .", repeat=length):
            text = "".join(letters)
            runs = re.findall("[aAb\u00e9]+", text)
            assert (text in texts) == all(run in listed for run in runs), text
    made = pdacon.compile('start: /[^.]+/ "."', BYTES, filters=[Words(listed)])
    assert made.accepts("1 ab-a ab_Ab.")
    assert not made.accepts("aba.")
    matcher = made.matcher()
    assert matcher.accept_bytes(b"aba") is False
    assert "words" in made.matcher().explain(b"aba.").reason
    many = ["".join(letters) for letters in product("abcdefgh", repeat=4)]
    assert "abcd, hgfe!" in Words(many).texts()
    for wrong, error in (
        ("word", TypeError),
        ([1], TypeError),
        (["don't"], ValueError),
        ([""], ValueError),
        ([], ValueError),
    ):
        with pytest.raises(error):
            Words(wrong)  # type: ignore[arg-type]
