"""What a cache has in memory: constraints and refusals by key, as many as may need so many bytes together.

In: constraints, and errors in place of those that cannot be made. Out: the same, those used last; what was used
longest ago goes first.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from gc import get_referents
from itertools import islice
from sys import getsizeof
from types import ModuleType
from typing import TypeVar

from pdacon.base.cancelling import raise_if_out_of_time
from pdacon.errors import CancelledError, PdaconError
from pdacon.front.constraint import Constraint

_Constraint = TypeVar("_Constraint", bound=Constraint | bytes | None)
_COUNTED_AGAIN = 4  # with each call, of the constraints counted last, and of those counted longest ago


class KeptConstraints:
    """Constraints and refusals, bounded by bytes. For one thread at a time.

    Attributes
    ----------
    total : int
        Bytes that all need, as they were counted last. What is made on demand grows in use: each call counts those
        again that were counted last, which have been used since, and some that were counted longest ago.
    evictions : int
        How many went to make room.
    """

    def __init__(self, max_bytes: int) -> None:
        self.total = self.evictions = 0
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, Constraint | PdaconError] = OrderedDict()  # used longest ago first
        self._needed: OrderedDict[str, int] = OrderedDict()  # counted longest ago first

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __getitem__(self, key: str) -> Constraint | PdaconError:
        """What is kept under a key; it counts as used."""
        entry = self._entries[key]
        self._entries.move_to_end(key)
        self._needed.move_to_end(key)
        self._make_room()
        return entry

    def keep(self, key: str, entry: Constraint | PdaconError, needed: int) -> None:
        """Keep one that needs so many bytes now; `needed_by` tells, which can take some milliseconds."""
        self._entries[key] = entry
        self._count(key, needed)
        self._make_room()

    def clear(self) -> None:
        self._entries.clear()
        self._needed.clear()
        self.total = 0

    def _count(self, key: str, needed: int) -> None:
        self.total += needed - self._needed.pop(key, 0)
        self._needed[key] = needed

    def _make_room(self) -> None:
        last, first = islice(reversed(self._needed), _COUNTED_AGAIN), islice(self._needed, _COUNTED_AGAIN)
        for key in dict.fromkeys([*first, *reversed(list(last))]):
            entry = self._entries[key]
            if isinstance(entry, Constraint):  # an error does not grow
                self._count(key, needed_by(entry))
        while self.total > self._max_bytes:
            oldest, _ = self._entries.popitem(last=False)
            self.total -= self._needed.pop(oldest)
            self.evictions += 1


def needed_by(entry: Constraint | PdaconError) -> int:
    """The bytes that a constraint needs, or an error: those of its report, if any, which is data and nothing else."""
    if isinstance(entry, Constraint):
        return max(1, entry.nbytes)  # of what is read on demand nothing may be made yet
    needed, counted, left = 0, {id(entry)}, [entry]
    while left:
        needed += getsizeof(one := left.pop())
        for part in get_referents(one):
            if id(part) not in counted and not isinstance(part, type | ModuleType):
                counted.add(id(part))
                left.append(part)
    return needed


def made_or_refused(make: Callable[[], _Constraint]) -> _Constraint | PdaconError:
    """A constraint, or why there is none, if the same would go wrong again."""
    try:
        return make()
    except CancelledError:
        raise
    except PdaconError as error:
        raise_if_out_of_time(error)
        return copy.copy(error)  # without the frames in which it was raised, and all that these hold


def given_again(found: Constraint | PdaconError) -> Constraint:
    """A constraint as it is; an error is raised as a copy, since what is raised is changed by that."""
    if isinstance(found, PdaconError):
        raise copy.copy(found)
    return found
