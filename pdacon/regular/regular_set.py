"""`RegularSet`: regular languages as values.

In: regular expressions of Python's ``re``, strings, automata of interegular. Out: sets of strings that can be combined,
compared and asked, and from which a grammar or a part of one can be made. Underneath is the least automaton over
characters, which the modules beside this one make.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from typing import Any, Literal, cast

import numpy as np

from pdacon._native import _core
from pdacon.base.arguments import require
from pdacon.base.cancelling import Watch, every, within_other_code
from pdacon.base.cautions import caution
from pdacon.base.html import preformatted
from pdacon.base.limits import Limits
from pdacon.regular.automata import Dfa, combined
from pdacon.regular.brackets import NO_POSIX, posix_class, unambiguous
from pdacon.regular.characters import Ranges, complement, union
from pdacon.regular.groups import QUOTED_TEXT, UNQUOTED_TEXT, Substrings, until
from pdacon.regular.operations import (
    THE_EMPTY,
    concatenated,
    number_of_words,
    of_bytes,
    of_deterministic_bytes,
    of_factors,
    of_ranges,
    power,
    repeated,
    up_to,
    words_in_order,
)
from pdacon.regular.ordered import compile_whole
from pdacon.regular.ordered.escaping import ESCAPES, Escapes, check_escapes
from pdacon.regular.ordered.program import MATCH, PENDING, PENDING_OR_END, SPLIT, Program
from pdacon.regular.ordered.sre import refusal
from pdacon.regular.records import TextSet
from pdacon.regular.string_programs import (
    checked_strings,
    listed,
    set_program,
    substrings_program,
    text_set,
    words_program,
)

_SHOWN = 60
_SHOWN_STRINGS = 8  # in a notebook

_NOTHING = of_ranges([()], [False], Limits(states=1, bytes=0))

_BYTE_STATES = np.zeros(5, np.uint8)
"""What `of_bytes` calls each kind of states of a program; what is pending needs more after the string than its end."""
_BYTE_STATES[[SPLIT, MATCH, PENDING, PENDING_OR_END]] = 1, 2, 3, 2


_LIMITS = Limits(bytes=256 << 20)


class RegularSet:
    """A regular set of strings. It cannot be changed; equal are sets of the same strings.

    Make one with `from_regex`, `from_choices` or `from_fsm`. Like sets of Python's, two of them have ``|``, ``&``,
    ``-``, ``^``, ``<=``, ``<`` and ``==``; besides there are ``~``, all other strings, ``+``, what consists of a string
    of one and a string of the other, and `repeat`. What takes a grammar takes a set in its place,
    and ``grammar & regular_set`` has the sentences of the one that are in the other.

    Strings are of Unicode scalar values: no set has a string with a lone surrogate, complements included.

    Examples
    --------
    >>> import pdacon
    >>> word = pdacon.RegularSet.from_regex("[a-z]+")
    >>> short = word & pdacon.RegularSet.from_regex(".{0,2}") - pdacon.RegularSet.from_choices(["of", "to"])
    >>> "in" in short, "of" in short, short.count()
    (True, False, 700)

    Notes
    -----
    A set is kept as its least deterministic automaton over characters. Those of ``&``, ``|``, ``-`` and ``^`` have at
    most the product of the states; ``+`` and `repeat` can have exponentially many. Whatever makes one raises
    LimitExceededError where it would have more states, or take more memory, than the limits of its operands allow:
    100,000 and 256 MiB, unless ``limits`` said otherwise.

    Source: M. Cognetta, D. Pohl, J. Lee and N. Okazaki, "Pitfalls, subtleties, and techniques in automata-based
    subword-level constrained generation" (2025), appendix A.2, for sets as what constraints are written with.
    """

    __slots__ = ("_limits", "_made", "_name", "_substrings")

    def __init__(self, given: Dfa | Substrings, name: str, limits: Limits | None = None) -> None:
        self._made = given if isinstance(given, Dfa) else None
        self._substrings = None if isinstance(given, Dfa) else given
        self._name = name
        self._limits = limits or _LIMITS

    @property
    def _dfa(self) -> Dfa:
        """Of the substrings of a text it is made when it is asked for: no grammar needs it, and it can be large."""
        if self._made is None:
            assert self._substrings is not None
            offset, byte, target, accepting = of_factors(self._substrings.text, self._limits)
            self._made = of_deterministic_bytes(offset, byte, byte, target, accepting, self._limits)
        return self._made

    @classmethod
    def from_regex(cls, pattern: str, *, limits: Limits | None = None) -> RegularSet:
        """The strings that ``re.fullmatch(pattern, string)`` matches.

        Parameters
        ----------
        pattern : str
            A regular expression of Python's ``re``, its flags written in it: ``(?i)yes|no``. It may have all that
            terminals of a grammar may: all but backreferences to groups that can match many strings.
        limits : pdacon.Limits, optional
            How many ``states`` and ``bytes`` this set may take, and what is made of it; ``seconds`` are those that this
            call may take. In a block of `pdacon.time_limit` all operations are limited.

        Raises
        ------
        UnsupportedGrammarError
            It is no regular expression, or none that is supported; the message names the column.
        LimitExceededError
        TypeError
        """
        if not isinstance(pattern, str):
            hint = f"; give its text, {pattern.pattern!r:.60}, with flags in it" if hasattr(pattern, "pattern") else ""
            raise TypeError(f"from_regex takes a regular expression, a str, not a {type(pattern).__name__}{hint}")
        own = _own_limits(limits)
        if (posix := posix_class(pattern)) is not None:
            caution(f"from_regex: {NO_POSIX.format(posix)}")
        meant = unambiguous(pattern)
        with Watch(own.seconds):
            dfa = _read_whole(compile_whole(meant, own.states), own)
            # In the empty text, and only there, ``re`` lets no ``\\B`` match (before Python 3.14).
            try:
                with within_other_code(len(pattern)):
                    is_empty_text = re.fullmatch(meant, "") is not None
            except re.error as error:  # a look-behind that has no fixed width, which its parser lets through
                raise refusal(pattern, error) from error
            if is_empty_text and not dfa.accepts(""):
                dfa = _either(dfa, THE_EMPTY, own)
            elif dfa.accepts("") and not is_empty_text:
                dfa = combined([dfa, THE_EMPTY], [(1, 0, 1), (0, 2, 0)], own.states, own.bytes)
        return cls(dfa, repr(pattern), own)

    @classmethod
    def from_choices(cls, strings: Iterable[str], *, limits: Limits | None = None) -> RegularSet:
        """These strings and no others, in any order; also under the name ``from_strings``.

        Raises
        ------
        TypeError
            Not all of them are str; or it is one str, which would stand for its characters.
        ValueError
            One has a lone surrogate, which no text can have.
        LimitExceededError
        """
        own = _own_limits(limits)
        words = checked_strings("from_choices", strings)
        with Watch(own.seconds):
            program, has_empty = words_program(words, own)
            dfa = _NOTHING if program is None else _read_whole(program, own)
            if has_empty:
                dfa = _either(dfa, THE_EMPTY, own)
        return cls(dfa, listed(words), own)

    from_strings = from_choices

    @classmethod
    def from_program(cls, program: Program, name: str) -> RegularSet:
        """What a terminal's automaton matches whole: for the rooms that have one."""
        limits = _LIMITS
        return cls(_read_whole(program, limits), name, limits)

    @classmethod
    def from_fsm(cls, fsm: Any, *, limits: Limits | None = None) -> RegularSet:
        """The strings that an automaton of interegular's accepts.

        Parameters
        ----------
        fsm : interegular.FSM
            Such as ``interegular.parse_pattern("[a-z]+").to_fsm()``. ``anything_else`` in its alphabet is every
            character that is not named there.
        limits : pdacon.Limits, optional
            As for `from_regex`.

        Raises
        ------
        TypeError, LimitExceededError
        ValueError
            A symbol of its alphabet is not one character.
        """
        from interegular.fsm import FSM, anything_else

        if not isinstance(fsm, FSM):
            raise TypeError(f"from_fsm takes an interegular.FSM, not a {type(fsm).__name__}")
        own = _own_limits(limits)
        named = [symbol for symbol in fsm.alphabet if symbol is not anything_else]
        for symbol in named:
            if not isinstance(symbol, str) or len(symbol) != 1:
                raise ValueError(f"from_fsm: the alphabet's {symbol!r:.40} is not one character")
        others = complement(union((ord(symbol), ord(symbol)) for symbol in named))
        ranges: dict[Any, Ranges] = {
            key: union(*((others if symbol is anything_else else ((ord(symbol), ord(symbol)),)) for symbol in symbols))
            for key, symbols in fsm.alphabet.by_transition.items()
        }
        order = dict.fromkeys([fsm.initial, *fsm.states])
        number = {state: k for k, state in enumerate(order)}
        rows = [
            [(ranges[key], number[to]) for key, to in fsm.map.get(state, {}).items() if ranges.get(key)]
            for state in order
        ]
        dfa = of_ranges(rows, [state in fsm.finals for state in order], own)
        return cls(dfa, f"an FSM of {len(order)} states", own)

    # What a grammar's patterns have as groups, docs/extensions.md

    @classmethod
    def quoted_text(cls) -> RegularSet:
        """Text in double quotes on one line, in which a backslash takes the character after it with it."""
        return cls.from_regex(QUOTED_TEXT).named("quoted text")

    @classmethod
    def unquoted_text(cls) -> RegularSet:
        """Text that YAML 1.2 reads as a plain scalar, on one line, wherever it stands."""
        return cls.from_regex(UNQUOTED_TEXT).named("unquoted text")

    @classmethod
    def text_until(cls, stop: str, *, limits: Limits | None = None) -> RegularSet:
        """The strings that end with ``stop`` and have it nowhere else.

        Raises
        ------
        TypeError, ValueError
            It is no str; or it is empty, or has a lone surrogate.
        """
        (word,) = checked_strings("text_until", [stop])
        if not word:
            raise ValueError("text_until: the text that stops it must not be empty")
        return cls.from_regex(until(word), limits=limits).named(_cut(f"text until {word!r}"))

    @classmethod
    def substring_of(cls, text: str, *, limits: Limits | None = None) -> RegularSet:
        """The strings that occur in ``text``, cut between characters; but for the empty one, which ``|`` adds.

        Parameters
        ----------
        text : str
        limits : pdacon.Limits, optional
            Without it as many states as the text may need: eleven for each character at most, mostly less than two.

        Raises
        ------
        TypeError, ValueError
            It is no str, or has a lone surrogate.
        LimitExceededError

        Notes
        -----
        Linear in the text: half a second for a megabyte. What consists of this set alone, a grammar or a terminal, has
        no more; combined with others, it is made least over characters first, which takes a table of its states and
        the characters of the text.
        """
        (word,) = checked_strings("substring_of", [text])
        own = _own_limits(limits, replace(_LIMITS, states=max(_LIMITS.states, 11 * len(word) + 1)))
        shown = word if len(word) <= _SHOWN // 2 else f"{word[: _SHOWN // 2]}..."
        return cls(Substrings(word), f"substrings of {shown!r}", own)

    @classmethod
    def delimited_list(cls, element: str | RegularSet, delimiter: str | RegularSet) -> RegularSet:
        """Strings of ``element``, one or more of them, with one of ``delimiter`` between any two.

        A str stands for itself.
        """
        one, between = _as_set("delimited_list", element), _as_set("delimited_list", delimiter)
        return (one + (between + one).repeat()).named(_cut(f"lists of {one.name}"))

    @classmethod
    def delimited_subsequence_of(cls, elements: Iterable[str | RegularSet], delimiter: str | RegularSet) -> RegularSet:
        """Strings of some of the elements, one or more of them, in their order, with ``delimiter`` between any two.

        A str stands for itself. Without elements the set is empty.
        """
        if isinstance(elements, (str, RegularSet)):
            raise TypeError("delimited_subsequence_of takes a list of elements, not one")
        between = _as_set("delimited_subsequence_of", delimiter)
        level = [_as_set("delimited_subsequence_of", one) for one in every(elements)]
        # Some of the first half, or of the second, or of both: so each element takes part in few combinations only.
        while len(level) > 1:
            pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
            level = [one if not other else one | other[0] | (one + between + other[0]) for one, *other in pairs]
        return (level[0] if level else cls(_NOTHING, "{}")).named("a subsequence")

    # Combinations

    def union(self, *others: RegularSet) -> RegularSet:
        """The strings that are in any of them: ``|``."""
        return self._folded(others, "|", [(1, 1, 0), (0, 1, 2)])

    def intersection(self, *others: RegularSet) -> RegularSet:
        """The strings that are in all of them: ``&``."""
        return self._folded(others, "&", [(1, 1, 0), (0, 2, 0)])

    def difference(self, *others: RegularSet) -> RegularSet:
        """The strings that are in this set and in none of the others: ``-``."""
        return self._folded(others, "-", [(1, 0, 1), (0, 2, 0)])

    def symmetric_difference(self, other: RegularSet) -> RegularSet:
        """The strings that are in one of them and not in both: ``^``."""
        return self._folded([other], "^", [(1, 0, 1), (1, 1, 0), (0, 2, 3)])

    def complement(self) -> RegularSet:
        """All strings that are not in it: ``~``."""
        dfa = combined([self._dfa], [(0, 0, 1)], self._limits.states, self._limits.bytes)
        return RegularSet(dfa, _cut(f"~{self._name}"), self._limits)

    def concatenation(self, *others: RegularSet) -> RegularSet:
        """What consists of a string of each, in their order: ``+``."""
        result = self
        for other in others:
            limits = result._wider(_required(other))
            dfa = concatenated(result._dfa, other._dfa, limits)
            result = RegularSet(dfa, _cut(f"({result._name} + {other._name})"), limits)
        return result

    def repeat(self, least: int = 0, most: int | None = None) -> RegularSet:
        """What consists of so many strings of it; Kleene's star, if no numbers are given.

        Raises
        ------
        ValueError
            ``most`` is less than ``least``, or ``least`` than 0.
        LimitExceededError
        """
        if least < 0 or (most is not None and most < least):
            raise ValueError(f"repeat: there are no {least} to {most} strings")
        if most is None:
            tail = _either(THE_EMPTY, repeated(self._dfa, self._limits), self._limits)
        else:
            tail = up_to(self._dfa, most - least, self._limits)
        tail = concatenated(power(self._dfa, least, self._limits), tail, self._limits)
        times = "*" if (least, most) == (0, None) else f"{{{least},{'' if most is None else most}}}"
        return RegularSet(tail, _cut(f"({self._name}){times}"), self._limits)

    def escaped(
        self, notation: Literal["json"] = "json", *, escapes: Escapes = "needed", quotes: bool = False
    ) -> RegularSet:
        """The strings as they stand between the quotes of a JSON string, or with ``quotes`` as such strings.

        Parameters
        ----------
        notation, escapes, quotes
            See `Grammar.escaped`, as for the errors.

        Examples
        --------
        >>> import pdacon
        >>> '\\\\n' in pdacon.RegularSet.from_choices(["\\n"]).escaped("json")
        True
        """
        check_escapes(notation, escapes, quotes)
        dfa, states, size = self._dfa, self._limits.states, self._limits.bytes
        if not len(dfa):
            return self
        # The quote after them leads to the state after those of the automaton, and is taken away again.
        offset, low, high, target = _core.json_strings(dfa.native, ESCAPES.index(escapes), b"", b'"', states, size)
        kept = target != len(dfa)
        offset = np.concatenate([[0], np.cumsum(kept)])[offset].astype(np.int32)
        accepting = np.zeros(len(offset) - 1, np.uint8)
        accepting[: len(dfa)] = dfa.native.accepting
        made = of_deterministic_bytes(offset, low[kept], high[kept], target[kept], accepting, self._limits)
        within = RegularSet(made, _cut(f"{self._name} within a JSON string"), self._limits)
        return '"' + within + '"' if quotes else within

    def __or__(self, other: RegularSet) -> RegularSet:
        return self.union(other) if isinstance(other, RegularSet) else NotImplemented

    def __and__(self, other: RegularSet) -> RegularSet:
        return self.intersection(other) if isinstance(other, RegularSet) else NotImplemented

    def __sub__(self, other: RegularSet) -> RegularSet:
        return self.difference(other) if isinstance(other, RegularSet) else NotImplemented

    def __xor__(self, other: RegularSet) -> RegularSet:
        return self.symmetric_difference(other) if isinstance(other, RegularSet) else NotImplemented

    def __add__(self, other: RegularSet | str) -> RegularSet:
        """The strings of one with those of the other after them; a str stands for itself."""
        other = RegularSet.from_choices([other]) if isinstance(other, str) else other
        return self.concatenation(other) if isinstance(other, RegularSet) else NotImplemented

    def __radd__(self, other: str) -> RegularSet:
        return RegularSet.from_choices([other]) + self if isinstance(other, str) else NotImplemented

    def __invert__(self) -> RegularSet:
        return self.complement()

    def _folded(self, others: Iterable[RegularSet], sign: str, diagram: list[tuple[int, int, int]]) -> RegularSet:
        result = self
        for other in others:
            limits = result._wider(_required(other))
            dfa = combined([result._dfa, other._dfa], diagram, limits.states, limits.bytes)
            result = RegularSet(dfa, _cut(f"({result._name} {sign} {other._name})"), limits)
        return result

    def _wider(self, other: RegularSet) -> Limits:
        return max(self._limits, other._limits, key=lambda limits: (limits.states, limits.bytes))

    # Questions

    def __contains__(self, string: object) -> bool:
        if not isinstance(string, str):
            raise TypeError(f"a RegularSet has strings, so that no {type(string).__name__} can be in it")
        if self._substrings is not None:
            return string != "" and string in self._substrings.text
        return self._dfa.accepts(string)

    def __bool__(self) -> bool:
        """Whether there is any string in it."""
        if self._substrings is not None:
            return self._substrings.text != ""
        return len(self._dfa) > 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RegularSet):
            return NotImplemented
        if len(self._dfa) != len(other._dfa) or self._dfa.native.num_classes != other._dfa.native.num_classes:
            return False  # both are least
        return not self.symmetric_difference(other)

    def __hash__(self) -> int:
        return hash((len(self._dfa), self._dfa.native.num_classes))

    def __le__(self, other: RegularSet) -> bool:
        """Whether all its strings are in the other set, too."""
        return not self.difference(other) if isinstance(other, RegularSet) else NotImplemented

    def __lt__(self, other: RegularSet) -> bool:
        return self <= other and self != other if isinstance(other, RegularSet) else NotImplemented

    def __ge__(self, other: RegularSet) -> bool:
        return other <= self if isinstance(other, RegularSet) else NotImplemented

    def __gt__(self, other: RegularSet) -> bool:
        return other < self if isinstance(other, RegularSet) else NotImplemented

    def isdisjoint(self, other: RegularSet) -> bool:
        """Whether no string is in both."""
        return not self.intersection(other)

    def is_finite(self) -> bool:
        """Whether it has finitely many strings."""
        return self.count() is not None

    def count(self) -> int | None:
        """How many strings there are; None if there is no end of them. Linear in the edges of the automaton."""
        return number_of_words(self._dfa)

    def shortest(self) -> str | None:
        """Of its shortest strings the first by code points; None if it is empty."""
        return next(words_in_order(self._dfa), None)

    def strings(self, most: int) -> list[str]:
        """The first so many strings: the shorter first, those of one length by code points."""
        return list(islice(words_in_order(self._dfa), most))

    def __iter__(self) -> Any:
        """All strings of a finite set, in the order of `strings`.

        Raises
        ------
        ValueError
            There is no end of them.
        """
        if not self.is_finite():
            raise ValueError(f"there is no end of the strings of {self!r}; strings(most) gives the first of them")
        return words_in_order(self._dfa)

    @property
    def automaton(self) -> Dfa:
        """The least automaton over characters: for the rooms that make something of a set."""
        return self._dfa

    @property
    def name(self) -> str:
        """What it was made of, cut short: for messages."""
        return self._name

    def program(self) -> Program | None:
        """What reads the longest string of it, the empty one left out; None if there is no other."""
        if self._substrings is not None:
            return substrings_program(self._substrings.text, self._limits)
        return set_program(self._dfa, self._limits)

    def text_set(self) -> TextSet:
        """The set as a grammar keeps it, that has only texts within it. Raises EmptyLanguageError."""
        return text_set(self._dfa, self._name, self._limits)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the least automaton, by which files tell sets apart: sets with equal ones are equal."""
        native = self._dfa.native
        arrays = (native.firsts, native.numbers, native.table, native.accepting)
        return sha256(b"".join(array.size.to_bytes(8, "little") + array.tobytes() for array in arrays)).hexdigest()

    def named(self, name: str) -> RegularSet:
        """The same set under a name of your own: it is how ``repr`` and `Matcher.explain` call it."""
        return RegularSet(self._given, name, self._limits)

    @property
    def _given(self) -> Dfa | Substrings:
        return self._dfa if self._substrings is None else self._substrings

    def __repr__(self) -> str:
        if self._substrings is not None:
            return f"<RegularSet {self._name}: a text of {len(self._substrings.text):,} characters>"
        count = self.count()
        if count is None:
            size = "no end of strings"
        elif count < 10**9:
            size = f"{count:,} string{'' if count == 1 else 's'}"
        else:
            size = f"some 10^{math.log10(count):.0f} strings"
        example = self.shortest()
        such = "" if example is None else f", such as {_cut(repr(example))}"
        states = f"{len(self._dfa):,} state{'' if len(self._dfa) == 1 else 's'}"
        return f"<RegularSet {self._name}: {states}, {size}{such}>"

    def _repr_html_(self) -> str:
        """What it is, and the shortest of its strings."""
        some = [] if self._substrings is not None else self.strings(_SHOWN_STRINGS)
        shown = [f"  {_cut(repr(text))}" for text in some]
        return preformatted("\n".join([repr(self), *shown]))

    def __reduce__(self) -> tuple[Any, ...]:
        return RegularSet, (self._given, self._name, self._limits)


def _own_limits(given: object, usual: Limits = _LIMITS) -> Limits:
    """The limits that a way in is given. Raises TypeError: they are none."""
    if given is None:
        return usual
    require("RegularSet", "limits", given, Limits)
    return cast("Limits", given)


def _read_whole(program: Program, limits: Limits) -> Dfa:
    """The strings that any thread of a program reads whole."""
    arrays = (_BYTE_STATES[program.kind], program.offset, program.lo, program.hi, program.target)
    return of_bytes(*arrays, int(program.entries[0]), limits)


def _required(other: object) -> RegularSet:
    if not isinstance(other, RegularSet):
        raise TypeError(
            f"expected a pdacon.RegularSet, not a {type(other).__name__}; make one with RegularSet.from_choices"
        )
    return other


def _as_set(caller: str, given: str | RegularSet) -> RegularSet:
    if isinstance(given, RegularSet):
        return given
    if isinstance(given, str):
        return RegularSet.from_choices([given])
    raise TypeError(f"{caller} takes strings and RegularSets, not {given!r:.40}")


def _either(one: Dfa, other: Dfa, limits: Limits) -> Dfa:
    return combined([one, other], [(1, 1, 0), (0, 1, 2)], limits.states, limits.bytes)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
