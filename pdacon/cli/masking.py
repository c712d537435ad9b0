"""``pdacon mask``: what may come after a text, as terminals and as tokens."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from rich.text import Text

from pdacon import Constraint, Matcher, compile
from pdacon.base.quoting import first_character, quote, quoted, tail
from pdacon.cli.display import RED, head_of, listed, place_after, readable, show, width
from pdacon.cli.failures import FINDINGS
from pdacon.cli.vocabularies import Tokens, asked_tokenizer
from pdacon.front.grammar import Grammar
from pdacon.frontends.dialects import Standing
from pdacon.matching.explaining import written_standing
from pdacon.matching.listed import ListedTexts
from pdacon.matching.viable import accept_most
from pdacon.pda import Expectation

_TEXTS = 8  # of one terminal
_LONGEST = 10_000  # bytes of a completion that is written out
_DEEPEST = 200_000  # symbols on the stack of a text whose completion is looked for


@dataclass(frozen=True)
class Outlook:
    """What can be said about a text."""

    viable: bytes  # the longest beginning of the text that is a viable prefix; the whole text if it is one
    rest: bytes  # what comes after it
    accepted: bool  # whether ``viable`` is a sentence
    reason: str  # why ``rest`` may not come there; empty if there is none
    lexeme: bytes  # what has been read of a lexeme at the end of ``viable``
    expected: Expectation  # the terminals that may go on after ``viable``, with what the tokens spell
    listed: dict[str, list[str]]  # what they can be, where they list their texts, by their names
    tokens: tuple[int, ...]  # the tokens that may go on after ``viable``, end tokens included
    # The fewest bytes that complete ``viable``, or the beginning of these where they are many; None: not looked for.
    completion: bytes | None
    missing: int  # how many bytes that are
    written: Standing | None  # of a grammar in another dialect: the rules of its author there, and what they go on with


def look_ahead(constraint: Constraint, text: bytes, *, uncut: bool = False) -> Outlook:
    """What may come after ``text``, or after as much of it as is viable. Cost: some times that of accepting the text.

    Where the tokenizer strips a space that a text begins with, the first token may have one more, as in ``generate``.
    The completion is looked for where at most 200,000 symbols are open, and written out if it has at most 10,000 bytes,
    unless ``uncut``.
    """
    strip = constraint.vocabulary.strip_leading_space and constraint.may_strip_leading_space
    matcher: Matcher = constraint.matcher(max_rollback=1, strip_leading_space=strip)
    viable = accept_most(matcher._accept_spelled, text)
    lexeme, expected = matcher._explainer.look(matcher)
    completion: bytes | None = None
    missing = 0
    if uncut:
        missing, completion = matcher._completion_head(sys.maxsize)
    elif matcher._memory()[1] <= _DEEPEST:
        missing, completion = matcher._completion_head(_LONGEST)
        # Where newlines indent, the length is a lower bound: blanks that a column needs are not in it.
        missing = len(completion) if len(completion) < _LONGEST else max(missing, len(completion))
    outlook = Outlook(
        viable=text[:viable],
        rest=text[viable:],
        accepted=matcher.is_accepting(),
        reason=matcher.explain(text[viable:], lexemes=0).reason if viable < len(text) else "",
        lexeme=lexeme,
        expected=expected,
        listed={},
        tokens=tuple(matcher.allowed_tokens()),
        completion=completion,
        missing=missing,
        written=None if constraint.grammar.data.within else written_standing(constraint.grammar.data, text[:viable]),
    )
    return replace(outlook, listed=_listed_texts(outlook, constraint.grammar, matcher))


def canonical_constraint(grammar: Grammar, tokens: Tokens) -> Constraint:
    """The same grammar, with only those tokens that the tokenizer itself makes of a text.

    Raises BadInput: the tokenizer cannot be asked.
    """
    return compile(grammar, tokens.vocabulary, canonical=asked_tokenizer(tokens))


def _canonical_tokens(constraint: Constraint, text: bytes, tokens: Tokens) -> tuple[int, ...]:
    """What the tokenizer may go on with after a text, as it cuts that; else as at a border of tokens after it."""
    strip = constraint.vocabulary.strip_leading_space and constraint.may_strip_leading_space
    matcher = constraint.matcher(strip_leading_space=strip)
    ids = tokens.split(text.decode("utf-8", "replace"))
    if not ids or matcher.validate_tokens(ids) < len(ids):
        accept_most(matcher._accept_spelled, text)
    else:
        for token in ids:
            matcher.accept_token(token)
    return tuple(matcher.allowed_tokens())


def show_mask(
    constraint: Constraint,
    text: bytes,
    tokens: Tokens,
    canonical: Constraint | None,
    *,
    most: int,
    uncut: bool,
    json_format: bool,
) -> int:
    """Print the outlook, with at most ``most`` tokens if it is for people; 1 if the text is not viable."""
    outlook = look_ahead(constraint, text, uncut=uncut)
    narrowed = None if canonical is None else _canonical_tokens(canonical, outlook.viable, tokens)
    if json_format:
        also = {} if narrowed is None else {"canonical_tokens": list(narrowed)}
        print(json.dumps({**_as_dict(outlook, constraint), **also}, ensure_ascii=False))  # noqa: T201
    else:
        show(_as_text(outlook, constraint, tokens, narrowed, most, uncut=uncut))
    return FINDINGS if outlook.rest else 0


def _listed_texts(outlook: Outlook, grammar: Grammar, matcher: Matcher) -> dict[str, list[str]]:
    """What can still come of terminals that list their texts, by their names."""
    texts = ListedTexts(grammar.data)
    begun = outlook.lexeme.decode("utf-8", "surrogateescape").lower()
    found: dict[int, list[str]] = {}
    for terminals, prefix in ((outlook.expected.next, ""), (outlook.expected.unfinished, begun)):
        for terminal in filter(texts.is_list, terminals):
            fitting = (text for text in texts.of(terminal) if text.lower().startswith(prefix))
            found[terminal] = [text for text in fitting if _can_come(matcher, text[len(prefix) :], grammar)]
    return {grammar.data.describe_symbol(terminal): some for terminal, some in found.items() if some}


def _can_come(matcher: Matcher, text: str, grammar: Grammar) -> bool:
    accepted = matcher.accept_bytes(text.encode(grammar.data.options.encoding, "surrogateescape"))
    if accepted:
        matcher.rollback(1)
    return accepted


def _completed(outlook: Outlook, *, uncut: bool) -> str:
    if outlook.completion is None:
        return "(not looked for, with so much that is open; --all does)"
    if uncut and outlook.completion:
        return quote(outlook.completion)
    return head_of(outlook.completion, outlook.missing) if outlook.completion else "(nothing is missing)"


def _as_text(
    outlook: Outlook,
    constraint: Constraint,
    tokens: Tokens,
    canonical: tuple[int, ...] | None,
    most: int,
    *,
    uncut: bool,
) -> Text:
    names = constraint.grammar.data.describe_symbol
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
    if outlook.written is not None:
        for chain in outlook.written.rules:
            lines += wrap(f"rules: {chain}", width(), subsequent_indent="    ")
    elif expected.unfinished:
        lines += listed("unfinished:", map(names, expected.unfinished))
    next_ones = map(names, expected.next) if outlook.written is None else outlook.written.expected
    following = [*next_ones, *(["the end"] if outlook.accepted else [])]
    rest = "(only the rest of it)" if expected.unfinished else "(nothing)"
    lines += listed("may follow:", following or [rest])
    for name, some in outlook.listed.items():
        more = [f"({len(some) - _TEXTS} more)"] if len(some) > _TEXTS and not uncut else []
        lines += listed(f"{name}:", [*map(quoted, some[:_TEXTS] if more else some), *more])
    strip = vocabulary.strip_leading_space and not outlook.viable
    one_space = ", of whose spaces in front one does not count" if strip else ""
    lines += _listed_tokens(
        f"tokens: {len(outlook.tokens):,} of {vocabulary.size:,}{one_space}", outlook.tokens, tokens, most
    )
    if canonical is not None:
        lines += _listed_tokens(f"canonical: {len(canonical):,} of them", canonical, tokens, most)
    lines.append(f"shortest completion: {_completed(outlook, uncut=uncut)}")
    text = Text("\n".join(lines))
    text.highlight_regex(r"(?m)^not allowed:", f"bold {RED}")
    text.highlight_regex(r"(?m)^(because|rules|unfinished|may follow|tokens|canonical|shortest completion):", "bold")
    return text


def _listed_tokens(count: str, allowed: tuple[int, ...], tokens: Tokens, most: int) -> list[str]:
    if most == 0:
        return [count]
    texts = tokens.vocabulary.tokens
    shown = [tokens.name(i) for i in allowed if texts[i] is None]
    shown += readable(text for i in allowed if (text := texts[i]) is not None)
    first = f", {most} of them:" if len(shown) > most else ":"
    return listed(f"{count}{first}", shown[:most])


def _as_dict(outlook: Outlook, constraint: Constraint) -> dict[str, Any]:
    def texts(terminals: Iterable[int]) -> list[str]:
        return [constraint.grammar.data.symbol_name(terminal) for terminal in terminals]

    completion = outlook.completion if len(outlook.completion or b"") == outlook.missing else None

    return {
        "viable": not outlook.rest,
        "viable_bytes": len(outlook.viable),
        "accepted": outlook.accepted,
        "unfinished_terminals": texts(outlook.expected.unfinished),
        "next_terminals": texts(outlook.expected.next),
        "listed": outlook.listed,
        "reason": outlook.reason,
        "tokens": list(outlook.tokens),
        "shortest_completion": None if completion is None else completion.decode("utf-8", "backslashreplace"),
        "completion_bytes": None if outlook.completion is None else outlook.missing,
        "written_rules": None if outlook.written is None else list(outlook.written.rules),
        "written_next": None if outlook.written is None else list(outlook.written.expected),
    }
