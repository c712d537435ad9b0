"""``pdacon test``: texts beside a grammar that it has to take or refuse, and the trees and messages that it gives.

In: a grammar and a folder. ``accept/`` has texts that are sentences, each perhaps with its tree in ``NAME.tree``;
``reject/`` has texts that are none, each perhaps with what is said of it in ``NAME.error``. Out: what is not so. With
an update those files are written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from rich.text import Text

from pdacon import Constraint
from pdacon.cli.display import GREEN, RED, show, width
from pdacon.cli.failures import FINDINGS, BadInput
from pdacon.grammar.tree_records import tree_reader

_KINDS = ("accept", "reject")
_EXPECTED = (".tree", ".error")
_MOST_LINES = 20  # of a difference


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and where what it is expected to give is kept."""

    path: Path
    kind: str

    @property
    def expected(self) -> Path:
        return self.path.with_name(f"{self.path.name}{'.tree' if self.kind == 'accept' else '.error'}")


def cases_in(folder: Path) -> list[Case]:
    """The texts below a folder, in the order of their names.

    Raises BadInput if there are none.
    """
    found = [
        Case(path, kind)
        for kind in _KINDS
        for path in sorted((folder / kind).rglob("*"))
        if path.is_file() and path.suffix not in _EXPECTED and not path.name.startswith(".")
    ]
    if not found:
        raise BadInput(f"{folder} has no texts in accept/ or reject/; put some there, or give --folder")
    return found


def run_cases(constraint: Constraint, folder: Path, *, update: bool) -> int:
    """Try all texts of a folder, and print what is not as expected; 1 if anything is not."""
    cases = cases_in(folder)
    answer = _answers(constraint)
    failed = written = 0
    for case in cases:
        right, given = answer(case.path.read_bytes(), case.path.name)
        if right != (case.kind == "accept"):
            failed += 1
            _say(case, "is refused" if case.kind == "accept" else "is taken", given.splitlines())
        elif update:
            written += _write(case, given)
        elif case.expected.exists() and case.expected.read_text(encoding="utf-8") != given:
            failed += 1
            _say(case, f"is not as in {case.expected.name}", _difference(case.expected, given))
    ended = f"{len(cases)} texts, {failed} failed" + (f", {written} files written" if update else "")
    show(Text(ended, style=f"bold {RED}" if failed else f"bold {GREEN}"))
    return FINDINGS if failed else 0


def _answers(constraint: Constraint) -> Callable[[bytes, str], tuple[bool, str]]:
    """Whether a text is a sentence, and its tree or what is said of it."""
    matcher = constraint.matcher()
    trees = tree_reader(constraint.grammar.data)

    def answer(text: bytes, name: str) -> tuple[bool, str]:
        if constraint.accepts(text):
            return True, f"{trees(text.decode(), None).render()}\n"
        return False, f"{matcher.explain(text).render(source=name)}\n"

    return answer


def _write(case: Case, given: str) -> bool:
    if case.expected.exists() and case.expected.read_text(encoding="utf-8") == given:
        return False
    case.expected.write_text(given, encoding="utf-8")
    return True


def _difference(expected: Path, given: str) -> Iterator[str]:
    before = expected.read_text(encoding="utf-8").splitlines()
    return unified_diff(before, given.splitlines(), "expected", "given", lineterm="", n=1)


def _say(case: Case, what: str, lines: Iterator[str] | list[str]) -> None:
    shown = [line[: width() - 4] for line in lines]
    more = [f"({len(shown) - _MOST_LINES} more lines)"] if len(shown) > _MOST_LINES else []
    text = Text(f"{case.path}: {what}\n" + "\n".join(f"    {line}" for line in [*shown[:_MOST_LINES], *more]))
    text.highlight_regex(r"^.*?: ", f"bold {RED}")
    show(text)
    sys.stdout.flush()
