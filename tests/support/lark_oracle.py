"""Stock Lark as the judge of what a grammar means."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import lark

from pdacon.grammar import Grammar

_parsers: WeakKeyDictionary[Grammar, lark.Lark] = WeakKeyDictionary()


def lark_parser(grammar: Grammar) -> lark.Lark:
    """Stock Lark for ``grammar``, made from nothing but its text and options; kept as long as the grammar lives."""
    parser = _parsers.get(grammar)
    if parser is None:
        parser = _parsers[grammar] = lark.Lark(grammar.to_lark(), **grammar.lark_options)
    return parser


def accepts(grammar: Grammar, text: str | bytes, start: str | None = None) -> bool:
    """Whether the text is a sentence: any exception of Lark's parse is a reject, and so is what is not UTF-8."""
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        lark_parser(grammar).parse(decoded, start=start)
    except Exception:
        return False
    return True
