"""The trie of all sequences of tokens that a constraint allows, and its exact evaluation.

Matchers alone say which sequences there are, so the trie is laid out before the model is asked anything. Then each of
its inner nodes is evaluated once, in parts of so many rows, children after their parents: what sequences have in
common is computed once, and kept as the cache of the parent until its children are done.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pdacon.decoding.states import States
from pdacon.decoding.ways_on import Borders, ways_on
from pdacon.matching import Matcher


@dataclass(slots=True)
class TrieNode:
    """A sequence of tokens after which the model is to be asked."""

    token: int  # the last one; -1 at the root
    parent: TrieNode | None
    matcher: Matcher | None  # stands after the sequence; it goes when the node is evaluated
    children: list[TrieNode] = field(default_factory=list)

    def token_ids(self) -> tuple[int, ...]:
        """All tokens from the root."""
        ids, node = [], self
        while node.parent is not None:
            ids.append(node.token)
            node = node.parent
        return tuple(reversed(ids))


def lay_out(matcher: Matcher, borders: Borders, max_tokens: int, most: int) -> TrieNode | None:
    """Return the trie of what a matcher allows; None if it has more than `most` nodes.

    ``matcher``: stands where the texts begin; it stays there. ``borders``: after a sentence, no sequence goes on with
    one of these. ``max_tokens``: the most tokens of a sequence; what is longer is left out.
    """
    root = TrieNode(-1, None, matcher.fork())
    count, level = 1, [root]
    for _ in range(max_tokens):
        following = []
        for node in level:
            here = node.matcher
            assert here is not None
            sentence = here.is_accepting()
            for token in here.allowed_tokens():
                if sentence and token in borders.ids:
                    continue
                count += 1
                if count > most:
                    return None
                behind = here.fork()
                behind.accept_token(token)
                node.children.append(TrieNode(token, node, behind))
            following += node.children
        level = following
    return root


def evaluate(
    root: TrieNode, states: States, borders: Borders, batch_size: int
) -> tuple[list[tuple[TrieNode, float]], int]:
    """Return the probability of each sentence.

    ``root``: of the trie; its matchers are used up. ``states``: the one after the prompt: one row. ``batch_size``: how
    many rows the model is asked for at once.
    Returns: ``sentences``: where they stop, and the logarithm of the probability of their tokens and a border.
    ``evaluated``: how many rows the model was asked for, the prompt not counted.
    """
    sentences = []
    evaluated = 0
    # Depth first, so that no more than a part of each level has its caches kept.
    waiting: list[tuple[States, list[int], list[TrieNode], list[float]]] = [(states, [0], [root], [0.0])]
    while waiting:
        before, rows, nodes, log_probs = waiting.pop()
        here = before.rows(rows)
        if nodes[0].parent is not None:
            here = here.step([node.token for node in nodes])
            evaluated += len(nodes)
        matchers = [node.matcher for node in nodes]
        ways = ways_on(here.log_probs, [matcher for matcher in matchers if matcher is not None], borders)
        parts: list[tuple[int, TrieNode, float]] = []
        for row, (node, log_prob, stop) in enumerate(zip(nodes, log_probs, ways.stop.tolist(), strict=True)):
            if stop > -float("inf"):
                sentences.append((node, log_prob + stop))
            if node.children:
                of_children = ways.tokens[row, [child.token for child in node.children]].tolist()
                parts += [(row, child, log_prob + more) for child, more in zip(node.children, of_children, strict=True)]
            node.matcher = None
        for first in range(0, len(parts), batch_size):
            part = parts[first : first + batch_size]
            waiting.append(
                (here, [row for row, _, _ in part], [child for _, child, _ in part], [p for _, _, p in part])
            )
    return sentences, evaluated
