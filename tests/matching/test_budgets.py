"""Token budgets: the fewest tokens to a sentence, and masks that keep within what is left, against enumeration."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import lark
import numpy as np
import pytest

import pdacon
from pdacon import Constraint, Grammar, Matcher, Vocabulary

# Tokens span several lexemes, begin within one, and wait for what follows; the last vocabulary lacks single bytes.
SMALL = {
    "brackets": (
        'start: "[" start* "]" | "(" start ")" | "a"',
        ["[", "]", "(", ")", "a", "[[", "]]", "])", "[a]", "a]", "](", "()"],
    ),
    "numbers": (
        'start: "[" (V ("," V)*)? "]"\nV: /[0-9]+(\\.[0-9]+)?/\n%ignore " "',
        [*"[]0.5, ", "0,", "0]", "].", ",5", "5.5", "0, 5"],
    ),
    "keywords": (
        'start: "if" N ":" start | N "=" N ";"\nN: /[a-f]+/\n%ignore / +/',
        [*"if: =;abf", "if ", "a:", "b=", "=a;", " a", "fi", "if a:", "a;"],
    ),
    "strings": (
        'start: S | "{" (S ":" start ("," S ":" start)*)? "}"\nS: /"[a-b]*"/',
        [*'"ab:,{}', '"a"', '":', '{"', '","', '"}', "}}", "ab"],
    ),
    "pushbacks": ('start: (A | B | D)+ "x"\nA: "1"\nB: "1..2"\nD: ".."', [*"1.2x", "1.", "..", "..2x", "11"]),
    "pairs": ('start: "[" start* "]" | "a"', ["[[", "]]", "[a", "a]", "a", "a]]", "[]"]),
}
MOST = 3  # tokens that are enumerated


@cache
def small(name: str) -> tuple[Constraint, list[str], Callable[[str, int], int]]:
    """A constraint, its tokens, and the least number of tokens behind a text by enumeration; `MOST` + 1: more."""
    text, tokens = SMALL[name]
    parser = lark.Lark(text, parser="lalr")

    @cache
    def is_sentence(text: str) -> bool:
        try:
            parser.parse(text)
        except lark.exceptions.LarkError:
            return False
        return True

    @cache
    def least(text: str, most: int) -> int:
        """The least number if it is at most `most`, else `MOST` + 1."""
        if is_sentence(text):
            return 0
        for number in range(1, most + 1):
            if any(least(text + token, number - 1) < number for token in tokens):
                return number
        return MOST + 1

    vocabulary = Vocabulary.from_tokens([*(token.encode() for token in tokens), None], eos_ids=[len(tokens)])
    return pdacon.compile(Grammar.from_lark(text), vocabulary), tokens, least


def within(matcher: Matcher, tokens: list[str], text: str, left: int, least: Callable[[str, int], int]) -> list[int]:
    """The definition of the mask under a budget."""
    allowed = [
        token for token, spelled in enumerate(tokens) if left > 0 and least(text + spelled, left - 1) <= left - 1
    ]
    return allowed + [len(tokens)] * matcher.is_accepting()


@pytest.mark.parametrize("name", SMALL)
def test_least_and_masks_equal_enumeration(name: str, scaled: Callable[[int], int]) -> None:
    constraint, tokens, least = small(name)
    rng = random.Random(name)
    for _ in range(scaled(12)):
        matcher, text = constraint.matcher(), ""
        for _ in range(rng.randrange(6)):
            followers = [token for token in matcher.allowed_tokens() if token < len(tokens)]
            if not followers:
                break
            token = rng.choice(followers)
            assert matcher.accept_token(token)
            text += tokens[token]
        known, found = least(text, MOST), matcher.least_tokens()
        assert found == known or (known > MOST and found > MOST), text
    for _ in range(scaled(6)):
        budget = rng.randint(least("", MOST), MOST)
        matcher, text = constraint.matcher(max_tokens=budget), ""
        for left in range(budget, -1, -1):
            assert matcher.tokens_left == left
            wanted = within(matcher, tokens, text, left, least)
            assert matcher.allowed_tokens() == wanted, (text, left)
            assert [token for token in range(len(tokens) + 1) if matcher.is_allowed(token)] == wanted
            followers = [token for token in wanted if token < len(tokens)]
            if not followers:
                break
            token = rng.choice(followers)
            assert matcher.accept_token(token)
            text += tokens[token]
        assert matcher.is_accepting()


@cache
def bytes_and_more() -> Vocabulary:
    """All bytes, and tokens that cross lexemes of most grammars."""
    more = [b"]]", b"}]", b"}}", b'"}', b'":', b'", "', b"))", b")))", b");", b" (", b"ab", b"the", b"  ", b"/>", b"0,"]
    return Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), *more, None], eos_ids=[256 + len(more)])


@cache
def compiled(name: str) -> Constraint:
    return pdacon.compile(name, bytes_and_more())


@pytest.mark.parametrize(
    "name", ["json", "csv", "arithmetic", "semver", "ini", "url", "jsonl", "json_compact", "iso8601", "sql"]
)
def test_random_texts_end_within_their_budgets(name: str, scaled: Callable[[int], int]) -> None:
    constraint = compiled(name)
    rng = random.Random(name)
    least = constraint.matcher().least_tokens()
    with (
        pytest.raises(ValueError, match=f"shortest sentence has {least} tokens") if least else pytest.raises(ValueError)
    ):
        constraint.matcher(max_tokens=least - 1)
    for _ in range(scaled(6)):
        budget = rng.choice([least, least + 1, least + 2, rng.randint(least, 40)])
        matcher = constraint.matcher(max_tokens=budget)
        for left in range(budget, -1, -1):
            assert matcher.least_tokens() <= left
            followers = matcher.allowed_tokens()
            assert followers or matcher.is_accepting()
            followers = [token for token in followers if token not in constraint.vocabulary.eos_ids]
            if not followers:
                break
            token = rng.choice(followers)
            assert matcher.accept_token(token)
        assert matcher.is_accepting()


def test_a_mask_far_from_the_end_is_the_plain_one() -> None:
    constraint = compiled("json")
    plain, budgeted = constraint.matcher(), constraint.matcher(max_tokens=100)
    for text in (b'{"a": [1, ', b'"', b"b"):
        assert plain.mask_id() == budgeted.mask_id()
        assert plain.accept_bytes(text)
        assert budgeted.accept_bytes(text)


def test_deep_stacks_are_closed_with_as_few_tokens_as_can_be() -> None:
    constraint = compiled("json")
    matcher = constraint.matcher()
    for depth in range(1, 401):
        assert matcher.accept_bytes(b"[")
        assert matcher.least_tokens() == (depth + 1) // 2  # most of them "]]"


@pytest.mark.slow
def test_large_grammars_have_a_bound_and_say_so() -> None:
    assert compiled("json").matcher().has_exact_budgets
    matcher = compiled("sql").matcher()
    assert not matcher.has_exact_budgets
    assert matcher.accept_bytes(b"select ((((1")
    assert matcher.least_tokens() == 2  # ")))" and ")"
    matcher.limit_tokens(2)
    assert matcher.tokens_left == 2
    with pytest.raises(ValueError, match="nearest sentence takes 2 tokens"):
        matcher.limit_tokens(1)


def test_rollback_fork_and_reset_keep_the_budget() -> None:
    constraint = compiled("json")
    matcher = constraint.matcher(max_tokens=4)
    for byte in b'["':
        assert matcher.accept_token(byte)
    assert matcher.tokens_left == 2
    assert not matcher.is_allowed(ord("a"))
    twin = matcher.fork()
    assert twin.accept_token(ord('"'))
    assert twin.tokens_left == 1
    assert twin.allowed_tokens() == [ord("]")]
    twin.rollback(2)
    assert (twin.tokens_left, matcher.tokens_left) == (3, 2)
    matcher.reset()
    assert matcher.tokens_left == 4
    assert matcher.validate_tokens([*b"[[[]"]) == 2
    assert matcher.validate_tokens([*b"[[", 256]) == 3


def test_an_end_token_is_not_counted() -> None:
    constraint = compiled("json")
    end = constraint.vocabulary.eos_ids[0]
    matcher = constraint.matcher(max_tokens=1)
    assert matcher.accept_token(ord("0"))
    assert matcher.allowed_tokens() == [end]
    assert matcher.accept_token(end)
    assert matcher.allowed_tokens() == [end]


def test_bytes_count_as_one_token() -> None:
    matcher = compiled("json").matcher(max_tokens=3)
    assert not matcher.accept_bytes(b"[[[[[[")
    assert matcher.accept_bytes(b"[[[[")
    assert matcher.tokens_left == 2
    assert matcher.accept_bytes(b"")
    assert matcher.tokens_left == 2


def test_batches_and_ids() -> None:
    constraint = compiled("json")
    matchers = [constraint.matcher(max_tokens=budget) for budget in (1, 2, 90)] + [constraint.matcher()]
    ids = pdacon.mask_ids(matchers)
    assert ids[2] == ids[3] != ids[0]
    bitmask = constraint.new_bitmask(len(matchers))
    pdacon.fill_bitmasks(matchers, bitmask)
    assert (bitmask == constraint.mask_table()[ids]).all()
    assert all((np.flatnonzero(matcher.allowed_mask()) == matcher.allowed_tokens()).all() for matcher in matchers)


def test_forced_tokens_keep_within_the_budget() -> None:
    grammar = Grammar.from_lark('start: "abcd" | "abcdefgh"')
    matcher = pdacon.compile(grammar, bytes_and_more()).matcher(max_tokens=3)
    forced = matcher.forced_tokens()
    assert matcher.validate_tokens(forced) == len(forced)


def test_a_leading_space_that_is_no_text() -> None:
    vocabulary = Vocabulary.from_tokens([b"[", b"]", b" []", b" [", b" ", None], eos_ids=[5])
    constraint = pdacon.compile(Grammar.from_lark('start: "[" start* "]"'), vocabulary)
    with pytest.raises(ValueError, match="2 tokens"):
        constraint.matcher(max_tokens=1)
    matcher = constraint.matcher(max_tokens=1, strip_leading_space=True)
    assert matcher.allowed_tokens() == [2]
    matcher = constraint.matcher(max_tokens=3, strip_leading_space=True)
    assert matcher.allowed_tokens() == [0, 2, 3, 4]
    assert matcher.accept_token(4)
    assert matcher.tokens_left == 2
    assert matcher.allowed_tokens() == [0]


def test_loaded_constraints_have_budgets() -> None:
    loaded = Constraint.from_bytes(compiled("json").to_bytes())
    matcher = loaded.matcher(max_tokens=2)
    assert matcher.accept_token(ord("["))
    assert [bytes([token]) for token in matcher.allowed_tokens()] == [b"]"]


def test_several_starts() -> None:
    grammar = Grammar.from_lark('a: "[" a* "]"\nb: "x"', start=["a", "b"])
    constraint = pdacon.compile(grammar, bytes_and_more())
    assert constraint.matcher("a").least_tokens() == 2
    assert constraint.matcher("b").least_tokens() == 1


def test_arguments_that_do_not_fit() -> None:
    constraint = compiled("json")
    with pytest.raises(ValueError, match="max_tokens must not be negative"):
        constraint.matcher(max_tokens=-1)
    with pytest.raises(TypeError, match="max_tokens"):
        constraint.matcher(max_tokens=1.0)  # type: ignore[arg-type]
    assert constraint.matcher(max_tokens=10**30).tokens_left > 10**9  # type: ignore[operator]
    assert constraint.matcher().tokens_left is None


def test_grammars_with_indentation_are_refused() -> None:
    grammar = Grammar.from_lark(
        "start: line+\nline: NAME _NEWLINE [_INDENT line+ _DEDENT]\nNAME: /[a-z]+/\n_NEWLINE: /\\n[ ]*/\n"
        "%declare _INDENT _DEDENT",
        postlex="python",
    )
    constraint = pdacon.compile(grammar, bytes_and_more())
    with pytest.raises(ValueError, match="postlex"):
        constraint.matcher(max_tokens=10)
