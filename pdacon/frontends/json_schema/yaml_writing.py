"""Formulas -> productions of YAML in block style: the places of a text are lines that are indented.

In: a `Reader` and the schema's place. Out: productions, as `Writer` has them. Blocks are indented by two blanks a
level; a level has its own nonterminals, and its indentation is a terminal, so that no stack beside the parser's is
needed. Each scalar ends with its line, and so a value ends where a line begins that belongs to what is around it.

A place says where the value stands: where a line begins, or behind a dash (`_INLINE`), or behind a name and its colon
(`_BEHIND_NAME`), in which case a block begins on the next line. The items of an array that is a member's value have
their dashes in the column of the name, or two blanks further in; an array keeps to what it began with.
"""

from __future__ import annotations

from pdacon._native import _core
from pdacon.frontends.json_schema.holding import Holding
from pdacon.frontends.json_schema.listed_containers import ListedContainers
from pdacon.frontends.json_schema.productions import ARRAY, OBJECT, PART
from pdacon.frontends.json_schema.schema_formulas import Reader
from pdacon.frontends.json_schema.spelling import Spelling
from pdacon.frontends.json_schema.steps import Vector
from pdacon.frontends.json_schema.writing import Writer
from pdacon.frontends.json_schema.yaml_scalars import YamlScalars

_INLINE, _BEHIND_NAME, _FLUSH = range(3)
"""Kinds of places; `_FLUSH`: of an array behind a name, with its dashes in the column of the name."""
_KINDS = 4
_SCALARS = -1
"""In place of a place: scalars, which are the same at each."""
_NEVER, _NOTHING = 0, 1
_NAMES = {"": "INDENT", "-": "DASH", "{}": "EMPTY", "[]": "EMPTY"}


class YamlWriter(Writer):
    """Writes the productions of families as YAML in block style."""

    def __init__(self, reader: Reader, written: Spelling) -> None:
        super().__init__(reader, written)
        self.scalars = self._texts = YamlScalars(self.out, reader, written)
        self.listed = ListedContainers(reader, written, Holding(self.facts, self.questions, self.fits), False)
        self._constants = {kind: f"{kind}\n" for kind in ("null", "false", "true")}
        self._machines: dict[Vector, list[tuple[bool, list[int], list[int]]]] = {}
        self._within = 0
        self._nothing = self.out.nonterminal(PART, _NOTHING)
        self.out.add(self._nothing)

    @property
    def depth_within(self) -> int:
        """The place of what lies within the array or the object that is being written."""
        return self._within

    def value(self, family: Vector, question: int) -> int:
        """The nonterminal of the values that satisfy one question of a family, at the place that is being written."""
        if self.depth != _SCALARS:
            self._later(type(self)._family, family, self.depth)
        return self.out.value(self.depth, question, family)

    def _family(self, family: Vector) -> None:
        out, place = self.out, self.depth
        level, kind = divmod(place, _KINDS)
        machines = self._written_once(family)
        self.depth = place
        before = (self._text(" "),) if kind == _BEHIND_NAME else ()
        for question in family:
            out.add(self.value(family, question), *before, out.value(_SCALARS, question, family))
        columns = 2 * (level + 1 if kind == _BEHIND_NAME else max(level, 1))
        for question, formula in self.questions.meanings(family, "string").items():
            lines = self._texts.lines(formula, columns)
            if lines is not None:
                out.add(self.value(family, question), *before, lines)
        for is_array, formulas, asked in machines:
            machine = tuple(formulas)
            for own in (kind, _FLUSH) if is_array and kind == _BEHIND_NAME else (kind,):
                at = level * _KINDS + own
                self._later(type(self)._array if is_array else type(self)._object, machine, at)
                for formula, question in zip(formulas, asked, strict=True):
                    key = ARRAY if is_array else OBJECT, at, len(machine), *machine, formula
                    out.add(self.value(family, question), out.nonterminal(*key))

    def _written_once(self, family: Vector) -> list[tuple[bool, list[int], list[int]]]:
        """Write the scalars of a family; its machines."""
        if family not in self._machines:
            self.depth = _SCALARS
            self._texts.may_be_names = bool(self.questions.meanings(family, "object"))
            self._machines[family] = self.write_family(family)
        return self._machines[family]

    @property
    def _column(self) -> int:
        """Where the names or the dashes stand of what is being written, in levels."""
        level, kind = divmod(self.depth, _KINDS)
        return level + (kind == _BEHIND_NAME)

    def container(self, is_array: bool, machine: Vector) -> _core.Container:
        """An array or an object, with the signs around it."""
        kind, dash = self.depth % _KINDS, "- " if is_array else ""
        line = f"{'  ' * self._column}{dash}"
        empty = f"{'[]' if is_array else '{}'}\n"
        never = self.out.nonterminal(PART, _NEVER)  # no production makes it
        return _core.Container(
            machine=machine, depth=self.depth, depth_within=self._within,
            is_deepest=self._column >= self.spelling.max_depth,
            empty=(never if kind == _FLUSH else self._text(f" {empty}" if kind == _BEHIND_NAME else empty),),
            between=(), opening=self._text(dash if kind == _INLINE else f"\n{line}"), closing=self._nothing,
            comma=self._text(line),
        )  # fmt: skip

    def _text(self, text: str) -> int:
        return self._texts.literal(_NAMES.get(text.strip(), "LINE"), text) if text else self._nothing

    def _array(self, machine: Vector) -> None:
        self._within = (self._column + 1) * _KINDS + _INLINE
        super()._array(machine)

    def _object(self, machine: Vector) -> None:
        self._within = self._column * _KINDS + _BEHIND_NAME
        super()._object(machine)
