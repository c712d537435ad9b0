"""A whole grammar against stock Lark, on texts made of a few pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import lark

import pdacon
from pdacon import Grammar

EVERY_BYTE = pdacon.Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])


def texts_of(pieces: Sequence[str], budget: int) -> Iterator[str]:
    """All concatenations of up to n pieces, each text once, with the greatest n for which there are at most so many."""
    seen = {""}
    yield ""
    length = 1
    while len(pieces) ** length <= budget:
        for chosen in product(pieces, repeat=length):
            text = "".join(chosen)
            if text not in seen:
                seen.add(text)
                yield text
        length += 1


def sentences_of_lark(parser: lark.Lark, texts: Iterable[str], start: str | None = None) -> set[str]:
    """The texts that stock Lark parses; with ``use_bytes`` each character stands for a byte."""
    encoding = "latin-1" if parser.options.use_bytes else None
    return {text for text in texts if _parses(parser, text.encode(encoding) if encoding else text, start)}


def sentences_of_pdacon(grammar: Grammar, texts: Iterable[str], start: str | None = None) -> set[str]:
    """The texts that a matcher accepts and may end after. An empty language is one, too."""
    try:
        begun = pdacon.compile(grammar, EVERY_BYTE).matcher(start=start)
    except pdacon.EmptyLanguageError:
        return set()
    found = set()
    for text in texts:
        matcher = begun.fork()
        if matcher.accept_bytes(text.encode(grammar.data.options.encoding)) and matcher.is_accepting():
            found.add(text)
    return found


def _parses(parser: lark.Lark, text: str | bytes, start: str | None) -> bool:
    try:
        parser.parse(text, start=start)
    except Exception:  # Whatever Lark raises, the text is no sentence.
        return False
    return True
