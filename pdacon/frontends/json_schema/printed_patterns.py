"""Strings of a schema as patterns of Python's ``re``, for the text that a grammar prints as.

In: what is asked of a string. Out: a pattern for its JSON texts. Each fact becomes a look-ahead after the opening
quote, so that the pattern is about as long as the schema is, however many states the automaton has.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pdacon.frontends.json_schema.facts import Among, Fact, LongerThan, Matches
from pdacon.frontends.json_schema.spelling import CHARACTER, ESCAPED, PLAIN, SHORT, spelled
from pdacon.frontends.json_schema.string_formats import CARD_NUMBER, PATTERNS
from pdacon.frontends.json_schema.strings import Shape, choices_of
from pdacon.regular import ANY, character_class, ecma, parse_pattern
from pdacon.regular.characters import Ranges, intersection

_LONGEST = 1_000_000


class _NoPattern(Exception):
    """What Python's ``re`` cannot say inside of a JSON string: a word's border, or a start that is not at the start.

    Also what would take too long a pattern, or has none.
    """


def strings_pattern(shape: Shape, behind: str = "") -> str:
    """The JSON texts of the strings for which a formula holds, followed by a fixed text; empty if that is not known."""
    try:
        return f'"{_condition(shape)}{CHARACTER}*"{re.escape(behind)}'
    except _NoPattern:
        return ""


def _condition(shape: Shape) -> str:
    conditions: dict[Shape, str] = {False: "(?!)", True: ""}
    for choice in choices_of(shape):
        ahead, then, otherwise = _ahead(choice.fact), conditions[choice.then], conditions[choice.otherwise]
        if choice.otherwise is False:
            conditions[choice] = f"(?={ahead}){then}"
        elif choice.then is False:
            conditions[choice] = f"(?!{ahead}){otherwise}"
        else:
            conditions[choice] = f"(?:(?={ahead}){then}|(?!{ahead}){otherwise})"
        if len(conditions[choice]) > _LONGEST:  # what is shared in the shape is written each time
            raise _NoPattern
    return conditions[shape]


def _ahead(fact: Fact) -> str:
    """What stands after the opening quote exactly if a fact holds."""
    if isinstance(fact, LongerThan):
        return f"{CHARACTER}{{{fact.length + 1}}}"
    if isinstance(fact, Among):
        words = (re.escape(spelled(str(word))[1:-1]) for word in sorted(map(str, fact.values)))
        return f'(?:{"|".join(words)})"'
    assert isinstance(fact, Matches)
    if fact.pattern == PATTERNS[CARD_NUMBER]:
        raise _NoPattern
    tree = parse_pattern(fact.pattern)
    return f'(?:{_written(tree)})"' if fact.whole else _anywhere(tree)


def _anywhere(tree: ecma.Tree) -> str:
    """What begins a string in which a tree matches somewhere."""
    if isinstance(tree, ecma.Alternatives):
        return f"(?:{'|'.join(map(_anywhere, tree.options))})"
    parts = tree.parts if isinstance(tree, ecma.Sequence) else (tree,)
    if parts and parts[0] == ecma.Anchor("start"):
        return _written(ecma.Sequence(parts[1:]))
    return f"{CHARACTER}*(?:{_written(tree)})"


def _written(tree: ecma.Tree) -> str:
    if isinstance(tree, ecma.CharacterSet):
        return _character(tree.ranges)
    if isinstance(tree, ecma.Sequence):
        return "".join(_written(part) for part in tree.parts)
    if isinstance(tree, ecma.Alternatives):
        return f"(?:{'|'.join(map(_written, tree.options))})"
    if isinstance(tree, ecma.Repeat):
        body = _written(tree.body)
        alone = isinstance(tree.body, (ecma.CharacterSet, ecma.Alternatives))  # a class, an escape or a group
        return f"{body if alone else f'(?:{body})'}{_count(tree.least, tree.most)}"
    if isinstance(tree, ecma.Ahead):
        return f"(?{'!' if tree.negative else '='}{_written(tree.body)})"
    if tree.kind == "end":
        return '(?=")'
    raise _NoPattern


@lru_cache(maxsize=1024)
def _character(ranges: Ranges) -> str:
    """One character of a set, as it is written in a JSON string."""
    if ranges == ANY:
        return CHARACTER
    plain = intersection(ranges, PLAIN)
    escaped = [point for first, last in intersection(ranges, ESCAPED) for point in range(first, last + 1)]
    parts = [character_class(plain)] if plain else []
    parts += [re.escape(SHORT.get(point, f"\\u{point:04x}")) for point in escaped]
    if len(parts) == 1 and plain:
        return parts[0]
    return f"(?:{'|'.join(parts) or '(?!)'})"


def _count(least: int, most: int | None) -> str:
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    exact = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
    return signs.get((least, most), exact)
