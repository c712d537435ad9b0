"""Formulas over facts about strings and numbers -> terminals of YAML, each up to the end of its line.

In: what is asked of a string, of a member's name or of a number. Out: terminals. A name ends in its colon, and a blank
or the end of the line is what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, partial

import numpy as np

from pdacon.base.limits import Limits
from pdacon.frontends.json_schema import strings
from pdacon.frontends.json_schema.counted import Counted, chunk_length
from pdacon.frontends.json_schema.facts import Among, Number
from pdacon.frontends.json_schema.keeping import Kept
from pdacon.frontends.json_schema.naming import shape_name, words_name
from pdacon.frontends.json_schema.productions import PART, Productions, Text
from pdacon.frontends.json_schema.programs import plain_program, yaml_quoted_program
from pdacon.frontends.json_schema.scalars import Scalars, text_size
from pdacon.frontends.json_schema.schema_formulas import Reader
from pdacon.frontends.json_schema.spelling import Spelling
from pdacon.frontends.json_schema.strings import Shape, choice
from pdacon.frontends.json_schema.yaml_numbers import number_text, number_texts
from pdacon.frontends.json_schema.yaml_strings import (
    both,
    in_lines,
    in_single_quotes,
    indented,
    plain_strings,
    texts_matching,
)
from pdacon.regular import TRUE, Dfa
from pdacon.regular.operations import concatenated
from pdacon.regular.ordered.program import MATCH, PENDING, Program, to_automaton
from pdacon.regular.string_programs import longest_program, set_program, utf8

_LIMITS = Limits(states=1_000_000, bytes=256 << 20)


_MOST_CHARACTERS = 200
"""Strings of more characters, where the schema counts them, are counted by the parser."""
_LARGE = 5_000
"""Also those for which an automaton has more states, if it counts them."""
_LARGEST_IN_LINES = 4_000
"""Strings whose automaton has more states are not written in lines."""
_KINDS = _PLAIN, _SINGLE, _DOUBLE = "plain", "single", "double"
_LINE_END = b"\n"
_NO_TEXT = Text("automaton", "")
"""In place of a terminal that would match nothing."""


class YamlScalars(Scalars):
    """Writes strings, names and numbers of YAML.

    Attributes
    ----------
    may_be_names : bool
        Whether names of members may stand where the scalars do: they would begin as chunks of long strings do.
    """

    def __init__(self, out: Productions, reader: Reader, written: Spelling) -> None:
        super().__init__(out, reader, written)
        self.may_be_names = False
        self._symbols: dict[Shape, int] = {}  # of names

    def name(self, name: str) -> int:
        """The symbol of a member's name: plain if it may be, else in quotes."""
        if plain_strings().accepts(name):
            return self.literal("NAME", f"{name}:")
        return self._names(choice(Among(frozenset([name])), True, False), words_name("NAME", [name]))

    def other_names(self, formula: int, excluded: frozenset[str]) -> int | None:
        """The symbol of the names for which a formula holds, but some; None if there are none."""
        shape, automaton = self._strings_of(formula, excluded)
        return self._names(shape, "NAME" if excluded else shape_name("NAME", shape)) if len(automaton) else None

    def _names(self, shape: Shape, name: str) -> int:
        """A nonterminal, of plain names and of those in quotes."""
        known = self._symbols.get(shape)
        if known is None:
            known = self._symbols[shape] = self._out.nonterminal(PART, -1, len(self._symbols))
            for kind in _KINDS:
                text = _TEXTS.get(("name", kind, shape), lambda kind=kind: _name_text(kind, shape))  # type: ignore[misc]
                if text.automaton is not None:
                    key = "name", kind, shape
                    self._out.add(known, self._out.terminal(key, name, lambda text=text: text))  # type: ignore[misc]
        return known

    def strings(self, value: Callable[[int], int], meanings: dict[int, int]) -> None:
        """Add the strings on one line for which each of some formulas holds to the nonterminal of its question."""
        for question, formula in meanings.items():
            counts = strings.counts_and_rest(self._facts, formula)
            if counts is not None and not self.may_be_names and self._is_long(*counts):
                self._long_strings(value(question), *counts)
                continue
            shape, automaton = self._strings_of(formula, frozenset())
            for kind in _KINDS if len(automaton) else ():
                self._add_text(value(question), ("line", kind, shape), partial(_line_text, kind, shape))

    def _add_text(self, value: int, key: tuple[Hashable, ...], make: Callable[[], Text]) -> None:
        """Add a text to the strings of a value, if it matches anything."""
        text = _TEXTS.get(key, make)
        if text.automaton is not None:
            self._out.add(value, self._out.terminal(key, shape_name("STRING", key[-1]), lambda: text))  # type: ignore[arg-type]

    def _long_strings(self, value: int, least: int, most: int | None, contents: Shape) -> None:
        """Strings of many characters, which the parser counts in chunks: plain, and in double quotes."""
        assert most is not None
        own = strings.string_automaton(contents)
        plain = both(own, plain_strings())
        if len(plain):
            counted = Counted.in_notation(plain, _PLAIN, plain_program(plain, _LINE_END))
            self._in_chunks(value, least, most, counted, ())
        counted = Counted.in_notation(own, _DOUBLE, yaml_quoted_program(own, b"", b'"' + _LINE_END))
        self._in_chunks(value, least, most, counted, (self.literal("QUOTE", '"'),))

    def _in_chunks(self, value: int, least: int, most: int, counted: Counted, opening: tuple[int, ...]) -> None:
        """Strings of so many characters in chunks: all but the last have the same number of them."""
        out, family = self._out, self._families.setdefault(counted.family, len(self._families))
        size = chunk_length(most, len(counted.one))

        def piece(name: str, low: int, high: int) -> int:
            key = name, low, high, counted.family

            def text() -> Text:
                program = counted.rest(low, high) if name == "END" else counted.chunk(high)
                return Text("automaton", "", to_automaton(program))

            return out.terminal(key, f"STRING_{name}", lambda: _TEXTS.get(key, text))

        before = opening
        for done in range(0, most + 1, size):
            low, high = max(0, least - done), min(size - 1, most - done)
            if low <= high:
                out.add(value, *before, piece("END", low, high))
            if done + size <= most:
                after = out.nonterminal(PART, least, most, done + size, family)
                out.add(after, *before, piece("CHUNK", size, size))
                before = (after,)

    def lines(self, formula: int, columns: int) -> int | None:
        """The terminal of strings in lines of their own, indented by so many blanks; None if there is none."""
        shape, automaton = self._strings_of(formula, frozenset())
        if not 0 < len(automaton) <= _LARGEST_IN_LINES:
            return None
        key = "lines", shape, columns
        text = _TEXTS.get(key, lambda: _lines_text(shape, columns))
        return None if text.automaton is None else self._out.terminal(key, shape_name("LINES", shape), lambda: text)

    def _is_long(self, least: int, most: int | None, contents: Shape) -> bool:
        if contents is True:
            return most is not None and most > _MOST_CHARACTERS
        return super()._is_long(least, most, contents)

    def _strings_of(self, formula: int, excluded: frozenset[str]) -> tuple[Shape, Dfa]:
        """The strings for which a formula holds, but some, as a shape and as an automaton."""

        def shape_of(formula: int) -> Shape:
            shape = strings.shape_of(self._facts, formula)
            return choice(Among(excluded), False, shape) if excluded else shape

        formula, automaton = self._automaton(formula, lambda formula: strings.string_automaton(shape_of(formula)))
        return shape_of(formula), automaton

    def words(self, name: str, words: list[str], *, guarded: bool = False) -> int:
        """The terminal of some numbers; nothing goes on behind the end of the line."""
        texts = dict.fromkeys(f"{number_text(word)}\n" for word in words)
        return super().words(name, list(texts))

    def _other_numbers(
        self, formula: int, excluded: set[Number], integral: bool, decimal: bool, guarded: bool
    ) -> int | None:
        pattern = self._any_number(integral, decimal)

        def make(formula: int) -> Dfa:
            if formula == TRUE and not excluded and pattern is not None:
                return number_texts(texts_matching(f"(?:{pattern})"))
            return number_texts(self._number_spellings(excluded, integral, decimal, formula))

        formula, automaton = self._automaton(formula, make)
        if not len(automaton):
            return None
        shape, spelling = strings.shape_of(self._facts, formula), self._spelling
        name = shape_name("INTEGER" if integral else "NUMBER", shape)
        written = spelling.numbers, spelling.digits, spelling.exponents
        key = "numbers", shape, frozenset(excluded), integral, decimal, written
        return self._out.terminal(key, name, lambda: _TEXTS.get(key, lambda: _text_of(automaton)))


