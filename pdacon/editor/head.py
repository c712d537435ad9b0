"""Says what may stand in the line of options at a grammar's head, and what an option there means.

In: a text and a place in it, in lines and columns from 0. Out: names to complete, Markdown.
"""

from __future__ import annotations

from pdacon.editor.outline import occurrences
from pdacon.grammar.head_options import HEAD_OPTIONS, HeadWord, head_lines


def head_completions(text: str, line: int, column: int) -> dict[str, str] | None:
    """What can be written at a place, each with what it means; None: it is no line of options."""
    words = _before(text, line, column)
    if words is None:
        return None
    whole = [word for word in words if word.column + len(word.text) < column]
    option = HEAD_OPTIONS.get(whole[-1].text) if whole else None
    if option is None or not option.value:
        return {one.switch: one.help for one in HEAD_OPTIONS.values()}
    if option.name == "start":
        names = [name for name in occurrences(text) if name.role == "definition" and not name.is_terminal]
        return {name.name: "a rule" for name in names}
    return dict.fromkeys(option.choices, option.help)


def head_hover(text: str, line: int, column: int) -> tuple[HeadWord, str] | None:
    """The option at a place, and what it means, in Markdown."""
    for word in _before(text, line, column + 1) or ():
        option = HEAD_OPTIONS.get(word.text.partition("=")[0])
        if option is not None and word.column <= column <= word.column + len(word.text):
            return word, f"`{f'{option.switch} {option.value}'.strip()}`\n\n{option.help}"
    return None


def _before(text: str, line: int, column: int) -> list[HeadWord] | None:
    """The words that begin before a place on its line of options; None: it has no such line."""
    for own in head_lines(text):
        if own.line == line and own.column <= column:
            return [word for word in own.words if word.column < column]
    return None
