"""What a look at schemas does not tell of them, and the search that does.

In: doubts, and an `Explorer`. Out: whether all of them are unfounded. Each is settled as a reading of the whole would
settle it, with what the whole reads of these places only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pdacon._native import _core
from pdacon.base.cancelling import look, raise_if_out_of_time
from pdacon.errors import LimitExceededError, UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Place
from pdacon.regular import FALSE

if TYPE_CHECKING:
    from pdacon.frontends.json_schema.exploring import Explorer

_MOST_PLACES = 5_000  # of a search
_MOST = 200


@dataclass(slots=True)
class Doubts:
    """What a look does not tell.

    Attributes
    ----------
    values : list of tuple of Place
        Whether some value satisfies the schemas of all places.
    built : list of tuple of Place
        Whether automata of values that satisfy the schemas of all places are small enough, and whether what these ask
        of arrays and objects can be enforced.
    """

    values: list[tuple[Place, ...]] = field(default_factory=list)
    built: list[tuple[Place, ...]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.values or self.built)


def are_unfounded(doubts: Doubts, explorer: Explorer) -> bool:
    """Whether a search finds all that is in doubt to be as it should; False also where it does not tell."""
    reader = explorer.reader
    if len(doubts.values) + len(doubts.built) > _MOST:
        return False
    conjunction = reader.facts.formulas.conjunction

    def search() -> bool:
        for places in doubts.built:
            look()
            question = conjunction(*map(reader.question, places))
            for is_array, formulas, _ in explorer.family([question])[1]:
                explorer.container(is_array, formulas)
        return _have_values(explorer, [conjunction(*map(reader.question, places)) for places in doubts.values])

    return _tells(search)


def finds_a_value(explorer: Explorer) -> bool:
    """Whether a search finds a value of the schema; False also where it does not tell."""
    return _tells(lambda: _have_values(explorer, [explorer.root]))


def _have_values(explorer: Explorer, questions: list[int]) -> bool:
    return FALSE not in questions and _core.have_values(explorer, questions, _MOST_PLACES)


def _tells(search: Callable[[], bool]) -> bool:
    """What a search says; False where it does not tell: the whole is needed, or refused, or it takes too much."""
    try:
        return search()
    except (UnsupportedSchemaError, RecursionError, _core.NeedsWhole):
        return False
    except LimitExceededError as error:
        raise_if_out_of_time(error)
        return False
