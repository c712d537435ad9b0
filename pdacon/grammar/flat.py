"""Productions as flat arrays, as the native core takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]


class AnyProduction(Protocol):
    """What tables depend on of a production."""

    @property
    def lhs(self) -> int: ...
    @property
    def rhs(self) -> tuple[int, ...]: ...
    @property
    def priority(self) -> int: ...


@dataclass(frozen=True, slots=True, eq=False)
class FlatProductions:
    """Productions in arrays of int32; a grammar has its symbols' ids in them."""

    lhs: Numbers  # int32[P]
    offset: Numbers  # int32[P + 1]: the right-hand side of production k is ``rhs[offset[k]:offset[k + 1]]``
    rhs: Numbers  # int32[n]
    priority: Numbers  # int32[P]: ranks of the rules' priorities: equal where these are, and in their order

    @classmethod
    def of(cls, productions: Iterable[AnyProduction]) -> FlatProductions:
        records = list(productions)
        priorities = [p.priority for p in records]
        rank = {priority: k for k, priority in enumerate(sorted({*priorities}))}
        sides = [p.rhs for p in records]
        return cls(
            lhs=_array(p.lhs for p in records),
            offset=_array(accumulate(map(len, sides), initial=0)),
            rhs=_array(chain.from_iterable(sides)),
            priority=_array(map(rank.__getitem__, priorities)),
        )

    def __len__(self) -> int:
        return len(self.lhs)


def _array(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, dtype=np.int32)
