"""A plugin of pytest: what `pdacon test` tries, each text a test.

In: the ``.lark`` files that pytest comes to, with ``accept/`` or ``reject/`` beside them; options at their heads. Out:
a test for each text. ``pytest --update-grammars`` writes the trees and messages that are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pdacon.cli.cases import Case, Cases, Outcome


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of this plugin."""
    parser.getgroup("pdacon").addoption(
        "--update-grammars",
        action="store_true",
        help="write the trees and messages of texts beside Lark grammars, in place of comparing them",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take a grammar that has texts beside it."""
    folders = (file_path.parent / name for name in ("accept", "reject"))
    if file_path.suffix != ".lark" or not any(folder.is_dir() for folder in folders):
        return None
    return GrammarFile.from_parent(parent, path=file_path)


class GrammarFile(pytest.File):
    """A grammar; its texts are tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """Compile the grammar, and name its texts."""
        from pdacon.cli.cases import Cases, cases_in
        from pdacon.cli.compiled import constraint_for
        from pdacon.cli.failures import BadInput
        from pdacon.cli.grammars import load_grammar
        from pdacon.cli.options import GrammarOptions
        from pdacon.errors import PdaconError

        name = str(self.path)
        try:
            cases = Cases(constraint_for(name, load_grammar(name, GrammarOptions()), None))
        except (BadInput, PdaconError) as error:
            raise self.CollectError(str(error)) from None
        for case in cases_in(self.path.parent):
            yield GrammarText.from_parent(self, name=f"{case.kind}/{case.path.name}", case=case, cases=cases)


class GrammarText(pytest.Item):
    """A text that a grammar has to take or refuse."""

    def __init__(self, *, case: Case, cases: Cases, **given: Any) -> None:
        super().__init__(**given)
        self._case, self._cases = case, cases

    def runtest(self) -> None:
        """Try the text."""
        outcome = self._cases.outcome(self._case, update=self.config.getoption("update_grammars"))
        if outcome.wrong:
            raise NotAsExpectedError(self._case, outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what is wrong with the text; other errors as ever."""
        if isinstance(excinfo.value, NotAsExpectedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the text is."""
        return self._case.path, None, self.name


class NotAsExpectedError(Exception):
    """A text is taken or refused where it should not be, or gives another tree or message."""

    def __init__(self, case: Case, outcome: Outcome) -> None:
        super().__init__("\n".join((f"{case.path} {outcome.wrong}", *(f"    {line}" for line in outcome.lines))))
