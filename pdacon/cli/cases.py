"""``pdacon test``: texts beside a grammar that it has to take or refuse, and the trees and messages that it gives.

In: a grammar and a folder. ``accept/`` has texts that are sentences, each perhaps with its tree in ``NAME.tree``;
``reject/`` has texts that are none, each perhaps with what is said of it in ``NAME.error``. Out: what is not so. With
an update those files are written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from rich.text import Text

from pdacon import Constraint
from pdacon.cli.display import GREEN, RED, show, width
from pdacon.cli.failures import FINDINGS, BadInput
from pdacon.grammar.tree_records import tree_reader

_EXPECTED = {"accept": ".tree", "reject": ".error"}
"""The folders of texts, and what the name of a file ends in that has what a text of the folder is expected to give."""
_MOST_LINES = 20  # of a difference


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and where what it is expected to give is kept."""

    path: Path
    kind: str

    @property
    def expected(self) -> Path:
        return self.path.with_name(f"{self.path.name}{_EXPECTED[self.kind]}")

    def differs(self, given: str) -> bool:
        """Whether something else is expected."""
        return self.expected.exists() and self.expected.read_text(encoding="utf-8") != given


def cases_in(folder: Path) -> list[Case]:
    """The texts below a folder, in the order of their names."""
    return [
        Case(path, kind)
        for kind in _EXPECTED
        for path in sorted((folder / kind).rglob("*"))
        if path.is_file() and path.suffix not in _EXPECTED.values() and not path.name.startswith(".")
    ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a text: what is wrong, if anything, with the lines that show it, and whether a file was written."""

    wrong: str = ""
    lines: tuple[str, ...] = ()
    written: bool = False


class Cases:
    """What tries texts on a grammar."""

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint
        self._matcher = constraint.matcher()
        self._trees = tree_reader(constraint.grammar.data)

    def outcome(self, case: Case, *, update: bool) -> Outcome:
        """Try a text. With `update`, what it gives is written in place of being compared."""
        right, given = self._answer(case.path.read_bytes(), case.path.name)
        if right != (case.kind == "accept"):
            return Outcome("is refused" if case.kind == "accept" else "is taken", tuple(given.splitlines()))
        if update:
            return Outcome(written=_write(case, given))
        if case.differs(given):
            return Outcome(f"is not as in {case.expected.name}", tuple(_difference(case.expected, given)))
        return Outcome()

    def _answer(self, text: bytes, name: str) -> tuple[bool, str]:
        """Whether a text is a sentence, and its tree or what is said of it."""
        if self._constraint.accepts(text):
            return True, f"{self._trees(text.decode(), None).render()}\n"
        return False, f"{self._matcher.explain(text).render(source=name)}\n"


def run_cases(constraint: Constraint, folder: Path, *, update: bool) -> int:
    """Try all texts of a folder, and print what is not as expected; 1 if anything is not.

    Raises BadInput if there are none.
    """
    cases = cases_in(folder)
    if not cases:
        raise BadInput(f"{folder} has no texts in accept/ or reject/; put some there, or give --folder")
    tried = Cases(constraint)
    failed = written = 0
    for case in cases:
        outcome = tried.outcome(case, update=update)
        written += outcome.written
        if outcome.wrong:
            failed += 1
            _say(case, outcome)
    ended = f"{len(cases)} texts, {failed} failed" + (f", {written} files written" if update else "")
    show(Text(ended, style=f"bold {RED}" if failed else f"bold {GREEN}"))
    return FINDINGS if failed else 0


def _write(case: Case, given: str) -> bool:
    if case.expected.exists() and not case.differs(given):
        return False
    case.expected.write_text(given, encoding="utf-8")
    return True


def _difference(expected: Path, given: str) -> Iterator[str]:
    before = expected.read_text(encoding="utf-8").splitlines()
    return unified_diff(before, given.splitlines(), "expected", "given", lineterm="", n=1)


def _say(case: Case, outcome: Outcome) -> None:
    shown = [line[: width() - 4] for line in outcome.lines]
    more = [f"({len(shown) - _MOST_LINES} more lines)"] if len(shown) > _MOST_LINES else []
    text = Text(f"{case.path}: {outcome.wrong}\n" + "\n".join(f"    {line}" for line in [*shown[:_MOST_LINES], *more]))
    text.highlight_regex(r"^.*?: ", f"bold {RED}")
    show(text)
    sys.stdout.flush()
