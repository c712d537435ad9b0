"""``grammar & regular_set`` in every other respect than its masks, which tests/definition has."""

from __future__ import annotations

import json
import pickle
from itertools import product

import pytest
from support.lark_oracle import accepts as lark_accepts

import pdacon
from pdacon import Grammar, RegularSet
from pdacon.grammar.serialized import from_json, to_json

BYTES = pdacon.Vocabulary.bytes()
SUM = Grammar.from_lark('start: NUMBER ("+" NUMBER)*\nNUMBER: /[0-9]+/\n%ignore " "')
NO_BLANKS = RegularSet.from_regex("[^ ]*")
SHORT = RegularSet.from_regex(".{0,5}")
BLOCKS = """
start: line+
line: NAME _NL | NAME ":" _NL _INDENT line+ _DEDENT
NAME: "a" | "b"
_NL: /(\\r?\\n[ ]*)+/
%declare _INDENT _DEDENT
"""


@pytest.mark.slow
def test_json_without_what_a_set_forbids() -> None:
    """The rules of JSON, and one line of ASCII without two quotes side by side."""
    lines = RegularSet.from_regex("[ -~]*") - RegularSet.from_regex('.*"".*')
    constraint = pdacon.compile(Grammar.builtin("json") & lines.named("lines"), BYTES)
    assert constraint.parse('{"a": [1, "b"]}') == {"a": [1, "b"]}
    for text in ('{"a": ""}', '{"a":\n1}', '{"\u00e9": 1}', '{"a": 1'):
        assert not constraint.accepts(text)
    matcher = constraint.matcher()
    assert matcher.accept('{"a": "')
    assert ord('"') not in matcher.allowed_tokens()
    assert ord("x") in matcher.allowed_tokens()
    for seed in range(20):
        (text,) = (Grammar.builtin("json") & lines).sample(1, seed=seed)
        json.loads(text)
        assert text in lines


def test_several_sets() -> None:
    both = SUM & NO_BLANKS & SHORT
    assert pdacon.compile(both, BYTES).accepts("1+234")
    assert not pdacon.compile(both, BYTES).accepts("1+2345")
    assert not pdacon.compile(both, BYTES).accepts("1 +2")
    assert [texts.name for texts in both.data.within] == ["'[^ ]*'", "'.{0,5}'"]
    once = pdacon.compile(SUM & (NO_BLANKS & SHORT), BYTES)
    twice = pdacon.compile(both, BYTES)
    for text in map("".join, product("1+ ", repeat=3)):
        assert once.accepts(text) == twice.accepts(text)
    assert (SHORT & SUM) == (SUM & SHORT)


@pytest.mark.slow
def test_indentation() -> None:
    """The set counts what opens and closes blocks as any other text; a text ends where the blocks do."""
    from lark.indenter import Indenter

    class Blocks(Indenter):
        NL_type = "_NL"
        OPEN_PAREN_types: list[str] = []  # noqa: RUF012
        CLOSE_PAREN_types: list[str] = []  # noqa: RUF012
        INDENT_type, DEDENT_type, tab_len = "_INDENT", "_DEDENT", 8

    plain = Grammar.from_lark(BLOCKS, postlex=Blocks())
    for pattern in ("(?s).*b\\n", "(?s)(?!.* b).*", "(?s).{6,7}", "(?s)[^b]*"):
        chosen = RegularSet.from_regex(pattern)
        constraint = pdacon.compile(plain & chosen, BYTES)
        for text in map("".join, product(["a", "b", ":", "\n", "\n "], repeat=5)):
            assert constraint.accepts(text) == (lark_accepts(plain, text) and text in chosen)
            matcher = constraint.matcher()
            if matcher.accept(text):
                whole = text + matcher.shortest_completion().decode()
                assert lark_accepts(plain, whole), whole
                assert whole in chosen


