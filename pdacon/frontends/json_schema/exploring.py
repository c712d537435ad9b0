"""What the core asks of a schema whose automaton is made while texts are read.

In: a `Reader` and a spelling. Out: the values of families of questions, objects and arrays, and terminals, each when
it is first asked for (``nested/schemas.hpp``). The same classes answer that write a schema's productions: `Writer` for
families, `Scalars` for strings and numbers, and the steps of members and items.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any, TypeAlias

from pdacon._native import _core
from pdacon.frontends.json_schema.counted import counted_strings
from pdacon.frontends.json_schema.facts import TYPES, Integral, Matches, Satisfies
from pdacon.frontends.json_schema.keywords import ASSERTIONS, is_assertion
from pdacon.frontends.json_schema.plainness import Plainness
from pdacon.frontends.json_schema.productions import Productions
from pdacon.frontends.json_schema.schema_formulas import Reader
from pdacon.frontends.json_schema.spelling import Spelling
from pdacon.frontends.json_schema.string_formats import PATTERNS
from pdacon.frontends.json_schema.strings import pattern_automaton
from pdacon.frontends.json_schema.writing import ObjectMembers, Writer
from pdacon.regular import TRUE
from pdacon.regular.ordered.patterns import compile_pattern
from pdacon.regular.ordered.program import to_automaton
from pdacon.regular.records import Automaton

Edge: TypeAlias = tuple[int, int, int, int]
"""From a local state, a terminal, to a local state or -1, and the question that the value then satisfies."""
Machine: TypeAlias = tuple[bool, list[int], list[int]]
"""Whether of arrays; formulas, ascending, and the questions that values satisfy for which they hold."""
Arrays: TypeAlias = tuple[bytes, bytes, bytes, bytes, bytes]
CountedArrays: TypeAlias = tuple[bytes, bytes, bytes, bytes, bytes, int, int, int, int]
"""The same of counted strings, with the start, how many states are between characters, and the counts."""
_ENDLESS = 1 << 30


_SCALARS = frozenset({"null", "boolean", "number", "integer", "string"})


class _Recorded(Productions):
    """Productions of which the last ones can be taken out again."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list[tuple[int, tuple[int, ...]]] = []

    def add(self, lhs: int, *rhs: int) -> None:
        self.added.append((lhs, rhs))


