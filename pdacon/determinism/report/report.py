"""The report of a grammar: its findings, as data and as text. `pdacon.Report` draws them, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pdacon.determinism.report.findings import Findings
from pdacon.determinism.report.rendering import WIDTH, render_excerpt, render_text


@dataclass(frozen=True, slots=True)
class Report(Findings):
    """What ``check`` found, worst first. What each field is, the docstring of `pdacon.DeterminismReport` says."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: ``subject``, ``ok``, ``conflicts``, ``lookahead``, ``findings``, ``sizes``, ``unfinished``."""
        return {
            "subject": self.subject,
            "ok": self.ok,
            "conflicts": self.conflicts,
            "lookahead": self.lookahead,
            "findings": [finding.to_dict() for finding in self.findings],
            "sizes": None if self.sizes is None else self.sizes.to_dict(),
            "unfinished": list(self.unfinished),
        }

    def render(self, width: int | None = None, *, sizes: bool = False, folded: bool = False) -> str:
        """Plain text for a terminal: findings, with ``sizes`` those of the automata, and the verdict.

        Prose is wrapped at ``width`` columns. With ``folded`` notes that need no repair have one line each.
        """
        return render_text(self, WIDTH if width is None else width, sizes=sizes, folded=folded)

    def excerpt(self) -> str:
        """The first errors in a few lines, for an exception's message."""
        return render_excerpt(self)

    def __str__(self) -> str:
        shown = [self.summary()]
        errors = self.at_least("error")
        if errors:
            first = errors[0]
            shown.append(f"{first.span}: {first.title}" if first.span is not None else first.title)
        if len(errors) > 1:
            shown.append(f"and {len(errors) - 1} more, which `pdacon check` or report.render() shows")
        return "; ".join(shown)
