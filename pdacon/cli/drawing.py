"""``pdacon draw``: pictures of a grammar."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdacon.base.picture import Picture
from pdacon.cli.failures import BadInput
from pdacon.cli.option_records import Subject
from pdacon.cli.text_argument import read_text

if TYPE_CHECKING:
    from pdacon.front.grammar import Grammar
    from pdacon.grammar import GrammarData

_OTHER_FORMATS = (".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".pdf", ".ps", ".eps", ".html", ".dot")
_EXTRAS = {"graphlay": "draw", "railroad": "draw", "resvg_py": "png"}


def write_picture(grammar: Grammar, subject: Subject, out: Path | None) -> int:
    """Draw, and write to a file, or to standard output where that is not a terminal."""
    if out is None and sys.stdout.isatty():
        raise BadInput("a picture is nothing for a terminal: give -o FILE.svg, or send it on with > FILE.svg")
    if out is not None and out.suffix.lower() in _OTHER_FORMATS:
        raise BadInput(f"{out}: pictures are SVG or PNG; write {out.with_suffix('.svg')}, and convert that")
    try:
        picture = Picture(_draw(grammar.data, subject))
        if out is not None:
            picture.save(out)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        raise BadInput(f"this needs {error.name}: pip install 'pdacon[{_EXTRAS[error.name]}]'") from error
    if out is None:
        sys.stdout.write(picture)
    return 0


def _draw(grammar: GrammarData, subject: Subject) -> str:
    from pdacon import drawing
    from pdacon.lalr import build_tables

    rules = tuple(subject.rules or ())
    limits: dict[str, Any] = {} if subject.most is None else {"most": subject.most}
    if subject.terminals:
        return drawing.draw_terminal(grammar, *subject.terminals, **limits)
    if subject.lowered:
        return drawing.draw_rules(grammar, rules)
    if not subject.says_what:
        return drawing.draw_source(grammar, rules)
    if subject.conflict is not None:
        return drawing.draw_conflict(grammar, subject.conflict)
    tables = build_tables(grammar)
    if subject.context is not None:
        return drawing.draw_context(grammar, tables, subject.context)
    if subject.after is not None:
        stack = drawing.stack_after(grammar, tables, read_text(subject.after))
        if subject.pda:
            return drawing.draw_pda(grammar, tables, stack=stack, **limits)
        return drawing.draw_state(grammar, tables, stack[-1], stack=stack, around=subject.around, **limits)
    if subject.state is not None:
        return drawing.draw_state(grammar, tables, subject.state, around=subject.around, **limits)
    return drawing.draw_pda(grammar, tables, **limits)
