"""Explain what a matcher allows of a JSON Schema that has no grammar as a whole, because that would be too large.

In: a matcher that reads on demand, and what is asked about. Out: an `Explanation` without rules, lexemes and stack,
which only a grammar has: its ``expected`` lists the bytes that may come. `refused_by_schema` words the reason where the
schema refuses a member, for schemas that have a grammar as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pdacon._native import _core
from pdacon.base.quoting import first_character, listing, quote
from pdacon.frontends.json_schema import schema_lines, why_refused
from pdacon.matching.explanation import Asked, Explanation
from pdacon.matching.viable import accept_most

_LONGEST = 40  # bytes of what must come that are shown


def explained_on_demand(matcher: _core.Matcher, asked: Asked, source: str) -> Explanation:
    """Why some text, of a token or not, may come where a matcher stands or not; ``source`` is the schema as JSON."""
    token, text, allowed = asked
    before, probe = matcher._text(), _core.Matcher(matcher)
    viable = accept_most(probe.accept_bytes, text)
    read, refused = before + text[:viable], text[viable:]
    may_end = probe.is_accepting()
    expected = _expected(probe)
    if refused:

        def at_start() -> _core.Matcher:
            fresh = _core.Matcher(matcher)
            fresh.reset()
            return fresh

        following = listing([*expected, *(["the end"] if may_end else [])])
        reason = refused_by_schema(source, read, refused, at_start)
        reason = reason or f"{quote(first_character(refused))} cannot come here; expected {following}"
    elif not text and token is not None:
        reason = "the text may end here" if allowed else f"the text may not end here; expected {listing(expected)}"
    elif allowed:
        reason = "it is a whole text" if may_end else "some sentence goes on with it"
    else:
        reason = "the schema allows it, but no tokens of this vocabulary spell anything that can follow"
    explanation = Explanation.without_grammar(asked, reason, before, viable, expected, may_end=may_end)
    return replace(explanation, schema=schema_at(source, read))


def schema_at(source: str, read: bytes) -> tuple[str, ...]:
    """What a schema, given as JSON, says of the value that a text ends in; a line for each place in the schema."""
    return schema_lines(source, read.decode(errors="ignore"))


def refused_by_schema(source: str, read: bytes, refused: bytes, at_start: Callable[[], _core.Matcher]) -> str:
    """Why a schema does not take what comes after a text; empty if that is not about the members of an object.

    ``source``: the schema as JSON. ``at_start``: makes a matcher that stands at the start of a text.
    """

    def takes(beginning: str) -> bool:
        return at_start().accept_bytes(beginning.encode(errors="replace"))

    return why_refused(source, read.decode(errors="ignore"), refused.decode(errors="ignore"), takes)


def _expected(probe: _core.Matcher) -> tuple[str, ...]:
    """What may come: the bytes that have to, or those that may, of characters that are not ASCII the first ones."""
    if forced := probe.forced_bytes():
        return (quote(forced[:_LONGEST]),)
    # Each byte has a matcher of its own: this one may be one that takes nothing back.
    possible = [byte for byte in range(256) if _core.Matcher(probe).accept_bytes(bytes([byte]))]
    shown = [quote(bytes([byte])) for byte in possible if byte < 0x80]
    return (*shown, *(["other characters"] if len(shown) < len(possible) else []))
