"""Says what a name of a grammar stands for: of a terminal its pattern and examples, of a rule how it is written.

In: a grammar, its text and a name. Out: Markdown.
"""

from __future__ import annotations

import re

from pdacon import Grammar, time_limit
from pdacon.base.quoting import quoted
from pdacon.editor.outline import Dialect, Occurrence, occurrences
from pdacon.errors import PdaconError

_SECONDS = 1.0
_EXAMPLES, _SIZE = 2, 12
_LINES = 12  # of a rule


def hover_text(text: str, name: Occurrence, grammar: Grammar | None, dialect: Dialect = "") -> str | None:
    """Markdown about a name; None where nothing is known of it. ``grammar`` is None where the text is none yet."""
    definition = definition_of(text, name.name, dialect)
    parts = [f"```{dialect or 'lark'}\n{definition}\n```"] if definition else []
    pattern = None if grammar is None else _pattern(grammar, name.name)
    if pattern is not None:
        parts += [] if parts else [f"```lark\n{name.name}: /{pattern}/\n```"]
        parts += _examples(pattern)
    return "\n\n".join(parts) or None


def definition_of(text: str, name: str, dialect: Dialect = "") -> str | None:
    """The lines that define a name: its own, and those that go on with it."""
    place = next(
        (place for place in occurrences(text, dialect) if place.name == name and place.role == "definition"), None
    )
    if place is None:
        return None
    first, *rest = text.split("\n")[place.line :]
    lines = [first]
    for line in rest:
        if not line.startswith((" ", "\t", "|")) or not line.strip():
            break
        lines.append(line)
    return "\n".join([*lines[:_LINES], *(["..."] if len(lines) > _LINES else [])])


def _pattern(grammar: Grammar, name: str) -> str | None:
    """What a terminal matches, as a regular expression."""
    terminal = next((terminal for terminal in grammar.data.terminals if terminal.name == name), None)
    if terminal is None or terminal.pattern is None:
        return None
    pattern = terminal.pattern
    value = re.escape(pattern.value) if pattern.kind == "str" else pattern.value
    return f"(?{''.join(sorted(pattern.flags))}:{value})" if pattern.flags else value


def _examples(pattern: str) -> list[str]:
    """Some texts that a pattern matches; none where that takes long, or where it looks around itself."""
    try:
        with time_limit(_SECONDS):
            texts = Grammar.from_regex(pattern).sample(_EXAMPLES, seed=1, size=_SIZE)
    except (PdaconError, ValueError):
        return []
    return [f"such as {' and '.join(f'`{quoted(text)}`' for text in texts)}"] if texts else []
