"""What Tables mean, what they refuse, and what they cost at worst."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from lalr.bare_grammars import BareGrammar, Production, load
from lalr.reference import LarkAnalysis

from pdacon.base.cancelling import Watch
from pdacon.base.limits import Limits
from pdacon.errors import LimitExceededError
from pdacon.lalr import Conflict, Tables, build_tables


def grammar(terminals: str, rules: dict[str, list[str]], starts: str = "S") -> BareGrammar:
    """Single letters: ``grammar("a", {"S": ["aS", ""]})``."""
    number = {name: k for k, name in enumerate([*terminals, "$END", *rules])}
    productions = [
        Production(number[lhs], tuple(number[s] for s in rhs), 0) for lhs, bodies in rules.items() for rhs in bodies
    ]
    return BareGrammar(tuple(terminals), tuple(rules), tuple(productions), tuple(number[s] for s in starts))


def accepts(bare: BareGrammar, tables: Tables, text: str, start: int = 0) -> bool:
    """Run the tables as Lark runs them: accepted when a reduce under $END leaves the end state on top."""
    end = len(bare.terminals)
    stack = [tables.start_states[start]]
    for terminal in [*map(bare.terminals.index, text), end]:
        while (action := int(tables.action[stack[-1], terminal])) < 0:
            production = bare.productions[-action - 1]
            del stack[len(stack) - len(production.rhs) :]
            stack.append(tables.goto[stack[-1], production.lhs - end - 1])
            if terminal == end and stack[-1] == tables.end_states[start]:
                return True
        if action == 0:
            return False
        stack.append(action - 1)
    return False


def test_a_text_is_accepted_by_a_reduce_under_the_end() -> None:
    bare = grammar("ab", {"S": ["aSb", ""]})
    tables = build_tables(bare)
    assert [text for text in ("", "ab", "aabb", "a", "b", "abb", "ba") if accepts(bare, tables, text)] == [
        "",
        "ab",
        "aabb",
    ]


def test_a_unit_cycle_through_the_start_accepts_at_once() -> None:
    # The end state has a reduce under $END too; as in Lark it is never taken, so it is no conflict.
    bare = grammar("a", {"S": ["X", "a"], "X": ["S"]})
    tables = build_tables(bare)
    assert tables.conflicts == ()
    assert tables.action[tables.end_states[0], 1] < 0
    assert accepts(bare, tables, "a")
    assert not accepts(bare, tables, "aa")


def test_several_starts_share_one_table() -> None:
    bare = grammar("ab", {"S": ["aT"], "T": ["b", "bS"]}, starts="STS")
    tables = build_tables(bare)
    assert tables.start_states[0] == tables.start_states[2] != tables.start_states[1]
    assert accepts(bare, tables, "abab", start=0)
    assert not accepts(bare, tables, "abab", start=1)
    assert accepts(bare, tables, "bab", start=1)
    augmented = [tables.items(s)[0] for s in tables.start_states]
    assert augmented == [(3, 0), (4, 0), (3, 0)]


def test_shift_reduce_conflict_says_who_and_where() -> None:
    bare = load('start: "i" start | "i" start "e" start | "s"')
    e, i = bare.terminals.index("E"), bare.terminals.index("I")
    tables = build_tables(bare)
    short = next(k for k, p in enumerate(bare.productions) if p.rhs[0] == i and len(p.rhs) == 2)
    (conflict,) = tables.conflicts
    assert conflict == Conflict(
        kind="shift/reduce",
        state=conflict.state,
        terminal=e,
        productions=(short,),
        shift_to=int(tables.action[conflict.state, e]) - 1,
        settled="shift",
        chosen=-1,
        lark_only=False,
    )
    assert (short, 2) in tables.items(conflict.state)


def test_unsettled_reduces_leave_an_error_or_the_shift() -> None:
    bare = grammar("ab", {"S": ["Xb", "Yb", "abb"], "X": ["a"], "Y": ["a"]})
    tables = build_tables(bare)
    (conflict,) = tables.conflicts
    assert (conflict.kind, conflict.settled, conflict.chosen) == ("reduce/reduce", None, -1)
    assert tables.action[conflict.state, 1] == conflict.shift_to + 1 > 0
    tables = build_tables(grammar("ab", {"S": ["Xb", "Yb"], "X": ["a"], "Y": ["a"]}))
    (conflict,) = tables.conflicts
    assert conflict.shift_to == -1
    assert tables.action[conflict.state, 1] == 0


def test_priorities_of_any_size_are_compared_exactly() -> None:
    bare = grammar("ab", {"S": ["Xb", "Yb"], "X": ["a"], "Y": ["a"]})
    low, high = -(10**30), -(10**30) + 1
    productions = tuple(replace(p, priority=(0, 0, low, high)[k]) for k, p in enumerate(bare.productions))
    (conflict,) = build_tables(replace(bare, productions=productions)).conflicts
    assert (conflict.settled, conflict.productions, conflict.chosen) == ("priority", (2, 3), 3)


def test_the_reads_cycle_is_why_larks_table_depends_on_its_hashes() -> None:
    bare = grammar("a", {"S": ["XW", ""], "W": ["SY"], "X": ["S", "X"], "Y": ["Wa", "S"]})
    tables = build_tables(bare)
    assert "reads-cycle" in {c.kind for c in tables.conflicts}
    found = []
    for order in (1, -1):
        analysis = LarkAnalysis(bare, tables, transition_order=order)
        found.append({k: frozenset(v) for k, v in analysis.lookaheads().items()})
    assert found[0] != found[1]


def test_a_conflict_from_larks_surplus_edges_is_flagged() -> None:
    (conflict,) = build_tables(grammar("a", {"S": ["aaXS", "aX"], "X": ["aW"], "W": ["aa"]})).conflicts
    assert conflict.lark_only
    assert conflict.kind == "shift/reduce"


@pytest.mark.parametrize(("limits", "what"), [(Limits(states=4), "states"), (Limits(bytes=50), "bytes")])
def test_limits_are_honoured(limits: Limits, what: str) -> None:
    chain = grammar("a", {"S": ["a" * 3000]})
    with pytest.raises(LimitExceededError) as caught:
        build_tables(chain, limits)
    assert caught.value.what == what
    assert caught.value.given > caught.value.limit == getattr(limits, what)


def test_the_time_of_the_caller_is_honoured() -> None:
    chain = grammar("a", {"S": ["a" * 3000]})
    times = iter(range(1_000_000))
    with pytest.raises(LimitExceededError) as caught, Watch(4, clock=times.__next__, patience=0):
        build_tables(chain)
    assert caught.value.what == "seconds"
    assert caught.value.given >= caught.value.limit == 4


def test_exactly_the_limit_is_enough() -> None:
    bare = grammar("a", {"S": ["aaa"]})
    assert build_tables(bare, Limits(states=5)).num_states == 5
    with pytest.raises(LimitExceededError):
        build_tables(bare, Limits(states=4))


def test_exponentially_many_states_are_stopped_early() -> None:
    # A may not have read a, B may not have read b, and so on: one state for each set of letters read.
    letters = "abcdefghijklmnopqrst"
    rules = {"Z": list(letters.upper())}
    rules |= {x.upper(): ["", *(y + x.upper() for y in letters if y != x)] for x in letters}
    with pytest.raises(LimitExceededError) as caught:
        build_tables(grammar(letters, rules, "Z"), Limits(states=10_000))
    assert (caught.value.what, caught.value.given) == ("states", 10_001)


@pytest.mark.slow
def test_a_long_chain_of_reads_needs_no_native_stack() -> None:
    length = 100_000
    productions = (Production(2, (3,) * length, 0), Production(3, (), 0), Production(3, (0,), 0))
    tables = build_tables(BareGrammar(("a",), ("start", "optional"), productions, (2,)))
    assert tables.num_states == length + 3
    shift, reduce = tables.action[tables.start_states[0]].tolist()
    assert shift > 0
    assert reduce == -2


def test_a_long_chain_of_units_needs_no_native_stack() -> None:
    length = 3000
    productions = [Production(2 + k, (3 + k,), 0) for k in range(length - 1)]
    productions += [Production(1 + length, (), 0), Production(1 + length, (0,), 0)]
    chain = BareGrammar(("a",), tuple(f"x{k}" for k in range(length)), tuple(productions), (2,))
    tables = build_tables(chain)
    assert tables.conflicts == ()
    assert (accepts(chain, tables, ""), accepts(chain, tables, "a"), accepts(chain, tables, "aa")) == (
        True,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": (1,)}, "start is not a nonterminal"),
        ({"productions": (Production(0, (), 0),)}, "left-hand side"),
        ({"productions": (Production(2, (1,), 0),)}, "right-hand side"),
        ({"productions": (Production(2, (3,), 0),)}, "right-hand side"),
        ({"productions": (Production(2, (-1,), 0),)}, "right-hand side"),
        ({"productions": (Production(2, (0,), 0), Production(2, (0,), 1))}, "given twice"),
    ],
)
def test_malformed_productions_are_refused(change: dict[str, object], message: str) -> None:
    good = grammar("a", {"S": ["a"]})
    with pytest.raises(ValueError, match=message):
        build_tables(replace(good, **change))


def test_tables_are_frozen_and_pickle() -> None:
    tables = build_tables(grammar("ab", {"S": ["aSb", "SS", ""]}))
    with pytest.raises(ValueError, match="read-only"):
        tables.action[0, 0] = 1
    again = pickle.loads(pickle.dumps(tables))
    assert np.array_equal(again.action, tables.action)
    assert again.conflicts == tables.conflicts
    assert [again.items(s) for s in range(again.num_states)] == [tables.items(s) for s in range(tables.num_states)]
