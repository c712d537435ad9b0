"""Conflicts as trees: both readings are whole, their sentences stand where they should, nothing overlaps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pdacon import DrawingError, Grammar, check
from pdacon.determinism import Finding
from pdacon.determinism.report.findings import Counterexample, Derivation

pytest.importorskip("graphlay")

from pdacon.drawing import draw_conflict, draw_readings
from pdacon.drawing.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"
FIXTURES = sorted((Path(__file__).resolve().parents[1] / "determinism" / "fixtures").glob("*/grammar.lark"))


def rows(picture: str, name: str) -> list[list[tuple[float, str]]]:
    """The texts of a class by line, from the top, with their places."""
    by_line: dict[float, list[tuple[float, str]]] = {}
    for text in ElementTree.fromstring(picture).iter(f"{SVG}text"):
        if text.get("class") == name:
            by_line.setdefault(float(text.get("y", "0")), []).append((float(text.get("x", "0")), text.text or ""))
    return [sorted(line) for _, line in sorted(by_line.items())]


def size(tree: Derivation) -> int:
    return 1 + sum(map(size, tree.children or ()))


def check_picture(example: Counterexample, picture: str) -> None:
    sentences = [[symbol for _, symbol in line] for line in rows(picture, "leaf head")]
    wanted = [list(example.first.leaves())] + ([] if example.unifying else [list(example.second.leaves())])
    assert sentences == wanted
    edges = [path for path in ElementTree.fromstring(picture).iter(f"{SVG}path") if path.get("class") == "edge"]
    assert len(edges) == size(example.first) + size(example.second) - 2
    for sentence, dots in zip(rows(picture, "leaf head"), rows(picture, "conflict"), strict=True):
        assert sum(x < dots[0][0] for x, _ in sentence) == example.position
    for name in ("leaf head", "nonterminal"):
        for line in rows(picture, name):
            for (x, text), (other, after) in pairwise(line):
                assert x + text_width(text) / 2 < other - text_width(after) / 2


@pytest.mark.slow
def test_every_counterexample_of_the_fixtures() -> None:
    drawn = 0
    for path in FIXTURES:
        options = path.with_name("options.json")
        if options.exists() and '"labels"' in options.read_text(encoding="utf-8"):
            continue  # labels need their vocabulary, and have no derivations to draw
        grammar = Grammar.from_file(path)
        number = 0
        for finding in check(grammar).findings:
            if finding.counterexample is not None:
                number += 1
                check_picture(finding.counterexample, draw_readings(finding))
                drawn += 1
        if number:
            assert ElementTree.fromstring(draw_conflict(grammar.data, number)).findtext(f"{SVG}title")
    assert drawn > 12


def made(first: Derivation, second: Derivation, position: int, *, unifying: bool) -> Finding:
    example = Counterexample(unifying, first, second, position)
    return Finding("PDA002", "error", "reduce/reduce conflict", "", None, counterexample=example)


def test_wide_names_over_short_words_do_not_overlap() -> None:
    leaf = Derivation("x")
    tree = Derivation("s", tuple(Derivation(f"a_very_long_name_{k}", (leaf,)) for k in range(4)))
    finding = made(tree, tree, 2, unifying=True)
    assert finding.counterexample is not None
    check_picture(finding.counterexample, draw_readings(finding))


def test_what_is_empty_has_a_place() -> None:
    empty, word = Derivation("optional", ()), Derivation('"w"')
    first = Derivation("s", (empty, word, empty, empty))
    second = Derivation("s", (Derivation("t", (empty, word)),))
    picture = draw_readings(made(first, second, 0, unifying=True))
    assert sum(len(line) for line in rows(picture, "faint")) == 4
    assert rows(picture, "leaf head")[0][0][1] == '"w"'


def test_what_is_the_same_is_said() -> None:
    x, y, z = (Derivation(symbol) for symbol in "xyz")
    one = draw_readings(made(Derivation("s", (x, y)), Derivation("s", (x, z)), 1, unifying=False))
    other = draw_readings(made(Derivation("s", (x, z)), Derivation("s", (y, z)), 1, unifying=False))
    assert "Up to there the sentences are the same" in one
    assert "The sentences begin differently" in other


def test_the_sentence_as_text() -> None:
    picture = draw_conflict(Grammar.from_lark('start: start "+" start | "n"').data)
    assert [line for line in ElementTree.fromstring(picture).itertext() if line == 'As text: "n+n+n"']


def test_a_deep_tree() -> None:
    tree = Derivation("x")
    for _ in range(3000):
        tree = Derivation("s", (tree,))
    assert draw_readings(made(tree, tree, 0, unifying=True)).count('class="edge"') == 6000


def test_no_such_conflict() -> None:
    with pytest.raises(DrawingError, match="no conflict 1 with two readings; there is none"):
        draw_conflict(Grammar.builtin("json").data)
    grammar = Grammar.from_lark('start: start "+" start | "n"')
    with pytest.raises(DrawingError, match="no conflict 2 with two readings; there is 1"):
        draw_conflict(grammar.data, 2)
    with pytest.raises(DrawingError, match="PDA007 has no readings"):
        draw_readings(Finding("PDA007", "error", "empty", "", None))
