"""`DeterminismReport`: the report of a grammar, with pictures of what it found."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pdacon.base.html import preformatted
from pdacon.base.picture import Picture
from pdacon.determinism import Report
from pdacon.errors import DrawingError
from pdacon.front.pictures import drawing


@dataclass(frozen=True, slots=True)
class DeterminismReport(Report):
    """What ``check`` found, worst first.

    Parameters
    ----------
    subject : str
        The grammar's path, or ``<grammar>``.
    findings : tuple of Finding
        Sorted by level, then id, then place; PDA004 comes before other ids, of which some come of it.
    conflicts, lookahead : str
        The options that the levels depend on, see ``Grammar.from_lark``.
    source : str
        The grammar's text.
    imported_files : tuple of (str, str)
        Path and text of other files with places in ``findings``.
    sizes : Sizes or None
        How large its automata are; None where ``compile`` refused the grammar.
    unfinished : tuple of str
        Ids of findings that were not looked for to the end, because time was over: there may be more of them.
    """

    def draw(self, number: int = 1) -> Picture:
        """The two readings behind a finding, as a picture; ``number`` is its place in ``findings``, from 1.

        Needs ``pip install 'pdacon[draw]'``.

        Raises
        ------
        DrawingError
            There is no such finding, or it has no two readings.
        ModuleNotFoundError
            What draws is not installed.
        """
        if not 1 <= number <= len(self.findings):
            raise DrawingError(f"no finding {number}; {self.summary()}")
        return Picture(drawing().draw_readings(self.findings[number - 1], self.subject))

    def _repr_html_(self) -> str:
        return preformatted(self.render())


def with_pictures(report: Report) -> DeterminismReport:
    """The same report, which can be drawn; itself if it is one that can."""
    if isinstance(report, DeterminismReport):
        return report
    return DeterminismReport(**{field.name: getattr(report, field.name) for field in fields(report)})
