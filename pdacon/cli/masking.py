"""``pdacon mask``: what may come after a text, as terminals and as tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy
from rich.text import Text

from pdacon import Constraint, compile
from pdacon.cli.display import first_character, head_of, listed, place_after, readable, show, tail_of
from pdacon.cli.failures import FINDINGS
from pdacon.cli.vocabularies import Tokens
from pdacon.determinism import quote
from pdacon.grammar import Grammar
from pdacon.lalr import build_tables
from pdacon.matching.following import expect_viable
from pdacon.pda import Configuration, Expectation, Machine


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
        The terminals that may go on after ``viable``; those that no allowed token begins are left out.
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
    """What may come after ``text``, or after as much of it as is viable. Cost: linear in the text.

    Where the tokenizer strips a space that a text begins with, the first token may have one more, as in ``generate``.
    """
    strip = constraint.vocabulary.strip_leading_space
    matcher = constraint.matcher(max_rollback=0, strip_leading_space=strip)
    viable = len(text)
    if not matcher.accept_bytes(text):
        viable = next(i for i in range(len(text)) if not matcher.accept_bytes(text[i : i + 1]))
    vocabulary = constraint.vocabulary
    bitmask = numpy.zeros(-(-vocabulary.size // 32), dtype=numpy.int32)
    matcher.fill_bitmask(bitmask)
    allowed = numpy.unpackbits(bitmask.view(numpy.uint8), bitorder="little", count=vocabulary.size)
    tokens = tuple(numpy.flatnonzero(allowed).tolist())
    texts = [text for text in map(vocabulary.tokens.__getitem__, tokens) if text is not None]
    if strip and viable == 0:
        texts = [text.removeprefix(b" ") for text in texts]
    beginnings = {text[0] for text in texts if text}
    return Outlook(
        viable=text[:viable],
        rest=text[viable:],
        accepted=matcher.is_accepting(),
        expected=_expected(constraint.grammar, text[:viable], beginnings),
        tokens=tokens,
        completion=matcher.shortest_completion(),
    )


def show_mask(grammar: Grammar, text: bytes, tokens: Tokens, *, most: int, json_format: bool) -> int:
    """Print the outlook, with at most ``most`` tokens if it is for people; 1 if the text is not viable."""
    constraint = compile(grammar, tokens.vocabulary)
    outlook = look_ahead(constraint, text)
    if json_format:
        print(json.dumps(_as_dict(outlook, constraint), ensure_ascii=False))  # noqa: T201
    else:
        show(_as_text(outlook, constraint, tokens, most))
    return FINDINGS if outlook.rest else 0


def _expected(grammar: Grammar, viable: bytes, beginnings: set[int]) -> Expectation:
    configuration = Configuration.initial(Machine(grammar, build_tables(grammar))).read(viable)
    if configuration is None:
        raise AssertionError(f"the matcher accepts {viable!r}, but it has no configuration")
    return expect_viable(configuration, beginnings.__contains__)


def _as_text(outlook: Outlook, constraint: Constraint, tokens: Tokens, most: int) -> Text:
    names = constraint.grammar.describe_symbol
    expected = outlook.expected
    vocabulary = constraint.vocabulary
    lines = []
    if outlook.rest:
        refused = quote(first_character(outlook.rest))
        after = f"after {tail_of(outlook.viable)}" if outlook.viable else "at the start of the text"
        lines.append(f"not allowed: {refused} at {place_after(outlook.viable)}, {after}")
    else:
        goes_on = set(outlook.tokens).difference(vocabulary.eos_ids)
        whole = "a whole text, and may go on" if goes_on else "a whole text"
        lines.append(f"{tail_of(outlook.viable)} is {whole if outlook.accepted else 'the beginning of a text'}")
    if expected.unfinished:
        lines += listed("unfinished:", map(names, expected.unfinished))
    following = [*map(names, expected.next), *(["the end"] if outlook.accepted else [])]
    rest = "(only the rest of it)" if expected.unfinished else "(nothing)"
    lines += listed("may follow:", following or [rest])
    texts = [tokens.name(i) for i in outlook.tokens if vocabulary.tokens[i] is None]
    texts += readable(text for text in map(vocabulary.tokens.__getitem__, outlook.tokens) if text is not None)
    strip = vocabulary.strip_leading_space and not outlook.viable
    one_space = ", of whose spaces in front one does not count" if strip else ""
    count = f"tokens: {len(outlook.tokens):,} of {vocabulary.size:,}{one_space}"
    if most == 0:
        lines.append(count)
    else:
        more = f", {most} of them:" if len(texts) > most else ":"
        lines += listed(f"{count}{more}", texts[:most])
    completion = head_of(outlook.completion) if outlook.completion else "(nothing is missing)"
    lines.append(f"shortest completion: {completion}")
    text = Text("\n".join(lines))
    text.highlight_regex(r"(?m)^not allowed:", "bold red")
    text.highlight_regex(r"(?m)^(unfinished|may follow|tokens|shortest completion):", "bold")
    return text


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