def test_explanations_name_the_set() -> None:
    constraint = pdacon.compile(SUM & NO_BLANKS.named("no blanks") & SHORT.named("short texts"), BYTES)
    matcher = constraint.matcher()
    assert matcher.explain("1 ").reason == 'the rules allow " " here, but no text of no blanks has it'
    assert matcher.explain("12345+").reason == 'the rules allow "+" here, but no text of short texts has it'
    assert "then lead to no text" in matcher.explain("1234+").reason
    assert "expected" in matcher.explain("x").reason
    ended = pdacon.compile(SUM & RegularSet.from_regex(".*0").named("tens"), BYTES).matcher()
    assert ended.accept("1")
    assert ended.explain(256).reason == "the rules allow the end of the text here, but no text of tens has it"
    assert ended.explain("1+10").allowed


def test_nothing_left() -> None:
    with pytest.raises(pdacon.EmptyLanguageError, match=r"no sentence of 'start' is in '\[a-z\]\*', or"):
        pdacon.compile(SUM & RegularSet.from_regex("[a-z]*"), BYTES)
    with pytest.raises(pdacon.EmptyLanguageError, match="it is empty"):
        SUM & RegularSet.from_choices([])
    with pytest.raises(pdacon.EmptyLanguageError):
        pdacon.compile(Grammar.from_lark('start: "a"*') & RegularSet.from_regex("b+"), BYTES)


def test_what_is_no_set() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        SUM & "a"  # type: ignore[operator]
    with pytest.raises(pdacon.UnsupportedGrammarError, match="use_bytes"):
        Grammar.from_lark('start: "a"', use_bytes=True) & NO_BLANKS
    with pytest.raises(pdacon.UnsupportedGrammarError, match="without `& regular_set`"):
        (SUM & NO_BLANKS).to_lark()


def test_the_set_is_kept() -> None:
    narrowed = SUM & SHORT
    assert pickle.loads(pickle.dumps(narrowed)) == narrowed
    assert Grammar(from_json(to_json(narrowed.data))) == narrowed
    assert narrowed != SUM
    assert len({narrowed.fingerprint, SUM.fingerprint, (SUM & NO_BLANKS).fingerprint}) == 3
    assert (SUM & SHORT.named("x")).fingerprint == narrowed.fingerprint
    assert repr(narrowed).startswith("<Grammar from text & '.{0,5}': ")
    record = json.loads(to_json(SUM.data))
    assert "within" not in record  # where there is none
    assert Grammar(from_json(json.dumps(record).encode())) == SUM
    loaded = pdacon.Constraint.from_bytes(pdacon.compile(narrowed, BYTES).to_bytes(), verify=True)
    assert loaded.grammar == narrowed
    assert loaded.accepts("1+2")
    assert not loaded.accepts("1+2+3+4")
    assert "'.{0,5}'" in loaded.matcher().explain("1+2+3+").reason
    cache = pdacon.CompileCache(max_bytes=1 << 24)
    assert cache.compile(SUM, BYTES).accepts("1+2+3+4")
    assert not cache.compile(narrowed, BYTES).accepts("1+2+3+4")


def test_the_checker_and_every_mask() -> None:
    assert pdacon.check(SUM & SHORT).ok
    constraint = pdacon.compile(SUM & SHORT, BYTES, eager=True)
    assert constraint.statistics()["situations_left"] == 0
    assert constraint.accepts("1+2")


def test_limits() -> None:
    with pytest.raises(pdacon.LimitExceededError, match="states"):
        pdacon.compile(SUM & RegularSet.from_regex(".{0,500}"), BYTES, limits=pdacon.Limits(states=300))


def test_an_unbounded_wait_that_the_set_bounds() -> None:
    """A comment that may not be one waits for its end for ever; in texts of some length it does not."""
    grammar = Grammar.from_lark(
        'start: (WORD | SLASH | STAR | COMMENT)+\nWORD: /[a-z]/\nSLASH: "/"\nSTAR: "*"\nCOMMENT: "/*" /a*/ "*/"'
    )
    with pytest.raises(pdacon.NondeterministicGrammarError):
        pdacon.compile(grammar, BYTES)
    short = RegularSet.from_regex("[/*a]{0,5}")
    constraint = pdacon.compile(grammar & short, BYTES)
    for size in range(7):
        for text in map("".join, product("/*a", repeat=size)):
            assert constraint.accepts(text) == (text in short and lark_accepts(grammar, text))
