"""The rules that a parser is in, and items in the author's words."""

from __future__ import annotations

from pdacon import Grammar
from pdacon.lalr import build_tables
from pdacon.matching.enclosing import Enclosing
from pdacon.matching.naming import Names
from pdacon.pda import Configuration, Expectation, Machine

RULES = 'start: pair "." pair\npair: NAME "=" sum\nsum: NUMBER ("+" NUMBER)*\n'
GRAMMAR = Grammar.from_lark(RULES + "NAME: /[a-z]/\nNUMBER: /[0-9]/")


def behind(text: bytes) -> Configuration:
    place = Configuration.initial(Machine(GRAMMAR.data, build_tables(GRAMMAR.data)), 0).read(text)
    assert place is not None
    return place


def test_rules_around_a_place_are_named_from_the_inside() -> None:
    enclosing = Enclosing(GRAMMAR.data, build_tables(GRAMMAR.data))
    assert list(enclosing.rules(behind(b"a=1.b=1+").stack)) == ["sum", "pair", "start"]
    assert list(enclosing.rules(behind(b"a=1.b=").stack)) == ["start"]


def test_a_rule_of_which_nothing_has_been_read_encloses_nothing() -> None:
    enclosing = Enclosing(GRAMMAR.data, build_tables(GRAMMAR.data))
    assert list(enclosing.rules(behind(b"a=1+").stack)) == ["sum", "pair"]
    assert list(enclosing.rules(behind(b"").stack)) == []


def test_kernel_items_say_how_a_state_was_reached() -> None:
    names = Names(GRAMMAR.data, 0)
    kernel = Enclosing(GRAMMAR.data, build_tables(GRAMMAR.data)).kernel(behind(b"a=").stack.state)
    assert [names.item(*item) for item in kernel] == ['pair: NAME "=" • sum']
    kernel = Enclosing(GRAMMAR.data, build_tables(GRAMMAR.data)).kernel(behind(b"").stack.state)
    assert [names.item(*item) for item in kernel] == ["• start"]


def test_what_is_expected_is_listed_with_the_end_last() -> None:
    grammar = Grammar.from_lark('start: "a" "b"\n%ignore " "')
    names = Names(grammar.data, 0)
    ids = {grammar.data.describe_symbol(k): k for k in range(grammar.data.end)}
    blank = next(iter(grammar.data.ignore))
    expected = Expectation((), (ids['"a"'], blank), end=True)
    assert names.expected(expected) == '"a" or the end'  # what is ignored is not what is missing
    assert names.ignored(expected) == ('" "',)
    assert names.expected(Expectation((), (blank,), end=False)) == '" "'
    assert names.expected(Expectation((ids['"b"'],), (), end=False)) == '"b"'
    assert names.begun([ids['"a"'], ids['"b"']], b"x") == '"x" (of "a" or "b")'