class Explorer:
    """Answers what the core asks about one schema. For one thread at a time.

    Attributes
    ----------
    root : int
        The question of the schema's own values.
    formulas, questions, native
        What formulas mean, for the core.
    """

    def __init__(self, reader: Reader, spelling: Spelling, root: int, *, is_lax: bool = False) -> None:
        self.root, self._is_lax = root, is_lax
        self._out = _Recorded()
        self._writer = Writer(reader, spelling, out=self._out, on_demand=True)
        self.reader, self._facts = reader, reader.facts
        self._plainness = Plainness(reader.documents, reader.closed, counts_digits=spelling.digits is not None)
        self._plain: dict[int, bool] = {}
        self._of_types: dict[str, list[Edge]] = {}
        self.formulas = reader.facts.formulas
        self.questions = self._writer.questions
        self.native = self.questions.native

    def family(self, questions: list[int]) -> tuple[list[Edge], list[Machine]]:
        """The values of a family: terminals of scalars, and what arrays and objects are about."""
        if len(questions) == 1 and (kind := self._only_type(questions[0])):
            known = self._of_types.get(kind)
            if known is None:
                known = self._of_types[kind] = self._family(questions)[0]
            return [(start, terminal, to, questions[0] if to < 0 else 0) for start, terminal, to, _ in known], []
        return self._family(questions)

    def usual(self) -> tuple[frozenset[str], frozenset[str], str, bool, _core.KeptScalars, bytes, bool, bool] | None:
        """What the core needs so as to read usual schemas by itself (``bindings/usual_schemas.hpp``).

        The keywords that assert something, the formats that do, what follows a member's name, whether characters that
        are not ASCII are escaped, what is kept of scalars for all schemas, with what their terminals depend on beside
        what a schema asks; whether each integer has one text, and whether other numbers of which more is asked than the
        type are written as Python does. None: it asks about all schemas, since texts are not spelled in the usual way.
        """
        spelling = self._writer.spelling
        is_unusual = spelling.order != "schema" or spelling.escapes == "any" or spelling.excludes
        if is_unusual or self._writer.counts_depth or len(self.reader.types) != len(TYPES):
            return None
        formats = self.reader.asserted_formats
        key = _key_of_kept(spelling, bool(formats), self._is_lax)
        is_ascii = spelling.escapes == "ascii"
        has_one_integer = spelling.digits is None and spelling.integers == "plain"
        as_python = spelling.digits is None and spelling.numbers != "canonical" and spelling.exponents != "none"
        return ASSERTIONS, formats, self._writer.scalars.end_of_name, is_ascii, _KEPT, key, has_one_integer, as_python

    def schema_of(self, question: int) -> tuple[Any, Any, int, bool, bool] | None:
        """The schema that a question is about, if it asks for nothing else, with what `Reader.context_of` tells of it.

        None: the core cannot read it by itself.
        """
        place = self.reader.place_of(question)
        return None if place is None else self.reader.context_of(place)

    def question_below(self, question: int, *tokens: str | int) -> int:
        """The question about a schema that lies at some tokens below that of another, or to which it refers."""
        place = self.reader.place_of(question)
        assert place is not None
        if tokens == ("$ref",):
            return self.reader.question(self.reader.documents.referred(place, "$ref"))
        return self.reader.question(place.child(*tokens))

    def reserve(self, count: int) -> int:
        """Reserve variables, one after another, for facts that only the core knows; the first of them."""
        return self._facts.reserve(count)

    def terminals_of(self, kind: str, written: bool) -> list[int]:
        """The terminals of all scalars of a type; ``written`` of integers: whether they have no fraction."""
        scalars, added = self._writer.scalars, self._out.added
        if kind == "null":
            return [scalars.literal("NULL", "null")]
        if kind == "boolean":
            return [scalars.literal("FALSE", "false"), scalars.literal("TRUE", "true")]
        added.clear()
        asked = self._facts.holds(Integral(written)) if kind == "integer" else TRUE
        (scalars.strings if kind == "string" else scalars.numbers)(int, {TRUE: asked})
        return [terminal for _, (terminal,) in added]

    def strings_of_format(self, name: str) -> _core.CharacterDfa | None:
        """The strings of a format; None if it has no pattern."""
        pattern = PATTERNS.get(name)
        return None if pattern is None else pattern_automaton(Matches(pattern, whole=True)).native

    def signs(self, is_array: bool) -> _core.Container:
        """The signs of an array or an object, as a container about which nothing is asked."""
        return self._writer.container(is_array, ())

    def free_names(self) -> int | None:
        """The terminal of all names; where a listed name matches as well, the terminal of that name wins."""
        return self._writer.scalars.other_names(TRUE, frozenset())

    def _only_type(self, question: int) -> str:
        """The type of scalars that is all that a question asks for; empty if it asks for more, or for another."""
        alternatives = self.formulas.alternatives(question)
        if alternatives is None or len(alternatives) != 1 or alternatives[0] < 0:
            return ""
        fact = self._facts[alternatives[0]]
        if not isinstance(fact, Satisfies):
            return ""
        node = self.reader.places[fact.schema].node
        kind = node.get("type")
        plain = isinstance(kind, str) and kind in _SCALARS and not any(map(is_assertion, node.keys() - {"type"}))
        return kind if plain else ""

    def _family(self, questions: list[int]) -> tuple[list[Edge], list[Machine]]:
        writer, out = self._writer, self._out
        family = tuple(questions)
        out.added.clear()
        machines = writer.write_family(family)
        of_value = {writer.value(family, question): question for question in questions}
        local: dict[int, int] = {}
        edges: list[Edge] = []
        for lhs, rhs in out.added:
            *before, terminal = rhs
            if terminal >= 0:
                continue  # an array or an object
            start = local.setdefault(before[0], len(local) + 1) if before else 0
            if lhs in of_value:
                edges.append((start, terminal, -1, of_value[lhs]))
            else:
                edges.append((start, terminal, local.setdefault(lhs, len(local) + 1), 0))
        return edges, machines

    def container(self, is_array: bool, machine: list[int], depth: int = 0) -> tuple[Any, ...]:
        """An array or an object: signs, the machine at its start, the order of names, and who is asked then.

        Of an object also what need not be asked for then, as far as it is plain: the terminals of names, and the steps
        of the facts that list them.
        """
        writer, given = self._writer, tuple(machine)
        writer.stand_at(depth)
        signs = writer.container(is_array, given)
        if is_array:
            start = writer.counted(given)
            return signs, start, None, False, writer.items(), [], []
        members = ObjectMembers(writer, given, blocks_listed=True)
        steps = members.steps.plain_steps(given)
        return signs, machine, members.order, members.are_free, members, members.texts(), steps

    def terminal(self, number: int) -> bytes | Arrays | CountedArrays | None:
        """A text, or the arrays of a program; None for one that reads a part of a text that others go on with."""
        text = self._out.terminals[~number][1]
        if text.kind == "counted":
            least, most = text.counts
            strings = counted_strings(text.contents, self._writer.spelling.escapes)
            return *strings, least, _ENDLESS if most is None else most
        if text.automaton is None and text.kind == "str":
            return text.value.encode()
        automaton = _automaton(text.value) if text.automaton is None else text.automaton
        if automaton.family:
            return None
        return automaton.kind, automaton.offset, automaton.lo, automaton.hi, automaton.target

    def plainly_possible(self, question: int) -> bool:
        """Whether it is plain that some value satisfies a question, however little may lie within it."""
        if self._writer.counts_depth:
            return self._only_type(question) != ""
        known = self._plain.get(question)
        if known is None:
            known = self._plain[question] = self._is_plainly_possible(question)
        return known

    def _is_plainly_possible(self, question: int) -> bool:
        place = self.reader.place_of(question)
        if place is not None:
            return self._plainness.have_a_value(place)
        alternatives = self.formulas.alternatives(question)
        if alternatives is None:
            return False
        for variable in alternatives:
            fact = self._facts[variable]
            if isinstance(fact, Satisfies) and self._plainness.have_a_value(self.reader.places[fact.schema]):
                return True
        return False


_KEPT = _core.KeptScalars(16 << 20)
"""The terminals of scalars by what schemas ask of them, for the process."""


@lru_cache(maxsize=256)
def _key_of_kept(spelling: Spelling, formats_asserted: bool, is_lax: bool) -> bytes:
    return blake2b(repr((spelling, formats_asserted, is_lax)).encode(), digest_size=16).digest()


@lru_cache(maxsize=256)
def _automaton(pattern: str) -> Automaton:
    return to_automaton(compile_pattern(pattern))
