"""Whether tokens that may follow spell a text: what completes it for the grammar, asked of a filter of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pdacon._native import _core

_MOST = 4096
"""Bytes of a text that is asked about; each costs a matcher."""


def is_spelled(matcher: _core.Matcher, text: bytes, ids: Mapping[bytes, Sequence[int]]) -> bool:
    """Whether tokens that are allowed one after another spell a text, and the text may end there.

    ``matcher``: it is not changed. ``text``: one of more than 4,096 bytes is not looked at: False. ``ids``: the tokens
    with each text.
    """
    longest = max(map(len, ids), default=0)
    open_ = [(_core.Matcher(matcher), 0)]
    seen = {(0, matcher._filter_state())}
    while open_ and len(text) <= _MOST:
        here, at = open_.pop()
        if at == len(text):
            if here.is_accepting():
                return True
            continue
        for length in range(1, min(longest, len(text) - at) + 1):  # the longest one comes first, from the end
            for token in ids.get(text[at : at + length], ()):
                there = _core.Matcher(here)
                if there.accept_token(token) and (at + length, there._filter_state()) not in seen:
                    seen.add((at + length, there._filter_state()))
                    open_.append((there, at + length))
    return False
