"""Counterexamples as text: a sentence with a dot where the parser has to decide, and a small tree for each reading.

Leaves that stand side by side share a line, a node whose children are all leaves is one line, and so is a chain of
rules that only stand for each other: a tree takes a few lines, and stays narrow however long its sentence is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap

from pdacon.base.quoting import quote
from pdacon.determinism.report.findings import DOT, Counterexample, Derivation, spelling

_DEEPEST = 8  # Below, a node is shown as the row of its leaves.
_NEAR = 8  # Symbols to show at either end of a long row, and on both sides of the dot
_NARROWEST = 12  # Columns for what a line says, however far in it begins


def counterexample_lines(counterexample: Counterexample, shifts: bool, width: int) -> list[str]:
    """Lines without indentation. ``shifts``: the first reading shifts, and only the second one reduces."""
    first, second = counterexample.first, counterexample.second
    position = counterexample.position
    if counterexample.unifying:
        lines = wrap(f"This has two readings; the parser has to choose at the {DOT}:", width)
        lines += _sentence(first.leaves(), position, width)
        lines += _text(counterexample, width)
    else:
        lines = wrap(_parting(counterexample), width)
        lines += _sentence(first.leaves(), position, width)
        lines += _text(counterexample, width)
        lines += _sentence(second.leaves(), position, width)
        lines += _text(counterexample, width, second=True)
    for name, reading in (("shift, as Lark does" if shifts else "", first), ("reduce" if shifts else "", second)):
        reader = _TreeReader(reading, position, after=not (shifts and reading is first))
        drawn = _drawn(reader.branch(reading, 0), "", "", width - 2)
        lines += [f"{name or f'reduce to {reader.dotted}'}:", *(f"  {line}" for line in drawn)]
    return lines


def _parting(counterexample: Counterexample) -> str:
    """What is said of two sentences."""
    position = counterexample.position
    cut = "" if counterexample.complete else " (the search for one text with both readings was given up)"
    if counterexample.first.leaves()[:position] == counterexample.second.leaves()[:position]:
        return f"These begin alike, and the parser has to choose at the {DOT}, not knowing the rest{cut}:"
    return f"At the {DOT} the parser cannot tell these apart, and has to choose{cut}:"


def sentence(leaves: Sequence[str], position: int) -> str:
    """A sentence on one line, with the dot; of a long one its ends and what is near the dot."""
    return _shortened([*leaves[:position], DOT, *leaves[position:]])


def _sentence(leaves: Sequence[str], position: int, width: int) -> list[str]:
    return wrap(
        sentence(leaves, position), width, initial_indent="  ", subsequent_indent="    ", break_long_words=False
    )


def plain_lines(counterexample: Counterexample) -> list[str]:
    """What is read in two ways, without the trees, in lines that are not wrapped."""
    shown = counterexample
    first = sentence(shown.first.leaves(), shown.position), _spelt(shown, second=False)
    second = sentence(shown.second.leaves(), shown.position), _spelt(shown, second=True)
    if shown.unifying:
        return [f"This has two readings; the parser has to choose at the {DOT}:", *filter(None, first)]
    return [_parting(shown), *filter(None, (*first, *second))]


def _spelt(counterexample: Counterexample, *, second: bool) -> str | None:
    """One of the sentences as text and as tokens, if it can be spelled."""
    text = counterexample.second_text if second else counterexample.first_text
    if text is None:
        return None
    tokens, pieces = (
        (counterexample.second_tokens, counterexample.second_pieces)
        if second
        else (counterexample.first_tokens, counterexample.first_pieces)
    )
    return f"as text: {quote(text)}{spelling(tokens, pieces)}"


def _text(counterexample: Counterexample, width: int, *, second: bool = False) -> list[str]:
    shown = _spelt(counterexample, second=second)
    return wrap(shown or "", width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A line of a drawn tree, and what hangs below it."""

    line: str
    below: tuple[_Branch, ...] = ()


class _TreeReader:
    """Reads a tree from left to right and puts the dot where it belongs.

    The dot goes before the leaf at ``position``, or with ``after`` after the leaf before it, so that it stands at the
    end of what is complete; an empty rule at that place is what is complete. ``dotted`` is then the rule that has it.
    """

    def __init__(self, root: Derivation, position: int, after: bool) -> None:
        self._position = position
        self._after = after and (position > 0 or _has_empty(root, position))
        self._empty = after and _has_empty(root, position)
        self._read = 0
        self.dotted = ""

    def branch(self, node: Derivation, depth: int) -> _Branch:
        names = [node.symbol]
        while node.children is not None and len(node.children) == 1 and node.children[0].children is not None:
            (node,) = node.children
            names.append(node.symbol)
        head = " → ".join(names)
        children = node.children
        if children is None or depth == _DEEPEST:
            children = tuple(Derivation(leaf) for leaf in node.leaves())
        if not children:
            return _Branch(f"{head}: {self._nothing(node)}")
        if all(child.children is None for child in children):
            return _Branch(f"{head}: {self._row(node, children)}")
        below = [
            _Branch(self._row(node, run)) if run[0].children is None else self.branch(run[0], depth + 1)
            for run in _runs(children)
        ]
        return _Branch(head, tuple(below))

    def _nothing(self, node: Derivation) -> str:
        return "".join(self._dot(node, self._empty)) or "(nothing)"

    def _row(self, node: Derivation, leaves: Sequence[Derivation]) -> str:
        words = []
        for leaf in leaves:
            words += self._dot(node, not self._after)
            words.append(leaf.symbol)
            self._read += 1
            words += self._dot(node, self._after and not self._empty)
        return _shortened(words)

    def _dot(self, node: Derivation, wanted: bool) -> list[str]:
        if not wanted or self._read != self._position or self.dotted:
            return []
        self.dotted = node.symbol
        return [DOT]


def _shortened(words: Sequence[str]) -> str:
    """A row of symbols; of a long one its ends and what is near the dot."""
    if len(words) <= 6 * _NEAR:
        return " ".join(words)
    centers = [0, len(words) - 1, *([words.index(DOT)] if DOT in words else [])]
    near = [k for k in range(len(words)) if any(abs(k - center) < _NEAR for center in centers)]
    shown = [words[k] if k - before == 1 else f"... {words[k]}" for before, k in pairwise([-1, *near])]
    return " ".join(shown)


def _has_empty(root: Derivation, position: int) -> bool:
    """Whether an empty rule stands between leaf ``position - 1`` and the next."""
    read = 0
    pending = [root]
    while pending and read <= position:
        node = pending.pop()
        if node.children is None:
            read += 1
        elif not node.children and read == position:
            return True
        else:
            pending.extend(reversed(node.children))
    return False


def _runs(children: Sequence[Derivation]) -> Iterator[list[Derivation]]:
    """Leaves side by side together, each other node alone."""
    run: list[Derivation] = []
    for child in children:
        if child.children is None:
            run.append(child)
            continue
        if run:
            yield run
        yield [child]
        run = []
    if run:
        yield run


def _drawn(branch: _Branch, first: str, rest: str, width: int) -> list[str]:
    """The lines of a branch: ``first`` goes before its own line, ``rest`` before those that follow."""
    lines = wrap(
        branch.line,
        max(width, len(rest) + _NARROWEST),
        initial_indent=first,
        subsequent_indent=f"{rest}{'│' if branch.below else ' '}   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for k, below in enumerate(branch.below):
        corner, bar = ("└─ ", "   ") if k == len(branch.below) - 1 else ("├─ ", "│  ")
        lines += _drawn(below, rest + corner, rest + bar, width)
    return lines
