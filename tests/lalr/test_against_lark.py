"""The tables are stock Lark's, row for row, and the conflicts are those that Lark settles or refuses."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import lark
import pytest
from lalr.bare_grammars import BareGrammar, all_small_grammars, load, random_grammar
from lalr.reference import Expected, LarkAnalysis, kernels, merged_lookaheads

from pdacon.lalr import Tables, build_tables

NUM_RANDOM = int(os.environ.get("PDACON_RANDOM_GRAMMARS", "1500"))
SMALL_WORLD_STRIDE = int(os.environ.get("PDACON_SMALL_WORLD_STRIDE", "7"))  # 1: all of it
LARK_GRAMMARS = Path(lark.__file__).parent / "grammars"
INSTALLED = [
    ("lark.lark", ["start"]),
    ("python.lark", ["file_input"]),
    ("python.lark", ["single_input", "file_input", "eval_input", "lambdef"]),
]

HANDMADE = {
    "json": """
        start: value
        value: object | array | ESCAPED_STRING | SIGNED_NUMBER | "true" | "false" | "null"
        array: "[" [value ("," value)*] "]"
        object: "{" [pair ("," pair)*] "}"
        pair: ESCAPED_STRING ":" value
        %import common (ESCAPED_STRING, SIGNED_NUMBER)
        """,
    "dangling else": """
        start: "if" E start | "if" E start "else" start | "s"
        E: "e"
        """,
    "unit cycle": """
        start: x | "a"
        x: start
        """,
    "nullable prefixes": """
        start: a b c "x" | a b "y" start | "z"
        a: "a"?
        b: a "b" | c
        c: | "c" "c"
        """,
    "reduce/reduce by priority": """
        start: x "end" | y "end"
        x.2: "a" | "b"
        y.1: "a" | "c"
        """,
    "reduce/reduce unsettled": """
        start: x "end" | y "end"
        x.2: "a" | "b"
        y.2: "a" | "c"
        """,
    "reduce/reduce of three, two equal at the top": """
        start: x | y | z
        x.2: "a"
        y.2: "a"
        z.1: "a"
        """,
    "reduce/reduce settled, then a shift wins": """
        start: x "b" | y "b" | "a" "b" "c"
        x.1: "a"
        y: "a"
        """,
    "templates": """
        start: _list{pair, ","} | _list{_list{NAME, "."}, ";"}
        _list{item, sep}: item (sep item)*
        pair: NAME "=" NAME
        NAME: /[a-z]+/
        """,
    "ambiguous expressions": """
        start: start "+" start | start "*" start | "(" start ")" | "n"
        """,
    "not LR(1)": """
        start: x "a" "b" | y "a" "c"
        x: "d"
        y: "d"
        """,
    "LR(1) but not LALR(1)": """
        start: "a" x "d" | "b" y "d" | "a" y "e" | "b" x "e"
        x: "c"
        y: "c"
        """,
    "empty language": """
        start: "a" start
        """,
    "empty text": """
        start:
        """,
    "optional with empty alternatives": """
        start: ["a"] ["b"] [c] "d"
        c: "c"*
        """,
}


@pytest.fixture(params=[*HANDMADE, *range(len(INSTALLED))], ids=str)
def real_grammar(request: pytest.FixtureRequest) -> BareGrammar:
    if isinstance(request.param, str):
        return load(HANDMADE[request.param])
    name, starts = INSTALLED[request.param]
    path = LARK_GRAMMARS / name
    return load(path.read_text(encoding="utf-8"), starts, str(path), parser="lalr")


def rows(tables: Tables) -> dict[int, dict[int, int]]:
    first = tables.action.shape[1]
    return {
        state: {t: int(a) for t, a in enumerate(tables.action[state]) if a}
        | {first + n: g for n, g in tables.goto.row(state).items()}
        for state in range(tables.num_states)
    }


def proper_conflicts(tables: Tables) -> list[Expected]:
    found = [
        Expected(c.kind, c.state, c.terminal, c.productions, c.shift_to, c.settled, c.chosen)
        for c in tables.conflicts
        if c.kind != "reads-cycle"
    ]
    return sorted(found, key=lambda c: (c.state, c.terminal, c.kind))


def assert_equal_to_lark(grammar: BareGrammar, tables: Tables, analysis: LarkAnalysis) -> str:
    """Compare everything that does not depend on Lark's hash order; return the class of the grammar."""
    for state, items in analysis.items().items():
        ours = tables.items(state)
        assert set(ours) == items
        assert len(ours) == len(items)
    cycles = [(c.state, c.terminal) for c in tables.conflicts if c.kind == "reads-cycle"]
    assert set(cycles) <= analysis.read_cycles()
    assert bool(cycles) == bool(analysis.read_cycles())
    if cycles:
        return "reads cycle"
    conflicts = proper_conflicts(tables)
    assert conflicts == analysis.conflicts()
    expected_rows = analysis.rows()
    kinds = {c.kind for c in conflicts if c.settled is not None or c.kind != "reduce/reduce"}
    strict_mode_error = analysis.strict_mode_error()
    assert ("shift/reduce" in kinds) == (strict_mode_error or "").startswith("Shift/Reduce")
    if any(c.settled is None for c in conflicts):
        assert expected_rows is None
        return "reduce/reduce refused"
    assert expected_rows == rows(tables)
    assert analysis.end_states == tables.end_states
    return "shift/reduce" if "shift/reduce" in kinds else "reduce/reduce settled" if kinds else "no conflict"


