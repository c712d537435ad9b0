"""From grammar text: the tables of a pdacon Grammar are those inside a stock ``lark.Lark`` for the same text."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import lark
import pytest
from lark.parsers.lalr_analysis import IntParseTable, Shift

import pdacon.grammar
from pdacon.lalr import Tables, build_tables

LARK_GRAMMARS = Path(lark.__file__).parent / "grammars"

TEXTS = {
    "dangling else": 'start: "if" E start | "if" E start "else" start | "s"\nE: "e"',
    "unit cycle": 'start: x | "a"\nx: start',
    "rule priorities": 'start: x "end" | y "end"\nx.2: "a" | "b"\ny.-1: "a" | "c"',
    "templates": 'start: _list{pair, ","}\n_list{item, sep}: item (sep item)*\npair: /[a-z]+/ "=" /[0-9]+/',
    "inlined, kept and aliased": '!start: (_pair | one)* -> many\n_pair: "(" start ")"\n?one: "1" | "2" -> two',
    "placeholders": 'start: ["a"] ["b"] [c] "d"\nc: "c"~2..40',
    "declared": "%declare X Y\nstart: X start Y |",
}


def assert_same_rows(grammar: pdacon.Grammar, tables: Tables, stock: IntParseTable, starts: list[str]) -> None:
    end = len(grammar.data.terminals)
    names = [grammar.data.symbol_name(s) for s in range(end + 1 + len(grammar.data.nonterminals))]
    bodies = [(names[p.lhs], [names[s] for s in p.rhs]) for p in grammar.data.productions]
    state = {stock.start_states[s]: tables.start_states[k] for k, s in enumerate(starts)}
    queue = deque(state)
    while queue:
        theirs = queue.popleft()
        ours = state[theirs]
        row = {names[t]: int(a) for t, a in enumerate(tables.action[ours]) if a}
        row |= {names[end + 1 + n]: g + 1 for n, g in tables.goto.row(ours).items()}
        assert row.keys() == stock.states[theirs].keys()
        for name, (action, argument) in stock.states[theirs].items():
            if action is Shift:
                if argument not in state:
                    state[argument] = row[name] - 1
                    queue.append(argument)
                assert state[argument] == row[name] - 1
            else:
                assert bodies[-row[name] - 1] == (argument.origin.name, [s.name for s in argument.expansion])
    assert sorted(state.values()) == list(range(tables.num_states))
    assert tuple(state[stock.end_states[s]] for s in starts) == tables.end_states


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    stock = lark.Lark(TEXTS[name], parser="lalr", lexer="basic")
    grammar = pdacon.Grammar.from_lark(TEXTS[name], lexer="basic")
    assert_same_rows(grammar, build_tables(grammar.data), stock.parser.parser._parse_table, ["start"])


@pytest.mark.parametrize(
    ("file", "starts"),
    [("lark.lark", ["start"]), ("python.lark", ["file_input"]), ("python.lark", ["eval_input", "single_input"])],
)
def test_grammars_that_lark_installs(file: str, starts: list[str]) -> None:
    path = LARK_GRAMMARS / file
    stock = lark.Lark.open(str(path), parser="lalr", start=starts)
    grammar = pdacon.Grammar.from_file(path, start=starts)
    tables = build_tables(grammar.data)
    assert_same_rows(grammar, tables, stock.parser.parser._parse_table, starts)
    assert not any(conflict.lark_only for conflict in tables.conflicts)
