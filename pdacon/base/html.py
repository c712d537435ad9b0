"""Writes texts for a terminal as the preformatted HTML that notebooks show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape

# Words that a terminal shows in colour. The colours have enough contrast on a light and on a dark page.
_COLOURS = (
    (re.compile(r"\berror(?=\[PDA)|(?<=:\d: )error:|\bis not allowed:|\brefused(?= \()"), "#d1242f"),
    (re.compile(r"\bwarning(?=\[PDA)"), "#b5651d"),
    (re.compile(r"\bnote(?=\[PDA)"), "#2f7ed8"),
    (re.compile(r"\bis allowed:|\bok(?= \()"), "#2d8a4e"),
)


def shaded(before: str, steps: Sequence[tuple[str, int, int]], after: str) -> str:
    """A text of tokens as HTML: each with how many of how many were allowed there; the fewer, the darker."""
    shown = [escape(before, quote=False)]
    for text, allowed, size in steps:
        free = math.log(max(allowed, 1)) / math.log(max(size, 2))
        style = f"background:rgba(47,126,216,{0.45 * (1 - free):.2f})"
        title = f"{allowed:,} of {size:,} tokens were allowed"
        shown.append(f'<span style="{style}" title="{title}">{escape(text, quote=False)}</span>')
    return f'<pre style="line-height:1.4;white-space:pre-wrap">{"".join(shown)}\n\n{escape(after)}</pre>'


def table(head: Sequence[str], rows: Iterable[tuple[Sequence[str], float, str]], after: str) -> str:
    """Rows of cells as HTML, each with a share from 0 to 1, a bar behind its first cell, and what pointing says."""
    style = "text-align:left;font-family:monospace;white-space:pre"
    shown = ["".join(f'<th style="{style}">{escape(cell)}</th>' for cell in head)]
    for cells, share, title in rows:
        bar = f"linear-gradient(90deg,rgba(209,36,47,0.3) {100 * share:.1f}%,transparent 0)"
        first = f'<td style="{style};background:{bar}">{escape(cells[0])}</td>'
        others = "".join(f'<td style="{style}">{escape(cell)}</td>' for cell in cells[1:])
        shown.append(f'<tr title="{escape(title)}">{first}{others}</tr>')
    return f"<table><thead><tr>{shown[0]}</tr></thead><tbody>{''.join(shown[1:])}</tbody></table><p>{escape(after)}</p>"


def preformatted(text: str) -> str:
    """Lines for a terminal as HTML, with the same colours."""
    shown = escape(text, quote=False)
    for words, colour in _COLOURS:
        shown = words.sub(rf'<b style="color:{colour}">\g<0></b>', shown)
    return f'<pre style="line-height:1.25">{shown}</pre>'
