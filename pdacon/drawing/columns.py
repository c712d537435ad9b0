"""Parts of a picture one below the other, and in columns where they would be a tower."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from pdacon.drawing import svg

_TALLEST = 1_800.0  # pixels of a single column
_GAP = 3 * svg.MARGIN


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """Something that has been drawn from (0, 0) on, and its size."""

    element: Element
    width: float
    height: float


def arrange(root: Element, y: float, parts: Sequence[DrawnPart]) -> tuple[float, float]:
    """Put parts into a picture from y on, in their order: down each column, and the columns from left to right.

    There are so many columns that the whole is about as wide as it is high. The right end and the lower end.
    """
    height, width = sum(part.height for part in parts), max((part.width for part in parts), default=0.0)
    count = max(1, round(math.sqrt(height / width))) if height > _TALLEST else 1
    x, lowest = svg.MARGIN, y
    right = x
    for column in _columns(parts, _least_height(parts, count)):
        top = y
        for part in column:
            part.element.set("transform", f"translate({svg.number(x)} {svg.number(top)})")
            root.append(part.element)
            top += part.height
        right = x + max(part.width for part in column)
        x, lowest = right + _GAP, max(lowest, top)
    return right, lowest


def _least_height(parts: Sequence[DrawnPart], count: int) -> float:
    """Of so many columns: how high the highest one has to be, to a pixel."""
    most = sum(part.height for part in parts)
    least = max([most / count, *(part.height for part in parts)])
    while most - least > 1:
        middle = (least + most) / 2
        if sum(1 for _ in _columns(parts, middle)) <= count:
            most = middle
        else:
            least = middle
    return most


def _columns(parts: Sequence[DrawnPart], height: float) -> Iterator[list[DrawnPart]]:
    """The parts in columns that are no higher than that."""
    column: list[DrawnPart] = []
    for part in parts:
        if column and sum(one.height for one in column) + part.height > height:
            yield column
            column = []
        column.append(part)
    if column:
        yield column
