"""What a look at schemas does not tell of them, and the search that does.

In: doubts, and an `Explorer`. Out: what the whole would note where it refuses nothing. Each doubt is settled as a
reading of the whole would settle it, with what the whole reads of these places only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pdacon._native import _core
from pdacon.base.cancelling import look, raise_if_out_of_time
from pdacon.errors import LimitExceededError, UnsupportedSchemaError
from pdacon.frontends.json_schema.documents import Place
from pdacon.frontends.json_schema.never_coming import notes_of_members
from pdacon.regular import FALSE

if TYPE_CHECKING:
    from pdacon.frontends.json_schema.exploring import Explorer

Notes: TypeAlias = dict[tuple[str, str, str], bool]
"""By pointer, keyword and why: whether the caller is to be warned."""
_Answer = TypeVar("_Answer")
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
    members_may_be_left_out : bool
        Whether it is known from the place of a member alone what follows if no value satisfies its schema.
    """

    values: list[tuple[Place, ...]] = field(default_factory=list)
    built: list[tuple[Place, ...]] = field(default_factory=list)
    members_may_be_left_out: bool = False

    def __bool__(self) -> bool:
        return bool(self.values or self.built)


def notes_of_doubts(doubts: Doubts, explorer: Explorer) -> Notes | None:
    """What the whole would note of the places that are in doubt; None: it would refuse them, or the search fails."""
    reader = explorer.reader
    if len(doubts.values) + len(doubts.built) > _MOST:
        return None
    conjunction = reader.facts.formulas.conjunction

    def search() -> Notes | None:
        for places in doubts.built:
            look()
            question = conjunction(*map(reader.question, places))
            for is_array, formulas, _ in explorer.family([question])[1]:
                explorer.container(is_array, formulas)
        questions = [conjunction(*map(reader.question, places)) for places in doubts.values]
        if _have_values(explorer, questions):
            return {}
        if not doubts.members_may_be_left_out:
            return None
        pairs = zip(questions, doubts.values, strict=True)
        never = [(question, places) for question, places in pairs if not _have_values(explorer, [question])]
        if any(explorer.questions.possible(question) for question, _ in never):
            return None  # of such members the whole looks for some only
        return notes_of_members(reader.documents.root, [place for _, (place,) in never])

    return _told(search)


def finds_a_value(explorer: Explorer) -> bool:
    """Whether a search finds a value of the schema; False also where it does not tell."""
    return _told(lambda: _have_values(explorer, [explorer.root])) or False


def _have_values(explorer: Explorer, questions: list[int]) -> bool:
    return FALSE not in questions and _core.have_values(explorer, questions, _MOST_PLACES)


def _told(search: Callable[[], _Answer]) -> _Answer | None:
    """What a search says; None where it does not tell: the whole is needed, or refused, or it takes too much."""
    try:
        return search()
    except (UnsupportedSchemaError, RecursionError, _core.NeedsWhole):
        return None
    except LimitExceededError as error:
        raise_if_out_of_time(error)
        return None
