"""Blocks and parentheses: what is unbalanced, and states that know whether they are inside of parentheses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import lark
import numpy as np
import pytest
from support.indented_grammars import INDENTED_GRAMMARS, BraceIndenter
from support.small_grammars import SmallGrammar

from pdacon.base.limits import Limits
from pdacon.errors import LimitExceededError, UnsupportedGrammarError
from pdacon.front.grammar import Grammar
from pdacon.lalr import Tables, build_tables, find_imbalances, split_parentheses

REST = "A: /a/\n_NL: /\\n/\n%declare _INDENT _DEDENT\n"


def load(rules: str) -> Grammar:
    return Grammar.from_lark(rules + REST, postlex=BraceIndenter())


def python_grammar() -> Grammar:
    path = Path(lark.__file__).parent / "grammars" / "python.lark"
    return Grammar.from_file(path, start=["file_input", "single_input", "eval_input"], postlex="python")


@dataclass(frozen=True)
class Both:
    """The same parse with the given tables and with split ones; the copies have to know the parentheses."""

    grammar: Grammar
    tables: Tables
    split: Tables
    stack: tuple[int, ...]
    copies: tuple[int, ...]
    level: int = 0

    def __post_init__(self) -> None:
        assert self.split.origin[list(self.copies)].tolist() == list(self.stack)
        assert self.split.in_parens[self.copies[-1]] == (self.level > 0)

    def feed(self, terminal: int) -> Both | None:
        stack, copies = list(self.stack), list(self.copies)
        while (action := int(self.tables.action[stack[-1], terminal])) < 0:
            assert self.split.action[copies[-1], terminal] == action
            production = self.grammar.data.productions[-action - 1]
            for states, table in ((stack, self.tables), (copies, self.split)):
                del states[len(states) - len(production.rhs) :]
                states.append(table.goto[states[-1], production.lhs - self.grammar.data.end - 1])
        copied = int(self.split.action[copies[-1], terminal])
        if action == 0:
            assert copied == 0
            return None
        layout = self.grammar.data.layout
        assert layout is not None
        level = self.level + (terminal in layout.opens) - (terminal in layout.closes)
        return replace(self, stack=(*stack, action - 1), copies=(*copies, copied - 1), level=level)


def walk(grammar: Grammar, tables: Tables, split: Tables, random: Random, length: int) -> int:
    """Feed random terminals that the parser takes; how many."""
    start = random.randrange(len(tables.start_states))
    both = Both(grammar, tables, split, (tables.start_states[start],), (split.start_states[start],))
    for shifted in range(length):
        row = tables.action[both.stack[-1]]
        assert np.array_equal(row == 0, split.action[both.copies[-1]] == 0)
        terminals = np.flatnonzero(row[: grammar.data.end]).tolist()
        following = next(filter(None, map(both.feed, random.sample(terminals, len(terminals)))), None)
        if following is None:
            return shifted
        both = following
    return length


@pytest.mark.parametrize("small", INDENTED_GRAMMARS, ids=lambda small: small.name)
def test_copies_do_what_their_origins_do(small: SmallGrammar) -> None:
    grammar = Grammar.from_lark(small.text, **small.options)
    tables = build_tables(grammar.data)
    split = split_parentheses(grammar.data, tables)
    random = Random(small.name)
    assert sum(walk(grammar, tables, split, random, 40) for _ in range(200)) > 200


@pytest.mark.slow
def test_copies_of_python_do_what_their_origins_do() -> None:
    grammar = python_grammar()
    tables = build_tables(grammar.data)
    split = split_parentheses(grammar.data, tables)
    assert (tables.num_states, split.num_states) == (808, 1117)
    random = Random(1)
    assert sum(walk(grammar, tables, split, random, 200) for _ in range(20)) > 1000


def test_the_given_states_keep_their_numbers() -> None:
    grammar = python_grammar()
    tables = build_tables(grammar.data)
    split = split_parentheses(grammar.data, tables)
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
    tables = build_tables(grammar.data)
    split = split_parentheses(grammar.data, tables)
    copies = np.bincount(split.origin).tolist()
    entered = dict(zip(tables.accessing.tolist(), copies, strict=True))
    by_name = {grammar.data.symbol_name(symbol): number for symbol, number in entered.items() if symbol >= 0}
    # Opened outside of parentheses, or inside of two.
    assert by_name == {"LPAR": 2, "LBRACE": 2, "RBRACE": 2, "RPAR": 2, "A": 2, "x": 2, "_NL": 1, "start": 1}


def test_without_parentheses_nothing_is_split() -> None:
    grammar = load("start: (A _NL)+\n")
    tables = build_tables(grammar.data)
    assert split_parentheses(grammar.data, tables) is tables
    assert not tables.in_parens.any()
    plain = Grammar.from_lark('start: "(" start ")" | "a"\n')
    tables = build_tables(plain.data)
    assert split_parentheses(plain.data, tables) is tables
    assert find_imbalances(plain.data) == []


def test_the_number_of_copies_is_limited() -> None:
    grammar = python_grammar()
    with pytest.raises(LimitExceededError, match="states"):
        split_parentheses(grammar.data, build_tables(grammar.data), Limits(states=1000))


@pytest.mark.parametrize(
    ("rules", "what", "reason"),
    [
        ("start: x+\nx: _NL _INDENT A\n", "blocks", r"opens blocks \(_INDENT\) .*write _DEDENT into the same"),
        ("start: x+\nx: A _NL _DEDENT\n", "blocks", r"closes blocks \(_DEDENT\) .*write _INDENT into the same"),
        ("start: x+\nx: A _DEDENT _NL _INDENT\n", "blocks", "before it opens them.*; open them first"),
        ('start: x+\nx: "(" A\n', "parentheses", r"opens parentheses \(\"\(\"\) .*write RPAR or RBRACE|what closes"),
        ('start: x+\nx: "(" "{" A ")"\n', "parentheses", r"opens parentheses .*write \"\)\" into the same"),
        ('start: x+\nx: "}" A "{"\n', "parentheses", "before it opens them"),
        ('start: x+\nx: A "}"\n', "parentheses", "closes parentheses"),
    ],
)
def test_what_is_unbalanced_is_refused_at_its_place(rules: str, what: str, reason: str) -> None:
    grammar = load(rules)
    (imbalance,) = find_imbalances(grammar.data)
    assert (imbalance.what, imbalance.rule) == (what, "x")
    with pytest.raises(UnsupportedGrammarError, match=reason) as caught:
        split_parentheses(grammar.data, build_tables(grammar.data))
    assert caught.value.feature == "postlex"
    assert caught.value.span == imbalance.span
    assert imbalance.span is not None
    assert imbalance.span.line == 2


def test_every_unbalanced_alternative_is_found() -> None:
    grammar = load('start: (A "(" | "{" A | _NL _INDENT A)+\n')
    assert len(find_imbalances(grammar.data)) == 6  # Each alternative is two productions: x+ is x | x+ x.


@pytest.mark.parametrize(
    ("rules", "balanced"),
    [
        ('start: open A close\nopen: "("\nclose: ")"\n', True),
        ('start: open A close\nopen: "(" | "{" "("\nclose: ")"\n', False),
        ('start: open A again A ")"\nopen: "("\nagain: ")" A "("\n', True),
        ('start: again\nagain: ")" A "("\n', False),
        ('start: "(" "(" x ")"\nx: ")" x "(" | A ")" "("\n', False),
        ('start: "(" A x\nx: A "}" A "{" | A\n', True),
        ('start: x ")"\nx: "(" y\ny: A | y A\n', True),
        ('start: x ")" x\nx: A x | A "("\n', True),
        ('start: x\nx: "(" x | A\n', False),
        ("start: x\nx: A _NL begin A end\nbegin: _INDENT\nend: _DEDENT\n", True),
        ("start: x\nx: A _NL begin A\nbegin: _INDENT | A\n", False),
        ("start: A start | A _NL _INDENT\n", False),
        ('start: A start | A "("\n', True),
    ],
)
def test_what_counts_is_what_a_symbol_always_stands_for(rules: str, balanced: bool) -> None:
    assert (find_imbalances(load(rules).data) == []) == balanced
