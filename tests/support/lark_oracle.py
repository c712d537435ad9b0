"""Stock Lark as the judge of what a grammar means."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import lark

from pdacon.front.grammar import Grammar
from pdacon.grammar import GrammarData

_parsers: WeakKeyDictionary[GrammarData, lark.Lark] = WeakKeyDictionary()


def lark_parser(grammar: Grammar) -> lark.Lark:
    """Stock Lark for ``grammar``, made from nothing but its text and options; kept as long as the grammar lives."""
    parser = _parsers.get(grammar.data)
    if parser is None:
        parser = _parsers[grammar.data] = lark.Lark(grammar.to_lark(), **grammar.lark_options)
    return parser


def accepts(grammar: Grammar, text: str | bytes, start: str | None = None) -> bool:
    """Whether the text is a sentence: any exception of Lark's parse is a reject, and so is what is not UTF-8.

    With ``use_bytes`` texts are bytes, and each character of a str stands for one.
    """
    try:
        decoded = text.decode(grammar.data.options.encoding) if isinstance(text, bytes) else text
        asked = decoded.encode("latin-1") if grammar.data.options.use_bytes else decoded
        lark_parser(grammar).parse(asked, start=start)
    except Exception:
        return False
    return True
