"""What is certain of a value of a type whose text is being written.

In: a shape, and the parts of a value that have come (``frontends.partial_values``). Out: instances of what is whole,
and `PartialInstance`, dicts and lists of what is not.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pdacon.frontends.partial_values import Part, plain_part
from pdacon.frontends.types.containers import Items, Table
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.records import Record
from pdacon.frontends.types.shapes import Later, Mismatch, Shape


class PartialInstance(SimpleNamespace):
    """An instance of a class as far as it has come: it has the attributes of which anything is certain."""

    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        super().__init__(**attributes)
        self.__class_name = name

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if "__" not in name)
        return f"<so far {self.__class_name}({listed})>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartialInstance) and vars(self) == vars(other)

    __hash__ = None


def typed_part(shape: Shape, part: Part, form: Form, path: str) -> Any:
    """What has come of a value of a shape."""
    while isinstance(shape, Later) and shape.target is not None:
        shape = shape.target
    if part.is_whole:
        try:
            return shape.read(plain_part(part, form.loads), path)
        except Mismatch:  # a class that does not take it says so of the whole
            return plain_part(part)
    members = part.members
    if isinstance(members, dict) and isinstance(shape, Record) and shape.is_plain_object:
        fields = {shape.key(field): field for field in shape.fields}
        values = {}
        for name, each in members.items():
            if name in fields and each.has_value:
                field = fields[name]
                values[field.name] = typed_part(field.shape, each, form, f"{path}.{field.name}")
        return values if shape.plain else PartialInstance(shape.name, values)
    if isinstance(members, dict) and isinstance(shape, Table):
        return {
            k: typed_part(shape.value, each, form, f"{path}[{k!r}]") for k, each in members.items() if each.has_value
        }
    if isinstance(members, list) and isinstance(shape, Items):
        return [typed_part(shape.item, each, form, f"{path}[{k}]") for k, each in enumerate(members) if each.has_value]
    return plain_part(part)