def _program(kind: str, contents: Dfa, ending: bytes) -> Program | None:
    """The strings of an automaton as they are written on one line, with what stands after each; None: none is."""
    if kind == _PLAIN:
        plain = both(contents, plain_strings())
        if not len(plain):
            return None
        if ending == _LINE_END:
            return plain_program(plain, ending)
        return set_program(concatenated(plain, texts_matching(ending.decode()), _LIMITS), _LIMITS)
    if kind == _DOUBLE:
        return yaml_quoted_program(contents, b'"', b'"' + ending)
    return set_program(in_single_quotes(contents, ending.decode()), _LIMITS)


def _line_text(kind: str, shape: Shape) -> Text:
    program = _program(kind, strings.string_automaton(shape), _LINE_END)
    return _NO_TEXT if program is None else Text("automaton", "", to_automaton(program))


def _name_text(kind: str, shape: Shape) -> Text:
    """Names, each with the colon behind it, which ends a name only before a blank or the end of the line."""
    program = _program(kind, strings.string_automaton(shape), b":")
    return _NO_TEXT if program is None else Text("automaton", "", to_automaton(_before_blank(program)))


def _lines_text(shape: Shape, columns: int) -> Text:
    lines = _lines_of(shape)
    if not len(lines):
        return _NO_TEXT
    arrays = utf8(lines, _LIMITS)
    accepting = np.zeros(len(arrays[0]) - 1, np.uint8)
    accepting[: len(lines)] = lines.native.accepting
    arrays, accepting = indented(arrays, accepting, columns)
    return Text("automaton", "", to_automaton(longest_program(*arrays, accepting)))


@lru_cache(maxsize=256)
def _lines_of(shape: Shape) -> Dfa:
    return in_lines(strings.string_automaton(shape))


def _text_of(texts: Dfa) -> Text:
    program = set_program(texts, _LIMITS)
    assert program is not None
    return Text("automaton", "", to_automaton(program))


def _before_blank(program: Program) -> Program:
    """The same where a blank or the end of the line follows."""
    match, pending = int(np.flatnonzero(program.kind == MATCH)[0]), len(program)
    ends = np.array([ord("\n"), ord(" ")], np.uint8)
    return Program(
        kind=np.append(program.kind, np.uint8(PENDING)),
        offset=np.append(program.offset, np.int32(len(program.target) + len(ends))),
        lo=np.append(program.lo, ends),
        hi=np.append(program.hi, ends),
        target=np.append(
            np.where(program.target == match, np.int32(pending), program.target), np.full(len(ends), match, np.int32)
        ),
        entries=program.entries,
        look_behind=program.look_behind,
    )


_TEXTS = Kept(32 << 20, text_size)
"""Terminals by what they mean."""
