"""Formulas over facts about strings and numbers -> terminals of YAML, each up to the end of its line.

In: what is asked of a string, of a member's name or of a number. Out: terminals. A name ends in its colon, and a blank
or the end of the line is what follows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pdacon.base.limits import Limits
from pdacon.frontends.json_schema import numbers, strings
from pdacon.frontends.json_schema.facts import Among, Number
from pdacon.frontends.json_schema.keeping import Kept
from pdacon.frontends.json_schema.naming import shape_name, words_name
from pdacon.frontends.json_schema.productions import Text
from pdacon.frontends.json_schema.scalars import Scalars, text_size
from pdacon.frontends.json_schema.strings import Shape, choice
from pdacon.frontends.json_schema.yaml_numbers import number_text, number_texts
from pdacon.frontends.json_schema.yaml_strings import in_lines, on_one_line, plain_strings, texts_matching
from pdacon.regular import TRUE, Dfa
from pdacon.regular.ordered.program import PENDING, Program, to_automaton
from pdacon.regular.string_programs import set_program

_LIMITS = Limits(states=1_000_000, bytes=256 << 20)


class YamlScalars(Scalars):
    """Writes strings, names and numbers of YAML."""

    def name(self, name: str) -> int:
        """The terminal of a member's name: plain if it may be, else in quotes."""
        if plain_strings().accepts(name):
            return self.literal("NAME", f"{name}:")
        shape = choice(Among(frozenset([name])), True, False)
        key = "name", name
        return self._out.terminal(key, words_name("NAME", [name]), lambda: _name_text(shape))

    def other_names(self, formula: int, excluded: frozenset[str]) -> int | None:
        """The terminal of the names for which a formula holds, but some; None if there are none."""
        shape, automaton = self._strings_of(formula, excluded)
        if not len(automaton):
            return None
        name = "NAME" if excluded else shape_name("NAME", shape)
        return self._out.terminal(("names", shape), name, lambda: _name_text(shape))

    def strings(self, value: Callable[[int], int], meanings: dict[int, int]) -> None:
        """Add the strings on one line for which each of some formulas holds to the nonterminal of its question."""
        for question, formula in meanings.items():
            shape, automaton = self._strings_of(formula, frozenset())
            if len(automaton):
                name, key = shape_name("STRING", shape), ("strings", shape)
                self._out.add(value(question), self._out.terminal(key, name, lambda shape=shape: _line_text(shape)))  # type: ignore[misc]

    def lines(self, formula: int, columns: int) -> int | None:
        """The terminal of strings in lines of their own, indented by so many blanks; None if there is none."""
        shape, automaton = self._strings_of(formula, frozenset())
        key = "lines", shape, columns
        if not len(automaton):
            return None
        text = _TEXTS.get(key, lambda: _lines_text(shape, columns))
        return None if text.automaton is None else self._out.terminal(key, shape_name("LINES", shape), lambda: text)

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
        canonical, digits = self._spelling.numbers == "canonical", self._spelling.digits

        def make(formula: int) -> Dfa:
            if formula == TRUE and not excluded:
                pattern = numbers.canonical_number(digits) if canonical else numbers.any_number(digits)
                spellings = texts_matching(f"(?:{numbers.any_integer(digits) if integral else pattern})")
            else:
                shape = strings.shape_of(self._facts, formula)
                spellings = numbers.number_automaton(shape, frozenset(excluded), integral, canonical, digits)
            return number_texts(spellings)

        formula, automaton = self._automaton(formula, make)
        if not len(automaton):
            return None
        shape = strings.shape_of(self._facts, formula)
        key = "numbers", shape, frozenset(excluded), integral, canonical, digits
        name = shape_name("INTEGER" if integral else "NUMBER", shape)
        return self._out.terminal(key, name, lambda: _TEXTS.get(key, lambda: _text_of(automaton)))


def _line_text(shape: Shape) -> Text:
    return _TEXTS.get(("line", shape), lambda: _text_of(on_one_line(strings.string_automaton(shape), "\n")))


def _lines_text(shape: Shape, columns: int) -> Text:
    lines = in_lines(strings.string_automaton(shape), columns)
    return Text("automaton", "") if lines is None else _text_of(lines)


def _name_text(shape: Shape) -> Text:
    """Names, each with the colon behind it, which ends a name only before a blank or the end of the line."""

    def make() -> Text:
        program = set_program(on_one_line(strings.string_automaton(shape), ":"), _LIMITS)
        assert program is not None
        return Text("automaton", "", to_automaton(_before_blank(program)))

    return _TEXTS.get(("name", shape), make)


def _text_of(texts: Dfa) -> Text:
    program = set_program(texts, _LIMITS)
    assert program is not None
    return Text("automaton", "", to_automaton(program))


def _before_blank(program: Program) -> Program:
    """The same where a blank or the end of the line follows; its match is its last state."""
    match, pending = len(program) - 1, len(program)
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
