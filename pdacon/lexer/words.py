"""Long lists of words -> Program, without the detour by Python's pattern parser.

A pattern of the form ``(?ai:(?:word|word|...)(?![class])|word|...)``, as frontends write it for hundreds of names, or
of such lists behind prefixes, ``(?ai:(?:prefix|...)\\.(?:list)|(?:prefix|...)\\.(?:list)|...)``, takes
`patterns.compile_pattern` 20 us a state. The states are those of a trie whose equal ends are one, and here NumPy lays
out all of them at once. The form is read off the pattern's text; whatever departs from it, or needs the order of its
alternatives to mean what it means, is left to the general way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdacon.errors import LimitExceededError
from pdacon.lexer.program import BYTES, MATCH, SPLIT, Program

_FEW, _LARGE = 16, 1 << 26
"""Fewer words are not worth it; more bytes, counted in equal widths, are not to be held at once."""

_TEXT = r"(?:[^\\()]|\\.)+"
_LIST = rf"(?:\(\?:(?P<bounded>{_TEXT})\)(?P<tail>\(\?!\[(?:[^\\\]]|\\.)+\]\))(?:\||(?=\))|$))?(?P<closed>{_TEXT})?"
_FORM = re.compile(_LIST, re.DOTALL)
_PREFIXED = re.compile(rf"\(\?:(?P<prefixes>{_TEXT})\)\\\.\(\?:{_LIST}\)(?:\||$)", re.DOTALL)
_ESCAPE = re.compile(r"\\([^0-9A-Za-z])", re.DOTALL)
_SPECIAL = re.compile(r"[\\()\[\]{}*+?.^$]")


@dataclass(frozen=True, slots=True)
class _List:
    """Words behind prefixes: those behind which the tail comes, and those that end by themselves."""

    prefixes: list[bytes]
    bounded: list[bytes]
    closed: list[bytes]


def words_program(regexp: str, compile_pattern: Callable[[str], Program], limit: int) -> Program | None:
    """The Program of a pattern of many words; None where it is of another form, or too large.

    ``compile_pattern`` lowers the pattern of one word, for what comes behind each.

    Raises
    ------
    LimitExceededError
        More than ``limit`` states.
    """
    read = _lists(regexp[5:-1]) if regexp.startswith("(?ai:") and regexp.endswith(")") else None
    if read is None:
        return None
    lists, after = read
    # Of the prefixes of a list the first one stands for all; the others lead to where it leads.
    words = {some.prefixes[0] + word: 1 for some in lists for word in some.closed}
    words |= {some.prefixes[0] + word: 2 for some in lists for word in some.bounded}
    links = {prefix: 3 + at for at, some in enumerate(lists) for prefix in some.prefixes[1:]}
    texts = sorted([*words, *links])
    if len(words) < _FEW or len(texts) * max(map(len, texts)) > _LARGE:
        return None
    tail = compile_pattern(f"(?ai:(?:x){after})")
    if len(tail.entries) != 1 or len(tail) > 16:
        return None
    trie = _trie(texts, [words.get(text) or links[text] for text in texts])
    place = {text: at for at, text in enumerate(texts)}
    shared = [(place[some.prefixes[0] + (some.closed or some.bounded)[0]], len(some.prefixes[0])) for some in lists]
    program = _grafted(trie, np.array([trie.path[at, length - 1] if length else 0 for at, length in shared]), tail)
    if len(program) > limit:  # the general way makes more of them
        raise LimitExceededError("states", len(program), limit)
    return program


def _lists(value: str) -> tuple[list[_List], str] | None:
    """The lists of a pattern, and what comes behind a bounded word; None where it is of another form."""
    whole = _FORM.fullmatch(value)
    found = [whole] if whole else [*_PREFIXED.finditer(value)]
    if not whole and (not found or sum(len(part[0]) for part in found) < len(value) or value.endswith("|")):
        return None
    lists, tails = [], set()
    for part in found:
        bounded, closed = _words(part["bounded"]), _words(part["closed"])
        prefixes = [b""] if whole else _words(part["prefixes"])
        if bounded is None or closed is None or not prefixes or not (bounded or closed):
            return None
        if not _order_is_free(bounded, closed):
            return None
        lists.append(_List(prefixes if whole else [prefix + b"." for prefix in prefixes], bounded, closed))
        tails |= {part["tail"]} - {None}
    ordered = sorted(prefix for some in lists for prefix in some.prefixes)
    if len(tails) > 1 or any(second.startswith(first) for first, second in pairwise(ordered)):
        return None
    return lists, "".join(tails)


def _words(alternatives: str | None) -> list[bytes] | None:
    """The words between the bars, without case; None if there is more to them than characters."""
    if not alternatives:
        return []
    if "\0" in alternatives or _SPECIAL.search(_ESCAPE.sub("", alternatives)) is not None:
        return None
    plain = _ESCAPE.sub(lambda escape: "\0" if escape[1] == "|" else escape[1], alternatives)
    words = [word.replace(b"\0", b"|") for word in plain.encode().lower().split(b"|")]
    return words if all(words) else None


def _order_is_free(bounded: Sequence[bytes], closed: Sequence[bytes]) -> bool:
    """Whether the first match is the longest: longer words come first, and no word of one kind begins another."""
    if any(first <= second for first, second in pairwise(bounded)):
        return False
    beginnings = set(bounded)
    if len(set(closed)) < len(closed):
        return False
    first = {word[0] for word in bounded}
    if any(word[:end] in beginnings for word in closed if word[0] in first for end in range(1, len(word) + 1)):
        return False
    ordered = sorted([*bounded, *closed])
    followers = dict(pairwise(ordered))
    return not any(followers.get(word, b"").startswith(word) for word in closed)


@dataclass(frozen=True, slots=True)
class _Trie:
    """Nodes in preorder, 0 the root.

    ``parent``, ``byte`` and ``depth`` of node k + 1 are at k: where it hangs, the byte that leads to it, the length of
    what it has read. ``path`` has the nodes of each text. ``ends`` has the last node of each, and ``kinds`` what it is:
    1 a word that ends by itself, 2 one that the tail follows, 3 + k a prefix of list k.
    """

    parent: NDArray[np.int64]
    byte: NDArray[np.uint8]
    depth: NDArray[np.int64]
    path: NDArray[np.int64]
    ends: NDArray[np.int64]
    kinds: NDArray[np.int64]


def _trie(words: Sequence[bytes], kinds: Sequence[int]) -> _Trie:
    """Of distinct texts in ascending order."""
    lengths = np.array([len(word) for word in words])
    width = int(lengths.max())
    letters = np.frombuffer(b"".join(word.ljust(width, b"\0") for word in words), np.uint8).reshape(-1, width)
    there = np.arange(width) < lengths[:, None]
    shared = np.zeros_like(there)
    shared[1:] = np.logical_and.accumulate((letters[1:] == letters[:-1]) & there[1:] & there[:-1], axis=1)
    fresh = there & ~shared
    number = np.where(fresh, np.cumsum(fresh.reshape(-1)).reshape(fresh.shape), 0)
    # Numbers grow from row to row, so that what a row shares with the one before is the last number above.
    node = np.maximum.accumulate(number, axis=0)
    before = np.hstack([np.zeros((len(words), 1), node.dtype), node[:, :-1]])
    depth = np.broadcast_to(np.arange(1, width + 1), fresh.shape)[fresh]
    ends = node[np.arange(len(words)), lengths - 1]
    return _Trie(before[fresh], letters[fresh], depth, node, ends, np.array(kinds))


def _representatives(trie: _Trie) -> NDArray[np.int64]:
    """For each node the first one behind which the same can follow.

    Nodes are grouped by a hash of what follows, from the leaves to the root. Groups in which the hash has thrown
    together what differs are told by comparing each node with its representative: then no nodes are merged.
    """
    nodes = len(trie.parent) + 1
    end = np.zeros(nodes, np.uint64)
    end[trie.ends] = trie.kinds
    following = _mixed(end)
    by_depth = np.argsort(trie.depth, kind="stable")
    for at in reversed(np.split(by_depth, np.cumsum(np.bincount(trie.depth))[1:-1])):
        # In preorder the children of a node at one depth follow each other.
        parent = trie.parent[at]
        begin = np.flatnonzero(np.diff(parent, prepend=-1))
        following[parent[begin]] += np.add.reduceat(_mixed(_mixed(following[at + 1]) + trie.byte[at]), begin)
    _, first, group = np.unique(following, return_index=True, return_inverse=True)
    same = first[group.reshape(-1)]

    children = np.bincount(trie.parent, minlength=nodes)
    order = np.lexsort((trie.byte, trie.parent))
    begin = np.concatenate([[0], np.cumsum(children)])
    source, byte, target = trie.parent[order], trie.byte[order], same[order + 1]
    if not (np.array_equal(end, end[same]) and np.array_equal(children, children[same])):
        return np.arange(nodes)
    other = begin[same[source]] + np.arange(len(order)) - begin[source]
    if not (np.array_equal(byte, byte[other]) and np.array_equal(target, target[other])):
        return np.arange(nodes)
    return same


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of each value (the end of splitmix64)."""
    values = (values + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _grafted(trie: _Trie, behind_prefix: NDArray[np.int64], tail: Program) -> Program:
    """The trie with equal ends merged, and with what follows a word behind its last node.

    ``behind_prefix`` has the node of each list, to which all its prefixes lead.

    State k is node k, a ``BYTES`` state; then come a ``SPLIT`` for each word that begins longer ones, and the tail's
    states less its first.
    """
    nodes = len(trie.parent) + 1
    same = _representatives(trie)
    links = trie.kinds > 2
    same[trie.ends[links]] = same[behind_prefix[trie.kinds[links] - 3]]
    ends, closed = trie.ends[~links], trie.kinds[~links] == 1
    inner = np.zeros(nodes, np.bool_)
    inner[same[trie.parent]] = True
    begins = np.unique(same[ends[inner[same[ends]]]])
    behind = nodes + len(begins)
    (match,) = np.flatnonzero(tail.kind == MATCH).tolist()
    moved = np.arange(len(tail)) + behind - 1  # its entry is state 0, and nothing leads there
    entered = np.arange(nodes)
    entered[ends] = np.where(closed, moved[match], moved[tail.target[0]])
    entered[begins] = nodes + np.arange(len(begins))

    kept = same[trie.parent] == trie.parent
    parent, byte, child = trie.parent[kept], trie.byte[kept], same[1:][kept]
    letter = (byte >= ord("a")) & (byte <= ord("z"))
    source = np.concatenate([parent, parent[letter]])
    target = entered[np.concatenate([child, child[letter]])]
    byte = np.concatenate([byte, byte[letter] - 32])
    order = np.lexsort((byte, source))
    source, byte, target = source[order], byte[order], target[order]

    splits = np.column_stack([begins, np.full(len(begins), moved[tail.target[0]])]).reshape(-1)
    first = int(tail.offset[1])
    counts = np.concatenate([np.bincount(source, minlength=nodes), np.full(len(begins), 2), np.diff(tail.offset)[1:]])
    kind = np.concatenate([np.full(nodes, BYTES), np.full(len(begins), SPLIT), tail.kind[1:]])
    none = np.zeros(len(splits), np.uint8)
    return _without_leaves(
        kind,
        counts,
        np.concatenate([byte, none, tail.lo[first:]]),
        np.concatenate([byte, none, tail.hi[first:]]),
        np.concatenate([target, splits, moved[tail.target[first:]]]),
        np.concatenate([inner, np.ones(behind - nodes + len(tail) - 1, np.bool_)]),
    )


def _without_leaves(
    kind: NDArray[np.int64],
    counts: NDArray[np.int64],
    lo: NDArray[np.uint8],
    hi: NDArray[np.uint8],
    target: NDArray[np.int64],
    kept: NDArray[np.bool_],
) -> Program:
    """A leaf is no state of its own: what would lead to it leads to what follows its word."""
    number = np.cumsum(kept) - 1
    return Program(
        kind=kind[kept].astype(np.uint8),
        offset=np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int32),
        lo=lo.astype(np.uint8),
        hi=hi.astype(np.uint8),
        target=number[target].astype(np.int32),
        entries=np.zeros(1, np.int32),
        behind=np.zeros((1, 256), np.int32),
    )
