"""Python's own tokenizer as judge of how a program is indented."""

from __future__ import annotations

import tokenize
from io import StringIO


def widths_of_blocks(text: str) -> set[int] | None:
    """By how many columns the blocks of a program without tabs are indented; None if this Python cannot read it."""
    widths, columns = set(), [0]
    try:
        for token in tokenize.generate_tokens(StringIO(text).readline):
            if token.type == tokenize.INDENT:
                widths.add(len(token.string) - columns[-1])
                columns.append(len(token.string))
            elif token.type == tokenize.DEDENT:
                columns.pop()
    except (tokenize.TokenError, SyntaxError):
        return None
    return widths
