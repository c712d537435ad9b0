"""Whether formulas hold for one value that is known: what a schema says of the values that an enum lists.

In: questions, formulas over facts, and a value. Out: a Boolean. Other values are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pdacon.base.cancelling import every, look
from pdacon.frontends.json_schema import numbers, strings
from pdacon.frontends.json_schema.facts import (
    Facts,
    Has,
    Items,
    Listed,
    Matches,
    Members,
    MoreItemsThan,
    MoreMembersThan,
    Names,
    Repeats,
)
from pdacon.frontends.json_schema.json_values import kind_of, number_of
from pdacon.frontends.json_schema.listed_values import value_key
from pdacon.frontends.json_schema.pattern_words import pattern_words
from pdacon.frontends.json_schema.questions import Questions
from pdacon.regular import TRUE


class FittingPatterns:
    """Whether patterns match the names of members. It is remembered."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], bool] = {}

    def __call__(self, pattern: str, name: str) -> bool:
        """Whether a pattern matches a name."""
        known = self._known.get((pattern, name))
        if known is None:
            words = pattern_words(pattern)
            known = strings.pattern_automaton(Matches(pattern)).accepts(name) if words is None else name in words
            self._known[pattern, name] = known
        return known


class Holding:
    """Answers about values, for the questions of one reader; ``fits`` says whether a pattern matches a name."""

    def __init__(self, facts: Facts, questions: Questions, fits: Callable[[str, str], bool]) -> None:
        self._facts, self._questions, self._fits = facts, questions, fits

    def satisfies(self, question: int, value: Any) -> bool:
        """Whether a value satisfies a question. Its integers are those of Python."""
        return question == TRUE or self.holds(self._questions.meaning(question, kind_of(value)), value)

    def holds(self, formula: int, value: Any) -> bool:
        """Whether a formula over facts about values of its type holds for a value."""
        look()
        if isinstance(value, str):
            return strings.string_holds(self._facts, formula, value)
        if kind_of(value) == "number":
            return numbers.number_holds(self._facts, formula, number_of(value))
        fact_holds = self._of_object if isinstance(value, dict) else self._of_array
        return self._facts.formulas.evaluated(formula, lambda variable: fact_holds(self._facts[variable], value))

    def _of_object(self, fact: Any, value: dict[str, Any]) -> bool:
        if isinstance(fact, Listed):
            return value_key(value) in fact.values
        if isinstance(fact, Has):
            return fact.names <= value.keys()
        if isinstance(fact, MoreMembersThan):
            return len(value) > fact.count
        if isinstance(fact, Names):
            return all(strings.string_holds(self._facts, fact.formula, name) for name in value)
        assert isinstance(fact, Members)
        named = dict(fact.named)
        for name, part in every(value.items()):
            asked = [question for pattern, question in fact.matching if self._fits(pattern, name)]
            if name in named:
                asked.append(named[name])
            if not all(self.satisfies(question, part) for question in asked or [fact.others]):
                return False
        return True

    def _of_array(self, fact: Any, value: list[Any]) -> bool:
        if isinstance(fact, Listed):
            return value_key(value) in fact.values
        if isinstance(fact, Items):
            asked = [*fact.first, *[fact.rest] * (len(value) - len(fact.first))]
            return all(self.satisfies(question, item) for question, item in zip(asked, value, strict=False))
        if isinstance(fact, Repeats):
            return len({value_key(item) for item in value}) < len(value)
        assert isinstance(fact, MoreItemsThan)
        return sum(self.satisfies(fact.question, item) for item in value) > fact.count
