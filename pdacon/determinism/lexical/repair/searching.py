"""Two grammars read the same texts byte by byte, until a text is found that only one of them has.

In: two grammars with their lexers. Out: a short text that is lost, one that is gained, and how many texts were read.
A grammar knows after each byte which bytes a sentence can go on with, and how it is ended in the shortest way. So a
text is lost as soon as a byte is allowed by the one grammar and not by the other one, and each text that is read stands
for all those that are one byte longer.
"""

from __future__ import annotations

import numpy as np

from pdacon._native import _core
from pdacon.composition import byte_vocabulary, compose
from pdacon.determinism.deadline import REPAIR, Deadline
from pdacon.determinism.lexical.witness_texts import WitnessTexts, legibility
from pdacon.lalr import Tables

_LONGEST_END = 200  # bytes: a text that is longer shows nothing
_DEEPEST = 4_000  # bytes of a text


class Reader:
    """A grammar as it reads texts."""

    def __init__(self, texts: WitnessTexts, tables: Tables, deadline: Deadline) -> None:
        self.texts = texts
        self._vocabulary = byte_vocabulary(texts.grammar)
        self._pda = compose(texts.lexer, tables, self._vocabulary, REPAIR).pda(0)
        self.is_empty: bool = self._pda.empty_language()
        self._row = np.zeros((1, len(self._vocabulary) // 32 + 2), np.int32)
        self._allowed: dict[int, int] = {}

    def start(self) -> _core.Matcher:
        return _core.Matcher(self._pda, _DEEPEST, False, False)

    def allowed(self, matcher: _core.Matcher) -> int:
        """The bytes that may come next: bit k is byte k."""
        mask = matcher.mask_id()
        if mask not in self._allowed:
            matcher.fill_bitmask(self._row, 0)
            self._allowed[mask] = int.from_bytes(self._row.tobytes()[:32], "little")
        return self._allowed[mask]


class Search:
    """What is lost and gained of the texts that were read."""

    def __init__(self, before: Reader, after: Reader, deadline: Deadline) -> None:
        # The shortest text that was found so far and that only ``before`` has, or only ``after``.
        self.lost: bytes | None = None
        self.gained: bytes | None = None
        # Texts of ``before`` that have been read; those that ``after`` has, too; those that were said to be touched.
        self.tried = self.kept = self.touched = 0
        self.out_of_time = False  # whether some were not read
        self.before, self.after = before, after
        self._deadline = deadline

    def look(self, most: int) -> None:
        """Read all texts, the shortest first, as far as so many of them lead; one byte of each class."""
        classes = zip(self.before.texts.classes, self.after.texts.classes, strict=True)
        readable = sorted(enumerate(classes), key=lambda pair: legibility(pair[0]))
        some = sum(1 << byte for byte in {pair: byte for byte, pair in reversed(readable)}.values())
        pending = [(b"", self.before.start(), self.after.start())]
        seen: set[tuple[object, ...]] = set()
        for text, before, after in pending:  # grows
            if (self.lost is not None and self.gained is not None) or self._is_late():
                return
            both = self._compare(text, before, after, some) & some
            while both and len(pending) < most:
                byte = (both & -both).bit_length() - 1
                both &= both - 1
                one, other = _core.Matcher(before), _core.Matcher(after)
                one.accept_bytes(bytes([byte]))
                other.accept_bytes(bytes([byte]))
                key = one.mask_id(), other.mask_id(), tuple(one._stack()), tuple(other._stack())
                if key not in seen:
                    seen.add(key)
                    pending.append((text + bytes([byte]), one, other))

    def read(self, text: bytes, *, touched: bool = False) -> None:
        """Read one text, and all that are one byte longer than what it begins with."""
        if self._is_late():
            return
        before, after = self.before.start(), self.after.start()
        for at in range(len(text) + 1):
            both = self._compare(text[:at], before, after)
            if at == len(text):
                break
            if not both >> text[at] & 1:
                self._count(text, before, touched=touched, at=at)
                return
            before.accept_bytes(text[at : at + 1])
            after.accept_bytes(text[at : at + 1])
        self._count(text, before, touched=touched, at=len(text), kept=after.is_accepting())

    def _count(self, text: bytes, before: _core.Matcher, *, touched: bool, at: int, kept: bool = False) -> None:
        if before.accept_bytes(text[at:]) and before.is_accepting():
            self.tried += 1
            self.kept += kept
            self.touched += touched

    def _compare(self, text: bytes, before: _core.Matcher, after: _core.Matcher, some: int = -1) -> int:
        """The bytes with which both grammars go on; what only one of them has is noted."""
        mine, its = self.before.allowed(before), self.after.allowed(after)
        if before.is_accepting() != after.is_accepting():
            self._note(text, lost=before.is_accepting())
        for matcher, only in ((before, mine & ~its), (after, its & ~mine)):
            lost = matcher is before
            known = self.lost if lost else self.gained
            if only and (known is None or len(known) > len(text)):
                byte = best_byte(only & some or only)
                further = _core.Matcher(matcher)
                further.accept_bytes(byte)
                end = further.shortest_completion()
                if len(end) <= _LONGEST_END:
                    self._note(text + byte + end, lost=lost)
        return mine & its

    def _note(self, text: bytes, *, lost: bool) -> None:
        known = self.lost if lost else self.gained
        if known is None or _readability(text) < _readability(known):
            if lost:
                self.lost = text
            else:
                self.gained = text

    def _is_late(self) -> bool:
        self.out_of_time = self.out_of_time or self._deadline.passed()
        return self.out_of_time


def _readability(text: bytes) -> tuple[int, bool, bytes]:
    """Sorts short texts to the front, and of those of one length what begins with no blank."""
    return len(text), text[:1].isspace(), text


def best_byte(mask: int) -> bytes:
    """Of a set of bytes the one that is best to read."""
    members = [byte for byte in range(256) if mask >> byte & 1]
    return bytes([min(members, key=legibility)])
