"""Formulas -> productions: a grammar whose sentences are the texts of the values that satisfy a schema.

In: a `Reader` and the schema's place. Out: productions over terminals. At each place of a text one *family* of
questions is open: formulas of which every value that may stand there satisfies exactly one. A value is read once, and
which of the questions it satisfies is known at its end: there is a nonterminal for each. So nothing has to be decided
before it is known, and the grammar is LALR(1) whatever the schema says.

An object or an array is read from left to right by nonterminals that stand for the formulas about the rest of it (see
``steps``): ``after`` a member, ``before`` the next one, and ``skipped`` where a name that was to come next is left out.
Only what can still become true is written.

Source: tree automata that read a value bottom-up: H. Comon and others, "Tree Automata Techniques and Applications"
(2007), chapters 1 and 8.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from pdacon.errors import LimitExceededError, UnsupportedSchemaError
from pdacon.frontends.json_schema import numbers, strings
from pdacon.frontends.json_schema.facts import (
    TYPES,
    Among,
    Facts,
    Integral,
    Matches,
    Members,
    MoreItemsThan,
    Names,
    Repeats,
    Type,
)
from pdacon.frontends.json_schema.naming import bounds_name, shape_name, words_name
from pdacon.frontends.json_schema.patterns import strings_pattern
from pdacon.frontends.json_schema.reading import Reader
from pdacon.frontends.json_schema.spelling import (
    ANY_STRING,
    CHARACTER,
    Spelling,
    counted_program,
    number_program,
    other_names_program,
    spelled,
    string_program,
    words_program,
)
from pdacon.frontends.json_schema.steps import (
    Name,
    Vector,
    at_end,
    items_step,
    members_step,
    order_of_names,
    outcomes,
    without_member,
)
from pdacon.frontends.printing import NO_NUMBER_GOES_ON
from pdacon.lexer.program import Program
from pdacon.regular import FALSE, TRUE, Dfa, Substitution

Key: TypeAlias = tuple[Hashable, ...]

MOST_PRODUCTIONS = 200_000
_MOST_REMEMBERED = 12
_LONG = 500
"""Strings of more characters are counted by the parser."""


@dataclass(frozen=True, slots=True)
class Text:
    """A terminal: one text ("str"), a pattern of Python's ``re`` ("re"), or a program, with its pattern if known."""

    kind: str
    value: str
    program: Program | None = None


class Productions:
    """Symbols by their keys, and the productions over them. Terminals are negative numbers, ``~k`` is the k-th."""

    def __init__(self) -> None:
        self.terminals: list[tuple[str, Text]] = []
        self.nonterminals: list[Key] = []
        self.productions: list[tuple[int, tuple[int, ...]]] = []
        self._terminals: dict[Hashable, int] = {}
        self._nonterminals: dict[Key, int] = {}

    def terminal(self, key: Hashable, name: str, make: Callable[[], Text]) -> int:
        """The terminal of a key; made when it is first asked for."""
        number = self._terminals.get(key)
        if number is None:
            number = self._terminals[key] = ~len(self.terminals)
            self.terminals.append((name, make()))
        return number

    def nonterminal(self, *key: Hashable) -> int:
        """The nonterminal of a key."""
        number = self._nonterminals.setdefault(key, len(self.nonterminals))
        if number == len(self.nonterminals):
            self.nonterminals.append(key)
        return number

    def add(self, lhs: int, *rhs: int) -> None:
        """Add a production."""
        self.productions.append((lhs, rhs))
        if len(self.productions) > MOST_PRODUCTIONS:
            raise UnsupportedSchemaError(
                "#", "", f"it takes more than {MOST_PRODUCTIONS:,} productions; make counts or combinations smaller"
            )


