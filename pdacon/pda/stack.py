"""The parser's stack as a value: what lies below is shared, so that a push or a pop costs the same at any depth."""

from __future__ import annotations

from collections.abc import Iterator


class Stack:
    """LR states. Frozen, comparable and hashable.

    Attributes
    ----------
    state : int
        The one on top.
    below : Stack or None
        What lies below it; None: it is the start state.

    Notes
    -----
    Iterates from the start state to the top. Comparing stacks costs no more than where they have been pushed apart.
    """

    __slots__ = ("_hash", "_length", "below", "state")

    def __init__(self, state: int, below: Stack | None = None) -> None:
        self.state = state
        self.below = below
        self._length: int = 1 if below is None else below._length + 1
        self._hash: int = hash((state, None if below is None else below._hash))

    def push(self, state: int) -> Stack:
        """With a state on top."""
        return Stack(state, self)

    def pop(self, count: int) -> Stack:
        """Without the topmost states, which are fewer than all."""
        left = self
        for _ in range(count):
            assert left.below is not None
            left = left.below
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
        one: Stack | None = self
        two: Stack | None = other
        while one is not two:
            if one is None or two is None or (one._hash, one.state) != (two._hash, two.state):
                return False
            one, two = one.below, two.below
        return True

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<{' '.join(map(str, self))}>"
