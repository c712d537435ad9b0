"""What every picture has: well-formed, complete in itself, described, legible in the dark, the same each time."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pdacon import Grammar
from pdacon.cli import main
from pdacon.grammar import GrammarData
from pdacon.lalr import build_tables

pytest.importorskip("graphlay")
pytest.importorskip("railroad")

from pdacon.drawing import Edge, Graph, Node, Row, draw_context, draw_pda, draw_rules, draw_state, draw_terminal
from pdacon.drawing.parser import state_graph
from pdacon.drawing.rendering import render

SVG = "{http://www.w3.org/2000/svg}"


def of_tables(draw: Callable[..., str], *arguments: int) -> Callable[[GrammarData], str]:
    return lambda grammar: draw(grammar, build_tables(grammar), *arguments)


PICTURES: dict[str, Callable[[GrammarData], str]] = {
    "rules": draw_rules,
    "terminal": lambda grammar: draw_terminal(grammar, "NUMBER"),
    "pda": of_tables(draw_pda),
    "state": of_tables(draw_state, 7),
    "context": of_tables(draw_context, 0),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("grammar", ["json", "arithmetic"])
def test_a_picture_is_complete_in_itself(name: str, grammar: str) -> None:
    picture = PICTURES[name](Grammar.builtin(grammar).data)
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text
    assert root.find(f"{SVG}desc").text
    assert "document" in root.get("role", "").split()
    sheet = root.findtext(f"{SVG}style") or ""
    selectors = [one for line in re.findall(r"^([^@}\n]+?) \{", sheet, re.M) for one in line.split(", ")]
    assert all(selector.startswith(".pdacon ") for selector in selectors), "rules for other pictures of a page"
    assert len(selectors) > 20
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")
    assert "prefers-color-scheme: dark" in picture
    background = root.find(f"{SVG}rect")
    assert background.get("class") == "background"
    assert [element.tag for element in root.iter() if element.tag.endswith(("image", "script", "foreignObject"))] == []


@pytest.mark.parametrize("name", PICTURES)
def test_everything_is_within_the_picture(name: str) -> None:
    root = ElementTree.fromstring(PICTURES[name](Grammar.builtin("json").data))
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    for box in root.iter(f"{SVG}rect"):
        if box.get("class") != "background":
            assert 0 <= float(box.get("x", "0")) <= width
            assert float(box.get("x", "0")) + float(box.get("width", "0")) <= width
            assert float(box.get("height", "0")) <= height


@pytest.mark.parametrize("name", ["terminal", "pda", "state"])
def test_boxes_do_not_overlap(name: str) -> None:
    root = ElementTree.fromstring(PICTURES[name](Grammar.builtin("json").data))
    _, *boxes = root.iter(f"{SVG}rect")
    rectangles = [[float(box.get(key, "0")) for key in ("x", "y", "width", "height")] for box in boxes]
    for k, (x, y, width, height) in enumerate(rectangles):
        for left, top, wide, high in rectangles[:k]:
            apart = x >= left + wide or left >= x + width or y >= top + high or top >= y + height
            inside = left <= x and x + width <= left + wide  # the inner border of an accepting state
            assert apart or inside


@pytest.mark.slow
def test_the_same_bytes_each_time() -> None:
    program = (
        "import hashlib, pdacon, pdacon.drawing as d\nfrom pdacon.lalr import build_tables\n"
        "g = pdacon.Grammar.builtin('json').data\nt = build_tables(g)\n"
        "p = d.draw_rules(g) + d.draw_pda(g, t) + d.draw_state(g, t, 7) + d.draw_terminal(g, 'STRING')\n"
        "print(hashlib.sha256(p.encode()).hexdigest())"
    )
    digests = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-P", "-c", program],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_the_description_has_every_state_and_transition() -> None:
    grammar = Grammar.builtin("json")
    described = ElementTree.fromstring(draw_pda(grammar.data, build_tables(grammar.data))).findtext(f"{SVG}desc") or ""
    assert 'LR state 12: 12 | pair: STRING • ":" value.' in described
    assert '12 to 17 on ":".' in described


def test_odd_texts_are_text() -> None:
    odd = 'a<b>&"\x00\x1b\n\u202e\ufffe日本'
    graph = Graph(odd, odd, (Node("0", (Row(odd),), description=odd),), (Edge("0", "0", (odd,)),))
    root = ElementTree.fromstring(render(graph))
    (label,) = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "label plain"]
    assert label == 'a<b>&"\\x00\\x1b\\n\\u202e\\ufffe日本'


def test_a_graph_of_one_node_and_nothing_else() -> None:
    root = ElementTree.fromstring(render(Graph("one", "one", (Node("0", (Row("alone"),)),), ())))
    assert [text.text for text in root.iter(f"{SVG}text")] == ["one", "alone"]


def test_graphs_are_checked() -> None:
    node = Node("0", (Row("x"),))
    with pytest.raises(ValueError, match="two nodes"):
        Graph("t", "d", (node, node), ())
    with pytest.raises(ValueError, match="no node"):
        Graph("t", "d", (node,), (Edge("0", "1"),))


DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["drawing.md", "how_it_works.md", "json_schema.md"])
def test_the_images_of_a_page_are_what_its_commands_draw(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their texts are, that is: where things are depends on the version of the library that places them."""
    if not (DOCS / "images").is_dir():
        pytest.skip("docs/images is not part of a source distribution")
    page = (DOCS / name).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for file, content in re.findall(r"<!-- file: (\S+) -->\n```(?:lark|json)\n(.*?)```", page, re.DOTALL):
        Path(file).write_text(content, encoding="utf-8")
    drawn = commands_of_images(page)
    assert {image for _, _, image in drawn} == set(re.findall(r"\]\(images/(\S+)\)", page))
    for command, out, image in drawn:
        assert main(shlex.split(command)) == 0
        assert texts(ElementTree.parse(out)) == texts(ElementTree.parse(DOCS / "images" / image)), image


