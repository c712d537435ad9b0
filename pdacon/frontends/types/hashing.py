"""Whether all values of a shape have a hash, so that a set can have them as items.

In: shapes, when all classes have their fields. Out: the first shape within one whose values may have none.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from pdacon.base.graphs import reachable
from pdacon.errors import UnsupportedTypeError
from pdacon.frontends.types.containers import FixedTuple, Flags, Items, Table
from pdacon.frontends.types.records import Record
from pdacon.frontends.types.scalars import Anything, LiteralValues, Spelled
from pdacon.frontends.types.shapes import Shape, resolved
from pdacon.frontends.types.unions import Either


def refuse_unhashable(shape: Shape, path: str) -> None:
    """See to it that all values of a shape have a hash.

    Raises
    ------
    UnsupportedTypeError
        Some may have none.
    """
    for part in reachable([resolved(shape)], lambda part: map(resolved, _hashed_parts(part))):
        if _has_none(part):
            raise UnsupportedTypeError(
                path,
                f"items of a set have a hash, as have keys of a dict, and a value of {part.words()} may have none; use "
                "a tuple, a frozenset or a frozen dataclass, or say what it is, such as set[int | str]",
            )


def _has_none(shape: Shape) -> bool:
    if isinstance(shape, Anything | Table):
        return True
    if isinstance(shape, LiteralValues):
        return any(type(value).__hash__ is None for _, value in shape.pairs)
    kind: Any = object
    if isinstance(shape, Items) and not isinstance(shape, Flags):
        kind = shape.kind
    elif isinstance(shape, Spelled):
        kind = shape.spelling.kind
    elif isinstance(shape, Record):
        kind = dict if shape.kind is None else shape.kind
    return kind.__hash__ is None


def _hashed_parts(shape: Shape) -> list[Shape]:
    """The shapes of what the hash of a value is made of."""
    if isinstance(shape, Items | FixedTuple | Either):
        return shape.parts()
    if not isinstance(shape, Record) or _has_own_hash(shape.kind):
        return []
    return [field.shape for field in shape.fields if _is_hashed(shape.kind, field.name)]


def _has_own_hash(kind: Any) -> bool:
    """Whether a class says itself what its hash is, or it is the identity, and not a library from all fields."""
    own = kind.__hash__
    if own is object.__hash__:
        return True
    if not isinstance(own, FunctionType) or own.__module__.startswith("pydantic."):
        return False
    file = own.__code__.co_filename
    return not file.startswith(("<string>", "<attrs generated"))


def _is_hashed(kind: Any, name: str) -> bool:
    """Whether a hash has a field: dataclasses and attrs can leave one out."""
    fields = {attribute.name: attribute for attribute in getattr(kind, "__attrs_attrs__", ())}
    own = getattr(kind, "__dataclass_fields__", fields).get(name)
    choice = getattr(own, "hash", None)
    return bool(getattr(own, "compare", getattr(own, "eq", True)) if choice is None else choice)
