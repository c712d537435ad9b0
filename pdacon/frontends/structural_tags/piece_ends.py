"""Whether a lexer finds where each piece of a structural tag ends.

Where several terminals may come, the lexer takes the first of them that matches, and of that the longest text. This is
what the structural tag means if no text of one piece is one of another piece there, if none comes first that is the
beginning of another one, and if none goes on with a character that the next piece may begin with, in the same terminal
or in another one. Within a grammar the lexer does what it does in that grammar.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

from pdacon.base.bit_sets import members
from pdacon.base.cancelling import every, look
from pdacon.base.quoting import quoted
from pdacon.errors import UnsupportedGrammarError
from pdacon.frontends.insertion import Composition
from pdacon.frontends.insertion.borders import set_of
from pdacon.grammar import GrammarData, Pattern
from pdacon.grammar.first_follow import Rule, first_sets, following
from pdacon.lalr import build_tables
from pdacon.lexer.contexts import make_contexts
from pdacon.regular import Ranges, RegularSet
from pdacon.regular.characters import intersection, union

_ADVICE = "write texts between them that are in none of them, or name in `excludes` what ends free text"
_COMMON = "have a text in common, so that nobody knows which of them it is"

_Edges = list[dict[int, Ranges]]
_Rows = tuple[list[bool], _Edges]
"""Of each state of an automaton whether a text may end there, and the characters that lead to each next one."""


def precedence(sets: Mapping[str, RegularSet], words: Mapping[str, str], closers: Mapping[str, str]) -> list[str]:
    """The names of some sets; before a set comes each other one that has a text which goes on after one of its own.

    ``words`` has the texts of those that have only one. Of two sets with the same one of ``closers``, which ends each
    of their texts and is nowhere else in them, none goes on after the other.
    """
    rows = {name: _rows(texts) for name, texts in every(sets.items(), 1)}
    before: dict[str, set[str]] = {}
    for name in every(sets, 1):
        before[name] = {
            other
            for other in sets
            if other != name
            and (name not in closers or closers[name] != closers.get(other))
            and (
                words[other].startswith(words[name])
                if name in words and other in words
                else _goes_on(rows[name], rows[other])
            )
        }
    ordered: dict[str, None] = {}
    while len(ordered) < len(sets):
        free = [name for name in sets if name not in ordered and before[name] <= ordered.keys()]
        # Of those that go on in one another the first one comes first, but a word never before one that it begins, nor
        # a set before one that goes on in it alone; where both may come, `check_borders` refuses.
        left = [name for name in sets if name not in ordered]
        begun = [name for name in left if (before[name] - ordered.keys()).isdisjoint(words)]
        mutual = (name for name in begun if all(name in before[other] for other in before[name] - ordered.keys()))
        ordered |= dict.fromkeys(free or [next(mutual, (begun or left)[0])])
    return list(ordered)


def check_borders(grammar: GrammarData, sets: Mapping[str, RegularSet], places: Mapping[str, str]) -> None:
    """Refuse a grammar in which the lexer or the parser would not find what the structural tag means.

    Parameters
    ----------
    sets : mapping
        The terminals that are sets of texts; all others come from grammars, are tokens, or were made for a border.
    places : mapping
        JSON pointers of sets and of the grammars' holes.

    Raises
    ------
    UnsupportedGrammarError
    """
    _Borders(grammar, sets, places).check()


def _rows(texts: RegularSet) -> _Rows:
    return texts.automaton.accepting(), list(texts.automaton.edges())


def _common_beginnings(edges: _Edges, other_edges: _Edges) -> Iterator[tuple[int, int]]:
    """The pairs of states to which texts lead that two automata both read. O(pairs of states).

    Depth first, so that pairs behind long texts come early: where a text of one goes on after one of the other, it is
    found at the end of a long one.
    """
    pending, met = [(0, 0)], {(0, 0)}
    while pending:
        look()
        here, there = pending.pop()
        yield here, there
        for target, ranges in edges[here].items():
            for other_target, other_ranges in other_edges[there].items():
                if (target, other_target) not in met and intersection(ranges, other_ranges):
                    met.add((target, other_target))
                    pending.append((target, other_target))


def _goes_on(rows: _Rows, other: _Rows) -> bool:
    """Whether a text of the second automaton goes on after one of the first: all states lead to an end."""
    (ends, edges), (other_ends, other_edges) = rows, other
    if not ends or not other_ends:
        return False
    return any(ends[here] and other_edges[there] for here, there in _common_beginnings(edges, other_edges))


def _meeting(rows: _Rows, other: _Rows) -> tuple[bool, Ranges]:
    """Whether two automata have a text in common, and with which characters texts of the second go on after one of the
    first. All states lead to an end, so that it is enough to walk both at once.
    """
    (ends, edges), (other_ends, other_edges) = rows, other
    if not ends or not other_ends:
        return False, ()
    common, beyond = False, list[Ranges]()
    for here, there in _common_beginnings(edges, other_edges):
        if ends[here]:
            common = common or other_ends[there]
            beyond += other_edges[there].values()
    return common, union(*beyond)


class _Borders:
    def __init__(self, grammar: GrammarData, sets: Mapping[str, RegularSet], places: Mapping[str, str]) -> None:
        self._grammar, self._places = grammar, places
        composition: Composition | None = grammar.parts
        self._holes = {} if composition is None else {hole.terminal: hole for hole in composition.holes}
        self._sets = {k: sets[terminal.name] for k, terminal in enumerate(grammar.terminals) if terminal.name in sets}
        self._own = frozenset(self._sets)
        self._tables = build_tables(grammar)
        contexts, _, after = make_contexts(grammar, self._tables)
        self._contexts = {context.alternation for context in contexts}
        self._any_tokens = {k for k in range(grammar.end) if self._is_any_text(k)}
        self._absorbed = {(regex, word) for context in contexts for regex, words in context.renames for word in words}
        self._behind: dict[int, set[int]] = {
            k: {terminal for context in numbers for terminal in contexts[context].alternation}
            for k, numbers in enumerate(after)
        }
        self._parts: defaultdict[int, set[str]] = defaultdict(set)  # the holes whose grammars have a terminal
        self._border: defaultdict[int, set[int]] = defaultdict(set)  # after a part that a terminal may end
        self._read_parts()
        # What was put together of a set and what is ignored before it.
        self._made = {k for k in range(grammar.end) if not self._parts[k] and k not in self._own}
        # Grammars have many terminals in common: for each the first one with its pattern.
        firsts: dict[Pattern | None, int] = {}
        self._like = [firsts.setdefault(terminal.pattern, k) for k, terminal in enumerate(grammar.terminals)]
        self._first = cache(self._first_characters)
        self._rows = cache(lambda terminal: _rows(self._set(terminal)))
        self._meeting = cache(lambda first, other: _meeting(self._rows(first), self._rows(other)))

    def _read_parts(self) -> None:
        """Which terminals are of which grammar, which of them may end it, and what may come after it."""
        grammar = self._grammar
        end, names = grammar.end, [nonterminal.name for nonterminal in grammar.nonterminals]
        for hole in self._holes.values():
            for symbol in hole.terminals:
                self._parts[symbol].add(hole.terminal)

        def coded(symbol: int) -> int:
            return symbol if symbol < end else ~(symbol - end - 1)

        rules: list[Rule] = [(coded(p.lhs), tuple(map(coded, p.rhs))) for p in grammar.productions]
        for piece, ignored in grammar.border_pieces.items():
            self._parts[piece] |= self._parts[ignored]
        follow = following(rules)
        last, _ = first_sets([(lhs, side[::-1]) for lhs, side in rules])
        for name in self._places:
            if name.lower() in names:  # sets have no rule
                nonterminal = ~names.index(name.lower())
                behind = set(members(follow[nonterminal]))
                for terminal in members(last[nonterminal]):
                    self._border[terminal] |= behind

    def check(self) -> None:
        for conflict in self._tables.conflicts:
            place = self._shown(conflict.terminal) if conflict.terminal < self._grammar.end else "the end of the text"
            raise UnsupportedGrammarError(
                f"where {place} may come it is not known yet what is in the text before it ({conflict.kind} conflict); "
                "begin the formats that may come there, or come again, with different texts",
                feature="structural tag",
            )
        self._check_any_tokens()
        for regex, word in sorted(self._absorbed):  # a regex of one grammar takes a word of another one for its own
            if self._parts[regex].isdisjoint(self._parts[word]):
                raise self._error(regex, word, _COMMON)
        for terminal, other, earlier in every(sorted(self._pairs())):
            if other in self._made and terminal in self._grammar.ignore:
                self._check_closer(terminal, other)
                continue
            common, beyond = self._meet(terminal, other)
            apart = self._parts[terminal].isdisjoint(self._parts[other]) or not self._parts[terminal]
            if apart and earlier and common:
                raise self._error(terminal, other, _COMMON)
            if apart and earlier and beyond:
                raise self._error(terminal, other, "begin alike, so that the second would never be found")
            behind = self._behind[terminal] if apart else self._border[terminal]
            if intersection(beyond, union(*map(self._first, behind))):
                if terminal == other:
                    raise self._error(
                        terminal, terminal, "may go on where what follows it begins, so that its end is not known"
                    )
                raise self._error(
                    terminal, other, "may come both, and the second may be the first and what follows that"
                )

    def _is_any_text(self, terminal: int) -> bool:
        """Whether a terminal is any tokens with a text."""
        pattern = self._grammar.terminals[terminal].pattern
        labels = (label for label in self._grammar.labels if label.is_any_text)
        return pattern is not None and any(pattern.value.startswith(str(label)) for label in labels)

    def _check_any_tokens(self) -> None:
        """Refuse text, or tokens of any text, where any tokens with a text may come: nobody knows which they are."""
        for terminal in sorted(self._any_tokens):
            together = {other for context in self._contexts if terminal in context for other in context}
            for other in sorted((together - {terminal}) | self._behind[terminal]):
                if other in self._any_tokens or (other < self._grammar.end and self._first(other)):
                    raise self._error(
                        terminal,
                        other,
                        "may come in one place, so that nobody knows which tokens are counted",
                        "let a special token, or nothing, come after tokens that are counted or excluded",
                    )

    def _check_closer(self, ignored: int, closer: int) -> None:
        """What ends a grammar takes what this ignores before it: that must not be all, nor what it may go on with."""
        runs = _rows(self._set(ignored).repeat(1))
        common, beyond = _meeting(runs, self._rows(self._like[closer]))
        inner = {
            k
            for context in self._contexts
            if ignored in context and closer in context
            for k in context
            if k not in self._grammar.ignore and not self._parts[k].isdisjoint(self._parts[ignored])
        }
        if common or intersection(beyond, union(*map(self._first, inner))):
            raise self._error(ignored, closer, "begin alike, and what is ignored there might be the end of the grammar")

    def _pairs(self) -> set[tuple[int, int, bool]]:
        """Terminals of a context that begin alike, and whether the lexer tries the first of them before the second."""
        pairs: set[tuple[int, int, bool]] = set()
        for alternation in every(self._contexts, 1):
            textual = [k for k in alternation if self._first(k)]
            for place, terminal in enumerate(textual):
                pairs.add((terminal, terminal, False))
                for other in textual[place + 1 :]:
                    related = self._parts[terminal] & self._parts[other] and not (
                        self._border[terminal] or self._border[other]
                    )
                    if not related and intersection(self._first(terminal), self._first(other)):
                        pairs |= {(terminal, other, True), (other, terminal, False)}
        return pairs

    def _meet(self, terminal: int, other: int) -> tuple[bool, Ranges]:
        return self._meeting(self._like[terminal], self._like[other])

    def _first_characters(self, terminal: int) -> Ranges:
        """The characters that a terminal may begin with; none of a token."""
        pattern = self._grammar.terminals[terminal].pattern
        if pattern is None or any("\ud800" <= c <= "\udfff" for c in pattern.regexp):
            return ()
        _, edges = self._rows(self._like[terminal])
        return union(*edges[0].values()) if edges else ()

    def _set(self, terminal: int) -> RegularSet:
        if terminal not in self._sets:
            pattern = self._grammar.terminals[terminal].pattern
            assert pattern is not None
            self._sets[terminal] = set_of(pattern)
        return self._sets[terminal]

    def _error(self, terminal: int, other: int, what: str, advice: str = _ADVICE) -> UnsupportedGrammarError:
        shown = [self._shown(k) for k in ((terminal,) if terminal == other else (terminal, other))]
        return UnsupportedGrammarError(
            f"{' and '.join(shown)} {what}",
            feature="structural tag",
            advice=advice,
        )

    def _shown(self, terminal: int) -> str:
        name = self._grammar.terminals[terminal].name
        if terminal in self._own:
            return f"{self._places[name]} (such as {quoted(self._sets[terminal].shortest() or '')})"
        if not self._parts[terminal]:
            return self._grammar.describe_symbol(terminal)
        part = min(self._parts[terminal], key=self._places.__getitem__)
        hole = self._holes[part]
        own = terminal if terminal in hole.terminals else self._grammar.border_pieces[terminal]
        return f"{hole.grammar.describe_symbol(hole.terminals[own])} of {self._places[part]}"