def test_each_image_is_drawn_on_a_page() -> None:
    if not (DOCS / "images").is_dir():
        pytest.skip("docs/images is not part of a source distribution")
    drawn = {image for page in DOCS.glob("*.md") for *_, image in commands_of_images(page.read_text(encoding="utf-8"))}
    assert drawn == {path.name for path in (DOCS / "images").glob("*.svg")}


def commands_of_images(page: str) -> list[tuple[str, str, str]]:
    """The commands that draw what comes next on a page, with the file that each writes and the image that is shown."""
    return re.findall(r"^\$ pdacon (draw .* -o (\S+))\n```\n\n!\[[^\]]*\]\(images/(\S+)\)", page, re.MULTILINE)


def texts(picture: ElementTree.ElementTree) -> list[str]:
    return sorted(
        element.text or "" for element in picture.iter() if element.tag.endswith(("}text", "}title", "}desc"))
    )


def test_the_labels_of_loops_lie_on_nothing_and_in_the_picture() -> None:
    """Alone at the right end, and below a state to which another edge comes."""
    for text, name in (
        ('start: A\nA: /"(?:[^"\\\\]|\\\\.)*"/\n', "A"),
        ("start: A\nA: /[a-z][a-zA-Z0-9_]{30}|x[a-zA-Z_ß-ÿ]*/\n", "A"),
    ):
        root = ElementTree.fromstring(draw_terminal(Grammar.from_lark(text).data, name))
        width, height = map(float, root.get("viewBox", "").split()[2:])
        (picture,) = root.findall(f"{SVG}g")
        dx, dy = map(float, re.findall(r"[\d.]+", picture.get("transform", "")))
        plates = [
            [float(p.get(key, "")) for key in ("x", "y", "width", "height")] for p in picture.findall(f"{SVG}rect")
        ]
        assert plates
        for x, y, w, h in plates:
            assert 0 <= x + dx <= x + w + dx <= width
            assert 0 <= y + dy <= y + h + dy <= height
        for x, y, w, h in plates:
            others = [p for p in plates if p != [x, y, w, h]]
            assert not any(x < a + c and a < x + w and y < b + d and b < y + h for a, b, c, d in others)


def test_the_label_of_a_loop_is_beside_it() -> None:
    root = ElementTree.fromstring(draw_terminal(Grammar.builtin("json").data, "STRING"))
    (loop,) = [
        path.get("d", "") for group in root.iter(f"{SVG}g") for path in group if (group[0].text or "")[:7] == "1 to 1 "
        if path.tag == f"{SVG}path"
    ]  # fmt: skip
    numbers = [float(number) for number in re.findall(r"[\d.]+", loop)]
    lowest = max(numbers[1::2])
    (label,) = [text for text in root.iter(f"{SVG}text") if (text.text or "").startswith("not ")]
    assert abs(float(label.get("y", "0")) - lowest) < 20


@pytest.mark.parametrize("state", range(33))
def test_no_part_of_a_box_is_empty(state: int) -> None:
    grammar = Grammar.builtin("json")
    rows = [row.style for row in state_graph(grammar.data, build_tables(grammar.data), state).nodes[0].rows]
    assert rows[-1] != "line"
    assert not any(first == second == "line" for first, second in pairwise(rows))
