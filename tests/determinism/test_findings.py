"""Findings are data: frozen, picklable, JSON-ready."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from pdacon.determinism import TITLES, Counterexample, Derivation, Finding
from pdacon.front.report import DeterminismReport
from pdacon.grammar import Span

LEFT = Derivation("e", (Derivation("e", (Derivation("e"), Derivation('"+"'), Derivation("e"))), Derivation('"+"')))
RIGHT = Derivation("e", (Derivation("e"), Derivation('"+"'), Derivation("e", ()), Derivation("e")))
FINDING = Finding(
    id="PDA001",
    level="error",
    title="t",
    message="m",
    cause="operator-precedence",
    counterexample=Counterexample(False, LEFT, RIGHT, 3, b"1+1+1", b"1+\xff", complete=False),
    related=(("the other one", Span("g.lark", 1, 2, 1, 3)),),
)


def test_leaves_are_the_sentence_from_left_to_right() -> None:
    assert LEFT.leaves() == ("e", '"+"', "e", '"+"')
    assert RIGHT.leaves() == ("e", '"+"', "e")
    assert Derivation("x").leaves() == ("x",)
    assert Derivation("x", ()).leaves() == ()


def test_leaves_of_deep_trees_are_found() -> None:
    tree = Derivation("x")
    for _ in range(50_000):
        tree = Derivation("e", (tree,))
    assert tree.leaves() == ("x",)


@pytest.mark.slow
def test_deep_trees_are_values_like_others() -> None:
    tree = LEFT
    for _ in range(50_000):
        tree = Derivation("e", (Derivation('"("'), tree))
    for copied in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert copied == tree
        assert hash(copied) == hash(tree)
        assert copied.leaves() == tree.leaves()
    assert tree != LEFT
    assert repr(tree).count("Derivation('\"(\"')") == 50_000
    data = json.loads(json.dumps(tree.to_dict()))
    depth = 1
    while len(data["children"]) == 2:
        data, depth = data["children"][1], depth + 1
    assert depth == 60
    assert [leaf["symbol"] for leaf in data["children"]] == [*['"("'] * (50_001 - 60), *LEFT.leaves()]


def test_trees_are_shown_as_they_are_made() -> None:
    for tree in (LEFT, RIGHT, Derivation("x", ()), Derivation("x", (Derivation("y", (Derivation("z"),)),))):
        assert eval(repr(tree)) == tree
        assert pickle.loads(pickle.dumps(tree)) == tree
    assert len({LEFT, RIGHT, Derivation("x"), Derivation("x", ()), Derivation("x")}) == 4


def test_a_counterexample_is_json_ready_and_picklable() -> None:
    report = DeterminismReport("g.lark", (FINDING,), "error", "reject")
    assert pickle.loads(pickle.dumps(report)) == report
    data = json.loads(json.dumps(report.to_dict()))
    assert data == report.to_dict()
    (finding,) = data["findings"]
    assert finding["cause"] == "operator-precedence"
    assert finding["related"] == [
        {
            "label": "the other one",
            "span": {"path": "g.lark", "line": 1, "column": 2, "end_line": 1, "end_column": 3},
        }
    ]
    counterexample = finding["counterexample"]
    assert (counterexample["unifying"], counterexample["position"], counterexample["complete"]) == (False, 3, False)
    assert counterexample["first"]["derivation"]["children"][0]["children"][1] == {"symbol": '"+"', "children": None}
    assert counterexample["second"]["text"] == "1+\\xff"
    assert data["sizes"] is None


def test_ids_are_consecutive_and_known() -> None:
    assert list(TITLES) == [f"PDA{k:03}" for k in range(1, len(TITLES) + 1)]
    with pytest.raises(ValueError, match="no such finding"):
        Finding("PDA000", "error", "t", "m")
