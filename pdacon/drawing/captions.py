"""Labels: names, numbers and patterns of a grammar, in lines that fit a box."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pdacon.base.quoting import did_you_mean
from pdacon.determinism.lexical.repair.suggested import written
from pdacon.errors import LimitExceededError
from pdacon.grammar import GrammarData, Terminal
from pdacon.grammar.printing import automaton_pattern

WIDEST = 72
"""Characters of a line before it is broken."""

_CUT = 100  # characters of a line that cannot be broken
_MOST_NUMBERS = 16
_COLON = re.compile(
    r"(?:\.-?\d+)?[ \t]*:(.*(?:\n[ \t]*\|.*)*)"
)  # what goes on in the next line begins with a bar there
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"|/(?!/)(?:\\.|[^/\\])+/|//.*|#.*|[\s\S]')


def grammar_name(grammar: GrammarData) -> str:
    """The file's name, without where it is."""
    return (grammar.source_path or "grammar").replace("\\", "/").rpartition("/")[2]


def is_made(grammar: GrammarData, terminal: int) -> bool:
    """Whether the postlexer makes a terminal, which has no pattern then."""
    return grammar.layout is not None and terminal in (grammar.layout.indent, grammar.layout.dedent)


def pattern(grammar: GrammarData, terminal: Terminal) -> str:
    """What a terminal matches, as its author wrote it where that is found, on one line, cut where it is long."""
    text = whole_pattern(grammar, terminal)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 4]} ..."


def whole_pattern(grammar: GrammarData, terminal: Terminal) -> str:
    """As `pattern`, not cut. What Lark makes of it is shown for what is extended, or stands in another package."""
    if terminal.pattern is None:
        return ""
    written_there = None if terminal.literal else _definition(grammar, terminal)
    if written_there is not None:
        return written_there
    if terminal.pattern.kind == "str":
        return f'"{terminal.pattern.value}"{"".join(sorted(terminal.pattern.flags))}'
    if terminal.pattern.automaton is not None and not terminal.pattern.value:
        try:
            return written(automaton_pattern(terminal.pattern.automaton), ())
        except LimitExceededError:
            return "(an automaton, whose pattern would be very long)"
    return written(terminal.pattern.value, terminal.pattern.flags)


def _definition(grammar: GrammarData, terminal: Terminal) -> str | None:
    """What stands after the colon of its definition, without comments."""
    imported = next((one for one in grammar.imports if one.name == terminal.name), None)
    span = terminal.span if imported is None else imported.definition
    text = grammar.source if imported is None else dict(grammar.imported_files).get(span.path or "" if span else "")
    changed = re.search(rf"^%(?:extend|override)[ \t]+{re.escape(terminal.name)}\b", grammar.source, re.MULTILINE)
    if span is None or text is None or changed is not None:
        return None
    lines = text.split("\n")[span.line - 1 :]
    behind = _COLON.match("\n".join([lines[0][span.end_column - 1 :], *lines[1:]]))
    if behind is None:
        return None
    pieces = (piece for piece in _PIECE.findall(behind.group(1)) if not piece.startswith(("//", "#")))
    return " ".join("".join(pieces).split())


def wrapped(head: str, words: Sequence[str], widest: int = WIDEST) -> list[str]:
    """The words after the head, in lines."""
    lines = [head]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > widest:
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}"
    return lines


def shortened(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[: _CUT - 4]} ..."


def numbers(states: Sequence[int]) -> str:
    """Some states by number, and how many more there are."""
    more = f" and {len(states) - _MOST_NUMBERS} more" if len(states) > _MOST_NUMBERS else ""
    return f"{', '.join(map(str, states[:_MOST_NUMBERS]))}{more}"


def suggestion(name: str, known: Sequence[str], others: Sequence[str] = ()) -> str:
    """What may have been meant by a name that is not known; ``others`` are not listed where nothing is near."""
    all = [*known, *others]
    if near := did_you_mean(name, all):
        return near.strip()
    return f"there are: {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}"
