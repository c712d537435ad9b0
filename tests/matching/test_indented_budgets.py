"""Budgets in grammars with indentation: upper bounds, and from each a way to the end that keeps within it."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import lark
import pytest
from support.indented_grammars import INDENTED_GRAMMARS, TreeIndenter, fixed
from support.small_grammars import SmallGrammar

import pdacon
from pdacon import Constraint, Grammar, Matcher, Vocabulary
from pdacon.errors import MatcherError

COMPILED = [grammar for grammar in INDENTED_GRAMMARS if grammar.refused is None]
# Tokens that span lines, or hold more blanks than one.
MORE = [b"a\n", b"\n ", b"\n  ", b"   ", b"\n\t", b"\na", b":\n  a", b"a:", b"\n\n", b"))", b" a"]


@cache
def compiled(name: str, more: bool) -> Constraint:
    small = next(small for small in COMPILED if small.name == name)
    grammar = Grammar.from_lark(small.text, conflicts=small.conflicts, lookahead=small.lookahead, **small.options)
    tokens = sorted({*small.letters, b" ", b"\n"})
    if more:
        tokens += [token for token in MORE if {*token} <= {ord(letter) for letter in tokens}]
    return pdacon.compile(grammar, Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)]))


def least(matcher: Matcher, unit: str) -> int:
    return matcher.least_tokens() if unit == "tokens" else matcher.least_bytes()


def finish(matcher: Matcher, unit: str, rng: random.Random) -> None:
    """Goes on at random within the budget, however little is left, to a sentence."""
    end = matcher.allowed_mask().size - 1
    while True:
        left = matcher.tokens_left if unit == "tokens" else matcher.bytes_left
        missing = least(matcher, unit)
        assert left is not None
        assert missing <= left, matcher.text
        assert (missing == 0) == matcher.is_accepting()
        allowed = [token for token in matcher.allowed_tokens() if token != end]
        assert allowed or missing == 0, matcher.text
        if not allowed:
            break
        token = rng.choice(allowed)
        assert matcher.is_allowed(token)
        assert matcher.accept_token(token)


@pytest.mark.parametrize("unit", ["tokens", "bytes"])
@pytest.mark.parametrize("more", [False, True], ids=["letters", "lines"])
@pytest.mark.parametrize("small", COMPILED, ids=lambda small: small.name)
def test_texts_end_within_the_least_budget(
    small: SmallGrammar, more: bool, unit: str, scaled: Callable[[int], int]
) -> None:
    constraint = compiled(small.name, more)
    parser = lark.Lark(small.text, parser="lalr", **small.options)
    rng = random.Random(small.name)
    end = constraint.vocabulary.eos_ids[0]
    for _ in range(scaled(20)):
        matcher = constraint.matcher()
        for _ in range(rng.randrange(8)):
            followers = [token for token in matcher.allowed_tokens() if token != end]
            if not followers:
                break
            assert matcher.accept_token(rng.choice(followers))
        try:
            missing = least(matcher, unit)
        except MatcherError:  # the bound knows of no way
            continue
        soft = rng.choice([None, 0])
        matcher.keep_within(pdacon.Budget(**{unit: missing + rng.choice([0, 0, 1, 3, 9])}, soft=soft))
        finish(matcher, unit, rng)
        parser.parse(matcher.text)


def nearest(matcher: Matcher, most: int) -> int:
    """The fewest letters to a sentence, by all texts of so many; else one more."""
    if matcher.is_accepting():
        return 0
    found = most + 1
    end = matcher.allowed_mask().size - 1
    for token in matcher.allowed_tokens():
        if token != end and found > 1:
            after = matcher.fork()
            assert after.accept_token(token)
            found = min(found, 1 + nearest(after, found - 2))
    return found


def test_bounds_beside_all_texts() -> None:
    exact = looked = 0
    for small in COMPILED:
        constraint, rng = compiled(small.name, False), random.Random(small.name)
        for _ in range(6):
            matcher = constraint.matcher()
            for _ in range(rng.randrange(8)):
                followers = [token for token in matcher.allowed_tokens() if token not in constraint.vocabulary.eos_ids]
                if followers:
                    assert matcher.accept_token(rng.choice(followers))
            known = nearest(matcher, 5)
            if known <= 5:
                bounds = matcher.least_tokens(), matcher.least_bytes()
                assert min(bounds) >= known
                looked += 1
                exact += bounds == (known, known)
    assert exact > 0.8 * looked


def test_a_block_costs_its_blanks() -> None:
    text = (
        "start: line+\nline: NAME _NL | NAME COLON _NL _INDENT line+ _DEDENT\n"
        'NAME: /[a-z]+/\nCOLON: ":"\n_NL: /(\\n *)+/\n'
    )
    indenter = next(small for small in COMPILED if small.name == "tree").options["postlex"]
    grammar = Grammar.from_lark(text + "%declare _INDENT _DEDENT\n", postlex=indenter)
    tokens = [b"a", b":", b"\n", b" ", b"    "]
    constraint = pdacon.compile(grammar, Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)]))
    matcher = constraint.matcher()
    assert matcher.accept("a:\n    ")
    assert (matcher.least_tokens(), matcher.least_bytes()) == (2, 2)
    assert matcher.accept("a:\n")
    assert (matcher.least_tokens(), matcher.least_bytes()) == (4, 7)  # five blanks, "a" and a newline
    assert not matcher.has_exact_budgets
    matcher.keep_within(pdacon.Budget(tokens=4))
    assert [tokens[token] for token in matcher.allowed_tokens()] == [b" ", b"    "]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "tokens", "most"),
    [
        ("json_pretty", "[\n  {", 4, 5),  # for each line 2 blanks: as many as the innermost block has
        ("json_pretty4", '{\n    "a": [\n', 11, 29),
        ("python", "match x", 10, 11),
        ("python", "@a", 10, 11),
        ("python", "def f():\n    x = (", 1, 1),
        ("python", "class A:\n    def f(self):\n        try:\n            pass\n", 9, 9),
        ("python_spaces", "class A:\n    def f(self):\n        try:\n            pass\n", 10, 16),
        ("python_spaces", "@", 10, 12),
    ],
)
def test_bounds_of_builtin_grammars(name: str, text: str, tokens: int, most: int) -> None:
    matcher = bytes_and_blanks(name).matcher()
    assert matcher.accept(text)
    assert (matcher.least_tokens(), matcher.least_bytes()) == (tokens, most)
    assert len(matcher.shortest_completion().strip()) <= most
    for unit in ("tokens", "bytes"):
        other = matcher.fork()
        other.keep_within(pdacon.Budget(**{unit: least(other, unit)}))
        finish(other, unit, random.Random(text))


@cache
def bytes_and_blanks(name: str) -> Constraint:
    tokens = [*(bytes([byte]) for byte in range(256)), *MORE, b"  ", b"    "]
    tokens = sorted({*tokens})
    return pdacon.compile(name, Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)]))


def test_indented_parts() -> None:
    part = Grammar.from_lark(
        "start: line+\nline: A _NL [_INDENT line+ _DEDENT]\nA: /[a-z]+/\n_NL: /(\\n *)+/\n%declare _INDENT _DEDENT",
        postlex=TreeIndenter(),
    )
    fenced = Grammar.compose('start: "<" h ">"', h=part)
    tokens = [b"<", b">", b"a", b"\n", b" ", b"a\n", b"\n  ", b"\n>"]
    vocabulary = Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)])
    constraint, rng = pdacon.compile(fenced, vocabulary), random.Random(1)
    for _ in range(20):
        for unit in ("tokens", "bytes"):
            finish(constraint.matcher(budget=pdacon.Budget(**{unit: rng.randint(5, 12)})), unit, rng)
    quoted = pdacon.compile(part.escaped("json", quotes=True), Vocabulary.bytes())
    for unit in ("tokens", "bytes"):
        with pytest.raises(ValueError, match="within strings of JSON"):
            quoted.matcher(budget=pdacon.Budget(**{unit: 20}))


BLANK_LINES = {
    "a block may be empty": r'start: ":" _NL _INDENT ("b" _NL)* _DEDENT' + "\n_NL: /(\\r?\\n[\\t ]*)+/",
    "blocks may be empty": r'start: (":" _NL _INDENT ("b" _NL)* _DEDENT | "b" _NL)+' + "\n_NL: /(\\r?\\n[\\t ]*)+/",
    "blocks in blocks": 'start: s+\ns: ":" _NL _INDENT s* _DEDENT | "b" _NL\n_NL: /\\n[\\t ]*/',
    "steps beside ignored blanks": 'start: "p" _NL _NL\n_NL: /(\\n(  )*)+/\n%ignore " "',
    "steps, and more text": 'start: "p" _NL _NL "q"\n_NL: /(\\n(  )*)+/\n%ignore " "',
    "steps of three": 'start: s+\ns: "b" _NL _NL? | ":" _NL _INDENT s+ _DEDENT\n_NL: /(\\n(   )*)+/\n%ignore " "',
    "no blanks beside ignored ones": 'start: "p" _NL _NL\n_NL: /\\n+/\n%ignore " "',
    "a few blanks": 'start: ":" _NL _INDENT "b" _NL _DEDENT\n_NL: /\\n {0,4}/',
    "few blanks, deep blocks": 'start: s+\ns: "b" _NL | ":" _NL _INDENT s* _DEDENT\n_NL: /\\n {0,8}/',
    "two lines in a newline": 'start: ("b" _NL)+ | ":" _NL _INDENT "b" _NL _DEDENT\n_NL: /\\n *\\n */',
    "blanks within a newline": 'start: ":" _NL _INDENT "b"* _NL _DEDENT\n_NL: /\\n \\n */',
    "exact blanks": 'start: ":" _NL _INDENT "b" _NL _DEDENT\n_NL: /(\\n  )*\\n */',
    "a comment in a newline": 'start: ":" _NL _INDENT "b"* _NL _DEDENT'
    '\n_NL: /\\n *(; *\\n *)?/\n%ignore " "\n%ignore ";"',
}


@cache
def compiled_with(text: str, width: int, tokens: tuple[bytes, ...]) -> tuple[Constraint, lark.Lark]:
    indenter = TreeIndenter() if width == 0 else fixed(TreeIndenter(), width)
    grammar = Grammar.from_lark(text + "\n%declare _INDENT _DEDENT", postlex=indenter, lookahead="commit")
    vocabulary = Vocabulary.from_tokens([*tokens, None], eos_ids=[len(tokens)])
    return pdacon.compile(grammar, vocabulary), lark.Lark(
        text + "\n%declare _INDENT _DEDENT", parser="lalr", postlex=indenter
    )


LETTERS = (b":", b"b", b"p", b"q", b";", b"\n", b" ", b"\t", b"\r")
SPANS = (*LETTERS, b"\nz", b"\n\t", b"  ", b" \n", b":\n", b"\n  ", b"\n\n", b";\n", b"b\n:", b"\n ;")


@pytest.mark.parametrize("tokens", [LETTERS, SPANS], ids=["letters", "lines"])
@pytest.mark.parametrize("width", [0, 1, 2, 4])
@pytest.mark.parametrize("name", BLANK_LINES)
def test_texts_end_within_budgets_from_the_least_up(
    name: str, width: int, tokens: tuple[bytes, ...], scaled: Callable[[int], int]
) -> None:
    constraint, parser = compiled_with(BLANK_LINES[name], width, tokens)
    rng = random.Random(name)
    for unit in ("tokens", "bytes"):
        try:
            missing = least(constraint.matcher(), unit)
        except MatcherError:
            assert not sentences(constraint.matcher(), 6)
            continue
        assert missing >= nearest(constraint.matcher(), min(missing, 4))
        for more in range(scaled(6)):
            matcher = constraint.matcher(budget=pdacon.Budget(**{unit: missing + more}))
            finish(matcher, unit, rng)
            parser.parse(matcher.text)


def sentences(matcher: Matcher, most: int) -> bool:
    return nearest(matcher, most) <= most


def test_the_last_blanks_of_an_empty_block_count() -> None:
    for width, known, bound in ((0, 3, 3), (4, 6, 10)):
        constraint, _ = compiled_with(BLANK_LINES["a block may be empty"], width, LETTERS[:7])
        matcher = constraint.matcher()
        assert (matcher.least_tokens(), matcher.least_bytes()) == (bound, bound)
        assert len(matcher.shortest_completion()) == known


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8])
def test_a_block_is_as_deep_as_a_newline_can_be(most: int) -> None:
    text = 'start: ":" _NL _INDENT "b" _NL _DEDENT\n_NL: /\\n {0,' + str(most) + "}/"
    constraint, _ = compiled_with(text, most, LETTERS[:7])
    matcher = constraint.matcher()
    assert matcher.least_bytes() == matcher.least_tokens() == 4 + most


def test_blocks_reach_the_last_column() -> None:
    text = 'start: s+\ns: "b" _NL | ":" _NL _INDENT s+ _DEDENT\n_NL: /\\n {0,8}/'
    constraint, _ = compiled_with(text, 4, (b":", b"b", b"\n", b" "))
    matcher = constraint.matcher(budget=pdacon.Budget(tokens=1000))
    assert matcher.accept(":\n    ")
    assert matcher.is_allowed(0)
    assert matcher.accept(":\n        ")
    assert matcher.allowed_tokens() == [1]


@pytest.mark.parametrize("more", [b"\nz", b"\n\t", b"\n  \t", b"\n)"])
def test_a_token_that_goes_on_in_nothing_takes_no_newline_away(more: bytes) -> None:
    text = 'start: ":" _NL _INDENT "b" _NL _DEDENT\n_NL: /\\n */'
    constraint, _ = compiled_with(text, 0, (b":", b"\n", b" ", b"b", more))
    assert constraint.matcher().least_bytes() == constraint.matcher().least_tokens() == 5
