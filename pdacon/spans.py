"""Places in the source of a grammar, as data: errors, grammars and findings all have them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a grammar's source. Lines and columns count from 1, columns in characters; the end is exclusive."""

    path: str | None
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path or '<grammar>'}:{self.line}:{self.column}"
