"""``pdacon mask``: what may come after a text, as terminals and as tokens."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy
from rich.console import Console

from pdacon import Constraint, Vocabulary, compile
from pdacon.cli.failures import FINDINGS
from pdacon.cli.models import load_vocabulary
from pdacon.determinism import quote
from pdacon.grammar import Grammar
from pdacon.lalr import build_tables
from pdacon.pda import Configuration, Expectation, Machine, expect

_WIDTH = 100
_SHOWN = 40  # Characters of a text that are enough to recognise the place.


@dataclass(frozen=True)
class Outlook:
    """What can be said about a text.

    Parameters
    ----------
    viable : bytes
        The longest beginning of the text that is a viable prefix; the whole text if it is one.
    rest : bytes
        What comes after it.
    accepted : bool
        Whether ``viable`` is a sentence.
    expected : Expectation
        The terminals that may go on after ``viable``.
    tokens : tuple of int
        The tokens that may go on after ``viable``, end tokens included.
    completion : bytes
        The fewest bytes that complete ``viable``.
    """

    viable: bytes
    rest: bytes
    accepted: bool
    expected: Expectation
    tokens: tuple[int, ...]
    completion: bytes


def look_ahead(constraint: Constraint, text: bytes) -> Outlook:
    """What may come after ``text``, or after as much of it as is viable. Cost: linear in the text."""
    matcher = constraint.matcher(max_rollback=0)
    viable = len(text)
    if not matcher.accept_bytes(text):
        viable = next(i for i in range(len(text)) if not matcher.accept_bytes(text[i : i + 1]))
    vocabulary = constraint.vocabulary
    bitmask = numpy.zeros(-(-vocabulary.size // 32), dtype=numpy.int32)
    matcher.fill_bitmask(bitmask)
    allowed = numpy.unpackbits(bitmask.view(numpy.uint8), bitorder="little", count=vocabulary.size)
    return Outlook(
        viable=text[:viable],
        rest=text[viable:],
        accepted=matcher.is_accepting(),
        expected=_expected(constraint.grammar, text[:viable]),
        tokens=tuple(numpy.flatnonzero(allowed).tolist()),
        completion=matcher.shortest_completion(),
    )


def show_mask(grammar: Grammar, text: bytes, tokenizer: str | None, *, show: int, json_format: bool) -> int:
    """Print the outlook, with at most ``show`` tokens if it is for people; 1 if the text is not viable."""
    with Console(stderr=True).status("loading the tokenizer"):
        vocabulary = load_vocabulary(tokenizer)
    constraint = compile(grammar, vocabulary)
    outlook = look_ahead(constraint, text)
    if json_format:
        print(json.dumps(_as_dict(outlook, constraint), ensure_ascii=False))  # noqa: T201
    else:
        print("\n".join(_as_lines(outlook, constraint, show)))  # noqa: T201
    return FINDINGS if outlook.rest else 0


def _expected(grammar: Grammar, viable: bytes) -> Expectation:
    configuration = Configuration.initial(Machine(grammar, build_tables(grammar))).read(viable)
    if configuration is None:
        raise AssertionError(f"the matcher accepts {viable!r}, but it has no configuration")
    return expect(configuration)


def _as_lines(outlook: Outlook, constraint: Constraint, show: int) -> list[str]:
    names = constraint.grammar.describe_symbol
    expected = outlook.expected
    lines = []
    if outlook.rest:
        line, column = _place(outlook.viable)
        place = f"line {line}, column {column} (byte {len(outlook.viable)})"
        lines.append(f"not allowed: {quote(_first_character(outlook.rest))} at {place}, after {_tail(outlook.viable)}")
    else:
        goes_on = set(outlook.tokens).difference(constraint.vocabulary.eos_ids)
        whole = "a whole text, and may go on" if goes_on else "a whole text"
        state = whole if outlook.accepted else "the beginning of a text"
        lines.append(f"{_tail(outlook.viable)} is {state}")
    following = [*map(names, expected.next), *(["the end"] if outlook.accepted else [])]
    if expected.unfinished:
        lines += _listed("unfinished:", map(names, expected.unfinished))
    lines += _listed("may follow:", following)
    texts = _readable(outlook.tokens, constraint.vocabulary)
    more = f", {min(show, len(texts))} of them:" if len(texts) > show else ":"
    lines += _listed(f"tokens: {len(outlook.tokens)} of {constraint.vocabulary.size}{more}", texts[:show])
    lines.append(f"shortest completion: {_head(outlook.completion)}")
    return lines


def _listed(head: str, items: Iterable[str]) -> list[str]:
    return textwrap.wrap(
        f"{head} {'  '.join(items) or '(nothing)'}",
        _WIDTH,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _readable(tokens: tuple[int, ...], vocabulary: Vocabulary) -> list[str]:
    """Distinct texts, whole printable characters first, then the short ones."""
    texts = {vocabulary.tokens[token] for token in tokens}
    shown = sorted((text for text in texts if text is not None), key=_readability)
    return [*(["<end>"] if None in texts else []), *map(quote, shown)]


def _readability(text: bytes) -> tuple[bool, int, bytes]:
    return not text.decode("utf-8", "replace").replace("\ufffd", "\0").isprintable(), len(text), text


def _head(text: bytes) -> str:
    shown = text.decode("utf-8", "backslashreplace")
    return quote(text) if len(shown) <= _SHOWN else f"{quote(shown[:_SHOWN].encode())}... ({len(text)} bytes)"


def _tail(text: bytes) -> str:
    shown = text.decode("utf-8", "backslashreplace")
    return quote(text) if len(shown) <= _SHOWN else "..." + quote(shown[-_SHOWN:].encode("utf-8"))


def _first_character(text: bytes) -> bytes:
    """The first character, or the first byte where none begins."""
    character = text.decode("utf-8", "ignore")[:1].encode()
    return character if character and text.startswith(character) else text[:1]


def _place(before: bytes) -> tuple[int, int]:
    """Line and column, in characters from 1, of what comes after ``before``."""
    lines = before.decode("utf-8", "replace").split("\n")
    return len(lines), len(lines[-1]) + 1


def _as_dict(outlook: Outlook, constraint: Constraint) -> dict[str, Any]:
    def texts(terminals: Iterable[int]) -> list[str]:
        return [constraint.grammar.symbol_name(terminal) for terminal in terminals]

    return {
        "viable": not outlook.rest,
        "viable_bytes": len(outlook.viable),
        "accepted": outlook.accepted,
        "unfinished_terminals": texts(outlook.expected.unfinished),
        "next_terminals": texts(outlook.expected.next),
        "tokens": list(outlook.tokens),
        "shortest_completion": outlook.completion.decode("utf-8", "backslashreplace"),
    }
