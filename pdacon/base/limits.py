"""`Limits`: how much work a grammar may cause."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat, SupportsIndex

_MOST_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work a grammar may cause. Exceeding one raises `LimitExceededError` with its name.

    Attributes
    ----------
    states : int
        Most states of any one automaton: LR states, lexer states, and what their products need. What a terminal is
        that comes as an automaton, such as 100,000 choices or the substrings of a document, was counted when that was
        made: there may be as many more.
    seconds : float
        Most time for ``compile``, in seconds; 0: no limit. Masks computed later are not counted. ``eager`` stops then
        and keeps the masks that it has. The trie of a vocabulary, made at its first use, is made to the end in any
        case (about 0.1 s for 131,072 tokens).
    bytes : int
        Most memory that each stage of ``compile`` takes in the native core: the parse tables, the lexing automaton, and
        for each start symbol the token-level PDA. The same holds later for the masks of a start symbol and what they
        are made from (token classes, answers by stack), during generation as well: what can be made again is forgotten
        when there is no room left; masks have to stay, because their ids do. What batches keep of steps takes up to a
        sixteenth of it besides. 0: no limit.
    depth : int
        Most LR states on a matcher's stack; 0: no limit.
    columns : int
        In a grammar with a postlex, the greatest column for whose lines ``eager`` computes masks; at most 16. Each
        more doubles the sets of open blocks that there can be.
    """

    states: int = 100_000
    seconds: float = 0.0
    bytes: int = 1 << 29
    depth: int = 10_000_000
    columns: int = 4

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if type(value) is (float if name == "seconds" else int) and 0 <= value < 1 << 62:
                continue
            wanted, kind = (SupportsFloat, "a number") if name == "seconds" else (SupportsIndex, "a whole number")
            if isinstance(value, bool) or not isinstance(value, wanted):
                raise TypeError(f"Limits({name}=...) must be {kind}, not {type(value).__name__}")
            python: Callable[[Any], float] = float if name == "seconds" else operator.index
            number = python(value)  # NumPy's numbers are numbers too
            if not 0 <= number < 1 << 62:
                raise ValueError(f"Limits({name}=...) must be at least 0 and less than 2**62, got {number}")
            object.__setattr__(self, name, number)
        if self.columns > _MOST_COLUMNS:
            raise ValueError(f"Limits(columns=...) must be at most {_MOST_COLUMNS}, got {self.columns}")

    def are_no_lower_than(self, other: Limits) -> bool:
        """Whether they allow all work that others allow, however long it takes."""
        own, others = (self.states, self.bytes), (other.states, other.bytes)
        return all(limit == 0 or 0 < least <= limit for limit, least in zip(own, others, strict=True))

    def beside(self, states: int) -> Limits:
        """The limits with room for so many states of automata that are there already."""
        return replace(self, states=self.states + states) if self.states and states else self


LARGE = Limits(states=1_000_000)
"""For what is not asked of a user's limits."""
