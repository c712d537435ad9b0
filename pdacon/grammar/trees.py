"""Trees of texts that have been cut into lexemes: stock Lark parses them, and makes what it makes of its own tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lark import Lark, Token, Tree
from lark.lexer import Lexer

from pdacon.base.once import KeptWith
from pdacon.grammar.grammar_data import GrammarData
from pdacon.grammar.indentation import lark_options

Piece = tuple[str, str, int]
"""A terminal's name, its text, and at which character it begins."""


_parsers: KeptWith[GrammarData, dict[tuple[str, Any], Any]] = KeptWith(lambda grammar: {})


class _Given(Lexer):
    """Hands on the tokens that it is given in place of a text."""

    def __init__(self, _: Any) -> None:
        pass

    def lex(self, tokens: Any, *_: Any) -> Iterator[Token]:
        yield from tokens


def tree_of_pieces(
    grammar: GrammarData,
    text: str,
    pieces: Iterable[Piece],
    values: Mapping[str, Callable[[str], Any]],
    start: str | None,
) -> Any:
    """Lark's tree of a sentence.

    ``grammar``: for its options. ``text``: what Lark loads of it. ``pieces``: the lexemes. ``values``: terminals in
    whose place there are values, and what makes these of their texts.
    """
    parser = _parser(grammar, text, _Given)
    tokens = [Token(name, piece, at, end_pos=at + len(piece)) for name, piece, at in pieces]
    return _with_values(parser.parse(tokens, start=start or grammar.options.start[0]), values)


def tree_of_text(grammar: GrammarData, text: str) -> Any:
    """Lark's tree of a sentence of a grammar in Lark's language."""
    parser = _parser(grammar, grammar.source, grammar.options.lexer)
    return parser.parse(text, start=grammar.options.start[0])


def _parser(grammar: GrammarData, text: str, lexer: Any) -> Any:
    """Lark's parser of a text, made once for each grammar; an Indenter has a state, so that each text gets its own."""

    def make() -> Any:
        options: Any = {**lark_options(grammar), "lexer": lexer}
        return Lark(text, **options)

    if grammar.options.postlex is not None:
        return make()
    parsers = _parsers(grammar)
    if (text, lexer) not in parsers:
        parsers[text, lexer] = make()
    return parsers[text, lexer]


def _with_values(tree: Any, values: Mapping[str, Callable[[str], Any]]) -> Any:
    """A tree with values in the place of some tokens; changed where it is, without recursion."""
    root: list[Any] = [tree]
    pending = [root]
    for children in pending:
        for place, child in enumerate(children):
            if isinstance(child, Tree):
                pending.append(child.children)
            elif isinstance(child, Token) and child.type in values:
                children[place] = values[child.type](str(child))
    return root[0]
