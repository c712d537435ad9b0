"""The sets that patterns have as groups, as functions, against their definitions: all texts of a small world."""

from __future__ import annotations

import itertools
import pickle
import re
from collections.abc import Callable, Iterator

import pytest

import pdacon
from pdacon import Grammar, RegularSet


def _texts(alphabet: str, longest: int) -> Iterator[str]:
    for length in range(longest + 1):
        yield from map("".join, itertools.product(alphabet, repeat=length))


def _is_quoted(text: str) -> bool:
    if len(text) < 2 or text[0] != '"' or "\n" in text or "\r" in text:
        return False
    at = 1
    while at < len(text) - 1:
        if text[at] == '"':
            return False
        at += 2 if text[at] == "\\" else 1
    return at == len(text) - 1 and text[at] == '"'


def _is_list(text: str, elements: set[str], delimiter: str) -> bool:
    return text in elements or any(
        text.startswith(element + delimiter) and _is_list(text[len(element + delimiter) :], elements, delimiter)
        for element in elements
    )


def _subsequences(elements: list[str], delimiter: str) -> set[str]:
    return {
        delimiter.join(some)
        for count in range(1, len(elements) + 1)
        for some in itertools.combinations(elements, count)
    }


_SOME = RegularSet.from_choices(["a", "ab", "b,"])
_WORDS = ["a", "", "b,", "ab"]
CASES: dict[str, tuple[RegularSet, str, int, Callable[[str], bool]]] = {
    "quoted": (RegularSet.quoted_text(), '"\\a\n', 6, _is_quoted),
    "until a": (RegularSet.text_until("a"), "ab", 6, lambda text: text.find("a") == len(text) - 1 >= 0),
    "until aba": (RegularSet.text_until("aba"), "abc", 7, lambda text: 0 <= text.find("aba") == len(text) - 3),
    "until é": (RegularSet.text_until("é.\n"), "é.\n", 6, lambda text: 0 <= text.find("é.\n") == len(text) - 3),
    "substrings": (RegularSet.substring_of("abéba😀é"), "abé😀", 5, lambda text: text != "" and text in "abéba😀é"),
    "substrings of one": (RegularSet.substring_of("aaaa"), "ab", 6, lambda text: text != "" and text in "aaaa"),
    "substrings of none": (RegularSet.substring_of(""), "ab", 3, lambda text: False),
    "lists": (RegularSet.delimited_list(_SOME, ","), "ab,", 7, lambda text: _is_list(text, {*_SOME}, ",")),
    "lists of a text": (RegularSet.delimited_list("ab", ""), "ab", 7, lambda text: _is_list(text, {"ab"}, "")),
    "subsequences": (
        RegularSet.delimited_subsequence_of(_WORDS, ","),
        "ab,",
        8,
        lambda text: text in _subsequences(_WORDS, ","),
    ),
    "no subsequence": (RegularSet.delimited_subsequence_of([], ","), "a,", 3, lambda text: False),
}


@pytest.mark.parametrize("name", CASES)
def test_a_set_has_the_texts_of_its_definition(name: str) -> None:
    regular_set, alphabet, longest, is_in = CASES[name]
    again = pickle.loads(pickle.dumps(regular_set))
    combined = ~~regular_set  # by way of the least automaton, which substrings make only when it is asked for
    for text in _texts(alphabet, longest):
        assert (text in regular_set) == (text in combined) == (text in again) == is_in(text), text
    assert regular_set == combined == again
    assert bool(regular_set) == any(map(is_in, _texts(alphabet, longest)))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[0]])
def test_a_grammar_of_a_set_has_its_texts(name: str) -> None:
    regular_set, alphabet, longest, is_in = CASES[name]
    alone = pdacon.compile(regular_set, pdacon.Vocabulary.bytes())
    named = Grammar.from_lark('start: T "!"\nT: /(?P<OWN>)/', extensions=True, sets={"OWN": regular_set - _EMPTY})
    terminal = pdacon.compile(named, pdacon.Vocabulary.bytes())
    within = pdacon.compile(
        Grammar.from_lark("start: ANY\nANY: /[^~]+/") & regular_set.named("own"), pdacon.Vocabulary.bytes()
    )
    for text in _texts(alphabet, min(longest, 5)):
        assert alone.accepts(text) == is_in(text), text
        if "!" not in text and text:
            assert terminal.accepts(text + "!") == within.accepts(text) == is_in(text), text


_EMPTY = RegularSet.from_choices([""])


@pytest.mark.slow
def test_unquoted_text_is_a_plain_scalar_of_yaml() -> None:
    """What another library reads as the text itself, within brackets and in a block."""
    yaml = pytest.importorskip("yaml")
    regular_set = RegularSet.unquoted_text()

    def reads(text: str) -> bool:
        try:
            # In brackets PyYAML takes no question mark, which YAML 1.2 does.
            within = "," not in text if "?" in text else yaml.load(f"k: [{text}]", yaml.BaseLoader) == {"k": [text]}
            return bool(within and yaml.load(f"k: {text}", yaml.BaseLoader) == {"k": text})
        except yaml.YAMLError:
            return False

    seen = 0
    for text in _texts("a#: -,?é\t", 4):
        if text in regular_set:
            assert "\t" in text or reads(text), text
            seen += 1
        elif reads(text):
            assert text[0] in "-?:" or "\t" in text or text[-1] == ":", text
    assert seen > 200


def test_substrings_are_linear_in_the_text() -> None:
    text = "".join(chr(0x4E00 + (k * k // 3) % 300) if k % 5 else "word "[k % 4 :] for k in range(40_000))
    program = RegularSet.substring_of(text).program()
    assert program is not None
    assert len(program) < 2 * 4 * len(text)
    constraint = pdacon.compile(RegularSet.substring_of(text), pdacon.Vocabulary.bytes())
    assert constraint.accepts(text)
    assert constraint.accepts(text[12_345:23_456])
    assert not constraint.accepts(text[12_345:23_456] + "\n")
    assert repr(RegularSet.substring_of(text)).endswith(f"a text of {len(text):,} characters>")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: RegularSet.from_regex("(?<=a+)b"), pdacon.UnsupportedGrammarError),  # which re's parser lets through
        (lambda: RegularSet.text_until(""), ValueError),
        (lambda: RegularSet.text_until(b"a"), TypeError),  # type: ignore[arg-type]
        (lambda: RegularSet.substring_of("a\ud800"), ValueError),
        (lambda: RegularSet.substring_of(["a"]), TypeError),  # type: ignore[arg-type]
        (lambda: RegularSet.delimited_list(1, ","), TypeError),  # type: ignore[arg-type]
        (lambda: RegularSet.delimited_subsequence_of("ab", ","), TypeError),
        (lambda: ~RegularSet.substring_of("ab" * 9, limits=pdacon.Limits(states=3)), pdacon.LimitExceededError),
    ],
)
def test_what_is_no_argument_is_refused(make: Callable[[], object], error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


@pytest.mark.parametrize("pattern", [r"(?!\B)", r"(?!\B)a?", r"(?<!\B)b?", r"\B|a", r"\b|a", r"(?:\B)?b?"])
def test_what_re_matches_of_the_empty_text(pattern: str) -> None:
    """Before Python 3.14 its ``\\B`` matches nowhere in the empty text, so that what must not match there does."""
    texts = RegularSet.from_regex(pattern)
    for text in ("", "a", "b", "ab"):
        assert (text in texts) == (re.fullmatch(pattern, text) is not None)
