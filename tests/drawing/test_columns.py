"""Tall pictures are folded: parts keep their order, lie on none of the others, and are all there."""

from __future__ import annotations

import re
from random import Random
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

pytest.importorskip("railroad")

from drawing.test_rules import SVG, boxes

from pdacon import Grammar
from pdacon.drawing import draw_rules
from pdacon.drawing.columns import DrawnPart, arrange


def arranged(sizes: list[tuple[float, float]]) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Where parts of these sizes are put, from y = 10 on, and where they end."""
    root = Element("svg")
    extent = arrange(root, 10, [DrawnPart(Element("g"), *size) for size in sizes])
    places = [re.findall(r"-?[\d.]+", part.get("transform", "")) for part in root]
    return [(float(x), float(y)) for x, y in places], extent


def test_parts_lie_on_no_others_and_keep_their_order() -> None:
    draw = Random(3)
    for _ in range(50):
        sizes = [(draw.uniform(50, 900), draw.uniform(20, 400)) for _ in range(draw.randrange(1, 60))]
        places, (right, lowest) = arranged(sizes)
        assert places == sorted(places)
        for (x, y), (width, height), later in zip(places, sizes, [*places[1:], (right + 1, 0.0)], strict=True):
            assert x + width <= right + 0.1
            assert y + height <= lowest + 0.1
            assert later[0] > x + width or (later[0] == x and later[1] >= y + height - 0.1)


def test_what_fits_two_screens_is_one_column() -> None:
    places, _ = arranged([(300, 100)] * 17)
    assert {x for x, _ in places} == {20}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sql", "graphql", "lark"])
def test_pictures_of_large_grammars_are_no_towers(name: str) -> None:
    picture = draw_rules(Grammar.builtin(name).data)
    root = ElementTree.fromstring(picture)
    assert float(root.get("height", "")) < 2 * float(root.get("width", ""))
    assert len([group for group in root.iter(f"{SVG}g") if group.get("class") == "rule"]) == len(boxes(picture))
