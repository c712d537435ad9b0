"""Patterns that have texts in common -> patterns that have none.

Where two terminals of a place match the same text, llguidance's parser follows both. So each becomes several: what only
it has, and what it has in common with others, as alternatives in the rules; the parser then sees which is meant, if one
token more tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from pdacon.base.cancelling import every
from pdacon.frontends.dialects.llguidance.building import new_name
from pdacon.frontends.dialects.llguidance.loaded import Loaded
from pdacon.regular import RegularSet

_MOST_PARTS = 64


@dataclass(slots=True)
class Split:
    """What some sets are made of.

    Attributes
    ----------
    parts : dict of str to tuple of str
        For a set those that it is the union of.
    sets : dict of str to RegularSet
        These, by their names.
    owners : dict of str to tuple of str
        For each of these the sets that have it.
    """

    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sets: dict[str, RegularSet] = field(default_factory=dict)
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)


def split(loaded: Loaded, words: AbstractSet[str]) -> Split:
    """Split the sets that share a place and a text.

    Patterns are split by one another. ``words``, the case-insensitive string literals, are split by
    patterns, and these not by them, so that a keyword is no name.

    Raises
    ------
    UnsupportedGrammarError
        There would be too many.
    """
    result = Split()
    pairs = _pairs(loaded)
    for group in _groups(loaded, [pair for pair in pairs if not words & {*pair}]):
        pieces: list[tuple[RegularSet, tuple[str, ...]]] = []
        for name in group:
            rest = loaded.sets[name]
            refined = []
            for texts, owners in pieces:
                common, other = texts & rest, texts - rest
                refined += [(texts, own) for texts, own in ((common, (*owners, name)), (other, owners)) if texts]
                rest = rest - texts
            pieces = [*refined, *([(rest, (name,))] if rest else [])]
            _require_few(loaded, group, len(pieces))
        _note(result, loaded, group, pieces)
    for word in sorted(words):
        parts = [loaded.sets[word]]
        for pattern in sorted({name for pair in pairs if word in pair for name in pair} - words):
            cut = loaded.sets[pattern]
            parts = [texts for part in parts for texts in (part & cut, part - cut) if texts]
        if len(parts) > 1:
            _note(result, loaded, [word], [(part, (word,)) for part in parts])
    return result


def _note(
    result: Split, loaded: Loaded, group: Iterable[str], pieces: Sequence[tuple[RegularSet, tuple[str, ...]]]
) -> None:
    taken = {terminal.name for terminal in loaded.grammar.terminals} | result.sets.keys()
    for texts, owners in pieces:
        own = new_name("P", taken)
        taken.add(own)
        result.sets[own], result.owners[own] = texts, owners
    for name in group:
        result.parts[name] = tuple(own for own, owners in result.owners.items() if name in owners)


def _require_few(loaded: Loaded, group: Sequence[str], count: int) -> None:
    if count <= _MOST_PARTS:
        return
    first = next(k for k, name in loaded.names.items() if name == group[0])
    message = (
        f"{loaded.called(first)} and {len(group) - 1} terminals more have texts in common, in more than {_MOST_PARTS} "
        "ways; write them so that they have none"
    )
    raise loaded.refused(first, message, "terminals")


def _pairs(loaded: Loaded) -> set[tuple[str, str]]:
    """Sets that are looked for together, and have a text in common."""
    names = loaded.names
    looked_for = names.keys() - loaded.grammar.ignore
    pairs = every(loaded.pairs(looked_for, looked_for), 1)
    return {(names[k], names[j]) for k, j in pairs if not loaded.texts[k].isdisjoint(loaded.texts[j])}


def _groups(loaded: Loaded, pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The sets of some pairs, each with all that one of its pairs leads to."""
    group = {name: [name] for name in loaded.sets}
    for name, other in sorted(pairs):
        if group[name] is not group[other]:
            group[name] += group[other]
            for name in group[other]:
                group[name] = group[name]
    return list({id(some): some for some in group.values() if len(some) > 1}.values())
