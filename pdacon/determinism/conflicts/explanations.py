"""Conflicts -> explanations: runs the searches within limits of steps and time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pdacon.determinism.conflicts.beginnings import find_common_beginning
from pdacon.determinism.conflicts.bounds import Bounds
from pdacon.determinism.conflicts.derivations import Example
from pdacon.determinism.conflicts.items import Item, Items
from pdacon.determinism.conflicts.unifying import UnifyingSearch, new_bounds
from pdacon.determinism.deadline import Deadline
from pdacon.lalr import Conflict

# Steps of a search, some 10 microseconds each: first for all conflicts with the same productions in a state, then, for
# what is left, on, and at last for each terminal alone, because that can prove that there is no example.
_FIRST, _FURTHER, _ALONE = 4_000, 16_000, 1_000
_SHARE = 0.7  # of the time; the rest is for conflicts without a unifying example


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is known of one conflict."""

    conflict: Conflict
    # The best example found. None if time was over before any was, if there is none to be had, or if it would differ
    # from that of the conflict before it in its terminal only.
    example: Example | None
    complete: bool  # Whether the search for a unifying example came to its end: there is one, or certainly none
    # Whether canonical LR(1) would have no such conflict: ``example`` has the readings of two different sentences.
    merged: bool = False


def explain_conflicts(items: Items, conflicts: Iterable[Conflict], seconds: float) -> dict[Conflict, Explanation]:
    """An explanation for each conflict, but for those that only Lark's tables have, and cycles in `reads`.

    With no seconds none is explained.

    Cost: at most ``seconds``, most of it for conflicts that no sentence explains; then those that are left have none.
    """
    if not seconds:
        return {}
    deadline, last = Deadline(_SHARE * seconds), Deadline(seconds)
    groups: dict[tuple[object, ...], list[Conflict]] = {}
    for conflict in conflicts:
        if conflict.kind != "reads-cycle" and not conflict.lark_only:
            groups.setdefault((conflict.kind, conflict.state, conflict.productions), []).append(conflict)
    bounds = new_bounds(items)
    searches = [
        UnifyingSearch(items, bounds, group[0].state, [c.terminal for c in group], conflict_items(items, group))
        for group in groups.values()
    ]
    for steps in (_FIRST, _FURTHER):
        for search in searches:
            search.run(steps, deadline)
    explained: dict[Conflict, Explanation] = {}
    for group, search in zip(groups.values(), searches, strict=True):
        found: Explanation | None = None
        for conflict in group:
            if last.passed():
                return explained
            example, complete = search.examples.get(conflict.terminal), search.exhausted
            if example is None and not complete and len(group) > 1:
                example, complete = _alone(items, bounds, conflict, deadline)
            if example is not None:
                explained[conflict] = Explanation(conflict, example, complete=True)
            elif conflict.kind == "shift/reduce" and found is not None and found.complete == complete:
                explained[conflict] = replace(found, conflict=conflict, example=None)
            else:
                found = explained[conflict] = _without_unifying(items, bounds, conflict, complete, last)
    return explained


def _alone(items: Items, bounds: Bounds, conflict: Conflict, deadline: Deadline) -> tuple[Example | None, bool]:
    pairs = conflict_items(items, [conflict])
    search = UnifyingSearch(items, bounds, conflict.state, [conflict.terminal], pairs)
    search.run(_ALONE, deadline)
    return search.examples.get(conflict.terminal), search.exhausted


def conflict_items(items: Items, conflicts: Sequence[Conflict]) -> list[tuple[Item, Item]]:
    """Which pairs of items are torn in conflicts of one state and the same productions."""
    first = conflicts[0]
    complete = [items.complete(k) for k in first.productions]
    if first.kind == "reduce/reduce":
        return list(combinations(complete, 2))
    terminals = [conflict.terminal for conflict in conflicts]
    shifts = [
        item
        for item in items.kernel(first.state)
        if (rest := items.rest(item)) and any(items.distance(rest[0], t, leftmost=True) is not None for t in terminals)
    ]
    return [(item, complete[0]) for item in shifts]


def _without_unifying(
    items: Items, bounds: Bounds, conflict: Conflict, complete: bool, deadline: Deadline
) -> Explanation:
    pairs = conflict_items(items, [conflict])
    for first, second in pairs:
        example = find_common_beginning(items, bounds, conflict.state, conflict.terminal, first, second, deadline)
        if example is not None:
            return Explanation(conflict, example, complete)
    if conflict.kind == "shift/reduce" or deadline.passed():
        return Explanation(conflict, None, complete)
    first, second = pairs[0]
    one, other = (
        find_common_beginning(items, bounds, conflict.state, conflict.terminal, item, item, deadline, whole=True)
        for item in (first, second)
    )
    if one is None or other is None:
        return Explanation(conflict, None, complete)
    apart = Example(False, one.first, other.first, one.position, other.position, one.spine, other.around)
    return Explanation(conflict, apart, complete=True, merged=True)
