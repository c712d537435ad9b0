"""Where an inner grammar begins and ends: terminals that keep its text and the text around it apart.

Lark's lexer takes the longest run of ignored text that it finds, whoever ignores it, and whatever may come after it.
After an inner grammar that is not to be lost what the outer one goes on with, and around it two kinds of ignored text
meet: of the outer grammar outside, of the inner one inside. So there are terminals of three kinds:

- ``(?!outer)inner``: the first piece of the inner grammar's ignored text, at its beginning, where the outer grammar
  ignores nothing any more; and ``(?!inner)outer`` at its end. A lexer that takes pieces one by one finds these borders.
  There is a terminal for each that is ignored, with its place in Lark's order and its keywords.
- ``(?:inner)*closer``: a terminal after the inner grammar together with what is ignored before it, where that could go
  on with the terminal's first character, such as the newlines before a fence.
- the texts of a regular inner grammar together with the terminal after them, as one automaton.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pdacon.frontends.string_sets import set_grammar
from pdacon.grammar import GrammarData, Layout, Pattern, Terminal
from pdacon.grammar.model import UNBOUNDED
from pdacon.grammar.printing import automaton_pattern
from pdacon.lexer.contexts import lexing_order
from pdacon.regular import Ranges, RegularSet
from pdacon.regular.characters import intersection, union
from pdacon.regular.ordered.program import from_automaton
from pdacon.regular.records import Automaton


def regexp_of(pattern: Pattern) -> str:
    """What Python's ``re`` would be given for a pattern."""
    return automaton_pattern(pattern.automaton) if pattern.automaton is not None else pattern.regexp


def set_of(pattern: Pattern) -> RegularSet:
    """The texts that a pattern matches whole."""
    if pattern.automaton is not None:
        return RegularSet.from_program(from_automaton(pattern.automaton), "an automaton")
    return RegularSet.from_regex(pattern.regexp)


def may_end_in_backslash(pattern: Pattern) -> bool:
    """Whether some text that a pattern matches whole has a backslash at its end."""
    return not set_of(pattern).isdisjoint(RegularSet.from_regex(r"(?s).*\\"))


def first_piece(own: Terminal, others: Sequence[Terminal]) -> Pattern | None:
    """A piece of what one grammar ignores, where the other one ignores nothing; None if there is no such place."""
    assert own.pattern is not None
    if not others:
        return own.pattern
    if own.pattern.meant is not None:
        return None
    regexp = f"(?!{_either(others)})(?:{regexp_of(own.pattern)})"
    if not RegularSet.from_regex(regexp):
        return None
    return _pattern(regexp, own.pattern.min_width, own.pattern.max_width)


def closing(closer: Terminal, before: Sequence[Terminal]) -> Pattern:
    """A terminal with the runs of ignored text before it."""
    assert closer.pattern is not None
    return _pattern(f"(?:{_either(before)})*(?:{regexp_of(closer.pattern)})", closer.pattern.min_width, UNBOUNDED)


def _pattern(regexp: str, least: int, most: int) -> Pattern:
    return Pattern("re", regexp, frozenset(), regexp, least, most)


def _either(terminals: Iterable[Terminal]) -> str:
    """What a lexer takes of some terminals, in its order."""
    ordered = sorted(terminals, key=lexing_order)
    return "|".join(f"(?:{regexp_of(terminal.pattern)})" for terminal in ordered if terminal.pattern is not None)


@dataclass(frozen=True, slots=True)
class End:
    """What may be at the end of an inner grammar and go on with what follows it.

    Attributes
    ----------
    runs : tuple of Terminal
        Ignored terminals that are runs of characters, or words.
    characters : Ranges
        With which these go on, or texts of ``texts`` that could end.
    texts : RegularSet or None
        The sentences, of a grammar that is one terminal.
    """

    runs: tuple[Terminal, ...]
    characters: Ranges
    texts: RegularSet | None

    def could_take(self, closer: Terminal) -> bool:
        """Whether the inner grammar's text could go on with the first character of a terminal after it."""
        if closer.pattern is None or not self.characters:
            return False
        return bool(intersection(_first(set_of(closer.pattern)), self.characters))

    @property
    def is_escaped(self) -> bool:
        """Whether the runs are escaped texts, such as those that end before the quote of a string."""
        return any(run.pattern is not None and run.pattern.meant is not None for run in self.runs)

    def ignores(self, closer: Terminal) -> bool:
        """Whether a terminal after the inner grammar may be all of what that ignores, and could go on."""
        assert closer.pattern is not None
        ignored = RegularSet.from_regex(_either(self.runs)).repeat(1)
        return not ignored.isdisjoint(set_of(closer.pattern))

    def with_closer(self, closer: Terminal) -> Automaton | None:
        """The inner grammar's texts and the terminal after them; None if one of these goes on to another one."""
        assert self.texts is not None
        assert closer.pattern is not None
        both = self.texts + set_of(closer.pattern)
        if both & (both + RegularSet.from_regex("(?s).+")):
            return None
        pattern = set_grammar(both).terminals[0].pattern
        assert pattern is not None
        return pattern.automaton


def end_of(grammar: GrammarData) -> End:
    """What is at the end of a grammar."""
    texts = _only_texts(grammar)
    if texts is not None:
        edges = zip(texts.automaton.accepting(), texts.automaton.edges(), strict=True)
        goes_on = [ranges for accepts, row in edges if accepts for ranges in row.values()]
        return End((), union(*goes_on), texts)
    runs = {}
    for terminal in (grammar.terminals[k] for k in sorted(grammar.ignored_outside)):
        assert terminal.pattern is not None
        ranges = _run(set_of(terminal.pattern.unescaped))
        if ranges and terminal.pattern.meant is not None:
            ranges = _first(set_of(terminal.pattern))
        if ranges:
            runs[terminal] = ranges
    lines = () if grammar.layout is None or grammar.layout.closers else _of_lines(grammar, grammar.layout)
    return End(tuple(runs), union(*runs.values(), lines), None)


def _of_lines(grammar: GrammarData, layout: Layout) -> Ranges:
    """The characters with which the end of a line begins, and those that may go on with it."""
    pattern = grammar.terminals[layout.newline].pattern
    assert pattern is not None
    return union(_first(set_of(pattern)), _first(RegularSet.from_choices([" ", "\t"])))


def _only_texts(grammar: GrammarData) -> RegularSet | None:
    """The sentences of a grammar that is one automaton, and perhaps an empty alternative."""
    start = grammar.starts[0]
    sides = [production.rhs for production in grammar.productions]
    if len(grammar.terminals) != 1 or grammar.ignore or any(p.lhs != start for p in grammar.productions):
        return None
    pattern = grammar.terminals[0].pattern
    if pattern is None or pattern.automaton is None or not {(0,)} <= set(sides) <= {(0,), ()}:
        return None
    texts = set_of(pattern)
    return texts | RegularSet.from_choices([""]) if () in sides else texts


def _run(texts: RegularSet) -> Ranges:
    """The characters of a set of runs, such as ``[ ]+``, or the first of a single word; else none."""
    automaton = texts.automaton
    rows = list(automaton.edges())
    repeats = len(rows) == 2 and automaton.accepting() == [False, True] and rows[1] in ({}, rows[0])
    if repeats and set(rows[0]) == {1}:
        return rows[0][1]
    return _first(texts) if automaton.words(1) else ()


def _first(texts: RegularSet) -> Ranges:
    return union(*next(iter(texts.automaton.edges()), {}).values())
