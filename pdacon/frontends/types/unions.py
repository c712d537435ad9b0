"""The shape of values of one of several types, and whether a text tells which.

A raw value is read as the first member that it fits. So that reading what was written gives the same value, two members
must not fit the same raw value with different meanings: their schemas are held against each other, exactly.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pdacon.base.cancelling import every
from pdacon.base.cautions import held
from pdacon.errors import EmptyLanguageError, UnsupportedSchemaError
from pdacon.frontends.json_schema import schema_grammar
from pdacon.frontends.types.adapted import Adapted
from pdacon.frontends.types.containers import FixedTuple, Flags, Items, Table
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.records import Record
from pdacon.frontends.types.scalars import (
    Anything,
    LiteralValues,
    Members,
    Nothing,
    Number,
    Spelled,
    Text,
    Truth,
    Whole,
)
from pdacon.frontends.types.shapes import Mismatch, Refused, Schemas, Shape, resolved, shown


@dataclass(frozen=True, eq=False)
class Either(Shape):
    """One of several shapes.

    ``decide`` is the validation of a Pydantic model that the union is a part of, where that says which member a string
    is, as of ``date | str``.
    """

    members: Sequence[Shape]
    decide: Callable[[Any, str], Any] | None = None

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        return {"anyOf": [member.schema(schemas) for member in self.members]}

    def read(self, raw: Any, path: str) -> Any:
        if self.decide is not None and isinstance(raw, str):
            return self.decide(raw, path)
        mismatches: list[Mismatch] = []
        for member in self._in_order(raw):
            result = _tried(member.read, raw, path)
            if not isinstance(result, Mismatch):
                return result
            mismatches.append(result)
        refused = next((mismatche for mismatche in mismatches if isinstance(mismatche, Refused)), None)
        raise refused or Mismatch(path, f"{shown(raw)} is none of {self.words()}")

    def write(self, value: Any, path: str) -> Any:
        members = self._in_order(value)
        if isinstance(value, enum.Enum):  # a member of a StrEnum is a string, too, where its class is no member
            members = sorted(members, key=lambda member: not _of_enum(member))
        for member in members:
            result = _tried(member.write, value, path)
            if not isinstance(result, Mismatch):
                return result
        raise Mismatch(path, f"{shown(value)} is none of {self.words()}")

    def _in_order(self, value: Any) -> list[Shape]:
        """The members as they are tried: an integer is a float, too, where nothing else takes it."""
        members = sorted(self.members, key=lambda member: isinstance(resolved(member), Anything))
        return (
            sorted(members, key=lambda member: isinstance(resolved(member), Number))
            if isinstance(value, int)
            else members
        )

    def words(self) -> str:
        return " or ".join(member.words() for member in self.members)

    def parts(self) -> list[Shape]:
        return list(self.members)


def _of_enum(shape: Shape) -> bool:
    shape = resolved(shape)
    if isinstance(shape, Either):
        return any(_of_enum(member) for member in shape.members)
    return isinstance(shape, LiteralValues | Flags | Members)


def _tried(work: Callable[[Any, str], Any], given: Any, path: str) -> Any:
    """What reading or writing gives, or why it does not."""
    try:
        return work(given, path)
    except Mismatch as error:
        return error


def overlap(union: Either, form: Form) -> tuple[Shape, Shape] | None:
    """Two members that can be written alike and mean different values; None if there are no such."""
    members = [resolved(member) for member in union.members]
    if union.decide is not None:
        members = [member for member in members if not isinstance(member, Text | Spelled | Adapted)]
    names = [_Names(one) if isinstance(one, Record) and not (one.as_list or one.root) else None for one in members]
    for k, first in enumerate(members):
        own = names[k]
        for second, other in every(zip(members[k + 1 :], names[k + 1 :], strict=True), 1):
            if own is not None and other is not None and own.are_apart(other):
                continue
            if not _same_meaning(first, second) and not _apart(first, second) and _meet(first, second, form):
                return first, second
    return None


class _Names:
    """The names of a record's members: those that it must have, all that it may have, and those that say which it is.

    Of a hundred members of a union each is held against each other one, so that this has to take little.
    """

    def __init__(self, record: Record) -> None:
        tag = () if record.tag is None else (record.tag[0],)
        must = {record.key(field): resolved(field.shape) for field in record.fields if record.always(field)}
        self._must = frozenset((*must, *tag))
        self._may = None if record.extra is not None else frozenset((*map(record.key, record.fields), *tag))
        self._choices = {name: shape for name, shape in must.items() if isinstance(shape, LiteralValues)}

    def are_apart(self, other: _Names) -> bool:
        """Whether names alone tell that no raw value fits both."""
        if self._may is not None and not other._must <= self._may:
            return True
        if other._may is not None and not self._must <= other._may:
            return True
        both = self._choices.keys() & other._choices.keys()
        return any(not _common(self._choices[name], other._choices[name]) for name in both)


def _same_meaning(first: Shape, second: Shape) -> bool:
    """Whether what both fit has the same value by both."""
    if isinstance(first, Anything) or isinstance(second, Anything):
        return True
    numbers = (Whole, Truth)
    if all(
        isinstance(shape, numbers) or (isinstance(shape, Number) and shape.kind is float) for shape in (first, second)
    ):
        return True
    if isinstance(first, LiteralValues) and isinstance(second, LiteralValues):
        return all(not _read_apart(raw, first, second) for raw, _ in every(first.pairs))
    for choice, other in ((first, second), (second, first)):
        if isinstance(choice, LiteralValues) and isinstance(other, Text | Whole | Truth | Nothing):
            return all(
                raw is value or (type(raw) is type(value) and raw == value) for raw, value in every(choice.pairs)
            )
    return isinstance(first, Text) and isinstance(second, Text)


def _read_apart(raw: Any, first: Shape, second: Shape) -> bool:
    try:
        value, other = first.read(raw, ""), second.read(raw, "")
    except Mismatch:
        return False
    return type(value) is not type(other) or value != other


def _apart(first: Shape, second: Shape) -> bool:
    """Whether it is plain that no raw value fits both: they are of different types, or a member tells them apart."""
    kinds = _kind(first), _kind(second)
    if None not in kinds and kinds[0] != kinds[1]:
        return True
    if not isinstance(first, Record) or not isinstance(second, Record):
        return False
    return bool(first.tag and second.tag and first.tag[0] == second.tag[0] and first.tag[1] != second.tag[1])


def _common(first: LiteralValues, second: LiteralValues) -> bool:
    for raw, _ in every(first.pairs):
        try:
            second.read(raw, "")
        except Mismatch:
            continue
        return True
    return False


def _kind(shape: Shape) -> str | None:
    """The JSON type of a shape's values, where it is one."""
    kinds: list[tuple[type | tuple[type, ...], str]] = [
        (Nothing, "null"),
        (Truth, "boolean"),
        ((Whole, Number), "number"),
        ((Text, Spelled, Members), "string"),
        ((Table,), "object"),
        ((Items, FixedTuple), "array"),
    ]
    if isinstance(shape, Record):
        return "array" if shape.as_list else "object"
    return next((name for kind, name in kinds if isinstance(shape, kind)), None)


def _meet(first: Shape, second: Shape, form: Form) -> bool:
    """Whether some raw value fits both, or it cannot be told."""
    schemas = Schemas()
    both: dict[str, Any] = {"allOf": [first.schema(schemas), second.schema(schemas)]}
    if isinstance(first, Items) and isinstance(second, Items) and first.kind is second.kind:
        both["minItems"] = 1  # the empty one is the same by both
    if isinstance(first, Table) and isinstance(second, Table) and first.kind is second.kind:
        both["minProperties"] = 1
    both["$defs"] = schemas.definitions
    try:
        with held():  # what is to be said of the schema is said of the whole type's
            schema_grammar(both, notation=form.notation(), plain_integers=True)
    except EmptyLanguageError:
        return False
    except UnsupportedSchemaError:
        return True
    return True
