"""Token budgets: the fewest tokens to a sentence, and masks that keep within what is left, against enumeration."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from functools import cache

import lark
import numpy as np
import pytest

import pdacon
from pdacon import Budget, Constraint, Grammar, Matcher, Vocabulary

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


Least = Callable[[str, int], int]


@cache
def small(name: str) -> tuple[Constraint, list[str], dict[str, Least]]:
    """A constraint, its tokens, and the least number of tokens, or bytes, after a text, by enumeration.

    If it is at most a bound; else more than that.
    """
    text, tokens = SMALL[name]
    parser = lark.Lark(text, parser="lalr")

    @cache
    def is_sentence(text: str) -> bool:
        try:
            parser.parse(text)
        except lark.exceptions.LarkError:
            return False
        return True

    def least_of(cost: Callable[[str], int]) -> Least:
        @cache
        def least(text: str, most: int) -> int:
            if is_sentence(text):
                return 0
            found = most + 1
            for token in tokens:
                if cost(token) < found:
                    found = min(found, cost(token) + least(text + token, found - 1 - cost(token)))
            return found

        return least

    vocabulary = Vocabulary.from_tokens([*(token.encode() for token in tokens), None], eos_ids=[len(tokens)])
    made = pdacon.compile(Grammar.from_lark(text), vocabulary)
    return made, tokens, {"tokens": least_of(lambda token: 1), "bytes": least_of(len)}


def within(matcher: Matcher, tokens: list[str], text: str, left: int, least: Least, what: str, soft: bool) -> list[int]:
    """The definition of the mask under a budget."""
    allowed = []
    for token, spelled in enumerate(tokens):
        rest = left - (1 if what == "tokens" else len(spelled))
        if (
            rest >= 0
            and (missing := least(text + spelled, rest)) <= rest
            and (not soft or missing <= least(text, left))
        ):
            allowed.append(token)
    return allowed + [len(tokens)] * matcher.is_accepting()


@pytest.mark.parametrize("what", ["tokens", "bytes"])
@pytest.mark.parametrize("name", SMALL)
def test_least_and_masks_equal_enumeration(name: str, what: str, scaled: Callable[[int], int]) -> None:
    constraint, tokens, costs = small(name)
    rng = random.Random(name)
    least, most = costs[what], MOST if what == "tokens" else MOST + 1
    for _ in range(scaled(12)):
        matcher, text = constraint.matcher(), ""
        for _ in range(rng.randrange(6)):
            followers = [token for token in matcher.allowed_tokens() if token < len(tokens)]
            if not followers:
                break
            token = rng.choice(followers)
            assert matcher.accept_token(token)
            text += tokens[token]
        known, found = least(text, most), matcher.least_tokens() if what == "tokens" else matcher.least_bytes()
        assert found == known or (known > most and found > most), text
    for _ in range(scaled(8)):
        budget, soft = rng.randint(least("", most), max(most, least("", most))), rng.choice([None, 0, 1, 2])
        matcher, text, left = constraint.matcher(budget=Budget(**{what: budget}, soft=soft)), "", budget
        while True:
            assert (matcher.tokens_left if what == "tokens" else matcher.bytes_left) == left
            assert (matcher.bytes_left if what == "tokens" else matcher.tokens_left) is None
            wanted = within(matcher, tokens, text, left, least, what, soft is not None and budget - left >= soft)
            assert matcher.allowed_tokens() == wanted, (text, left)
            assert [token for token in range(len(tokens) + 1) if matcher.is_allowed(token)] == wanted
            followers = [token for token in wanted if token < len(tokens)]
            if not followers:
                break
            token = rng.choice(followers)
            assert matcher.accept_token(token)
            text += tokens[token]
            left -= 1 if what == "tokens" else len(tokens[token])
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
    with pytest.raises(ValueError, match=f"shortest sentence has {least}$") if least else pytest.raises(ValueError):
        constraint.matcher(budget=Budget(tokens=least - 1))
    for _ in range(scaled(6)):
        budget = rng.choice([least, least + 1, least + 2, rng.randint(least, 40)])
        matcher = constraint.matcher(budget=Budget(tokens=budget))
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
    plain, budgeted = constraint.matcher(), constraint.matcher(budget=Budget(tokens=100))
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
    other = matcher.fork()
    assert other.accept_bytes(b"i")  # whose shortest sentence is no short one
    assert other.least_tokens() == other.least_bytes() == len(other.shortest_completion()) == 19
    assert matcher.accept_bytes(b"select ((((1")
    assert matcher.least_tokens() == 2  # ")))" and ")"
    matcher.keep_within(Budget(tokens=2))
    assert matcher.tokens_left == 2
    with pytest.raises(ValueError, match=r"a budget of 1 token is too small: the nearest sentence takes 2$"):
        matcher.keep_within(Budget(tokens=1))
    fresh = compiled("sql").matcher(budget=Budget(tokens=60))
    assert all(fresh.is_allowed(ord(letter)) for letter in "ISCDAE")  # how statements begin
    assert fresh.accept_bytes(b"insert into a values(1")
    assert fresh.least_tokens() == 1


def test_rollback_fork_and_reset_keep_the_budget() -> None:
    constraint = compiled("json")
    matcher = constraint.matcher(budget=Budget(tokens=4))
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
    matcher = constraint.matcher(budget=Budget(tokens=1))
    assert matcher.accept_token(ord("0"))
    assert matcher.allowed_tokens() == [end]
    assert matcher.accept_token(end)
    assert matcher.allowed_tokens() == [end]


def test_bytes_count_as_one_token() -> None:
    matcher = compiled("json").matcher(budget=Budget(tokens=3))
    assert not matcher.accept_bytes(b"[[[[[[")
    assert matcher.accept_bytes(b"[[[[")
    assert matcher.tokens_left == 2
    assert matcher.accept_bytes(b"")
    assert matcher.tokens_left == 2


def test_batches_and_ids() -> None:
    constraint = compiled("json")
    matchers = [constraint.matcher(budget=Budget(tokens=budget)) for budget in (1, 2, 90)] + [constraint.matcher()]
    ids = pdacon.matching.mask_ids(matchers)
    assert ids[2] == ids[3] != ids[0]
    bitmask = constraint.new_bitmask(len(matchers))
    pdacon.fill_bitmasks(matchers, bitmask)
    assert (bitmask == constraint.mask_table()[ids]).all()
    assert all((np.flatnonzero(matcher.allowed_mask()) == matcher.allowed_tokens()).all() for matcher in matchers)


def test_forced_tokens_keep_within_the_budget() -> None:
    grammar = Grammar.from_lark('start: "abcd" | "abcdefgh"')
    matcher = pdacon.compile(grammar, bytes_and_more()).matcher(budget=Budget(tokens=3))
    forced = matcher.forced_tokens()
    assert matcher.validate_tokens(forced) == len(forced)


@pytest.mark.parametrize("unit", ["tokens", "bytes"])
def test_near_its_end_a_text_begins_nothing(unit: str) -> None:
    matcher = compiled("json").matcher(budget=Budget(**{unit: 40}, soft=4))
    for byte in b'["ab':
        assert matcher.accept_token(byte)
    assert matcher.is_allowed(ord("c"))  # the string may go on
    assert matcher.accept_token(ord('"'))
    assert matcher.is_allowed(ord("]"))
    assert not matcher.is_allowed(ord(","))
    matcher.rollback(2)
    assert matcher.accept_token(ord('"'))
    assert matcher.is_allowed(ord(",")) is False  # four of them are read
    matcher.rollback(2)
    assert matcher.accept_token(ord('"'))
    assert matcher.is_allowed(ord(","))


def test_bytes_of_a_text() -> None:
    constraint = compiled("json")
    matcher = constraint.matcher(budget=Budget(bytes=7))
    assert not matcher.accept_bytes(b"[[[[")
    assert matcher.accept_bytes(b"[[[")
    assert (matcher.bytes_left, matcher.least_bytes()) == (4, 3)
    assert not matcher.is_allowed(constraint.vocabulary.tokens.index(b"  "))
    assert matcher.accept_token(constraint.vocabulary.tokens.index(b"]]"))
    assert matcher.bytes_left == 2
    matcher.rollback(1)
    assert matcher.bytes_left == 4
    matcher.reset()
    assert matcher.bytes_left == 7
    with pytest.raises(ValueError, match="a budget of 0 bytes is too small: the shortest sentence has 1"):
        constraint.matcher(budget=Budget(bytes=0))
    assert matcher.accept_bytes(b"[[")
    with pytest.raises(ValueError, match="a budget of 1 byte is too small: the nearest sentence takes 2"):
        matcher.keep_within(Budget(bytes=1))
    matcher.keep_within(Budget(tokens=1))
    assert [constraint.vocabulary.tokens[token] for token in matcher.allowed_tokens()] == [b"]]"]


@pytest.mark.slow
def test_budgets_in_bytes_are_exact_in_large_grammars() -> None:
    matcher = compiled("sql").matcher(budget=Budget(bytes=14))
    assert matcher.accept_bytes(b"select (1+1")
    assert (matcher.bytes_left, matcher.least_bytes()) == (3, 1)
    assert not matcher.is_allowed(ord("("))  # which takes four: (1))
    assert matcher.is_allowed(ord("+"))


def test_a_leading_space_that_is_no_text() -> None:
    vocabulary = Vocabulary.from_tokens([b"[", b"]", b" []", b" [", b" ", None], eos_ids=[5])
    constraint = pdacon.compile(Grammar.from_lark('start: "[" start* "]"'), vocabulary)
    with pytest.raises(ValueError, match="has 2"):
        constraint.matcher(budget=Budget(tokens=1))
    matcher = constraint.matcher(budget=Budget(tokens=1), strip_leading_space=True)
    assert matcher.allowed_tokens() == [2]
    matcher = constraint.matcher(budget=Budget(tokens=3), strip_leading_space=True)
    assert matcher.allowed_tokens() == [0, 2, 3, 4]
    assert matcher.accept_token(4)
    assert matcher.tokens_left == 2
    assert matcher.allowed_tokens() == [0]
    matcher = constraint.matcher(budget=Budget(bytes=2), strip_leading_space=True)
    assert matcher.least_bytes() == 2
    assert matcher.allowed_tokens() == [0, 2, 3, 4]
    assert matcher.accept_token(4)
    assert matcher.bytes_left == 2
    assert matcher.allowed_tokens() == [0]


def test_loaded_constraints_have_budgets() -> None:
    loaded = Constraint.from_bytes(compiled("json").to_bytes())
    matcher = loaded.matcher(budget=Budget(tokens=2))
    assert matcher.accept_token(ord("["))
    assert [bytes([token]) for token in matcher.allowed_tokens()] == [b"]"]


def test_several_starts() -> None:
    grammar = Grammar.from_lark('a: "[" a* "]"\nb: "x"', start=["a", "b"])
    constraint = pdacon.compile(grammar, bytes_and_more())
    assert constraint.matcher("a").least_tokens() == 2
    assert constraint.matcher("b").least_tokens() == 1


def test_arguments_that_do_not_fit() -> None:
    constraint = compiled("json")
    for name in ("tokens", "bytes"):
        with pytest.raises(ValueError, match=rf"Budget\({name}=...\) must not be negative, got -1"):
            Budget(**{name: -1})
        with pytest.raises(ValueError, match=r"Budget\(soft=...\) must not be negative"):
            Budget(**{name: 1}, soft=-1)
    with pytest.raises(ValueError, match="one of tokens and bytes"):
        Budget(tokens=9, bytes=9)
    with pytest.raises(ValueError, match="give tokens or bytes"):
        Budget(soft=9)
    for wrong in (1.0, True, "3"):
        with pytest.raises(TypeError, match="Budget: tokens must be a whole number"):
            Budget(tokens=wrong)  # type: ignore[arg-type]
    for door in (constraint.matcher, constraint.matcher().keep_within):
        with pytest.raises(TypeError, match=r"must be a pdacon.Budget, not int; give pdacon.Budget\(tokens=...\)"):
            door(budget=9)  # type: ignore[operator]
    assert constraint.matcher(budget=Budget(tokens=10**30)).tokens_left > 10**9  # type: ignore[operator]
    assert constraint.matcher().tokens_left is None


def test_a_budget_is_a_value() -> None:
    budget = Budget(bytes=np.int64(9), soft=4)
    assert budget == pickle.loads(pickle.dumps(budget)) == replace(budget, soft=4)
    assert (str(budget), str(Budget(tokens=1)), budget.most, budget.unit) == ("9 bytes", "1 token", 9, "bytes")
    with pytest.raises(FrozenInstanceError):
        budget.soft = 3  # type: ignore[misc]


@pytest.mark.parametrize("opening", ["[", '{"a": [', '{"a": '])
def test_many_levels_at_once(opening: str) -> None:
    """Nothing is known of a deep stack, and each level raises the bounds of all above it: it is searched from below."""
    closing = {"[": "]", "{": "}"}
    constraint = pdacon.compile("json", pdacon.Vocabulary.bytes())
    for levels in (31, 100, 3000):
        matcher = constraint.matcher()
        assert matcher.accept(opening * levels)
        ends = sum(closing[one] in "]}" for one in opening if one in closing)
        value = 0 if opening.endswith("[") else 1
        assert matcher.least_tokens() == levels * ends + value
        assert matcher.least_bytes() == levels * ends + value
