"""Shapes with fields: dataclasses, TypedDicts, named tuples, models, structs, and the arguments of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdacon.frontends.json_schema import Marks
from pdacon.frontends.types.checks import check_characters
from pdacon.frontends.types.containers import row_schema
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.scalars import LiteralValues
from pdacon.frontends.types.shapes import Mismatch, Named, Refused, Schemas, Shape, resolved, shown


@dataclass(frozen=True, eq=False)
class Field:
    """A field.

    Attributes
    ----------
    name : str
        Of the attribute, or of the member of a dict.
    key : str
        The member's name in JSON; Python's form has ``argument``.
    argument : str
        What the value is given as to what makes an instance.
    required : bool
    words : str
        What it is for.
    """

    name: str
    key: str
    argument: str
    shape: Shape
    required: bool
    words: str = ""

    @property
    def constant(self) -> tuple[Any, ...]:
        """The raw value of a field that has no other one, as a tuple; else an empty one."""
        shape = resolved(self.shape)
        return (shape.pairs[0][0],) if isinstance(shape, LiteralValues) and len(shape.pairs) == 1 else ()


class Record(Named):
    """Values with fields.

    Parameters
    ----------
    make : callable
        An instance, of a mapping from the arguments of those fields that are there to their values.
    kind : type
        What values are instances of; None for dicts.
    as_list : bool
        Whether JSON has a list of the fields, as of named tuples.
    tag : (str, str or int) or None
        A member that is always there and no field: its key and its value.
    extra : Shape or None
        What other members are, if there may be any; ``extra_of`` finds them in a value, ``make_with`` makes one of the
        arguments of the fields and of them.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[dict[str, Any]], Any],
        kind: Any,
        form: Form,
        *,
        as_list: bool = False,
        tag: tuple[str, Any] | None = None,
        doc: str = "",
    ) -> None:
        self.name, self.kind, self.doc = name, kind, doc
        self.fields: list[Field] = []
        self.extra: Shape | None = None
        self.extra_of: Callable[[Any], Mapping[str, Any]] = lambda value: {}
        self.make_with: Callable[[dict[str, Any], dict[str, Any]], Any] = lambda values, others: make(values | others)
        self.tag = None if form.python else tag
        self._make, self._form = make, form
        self.as_list = as_list and not form.python
        self.plain = kind is None  # a dict in both forms
        self.root = False  # whether it is written as the only field that it has
        self.of_members = kind is None or issubclass(kind, dict)  # what is not required may not be there

    def always(self, field: Field) -> bool:
        """Whether a text must have a field: of an instance also what has one value only, which tells the types of a
        union apart; a dict may be without it.
        """
        return field.required or (not self.of_members and bool(field.constant))

    def key(self, field: Field) -> str:
        return field.argument if self._form.python and not self.plain else field.key

    @property
    def is_plain_object(self) -> bool:
        """Whether it is written as an object that its form has no mark for."""
        return not (self.as_list or self.root or (self._form.python and not self.plain))

    def keys(self) -> list[str]:
        """The names of its members, in their order."""
        return [*([] if self.tag is None else [self.tag[0]]), *(self.key(field) for field in self.fields)]

    def own_schema(self, schemas: Schemas) -> dict[str, Any]:
        tag = [] if self.tag is None else [(self.tag[0], {"const": self.tag[1]})]
        if self.as_list:
            parts = [schema for _, schema in tag] + [field.shape.schema(schemas) for field in self.fields]
            return row_schema(parts, len(tag) + sum(field.required for field in self.fields), self._form)
        kind = "object"
        if not self.plain:
            kind = self._form.kind("object", self.name, Marks(f"{self.name}(", ")", f"{self.name}()", "", "="))
        members = dict(tag)
        members.update((self.key(field), field.shape.schema(schemas)) for field in self.fields)
        required = [key for key, _ in tag] + [self.key(field) for field in self.fields if self.always(field)]
        schema: dict[str, Any] = {"type": kind, "properties": members}
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False if self.extra is None else self.extra.schema(schemas)
        return schema

    def read(self, raw: Any, path: str) -> Any:
        if not self.plain:
            raw = self._form.unmarked(self.name, raw, path)
        if self.as_list:
            raw = self._from_list(raw, path)
        if not isinstance(raw, dict):
            raise Mismatch(path, f"{shown(raw)} is no {self.name}")
        left = dict(raw)
        if self.tag is not None and left.pop(self.tag[0], None) != self.tag[1]:
            raise Mismatch(path, f"its {self.tag[0]} is not {self.tag[1]!r}")
        values = {}
        for field in self.fields:
            key = self.key(field)
            if key in left:
                values[field.argument] = field.shape.read(left.pop(key), f"{path}.{field.name}")
            elif field.required:
                raise Mismatch(path, f"{key} is missing")
        if left and self.extra is None:
            raise Mismatch(path, f"it has no {next(iter(left))}")
        others = {key: self.extra.read(value, f"{path}.{key}") for key, value in left.items() if self.extra}
        try:
            return self.make_with(values, others) if others else self._make(values)
        except Exception as error:  # whatever a class raises says that it does not take the values
            raise Refused(path, f"{self.name} refuses it: {error}") from error

    def _from_list(self, raw: Any, path: str) -> dict[str, Any]:
        keys = [] if self.tag is None else [self.tag[0]]
        keys += [field.key for field in self.fields]
        if not isinstance(raw, list) or len(raw) > len(keys):
            raise Mismatch(path, f"{shown(raw)} is no list of {self.name}'s fields")
        return dict(zip(keys, raw, strict=False))

    def write(self, value: Any, path: str) -> Any:
        if not isinstance(value, dict if self.kind is None else self.kind):
            raise Mismatch(path, f"{shown(value)} is no {self.name}")
        raw: dict[str, Any] = {} if self.tag is None else {self.tag[0]: self.tag[1]}
        for field in self.fields:
            if self.plain:
                if field.name not in value and not field.required:
                    continue
                if field.name not in value:
                    raise Mismatch(path, f"{field.name} is missing")
                part = value[field.name]
            else:
                part = getattr(value, field.name)
            raw[self.key(field)] = field.shape.write(part, f"{path}.{field.name}")
        others = self.extra_of(value)
        if self.plain and len(value) > len(raw):
            raise Mismatch(path, f"it has members that {self.name} has not")
        self.write_extra(others, raw, path)
        raw_value: Any = list(raw.values()) if self.as_list else raw
        return raw_value if self.plain else self._form.marked(self.name, raw_value)

    def write_arguments(self, arguments: Mapping[str, Any], path: str) -> dict[str, Any]:
        """The raw values of the fields, given as what makes an instance is given them."""
        raw = {}
        for field in self.fields:
            if field.argument in arguments:
                raw[self.key(field)] = field.shape.write(arguments[field.argument], f"{path}.{field.name}")
            elif field.required:
                raise Mismatch(path, f"{field.name} is missing")
            elif self.always(field):
                (raw[self.key(field)],) = field.constant
        return raw

    def write_extra(self, others: Mapping[str, Any], raw: dict[str, Any], path: str) -> None:
        """Add the raw values of members that are no fields."""
        for key in others:
            check_characters(key, path)
        raw.update((key, self.extra.write(value, f"{path}.{key}")) for key, value in others.items() if self.extra)

    def parts(self) -> list[Shape]:
        return [*(field.shape for field in self.fields), *([] if self.extra is None else [self.extra])]


def docstring_of(given: Any) -> str:
    """What its author says of a class or a function, but not what dataclasses write by themselves."""
    doc = given.__dict__.get("__doc__") if isinstance(given, type) else getattr(given, "__doc__", None)
    if not isinstance(doc, str):
        return ""
    doc = inspect.cleandoc(doc).strip()
    return "" if isinstance(given, type) and doc.startswith(f"{given.__name__}(") and doc.endswith(")") else doc
