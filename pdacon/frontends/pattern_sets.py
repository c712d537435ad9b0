"""Sets of texts within patterns of Lark's language -> what the reader of grammars needs to lower such patterns.

In: `RegularSet` by the names that groups such as ``(?P<CITY>)`` have. Out: `PatternSets`, which bring along how an
automaton is made of a pattern with sets, so that the room ``grammar`` needs to know neither sets nor automata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pdacon.base.arguments import require
from pdacon.grammar.patterns import PatternSets
from pdacon.grammar.settings import checked_sets
from pdacon.regular import RegularSet
from pdacon.regular.groups import Substrings
from pdacon.regular.ordered import compile_with_sets
from pdacon.regular.ordered.program import nothing, to_automaton
from pdacon.regular.records import Automaton


def pattern_sets(sets: Mapping[str, RegularSet] | None = None) -> PatternSets:
    """What patterns may name: these sets, beside those that have names in every grammar with extensions."""
    return PatternSets({} if sets is None else sets, _automaton_of_pattern)


def checked_pattern_sets(sets: Any, extensions: bool) -> PatternSets | None:
    """The same of what a caller of `Grammar.from_lark` gives; None without extensions.

    Raises
    ------
    ValueError, TypeError
        A name is none that a group can have, or has a meaning; or what it stands for is no `RegularSet`.
    """
    given = checked_sets(sets, extensions)
    for name, regular_set in given.items():
        require("from_lark", f"sets[{name!r}]", regular_set, RegularSet)
    return pattern_sets(given) if extensions else None


def _automaton_of_pattern(pattern: str, flags: int, sets: Sequence[RegularSet | Substrings]) -> Automaton:
    programs = []
    for texts in sets:
        regular_set = RegularSet.substring_of(texts.text) if isinstance(texts, Substrings) else texts
        program = regular_set.program()  # what is beside the empty text, which the pattern adds
        programs.append(nothing() if program is None else program)
    return to_automaton(compile_with_sets(pattern, flags, programs))
