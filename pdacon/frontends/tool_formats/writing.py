"""The parts of an answer -> its text, as a chat template writes a past turn."""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.frontends.tool_formats.layouts import Reasoning
from pdacon.frontends.tool_formats.records import ToolFormat


def written_answer(
    format: ToolFormat, reasoning: Reasoning, thought: str, text: str, calls: Sequence[str], *, all_blanks: bool
) -> str:
    """The text of an answer.

    Parameters
    ----------
    reasoning : bool or "begun"
        Whether answers have a thought, and whether the prompt has begun it.
    calls : sequence of str
        As the format writes each.
    all_blanks : bool
        Whether all blanks that belong to no part are written, so that what has blanks at its borders keeps them; else
        those of templates.
    """
    parts = []
    blank_of = _longest if all_blanks else _first
    begun = reasoning == "begun"
    if (thought or begun) and format.thought is not None:
        marks = format.thought
        begin = "" if begun else marks.begin
        begin += "" if begun and not all_blanks else blank_of(marks.begin_blanks)
        parts.append(f"{begin}{thought}{blank_of(marks.end_blanks)}{marks.end}{blank_of(marks.after)}")
    begin, end = format.text_begin, format.text_end
    if format.messages is not None and calls:
        begin, end = format.messages.preamble if text else ("", "")
    if format.calls_alone and calls and not text:
        begin, end = "", ""
    text_begun = format.text_begun and not reasoning
    parts.append(f"{'' if text_begun else begin}{text}{end}")
    if calls:
        blank = "" if not text else _longest(format.blanks) if all_blanks else _first(format.blanks[-1:])
        parts.append(f"{blank}{format.begin}{format.separator.join(calls)}{format.end}")
    return "".join(parts) + format.close


def _first(blanks: tuple[str, ...]) -> str:
    return blanks[0] if blanks else ""


def _longest(blanks: tuple[str, ...]) -> str:
    return max(blanks, key=len, default="")
