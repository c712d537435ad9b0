"""The parser's stack as a value: what lies below is shared, so that a push or a pop costs the same at any depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Stack:
    """LR states. Frozen, comparable and hashable.

    Attributes
    ----------
    state : int
        The one on top.

    Notes
    -----
    Iterates from the start state to the top. Comparing stacks costs no more than where they have been pushed apart.
    """

    __slots__ = ("_below", "_length", "_states", "state")

    def __init__(self, state: int, below: Stack | None = None) -> None:
        self.state = state
        self._below = below
        self._states: Sequence[int] | None = None
        self._length: int = 1 if below is None else below._length + 1

    @classmethod
    def of(cls, states: Sequence[int]) -> Stack:
        """A stack of at least one state, the start state first. It is made from its top as far as it is looked at."""
        return cls._beginning(states, len(states))

    @classmethod
    def _beginning(cls, states: Sequence[int], length: int) -> Stack:
        made = cls(int(states[length - 1]))
        made._length, made._states = length, states
        return made

    @property
    def below(self) -> Stack | None:
        """What lies below the top; None: that is the start state."""
        if self._below is None and self._states is not None and self._length > 1:
            self._below = self._beginning(self._states, self._length - 1)
        return self._below

    def push(self, state: int) -> Stack:
        """With a state on top."""
        return Stack(state, self)

    def pop(self, count: int) -> Stack:
        """Without the topmost states, which are fewer than all."""
        left = self
        for _ in range(count):
            below = left.below
            assert below is not None
            left = below
        return left

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        return reversed(list(self._downwards()))

    def _downwards(self) -> Iterator[int]:
        at: Stack | None = self
        while at is not None:
            yield at.state
            at = at.below

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stack):
            return NotImplemented
        if self._length != other._length:
            return False
        one: Stack | None = self
        two: Stack | None = other
        while one is not two:
            if one is None or two is None or one.state != two.state:
                return False
            one, two = one.below, two.below
        return True

    def __hash__(self) -> int:
        return hash((self.state, self._length))

    def __repr__(self) -> str:
        return f"<{' '.join(map(str, self))}>"
