"""Long lexemes, read by configurations that remember their steps.

Within a lexeme the parser's stack stays as it is, and a long lexeme comes back to few threads. So what a byte makes of
a configuration is found once, and looked up from then on: an automaton is made, as far as the text leads into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, reduce
from itertools import accumulate
from operator import getitem, length_hint

from pdacon.pda.configuration import Configuration

_MOST_OPEN = 48  # matches that are not certain
_MOST_NODES = 20_000  # configurations that are remembered
_LONG = 1 << 12  # bytes of a lexeme beside the one that is read; more are not counted
_UNKNOWN = 1 << 60  # a length that no lexeme has


class LexemeReader:
    """Reads on from configurations. What it knows of their steps it keeps.

    Matches that are not certain nest: after each there may be another one. Of more than 48 the last ones are
    forgotten, which bounds the cost of a byte and the depth of recursion. What is read is still right as long as the
    lexeme that has been begun does not turn out to be one of those.

    Attributes
    ----------
    forgot : bool
        Whether matches have been forgotten.

    Notes
    -----
    Cost: that of `Configuration.step` for each byte that has not been read in such a configuration before, and a look
    into a dictionary for every other one. The columns of a newline are told apart.
    """

    def __init__(self) -> None:
        self.forgot = False
        self._nodes: dict[tuple[object, ...], _Node] = {}

    def read(self, configuration: Configuration, text: bytes) -> Configuration | None:
        """As ``configuration.read(text)``, but for `Configuration.last`."""
        node, length = self._node(configuration), configuration.length
        rest = iter(text)
        while True:
            left = length_hint(rest)
            try:
                node = reduce(getitem, rest, node)
            except _OverError as over:
                if over.after is None:
                    return None
                node, length = over.node, over.after.length
            else:
                return replace(node.configuration, length=length + left)

    def last_match(self, configuration: Configuration, text: bytes) -> tuple[int, int, Configuration] | None:
        """The last place of a text, read from between two lexemes, where a thread matches.

        Returns
        -------
        tuple of (int, int, Configuration) or None
            The terminal, how many bytes there are up to the end of the match, and the configuration before the last of
            them. None if there is no such place.
        """
        nodes: list[_Node] = []
        node: _Node | None = self._node(configuration)
        rest = iter(text)
        while node is not None:
            ways, node = accumulate(rest, getitem, initial=node), None
            try:
                for each in ways:
                    nodes.append(each)  # noqa: PERF402 - what was found before an error counts
            except _OverError as over:
                node = None if over.after is None else over.node
        for index in reversed(range(min(len(nodes), len(text)))):
            terminal = nodes[index].match(text[index])
            if terminal is not None:
                return terminal, index + 1, nodes[index].configuration
        return None

    def _node(self, configuration: Configuration) -> _Node:
        """What stands for a configuration, whatever the length of its lexeme."""
        alike = replace(self._with_few_matches(configuration), length=_UNKNOWN, last=None)
        key = alike, *(min(other.length, _LONG) for other in _others(alike))
        node = self._nodes.get(key)
        if node is None:
            if len(self._nodes) == _MOST_NODES:
                self._nodes.clear()
            node = self._nodes[key] = _Node(self, alike)
        return node

    def _with_few_matches(self, configuration: Configuration) -> Configuration:
        """With the first of the matches that are not certain."""
        left = _MOST_OPEN

        def kept(ended: Configuration | None) -> Configuration | None:
            nonlocal left
            if ended is None:
                return None
            left -= 1
            self.forgot = self.forgot or left < 0
            return None if left < 0 else pruned(ended)

        def pruned(of: Configuration) -> Configuration:
            threads = tuple((thread, kept(ended)) for thread, ended in of.threads)
            fallback = kept(of.fallback)
            if fallback is of.fallback and all(a[1] is b[1] for a, b in zip(threads, of.threads, strict=True)):
                return of
            return replace(of, threads=threads, fallback=fallback)

        return pruned(configuration)


class _OverError(Exception):
    """A lexeme is over: what the text is then, or None."""

    def __init__(self, after: Configuration | None, reader: LexemeReader) -> None:
        super().__init__()
        self.after = after
        self._reader = reader

    @cached_property
    def node(self) -> _Node:
        assert self.after is not None
        return self._reader._node(self.after)


class _Node(dict[int, "_Node"]):
    """A configuration, and where bytes lead to that have been read in it."""

    __slots__ = ("_matches", "_over", "_reader", "configuration")

    def __init__(self, reader: LexemeReader, configuration: Configuration) -> None:
        super().__init__()
        self._reader = reader
        self._matches: dict[int, int | None] = {}
        self._over: dict[int, _OverError] = {}
        self.configuration = configuration

    def __missing__(self, byte: int) -> _Node:
        if byte not in self._over:
            after = self.configuration.step(byte)
            if after is not None and after.length == _UNKNOWN + 1:
                node = self[byte] = self._reader._node(after)
                return node
            self._over[byte] = _OverError(after, self._reader)
        raise self._over[byte].with_traceback(None)

    def match(self, byte: int) -> int | None:
        if byte not in self._matches:
            self._matches[byte] = self.configuration.match(byte)
        return self._matches[byte]


def _others(configuration: Configuration) -> Iterator[Configuration]:
    """The alternatives of a configuration but itself."""
    alternatives = configuration.alternatives()
    next(alternatives)
    return alternatives
