"""Sets of strings -> grammars whose sentences they are: one terminal, and an empty alternative for the empty string.

In: regular sets, lists of strings. Out: `GrammarData`. Its terminal is an automaton that reads the longest string; no
terminal of Lark's matches the empty text.
"""

from __future__ import annotations

from collections.abc import Sequence

from pdacon.base.languages import SourceLanguage
from pdacon.base.limits import Limits
from pdacon.errors import EmptyLanguageError
from pdacon.grammar import GrammarData, GrammarOptions, Nonterminal, Pattern, Production, Terminal
from pdacon.regular import RegularSet
from pdacon.regular.ordered.program import Program, to_automaton
from pdacon.regular.string_programs import listed, words_program


def set_grammar(regular_set: RegularSet, language: SourceLanguage = "regular set") -> GrammarData:
    """The grammar of the strings of a set.

    Raises
    ------
    EmptyLanguageError, LimitExceededError
    """
    program, has_empty = regular_set.program(), "" in regular_set
    if program is None and not has_empty:
        raise EmptyLanguageError(f"no text is in {regular_set.name}: it is empty")
    return _grammar(program, has_empty, regular_set.name, language)


def choices_grammar(strings: Sequence[str], limits: Limits) -> GrammarData:
    """The grammar of some strings.

    Cost: some 50 ns a letter.

    Raises
    ------
    EmptyLanguageError, LimitExceededError
    """
    if not strings:
        raise EmptyLanguageError("no text is one of no strings; give from_choices at least one")
    return _grammar(*words_program(strings, limits), listed(strings), "choices")


def _grammar(program: Program | None, has_empty: bool, source: str, language: SourceLanguage) -> GrammarData:
    terminals: tuple[Terminal, ...] = ()
    if program is not None:
        pattern = Pattern.of_automaton(to_automaton(program))
        terminals = (Terminal("TEXT", pattern, 0, None),)
    start = len(terminals) + 1
    sides: list[tuple[int, ...]] = [(0,)] * len(terminals) + [()] * has_empty
    return GrammarData(
        terminals=terminals,
        nonterminals=(Nonterminal("start", None),),
        productions=tuple(Production(start, side, 0, "start", None, k, None) for k, side in enumerate(sides)),
        ignore=frozenset(),
        starts=(start,),
        options=GrammarOptions(),
        source=source,
        language=language,
    )
