"""Sets of strings -> programs that read the longest: where one is the beginning of another, a lexer goes on.

In: automata over characters, lists of strings. Out: ordered automata over bytes, and sets as a grammar keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.limits import Limits
from pdacon.base.quoting import quoted
from pdacon.errors import EmptyLanguageError
from pdacon.regular.automata import Dfa, combined
from pdacon.regular.operations import THE_EMPTY, of_factors, of_words
from pdacon.regular.ordered.program import Program
from pdacon.regular.records import TextSet

_UTF8 = 3  # what `json_strings` calls text that has no escapes

ByteArrays = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32]]
"""Offsets of the edges of states, the first and the last byte of each, and its target; state 0 is the start."""


def substrings_program(text: str, limits: Limits) -> Program | None:
    """What reads the longest string that occurs in a text, if that has any character.

    Raises LimitExceededError.
    """
    offset, byte, target, accepting = of_factors(text, limits)
    return longest_program(offset, byte, byte, target, accepting) if len(target) else None


def set_program(dfa: Dfa, limits: Limits) -> Program | None:
    """What reads the longest string that an automaton accepts, but for the empty one; None: there is no other.

    Raises LimitExceededError.
    """
    if dfa.accepts(""):
        dfa = combined([dfa, THE_EMPTY], [(1, 0, 1), (0, 2, 0)], limits.states, limits.bytes)
    if not len(dfa):
        return None
    arrays = utf8(dfa, limits)
    accepting = np.zeros(len(arrays[0]) - 1, np.uint8)
    accepting[: len(dfa)] = dfa.native.accepting
    return longest_program(*arrays, accepting)


def words_program(words: Sequence[str], limits: Limits) -> tuple[Program | None, bool]:
    """What reads the longest of some words, if there are any but the empty one; and whether that is one of them."""
    offset, byte, target, accepting = of_words(words, limits)
    has_empty = bool(accepting[0])
    accepting[0] = 0
    return (longest_program(offset, byte, byte, target, accepting) if len(target) else None), has_empty


def checked_strings(caller: str, strings: Iterable[str]) -> list[str]:
    """The strings as a list.

    Raises TypeError, ValueError: see `RegularSet.from_choices`.
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


def utf8(dfa: Dfa, limits: Limits) -> ByteArrays:
    """An automaton over the bytes of UTF-8: first the states of the one over characters, then those within them."""
    return _core.json_strings(dfa.native, _UTF8, b"", b"", limits.states, limits.bytes)


def text_set(dfa: Dfa, name: str, limits: Limits) -> TextSet:
    """What an automaton accepts, as a grammar keeps a set of texts.

    Raises EmptyLanguageError, LimitExceededError.
    """
    if not len(dfa):
        raise EmptyLanguageError(f"no text is in {name}: it is empty")
    offset, low, high, target = utf8(dfa, limits)
    accepting = np.zeros(len(offset) - 1, np.uint8)
    accepting[: len(dfa)] = dfa.native.accepting
    wide = [array.astype("<i4").tobytes() for array in (offset, target)]
    return TextSet(name, wide[0], low.tobytes(), high.tobytes(), wide[1], accepting.tobytes())


def longest_program(
    offset: NDArray[np.int32],
    low: NDArray[np.uint8],
    high: NDArray[np.uint8],
    target: NDArray[np.int32],
    accepting: NDArray[np.uint8],
) -> Program:
    """What reads the longest string of a deterministic automaton over bytes whose start does not accept."""
    arrays = _core.longest_match(offset, low, high, target, accepting)
    return Program(*arrays, np.zeros(1, np.int32), np.zeros((1, 256), np.int32))
