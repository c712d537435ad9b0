"""Blocks and parentheses: what is unbalanced, and states that know whether they are inside of parentheses."""

from __future__ import annotations

from pathlib import Path
from random import Random

import lark
import numpy as np
import pytest
from support.indented_grammars import INDENTED_GRAMMARS, BraceIndenter
from support.small_grammars import SmallGrammar

from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.grammar import Grammar
from pdacon.lalr import Tables, build_tables, find_imbalances, split_parentheses

REST = "A: /a/\n_NL: /\\n/\n%declare _INDENT _DEDENT\n"


def load(rules: str) -> Grammar:
    return Grammar.from_lark(rules + REST, postlex=BraceIndenter())


def python_grammar() -> Grammar:
    path = Path(lark.__file__).parent / "grammars" / "python.lark"
    return Grammar.from_file(path, start=["file_input", "single_input", "eval_input"], postlex="python")


def walk_both(grammar: Grammar, tables: Tables, split: Tables, random: Random, length: int) -> int:
    """Feed random terminals to both tables; how many were shifted. The copies have to know the parentheses."""
    layout = grammar.layout
    assert layout is not None
    start = random.randrange(len(tables.start_states))
    stack, copies = [tables.start_states[start]], [split.start_states[start]]
    level = 0
    for shifted in range(length):
        row = tables.action[stack[-1]]
        assert np.array_equal(row == 0, split.action[copies[-1]] == 0)
        terminals = np.flatnonzero(row[: grammar.end])
        if not terminals.size:
            return shifted
        terminal = int(random.choice(terminals))
        while (action := int(tables.action[stack[-1], terminal])) < 0:
            assert split.action[copies[-1], terminal] == action
            production = grammar.productions[-action - 1]
            for states, table in ((stack, tables), (copies, split)):
                del states[len(states) - len(production.rhs) :]
                states.append(int(table.goto[states[-1], production.lhs - grammar.end - 1]))
            assert split.origin[copies].tolist() == stack
        if action == 0:
            assert split.action[copies[-1], terminal] == 0
            return shifted
        stack.append(action - 1)
        copies.append(int(split.action[copies[-1], terminal]) - 1)
        level += (terminal in layout.opens) - (terminal in layout.closes)
        assert split.origin[copies].tolist() == stack
        assert split.in_parens[copies[-1]] == (level > 0)
    return length


@pytest.mark.parametrize("small", INDENTED_GRAMMARS, ids=lambda small: small.name)
def test_copies_do_what_their_origins_do(small: SmallGrammar) -> None:
    grammar = Grammar.from_lark(small.text, **small.options)
    tables = build_tables(grammar)
    split = split_parentheses(grammar, tables)
    random = Random(small.name)
    assert sum(walk_both(grammar, tables, split, random, 40) for _ in range(200)) > 200


def test_copies_of_python_do_what_their_origins_do() -> None:
    grammar = python_grammar()
    tables = build_tables(grammar)
    split = split_parentheses(grammar, tables)
    assert (tables.num_states, split.num_states) == (808, 1117)
    random = Random(1)
    assert sum(walk_both(grammar, tables, split, random, 200) for _ in range(100)) > 1000


def test_the_given_states_keep_their_numbers() -> None:
    grammar = python_grammar()
    tables = build_tables(grammar)
    split = split_parentheses(grammar, tables)
    count = tables.num_states
    assert split.origin[:count].tolist() == list(range(count))
    assert split.start_states == tables.start_states
    assert split.end_states == tables.end_states
    assert split.conflicts == tables.conflicts
    for state in range(split.num_states):
        assert split.items(state) == tables.items(int(split.origin[state]))
    assert np.array_equal(split.accessing, tables.accessing[split.origin])
    with pytest.raises(ValueError, match="read-only"):
        split.in_parens[0] = True


def test_one_copy_for_each_number_that_matters() -> None:
    """In ``( { a } )`` a rule has opened up to two itself: its states come with 1 or 2, and with more than these."""
    grammar = load('start: x _NL\nx: "(" "{" x "}" ")" | A\n')
    tables = build_tables(grammar)
    split = split_parentheses(grammar, tables)
    copies = np.bincount(split.origin)
    behind = {
        tuple(sorted((grammar.productions[p].rhs[d - 1]) for p, d in tables.items(s) if d)): int(copies[s])
        for s in range(tables.num_states)
        if tables.accessing[s] != -1
    }
    by_name = {" ".join(grammar.symbol_name(symbol) for symbol in key): n for key, n in behind.items() if key}
    assert by_name["LPAR"] == by_name["LBRACE"] == 2  # Opened outside of parentheses or inside of two.
    assert by_name["A"] == 2


def test_without_parentheses_nothing_is_split() -> None:
    grammar = load("start: (A _NL)+\n")
    tables = build_tables(grammar)
    assert split_parentheses(grammar, tables) is tables
    assert not tables.in_parens.any()
    plain = Grammar.from_lark('start: "(" start ")" | "a"\n')
    tables = build_tables(plain)
    assert split_parentheses(plain, tables) is tables
    assert find_imbalances(plain) == []


def test_the_number_of_copies_is_limited() -> None:
    grammar = python_grammar()
    with pytest.raises(LimitExceededError, match="states"):
        split_parentheses(grammar, build_tables(grammar), max_states=1000)


@pytest.mark.parametrize(
    ("rules", "what", "reason"),
    [
        ("start: x x\nx: _NL _INDENT A\n", "blocks", r"opens blocks \(_INDENT\) .*write _DEDENT into the same"),
        ("start: x x\nx: A _NL _DEDENT\n", "blocks", r"closes blocks \(_DEDENT\) .*write _INDENT into the same"),
        ("start: x x\nx: A _DEDENT _NL _INDENT\n", "blocks", "before it opens them.*; open them first"),
        ('start: x x\nx: "(" A\n', "parentheses", r"opens parentheses \(\"\(\"\) .*write RPAR or RBRACE|what closes"),
        ('start: x x\nx: "(" "{" A ")"\n', "parentheses", r"opens parentheses .*write \"\)\" into the same"),
        ('start: x x\nx: "}" A "{"\n', "parentheses", "before it opens them"),
        ('start: x x\nx: A "}"\n', "parentheses", "closes parentheses"),
    ],
)
def test_what_is_unbalanced_is_refused_at_its_place(rules: str, what: str, reason: str) -> None:
    grammar = load(rules)
    (imbalance,) = find_imbalances(grammar)
    assert (imbalance.what, imbalance.rule) == (what, "x")
    with pytest.raises(UnsupportedGrammarError, match=reason) as caught:
        split_parentheses(grammar, build_tables(grammar))
    assert caught.value.feature == "postlex"
    assert caught.value.span == imbalance.span
    assert imbalance.span is not None
    assert imbalance.span.line == 2


def test_every_unbalanced_alternative_is_found() -> None:
    grammar = load('start: (A "(" | "{" A | _NL _INDENT A)+\n')
    assert len(find_imbalances(grammar)) == 6  # Each alternative is two productions: x+ is x | x+ x.
