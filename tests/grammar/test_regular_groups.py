"""What is said of groups that stand for sets of texts where they are not written as they should be."""

from __future__ import annotations

import pytest

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.errors import GrammarError

WRONG = {
    r"/(?P<TEXT_UNTIL>)/": "it needs a text",
    r"/(?P<SUBSTRING_OF>)/": "it needs a text",
    r"/a(?P<SUBSTRING_OF>ab/": "it is not closed",
    r"/(?P<SUBSTRING_OF>a\d)/": r"its text has \d",
    r"/x(?P<QUOTED_TEXT>a)/": "nothing stands in it",
    r"/(?P<DELIMITED_LIST>, )/": "it needs a delimiter",
    r"/(?P<DELIMITED_LIST>, |)/": "it needs a delimiter",
    r"/(?P<DELIMITED_SUBSEQUENCE_OF>,|a||b)/": "it needs a delimiter",
    r"/(?P<DELIMITED_LIST>,|(?P<own>a))/": "several times",
    r"/(?P<DELIMITED_LIST>,|(a)/": "it is not closed",
    r"/(?P<SUBSTRING>text)/": "did you mean SUBSTRING_OF?",
    r"/(?P<DELIMITED_SUBSEQUENCE>,|a|b)/": "did you mean DELIMITED_SUBSEQUENCE_OF?",
    r"/(?P<SUBSTRING_OF>ab)/i": "has the flag i",
    r"/\b(?P<SUBSTRING_OF>ab)/": "looks at the text before it",
    r"/(?P<SUBSTRING_OF>ab)?/": "can match the empty string",
    r"/(?P<CITY>x)/": "nothing stands in it",
}


@pytest.mark.parametrize("pattern", WRONG)
def test_a_group_that_is_not_as_it_should_be_is_refused_with_its_place(pattern: str) -> None:
    with pytest.raises(GrammarError) as refused:
        Grammar.from_lark(f"start: A\n\nA: {pattern}", extensions=True, sets={"CITY": RegularSet.from_regex("[a-z]+")})
    assert WRONG[pattern] in str(refused.value)
    assert refused.value.span is not None
    assert refused.value.span.line == 3


@pytest.mark.parametrize(
    "pattern",
    [
        r"/(?P<QUOTED_TEXT>)/",
        r"/(?P<SUBSTRING_OF>some text)/",
        r"/a(?P<TEXT_UNTIL>b)/",
        r"/(?P<DELIMITED_LIST>,|a)/",
        r"/a(?P<PARAGRAPH_TOKEN>)+b/",
    ],
)
def test_without_extensions_the_option_is_named(pattern: str) -> None:
    with pytest.raises(pdacon.UnsupportedGrammarError, match="extensions=True") as refused:
        Grammar.from_lark(f"start: A\nA: {pattern}")
    assert refused.value.feature == "extensions"
    assert refused.value.span is not None


def test_groups_of_re_keep_their_meaning() -> None:
    grammar = Grammar.from_lark(
        r"""start: A
A: /(?P<q>['"])(?P<SUBSTRING_OF>ab\)\x41\/)(?P=q)/""",
        extensions=True,
    )
    assert grammar.accepts("'ab)A/'")
    assert grammar.accepts('"b)"')
    assert not grammar.accepts("'b)\"")
    assert Grammar.from_lark(r"start: A" "\n" r"A: /[(?P<SUBSTRING_OF>]\(?/", extensions=True).accepts("P(")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"a\n\t\x20\u00e9\\\/\)\(", "a\n\t é\\/)("),
        (r".*[x](?P<QUOTED_TEXT>\)", ".*[x](?P<QUOTED_TEXT>)"),
        ("é😀'\"#", "é😀'\"#"),
    ],
)
def test_texts_are_read_as_they_are_written(text: str, written: str) -> None:
    for flags in ("", "x"):
        substring = Grammar.from_lark(f"start: A\nA: /(?P<SUBSTRING_OF>{text})/{flags}", extensions=True)
        until = Grammar.from_lark(f"start: A\nA: /-(?P<TEXT_UNTIL>{text})/{flags}", extensions=True)
        assert substring.accepts(written)
        assert until.accepts(f"-{written[:-1]}{written}")
        assert not until.accepts(f"-{written}{written}")


def test_names_of_sets_are_checked() -> None:
    city = RegularSet.from_choices(["rome"])
    for sets, extensions, error in (
        ({"CITY": city}, False, ValueError),
        ({"QUOTED_TEXT": city}, True, ValueError),
        ({"no name": city}, True, ValueError),
        ([city], True, TypeError),
    ):
        with pytest.raises(error):
            Grammar.from_lark("start: /a/", extensions=extensions, sets=sets)
    with pytest.raises((TypeError, ValueError)):
        Grammar.from_lark("start: A\nA: /(?P<CITY>)/", extensions=True, sets={"CITY": "rome"})
    grammar = Grammar.from_lark("start: A\nA: /a(?P<CITY>)/", extensions=True, sets={"CITY": city - city})
    with pytest.raises(pdacon.EmptyLanguageError):
        pdacon.compile(grammar, pdacon.Vocabulary.bytes())


def test_too_many_elements_are_refused() -> None:
    elements = "|".join(f"element{k}" for k in range(2_000))
    with pytest.raises(pdacon.LimitExceededError):
        Grammar.from_lark(f"start: A\nA: /(?P<DELIMITED_SUBSEQUENCE_OF>,|{elements})/", extensions=True)


def test_grammars_with_sets_are_no_text_of_lark() -> None:
    grammar = Grammar.from_lark("start: /(?P<SUBSTRING_OF>abc)/", extensions=True)
    with pytest.raises(pdacon.UnsupportedGrammarError, match="stock Lark"):
        grammar.to_lark()
    assert "(?P<SUBSTRING_OF>abc)" in grammar.data.describe_symbol(0)
    assert "bc" in grammar.sample(40, seed=1)
