"""What is certain of a value of a type whose text is being written.

In: a shape, and the parts of a value that have come (``frontends.partial_values``). Out: instances of what is whole,
and `PartialInstance`, dicts and lists of what is not. What is not certain yet is left out: half a date is no date, and
of a union there is what its members have in common, as far as they are still possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pdacon.frontends.partial_values import UNCERTAIN, Part, PartialInstance, plain_part
from pdacon.frontends.types.adapted import Adapted
from pdacon.frontends.types.containers import FixedTuple, Items, Table
from pdacon.frontends.types.forms import Form
from pdacon.frontends.types.records import Record
from pdacon.frontends.types.scalars import Anything, LiteralValues, Members, Spelled, Text
from pdacon.frontends.types.shapes import Mismatch, Shape, resolved
from pdacon.frontends.types.tools import Calls, Described, OfInstance
from pdacon.frontends.types.unions import Either


def typed_part(shape: Shape, part: Part, form: Form, path: str) -> Any:
    """What has come of a value of a shape; `UNCERTAIN` if nothing of it is certain."""
    shape = resolved(shape)
    if not part.has_value:
        return UNCERTAIN
    members = part.members
    if isinstance(members, list) and isinstance(shape, Items):
        return _items(shape, members, form, path)
    if isinstance(members, dict) and isinstance(shape, Table):
        return _table(shape, members, form, path)
    if isinstance(members, list) and isinstance(shape, FixedTuple):
        return tuple(_first_certain(shape.items, members, form, path))
    if part.is_whole or part.is_constant:
        value = _whole(shape, part, form, path)
        if value is not UNCERTAIN:
            return value
    if isinstance(shape, Either):
        return _of_union(shape, part, form, path)
    if isinstance(shape, Record):
        return _of_record(shape, part, form, path)
    if isinstance(shape, Calls) and isinstance(members, dict):
        return _of_call(shape, members, form)
    if part.is_string and isinstance(shape, LiteralValues):
        text = part.string()
        left = [value for raw, value in shape.pairs if isinstance(raw, str) and raw.startswith(text)]
        return left[0] if len(left) == 1 else UNCERTAIN
    if part.is_string and isinstance(shape, Text):
        text = part.string()
        return getattr(text, shape.metadata.case)() if shape.metadata.case else text
    if isinstance(shape, OfInstance) and isinstance(shape.shape, Record):
        so_far = _of_record(shape.shape, part, form, path)
        return {
            field.argument: value for field in shape.shape.fields if (value := _of(so_far, field.name)) is not UNCERTAIN
        }
    return plain_part(part) if isinstance(shape, Anything | Described) else UNCERTAIN


def _of(value: Any, name: str) -> Any:
    return value.get(name, UNCERTAIN) if isinstance(value, dict) else getattr(value, name, UNCERTAIN)


def _whole(shape: Shape, part: Part, form: Form, path: str) -> Any:
    raw = plain_part(part, form.loads)
    try:
        return shape.read_alone(raw, path) if isinstance(shape, Adapted) else shape.read(raw, path)
    except Mismatch:  # a class that does not take it says so of the whole
        return UNCERTAIN


def _items(shape: Items, members: list[Part], form: Form, path: str) -> Any:
    typed = [typed_part(shape.item, each, form, f"{path}[{k}]") for k, each in enumerate(members)]
    if shape.kind is list:
        return [value for value in typed if value is not UNCERTAIN]
    whole = [
        value
        for value, each in zip(typed, members, strict=True)
        if value is not UNCERTAIN and (each.is_whole or each.is_constant)
    ]
    try:
        return shape.make(whole)
    except (TypeError, ValueError):
        return UNCERTAIN


def _table(shape: Table, members: dict[str, Part], form: Form, path: str) -> Any:
    found = {}
    for name, each in members.items():
        value = typed_part(shape.value, each, form, f"{path}[{name!r}]")
        if value is UNCERTAIN:
            continue
        try:
            found[shape.key_of(name, path)] = value
        except Mismatch:
            continue
    return shape.make(found)


def _first_certain(shapes: Any, members: list[Part], form: Form, path: str) -> Iterator[Any]:
    """The values of a row up to the first of which nothing is certain."""
    for k, (shape, each) in enumerate(zip(shapes, members, strict=False)):
        value = typed_part(shape, each, form, f"{path}[{k}]")
        if value is UNCERTAIN:
            return
        yield value


def _of_record(shape: Record, part: Part, form: Form, path: str) -> Any:
    """The fields that have come; of a model that is written as its only field, that one."""
    parts = _fields(shape, part)
    if parts is None:
        return UNCERTAIN
    values = {}
    for field in shape.fields:
        each = parts.get(shape.key(field))
        value = UNCERTAIN if each is None else typed_part(field.shape, each, form, f"{path}.{field.name}")
        if value is not UNCERTAIN:
            values[field.name] = value
    if shape.extra is not None:
        known = {*shape.keys(), *(field.name for field in shape.fields)}
        for name, each in parts.items():
            value = UNCERTAIN if name in known else typed_part(shape.extra, each, form, f"{path}.{name}")
            if value is not UNCERTAIN:
                values[name] = value
    return values if shape.plain or shape.kind is dict else PartialInstance(shape.name, values)


def _fields(shape: Record, part: Part) -> dict[str, Part] | None:
    """The parts of a record's members by their names; None if it is written in another way."""
    if shape.root:
        return {shape.key(shape.fields[0]): part}
    if shape.as_list:
        return dict(zip(shape.keys(), part.members, strict=False)) if isinstance(part.members, list) else None
    return part.members if isinstance(part.members, dict) else None


