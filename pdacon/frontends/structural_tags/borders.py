"""Whether a lexer finds where each piece of a structural tag ends.

Where several terminals may come, the lexer takes the first of them that matches, and of that the longest text. This is
what the structural tag means if no text of a set is one of another terminal there, and if none that may end goes on
with a character that the next piece may begin with, in the same set or in another one.
"""

from __future__ import annotations

from collections.abc import Mapping

from pdacon.errors import UnsupportedGrammarError
from pdacon.frontends.insertion.borders import set_of
from pdacon.frontends.regular_sets import RegularSet
from pdacon.grammar import Grammar
from pdacon.lalr import build_tables
from pdacon.lexer.contexts import make_contexts
from pdacon.quoting import quoted
from pdacon.regular import Ranges
from pdacon.regular.characters import character_class, intersection, union

_SOME = RegularSet.from_regex("(?s).+")


def precedence(sets: Mapping[str, RegularSet]) -> list[str]:
    """The names of some sets; before a set comes each other one that has a text which goes on behind one of its own."""
    before: dict[str, set[str]] = {name: set() for name in sets}
    for name, one in sets.items():
        longer = one + _SOME
        before[name] = {other for other, more in sets.items() if other != name and not longer.isdisjoint(more)}
    ordered: list[str] = []
    while len(ordered) < len(sets):
        free = [name for name in sets if name not in ordered and before[name].issubset(ordered)]
        # Of those that go on in one another the first one comes first; where both may come, `check_borders` refuses.
        ordered += free or [next(name for name in sets if name not in ordered)]
    return ordered


def check_borders(grammar: Grammar, sets: Mapping[str, RegularSet], places: Mapping[str, str]) -> None:
    """Refuse a grammar in which the lexer would not find what the structural tag means.

    Parameters
    ----------
    sets : mapping
        The terminals that are sets of texts; all others come from grammars, or are tokens.
    places : mapping
        JSON pointers of sets and of the grammars' holes.

    Raises
    ------
    UnsupportedGrammarError
    """
    _Borders(grammar, sets, places).check()


class _Borders:
    def __init__(self, grammar: Grammar, sets: Mapping[str, RegularSet], places: Mapping[str, str]) -> None:
        self._grammar, self._places = grammar, places
        self._own = {k for k, one in enumerate(grammar.terminals) if one.name in sets}
        self._sets = {k: sets[grammar.terminals[k].name] for k in self._own}
        self._firsts: dict[int, Ranges] = {}
        tables = build_tables(grammar)
        contexts, _, after = make_contexts(grammar, tables, None)
        self._contexts = [context.alternation for context in contexts]
        self._after = after

    def check(self) -> None:
        for one, other, earlier in sorted(self._pairs()):
            texts, others = self._set(one), self._set(other)
            if earlier and not texts.isdisjoint(others):
                raise self._error(one, other, "have a text in common, so that nobody knows which of them it is")
            if earlier and not (texts + _SOME).isdisjoint(others):
                raise self._error(one, other, "begin alike, so that the second would never be found")
            follow = self._follow(one, one in self._own or other in self._own)
            if follow and not (texts + RegularSet.from_regex(f"{character_class(follow)}(?s:.*)")).isdisjoint(others):
                if one == other:
                    raise self._error(
                        one, one, "may go on where what is behind it begins, so that nobody knows its end"
                    )
                raise self._error(one, other, "may come both, and the second may be the first with what is behind that")

    def _pairs(self) -> set[tuple[int, int, bool]]:
        """Terminals of a context that may have something to do with each other: two of which one is a set of the
        structural tag, and one with itself; whether the lexer tries the first before the second.
        """
        found: set[tuple[int, int, bool]] = set()
        for alternation in set(self._contexts):
            textual = [k for k in alternation if self._first(k)]
            for place, one in enumerate(textual):
                found.add((one, one, False))
                for other in textual[place + 1 :]:
                    known = one in self._own or other in self._own or self._follow(one, False)
                    if known and intersection(self._first(one), self._first(other)):
                        found |= {(one, other, True), (other, one, False)}
        return {pair for pair in found if not (pair[2] and self._own.isdisjoint(pair[:2]))}

    def _follow(self, terminal: int, all_of_them: bool) -> Ranges:
        """What may be the first character behind a terminal; of sets of the structural tag, or of all terminals."""
        behind = {k for context in self._after[terminal] for k in self._contexts[context]}
        return union(*(self._first(k) for k in behind if all_of_them or k in self._own))

    def _first(self, terminal: int) -> Ranges:
        """The characters that a terminal may begin with; none of a token."""
        if terminal not in self._firsts:
            edges = self._set(terminal).automaton.edges() if self._is_text(terminal) else iter(())
            self._firsts[terminal] = union(*next(edges, {}).values())
        return self._firsts[terminal]

    def _set(self, terminal: int) -> RegularSet:
        if terminal not in self._sets:
            pattern = self._grammar.terminals[terminal].pattern
            assert pattern is not None
            self._sets[terminal] = set_of(pattern)
        return self._sets[terminal]

    def _is_text(self, terminal: int) -> bool:
        pattern = self._grammar.terminals[terminal].pattern
        return pattern is not None and not any("\ud800" <= c <= "\udfff" for c in pattern.regexp)

    def _error(self, one: int, other: int, what: str) -> UnsupportedGrammarError:
        shown = [self._shown(k) for k in ((one,) if one == other else (one, other))]
        return UnsupportedGrammarError(
            f"{' and '.join(shown)} {what}; write texts between them that are in none of them, or name in `excludes` "
            "what ends free text",
            feature="structural tag",
        )

    def _shown(self, terminal: int) -> str:
        name = self._grammar.terminals[terminal].name
        if terminal in self._own:
            return f"{self._places[name]} (such as {quoted(self._sets[terminal].shortest() or '')})"
        hole = name.split("__")[0]
        return f"{self._grammar.describe_symbol(terminal)} of {self._places.get(hole, 'a grammar')}"
