"""The GRAMMAR argument and the options that go with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from pdacon.cli.failures import BadInput
from pdacon.grammar import Grammar
from pdacon.grammar.builtin import builtin_names


class Conflicts(str, Enum):
    """What to do with shift/reduce conflicts and colliding terminals."""

    error = "error"
    shift = "shift"


class Lookahead(str, Enum):
    """What to do with unbounded lookahead."""

    reject = "reject"
    commit = "commit"


GrammarArgument = Annotated[str, typer.Argument(metavar="GRAMMAR", help="A Lark grammar: a file, or a built-in name.")]
StartOption = Annotated[
    list[str] | None, typer.Option("--start", metavar="RULE", help="The start rule; may be repeated. Default: start.")
]
ConflictsOption = Annotated[
    Conflicts, typer.Option("--conflicts", help="'shift' accepts what Lark settles silently, as Lark settles it.")
]
LookaheadOption = Annotated[
    Lookahead, typer.Option("--lookahead", help="'commit' accepts unbounded lookahead and loses some texts.")
]


@dataclass(frozen=True)
class GrammarOptions:
    """How the grammar on the command line is to be read."""

    start: list[str] = field(default_factory=list)
    conflicts: Conflicts = Conflicts.error
    lookahead: Lookahead = Lookahead.reject


def load_grammar(name: str, options: GrammarOptions) -> Grammar:
    """The built-in grammar of that name, else the file.

    Raises
    ------
    BadInput
        If there is neither, or no such start rule.
    GrammarError
        If it is not a grammar that pdacon takes.
    """
    chosen: dict[str, Any] = {"conflicts": options.conflicts.value, "lookahead": options.lookahead.value}
    if options.start:
        chosen["start"] = options.start
    names = builtin_names()
    if name in names:
        return Grammar.builtin(name, **chosen)
    path = Path(name)
    if name and path.is_dir():
        raise BadInput(f"{name}: a directory, not a grammar; built-in grammars: {', '.join(names)}")
    if not name or not path.exists():
        raise BadInput(f"{name or repr(name)}: no such file, and no built-in grammar of that name ({', '.join(names)})")
    return Grammar.from_file(name, **chosen)
