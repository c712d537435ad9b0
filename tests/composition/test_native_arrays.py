"""What the native core refuses: arrays that do not fit together. Nothing read from them is trusted later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.indented_grammars import TreeIndenter

import pdacon
from pdacon._native import _core
from pdacon.composition import native_trie
from pdacon.lalr import BlockTables, ColumnClasses, build_tables, split_blocks, split_parentheses
from pdacon.lexer import build_lexer


@pytest.fixture(scope="module")
def parts() -> dict[str, Any]:
    """What `made` makes a TokenPda of, for a grammar with a rule of length 2."""
    return parts_of('start: "a" start "b" | "c"')


def parts_of(text: str) -> dict[str, Any]:
    grammar = pdacon.Grammar.from_lark(text)
    tables = build_tables(grammar.data)
    lexer = build_lexer(grammar.data, tables)
    base = len(grammar.data.terminals) + 1
    vocabulary = pdacon.Vocabulary.from_tokens([b"a", b"b", b"c", None], eos_ids=[3])
    return {
        "lexer": lexer.automaton,
        "action": tables.action,
        "goto_offset": tables.goto.offset,
        "goto_nonterminal": tables.goto.nonterminal,
        "goto_target": tables.goto.target,
        "are_without_conflicts": not tables.conflicts,
        "num_nonterminals": tables.goto.num_nonterminals,
        "lhs": np.array([production.lhs - base for production in grammar.data.productions], np.int32),
        "length": np.array([len(production.rhs) for production in grammar.data.productions], np.int32),
        "context": lexer.context_of_state,
        "start_state": tables.start_states[0],
        "end_state": tables.end_states[0],
        "trie": native_trie(vocabulary),
        "labels": np.empty(0, np.int32),
    }


LAYOUT = ("newline", "indent", "dedent", "indent_len", "in_parens", "classes", "block", "opened", "closes")


def made(parts: dict[str, Any]) -> _core.TokenPda:
    """The parts by the records that have them; there is a layout where there is a part of one."""
    rest = parts.copy()
    states = rest.pop("start_state"), rest.pop("end_state")
    shared = {name: rest.pop(name) for name in ("lexer", "trie", "labels")}
    layout = {name: rest.pop(name) for name in LAYOUT if name in rest}
    tables = _core.ParseTables(**rest)
    whole = _core.PdaParts(tables=tables, layout=_core.Layout(**layout) if layout else None, **shared)
    return _core.TokenPda.make(whole, *states, 0, 0)


@pytest.fixture(scope="module")
def indented_parts() -> dict[str, Any]:
    """The same for a grammar with layout, whose columns are told apart."""
    text = 'start: "a" _NL [_INDENT start _DEDENT]\n_NL: /\\n+ */\n%declare _INDENT _DEDENT\n'
    grammar = pdacon.Grammar.from_lark(text, postlex=TreeIndenter())
    tables = split_parentheses(grammar.data, build_tables(grammar.data))
    lexer = build_lexer(grammar.data, tables)
    split = split_blocks(grammar.data, tables, ColumnClasses(1, 1))
    layout = grammar.data.layout
    assert layout is not None
    base = len(grammar.data.terminals) + 1
    return {
        "lexer": lexer.automaton,
        "action": split.tables.action,
        "goto_offset": split.tables.goto.offset,
        "goto_nonterminal": split.tables.goto.nonterminal,
        "goto_target": split.tables.goto.target,
        "are_without_conflicts": not split.tables.conflicts,
        "num_nonterminals": split.tables.goto.num_nonterminals,
        "lhs": np.array([production.lhs - base for production in grammar.data.productions], np.int32),
        "length": np.array([len(production.rhs) for production in grammar.data.productions], np.int32),
        "context": lexer.context_of_state[split.parent],
        "start_state": split.tables.start_states[0],
        "end_state": split.tables.end_states[0],
        "newline": layout.newline,
        "indent": layout.indent,
        "dedent": layout.dedent,
        "indent_len": 0,
        "in_parens": split.tables.in_parens.astype(np.uint8),
        "classes": (1, 1),
        "block": split.block,
        "opened": split.opened.reshape(-1),
        "closes": np.array([False] * len(grammar.data.terminals) + [True], np.uint8),
        "trie": native_trie(pdacon.Vocabulary.from_tokens([b"a", b"\n", b" ", None], eos_ids=[3])),
        "labels": np.empty(0, np.int32),
    }


def test_layout_that_fits_together_is_taken(indented_parts: dict[str, Any]) -> None:
    assert not made(indented_parts).empty_language()


def test_a_width_that_fits_the_classes_of_columns_is_taken(indented_parts: dict[str, Any]) -> None:
    assert not made(indented_parts | {"indent_len": 3}).empty_language()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("classes", (-1, 1)),
        ("classes", (1, 0)),
        ("classes", (0, 1)),
        ("classes", (1, 2)),
        ("classes", (2**31 - 1, 1)),
        ("classes", (1, 2**31 - 1)),
        ("block", np.empty(0, np.int32)),
        ("closes", np.empty(0, np.uint8)),
        ("closes", np.ones(5, np.uint8)),
        ("block", np.int32(-1)),
        ("block", np.int32(1)),
        ("block", np.int32(2)),
        ("opened", np.empty(0, np.int32)),
        ("opened", np.int32(-2)),
        ("opened", np.int32(-1)),
        ("opened", np.int32(1 << 20)),
        ("indent_len", -1),
        ("indent_len", (1 << 30) + 1),
    ],
)
def test_columns_that_do_not_fit(part: str, value: Any, indented_parts: dict[str, Any]) -> None:
    wrong = np.full_like(indented_parts[part], value) if isinstance(value, np.int32) else value
    with pytest.raises(ValueError, match="tables"):
        made(indented_parts | {part: wrong})


@pytest.mark.parametrize(("one", "other"), [("newline", "indent"), ("newline", "dedent"), ("indent", "dedent")])
def test_newline_indent_and_dedent_are_three_terminals(one: str, other: str, indented_parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a terminal of the layout is two of them"):
        made(indented_parts | {one: indented_parts[other]})


def test_what_all_start_symbols_share_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*args: Any, **options: Any) -> BlockTables:
        calls.append(args)
        return split_blocks(*args, **options)

    monkeypatch.setattr("pdacon.composition.token_pda.split_blocks", counted)
    text = 'a: "a" _NL [_INDENT a+ _DEDENT]\nb: a a\n_NL: /\\n+ */\n%declare _INDENT _DEDENT\n'
    grammar = pdacon.Grammar.from_lark(text, start=["a", "b"], postlex=TreeIndenter())
    constraint = pdacon.compile(grammar, pdacon.Vocabulary.bytes())
    assert len(calls) == 1
    for start, lines in (("a", b"a\n"), ("b", b"a\na\n")):
        matcher = constraint.matcher(start)
        assert matcher.accept_bytes(lines)
        assert matcher.is_accepting()


def test_tables_that_fit_together_are_taken(parts: dict[str, Any]) -> None:
    assert not made(parts).empty_language()


def test_a_reduce_cannot_pop_the_bottom_of_the_stack(parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="more than the stack holds"):
        made(parts | {"length": parts["length"] + 2})


def test_nothing_leads_back_to_the_start_state(parts: dict[str, Any]) -> None:
    action = parts["action"].copy()
    action[action > 0] = parts["start_state"] + 1
    with pytest.raises(ValueError, match="start state"):
        made(parts | {"action": action})


def test_a_lexeme_can_begin_a_text(parts: dict[str, Any]) -> None:
    """In the context of the start state; the lexer has no entry where no text leads."""
    terminals = nfa(
        kind=[0, 2, 0, 2, 0, 2],
        offset=[0, 1, 1, 2, 2, 3, 3],
        low=[97, 98, 99],
        high=[97, 98, 99],
        target=[1, 3, 5],
        owner=[0, 0, 1, 1, 2, 2],
        entry=[0, 2, 4],
    )
    all_of_them = [0, 1, 2]
    lexer = automaton(terminals, [all_of_them] * 2, [[], []], [[0]] * 3)
    context = np.zeros_like(parts["context"])
    assert made(parts | {"lexer": lexer, "context": context}) is not None
    with pytest.raises(ValueError, match="no lexeme can begin a text"):
        made(parts | {"lexer": lexer, "context": context + 1})


def test_the_end_is_never_shifted(parts: dict[str, Any]) -> None:
    action = parts["action"].copy()
    action[:, -1] = 1
    with pytest.raises(ValueError, match="shift of the end"):
        made(parts | {"action": action})


def test_gotos_that_are_not_in_order() -> None:
    parts = parts_of('start: x "b" | y\nx: "a"\ny: "c"')
    assert parts["goto_nonterminal"].tolist() == [0, 1, 2]
    for wrong in ([2, 1, 0], [0, 1, 1], [0, 1, 3], [-1, 1, 2]):
        with pytest.raises(ValueError, match="tables: bad goto"):
            made(parts | {"goto_nonterminal": np.array(wrong, np.int32)})


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("action", np.int32(1 << 20)),
        ("action", np.int32(-(1 << 20))),
        ("goto_offset", np.int32(1 << 20)),
        ("goto_offset", np.int32(-1)),
        ("goto_nonterminal", np.int32(1 << 20)),
        ("goto_target", np.int32(1 << 20)),
        ("goto_target", np.int32(-1)),
        ("num_nonterminals", 1 << 30),
        ("lhs", np.int32(-1)),
        ("length", np.int32(-1)),
        ("context", np.int32(1 << 20)),
        ("start_state", -1),
        ("end_state", 1 << 20),
    ],
)
def test_indices_out_of_range(part: str, value: Any, parts: dict[str, Any]) -> None:
    wrong = value if isinstance(value, int) else np.full_like(parts[part], value)
    with pytest.raises(ValueError, match="tables"):
        made(parts | {part: wrong})


@pytest.mark.parametrize("terminal", ["newline", "indent", "dedent"])
@pytest.mark.parametrize("value", [-2, 1 << 20])
def test_terminals_of_the_layout_out_of_range(terminal: str, value: int, indented_parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="tables: bad terminal of the layout"):
        made(indented_parts | {terminal: value})


def test_a_layout_needs_a_lexer_with_columns(parts: dict[str, Any]) -> None:
    states, terminals = parts["action"].shape
    layout = {
        "newline": 0,
        "indent": 1,
        "dedent": 2,
        "indent_len": 0,
        "in_parens": np.zeros(states, np.uint8),
        "classes": (0, 1),
        "block": np.zeros(states, np.int32),
        "opened": np.where(parts["action"][:, 1] > 0, parts["action"][:, 1] - 1, -1).astype(np.int32),
        "closes": np.array([0] * (terminals - 1) + [1], np.uint8),
    }
    with pytest.raises(ValueError, match="tables: the lexer keeps no columns"):
        made(parts | layout)


def test_parts_have_names_and_one_kind() -> None:
    with pytest.raises(TypeError):
        _core.PdaParts(None, None, None, None, None)  # type: ignore[misc, arg-type]
    with pytest.raises(TypeError):
        _core.ParseTables(action=np.zeros((1, 1)))  # type: ignore[call-arg, arg-type]


def nfa(**changes: list[int]) -> _core.Nfa:
    """One terminal that matches ``a``, with some arrays replaced."""
    arrays = {
        "kind": [0, 2],
        "offset": [0, 1, 1],
        "low": [97],
        "high": [97],
        "target": [1],
        "owner": [0, 0],
        "entry": [0],
        "behind": [0] * 256,
        "wanted": [],
        "leaves": [],
    }
    narrow = ("kind", "low", "high", "wanted")
    given = {name: np.array(v, np.uint8 if name in narrow else np.int32) for name, v in (arrays | changes).items()}
    return _core.Nfa.make(**given)


def automaton(
    terminals: _core.Nfa,
    alternations: list[list[int]],
    renames: list[list[tuple[int, list[int]]]],
    follow: list[list[int]],
    starts: Sequence[int] = (0,),
) -> _core.LexingAutomaton:
    """Of terminals of which none is ignored, for as many as ``follow`` has, or one."""
    ignored = np.zeros(max(len(follow), 1), np.uint8)
    return _core.LexingAutomaton.make(
        terminals,
        ignored=ignored,
        alternations=alternations,
        renames=renames,
        follow=follow,
        starts=list(starts),
        newline=-1,
        tab_width=8,
        max_states=0,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"target": [7]},
        {"target": [-1]},
        {"kind": [0, 5]},
        {"kind": [3, 0]},  # pending leads back into the lexeme
        {"leaves": [0]},
        {"leaves": [0, 1]},  # there is no such state
        {"leaves": [1, 0], "behind": [0] * 512, "entry": [0, 0]},  # no match
        {"leaves": [0, 1], "behind": [1] * 512, "entry": [0, 0]},  # a byte leads there
        {"leaves": [0, 1], "behind": [0] * 512, "entry": [0, 0], "kind": [1, 2]},  # no byte leads to the match
        {"behind": [1] * 256},
        {"behind": [0] * 255},
        {"behind": []},
        {"offset": [0, 2, 1]},
        {"offset": [0, 1]},
        {"offset": [1, 1, 1]},
        {"owner": [0, 9]},
        {"entry": [5]},
        {"low": [97, 97]},
    ],
)
def test_damaged_nfas_are_refused(changes: dict[str, list[int]]) -> None:
    broken = nfa(**changes)
    pairs = np.array([0, 0], np.int32)
    with pytest.raises(ValueError, match="nfa"):
        _core.find_collisions(broken, pairs, [[0]], 0)
    with pytest.raises(ValueError, match="nfa"):
        automaton(broken, [[0]], [[]], [[0]])


def test_lexical_contexts_out_of_range_are_refused() -> None:
    good = nfa()
    assert automaton(good, [[0]], [[]], [[0]]).num_states == 1
    for alternations, renames, follow, starts in [
        ([[1]], [[]], [[0]], [0]),
        ([[0]], [[(0, [1])]], [[0]], [0]),
        ([[0]], [[(1, [0])]], [[0]], [0]),
        ([[0]], [[]], [[1]], [0]),
        ([[0]], [[]], [], [0]),
        ([[0]], [], [[0]], [0]),
        ([[0]], [[]], [[0]], [1]),
    ]:
        with pytest.raises(ValueError, match=r"lexer|context"):
            automaton(good, alternations, renames, follow, starts)
    for pairs in ([0], [0, 1], [-1, 0]):
        with pytest.raises(ValueError, match="pairs"):
            _core.find_collisions(good, np.array(pairs, np.int32), [[0]], 0)
    for following in ([], [[1]], [[-1]], [[0], [0]]):
        with pytest.raises(ValueError, match="following"):
            _core.find_collisions(good, np.array([0, 0], np.int32), following, 0)
