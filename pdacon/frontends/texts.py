"""Sets of strings -> grammars whose sentences they are: one terminal, and an empty alternative for the empty string.

In: automata over characters, lists of strings. Out: a `Grammar`. Its terminal is an automaton that reads the longest
string, so that where one is the beginning of another the lexer goes on; no Lark terminal matches the empty text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.quoting import quoted
from pdacon.errors import EmptyLanguageError
from pdacon.grammar import GrammarData, GrammarOptions, Nonterminal, Pattern, Production, Terminal
from pdacon.grammar.model import SourceLanguage, TextSet
from pdacon.lexer.program import Program, to_automaton
from pdacon.regular import Dfa, combined
from pdacon.regular.operations import THE_EMPTY, of_factors, of_words

_UTF8 = 3  # what `json_strings` calls text that has no escapes
_WIDE = 4_294_967_295  # sre's MAXREPEAT: without a bound

ByteArrays = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32]]
"""Offsets of the edges of states, the first and the last byte of each, and its target; state 0 is the start."""


def substrings_program(text: str, max_states: int, max_bytes: int) -> Program | None:
    """What reads the longest string that occurs in a text, if that has any character.

    Raises
    ------
    LimitExceededError
    """
    offset, byte, target, accepting = of_factors(text, max_states, max_bytes)
    return _longest(offset, byte, byte, target, accepting) if len(target) else None


def set_program(dfa: Dfa, max_states: int, max_bytes: int) -> Program | None:
    """What reads the longest string that an automaton accepts, but for the empty one; None: there is no other.

    Raises
    ------
    LimitExceededError
    """
    if dfa.accepts(""):
        dfa = combined([dfa, THE_EMPTY], [(1, 0, 1), (0, 2, 0)], max_states, max_bytes)
    if not len(dfa):
        return None
    arrays = utf8(dfa, max_states, max_bytes)
    accepting = np.zeros(len(arrays[0]) - 1, np.uint8)
    accepting[: len(dfa)] = dfa.native.accepting
    return _longest(*arrays, accepting)


def text_grammar(program: Program | None, has_empty: bool, source: str, language: SourceLanguage) -> GrammarData:
    """The grammar of what a program reads, and of the empty string.

    Raises
    ------
    EmptyLanguageError
    """
    if program is None and not has_empty:
        raise EmptyLanguageError(f"no text is in {source}: it is empty")
    return _grammar(program, has_empty, source, language)


def choices_grammar(strings: Sequence[str], max_states: int, max_bytes: int) -> GrammarData:
    """The grammar of some strings.

    Cost: some 50 ns a letter.

    Raises
    ------
    EmptyLanguageError, LimitExceededError
    """
    if not strings:
        raise EmptyLanguageError("no text is one of no strings; give from_choices at least one")
    return _grammar(*words_program(strings, max_states, max_bytes), listed(strings), "choices")


def words_program(words: Sequence[str], max_states: int, max_bytes: int) -> tuple[Program | None, bool]:
    """What reads the longest of some words, if there are any but the empty one; and whether that is one of them."""
    offset, byte, target, accepting = of_words(words, max_states, max_bytes)
    has_empty = bool(accepting[0])
    accepting[0] = 0
    return (_longest(offset, byte, byte, target, accepting) if len(target) else None), has_empty


def checked_strings(caller: str, strings: Iterable[str]) -> list[str]:
    """The strings as a list.

    Raises
    ------
    TypeError, ValueError
        See `RegularSet.from_choices`.
    """
    if isinstance(strings, (str, bytes)):
        raise TypeError(f"{caller} takes a list of strings, not one: give [{strings!r:.60}]")
    words = list(strings)
    try:
        "".join(words).encode()
    except TypeError:
        place, wrong = next((k, word) for k, word in enumerate(words) if not isinstance(word, str))
        raise TypeError(
            f"{caller} takes strings, not {wrong!r:.40} (number {place}, a {type(wrong).__name__}); write str(...)"
        ) from None
    except UnicodeEncodeError:
        place, wrong = next((k, word) for k, word in enumerate(words) if any("\ud800" <= c <= "\udfff" for c in word))
        raise ValueError(
            f"{caller}: {wrong!a:.60} (number {place}) has a lone surrogate, which no text can have"
        ) from None
    return words


def listed(strings: Sequence[str]) -> str:
    """Some strings as a message shows them: the first ones."""
    shown = ", ".join(quoted(string) for string in strings[:4])
    return f"{{{shown}, ... {len(strings):,} strings}}" if len(strings) > 4 else f"{{{shown}}}"


def utf8(dfa: Dfa, max_states: int, max_bytes: int) -> ByteArrays:
    """An automaton over the bytes of UTF-8: first the states of the one over characters, then those within them."""
    return _core.json_strings(dfa.native, _UTF8, b"", b"", max_states, max_bytes)


def text_set(dfa: Dfa, name: str, max_states: int, max_bytes: int) -> TextSet:
    """What an automaton accepts, as a grammar keeps a set of texts.

    Raises
    ------
    EmptyLanguageError, LimitExceededError
    """
    if not len(dfa):
        raise EmptyLanguageError(f"no text is in {name}: it is empty")
    offset, low, high, target = utf8(dfa, max_states, max_bytes)
    accepting = np.zeros(len(offset) - 1, np.uint8)
    accepting[: len(dfa)] = dfa.native.accepting
    wide = [array.astype("<i4").tobytes() for array in (offset, target)]
    return TextSet(name, wide[0], low.tobytes(), high.tobytes(), wide[1], accepting.tobytes())


def _longest(
    offset: NDArray[np.int32],
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    target: NDArray[np.int32],
    accepting: NDArray[np.uint8],
) -> Program:
    """The program of a deterministic automaton whose start does not accept: the longest string that it reads."""
    arrays = _core.longest_match(offset, low, high, target, accepting)
    return Program(*arrays, np.zeros(1, np.int32), np.zeros((1, 256), np.int32))


def _grammar(program: Program | None, has_empty: bool, source: str, language: SourceLanguage) -> GrammarData:
    terminals: tuple[Terminal, ...] = ()
    if program is not None:
        pattern = Pattern("automaton", "", frozenset(), "", 1, _WIDE, to_automaton(program))
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
