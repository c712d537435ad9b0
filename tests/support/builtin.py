"""Built-in grammars, each made once for all modules of a process: Python's and SQL's take seconds, and so does Lark.

A grammar that stays keeps its parser in `support.lark_oracle`, too.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pdacon
from pdacon import Constraint, Grammar
from support.languages import EVERY_BYTE
from support.real_vocabularies import coded


@cache
def builtin(name: str, **options: Any) -> Grammar:
    """The grammar with these options, which can be hashed."""
    return Grammar.builtin(name, **options)


@cache
def over_bytes(name: str, **options: Any) -> Constraint:
    """The grammar over `EVERY_BYTE`: 256 tokens of one byte each, and one that ends a text."""
    return pdacon.compile(builtin(name, **options), EVERY_BYTE)


@cache
def over_tokens(name: str, vocabulary: str) -> Constraint:
    """The grammar over a real vocabulary, one of `support.real_vocabularies.NAMES`."""
    return pdacon.compile(builtin(name), coded(vocabulary).vocabulary)
