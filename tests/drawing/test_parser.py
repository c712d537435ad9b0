"""The parser's pictures: every state, item, action and transition of the tables is there, and nothing else."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy
import pytest
from support.random_grammars import random_grammar

from pdacon import DrawingError, Grammar, UnsupportedGrammarError
from pdacon.errors import GrammarError
from pdacon.lalr import Tables, build_tables
from pdacon.lexer import build_lexer

pytest.importorskip("graphlay")

from pdacon.drawing import Graph, Node, context_graph, draw_state, pda_graph, stack_after, state_graph

DANGLING = """
start: stmt
stmt: "if" COND "then" stmt
    | "if" COND "then" stmt "else" stmt
    | "skip"
COND: "true" | "false"
%ignore " "
"""
EVERYTHING = 10_000
GRAMMARS = Path(__file__).resolve().parents[1] / "support" / "grammars"


def node(graph: Graph, id: object) -> Node:
    (found,) = [node for node in graph.nodes if node.id == str(id)]
    return found


def texts(node: Node, style: str | None = None) -> list[str]:
    return [row.text for row in node.rows if style in (None, row.style)]


def item(grammar: Grammar, tables: Tables, rule: int, dot: int) -> str:
    if rule < len(grammar.data.productions):
        lhs, rhs = grammar.data.describe_symbol(grammar.data.productions[rule].lhs), grammar.data.productions[rule].rhs
    else:
        lhs, rhs = "$root", (list(dict.fromkeys(grammar.data.starts))[rule - len(grammar.data.productions)],)
    words = [grammar.data.describe_symbol(symbol) for symbol in rhs]
    return f"{lhs}: {' '.join([*words[:dot], '•', *words[dot:]])}"


def transitions(grammar: Grammar, tables: Tables) -> set[tuple[int, int, str]]:
    action, goto, describe = tables.action, tables.goto, grammar.data.describe_symbol
    shifts = {
        (int(s), int(action[s, k]) - 1, describe(int(k))) for s, k in zip(*numpy.nonzero(action > 0), strict=True)
    }
    gotos = {
        (s, target, describe(grammar.data.end + 1 + k))
        for s, row in enumerate(goto.rows())
        for k, target in row.items()
    }
    return shifts | gotos


def check_pda(grammar: Grammar) -> None:
    tables = build_tables(grammar.data)
    graph = pda_graph(grammar.data, tables, most=EVERYTHING)
    boxes = {int(node.id): texts(node) for node in graph.nodes}
    assert all(len(edge.labels) < 6 for edge in graph.edges), "the test reads labels that are not cut"
    drawn = {(int(edge.source), int(edge.target), label) for edge in graph.edges for label in edge.labels}
    folded = set()
    for state, lines in boxes.items():
        for line in lines:
            if step := re.match(r"  (.*?) *→ (\d+) *(.*)", line):
                target = int(step[2])
                folded.add((state, target, step[1]))
                if not step[3]:
                    assert target in boxes
                    continue
                kernel = [(rule, dot) for rule, dot in tables.items(target) if dot]
                assert step[3] == item(grammar, tables, *kernel[0])
    assert drawn | folded == transitions(grammar, tables)
    assert not drawn & folded
    for state in range(tables.num_states):
        kernel = [(rule, dot) for rule, dot in tables.items(state) if dot or rule >= len(grammar.data.productions)]
        if state in boxes:
            assert {item(grammar, tables, *each) for each in kernel} <= set(boxes[state])
        else:
            assert state in {target for _, target, _ in folded}


@pytest.mark.parametrize("name", ["json", "arithmetic"])
def test_the_parser_of_a_grammar(name: str) -> None:
    check_pda(Grammar.builtin(name))


def test_the_parsers_of_random_grammars() -> None:
    done = 0
    for seed in range(80):
        small = random_grammar(seed)
        try:
            grammar = Grammar.from_lark(small.text, conflicts="shift")
        except GrammarError:
            continue
        check_pda(grammar)
        done += 1
    assert done > 40


def test_where_many_lead_there_are_few_edges() -> None:
    grammar = Grammar.from_file(GRAMMARS / "statements.lark", conflicts="shift")
    check_pda(grammar)
    graph = pda_graph(grammar.data, build_tables(grammar.data), most=EVERYTHING)
    entered: dict[str, set[str]] = {}
    for edge in graph.edges:
        entered.setdefault(edge.target, set()).add(edge.source)
    assert max(map(len, entered.values())) <= 3
    assert any("without an edge" in line for line in graph.legend)
    assert {edge.target for edge in graph.edges} | {"0"} == {node.id for node in graph.nodes}


def test_start_end_and_layers() -> None:
    grammar = Grammar.builtin("json")
    tables = build_tables(grammar.data)
    graph = pda_graph(grammar.data, tables)
    assert [node.id for node in graph.nodes if node.start] == [str(tables.start_states[0])]
    assert [node.id for node in graph.nodes if node.accepting] == [str(tables.end_states[0])]
    assert {edge.style for edge in graph.edges} == {"terminal", "nonterminal"}


def test_a_large_parser_is_refused_with_a_way_out() -> None:
    grammar = Grammar.from_lark(DANGLING)
    with pytest.raises(DrawingError, match=r"--state N --around 2.*--most \d+\); there are conflicts in 7"):
        pda_graph(grammar.data, build_tables(grammar.data), most=3)


def test_a_state_has_its_items_and_its_row() -> None:
    grammar = Grammar.builtin("json")
    tables = build_tables(grammar.data)
    for state in range(tables.num_states):
        lines = texts(node(state_graph(grammar.data, tables, state), state))
        assert {item(grammar, tables, *each) for each in tables.items(state)} <= set(lines)
        shown = "\n".join(lines)
        for terminal in range(grammar.data.end + 1):
            name, entry = grammar.data.describe_symbol(terminal), int(tables.action[state, terminal])
            if entry > 0:
                assert re.search(rf"^shift {re.escape(name)} +to {entry - 1}\b", shown, re.MULTILINE)
            elif entry < 0:
                complete = item(grammar, tables, -entry - 1, len(grammar.data.productions[-entry - 1].rhs))
                (found,) = re.findall(rf"^reduce {re.escape(complete)}  on((?:.*\n    )*.*)$", shown, re.MULTILINE)
                assert name in found.split()
        for k in range(len(grammar.data.nonterminals)):
            if tables.goto[state, k] >= 0:
                name = grammar.data.describe_symbol(grammar.data.end + 1 + k)
                assert re.search(rf"^goto {re.escape(name)} +to {tables.goto[state, k]}\b", shown, re.MULTILINE)


def test_what_is_around_a_state() -> None:
    grammar = Grammar.builtin("json")
    tables = build_tables(grammar.data)
    alone = state_graph(grammar.data, tables, 12, around=0)
    assert [node.id for node in alone.nodes] == ["12"]
    near = state_graph(grammar.data, tables, 12)
    assert {node.id for node in near.nodes} == {"12", "6", "18", "26", "17"}
    assert {(edge.source, edge.target) for edge in near.edges} == {
        ("6", "12"),
        ("18", "12"),
        ("26", "12"),
        ("12", "17"),
    }
    assert len(state_graph(grammar.data, tables, 12, around=2).nodes) > len(near.nodes)
    cut = state_graph(grammar.data, tables, 12, most=3)
    assert len(cut.nodes) == 3
    assert any("Left out: 2 more" in line and "--most 5" in line for line in cut.legend)
    assert any(line.startswith('A shortest way here: "{" STRING') for line in near.legend)
    assert "Entered on STRING from 6, 18, 26" in near.legend


def test_conflicts_stand_out() -> None:
    grammar = Grammar.from_lark(DANGLING)
    tables = build_tables(grammar.data)
    (conflict,) = tables.conflicts
    assert texts(node(pda_graph(grammar.data, tables), conflict.state), "conflict") == ['conflict on "else"']
    full = texts(node(state_graph(grammar.data, tables, conflict.state), conflict.state), "conflict")
    assert full == [
        'shift/reduce conflict on "else"',
        "  shift",
        '  reduce stmt: "if" COND "then" stmt •',
        "  Lark shifts",
    ]
    assert "conflicting" in draw_state(grammar.data, tables, conflict.state)


def test_priority_decides_is_said() -> None:
    grammar = Grammar.from_lark('start: a "." | b "."\na.2: "x"\nb: "x"')
    tables = build_tables(grammar.data)
    (conflict,) = tables.conflicts
    lines = texts(node(state_graph(grammar.data, tables, conflict.state), conflict.state), "conflict")
    assert lines[0] == 'reduce/reduce conflict on "."'
    assert '  reduce a: "x" •  (its priority decides)' in lines


def test_two_rules_complete_in_one_state_are_a_box() -> None:
    grammar = Grammar.from_lark('start: a "." | b "!"\na: "x"\nb: "x"')
    check_pda(grammar)


def test_no_such_state() -> None:
    grammar = Grammar.builtin("json")
    for state in (-1, 33):
        with pytest.raises(DrawingError, match=rf"no state {state}; there are 0 to 32(\n|$)"):
            state_graph(grammar.data, build_tables(grammar.data), state)


def test_the_stack_after_a_text() -> None:
    grammar = Grammar.builtin("json")
    tables = build_tables(grammar.data)
    stack = stack_after(grammar.data, tables, b'{"a": [1, 2')
    names = [grammar.data.describe_symbol(int(tables.accessing[state])) for state in stack[1:]]
    assert names == ['"{"', "STRING", '":"', '"["', "value", '","']
    graph = state_graph(grammar.data, tables, stack[-1], stack=stack)
    assert graph.legend[0].startswith('The stack, from its bottom: 0 "{" 6 STRING 12 ":" 17')
    with pytest.raises(DrawingError, match="begins with"):
        stack_after(grammar.data, tables, b"{]")


def test_the_stack_is_marked_in_the_parser() -> None:
    grammar = Grammar.builtin("json")
    tables = build_tables(grammar.data)
    stack = stack_after(grammar.data, tables, b'{"a": [1, 2')
    graph = pda_graph(grammar.data, tables, stack=stack)
    assert {int(node.id) for node in graph.nodes if node.marked} == set(stack)
    marked = {(int(edge.source), int(edge.target)) for edge in graph.edges if edge.marked}
    assert marked == set(pairwise(stack))
    assert not any(
        each.marked for each in (*pda_graph(grammar.data, tables).nodes, *pda_graph(grammar.data, tables).edges)
    )


# Contexts


@pytest.mark.parametrize("name", ["json", "arithmetic"])
def test_contexts_are_those_of_the_lexer(name: str) -> None:
    grammar = Grammar.builtin(name)
    tables = build_tables(grammar.data)
    lexer = build_lexer(grammar.data, tables)
    for number, context in enumerate(lexer.contexts):
        rows = texts(node(context_graph(grammar.data, tables, number), f"context-{number}"))
        order = [match[1] for match in (re.match(r" *\d+  (.+?)(?:  |$| \(ignored)", row) for row in rows) if match]
        assert order == [grammar.data.describe_symbol(terminal) for terminal in context.alternation]
        first = int(numpy.flatnonzero(lexer.context_of_state == number)[0])
        assert any(row.startswith(f"  {first}: after") for row in rows)
        state = texts(node(state_graph(grammar.data, tables, first), first), "faint")
        assert state[0].startswith(f"lexical context {number}:")


def test_keywords_are_named() -> None:
    grammar = Grammar.from_lark('start: ("if" | NAME)+\nNAME: /[a-z]+/\n%ignore " "')
    rows = texts(node(context_graph(grammar.data, build_tables(grammar.data), 0), "context-0"))
    assert 'A lexeme of NAME that is a keyword becomes "if"' in rows


def test_no_such_context() -> None:
    grammar = Grammar.builtin("arithmetic")
    with pytest.raises(DrawingError, match=r"no context 99; there are 0 to \d"):
        context_graph(grammar.data, build_tables(grammar.data), 99)


def test_a_state_without_a_lexer_is_drawn_all_the_same() -> None:
    grammar = Grammar.from_lark(r"start: A" "\n" r"A: /(a)\1/")
    tables = build_tables(grammar.data)
    lines = texts(node(state_graph(grammar.data, tables, 0), 0), "faint")
    assert lines[0].startswith("no lexical context:")
    with pytest.raises(UnsupportedGrammarError):
        context_graph(grammar.data, tables, 0)
