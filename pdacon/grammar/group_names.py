"""Names of groups in patterns: where two terminals, or a group and a terminal, cannot have the same."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar.model import Terminal


def check_group_names(terminals: Sequence[Terminal]) -> None:
    """Refuse group names that clash: Lark joins terminals into one expression, with their names as group names.

    Lark's contextual lexer makes an expression of the terminals of each context, when a text first leads there. Its
    expression of all terminals is made for the message about a text that it refuses already, and decides nothing.
    """
    owners = {terminal.name: terminal for terminal in terminals}
    for terminal in terminals:
        for group in group_names(terminal):
            other = owners.setdefault(group, terminal)
            if other is not terminal or group == terminal.name:
                raise UnsupportedGrammarError(
                    f"terminal {terminal.literal or terminal.name}: the group name {group!r} is taken by terminal "
                    f"{other.literal or other.name}, so that "
                    "Lark's lexer cannot be built where both are looked for; write (?:...) instead of the named group, "
                    "or another name",
                    terminal.span,
                    feature="group names",
                )


def group_names(terminal: Terminal) -> Collection[str]:
    """The names of the groups in a terminal's pattern."""
    if terminal.pattern is None or "(?P<" not in terminal.pattern.regexp:
        return ()
    return re.compile(terminal.pattern.regexp).groupindex
