"""Grammars with groups that stand for sets of texts, by brute force against stock Lark.

Stock Lark gets the same grammar with each group written out as all that it stands for, one alternative after the other.
A mask has the tokens whose text goes on to some sentence.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterable

import lark
import pytest

import pdacon
from pdacon import Grammar, RegularSet, Vocabulary

_TOKENS = [b"a", b"b", b",", b'"', b"\\", b"\n", b":", b" ", b"\xc3", b"\xa9", b"\xc3\xa9", b"ab", b"ba", b",b", b'a"']
VOCABULARY = Vocabulary.from_tokens([*_TOKENS, b"\xa9a", b"\\\\", b"", None], eos_ids=[len(_TOKENS) + 3])


def _substrings(text: str) -> str:
    """All of them, the longer first, as one that reads the longest tries them."""
    found = {text[begin:end] for begin in range(len(text)) for end in range(begin + 1, len(text) + 1)}
    return _either(sorted(found, key=lambda one: (-len(one), one)))


def _subsequences(*elements: str) -> str:
    def behind(rest: tuple[str, ...]) -> Iterable[str]:
        if not rest:
            yield ""
            return
        for further in behind(rest[1:]):
            yield f",{rest[0]}{further}"
        yield from behind(rest[1:])

    return _either(f"{element}{further}" for k, element in enumerate(elements) for further in behind(elements[k + 1 :]))


def _either(texts: Iterable[str]) -> str:
    return f"(?:{'|'.join(texts)})"


_ANY_QUOTED = r'"(?:[ab,:\x20]|\\["\\ab,:\x20])*"'
CASES = {
    "substrings": ("abé", r"/(?P<SUBSTRING_OF>abéab)/", f"/{_substrings('abéab')}/", 7),
    "substrings, and on": ("ab,", r"/(?P<SUBSTRING_OF>abb)b,?/", f"/{_substrings('abb')}b,?/", 6),
    "substrings in turn": ("ab", r"/(?P<SUBSTRING_OF>ab){2,3}/", f"/{_substrings('ab')}{{2,3}}/", 7),
    "maybe a substring": ("ab,", r"/,(?P<SUBSTRING_OF>ba)?,/", f"/,{_substrings('ba')}?,/", 5),
    "lazily": ("ab", r"/(?:(?P<SUBSTRING_OF>aab))+?b/", f"/(?:{_substrings('aab')})+?b/", 6),
    "not the longest": ("ab", r"/(?P<SUBSTRING_OF>abba)(?!b)/ B?", f"/{_substrings('abba')}(?!b)/ B?", 6),
    "beside a keyword": ("ab,", r'(T | "ab" ",")' "\n" r"T: /(?P<SUBSTRING_OF>abab)/", None, 6),
    "until": ("ab", r"/(?P<TEXT_UNTIL>ab)/ B?", r"/[^a]*(?:a+[^ab])*a+b/ B?", 6),
    "until a line ends": ("ab\n", r"/b(?P<TEXT_UNTIL>\n)a/", r"/b[^\n]*\na/", 6),
    "until itself": ("ab", r"/(?P<TEXT_UNTIL>aba)/", r"/b*a+(?:bb+a+)*ba/", 8),
    "quoted": ('a"\\', r"/(?P<QUOTED_TEXT>)/", f"/{_ANY_QUOTED}/", 6),
    "unquoted": ("a:, ", r"/(?P<UNQUOTED_TEXT>)/ E?", r"/a(?: *:*a)*/ E?", 7),
    "lists": ("ab,", r"/(?P<DELIMITED_LIST>,|a|b)b?/", r"/(?:a|b)(?:,(?:a|b))*b?/", 6),
    "lists of substrings": ("ab,", r"/(?P<DELIMITED_LIST>,|(?P<SUBSTRING_OF>ab))/", r"/(?:ab|a|b)(?:,(?:ab|a|b))*/", 7),
    "subsequences": ("ab,", r"/(?P<DELIMITED_SUBSEQUENCE_OF>,|a|b|ab)/", f"/{_subsequences('a', 'b', 'ab')}/", 7),
    "a set": ("ab,", r"/(?P<OWN>)(?P<SUBSTRING_OF>a,)/", r"/(?:ab+|bb?a|)(?:a,|a|,)/", 6),
}
OWN = {"OWN": RegularSet.from_regex("ab+|bba|ba|")}
_REST = 'B: "b"\nE: ","\n'


def _sentences(grammar: str, alphabet: str, longest: int) -> set[bytes]:
    parser = lark.Lark(grammar, parser="lalr")
    found = set()
    for length in range(1, longest + 1):
        for word in map("".join, itertools.product(alphabet, repeat=length)):
            try:
                parser.parse(word)
            except lark.exceptions.LarkError:
                continue
            found.add(word.encode())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_masks_are_those_of_the_definition(name: str) -> None:
    alphabet, asked, written, longest = CASES[name]
    if written is None:
        written = asked.replace("(?P<SUBSTRING_OF>abab)", _substrings("abab"))
    sentences = _sentences(f"start: {written}\n{_REST}", alphabet, longest)
    prefixes = {text[:end] for text in sentences for end in range(len(text) + 1)}
    grammar = Grammar.from_lark(f"start: {asked}\n{_REST}", extensions=True, sets=OWN)
    constraint = pdacon.compile(grammar, VOCABULARY)
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes(), VOCABULARY, verify=True)
    finite = all(len(text.decode()) < longest for text in sentences)
    compared = 0
    for before in sorted(prefixes):
        if not finite and len(before.decode(errors="ignore")) > longest - 4:
            continue
        for each in (constraint, loaded):
            matcher = each.matcher()
            assert matcher.accept_bytes(before)
            expected = [token for token, text in enumerate(VOCABULARY.tokens) if text and before + text in prefixes]
            assert [t for t in matcher.allowed_tokens() if t not in VOCABULARY.eos_ids and _is_in(t, alphabet)] == (
                expected
            ), before
            assert matcher.is_accepting() == (before in sentences), before
            completion = matcher.shortest_completion()
            assert before + completion in sentences or not set(completion) <= set(alphabet.encode())
        compared += 1
    assert compared > 3


def _is_in(token: int, alphabet: str) -> bool:
    """Whether a token is made of characters of which the sentences are known."""
    text = VOCABULARY.tokens[token] or b""
    known = {byte for character in alphabet for byte in character.encode()}
    return known.issuperset(text)


def test_a_keyword_that_a_set_has_is_renamed() -> None:
    grammar = Grammar.from_lark(
        'start: (KEY | QUOTE) "."\nKEY: "none"\nQUOTE: /(?P<SUBSTRING_OF>all or none)/\n', extensions=True
    )
    assert all(map(grammar.accepts, ("none.", "all.", "l or no.")))
    assert not grammar.accepts("nones.")
    assert not grammar.accepts("none or.")  # the set has no such text


def test_labels_stand_beside_sets() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b",", None, None], eos_ids=[4]).with_labels(IMAGE=[3])
    grammar = Grammar.from_lark(r"start: /(?P<DELIMITED_LIST>,|(?P<IMAGE>)|b(?P<SUBSTRING_OF>aa))/", extensions=True)
    constraint = pdacon.compile(grammar, vocabulary)
    matcher = constraint.matcher()
    assert matcher.allowed_tokens() == [1, 3]
    assert [matcher.accept_token(token) for token in (3, 2, 1, 0, 0, 0)] == [True] * 5 + [False]
    assert matcher.allowed_tokens() == [2, 4]


@pytest.mark.slow
@pytest.mark.parametrize("texts", [(), ("",), ("", "a"), ("b", "ba")])
@pytest.mark.parametrize("pattern", ["c{X}", "c{X}?d", "a|b{X}", "c({X}|b)d", "c{X}*d", "c{X}{X}b", "(?:c{X})+"])
def test_sets_of_few_texts_or_none(pattern: str, texts: tuple[str, ...]) -> None:
    """Beside ``re``, which has ``(?!)`` for a set without a text. A terminal without one is a branch that cannot be."""
    written = f"(?:{'|'.join(sorted(texts, key=len, reverse=True)) if texts else '(?!)'})"
    known = re.compile(pattern.replace("{X}", written))
    own = RegularSet.from_choices(texts) if texts else RegularSet.from_choices(["a"]) - RegularSet.from_choices(["a"])
    text = f'start: "=" | "(" /{pattern.replace("{X}", "(?P<X>)")}/ ")"'
    grammar = Grammar.from_lark(text, extensions=True, sets={"X": own})
    words = ["".join(word) for length in range(5) for word in itertools.product("abcd", repeat=length)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        constraint = pdacon.compile(grammar, Vocabulary.bytes())
    meant = [word for word in words if (found := known.match(f"{word})")) and found.end() == len(word)]
    assert constraint.accepts("=")
    assert [word for word in words if constraint.accepts(f"({word})")] == meant
    assert [True for one in caught if "is never matched, so no text has what needs it" in str(one.message)] == (
        [] if meant else [True]
    )


def test_a_set_of_texts_may_be_large() -> None:
    """What comes as an automaton does not count among the states that a grammar may have beside it."""
    text = "".join(chr(ord("a") + (k * k // 7 + k // 5) % 26) for k in range(20_000))
    limits = pdacon.Limits(states=1_000)
    grammar = Grammar.from_lark(f'start: "<" QUOTE ">"\nQUOTE: /(?P<SUBSTRING_OF>{text})/\n', extensions=True)
    constraint = pdacon.compile(grammar, Vocabulary.bytes(), limits=limits)
    assert constraint.accepts(f"<{text[777:1234]}>")
    assert constraint.accepts(f"<{text}>")
    assert not constraint.accepts(f"<{text}a>")