class Writer:
    """Writes the productions of families until none is left."""

    def __init__(self, reader: Reader, written: Spelling) -> None:
        self.out = Productions()
        self.reader, self.facts, self.spelling = reader, reader.facts, written
        self._pending: list[tuple[Callable[..., None], Any]] = []
        self._seen: set[Hashable] = set()
        self._possible: dict[int, bool] = {}
        self._fits: dict[tuple[str, str], bool] = {}
        self.comma = self._between("COMMA", ",", written.comma)
        self.braces = self._opening("LBRACE", "{"), self._closing("RBRACE", "}")
        self.brackets = self._opening("LSQB", "["), self._closing("RSQB", "]")

    def write(self, question: int) -> int:
        """The nonterminal of the values that satisfy a question, with all that it needs."""
        start = self.value((question,), question)
        while self._pending:
            work, argument = self._pending.pop()
            work(argument)
        return start

    def _between(self, name: str, sign: str, fixed: str) -> int:
        blanks = self.spelling.blanks
        if blanks is None:
            return self._literal(name, fixed)
        return self.out.terminal(name, name, lambda: Text("re", f"{blanks}{sign}{blanks}"))

    def _opening(self, name: str, sign: str) -> int:
        blanks = self.spelling.blanks
        if blanks is None:
            return self._literal(name, sign)
        return self.out.terminal(name, name, lambda: Text("re", f"{re.escape(sign)}{blanks}"))

    def _closing(self, name: str, sign: str) -> int:
        blanks = self.spelling.blanks
        if blanks is None:
            return self._literal(name, sign)
        return self.out.terminal(name, name, lambda: Text("re", f"{blanks}{re.escape(sign)}"))

    def _literal(self, name: str, text: str) -> int:
        return self.out.terminal(("literal", text), name, lambda: Text("str", text))

    def _later(self, work: Callable[..., None], argument: Hashable) -> None:
        key = work.__name__, argument
        if key not in self._seen:
            self._seen.add(key)
            self._pending.append((work, argument))

    def value(self, family: Vector, question: int) -> int:
        """The nonterminal of the values that satisfy one question of a family."""
        self._later(self._family, family)
        return self.out.nonterminal("value", family, question)

    def _family(self, family: Vector) -> None:
        for kind in TYPES:
            meanings = {one: self.reader.meaning(one, kind) for one in family}
            meanings = {one: formula for one, formula in meanings.items() if formula != FALSE}
            if not meanings:
                continue
            if kind in ("null", "false", "true"):
                for one in meanings:
                    self.out.add(self.value(family, one), self._literal(kind.upper(), kind))
            elif kind == "string":
                self._strings(family, meanings)
            elif kind == "number":
                self._numbers(family, meanings)
            else:
                machine = tuple(sorted(meanings.values()))
                self._later(self._array if kind == "array" else self._object, machine)
                for one, formula in meanings.items():
                    self.out.add(self.value(family, one), self.out.nonterminal(kind, machine, formula))

    # Strings and numbers

    def _strings(self, family: Vector, meanings: dict[int, int]) -> None:
        facts = self.facts
        named = strings.named_strings(facts, list(meanings.values()))
        for one, formula in meanings.items():
            words = sorted(text for text in named if strings.string_holds(facts, formula, text))
            if words:
                self.out.add(self.value(family, one), self._words("STRING", [spelled(word) for word in words]))
            rest = strings.unnamed(facts, formula)
            counts = strings.only_counts(strings.shape_of(facts, rest)) if len(meanings) == 1 and not named else None
            if counts is not None and max(counts[0], counts[1] or 0) > _LONG:
                self._long_strings(self.value(family, one), *counts)
            elif rest != FALSE and (terminal := self._other_strings(rest, frozenset(named))) is not None:
                self.out.add(self.value(family, one), terminal)

    def _long_strings(self, value: int, least: int, most: int | None) -> None:
        """Strings of many characters, which the parser counts in chunks: the states are as many as the root of that.

        A chunk is so many characters without a quote, and what ends the string has fewer, so that both are never open.
        """
        out = self.out
        size = math.isqrt(least if most is None else most) + 1

        def piece(name: str, low: int, high: int | None, closing: str) -> int:
            program = partial(counted_program, low, high, b"", closing.encode())
            pattern = f"{CHARACTER}{{{low},{'' if high is None else high}}}{closing}"
            return out.terminal((name, low, high), name, lambda: Text("program", pattern, program()))

        before = out.nonterminal("part of a string", least, most, 0)
        out.add(before, self._literal("QUOTE", '"'))
        for done in range(0, (least if most is None else most) + 1, size):
            low = max(0, least - done)
            if most is None and low < size:
                out.add(value, before, piece("REST", low, None, '"'))
                break
            high = size - 1 if most is None else min(size - 1, most - done)
            if low <= high:
                out.add(value, before, piece("REST", low, high, '"'))
            if most is None or done + size <= most:
                after = out.nonterminal("part of a string", least, most, done + size)
                out.add(after, before, piece("CHUNK", size, size, ""))
                before = after

    def _words(self, name: str, words: list[str], *, guarded: bool = False) -> int:
        if len(words) == 1 and not guarded:
            return self._literal(name, words[0])
        key = "words", tuple(words), guarded
        listed = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        pattern = f"(?:{listed}){NO_NUMBER_GOES_ON if guarded else ''}"
        program = partial(words_program, words, guarded=guarded)
        return self.out.terminal(key, words_name(name, words), lambda: Text("program", pattern, program()))

    def _other_strings(self, formula: int, excluded: frozenset[str], behind: str = "") -> int | None:
        """The terminal of the strings for which a formula holds, but some; None if there are none."""
        name = "NAME" if behind else "STRING"
        ending = behind.encode()
        key: Key
        if formula == TRUE:
            if not excluded and not behind:
                return self.out.terminal("any string", "STRING", lambda: Text("re", ANY_STRING))
            key = "other strings", excluded, behind
            listed = "|".join(re.escape(spelled(text)[1:-1]) for text in sorted(excluded))
            pattern = f'"(?!(?:{listed})"){CHARACTER}*"{behind}' if excluded else f'"{CHARACTER}*"{behind}'
            return self.out.terminal(key, name, lambda: Text("program", pattern, other_names_program(excluded, ending)))
        shape = strings.shape_of(self.facts, formula)
        counts = strings.only_counts(shape)
        if counts is not None and not excluded:
            key = "counted strings", counts, behind
            least, most = counts
            pattern = f'"{CHARACTER}{{{least},{"" if most is None else most}}}"{behind}'
            name = bounds_name(name, least or None, most)
            program = partial(counted_program, *counts, closing=b'"' + ending)
            return self.out.terminal(key, name, lambda: Text("program", pattern, program()))
        if excluded:
            shape = (Among(excluded), False, shape)
        automaton = self._automaton(formula, lambda: strings.string_automaton(shape))
        if automaton is None:
            return self._other_strings(TRUE, excluded, behind)
        if not len(automaton):
            return None
        key = "strings", shape, behind
        name = name if excluded else shape_name(name, shape)
        return self.out.terminal(
            key, name, lambda: Text("program", strings_pattern(shape, behind), string_program(automaton, ending))
        )

    def _numbers(self, family: Vector, meanings: dict[int, int]) -> None:
        facts, formulas = self.facts, self.facts.formulas
        named = {
            number
            for _, fact in facts.among(*meanings.values())
            if isinstance(fact, Among)
            for number in fact.values
            if isinstance(number, Fraction)
        }
        integral = facts.holds(Integral())
        found: list[tuple[int, Callable[[bool], int | None]]] = []
        for one, formula in meanings.items():
            values = sorted(number for number in named if numbers.number_holds(facts, formula, number))
            if values:
                words = [numbers.spelled(number) for number in values]
                found.append((one, lambda guarded, words=words: self._words("NUMBER", words, guarded=guarded)))  # type: ignore[misc]
            rest = strings.unnamed(facts, formula)
            if rest == FALSE:
                continue
            if formulas.implies(rest, integral):
                rest = formulas.restricted(rest, facts.formulas.support([integral])[0], True)
                found.append((one, lambda guarded, rest=rest: self._other_numbers(rest, named, True, guarded)))  # type: ignore[misc]
            else:
                found.append((one, lambda guarded, rest=rest: self._other_numbers(rest, named, False, guarded)))  # type: ignore[misc]
        for one, make in found:
            terminal = make(len(found) > 1)
            if terminal is not None:
                self.out.add(self.value(family, one), terminal)

    def _other_numbers(self, formula: int, excluded: set[Fraction], integral: bool, guarded: bool) -> int | None:
        if formula == TRUE and not excluded and not guarded:
            if integral:
                return self.out.terminal("any integer", "INTEGER", lambda: Text("re", numbers.ANY_INTEGER))
            return self.out.terminal("any number", "NUMBER", lambda: Text("re", numbers.ANY_NUMBER))
        shape = strings.shape_of(self.facts, formula)
        automaton = self._automaton(formula, lambda: numbers.number_automaton(shape, frozenset(excluded), integral))
        if automaton is None:
            return self._other_numbers(TRUE, excluded, integral, guarded)
        if not len(automaton):
            return None
        name = shape_name("INTEGER" if integral else "NUMBER", shape)
        key = "numbers", shape, frozenset(excluded), integral, guarded
        return self.out.terminal(key, name, lambda: Text("program", "", number_program(automaton, guarded=guarded)))

    def _automaton(self, formula: int, make: Callable[[], Dfa]) -> Dfa | None:
        """The automaton of a formula; None if it gets too large and what asks for it is dropped."""
        try:
            return make()
        except LimitExceededError:
            places = {self.reader.origins.get(fact, ("#", "")) for _, fact in self.facts.among(formula)}
            for pointer, keyword in sorted(places):
                why = "the automaton for it gets too large; make its counts or its numbers smaller"
                self.reader.drop(UnsupportedSchemaError(pointer, keyword, why))
            return None

    # Arrays and objects

    def _array(self, machine: Vector) -> None:
        out, facts = self.out, self.facts
        opening, closing = self.brackets
        step = items_step(facts)
        start = tuple(Substitution(facts.formulas, self._counted).all(machine))
        for formula, own in zip(machine, start, strict=True):
            if at_end(facts, own):
                out.add(out.nonterminal("array", machine, formula), opening, closing)
        out.add(out.nonterminal("before item", machine, start), opening)
        seen: set[Vector] = {start}
        closed: set[Vector] = set()
        pending = [start]
        while pending:
            state = pending.pop()
            before = out.nonterminal("before item", machine, state)
            found = outcomes(facts, state, step, self.possible)
            family = tuple(sorted(question for _, question in found))
            for result, question in found:
                after = out.nonterminal("after item", machine, result)
                out.add(after, before, self.value(family, question))
                if result not in closed:
                    closed.add(result)
                    self.close("array", machine, result, after, closing)
                    out.add(out.nonterminal("before item", machine, result), after, self.comma)
                if result not in seen:
                    seen.add(result)
                    pending.append(result)

    def _counted(self, variable: int) -> int:
        """A fact about an array; that items repeat, as the fact that one of few values is there twice.

        An item of which there are not few values must be at one place only, where no other item can be like it.
        """
        facts, formulas = self.facts, self.facts.formulas
        fact = facts[variable]
        if not isinstance(fact, Repeats):
            return formulas.variable(variable)
        places = [*fact.first, *([fact.rest] if fact.rest != FALSE else [])]
        values: dict[str, Any] = {}
        for k, question in enumerate(places):
            few = self._few(question)
            if few is not None:
                values.update((repr(value), value) for value in few)
                continue
            others = [formulas.conjunction(question, other) for at, other in enumerate(places) if at != k]
            if k >= len(fact.first) or any(one != FALSE and self.possible(one) for one in others):
                pointer, keyword = self.reader.origins[fact]
                why = "items can have any number of values, which no automaton remembers; give the items an enum"
                self.reader.drop(UnsupportedSchemaError(pointer, keyword, why))
                return FALSE
        if len(values) > _MOST_REMEMBERED:
            pointer, keyword = self.reader.origins[fact]
            why = f"items can have {len(values)} values, and more than {_MOST_REMEMBERED} cannot be remembered at once"
            self.reader.drop(UnsupportedSchemaError(pointer, keyword, why))
            return FALSE
        return formulas.disjunction(
            *[facts.holds(MoreItemsThan(1, self.reader.equal(value))) for value in values.values()]
        )

    def _few(self, question: int) -> list[Any] | None:
        """The values that satisfy a question, if they can be listed."""
        facts = self.facts
        found: list[Any] = []
        for kind, value in (("null", None), ("false", False), ("true", True)):
            if self.reader.meaning(question, kind) == TRUE:  # type: ignore[arg-type]
                found.append(value)
        for kind in ("string", "number", "array", "object"):
            formula = self.reader.meaning(question, kind)  # type: ignore[arg-type]
            if formula == FALSE:
                continue
            if kind in ("array", "object") or strings.unnamed(facts, formula) != FALSE:
                return None
            if kind == "string":
                named = strings.named_strings(facts, [formula])
                found += [text for text in sorted(named) if strings.string_holds(facts, formula, text)]
            else:
                values = {v for _, fact in facts.among(formula) if isinstance(fact, Among) for v in fact.values}
                found += [v for v in values if isinstance(v, Fraction) and numbers.number_holds(facts, formula, v)]
        return found

    def close(self, kind: str, machine: Vector, state: Vector, after: int, closing: int) -> None:
        for formula, left in zip(machine, state, strict=True):
            if left != FALSE and at_end(self.facts, left):
                self.out.add(self.out.nonterminal(kind, machine, formula), after, closing)

    def _object(self, machine: Vector) -> None:
        _ObjectWriter(self, machine).write()

    def key(self, name: str) -> int:
        """The terminal of a member's name, with the colon behind it."""
        blanks = self.spelling.blanks
        if blanks is None:
            return self._literal("NAME", spelled(name) + self.spelling.colon)
        return self.out.terminal(
            ("name", name), "NAME", lambda: Text("re", f"{re.escape(spelled(name))}{blanks}:{blanks}")
        )

    def other_key(self, formula: int, excluded: frozenset[str]) -> int | None:
        """The terminal of the names for which a formula holds, but some, with the colon behind them."""
        return self._other_strings(formula, excluded, self.spelling.colon)

    def possible(self, question: int) -> bool:
        """Whether any value might satisfy a question: no only where that is plain."""
        known = self._possible.get(question)
        if known is None:
            known = self._possible[question] = any(self._possible_as(question, kind) for kind in TYPES)
        return known

    def _possible_as(self, question: int, kind: Type) -> bool:
        formula = self.reader.meaning(question, kind)
        facts = self.facts
        if formula == FALSE or kind not in ("string", "number"):
            return formula != FALSE
        if strings.unnamed(facts, formula) != FALSE:
            return True
        if kind == "string":
            named = strings.named_strings(facts, [formula])
            return any(strings.string_holds(facts, formula, text) for text in named)
        values = {v for _, fact in facts.among(formula) if isinstance(fact, Among) for v in fact.values}
        return any(numbers.number_holds(facts, formula, v) for v in values if isinstance(v, Fraction))

    def fits(self, pattern: str, name: str) -> bool:
        """Whether a pattern matches a member's name."""
        key = pattern, name
        if key not in self._fits:
            self._fits[key] = strings.pattern_automaton(Matches(pattern)).accepts(name)
        return self._fits[key]


