"""``pdacon list``: the grammars that come with pdacon."""

from __future__ import annotations

import json
import textwrap

from rich.text import Text

from pdacon.cli.display import show, width
from pdacon.front.grammar import Grammar


def show_builtins(*, json_format: bool) -> int:
    """Print the names, each with a sentence."""
    listed = Grammar.builtins()
    if json_format:
        print(json.dumps(listed, ensure_ascii=False))  # noqa: T201
        return 0
    column = max(map(len, listed)) + 2
    text = Text()
    for name, sentence in listed.items():
        lines = textwrap.wrap(sentence, width() - column)
        text.append(f"{name:<{column}}", "bold").append(("\n" + " " * column).join(lines) + "\n")
    text.rstrip()
    show(text)
    return 0
