"""Explain what a matcher allows of a JSON Schema that has no grammar as a whole, because that would be too large.

In: a matcher that reads on demand, and what is asked about. Out: an `Explanation` without rules, lexemes and stack,
which only a grammar has: what could stand there is told by the bytes that may come.
"""

from __future__ import annotations

from pdacon._native import _core
from pdacon.base.quoting import first_character, line_and_column, listing, quote
from pdacon.frontends.json_schema import schema_lines, why_refused
from pdacon.matching.explanation import Explanation

_LONGEST = 40  # bytes of what must come that are shown


def explained_on_demand(
    matcher: _core.Matcher, token: int | None, text: bytes, allowed: bool, source: str
) -> Explanation:
    """Why some text, of a token or not, may come where a matcher stands or not; ``source`` is the schema as JSON."""
    before, probe = matcher._text(), _core.Matcher(matcher)
    viable = _accepted(probe, text)
    read, refused = before + text[:viable], text[viable:]
    may_end = probe.is_accepting()
    expected = _expected(probe)
    if refused:
        fresh = _core.Matcher(matcher)

        def takes(beginning: str) -> bool:
            fresh.reset()
            return fresh.accept_bytes(beginning.encode(errors="replace"))

        why = why_refused(source, read.decode(errors="ignore"), refused.decode(errors="ignore"), takes)
        following = listing([*expected, *(["the end"] if may_end else [])])
        reason = why or f"{quote(first_character(refused))} cannot come here; expected {following}"
    elif not text and token is not None:
        reason = "the text may end here" if allowed else f"the text may not end here; expected {listing(expected)}"
    elif allowed:
        reason = "it is a whole text" if may_end else "some sentence goes on with it"
    else:
        reason = "the schema allows it, but no tokens of this vocabulary spell anything that can follow"
    line, column = line_and_column(read)
    return Explanation(
        allowed=allowed,
        reason=reason,
        token=token,
        text=text,
        viable=viable,
        before=before,
        line=line,
        column=column,
        lexeme=b"",
        unfinished=(),
        expected=expected,
        blocks=(0,),
        may_end=may_end,
        unlisted=None,
        cuts=(),
        earlier_cuts=0,
        stack=(),
        rules=(),
        within=(),
        schema=schema_lines(source, read.decode(errors="ignore")),
    )


def _accepted(probe: _core.Matcher, text: bytes) -> int:
    """Accept the bytes of a text, from the first on, as long as they may come; how many these are."""
    for count, byte in enumerate(text):
        if not probe.accept_bytes(bytes([byte])):
            return count
    return len(text)


def _expected(probe: _core.Matcher) -> tuple[str, ...]:
    """What may come: the bytes that have to, or those that may, of characters that are not ASCII the first ones."""
    if forced := probe.forced_bytes():
        return (quote(forced[:_LONGEST]),)
    possible = []
    for byte in range(256):
        if probe.accept_bytes(bytes([byte])):
            probe.rollback(1)
            possible.append(byte)
    shown = [quote(bytes([byte])) for byte in possible if byte < 0x80]
    return (*shown, *(["other characters"] if len(shown) < len(possible) else []))
