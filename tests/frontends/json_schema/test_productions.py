"""Productions in the core: what a sentence of the start needs of them, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from pdacon import Grammar
from pdacon._native import _core
from pdacon.errors import LimitExceededError
from pdacon.grammar.flat import FlatProductions


def lowered(out: _core.Productions, start: int) -> list[tuple[int, tuple[int, ...]]] | None:
    made: Any = out.lowered(start)
    if made is None:
        return None
    _, _, lhs, offset, rhs = made
    ends = offset.tolist()
    return [
        (own, tuple(rhs[begin:end].tolist())) for own, begin, end in zip(lhs.tolist(), ends, ends[1:], strict=False)
    ]


def test_what_leads_nowhere_is_left_out_and_what_is_one_symbol_is_replaced() -> None:
    out = _core.Productions(100)
    start, endless, unreached, unit, pair = (out.nonterminal((kind, 7)) for kind in range(5))
    out.add(start, (unit, pair))
    out.add(start, (endless,))
    out.add(endless, (endless, ~0))
    out.add(unreached, (~0,))
    out.add(unit, (~2,))
    out.add(pair, (~1, pair))
    out.add(pair, (~1, pair))  # given twice
    out.add(pair, ())
    # Terminals 2 and 1 come first and second, $END is 2, the start 3 and the pair 4.
    assert lowered(out, start) == [(3, (0, 4)), (4, (1, 4)), (4, ())]
    assert [out.kind(symbol) for symbol in (start, pair)] == [0, 4]


def test_no_sentence() -> None:
    out = _core.Productions(100)
    start = out.nonterminal((0,))
    assert out.nonterminal((0,)) == start
    out.add(start, (start, ~0))
    assert lowered(out, start) is None


def test_what_is_no_symbol_is_refused() -> None:
    out = _core.Productions(2)
    start = out.nonterminal((0,))
    for lhs, rhs in ((1, ()), (-1, ()), (0, (1,))):
        with pytest.raises(IndexError):
            out.add(lhs, rhs)
    for wrong in (1, -1):
        with pytest.raises(IndexError):
            out.kind(wrong)
        with pytest.raises(IndexError):
            out.lowered(wrong)
    out.add(start, (~0,))
    out.add(start, (~1,))
    with pytest.raises(LimitExceededError, match="productions"):
        out.add(start, (~2,))


def test_records_of_productions_are_made_when_they_are_asked_for_and_are_those_of_the_arrays() -> None:
    schema = {"properties": {"a": {"type": "integer"}, "b": {"items": {"$ref": "#"}}}}
    grammar = Grammar.from_json_schema(schema).data
    assert "productions" not in vars(grammar)
    for copy in (pickle.loads(pickle.dumps(grammar)), replace(grammar)):
        assert copy.productions == grammar.productions
        assert copy.fingerprint == grammar.fingerprint
    assert vars(grammar)["productions"] is grammar.productions
    flat, again = grammar.flat_productions, FlatProductions.of(grammar.productions)
    for name in ("lhs", "offset", "rhs", "priority"):
        assert getattr(flat, name).tolist() == getattr(again, name).tolist()
    first = [p for p in grammar.productions if p.lhs == grammar.starts[0]]
    assert [p.order for p in first] == list(range(len(first)))
    assert {p.rule for p in first} == {"start"}
    with pytest.raises(AttributeError, match="prodictions"):
        _ = grammar.prodictions  # type: ignore[attr-defined]
