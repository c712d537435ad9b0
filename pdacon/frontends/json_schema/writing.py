"""Formulas -> productions: a grammar whose sentences are the texts of the values that satisfy a schema.

In: a `Reader` and the schema's place. Out: productions over terminals. At each place of a text one *family* of
questions is open: formulas of which every value that may stand there satisfies exactly one. A value is read once, and
which of the questions it satisfies is known at its end: there is a nonterminal for each. So nothing has to be decided
before it is known, and the grammar is LALR(1) whatever the schema says.

An object or an array is read from left to right by nonterminals that stand for the formulas about the rest of it (see
``steps``): the core writes them (``frontends/containers.hpp``). Only what can still become true is written.

Source: tree automata that read a value bottom-up: H. Comon and others, "Tree Automata Techniques and Applications"
(2007), chapters 1 and 8.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pdacon._native import _core
from pdacon.base.cancelling import every, look
from pdacon.errors import UnsupportedSchemaError
from pdacon.frontends.json_schema import strings
from pdacon.frontends.json_schema.counting_by_order import may_count_in_some_orders
from pdacon.frontends.json_schema.facts import (
    Has,
    Matches,
    Members,
    MoreItemsThan,
    MoreMembersThan,
    Names,
    Repeats,
    Satisfies,
)
from pdacon.frontends.json_schema.few_values import MOST_REMEMBERED, few_values
from pdacon.frontends.json_schema.holding import FittingPatterns, Holding
from pdacon.frontends.json_schema.listed_containers import ListedContainers
from pdacon.frontends.json_schema.member_order import NamesInOrder, order_of_names
from pdacon.frontends.json_schema.notation import Marks, Notation
from pdacon.frontends.json_schema.pattern_words import MOST_NAMES, names_spelled_out
from pdacon.frontends.json_schema.productions import ARRAY, OBJECT, Productions
from pdacon.frontends.json_schema.punctuation import Punctuation
from pdacon.frontends.json_schema.questions import Questions
from pdacon.frontends.json_schema.scalars import Scalars
from pdacon.frontends.json_schema.schema_formulas import Reader, base_of
from pdacon.frontends.json_schema.spelling import Spelling
from pdacon.frontends.json_schema.steps import (
    ItemSteps,
    MemberSteps,
    Name,
    Vector,
)
from pdacon.regular import FALSE, TRUE, Substitution

_MOST_AS_A_WHOLE = 10  # values of which it is remembered which have come, where all states are made
_MOST_DOUBTED = 20  # members of which it is found out whether they can come, each by a pass over all productions


class Writer:
    """Writes the productions of families until none is left.

    Parameters
    ----------
    on_demand : bool
        Whether families are asked for one by one, so that none is to be written later.
    in_a_row : bool
        Whether members come in one order, and items may repeat where there are too many sets of them: then all values
        have some text, and the whole is small. It shows what is refused for other reasons.

    Attributes
    ----------
    members : dict
        By the pointer of an object's schema and a name: what is asked of that member, and the depth of its value.
    """

    def __init__(
        self,
        reader: Reader,
        written: Spelling,
        notation: Notation | None = None,
        out: Productions | None = None,
        *,
        on_demand: bool = False,
        in_a_row: bool = False,
    ) -> None:
        self._constants = {} if notation is None else notation.constants
        self._marks = {} if notation is None else notation.marks
        self.out = Productions() if out is None else out
        self.reader, self.facts, self.spelling = reader, reader.facts, written
        self._pending: list[tuple[Callable[..., None], Any, int]] = []
        self._seen: set[Hashable] = set()
        self.questions = Questions(reader)
        self.fits = FittingPatterns()
        self._is_on_demand = on_demand
        self.is_in_a_row = in_a_row
        self.counts_depth = written.whitespace == "indent"
        self.scalars = Scalars(self.out, reader, written, counts_apart=on_demand)
        self.listed = ListedContainers(
            reader, written, Holding(self.facts, self.questions, self.fits), notation is None
        )
        self.signs = Punctuation(self.out, written)
        self._signs_around: dict[tuple[bool, int], dict[str, Any]] = {}
        self.members: dict[tuple[str, str], tuple[int, int]] = {}
        self._most_remembered = MOST_REMEMBERED if on_demand else _MOST_AS_A_WHOLE
        self.has_free_names = False  # whether some object has listed names that are in no total order
        self.counts_by_order = False  # in a row: whether members are counted where others may come before or after
        self._current: Vector = ()  # formulas, or questions, whose values are being written
        self.depth = 0  # of what is being written; always 0 where no spelling depends on it
        self.is_deepest = False

    def write(self, question: int) -> int:
        """The nonterminal of the values that satisfy a question, with all that it needs."""
        start = self.value((question,), question)
        while self._pending:
            look()
            work, argument, depth = self._pending.pop()
            self._current = argument
            self.stand_at(depth)
            work(self, argument)
        return start

    def stand_at(self, depth: int) -> None:
        """What is written from now on lies within so many arrays and objects, where that is counted."""
        self.depth = depth
        self.is_deepest = self.counts_depth and depth == self.spelling.max_depth

    def impossible_members(self, symbols: Container[int]) -> Iterator[tuple[str, str]]:
        """The members that never come since no value satisfies what is asked of them, though none forbids them.

        At most some are looked for of which this is not plain. ``symbols`` are the nonterminals that sentences have.
        """
        doubted = 0
        for (pointer, name), (question, depth) in self.members.items():
            possible = self.questions.possible(question)
            if possible and (type(self)._family, (question,), depth) in self._seen:
                value = self.out.value(depth, question, (question,))
                if value not in symbols and doubted < _MOST_DOUBTED:
                    doubted += 1
                    possible = self.out.native.lowered(value) is not None
            if not possible and not self.reader.forbids(question):
                yield pointer, name

    def place(self) -> tuple[str, str]:
        """A pointer and a keyword of what was being written last: those of a pattern or a count, if there is one."""
        found: list[tuple[str, str]] = []
        for _, fact in self.facts.among(*self._current):
            inner = [fact]
            if isinstance(fact, Names):
                inner = [one for _, one in self.facts.among(fact.formula)]
            elif isinstance(fact, Members):
                inner = [Matches(pattern) for pattern, _ in fact.matching]
            elif isinstance(fact, Satisfies):
                found.append((self.reader.places[fact.schema].pointer, ""))
            found = [*(self.reader.origins[one] for one in inner if one in self.reader.origins), *found]
        return found[0] if found else ("#", "")

    def open_alternatives(self) -> list[str]:
        """The pointers of alternatives whose members may all come in the object that was being written last."""
        facts, formulas = self.facts, self.facts.formulas
        pointers: list[str] = []
        for variable, fact in facts.among(*self._current):
            certain = any(formulas.implies(one, formulas.variable(variable)) for one in self._current)
            if isinstance(fact, Members) and fact.others == TRUE and fact in self.reader.origins and not certain:
                pointers.append(self.reader.origins[fact][0])
        return pointers if len(pointers) > 1 else []

    def _later(self, work: Callable[..., None], argument: Hashable, depth: int) -> None:
        key = work, argument, depth
        if not self._is_on_demand and key not in self._seen:
            self._seen.add(key)
            self._pending.append((work, argument, depth))

    @property
    def depth_within(self) -> int:
        """The depth of what lies within what is being written."""
        return self.depth + self.counts_depth

    def value(self, family: Vector, question: int) -> int:
        """The nonterminal of the values that satisfy one question of a family."""
        self._later(type(self)._family, family, self.depth)
        return self.out.value(self.depth, question, family)

    def _family(self, family: Vector) -> None:
        for is_array, formulas, asked in self.write_family(family):
            machine = tuple(formulas)
            self._later(type(self)._array if is_array else type(self)._object, machine, self.depth)
            for formula, question in zip(formulas, asked, strict=True):
                key = ARRAY if is_array else OBJECT, self.depth, len(machine), *machine, formula
                self.out.add(self.value(family, question), self.out.nonterminal(*key))

    def write_family(self, family: Vector) -> list[tuple[bool, list[int], list[int]]]:
        """Write the scalars of a family. What is left are machines, of arrays or of objects.

        Each has its formulas, ascending, and the question that a value satisfies for which one holds.
        """
        questions = self.questions
        machines: list[tuple[bool, list[int], list[int]]] = []
        for kind in questions.kinds(family[0]) if len(family) == 1 else self.reader.types:
            meanings = questions.meanings(family, kind)
            if not meanings:
                continue
            if kind in self._marks:
                self._marked(family, kind, meanings)
            elif kind in ("null", "false", "true"):
                for one in meanings:
                    text = self._constants.get(kind, kind)
                    self.out.add(self.value(family, one), self.scalars.literal(kind.upper(), text))
            elif kind == "string":
                self.scalars.strings(partial(self.value, family), meanings)
            elif kind == "number":
                self.scalars.numbers(partial(self.value, family), meanings)
            elif (texts := self.listed.texts(meanings)) is not None:
                for one, words in texts.items():
                    self.out.add(self.value(family, one), self.scalars.words(kind.upper(), words))
            elif meanings := self.listed.spelled_out(meanings):
                sides = sorted((formula, question) for question, formula in meanings.items())
                formulas, asked = map(list, zip(*sides, strict=True))
                machines.append((kind == "array", formulas, asked))
        return machines

    def _marked(self, family: Vector, kind: str, meanings: dict[int, int]) -> None:
        """Write values of a type of the notation: what a type of JSON has, within marks of its own."""
        base, marks, code = base_of(kind), self._marks[kind], 1 + list(self._marks).index(kind)
        if base in ("array", "object") and not (meanings := self.listed.spelled_out(meanings)):
            return
        if base in ("array", "object"):
            machine = tuple(sorted(meanings.values()))
            self._later(
                Writer._marked_array if base == "array" else Writer._marked_object, (code, *machine), self.depth
            )
            for one, formula in meanings.items():
                key = ARRAY if base == "array" else OBJECT, code, len(machine), *machine, formula
                self.out.add(self.value(family, one), self.out.nonterminal(*key))
            return
        if marks.bare and base == "string":
            for one, formula in meanings.items():
                for name in sorted(strings.named_strings(self.facts, [formula])):
                    if strings.string_holds(self.facts, formula, name):
                        text = f"{marks.opening}{name}{marks.closing}"
                        self.out.add(self.value(family, one), self.scalars.literal("MEMBER", text))
            return
        opening = self.scalars.literal("CALL", marks.opening)
        closing = self.scalars.literal("CALL_END", marks.closing)

        def inner(question: int) -> int:
            return self.out.value(code, question, family)

        write = self.scalars.strings if base == "string" else self.scalars.numbers
        write(inner, meanings)
        for one in meanings:
            self.out.add(self.value(family, one), opening, inner(one), closing)

    def _marks_of(self, code: int) -> Marks:
        return list(self._marks.values())[code - 1]

    def _marked_array(self, given: Vector) -> None:
        code, machine = given[0], given[1:]
        self._items(self._marked_container(code, machine), self.counted(machine))

    def _marked_object(self, given: Vector) -> None:
        code, machine = given[0], given[1:]
        members = ObjectMembers(self, machine, self._marks_of(code))
        self._families(members.write(self._marked_container(code, machine)))

    def _marked_container(self, code: int, machine: Vector) -> _core.Container:
        marks, literal = self._marks_of(code), self.scalars.literal
        return _core.Container(
            machine=machine, depth=code, depth_within=self.depth, is_deepest=False,
            empty=(literal("EMPTY", marks.empty),), between=(), opening=literal("CALL", marks.opening),
            closing=literal("CALL_END", marks.closing), comma=self.signs.comma(0),
        )  # fmt: skip

    def container(self, is_array: bool, machine: Vector) -> _core.Container:
        """An array or an object of JSON, with the signs around it."""
        depth = self.depth
        signs = self._signs_around.get((is_array, depth))
        if signs is None:
            signs = self._signs_around[is_array, depth] = self.signs.around(is_array, depth)
        return _core.Container(
            machine=machine, depth=depth, depth_within=self.depth_within, is_deepest=self.is_deepest, **signs
        )

    def counted(self, machine: Vector) -> list[int]:
        """Formulas about arrays, in the facts that items are read with."""
        return Substitution(self.facts.formulas, self._counted).all(machine)

    def items(self) -> Items:
        """What is asked while an array is read."""
        return Items(self)

    def _array(self, machine: Vector) -> None:
        self._items(self.container(True, machine), self.counted(machine))

    def _items(self, array: _core.Container, start: Sequence[int]) -> None:
        out, formulas, questions = self.out.native, self.facts.formulas, self.questions
        self._families(_core.write_array(out, formulas, questions.native, questions, Items(self), array, start))

    def _families(self, families: Iterable[Sequence[int]]) -> None:
        """The families of what lies within the array or the object that is being written are to be written too."""
        for family in families:
            self._later(type(self)._family, tuple(family), self.depth_within)

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
            few = few_values(self.reader, self.questions, self.listed, question)
            if not isinstance(few, str):
                values.update((repr(value), value) for value in few)
                continue
            others = [formulas.conjunction(question, other) for at, other in enumerate(places) if at != k]
            if k >= len(fact.first) or any(one != FALSE and self.questions.possible(one) for one in others):
                pointer, keyword = self.reader.origins[fact]
                why = f"{few}; give them an enum of at most {MOST_REMEMBERED} values"
                self.reader.drop(UnsupportedSchemaError(pointer, keyword, why))
                return FALSE
        if self.is_in_a_row and self._most_remembered < len(values) <= MOST_REMEMBERED:
            return FALSE
        if len(values) > self._most_remembered:
            pointer, keyword = self.reader.origins[fact]
            most, whole = MOST_REMEMBERED, ""
            if len(values) <= MOST_REMEMBERED:  # what is made on demand remembers more
                most, whole = _MOST_AS_A_WHOLE, " as a whole, which completions, samples, budgets and files need"
            why = f"items can have {len(values)} values, and more than {most} cannot be remembered at once{whole}"
            why = f"{why}; give them an enum of at most {most} values"
            self.reader.drop(UnsupportedSchemaError(pointer, keyword, why))
            return FALSE
        return formulas.disjunction(
            *[facts.holds(MoreItemsThan(1, self.reader.equal(value))) for value in values.values()]
        )

    def _object(self, machine: Vector) -> None:
        self._families(ObjectMembers(self, machine).write(self.container(False, machine)))


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
    """Names that no schema lists: those for which a formula holds. ``signs`` says which others hold for all of them,
    ``fitting`` has the patterns that match them.
    """

    formula: int
    signs: dict[int, bool]
    fitting: frozenset[str]
    listed: None = None

    def holds(self, formula: int) -> bool:
        return self.signs[formula]

    def fits(self, pattern: str) -> bool:
        return pattern in self.fitting


class Items:
    """What the core asks while it writes an array."""

    def __init__(self, writer: Writer) -> None:
        steps = ItemSteps(writer.facts)
        self.step, self.concerns = steps.step, steps.concerns
        self.at_end = writer.facts.at_end

    def terminal(self, read: int) -> None:
        """Items have no names."""


class ObjectMembers:
    """What is asked while an object is read: members that schemas list come in order, others anywhere.

    The core asks for what it does not know: see ``AboutMembers`` in ``frontends/containers.hpp``.

    Attributes
    ----------
    order : _core.MemberOrder
        How many names are listed and how many classes the others have, and in which order they come.
    are_free : bool
        Whether terminals of the others may match listed names too, which then win. Only if that was asked for.
    steps : MemberSteps
        What facts become when a member has been read.
    """

    def __init__(
        self, writer: Writer, machine: Vector, marks: Marks | None = None, *, blocks_listed: bool = False
    ) -> None:
        self._writer, self._out, self._facts = writer, writer.out, writer.facts
        self._marks = marks
        self._machine = machine
        names = order_of_names(self._facts, machine, lambda: writer.reader.ranks, writer.reader.are_listed)
        self._classes: list[_Others] = []
        patterns, names = self._patterns_of_names(names)
        for others in self._classes_of_names(patterns):
            few = self._few_names(others.formula)
            if few is None:
                self._classes.append(others)
            else:
                names = names.with_others(few)
        if writer.is_in_a_row:
            if writer.spelling.order == "any" or not names.is_total:
                writer.counts_by_order |= may_count_in_some_orders(writer.reader, machine)
            names = names.in_a_row()
        elif writer.spelling.order == "any":
            names = names.anywhere()
        self._order = names.names
        writer.has_free_names |= not names.is_total
        self.order = names.native(len(self._classes))
        self.are_free = blocks_listed and writer.spelling.escapes != "any"
        if not blocks_listed:  # on demand nothing is said of them
            self._remember_members()
        members: list[Name] = [*(_Listed(writer, name) for name in self._order), *self._classes]
        self.steps = MemberSteps(self._facts, members, in_order=names.is_total)
        self.step, self.concerns = self.steps.step, self.steps.concerns
        self.at_end = self._facts.at_end
        self._check_counts()

    def write(self, container: _core.Container) -> list[list[int]]:
        """Write the productions; the families of the members' values are left."""
        writer, questions = self._writer, self._writer.questions
        return _core.write_object(
            out=writer.out.native, formulas=self._facts.formulas, questions=questions.native, schemas=questions,
            about=self, object=container, start=self._machine, order=self.order,
        )  # fmt: skip

    def texts(self) -> list[bytes]:
        """The texts of the terminals of the listed names; none, where some have more than one."""
        return self._writer.scalars.texts_of_names(self._order)

    def terminal(self, read: int) -> int | None:
        """The terminal of a name, by its place, or of the other names of a class."""
        scalars, listed = self._writer.scalars, len(self._order)
        if read < listed and not scalars.may_be_written(self._order[read]):
            return None
        if read < listed and self._marks is not None:
            text = f"{self._marks.name_opening}{self._order[read]}{self._marks.name_closing}"
            return scalars.literal("ARGUMENT", text)
        if read < listed:
            return scalars.name(self._order[read])
        formula = self._classes[read - listed].formula
        excluded = scalars.names_told_apart(formula, self._order) if self.are_free else frozenset(self._order)
        return scalars.other_names(formula, excluded)

    def _remember_members(self) -> None:
        """Keep what is asked of each member that comes alone, for notes."""
        writer, facts = self._writer, self._facts
        reader = writer.reader
        if len(self._machine) > 1:
            return
        (whole,) = self._machine
        certain = [
            (fact, reader.origins[fact][0])
            for variable, fact in facts.among(whole)
            if isinstance(fact, Members)
            and fact in reader.origins
            and facts.formulas.implies(whole, facts.formulas.variable(variable))
        ]
        questions: dict[str, int] = {}
        for fact, pointer in certain:
            for name, question in fact.named:
                both = facts.formulas.conjunction(questions.get(name, TRUE), question)
                questions[name] = both
                writer.members[pointer, name] = both, writer.depth_within

    def _check_counts(self) -> None:
        """Refuse to count members where two of them may have the same name: the value then has fewer than the text.

        What is listed comes once, and so does the first of the others: that many are certainly different.
        """
        facts, formulas, reader = self._facts, self._facts.formulas, self._writer.reader
        counts = [(v, fact) for v, fact in facts.among(*self._machine) if isinstance(fact, MoreMembersThan)]
        for variable, fact in counts if self._classes else ():
            for formula in self._machine:
                # Where it is right that there are more, and would not be if there were not.
                asked = formulas.conjunction(
                    formulas.restricted(formula, variable, True),
                    formulas.negation(formulas.restricted(formula, variable, False)),
                )
                enough = [v for v, has in facts.among(asked) if isinstance(has, Has) and len(has.names) >= fact.count]
                asked = formulas.conjunction(asked, *[formulas.negation(formulas.variable(v)) for v in enough])
                if asked == FALSE or self._certain_names(asked) >= fact.count or not self._takes_others(asked):
                    continue
                pointer, keyword = reader.origins[fact]
                why = (
                    f"{fact.count + 1} members or more cannot be told where names are free, since a text may have one "
                    "of them twice; list or require names, or have those of the text counted with lax=True"
                )
                reader.drop(UnsupportedSchemaError(pointer, keyword, why))
                break

    def _certain_names(self, formula: int) -> int:
        """How many names an object certainly has for which a formula holds."""
        facts, implies = self._facts, self._facts.formulas.implies
        required = [
            fact.names
            for variable, fact in facts.among(formula)
            if isinstance(fact, Has) and implies(formula, facts.formulas.variable(variable))
        ]
        return len(frozenset().union(*required))

    def _takes_others(self, formula: int) -> bool:
        """Whether an object for which a formula holds may have members of names that no schema lists."""
        facts, formulas, questions = self._facts, self._facts.formulas, self._writer.questions
        certain = [
            variable
            for variable, fact in facts.among(formula)
            if isinstance(fact, (Members, Names)) and formulas.implies(formula, formulas.variable(variable))
        ]
        for read in range(len(self._order), len(self._order) + len(self._classes)):
            steps = [self.step(variable, read) for variable in certain]
            asked = formulas.conjunction(*[question for question, _, _, _ in steps])
            if asked != FALSE and all(after != FALSE for _, after, _, _ in steps) and questions.possible(asked):
                return True
        return False

    def _patterns_of_names(self, names: NamesInOrder) -> tuple[dict[str, int], NamesInOrder]:
        """The patterns that names are asked for, but those that spell out a few: these are as good as listed."""
        facts = self._facts
        patterns: dict[str, int] = {}
        few: dict[str, None] = {}
        for _, fact in facts.among(*self._machine):
            for pattern, _ in fact.matching if isinstance(fact, Members) else ():
                words = names_spelled_out(pattern)
                if words is None:
                    patterns[pattern] = facts.holds(Matches(pattern))
                else:
                    few |= dict.fromkeys(words)
        return patterns, names.with_others(sorted(few, key=self._writer.reader.ranks.of_value)) if few else names

    def _classes_of_names(self, patterns: dict[str, int]) -> list[_Others]:
        """The names that are not listed, parted by what patterns and ``propertyNames`` say of them."""
        facts, formulas = self._facts, self._facts.formulas
        asked = dict.fromkeys(patterns.values())
        asked |= dict.fromkeys(fact.formula for _, fact in facts.among(*self._machine) if isinstance(fact, Names))
        if not asked:
            return [_Others(TRUE, {}, frozenset())]
        order = list(asked)
        sets = strings.signatures([strings.shape_of(facts, one) for one in order])
        classes = []
        for some in every(reversed(sets), looks=1):
            # What excludes the names of the class anyway is not said.
            beside = {k for other in sets if some < other for k in other - some}
            said = [order[k] for k in sorted(some)] + [formulas.negation(order[k]) for k in sorted(beside)]
            signs = {one: k in some for k, one in enumerate(order)}
            fitting = frozenset(pattern for pattern, one in patterns.items() if signs[one])
            classes.append(_Others(formulas.conjunction(*said), signs, fitting))
        return classes

    def _few_names(self, formula: int) -> list[str] | None:
        """The names for which a formula holds, if they are few: they are written as those that a schema lists."""
        if formula == TRUE:
            return None
        facts = self._facts
        named = strings.named_strings(facts, [formula])
        names = set(strings.strings_among(facts, formula, named))
        rest = strings.unnamed(facts, formula)
        if rest != FALSE:
            more = None if rest == TRUE else strings.few_strings(strings.shape_of(facts, rest), MOST_NAMES)
            if more is None:
                return None
            names.update(text for text in more if text not in named)
        ordered = sorted(names, key=self._writer.reader.ranks.of_value)
        return ordered if len(ordered) <= MOST_NAMES else None