@dataclass(frozen=True, slots=True)
class _Listed:
    """One name that a schema lists."""

    writer: Writer
    listed: str

    def holds(self, formula: int) -> bool:
        return strings.string_holds(self.writer.facts, formula, self.listed)

    def fits(self, pattern: str) -> bool:
        return self.writer.fits(pattern, self.listed)


@dataclass(frozen=True, slots=True)
class _Others:
    """Names that no schema lists: those for which a formula holds. ``signs`` says which others hold for all of them."""

    facts: Facts
    formula: int
    signs: dict[int, bool]
    listed: None = None

    def holds(self, formula: int) -> bool:
        return self.signs[formula]

    def fits(self, pattern: str) -> bool:
        return self.signs[self.facts.holds(Matches(pattern))]


class _ObjectWriter:
    """The productions of one machine: the members that are named come in order, others anywhere.

    A place in the order is how many names are decided; without an order, the set of those that have come, as bits.
    """

    def __init__(self, writer: Writer, machine: Vector) -> None:
        self._writer, self._out, self._facts = writer, writer.out, writer.facts
        self._machine = machine
        self._order = order_of_names(self._facts, machine, writer.reader.ranks)
        self._unordered = writer.spelling.order == "any" and len(self._order) <= writer.spelling.max_unordered
        self._pending: list[tuple[str, int, Vector]] = []
        self._seen: set[tuple[str, int, Vector]] = set()
        self._found: dict[Hashable, list[tuple[Vector, int]]] = {}
        self._classes = self._classes_of_names()

    def write(self) -> None:
        out, machine = self._out, self._machine
        opening, closing = self._writer.braces
        for formula in machine:
            if at_end(self._facts, formula):
                out.add(out.nonterminal("object", machine, formula), opening, closing)
        out.add(self._state("before", 0, machine), opening)
        while self._pending:
            self._expand(*self._pending.pop())

    def _state(self, kind: str, at: int, vector: Vector) -> int:
        key = kind, at, vector
        if key not in self._seen:
            self._seen.add(key)
            self._pending.append(key)
        return self._out.nonterminal(kind, self._machine, at, vector)

    def _expand(self, kind: str, at: int, vector: Vector) -> None:
        out, facts = self._out, self._facts
        own = out.nonterminal(kind, self._machine, at, vector)
        if kind == "after":
            self._writer.close("object", self._machine, vector, own, self._writer.braces[1])
            out.add(self._state("before", at, vector), own, self._writer.comma)
            return
        if self._unordered:
            for k, name in enumerate(self._order):
                if not at >> k & 1:
                    found = self._outcomes(vector, _Listed(self._writer, name))
                    self._add(own, self._writer.key(name), at | 1 << k, found)
        elif at < len(self._order):
            name = self._order[at]
            found = self._outcomes(vector, _Listed(self._writer, name))
            self._add(own, self._writer.key(name), at + 1, found)
            left = without_member(facts, vector, name)
            if any(formula != FALSE for formula in left):
                out.add(self._state("skipped", at + 1, left), own)
        if kind == "before":
            for names in self._classes:
                if found := self._outcomes(vector, names):
                    terminal = self._writer.other_key(names.formula, frozenset(self._order))
                    if terminal is not None:
                        self._add(own, terminal, at, found)

    def _outcomes(self, vector: Vector, name: Name) -> list[tuple[Vector, int]]:
        key = vector, id(name) if name.listed is None else name.listed  # what is not listed lives as long as this
        found = self._found.get(key)
        if found is None:
            step = members_step(self._facts, name)
            found = self._found[key] = outcomes(self._facts, vector, step, self._writer.possible)
        return found

    def _add(self, own: int, terminal: int, at: int, found: list[tuple[Vector, int]]) -> None:
        family = tuple(sorted(question for _, question in found))
        for result, question in found:
            after = self._state("after", at, result)
            self._out.add(after, own, terminal, self._writer.value(family, question))

    def _classes_of_names(self) -> list[_Others]:
        """The names that are not listed, parted by what patterns and ``propertyNames`` say of them."""
        facts, formulas = self._facts, self._facts.formulas
        asked: dict[int, None] = {}
        for _, fact in facts.among(*self._machine):
            if isinstance(fact, Members):
                asked.update((facts.holds(Matches(pattern)), None) for pattern, _ in fact.matching)
            elif isinstance(fact, Names):
                asked[fact.formula] = None
        parts: list[tuple[int, dict[int, bool]]] = [(TRUE, {})]
        for one in asked:
            refined = []
            for formula, signs in parts:
                for sign in (True, False):
                    both = formulas.conjunction(formula, one if sign else formulas.negation(one))
                    if both != FALSE and self._nonempty(both):
                        refined.append((both, {**signs, one: sign}))
            parts = refined
        return [_Others(facts, formula, signs) for formula, signs in parts]

    def _nonempty(self, formula: int) -> bool:
        facts = self._facts
        rest = strings.unnamed(facts, formula)
        named = strings.named_strings(facts, [formula])
        if any(strings.string_holds(facts, formula, text) for text in named):
            return True
        return rest == TRUE or (rest != FALSE and len(strings.string_automaton(strings.shape_of(facts, rest))) > 0)


__all__ = ["Facts", "Productions", "Text", "Writer"]
