"""Where the parts of structural tags end: ends that may be left out, numbers beside text, and blanks."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from support.structural_tags import INTEGER

import pdacon
from pdacon import Grammar
from pdacon.front.stages import compiled


def test_an_end_that_may_be_left_out() -> None:
    """Of several ends one may be empty: the content is bounded by itself, or free up to the others."""
    tag: dict[str, Any] = {"type": "tag", "begin": "<a>", "end": ["</a>", ""]}
    number = pdacon.Grammar.from_structural_tag({**tag, "content": {"type": "regex", "pattern": "[0-9]{1,2}"}})
    assert [number.accepts(text) for text in ("<a>1</a>", "<a>12", "<a>12</", "<a>", "12")] == [
        True,
        True,
        *[False] * 3,
    ]
    free = pdacon.Grammar.from_structural_tag({**tag, "content": {"type": "any_text"}})
    assert [free.accepts(text) for text in ("<a>x</a>", "<a>x", "<a>", "<a>x</a>y")] == [True, True, True, False]


@pytest.mark.parametrize("kind", ["number", "integer", "boolean", ["number", "null"], ["integer", "boolean"]])
@pytest.mark.parametrize("end", ["END", "e", ".", "1", "true"])
def test_numbers_and_constants_end_wherever_they_may(kind: Any, end: str) -> None:
    """Also where a text follows that could go on with them: against all ways to cut a text in two."""
    content = {"type": "json_schema", "json_schema": {"type": kind}}
    tag = Grammar.from_structural_tag({"type": "tag", "begin": "B", "content": content, "end": end})
    valid = jsonschema.Draft202012Validator({"type": kind}).is_valid
    constraints = [pdacon.compile(tag, pdacon.Vocabulary.bytes()), compiled(tag.data, pdacon.Vocabulary.bytes())]
    bodies = ["1", "-1", "12", "1.5", "1e5", "1e", "1.", "01", "true", "null", "tru", "", "11", "1true", "1.51", "x"]
    for text in [*(body + end for body in bodies), *bodies]:
        value, fits = text[: len(text) - len(end)], False
        if text.endswith(end) and value.strip() == value:
            with suppress(ValueError):
                read = json.loads(value)
                fits = valid(read) and (kind == "number" or "number" in kind or not isinstance(read, float))
        assert [constraint.accepts("B" + text) for constraint in constraints] == [fits] * 2, text


def test_two_integers_side_by_side_are_a_set() -> None:
    """Which of them a digit is of need not be known."""
    both = Grammar.from_structural_tag({"type": "sequence", "elements": [INTEGER, INTEGER]})
    for constraint in (pdacon.compile(both, pdacon.Vocabulary.bytes()), compiled(both.data, pdacon.Vocabulary.bytes())):
        verdicts = [constraint.accepts(text) for text in ("12", "123", "1-2", "00", "010", "1", "1--2", "12-")]
        assert verdicts == [True, True, True, True, True, False, False, False]


def test_bounded_blanks_with_a_spelling() -> None:
    """What a format says of blanks, and what the spelling says, both hold."""
    content = {"type": "json_schema", "json_schema": {"type": "array", "items": {"type": "integer"}, "minItems": 1}}
    for most, spelling, allowed in (
        (2, None, {0, 1, 2}),
        (2, pdacon.Spelling(whitespace="any"), {0, 1, 2}),
        (3, pdacon.Spelling(whitespace="any", max_blanks=1), {0, 1}),
        (2, pdacon.Spelling(whitespace="compact"), {0}),
    ):
        grammar = Grammar.from_structural_tag({**content, "max_whitespace_cnt": most}, spelling=spelling)
        assert {count for count in range(6) if grammar.accepts(f"[{' ' * count}1]")} == allowed
