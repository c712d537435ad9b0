"""What questions say of values of each type, and whether any value might satisfy one.

In: questions, which are formulas over schemas, and a `Reader`. Out: formulas over facts about values of one type. The
core combines what it is told of each schema and each fact, once (``frontends/questions.hpp``).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pdacon._native import _core
from pdacon.base.cancelling import every
from pdacon.frontends.json_schema import numbers, strings
from pdacon.frontends.json_schema.facts import Among, Satisfies, Type
from pdacon.frontends.json_schema.schema_formulas import Reader, base_of
from pdacon.regular import FALSE


class Questions:
    """Answers about the questions of one reader.

    Attributes
    ----------
    native : _core.Questions
        What is known so far. It asks the methods below that end in ``of`` and `holds_for_any`, with types as numbers.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader, self._facts = reader, reader.facts
        self._types = reader.types
        self._number = {kind: k for k, kind in enumerate(self._types)}
        self._values: dict[Any, int] = {}
        self._keys: dict[Hashable, int] = {}
        scalar = [base_of(kind) in ("string", "number") for kind in self._types]
        self.native = _core.Questions(reader.facts.formulas, scalar)

    def kinds(self, question: int) -> list[Type]:
        """The types of which a value may satisfy a question, as far as that is plain."""
        return [self._types[number] for number in self.native.types(self, question)]

    def meaning(self, question: int, kind: Type) -> int:
        """A question as a formula over facts about values of one type."""
        return self.native.meaning(self, question, self._number[kind])

    def meanings(self, family: Sequence[int], kind: Type) -> dict[int, int]:
        """The same for several questions, without those that no value of the type satisfies."""
        return self.native.meanings(self, family, self._number[kind])

    def possible(self, question: int) -> bool:
        """Whether any value might satisfy a question: no only where that is plain."""
        return self.native.possible(self, question)

    def _schema(self, variable: int) -> int:
        fact = self._facts[variable]
        assert isinstance(fact, Satisfies)
        return fact.schema

    def types_of(self, variable: int) -> list[int]:
        """The types that a schema allows, as far as that is plain; ascending."""
        return sorted(self._number[kind] for kind in self._reader.plain_types(self._schema(variable)))

    def meaning_of(self, variable: int, number: int) -> int:
        """What a schema says of values of one type."""
        return self._reader.formula(self._schema(variable), self._types[number])

    def values_of(self, variable: int) -> list[int] | None:
        """The values that a fact lists, as numbers in order; None if it is no list."""
        fact, values = self._facts[variable], self._values
        if not isinstance(fact, Among):
            return None
        return sorted(values.setdefault(value, len(values)) for value in fact.values)

    def listed_by(self, variable: int) -> list[int] | None:
        """The values that a schema takes, as numbers in order; None if it does not list them."""
        keys = self._reader.listed_values(self._schema(variable))
        if keys is None:
            return None
        numbers = self._keys
        return sorted(numbers.setdefault(key, len(numbers)) for key in every(keys))

    def holds_for_any(self, formula: int, number: int) -> bool:
        """Whether a formula about strings or numbers holds for any of them: no only where that is plain."""
        facts = self._facts
        if strings.unnamed(facts, formula) != FALSE:
            return True
        if base_of(self._types[number]) == "string":
            named = strings.named_strings(facts, [formula])
            return bool(strings.strings_among(facts, formula, named))
        listed = {v for _, fact in facts.among(formula) if isinstance(fact, Among) for v in fact.values}
        return any(
            numbers.number_holds(facts, formula, v, whole=whole)
            for v in listed
            if not isinstance(v, str)
            for whole in (True, False)
        )