def _of_call(shape: Calls, members: dict[str, Part], form: Form) -> Any:
    values: dict[str, Any] = {}
    name = members.get("name")
    if name is not None and name.is_whole and (tool := shape.tools.get(name.string())) is not None:
        values["name"] = tool.name
        given = members.get(shape.key)
        arguments = UNCERTAIN if given is None else typed_part(tool.arguments, given, form, tool.name)
        if arguments is not UNCERTAIN:
            values["arguments"] = arguments
    return PartialInstance("Call", values)


def _of_union(shape: Either, part: Part, form: Form, path: str) -> Any:
    """What the members that are still possible have in common."""
    possible = [member for member in _members(shape) if _may_be(member, part, form)]
    if any(isinstance(member, Text) for member in possible) and shape.decide is None:
        possible = [one for one in possible if not (isinstance(one, LiteralValues) and _are_their_texts(one))]
    found = [typed_part(member, part, form, path) for member in possible]
    if not found or any(value is UNCERTAIN for value in found):
        return UNCERTAIN
    if len(found) == 1:
        return found[0]
    if all(isinstance(value, PartialInstance) for value in found):
        both = {name: value for name, value in vars(found[0]).items() if "__" not in name}
        for other in found[1:]:
            both = {name: value for name, value in both.items() if _same(value, getattr(other, name, UNCERTAIN))}
        return PartialInstance(" or ".join(dict.fromkeys(one.words() for one in possible)), both)
    return found[0] if all(_same(found[0], value) for value in found[1:]) else UNCERTAIN


def _members(shape: Either) -> Iterator[Shape]:
    for member in map(resolved, shape.members):
        yield from _members(member) if isinstance(member, Either) else (member,)


def _may_be(shape: Shape, part: Part, form: Form) -> bool:
    """Whether a part, as far as it has come, may become a value of a shape."""
    if isinstance(shape, Record):
        return _may_be_record(shape, part, form)
    if isinstance(part.members, dict):
        return isinstance(shape, Table | Calls | Anything | Adapted)
    if isinstance(part.members, list):
        return isinstance(shape, Items | FixedTuple | Anything | Adapted)
    if isinstance(shape, Table | Items | FixedTuple | Calls):
        return False
    if part.is_whole or part.is_constant:
        return _whole(shape, part, form, "") is not UNCERTAIN
    if isinstance(shape, LiteralValues):
        return any(isinstance(raw, str) and raw.startswith(part.string()) for raw, _ in shape.pairs)
    return isinstance(shape, Text | Spelled | Members | Anything) or (isinstance(shape, Adapted) and shape.is_text)


def _may_be_record(shape: Record, part: Part, form: Form) -> bool:
    parts = _fields(shape, part)
    if parts is None:
        return False
    if shape.root:
        return _may_be(resolved(shape.fields[0].shape), part, form)
    if shape.tag is not None and (tag := parts.get(shape.tag[0])) is not None and tag.has_value:
        if tag.is_string and not (tag.is_whole or str(shape.tag[1]).startswith(tag.string())):
            return False
        if tag.is_whole and plain_part(tag) != shape.tag[1]:
            return False
    if shape.extra is None and not parts.keys() <= set(shape.keys()):
        return False
    choices = {shape.key(field): resolved(field.shape) for field in shape.fields}
    return all(
        _may_be(choice, parts[name], form)
        for name, choice in choices.items()
        if isinstance(choice, LiteralValues) and name in parts and parts[name].has_value
    )


def _are_their_texts(shape: LiteralValues) -> bool:
    return all(type(value) is str and raw == value for raw, value in shape.pairs)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
