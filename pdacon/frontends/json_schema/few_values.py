"""The values that satisfy a question, where they are few enough to be told apart by an automaton.

In: a question about the items of an array. Out: its values; or in a few words why they cannot be listed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from pdacon.base.cancelling import raise_if_out_of_time
from pdacon.errors import LimitExceededError
from pdacon.frontends.json_schema import numbers, strings
from pdacon.frontends.json_schema.facts import Among, Facts, Integral, Type
from pdacon.frontends.json_schema.listed_containers import ListedContainers
from pdacon.frontends.json_schema.questions import Questions
from pdacon.frontends.json_schema.schema_formulas import Reader
from pdacon.regular import FALSE, TRUE

MOST_REMEMBERED = 64
"""Most values of which it can be remembered which have come, where states are made when a text comes to them."""
_MOST_LISTED = 1000
_MANY = "items can have more values than an automaton remembers"


def few_values(reader: Reader, questions: Questions, listed: ListedContainers, question: int) -> list[Any] | str:
    """The values that satisfy a question, or why they cannot be listed."""
    values: list[Any] = []
    constants: tuple[tuple[Type, Any], ...] = (("null", None), ("false", False), ("true", True))
    for kind, value in constants:
        if questions.meaning(question, kind) == TRUE:
            values.append(value)
    for kind in ("string", "number"):
        formula = questions.meaning(question, kind)
        some = [] if formula == FALSE else _strings(reader, formula) if kind == "string" else _numbers(reader, formula)
        if some is None:
            return _MANY
        values += some
    for kind in ("array", "object"):
        some = _containers(reader.facts, questions, listed, question, kind)
        if some is None:
            return f"items can be {kind}s that no enum lists, which no automaton remembers"
        values += some
    return values


def _strings(reader: Reader, formula: int) -> list[Any] | None:
    facts = reader.facts
    named = strings.named_strings(facts, [formula])
    values = set(strings.strings_among(facts, formula, named))
    rest = strings.unnamed(facts, formula)
    if rest != FALSE:
        try:
            more = None if rest == TRUE else strings.few_strings(strings.shape_of(facts, rest), _MOST_LISTED)
        except LimitExceededError as error:
            raise_if_out_of_time(error)
            more = None
        if more is None:
            return None
        values.update(text for text in more if text not in named)
    return sorted(values)


def _numbers(reader: Reader, formula: int) -> list[Any] | None:
    facts, formulas = reader.facts, reader.facts.formulas
    listed = {v for _, fact in facts.among(formula) if isinstance(fact, Among) for v in fact.values}
    values = {v for v in listed if not isinstance(v, str) and numbers.number_holds(facts, formula, v)}
    rest = strings.unnamed(facts, formula)
    integrals = [facts.holds(Integral(written)) for written in (False, True)]
    if rest != FALSE and rest not in integrals:
        if not any(formulas.implies(rest, integral) for integral in integrals):
            return None
        try:
            automaton = numbers.number_automaton(strings.shape_of(facts, rest), frozenset(), True, True)
            texts = automaton.words(_MOST_LISTED)
        except LimitExceededError as error:
            raise_if_out_of_time(error)
            texts = None
        if texts is None:
            return None
        values.update(number for number in map(Fraction, texts) if number not in listed)
    return None if rest in integrals else sorted(values)


def _containers(
    facts: Facts, questions: Questions, listed: ListedContainers, question: int, kind: Type
) -> list[Any] | None:
    """The arrays or objects that schemas list, if there are no others."""
    whole = questions.meaning(question, kind)
    if whole == FALSE:
        return []
    if listed.unlisted(whole) != FALSE:
        return None
    values = listed.among(whole)
    # A value too many does no harm, since no item is ever equal to it.
    left, _ = strings.narrowed(facts, whole, values.keys())
    return [value for key, value in values.items() if key in left] if len(left) <= _MOST_LISTED else None
