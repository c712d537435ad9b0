"""Names of groups in patterns: where two terminals, or a group and a terminal, cannot have the same."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pdacon.errors import UnsupportedGrammarError
from pdacon.grammar.model import Terminal


@dataclass(frozen=True, slots=True)
class GroupNameClash:
    """A group of a terminal's pattern has the name of another terminal, or of a group of it, or the terminal's own."""

    terminal: Terminal
    other: Terminal
    group: str

    advice: ClassVar[str] = "write (?:...) instead of the named group, or another name"

    @property
    def reason(self) -> str:
        """What is wrong."""
        return (
            f"terminal {self.terminal.literal or self.terminal.name}: the group name {self.group!r} is taken by "
            f"terminal {self.other.literal or self.other.name}, so that Lark's lexer cannot be built where both are "
            "looked for"
        )

    @property
    def error(self) -> UnsupportedGrammarError:
        """What refuses the grammar."""
        return UnsupportedGrammarError(self.reason, self.terminal.span, "group names", self.advice)


def check_group_names(terminals: Sequence[Terminal]) -> None:
    """Refuse group names that clash; see `group_name_clashes`."""
    for clash in group_name_clashes(terminals):
        raise clash.error


def group_name_clashes(terminals: Sequence[Terminal]) -> Iterator[GroupNameClash]:
    """What is wrong with the group names of terminals that Lark joins into one expression, each a group of its own.

    Lark's contextual lexer makes an expression of the terminals of each context, when a text first leads there. Its
    expression of all terminals is made for the message about a text that it refuses already, and decides nothing.
    """
    owners = {terminal.name: terminal for terminal in terminals}
    for terminal in terminals:
        for group in group_names(terminal):
            other = owners.setdefault(group, terminal)
            if other is not terminal or group == terminal.name:
                yield GroupNameClash(terminal, other, group)


def group_names(terminal: Terminal) -> Collection[str]:
    """The names of the groups in a terminal's pattern."""
    if terminal.pattern is None or "(?P<" not in terminal.pattern.regexp:
        return ()
    return re.compile(terminal.pattern.regexp).groupindex
