"""What the README and the pages of docs/ show is what happens.

On a page, in order and in a folder of its own:

- ``python`` blocks run one after the other in one namespace; a ``text`` block that comes next is what they print.
- ``console`` blocks hold commands after ``$`` and what they print; standard error comes after standard output.
- A block after ``<!-- file: NAME -->`` is written to that file.
- Commands in a block after ``<!-- varies: REASON -->`` must work, and may print something else.
- A block after ``<!-- not run: REASON -->`` is only read. So is every block in another language.

``...`` in what is printed stands for anything.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

import pdacon
from pdacon.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^(?:<!-- ([^\n]*?) -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    language: str
    content: str
    remark: str
    place: str

    @property
    def file(self) -> str | None:
        return self.remark.removeprefix("file: ") if self.remark.startswith("file: ") else None

    @property
    def varies(self) -> bool:
        return self.remark.startswith("varies: ")

    @property
    def runs(self) -> bool:
        return self.file is None and not self.remark.startswith("not run: ") and self.language in ("python", "console")


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            found[2], found[3], found[1] or "", f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start(2)) + 1}"
        )
        for found in BLOCK.finditer(text)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.runs for block in blocks(page))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_what_a_page_shows_is_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    if page.name in ("drawing.md", "how_it_works.md", "json_schema.md"):
        pytest.importorskip("graphlay")
        pytest.importorskip("railroad")
    monkeypatch.chdir(tmp_path)
    for name, value in {"COLUMNS": "80", "TERM": "dumb", "HF_HUB_OFFLINE": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]))
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for block in blocks(page):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.content, encoding="utf-8")
        elif block.runs and block.language == "console":
            run_console(block, tmp_path, capsys)
        elif block.runs:
            program = "\n" * line_of(block) + block.content
            exec(compile(program, page, "exec", dont_inherit=True), namespace)  # as a reader's own file
            printed = capsys.readouterr().out
            continue
        elif block.language == "text" and printed is not None:
            require_alike(printed, block.content, block.place)
        printed = None


def line_of(block: Block) -> int:
    return int(block.place.rpartition(":")[2])


def run_console(block: Block, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, expected in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block.content, re.MULTILINE):
        place = f"{block.place}: {command}"
        if command.startswith("pdacon ") and not re.search(r"[|<>;&$`\\]", command):
            status = main(shlex.split(command)[1:])  # ten times as fast as a process
            printed = "".join(capsys.readouterr())
        else:
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=folder, timeout=120)
            status, printed = done.returncode, done.stdout + done.stderr
        assert status in ((0,) if block.varies else (0, 1, 2)), f"{place}\n{printed}"
        if block.varies:
            assert bool(printed.strip()) == bool(expected.strip()), place
        else:
            require_alike(printed, expected, place)


def require_alike(printed: str, expected: str, place: str) -> None:
    pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*?")
    if not re.fullmatch(pattern, printed.strip(), re.DOTALL):
        assert printed.strip() == expected.strip(), place


@pytest.mark.parametrize("name", ["how_it_works.md", "architecture.md"])
def test_files_of_the_native_core_that_a_page_names_are_there(name: str) -> None:
    """They are written without their root, and without their suffix where a header and a source file share it."""
    sources = ROOT / "pdacon" / "_native" / "src"
    if not sources.is_dir():
        pytest.skip("the sources of the native core are not part of this distribution")
    rooms = "|".join(sorted(room.name for room in sources.iterdir() if room.is_dir()))
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    named = re.findall(rf"`((?:{rooms})/[\w/]+(?:\.[ch]pp)?)`", page)
    assert named
    gone = [path for path in named if not any((sources / (path + suffix)).is_file() for suffix in ("", ".hpp", ".cpp"))]
    assert gone == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for path, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
        target = page.parent / path if path else page
        assert target.exists(), f"{page.relative_to(ROOT)}: no file {path}"
        if anchor:
            assert anchor in anchors(target), f"{page.relative_to(ROOT)}: no heading {path}#{anchor}"


def anchors(page: Path) -> list[str]:
    """The headings of a page, as they are addressed."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def test_the_site_has_every_public_name_and_every_page() -> None:
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\.\. auto\w+:: pdacon\.(\w+)$", reference, re.MULTILINE)
    assert sorted(documented) == sorted(pdacon.__all__)
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"README", "index"}
    assert pages == {line for line in index.splitlines() if re.fullmatch(r"\w+", line)}
