"""``pdacon mask``: what may come after a text, as terminals and as tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy
from rich.text import Text

from pdacon import Constraint
from pdacon.cli.display import head_of, listed, place_after, readable, show, width
from pdacon.cli.failures import FINDINGS
from pdacon.cli.vocabularies import Tokens
from pdacon.determinism import quote
from pdacon.grammar import Grammar
from pdacon.lalr import build_tables
from pdacon.matching.explanation import first_character, quoted, tail
from pdacon.matching.following import expect_viable
from pdacon.matching.listed import ListedTexts
from pdacon.pda import Configuration, Expectation, Machine

_TEXTS = 8  # of one terminal


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
    reason : str
        Why ``rest`` may not come there; empty if there is none.
    lexeme : bytes
        What has been read of a lexeme at the end of ``viable``.
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
    reason: str
    lexeme: bytes
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
    place = _place(constraint.grammar, text[:viable])
    return Outlook(
        viable=text[:viable],
        rest=text[viable:],
        accepted=matcher.is_accepting(),
        reason=matcher.explain(text[viable:]).reason if viable < len(text) else "",
        lexeme=text[viable - place.length : viable],
        expected=expect_viable(place, beginnings.__contains__),
        tokens=tokens,
        completion=matcher.shortest_completion(),
    )


def show_mask(constraint: Constraint, text: bytes, tokens: Tokens, *, most: int, json_format: bool) -> int:
    """Print the outlook, with at most ``most`` tokens if it is for people; 1 if the text is not viable."""
    outlook = look_ahead(constraint, text)
    if json_format:
        print(json.dumps(_as_dict(outlook, constraint), ensure_ascii=False))  # noqa: T201
    else:
        show(_as_text(outlook, constraint, tokens, most))
    return FINDINGS if outlook.rest else 0


def _place(grammar: Grammar, viable: bytes) -> Configuration:
    configuration = Configuration.initial(Machine(grammar, build_tables(grammar))).read(viable)
    if configuration is None:
        raise AssertionError(f"the matcher accepts {viable!r}, but it has no configuration")
    return configuration


def _listed_texts(outlook: Outlook, grammar: Grammar) -> dict[str, list[str]]:
    """What can still come of terminals that list their texts, by their names."""
    texts = ListedTexts(grammar)
    begun = outlook.lexeme.decode("utf-8", "surrogateescape").lower()
    found = {
        terminal: [text for text in texts.of(terminal) if text.lower().startswith(prefix)]
        for terminals, prefix in ((outlook.expected.next, ""), (outlook.expected.unfinished, begun))
        for terminal in terminals
        if texts.is_list(terminal)
    }
    return {grammar.describe_symbol(terminal): some for terminal, some in found.items() if some}


def _as_text(outlook: Outlook, constraint: Constraint, tokens: Tokens, most: int) -> Text:
    names = constraint.grammar.describe_symbol
    expected = outlook.expected
    vocabulary = constraint.vocabulary
    lines = []
    if outlook.rest:
        refused = quote(first_character(outlook.rest))
        after = f"after {tail(outlook.viable)}" if outlook.viable else "at the start of the text"
        lines.append(f"not allowed: {refused} at {place_after(outlook.viable)}, {after}")
        lines += wrap(f"because: {outlook.reason}", width(), subsequent_indent="    ")
    else:
        goes_on = set(outlook.tokens).difference(vocabulary.eos_ids)
        whole = "a whole text, and may go on" if goes_on else "a whole text"
        lines.append(f"{tail(outlook.viable)} is {whole if outlook.accepted else 'the beginning of a text'}")
    if expected.unfinished:
        lines += listed("unfinished:", map(names, expected.unfinished))
    following = [*map(names, expected.next), *(["the end"] if outlook.accepted else [])]
    rest = "(only the rest of it)" if expected.unfinished else "(nothing)"
    lines += listed("may follow:", following or [rest])
    for name, some in _listed_texts(outlook, constraint.grammar).items():
        more = [f"({len(some) - _TEXTS} more)"] if len(some) > _TEXTS else []
        lines += listed(f"{name}:", [*map(quoted, some[:_TEXTS]), *more])
    texts = [tokens.name(i) for i in outlook.tokens if vocabulary.tokens[i] is None]
    texts += readable(text for text in map(vocabulary.tokens.__getitem__, outlook.tokens) if text is not None)
    strip = vocabulary.strip_leading_space and not outlook.viable
    one_space = ", of whose spaces in front one does not count" if strip else ""
    count = f"tokens: {len(outlook.tokens):,} of {vocabulary.size:,}{one_space}"
    if most == 0:
        lines.append(count)
    else:
        first = f", {most} of them:" if len(texts) > most else ":"
        lines += listed(f"{count}{first}", texts[:most])
    completion = head_of(outlook.completion) if outlook.completion else "(nothing is missing)"
    lines.append(f"shortest completion: {completion}")
    text = Text("\n".join(lines))
    text.highlight_regex(r"(?m)^not allowed:", "bold red")
    text.highlight_regex(r"(?m)^(because|unfinished|may follow|tokens|shortest completion):", "bold")
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
        "listed": _listed_texts(outlook, constraint.grammar),
        "reason": outlook.reason,
        "tokens": list(outlook.tokens),
        "shortest_completion": outlook.completion.decode("utf-8", "backslashreplace"),
    }
