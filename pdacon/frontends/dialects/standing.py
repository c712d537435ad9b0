"""Where a text stands in the rules of a dialect, as their author wrote them, and what may come there.

Once lowered, regular rules are parts of terminals with made-up names; explanations are to have the author's.

Source: J. Earley, "An Efficient Context-Free Parsing Algorithm", Communications of the ACM 13(2), 1970. An item has
what of its rule is still to come, which is the derivative of the rule's expression (Brzozowski 1964).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pdacon.base.quoting import quoted
from pdacon.frontends.dialects.tree import Reference, Rules, Text, Tree, WrittenCharacters
from pdacon.frontends.dialects.written import rules_of
from pdacon.grammar import GrammarData
from pdacon.grammar.expressions import InOrder, OneOf, Repeated

_LONGEST = 4_000  # characters of a text
_MOST_ITEMS = 200_000
_WAYS = 3

_Rest: TypeAlias = tuple[Tree, ...]
_Item: TypeAlias = tuple[str, _Rest, int]
"""A rule, what of it is still to come, and the place where it begins."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a text stands.

    Attributes
    ----------
    rules : tuple of str
        ``digit in number in root``: the rule that is being read and those that it is part of, as far as only one can
        be meant; a line for each such rule.
    expected : tuple of str
        What may come next, as it is written: ``","``, ``[0-9]``.
    may_end : bool
        Whether it is a whole text.
    """

    rules: tuple[str, ...]
    expected: tuple[str, ...]
    may_end: bool


@dataclass(slots=True)
class _Place:
    """What may be going on between two characters."""

    items: dict[_Item, None] = field(default_factory=dict)
    waiting: dict[str, list[_Item]] = field(default_factory=dict)
    """By a rule's name the items that go on after a text of it that begins here."""
    empty: set[str] = field(default_factory=set)
    """Rules with the empty text, which begin and end here."""


def standing(grammar: GrammarData, text: str) -> Standing | None:
    """Where a text stands. None where the grammar is of no dialect, or has rules without texts, and where the text is
    too long or no beginning of one.

    Cost: for each character what Earley's algorithm does with it, some microseconds for each rule that may be going on.
    """
    rules = rules_of(grammar)
    if rules is None or len(text) > _LONGEST or not _all_derive_texts(rules):
        return None
    chart = _read(rules, text)
    if chart is None:
        return None
    here = chart[-1]
    heads = [rest[0] for _, rest, _ in here.items if rest and isinstance(rest[0], WrittenCharacters | Text)]
    return Standing(
        tuple(dict.fromkeys(_lines(chart))),
        tuple(dict.fromkeys(quoted(head.value) if isinstance(head, Text) else head.written for head in heads)),
        (rules.start, (), 0) in here.items,
    )


def _all_derive_texts(rules: Rules) -> bool:
    """Whether each rule does: else what may come next in one need not lead on to any text."""
    deriving: set[str] = set()
    while more := {
        name for name, rule in rules.rules.items() if name not in deriving and _derives(rule.body, deriving)
    }:
        deriving |= more
    return len(deriving) == len(rules.rules)


def _derives(tree: Tree, deriving: set[str]) -> bool:
    """Whether a tree derives a text, if these rules do."""
    if isinstance(tree, Reference):
        return tree.name in deriving
    if isinstance(tree, OneOf):
        return any(_derives(option, deriving) for option in tree.items)
    if isinstance(tree, InOrder):
        return all(_derives(part, deriving) for part in tree.items)
    if isinstance(tree, Repeated):
        return tree.least == 0 or _derives(tree.item, deriving)
    return isinstance(tree, Text) or bool(tree.ranges)


def _read(rules: Rules, text: str) -> list[_Place] | None:
    chart = [_Place()]
    items = _close(rules, chart, [(rules.start, (rules.rules[rules.start].body,), 0)])
    for character in text:
        moved = [
            (rule, after, origin)
            for rule, rest, origin in chart[-1].items
            if rest and (after := _behind(rest, character)) is not None
        ]
        if not moved or items > _MOST_ITEMS:
            return None
        chart.append(_Place())
        items += _close(rules, chart, moved)
    return chart


def _behind(rest: _Rest, character: str) -> _Rest | None:
    """What is still to come after a character; None if that cannot come."""
    head = rest[0]
    if isinstance(head, Text):
        if not head.value.startswith(character):
            return None
        return (Text(head.value[1:]), *rest[1:]) if head.value[1:] else rest[1:]
    if isinstance(head, WrittenCharacters) and any(first <= ord(character) <= last for first, last in head.ranges):
        return rest[1:]
    return None


def _close(rules: Rules, chart: list[_Place], begun: list[_Item]) -> int:
    """Add items to the last place, and all that they lead to without a character; how many there are then."""
    here, now = chart[-1], len(chart) - 1
    pending = begun
    while pending:
        item = pending.pop()
        if item in here.items:
            continue
        here.items[item] = None
        rule, rest, origin = item
        if not rest:
            if origin == now:
                here.empty.add(rule)
            pending += chart[origin].waiting.get(rule, ())
        elif isinstance(rest[0], Reference):
            name, after = rest[0].name, (rule, rest[1:], origin)
            here.waiting.setdefault(name, []).append(after)
            pending.append((name, (rules.rules[name].body,), now))
            pending += [after] if name in here.empty else []
        else:
            pending += [(rule, opened, origin) for opened in _opened(rest)]
    return len(here.items)


def _opened(rest: _Rest) -> Iterator[_Rest]:
    """What the first part may be, if it is none that reads a character."""
    head, behind = rest[0], rest[1:]
    if isinstance(head, InOrder):
        yield (*head.items, *behind)
    elif isinstance(head, OneOf):
        for option in head.items:
            yield (option, *behind)
    elif isinstance(head, Repeated):
        if head.least == 0:
            yield behind
        if head.most != 0:
            most = None if head.most is None else head.most - 1
            yield (head.item, replace(head, least=max(head.least - 1, 0), most=most), *behind)
    elif isinstance(head, Text) and not head.value:
        yield behind


def _lines(chart: list[_Place]) -> Iterator[str]:
    """The rules that have begun last and go on here, each with those around it."""
    begun = [(origin, rule) for rule, rest, origin in chart[-1].items if rest and origin < len(chart) - 1]
    last = max((origin for origin, _ in begun), default=-1)
    ways = [
        tuple(_around(chart, rule, last)) for rule in dict.fromkeys(rule for origin, rule in begun if origin == last)
    ]
    inner = [way for way in ways if not any(other != way and other[-len(way) :] == way for other in ways)]
    yield from (" in ".join(way) for way in inner[:_WAYS])


def _around(chart: list[_Place], rule: str, origin: int) -> Iterator[str]:
    """The rule, and what it is part of."""
    seen: set[tuple[str, int]] = set()
    while (rule, origin) not in seen:
        yield rule
        seen.add((rule, origin))
        users = {(user, begin) for user, _, begin in chart[origin].waiting.get(rule, ())}
        if len(users) != 1:
            return
        ((rule, origin),) = users
