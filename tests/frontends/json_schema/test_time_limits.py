"""Every loop of the front end looks at the clock: large schemas are stopped wherever their work is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from pdacon import LimitExceededError, Spelling
from pdacon.base.cancelling import Watch
from pdacon.frontends.json_schema import schema_grammar
from pdacon.frontends.json_schema.multiples import Divisor, Spelled, multiples
from pdacon.frontends.json_schema.numbering import lower
from pdacon.frontends.json_schema.productions import VALUE, Productions, Text
from pdacon.frontends.json_schema.programs import words_program

ANY_ORDER = Spelling(order="any")


class Looks:
    """A clock that a look puts forward, so that time is how often it was looked at."""

    now = 0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def overlapping(count: int) -> dict[str, Any]:
    """Objects that a list of alternatives tells apart by members which they share."""
    kinds = ["string", "integer", "null"]
    return {
        "oneOf": [
            {
                "properties": {f"p{(7 * k + j) % count}": {"type": kinds[(k + j) % 3]} for j in range(6)},
                "required": [f"p{k}"],
            }
            for k in range(count)
        ]
    }


HOSTILE: dict[str, tuple[int, Any, Spelling | None]] = {
    "members in any order": (300, {"properties": {f"p{k}": {"type": "integer"} for k in range(20)}}, ANY_ORDER),
    "alternatives in any order": (100, overlapping(8), ANY_ORDER),
    "alternatives": (300, overlapping(12), None),
    "required members": (3_000, {"required": [f"p{k}" for k in range(1_500)]}, None),
    "members that must not be": (1_500, {"allOf": [{"not": {"required": [f"p{k}"]}} for k in range(500)]}, None),
    "listed strings": (60, {"enum": [f"p{k}" for k in range(2_000)]}, None),
    "listed numbers": (100, {"enum": [k + 0.5 for k in range(2_000)]}, None),
    "listed objects": (400, {"enum": [{"p": k} for k in range(500)]}, None),
    "patterns": (500, {"type": "string", "anyOf": [{"pattern": f"a{k}*b"} for k in range(300)]}, None),
    "patterns of names": (40, {"patternProperties": {f"a{k}": {"type": "null"} for k in range(12)}}, None),
    "anchors": (400, {"$defs": {f"d{k}": {"$anchor": f"a{k}"} for k in range(500)}}, None),
}


@pytest.mark.parametrize(("looks", "schema", "spelling"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_large_schema_is_stopped(looks: int, schema: Any, spelling: Spelling | None) -> None:
    with pytest.raises(LimitExceededError) as caught, Watch(looks, clock=Looks(), patience=0):
        schema_grammar(schema, spelling=spelling)
    assert caught.value.what == "seconds"


def test_what_is_applied_twice_evaluates_once() -> None:
    """Sixty schemas each of which applies the next one twice: two to the power of sixty, if each were counted."""
    defs: dict[str, Any] = {f"d{k}": {"allOf": [{"$ref": f"#/$defs/d{k + 1}"}] * 2} for k in range(60)}
    defs["d60"] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    with Watch(60):
        assert schema_grammar({"$ref": "#/$defs/d0", "$defs": defs, "unevaluatedProperties": False}).unenforced == ()


def many(spelled: Spelled) -> Callable[[], object]:
    return lambda: multiples.__wrapped__(Divisor.of(Fraction(9_973, 10_000)), spelled)


@pytest.mark.parametrize(
    "work",
    [
        many("plain"),
        many("large"),
        many("small"),
        lambda: words_program(f"word {k}" for k in range(2_000)),
    ],
    ids=["plain multiples", "large multiples", "small multiples", "words"],
)
def test_a_large_automaton_is_stopped(work: Callable[[], object]) -> None:
    with pytest.raises(LimitExceededError), Watch(10, clock=Looks(), patience=0):
        work()


def test_the_end_of_the_work_is_stopped() -> None:
    """Productions get numbers and names after the last question has been asked."""
    out = Productions()
    start = previous = out.nonterminal(VALUE, 0)
    for k in range(1, 2_000):
        following = out.nonterminal(VALUE, k)
        out.add(previous, out.terminal(k, "NAME", lambda k=k: Text("str", str(k))), following, following)  # type: ignore[misc]
        previous = following
    out.add(previous, out.terminal("end", "NAME", lambda: Text("str", "end")))
    with pytest.raises(LimitExceededError), Watch(20, clock=Looks(), patience=0):
        lower(out, start)


def test_time_is_no_reason_to_ask_for_less() -> None:
    """`lax` leaves out what makes an automaton too large, not what takes too long."""
    schema = {"type": "number", "allOf": [{"multipleOf": 97}, {"multipleOf": 89}]}
    with pytest.raises(LimitExceededError), Watch(60, clock=Looks(), patience=0):
        schema_grammar(schema, lax=True)
