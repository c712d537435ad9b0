"""The texts that are in a normal form of Unicode, as an automaton over characters.

A text is in NFC or NFKC if and only if

1. no character of it changes when it is normalized alone,
2. after each starter (a character of combining class 0) the classes of the marks do not fall, and
3. no mark is *composed* with the starter before it: it is not, if it does not compose with that starter, or if a mark
   of its own class stands between them. A starter that composes, such as a vowel of Hangul, does so only side by side.

Which characters compose with a starter is asked of `unicodedata`, with the starter as it stands in the text, such as
``â``: with the dot below it becomes ``ậ``. Between the two the marks matter only by the class of the last one: those of
lower classes leave the starter as it was, because what they would have become part of is asked by the same rule.
In NFD and NFKD nothing composes.

So a state is the class of the last mark, and which characters of higher classes still compose with the last starter.
The tables are those of this Python's version of Unicode; tests compare the automaton with `unicodedata.normalize`.

Source: M. Davis and K. Whistler, "Unicode Normalization Forms", Unicode Standard Annex 15 (quick check, section 9).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdacon._native import _core
from pdacon.base.graphs import Numbering
from pdacon.filters.characters import NUM_CODE_POINTS
from pdacon.regular import Dfa

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]

_HANGUL = range(0xAC00, 0xD7A4)
_NONE: frozenset[int] = frozenset()
_MOST_BYTES = 256 << 20


class _State(NamedTuple):
    """The combining class of the last character, and what composes with the last starter in spite of it."""

    last: int
    composing: frozenset[int]


@lru_cache(maxsize=4)
def normal_form(form: Form) -> Dfa:
    """The automaton of the texts in a normal form. Some 5,000 states for NFC, and 1 s, once in a process."""
    return _tables(form).build()


def settled_characters(form: Form) -> NDArray[np.bool_]:
    """The starters that stay as they are, whatever stands before them; of each code point."""
    return _tables(form).settled


@lru_cache(maxsize=4)
def settled_texts(form: Form) -> Dfa:
    """Texts of settled characters, each with one mark after it at most, and that one composes with nothing.

    All of them are in the form, and so is each text in the form with one of them after a settled character.
    """
    tables = _tables(form)
    of = np.where(tables.settled, 0, np.where(tables.is_mark, 1, -1)).astype(np.int32)
    firsts = np.append(0, np.flatnonzero(np.diff(of)) + 1).astype(np.int32)
    table = np.array([0, 1, 0, -1], np.int32)
    return Dfa(_core.CharacterDfa.make(firsts, of[firsts], table, np.ones(2, np.uint8), _MOST_BYTES))


@lru_cache(maxsize=4)
def _tables(form: Form) -> _Tables:
    return _Tables(form)


class _Tables:
    """What a normal form asks of characters."""

    def __init__(self, form: Form) -> None:
        self._form = form
        characters = list(map(chr, range(NUM_CODE_POINTS)))
        self._combining = np.fromiter(map(unicodedata.combining, characters), np.int32, NUM_CODE_POINTS)
        decomposed = [code for code, found in enumerate(map(unicodedata.decomposition, characters)) if found]
        self._decomposed = [*decomposed, *_HANGUL]
        self._changed = np.zeros(NUM_CODE_POINTS, np.bool_)
        self._changed[[code for code in self._decomposed if not self._is_normal(chr(code))]] = True
        self._changed[0xD800:0xE000] = True  # no text has them
        self._composing = dict(self._starters()) if form in ("NFC", "NFKC") else {}
        self._seconds = frozenset[int]().union(*self._composing.values())
        stays = ~self._changed
        stays[list(self._seconds)] = False
        # Starters, and other characters, that neither change alone nor compose with what stands before them.
        self.settled: NDArray[np.bool_] = stays & (self._combining == 0)
        self.is_mark: NDArray[np.bool_] = stays & (self._combining > 0)

    def _is_normal(self, text: str) -> bool:
        return unicodedata.is_normalized(self._form, text)

    def _starters(self) -> Iterator[tuple[int, frozenset[int]]]:
        """The starters that compose with something, and with what."""
        parts = {code: unicodedata.normalize("NFD", chr(code)) for code in self._decomposed}
        seconds = {ord(part) for whole in parts.values() for part in whole[1:]}
        seconds = {code for code in seconds if not self._changed[code]}
        vowels = {code for code in seconds if 0x1161 <= code < 0x1176}
        finals = {code for code in seconds if 0x11A8 <= code < 0x11C3}
        others = seconds - vowels - finals
        starters = {*parts}
        for code, whole in parts.items():
            if code not in _HANGUL:
                starters |= {ord(unicodedata.normalize("NFC", whole[:end])[0]) for end in range(1, len(whole))}
        starters |= {ord(whole[0]) for whole in parts.values()}
        for code in starters:
            if self._changed[code] or self._combining[code]:
                continue
            candidates = finals if code in _HANGUL else vowels if 0x1100 <= code < 0x1113 else others
            composing = frozenset(other for other in candidates if not self._is_normal(chr(code) + chr(other)))
            if composing:
                yield code, composing

    def build(self) -> Dfa:
        alphabet = self._alphabet()
        states = Numbering(_State(0, _NONE))
        starters = np.array([states[_State(0, self._composing.get(code, _NONE))] for code in alphabet.starters])
        rows: list[NDArray[np.int32]] = []
        for state in states:
            by_class = np.full(256, -1, np.int32)
            for combining in alphabet.combining:
                if combining >= state.last:
                    left = frozenset(code for code in state.composing if self._combining[code] > combining)
                    by_class[combining] = states[_State(combining, left)]
            row = np.concatenate([starters, by_class[alphabet.marks]])
            row[[alphabet.of[code] for code in state.composing]] = -1
            rows.append(row.astype(np.int32))
        firsts = np.append(0, np.flatnonzero(np.diff(alphabet.of)) + 1).astype(np.int32)
        return Dfa(
            _core.CharacterDfa.make(
                firsts, alphabet.of[firsts], np.concatenate(rows), np.ones(len(rows), np.uint8), _MOST_BYTES
            )
        )

    def _alphabet(self) -> _Alphabet:
        """Classes of characters that the automaton does not tell apart: first those of starters, then of marks."""
        of = np.full(NUM_CODE_POINTS, -1, np.int32)
        seconds = self._seconds
        starters: dict[tuple[frozenset[int], int], int] = {(_NONE, -1): 0}
        examples = [0]
        of[self._combining == 0] = 0
        for code in {*self._composing, *(code for code in seconds if not self._combining[code])}:
            key = self._composing.get(code, _NONE), code if code in seconds else -1
            if key not in starters:
                starters[key] = len(examples)
                examples.append(code)
            of[code] = starters[key]
        marks: list[int] = []
        combining = sorted(set(self._combining.tolist()) - {0})
        for one in combining:
            of[self._combining == one] = len(examples) + len(marks)
            marks.append(one)
        for code in sorted(seconds):
            if self._combining[code]:
                of[code] = len(examples) + len(marks)
                marks.append(int(self._combining[code]))
        of[self._changed] = -1
        return _Alphabet(of, examples, np.array(marks), combining)


class _Alphabet(NamedTuple):
    of: NDArray[np.int32]  # the class of each code point, -1: no text has it
    starters: list[int]  # a code point of each class of starters
    marks: NDArray[np.int64]  # the combining class of each class of marks
    combining: list[int]  # all combining classes but 0
