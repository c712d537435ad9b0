"""A limit that is met while a text is read is an error by name; what was read and made before stays as it was."""

from __future__ import annotations

from typing import Any

import pytest
from support.on_demand import WORDS

import pdacon
from pdacon import Grammar, LimitExceededError, Limits
from pdacon.front.compiled import Compiled

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        f"name{k}": {
            "type": "object",
            "properties": {
                "a": {"type": "string", "maxLength": 30 + k},
                "b": {"type": "integer", "maximum": k},
                "c": {"type": "array", "items": {"enum": [f"x{k}", "z"]}},
            },
        }
        for k in range(200)
    },
}
TEXT = ", ".join(f'"name{k}": {{"a": "xy", "b": {k // 2}, "c": ["x{k}", "z"]}}' for k in range(40))
CALL = {"type": "tag", "begin": "<f=a>", "content": {"type": "json_schema", "json_schema": SCHEMA}, "end": "</f>"}
TAG = {"type": "triggered_tags", "triggers": ["<f="], "tags": [CALL]}
READ: dict[str, tuple[Grammar, str]] = {
    "schema": (Grammar.from_json_schema(SCHEMA), f"{{{TEXT}}}"),
    "tag": (Grammar.from_structural_tag(TAG), f"See <f=a>{{{TEXT}}}</f>."),
}
LIMITS = [{"bytes": 400_000}, {"bytes": 800_000}, {"states": 100}, {"states": 1_000}]


def read(matcher: pdacon.Matcher, text: bytes) -> tuple[list[bytes], str]:
    """Mask and accept byte by byte; the masks up to where a limit is met, and which that is."""
    masks: list[bytes] = []
    try:
        for at in range(len(text)):
            masks.append(matcher.allowed_mask().tobytes())
            assert matcher.accept_bytes(text[at : at + 1])
    except LimitExceededError as error:
        return masks, error.what
    return masks, ""


@pytest.mark.parametrize("name", READ)
def test_what_was_made_stays_good(name: str) -> None:
    grammar, text = READ[name][0], READ[name][1].encode()
    unlimited = pdacon.compile(grammar, WORDS)
    for limit in LIMITS:
        constraint = pdacon.compile(grammar, WORDS, limits=Limits(**limit))
        matcher = constraint.matcher()
        masks, what = read(matcher, text)
        came = len(matcher.text.encode())
        assert {what} == limit.keys()
        assert matcher.text.encode() == text[:came], limit
        for _ in range(2):  # and again: nothing has become worse
            assert matcher.is_accepting() == is_accepting(unlimited, text[:came]), limit
            assert not matcher.is_terminated()
            twin = matcher.fork()
            for length in reversed(range(max(came - 3, 0), came)):
                twin.rollback(1)
                assert twin.is_accepting() == is_accepting(unlimited, text[:length]), limit
                assert twin.allowed_mask().tobytes() == masks[length], limit
            assert twin.accept_bytes(text[max(came - 3, 0) : came]), limit
            assert twin.text == matcher.text
        assert read(constraint.matcher(), text[:came]) == (masks[:came], ""), limit


def is_accepting(constraint: Compiled, text: bytes) -> bool:
    matcher = constraint.matcher()
    assert matcher.accept_bytes(text)
    return matcher.is_accepting()


@pytest.mark.parametrize("name", READ)
def test_who_cannot_tell_says_so(name: str) -> None:
    """Where not even a first step has room, a matcher that is only looked at does not guess, and can be printed."""
    grammar, text = READ[name][0], READ[name][1].encode()
    unlimited = pdacon.compile(grammar, WORDS)
    answers: list[bool | str] = []
    for limit in (20_000, 60_000, 200_000):
        try:
            constraint = pdacon.compile(grammar, WORDS, limits=Limits(bytes=limit))
            matcher = constraint.matcher()
        except LimitExceededError as error:
            answers.append(error.what)
            continue
        read(matcher, text)
        came = matcher.text.encode()
        assert text.startswith(came)
        shown = repr(matcher)
        try:
            answers.append(matcher.is_accepting())
        except LimitExceededError as error:
            answers.append(error.what)
        assert ("at a limit of its constraint" in shown) == (answers[-1] == "bytes")
        assert answers[-1] in ("bytes", is_accepting(unlimited, came)), limit
    assert "bytes" in answers
    assert answers[-1] != "bytes"