def assert_lark_only_is_exact(grammar: BareGrammar, tables: Tables, analysis: LarkAnalysis) -> bool:
    """Hold `lark_only` against LALR(1) by definition; return whether Lark has surplus lookaheads."""
    true = merged_lookaheads(grammar)
    if true is None:
        return False
    core = kernels(tables, len(grammar.productions))
    lark_lookaheads = analysis.lookaheads()
    surplus = False
    for state in range(tables.num_states):
        for production, dot in tables.items(state):
            if production < len(grammar.productions) and dot == len(grammar.productions[production].rhs):
                proper = true.get((core[state], production), set())
                assert proper <= lark_lookaheads[state, production]
                surplus |= proper != lark_lookaheads[state, production]
    for conflict in tables.conflicts:
        if conflict.kind == "reads-cycle":
            continue
        reduces = sum(
            conflict.terminal in true.get((core[conflict.state], p), ()) for p in range(len(grammar.productions))
        )
        assert conflict.lark_only == (reduces < (2 if conflict.kind == "reduce/reduce" else 1))
    return surplus


def test_real_grammars(real_grammar: BareGrammar) -> None:
    tables = build_tables(real_grammar)
    assert_equal_to_lark(real_grammar, tables, LarkAnalysis(real_grammar, tables))


def classify(grammars: Iterable[BareGrammar]) -> Counter[str]:
    """Compare each grammar with Lark and with LALR(1) by definition; count the classes."""
    classes: Counter[str] = Counter()
    for grammar in grammars:
        tables = build_tables(grammar)
        analysis = LarkAnalysis(grammar, tables)
        kind = assert_equal_to_lark(grammar, tables, analysis)
        classes[kind] += 1
        classes["grammars"] += 1
        if kind == "reads cycle":
            continue
        classes["surplus lookaheads"] += assert_lark_only_is_exact(grammar, tables, analysis)
        for conflict in tables.conflicts:
            classes[f"Lark-only {conflict.kind}"] += conflict.lark_only
    print(dict(classes))
    return classes


@pytest.mark.slow
def test_random_grammars() -> None:
    classes = classify(map(random_grammar, range(NUM_RANDOM)))
    shares = {kind: count / NUM_RANDOM for kind, count in classes.items()}
    assert shares["no conflict"] > 0.3
    assert shares["shift/reduce"] > 0.1
    assert shares["reduce/reduce refused"] > 0.1
    assert shares["reduce/reduce settled"] > 0.01
    assert shares["reads cycle"] > 0.004
    assert shares["surplus lookaheads"] > 0.004


@pytest.mark.slow
def test_small_world() -> None:
    classes = classify(islice(all_small_grammars(), 0, None, SMALL_WORLD_STRIDE))
    assert min(classes[kind] for kind in ("no conflict", "shift/reduce", "reduce/reduce refused", "reads cycle")) > 0
