"""What has to be looked at in a schema with some keywords, before its values are.

In: keywords, in the order of the text, and the draft. Out: a `Look`, which is the same for all schemas with these
keywords, so that most of a document costs some microseconds for each of its schemas.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from pdacon.base.cancelling import raise_if_out_of_time
from pdacon.errors import LimitExceededError
from pdacon.frontends.json_schema.documents import REFERENCES
from pdacon.frontends.json_schema.facts import Matches
from pdacon.frontends.json_schema.keywords import exists_in, is_assertion, is_known, remark
from pdacon.frontends.json_schema.multiples import Divisor
from pdacon.frontends.json_schema.string_formats import PATTERNS, SINCE
from pdacon.frontends.json_schema.strings import pattern_automaton
from pdacon.frontends.json_schema.type_bits import ALL, ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING, types_in
from pdacon.frontends.json_schema.wrong_values import OF_PLACES, types_of
from pdacon.regular import PatternError

_BITS = {"string": STRING, "number": NUMBER, "array": ARRAY, "object": OBJECT}
_SAME_VALUE = (*REFERENCES, "allOf", "anyOf", "oneOf", "not", "if")
_APPLYING = frozenset({*_SAME_VALUE, "dependentSchemas", "dependencies"})
_STEPS = {
    **dict.fromkeys(_SAME_VALUE, ALL),
    **dict.fromkeys(("items", "prefixItems", "additionalItems", "contains", "uniqueItems", "unevaluatedItems"), ARRAY),
    **dict.fromkeys(
        ("properties", "patternProperties", "additionalProperties", "propertyNames", "dependentRequired",
         "dependentSchemas", "dependencies", "unevaluatedProperties"), OBJECT,
    ),
}  # fmt: skip
"""By keyword that leads to other schemas, or has to be told of: the types that it is about."""
_ONLY_IN = {"$recursiveRef": (2019, 2019), "$dynamicRef": (2020, 9999), "dependencies": (0, 7)}
_OLD_BOUNDS = ("exclusiveMinimum", "exclusiveMaximum")  # which say how others are meant, up to draft 4
_EMPTY = NULL | BOOLEAN | STRING | NUMBER | ARRAY | OBJECT
_WITH_EMPTY = frozenset({
    "type", "maxLength", "multipleOf", "items", "prefixItems", "additionalItems", "maxItems", "uniqueItems",
    "unevaluatedItems", "properties", "patternProperties", "additionalProperties", "propertyNames", "maxProperties",
    "dependentRequired", "unevaluatedProperties",
})  # fmt: skip
"""Keywords that empty values satisfy, or 0."""
_TYPED, _LISTING = frozenset({"type"}), frozenset({"type", "items"})
_CHOSEN, _FORMATTED = frozenset({"type", "enum"}), frozenset({"type", "format"})
_COUNTED, _BOUNDED = frozenset({"type", "minLength", "maxLength"}), frozenset({"type", "minimum", "maximum"})
_TOLD_APART = frozenset({"type", "const"})
_MEMBERS = frozenset({"type", "properties", "required", "additionalProperties"})
_LEAVES = (_LISTING, _CHOSEN, _FORMATTED, _COUNTED, _BOUNDED, _TOLD_APART)
_MOST_LOOKS = 2_000
_LIMITS = ("minLength", "maxLength", "pattern", "format")
_LONGEST_NAME = 64
_MOST_COUNTED = 1_000_000  # characters
_MOST_PARTS = 2_000  # items or members that are counted
_LONGEST_PATTERN = 200
_FIXED_PATTERN = re.compile(r"\^(?:(?:[^\\^$.|?*+()\[\]{}]|\\[dwsDWS.]|\[[\w -]+\])(?:\{\d\d?\})?)*[*+]?\$?")
"""A pattern that counts some characters from the beginning on: it is an automaton as it stands."""
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS = (
    (STRING, _MOST_COUNTED, ("minLength", "maxLength")),
    (ARRAY, _MOST_PARTS, ("minItems", "maxItems", "minContains", "maxContains")),
    (OBJECT, _MOST_PARTS, ("minProperties", "maxProperties")),
)
_OF_NUMBERS = (*_BOUNDS, "multipleOf")
_LARGEST_BOUND, _LONGEST_BOUND = 10**20, 25
_MOST_REMAINDERS = 2_000


class Look(NamedTuple):
    """What is to be looked at.

    Attributes
    ----------
    is_remarkable : bool
        Whether something may have to be said of its keywords, whatever their values are.
    about : int
        The types that keywords are about whose values mean nothing where the schema does not take such, as bits.
    checked : tuple of (str, int)
        Keywords whose values may be wrong, with the types that they are about.
    steps : tuple of (str, int)
        Keywords that lead to other schemas, or need more than a check, with the types.
    of_places : tuple of str
        Keywords that name the schema, or hold others.
    applies_others : bool
        Whether other schemas are applied to the same value beside it.
    lists_values : bool
        Whether it may have a list of values.
    measured : int
        The types of strings and numbers of which automata may be large, as bits.
    counts : bool
        Whether characters, items or members are counted.
    with_empty : int
        The types of which an empty value, or 0, is certainly one of the schema if it is of its type.
    leaf : frozenset of str or None
        What it says beside annotations, if `is_leaf` may be true of it.
    lists_members : bool
        Whether it says nothing but which members an object has, and of which schemas others are.
    limits : int
        The types of strings and numbers of which automata are combined where several schemas say what they are.
    """

    is_remarkable: bool
    about: int
    checked: tuple[tuple[str, int], ...]
    steps: tuple[tuple[str, int], ...]
    of_places: tuple[str, ...]
    applies_others: bool
    lists_values: bool
    measured: int
    counts: bool
    with_empty: int
    leaf: frozenset[str] | None
    lists_members: bool
    limits: int


def look_for(node: dict[str, Any], draft: int) -> Look:
    """What is to be looked at in a schema."""
    key = tuple(node), draft
    sight = _LOOKS.get(key)
    if sight is None:
        sight = _look(*key)
        if len(node) <= _LONGEST_NAME and max(map(len, node), default=0) <= _LONGEST_NAME:
            if len(_LOOKS) >= _MOST_LOOKS:
                _LOOKS.clear()
            _LOOKS[key] = sight
    return sight


def is_leaf(node: dict[str, Any], draft: int, counts_digits: bool) -> bool:
    """Whether a schema is one of scalars, or of lists of them, plainly right, without remarks, and has a value.

    ``counts_digits``: whether the spelling limits the digits of numbers, of which none may lie between two bounds then.
    """
    leaf = look_for(node, draft).leaf
    if leaf is None:
        return False
    if leaf <= _LISTING and "items" in leaf:
        items = node["items"]
        return node.get("type") == "array" and isinstance(items, dict) and _is_scalar(items, draft, counts_digits)
    return _is_scalar(node, draft, counts_digits)


def _is_scalar(node: dict[str, Any], draft: int, counts_digits: bool) -> bool:
    said, leaf = node.get("type", "string"), look_for(node, draft).leaf
    if leaf is None:
        return False
    if leaf <= _TYPED:
        return types_in(said) != 0
    if said == "string":
        if leaf <= _COUNTED:
            return _lie_in_order(node, "minLength", "maxLength", 0, _MOST_COUNTED)
        if leaf <= _CHOSEN:
            values = node["enum"]
            return isinstance(values, list) and set(map(type, values)) == {str}
        if leaf <= _TOLD_APART:
            return isinstance(node["const"], str)
        name = node.get("format")
        return leaf <= _FORMATTED and isinstance(name, str) and _is_usual_format(name, draft)
    is_bounded = leaf <= _BOUNDED and (said == "integer" or (said == "number" and not counts_digits))
    return is_bounded and _lie_in_order(node, "minimum", "maximum", -_LARGEST_BOUND, _LARGEST_BOUND)


def _lie_in_order(node: dict[str, Any], lower: str, upper: str, least: int, most: int) -> bool:
    """Whether what two keywords say, if they are there, are whole numbers between which some lie."""
    low, high = node.get(lower, least), node.get(upper, most)
    return type(low) is int and type(high) is int and least <= low <= high <= most


@lru_cache(maxsize=1024)
def _is_usual_format(name: str, draft: int) -> bool:
    return name in PATTERNS and SINCE.get(name, 0) <= draft


def _look(names: tuple[str, ...], draft: int) -> Look:
    asserted = [name for name in names if is_assertion(name)]
    refers_only = "$ref" in names and draft <= 7
    remarkable = any(not is_known(name) and bool(remark(name)) for name in names)
    remarkable |= refers_only and len(asserted) > 1
    read = [name for name in asserted if exists_in(name, draft)]
    remarkable |= len(read) < len(asserted)
    remarkable |= any(name in names for name in ("$recursiveRef", "$recursiveAnchor", "discriminator"))
    remarkable |= draft <= 4 and any(name in names for name in _OLD_BOUNDS)
    remarkable |= draft >= 2019 and "dependencies" in names
    remarkable |= draft >= 2020 and ("additionalItems" in names or {"items", "prefixItems"} <= {*names})
    remarkable |= "if" not in names and any(name in names for name in ("then", "else"))
    if refers_only:
        read = ["$ref"]
    checked = tuple(
        (name, _about(name)) for name in read if types_of(name) and not (draft <= 4 and name in _OLD_BOUNDS)
    )
    steps = tuple((name, _STEPS[name]) for name in read if name in _STEPS and _is_read(name, draft))
    about = 0
    for _, kind in checked:
        about |= kind
    applies = any(name in _APPLYING for name, _ in steps) and (len(read) > 1 or "$ref" not in read)
    limits = STRING * any(name in _LIMITS for name in read) | NUMBER * ("multipleOf" in read)
    of_places = tuple(name for name in names if name in OF_PLACES)
    with_empty = 0 if any(name not in _WITH_EMPTY for name in read if not types_of(name)) else _EMPTY
    for name in read:
        if name not in _WITH_EMPTY:
            with_empty &= ~_about(name)
    is_leaf = not (remarkable or of_places or "$schema" in names) and any(some.issuperset(read) for some in _LEAVES)
    leaf = frozenset(read) if is_leaf else None
    measured = STRING * any(name in _LIMITS for name in read) | NUMBER * any(name in _OF_NUMBERS for name in read)
    lists = "enum" in read or "const" in read
    counts = any(name in keywords for _, _, keywords in _COUNTS for name in read)
    members = _MEMBERS.issuperset(read)
    said = (remarkable, about, checked, steps, of_places, applies, lists, measured, counts, with_empty, leaf)
    return Look(*said, members, limits)


_LOOKS: dict[tuple[tuple[str, ...], int], Look] = {}  # those for which it was looked, by keywords and draft


def _is_read(name: str, draft: int) -> bool:
    first, last = _ONLY_IN.get(name, (0, 9999))
    return first <= draft <= last


def _about(name: str) -> int:
    bits = 0
    for kind in types_of(name):
        bits |= _BITS[kind]
    return bits


def is_small(node: dict[str, Any], types: int) -> bool:
    """Whether the automata of strings and numbers that right keywords ask for are certainly small."""
    if types & STRING:
        pattern = node.get("pattern", "")
        counts = [node[keyword] for keyword in ("minLength", "maxLength") if keyword in node]
        if counts and (pattern or "format" in node):
            return False
        if pattern and ("format" in node or not is_small_pattern(pattern)):
            return False
    if types & NUMBER:
        bounds = [node[keyword] for keyword in _BOUNDS if keyword in node]
        if any(abs(bound) > _LARGEST_BOUND or len(repr(bound)) > _LONGEST_BOUND for bound in bounds):
            return False
        if "multipleOf" in node and (bounds or not _is_small_divisor(node["multipleOf"])):
            return False
    return True


def counts_few(node: dict[str, Any], types: int) -> bool:
    """Whether right keywords about some types count so few parts that an automaton which counts is small."""
    return all(node.get(keyword, 0) <= most for kind, most, keywords in _COUNTS if kind & types for keyword in keywords)


def is_small_pattern(pattern: str) -> bool:
    """Whether the automaton of a right pattern is small enough."""
    if len(pattern) > _LONGEST_PATTERN:
        return _has_automaton(pattern)
    return _FIXED_PATTERN.fullmatch(pattern) is not None or _is_small_pattern(pattern)


@lru_cache(maxsize=1024)
def _is_small_pattern(pattern: str) -> bool:
    return _has_automaton(pattern)


def _has_automaton(pattern: str) -> bool:
    try:
        pattern_automaton(Matches(pattern))
    except LimitExceededError as error:
        raise_if_out_of_time(error)
        return False
    except PatternError:
        return False
    return True


@lru_cache(maxsize=256)
def _is_small_divisor(number: Any) -> bool:
    if not isinstance(number, int | float) or len(repr(number)) > _LONGEST_BOUND:
        return False
    try:
        divisor = Divisor.of(Fraction(repr(number)))
    except LimitExceededError:
        return False
    return divisor.scaled * (divisor.places + 2) <= _MOST_REMAINDERS
