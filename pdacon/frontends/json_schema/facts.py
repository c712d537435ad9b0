"""Facts about one JSON value that a schema can state, each about values of one type.

A schema is a Boolean formula over facts, one formula for each type of value. `Facts` numbers the facts as variables of
one `Formulas`; a *question* is a formula over `Satisfies`, that is over schemas that another value may satisfy or not.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from pdacon.base.cancelling import look
from pdacon.regular import Formulas

Type: TypeAlias = Literal["null", "false", "true", "number", "string", "array", "object"]
TYPES: tuple[Type, ...] = ("null", "false", "true", "number", "string", "array", "object")
"""The types of values; those of ``boolean`` are told apart."""


Number: TypeAlias = int | Fraction
"""A number that a schema lists; an integer is an int, which is equal to the fraction."""


@dataclass(frozen=True, slots=True)
class Satisfies:
    """The value satisfies the schema of this number in the `Reader`. Of any type."""

    schema: int


@dataclass(frozen=True, slots=True)
class Among:
    """A string or a number is one of these; ``texts`` shows the numbers that a schema does not write as integers."""

    values: frozenset[str] | frozenset[Number]
    texts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Listed:
    """An array or an object is one of some, by the keys of ``listing.value_key``."""

    values: frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class Matches:
    """A pattern matches somewhere in a string; whole, if it comes from a ``format``."""

    pattern: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class LongerThan:
    """A string has more than this many code points."""

    length: int


@dataclass(frozen=True, slots=True)
class Integral:
    """A number is an integer; ``written``: and has neither a fraction nor an exponent, as up to draft 4."""

    written: bool = False


@dataclass(frozen=True, slots=True)
class Above:
    """A number is greater than a bound, or equal to it, if ``inclusive``."""

    bound: Fraction
    inclusive: bool


@dataclass(frozen=True, slots=True)
class Multiple:
    """A number is an integer times this one."""

    of: Fraction


@dataclass(frozen=True, slots=True)
class Members:
    """Every member of an object satisfies what is asked of its name.

    Attributes
    ----------
    named : tuple of (str, int)
        Questions for members of these names.
    matching : tuple of (str, int)
        Questions for members whose names match these patterns; several may apply, and those of ``named`` too.
    others : int
        The question for members to which none of these applies.
    """

    named: tuple[tuple[str, int], ...]
    matching: tuple[tuple[str, int], ...]
    others: int


@dataclass(frozen=True, slots=True)
class Names:
    """The name of every member, as a string, is as this formula over facts about strings says."""

    formula: int


@dataclass(frozen=True, slots=True)
class Has:
    """An object has members of all these names."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class MoreMembersThan:
    """An object has more than this many members."""

    count: int


@dataclass(frozen=True, slots=True)
class Items:
    """Every item of an array satisfies what is asked of its place: the first ones one by one, the rest alike."""

    first: tuple[int, ...]
    rest: int


@dataclass(frozen=True, slots=True)
class MoreItemsThan:
    """An array has more than this many items, or more than this many that satisfy a question."""

    count: int
    question: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """Two items of an array are equal, where `Items` asks these questions of them."""

    first: tuple[int, ...]
    rest: int


Fact: TypeAlias = (
    Satisfies | Among | Listed | Matches | LongerThan | Integral | Above | Multiple | Members | Names | Has
    | MoreMembersThan | Items | MoreItemsThan | Repeats
)  # fmt: skip


_RESERVED = Listed(frozenset())  # in place of facts that only the core knows


class Facts:
    """Facts as variables: the same fact is the same variable."""

    def __init__(self) -> None:
        self.formulas = Formulas()
        self._facts: list[Fact] = []
        self._numbers: dict[Fact, int] = {}

    def holds(self, fact: Fact) -> int:
        """The formula that a fact holds."""
        look()
        number = self._numbers.setdefault(fact, len(self._facts))
        if number == len(self._facts):
            self._facts.append(fact)
        return self.formulas.variable(number)

    def reserve(self, count: int) -> int:
        """Reserve variables, one after another, for facts that only the caller knows; the first of them."""
        first = len(self._facts)
        self._facts += [_RESERVED] * count
        return first

    def __getitem__(self, variable: int) -> Fact:
        """The fact that a variable stands for."""
        return self._facts[variable]

    def at_end(self, variable: int) -> bool:
        """Whether a fact about an object or an array holds if nothing more comes."""
        return isinstance(self._facts[variable], (Members, Names, Items))

    def among(self, *formulas: int) -> list[tuple[int, Fact]]:
        """The facts that formulas depend on, with their variables."""
        return [(variable, self._facts[variable]) for variable in self.formulas.support(formulas)]
