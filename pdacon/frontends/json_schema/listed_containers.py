"""Arrays and objects that schemas list: one terminal for their texts, where nothing else may stand in their place.

In: what questions say of arrays, or of objects. Out: for each question the texts of the values that satisfy it; or
formulas that say the same without lists, where other values may stand there, or the spelling leaves more than one text
open.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

from pdacon.base.cancelling import every
from pdacon.frontends.json_schema import numbers, strings
from pdacon.frontends.json_schema.facts import Listed
from pdacon.frontends.json_schema.holding import Holding
from pdacon.frontends.json_schema.json_values import kind_of
from pdacon.frontends.json_schema.schema_formulas import Reader
from pdacon.frontends.json_schema.spelling import Spelling
from pdacon.regular import FALSE, Substitution


class ListedContainers:
    """The arrays and objects that the schemas of a reader list."""

    def __init__(self, reader: Reader, spelling: Spelling, holding: Holding, is_json: bool) -> None:
        self._reader, self._facts, self._holding = reader, reader.facts, holding
        self._separators = spelling.comma, spelling.colon
        self._ascii = spelling.escapes == "ascii"
        is_fixed = spelling.has_one_layout and spelling.escapes != "any" and spelling.integers == "plain"
        self._is_fixed = is_json and is_fixed and spelling.order == "schema" and not spelling.excludes
        self._spelled_out: dict[int, int] = {}

    def texts(self, meanings: dict[int, int]) -> dict[int, list[str]] | None:
        """By question the texts of its values; None: there are others than those that are listed, or none is."""
        facts = self._facts
        if not self._is_fixed or self.unlisted(facts.formulas.disjunction(*meanings.values())) != FALSE:
            return None
        listed = self.among(*meanings.values())
        if not all(map(_has_one_text, every(listed.values()))):
            return None
        found: dict[int, list[str]] = {}
        for question, formula in meanings.items():
            left, certain = strings.narrowed(facts, formula, listed.keys())
            values = [value for key, value in every(listed.items()) if key in left]
            values = [value for value in values if certain or self._holding.holds(formula, value)]
            if values:
                found[question] = [self._text(value) for value in every(values)]
        return found

    def among(self, *formulas: int) -> dict[Hashable, Any]:
        """The values that formulas list, by their keys, in the order of the schema."""
        keys = {key for _, fact in self._facts.among(*formulas) if isinstance(fact, Listed) for key in fact.values}
        return {key: value for key, value in every(self._reader.listed.items()) if key in keys}

    def unlisted(self, formula: int) -> int:
        """What a formula says of values that are listed nowhere."""
        facts = self._facts
        lists = [variable for variable, fact in facts.among(formula) if isinstance(fact, Listed)]
        return facts.formulas.replaced([formula], lists, FALSE)[0] if lists else formula

    def spelled_out(self, meanings: dict[int, int]) -> dict[int, int]:
        """The formulas, in facts about items and members in place of those about whole values."""
        formulas = self._facts.formulas
        if not any(isinstance(fact, Listed) for _, fact in self._facts.among(*meanings.values())):
            return meanings
        said = Substitution(formulas, self._said).all([*meanings.values()])
        return {question: formula for question, formula in zip(meanings, said, strict=True) if formula != FALSE}

    def _said(self, variable: int) -> int:
        fact, formulas = self._facts[variable], self._facts.formulas
        if not isinstance(fact, Listed):
            return formulas.variable(variable)
        if variable not in self._spelled_out:
            values = [value for key, value in every(self._reader.listed.items()) if key in fact.values]
            self._spelled_out[variable] = formulas.disjunction(*[self._reader.exactly(value) for value in values])
        return self._spelled_out[variable]

    def _text(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self._ascii, separators=self._separators)


def _has_one_text(value: Any) -> bool:
    """Whether a value has one spelling: it has no numbers but integers, and not too large ones."""
    pending = [value]
    for part in every(pending):  # grows
        if isinstance(part, dict):
            pending += part.values()
        elif isinstance(part, list):
            pending += part
        elif kind_of(part) == "number" and (not isinstance(part, int) or abs(part) >= numbers.LARGE):
            return False
    return True
