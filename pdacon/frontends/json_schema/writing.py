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

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from pdacon.cancelling import Watch
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema import numbers, strings
from pdacon.frontends.json_schema.facts import (
    TYPES,
    Among,
    Facts,
    Matches,
    Members,
    MoreItemsThan,
    Names,
    Repeats,
    Type,
)
from pdacon.frontends.json_schema.productions import Productions
from pdacon.frontends.json_schema.punctuation import Punctuation
from pdacon.frontends.json_schema.reading import Reader
from pdacon.frontends.json_schema.scalars import Scalars
from pdacon.frontends.json_schema.spelling import Spelling
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
from pdacon.regular import FALSE, TRUE, Substitution

_MOST_REMEMBERED = 10
_MOST_NAMES = 64
"""Up to so many names of members that a schema leaves open, but finitely many, each comes once and in order."""


class Writer:
    """Writes the productions of families until none is left."""

    def __init__(self, reader: Reader, written: Spelling, watch: Watch) -> None:
        self._watch = watch
        self.out = Productions()
        self.reader, self.facts, self.spelling = reader, reader.facts, written
        self._pending: list[tuple[Callable[..., None], Any, int]] = []
        self._seen: set[Hashable] = set()
        self._possible: dict[int, bool] = {}
        self._fits: dict[tuple[str, str], bool] = {}
        self._counts_depth = written.whitespace == "indent"
        self.scalars = Scalars(self.out, reader, written)
        self.signs = Punctuation(self.out, written)
        self.depth = 0  # of what is being written; always 0 where no spelling depends on it
        self.is_deepest = False

    def write(self, question: int) -> int:
        """The nonterminal of the values that satisfy a question, with all that it needs."""
        start = self.value((question,), question)
        while self._pending:
            self._watch.left()
            work, argument, self.depth = self._pending.pop()
            self.is_deepest = self._counts_depth and self.depth == self.spelling.max_depth
            work(argument)
        return start

    def _later(self, work: Callable[..., None], argument: Hashable, depth: int) -> None:
        key = work.__name__, argument, depth
        if key not in self._seen:
            self._seen.add(key)
            self._pending.append((work, argument, depth))

    def nonterminal(self, *key: Hashable) -> int:
        """The nonterminal of a key at the depth of what is being written."""
        return self.out.nonterminal(*key, self.depth)

    def value(self, family: Vector, question: int) -> int:
        """The nonterminal of the values that satisfy one question of a family."""
        self._later(self._family, family, self.depth)
        return self.nonterminal("value", family, question)

    def inner_value(self, family: Vector, question: int) -> int:
        """The same for what lies within the array or the object that is being written."""
        depth = self.depth + self._counts_depth
        self._later(self._family, family, depth)
        return self.out.nonterminal("value", family, question, depth)

    def _family(self, family: Vector) -> None:
        for kind in TYPES:
            meanings = {one: self.reader.meaning(one, kind) for one in family}
            meanings = {one: formula for one, formula in meanings.items() if formula != FALSE}
            if not meanings:
                continue
            if kind in ("null", "false", "true"):
                for one in meanings:
                    self.out.add(self.value(family, one), self.scalars.literal(kind.upper(), kind))
            elif kind == "string":
                self.scalars.strings(partial(self.value, family), meanings)
            elif kind == "number":
                self.scalars.numbers(partial(self.value, family), meanings)
            else:
                machine = tuple(sorted(meanings.values()))
                self._later(self._array if kind == "array" else self._object, machine, self.depth)
                for one, formula in meanings.items():
                    self.out.add(self.value(family, one), self.nonterminal(kind, machine, formula))

    def _array(self, machine: Vector) -> None:
        out, facts = self.out, self.facts
        step = items_step(facts)
        start = tuple(Substitution(facts.formulas, self._counted).all(machine))
        for formula, own in zip(machine, start, strict=True):
            if at_end(facts, own):
                out.add(self.nonterminal("array", machine, formula), *self.signs.empty("[]", self.depth))
        if self.is_deepest:
            return
        comma, closing = self.signs.comma(self.depth), self.signs.closing("]", self.depth)
        out.add(self.nonterminal("before item", machine, start), self.signs.opening("[", self.depth))
        seen: set[Vector] = {start}
        closed: set[Vector] = set()
        pending = [start]
        while pending:
            state = pending.pop()
            before = self.nonterminal("before item", machine, state)
            found = outcomes(facts, state, step, self.possible)
            family = tuple(sorted(question for _, question in found))
            for result, question in found:
                after = self.nonterminal("after item", machine, result)
                out.add(after, before, self.inner_value(family, question))
                if result not in closed:
                    closed.add(result)
                    self.close("array", machine, result, after, closing)
                    out.add(self.nonterminal("before item", machine, result), after, comma)
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
                self.out.add(self.nonterminal(kind, machine, formula), after, closing)

    def _object(self, machine: Vector) -> None:
        _ObjectWriter(self, machine).write()

    def possible(self, question: int) -> bool:
        """Whether any value might satisfy a question: no only where that is plain."""
        self._watch.left()
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
    """The productions of one machine: members that are named, or have one of few names, come in order, others anywhere.

    A place in the order is how many names are decided; without an order, the set of those that have come, as bits.
    """

    def __init__(self, writer: Writer, machine: Vector) -> None:
        self._writer, self._out, self._facts = writer, writer.out, writer.facts
        self._machine = machine
        self._order = order_of_names(self._facts, machine, writer.reader.ranks)
        self._pending: list[tuple[str, int, Vector]] = []
        self._seen: set[tuple[str, int, Vector]] = set()
        self._found: dict[Hashable, list[tuple[Vector, int]]] = {}
        self._classes: list[_Others] = []
        for names in self._classes_of_names():
            few = self._few_names(names.formula)
            if few is None:
                self._classes.append(names)
            else:
                self._order += tuple(name for name in few if name not in self._order)
        self._unordered = writer.spelling.order == "any" and len(self._order) <= writer.spelling.max_unordered
        signs, depth = writer.signs, writer.depth
        self._comma, self._colon, self._closing = signs.comma(depth), signs.colon(), signs.closing("}", depth)

    def write(self) -> None:
        out, machine = self._out, self._machine
        writer = self._writer
        for formula in machine:
            if at_end(self._facts, formula):
                out.add(writer.nonterminal("object", machine, formula), *writer.signs.empty("{}", writer.depth))
        if writer.is_deepest:
            return
        out.add(self._state("before", 0, machine), writer.signs.opening("{", writer.depth))
        while self._pending:
            self._expand(*self._pending.pop())

    def _state(self, kind: str, at: int, vector: Vector) -> int:
        key = kind, at, vector
        if key not in self._seen:
            self._seen.add(key)
            self._pending.append(key)
        return self._writer.nonterminal(kind, self._machine, at, vector)

    def _expand(self, kind: str, at: int, vector: Vector) -> None:
        out, facts = self._out, self._facts
        own = self._writer.nonterminal(kind, self._machine, at, vector)
        if kind == "after":
            self._writer.close("object", self._machine, vector, own, self._closing)
            out.add(self._state("before", at, vector), own, self._comma)
            return
        if self._unordered:
            for k, name in enumerate(self._order):
                if not at >> k & 1:
                    found = self._outcomes(vector, _Listed(self._writer, name))
                    self._add(own, self._writer.scalars.name(name), at | 1 << k, found)
        elif at < len(self._order):
            name = self._order[at]
            found = self._outcomes(vector, _Listed(self._writer, name))
            self._add(own, self._writer.scalars.name(name), at + 1, found)
            left = without_member(facts, vector, name)
            if any(formula != FALSE for formula in left):
                out.add(self._state("skipped", at + 1, left), own)
        if kind == "before":
            for names in self._classes:
                if found := self._outcomes(vector, names):
                    terminal = self._writer.scalars.other_names(names.formula, frozenset(self._order))
                    if terminal is not None:
                        self._add(own, terminal, at, found)

    def _outcomes(self, vector: Vector, name: Name) -> list[tuple[Vector, int]]:
        key = vector, id(name) if name.listed is None else name.listed  # what is not listed lives as long as this
        found = self._found.get(key)
        if found is None:
            step = members_step(self._facts, name)
            found = self._found[key] = outcomes(self._facts, vector, step, self._writer.possible)
        return found

    def _add(self, own: int, name: int, at: int, found: list[tuple[Vector, int]]) -> None:
        family = tuple(sorted(question for _, question in found))
        for result, question in found:
            after = self._state("after", at, result)
            self._out.add(after, own, name, *self._colon, self._writer.inner_value(family, question))

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

    def _few_names(self, formula: int) -> list[str] | None:
        """The names for which a formula holds, if they are few: they are written as those that a schema lists."""
        facts, ranks = self._facts, self._writer.reader.ranks_of_values
        named = strings.named_strings(facts, [formula])
        names = {text for text in named if strings.string_holds(facts, formula, text)}
        rest = strings.unnamed(facts, formula)
        if rest != FALSE:
            more = None if rest == TRUE else self._words(rest)
            if more is None:
                return None
            names.update(text for text in more if text not in named)
        ordered = sorted(names, key=lambda name: (ranks.get(name, len(ranks)), name))
        return ordered if len(ordered) <= _MOST_NAMES else None

    def _words(self, formula: int) -> list[str] | None:
        return strings.string_automaton(strings.shape_of(self._facts, formula)).words(_MOST_NAMES)

    def _nonempty(self, formula: int) -> bool:
        facts = self._facts
        rest = strings.unnamed(facts, formula)
        named = strings.named_strings(facts, [formula])
        if any(strings.string_holds(facts, formula, text) for text in named):
            return True
        return rest == TRUE or (rest != FALSE and len(strings.string_automaton(strings.shape_of(facts, rest))) > 0)
